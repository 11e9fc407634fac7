#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/style/versions.py: holds the versions of this tree against the rules of docs/versions.md: CHANGELOG.md, PB_VERSION and
PB_ABI_* of include/patchbay/abi/base.h, the table of releases with its files, and the tags of version control, where it is.

Prints "file:line: what is wrong". A tree without CHANGELOG.md or without releases has nothing to hold."""
import hashlib
import os
import re
import subprocess
import sys
import tarfile

CHANGES = 'CHANGELOG.md'
BASE = 'include/patchbay/abi/base.h'
WIRE = 'docs/abi.md'
TABLE = 'tests/released/releases.tsv'
HEAD = re.compile(r'^## (?:Unreleased: firmware (\d+\.\d+\.\d+), ABI (\d+\.\d+)'
                  r'|(\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\), ABI (\d+\.\d+))$')


def complain(file, line, text):
    print(f'{file}:{line}: {text}')


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def number(version):
    return tuple(int(part) for part in version.split('.'))


def line_of(text, pattern):
    match = re.search(pattern, text, re.M)
    return 1 + text.count('\n', 0, match.start()) if match else 1


def versions_of(base):
    """The release and the interface that a base.h defines; a release of None: CMake had it."""
    release = re.search(r'^#define PB_VERSION "(.*)"$', base, re.M)
    abi = re.findall(r'^#define PB_ABI_(?:MAJOR|MINOR) +(\d+)u', base, re.M)
    return release and release[1], '.'.join(abi)


class Section:
    """A release's part of CHANGELOG.md; `version` is None if its first line is none that is known."""

    def __init__(self, line, head, body):
        self.line, self.head, self.body = line, head, body
        match = HEAD.match(head)
        self.version = match and (match[1] or match[3])
        self.abi = match and (match[2] or match[4])
        self.released = bool(match and match[3])


def sections(text):
    """The parts of CHANGELOG.md that belong to a release each, the newest first."""
    found = []
    for match in re.finditer(r'^(## .*)\n((?:(?!## ).*\n?)*)', text, re.M):
        found.append(Section(1 + text.count('\n', 0, match.start()), match[1], match[2].strip()))
    return found


def wire(page):
    """What docs/abi.md states of the wire: fields and numbers, which stay, and all other values."""
    stays, rest = set(), set()
    for kind, name, body in re.findall(r'^<!-- (struct|enum|constants) (\S+) -->\n(.*?)^<!-- / -->$', page, re.M | re.S):
        for row in re.findall(r'^\| (.*) \|$', body, re.M):
            cells = re.split(r' \| ', row)
            if len(cells) < 2 or '`' not in cells[1]:
                continue
            if kind == 'constants':
                if not re.match(r'`PB_(?:VERSION|ABI_)', cells[1]):
                    rest.add((name, cells[1], cells[0]))
            elif kind == 'enum' or 'reserved' not in cells[1]:
                stays.add((name, *cells[:3 if kind == 'struct' else 2]))
    return stays, rest


class Release:
    """A row of the table with what its file holds."""

    def __init__(self, line, columns):
        self.line = line
        self.version, self.abi, self.commit, self.sum = columns
        self.path = f'tests/released/patchbay-{self.version}.tar.xz'
        self.files = {}

    def load(self):
        if not os.path.exists(self.path):
            complain(TABLE, self.line, f'{self.path} is missing')
            return False
        with open(self.path, 'rb') as file:
            if hashlib.sha256(file.read()).hexdigest() != self.sum:
                complain(TABLE, self.line, f'{self.path} is not what was released')
                return False
        with tarfile.open(self.path) as archive:
            for name in (CHANGES, WIRE, BASE):
                self.files[name] = archive.extractfile(f'patchbay-{self.version}/{name}').read().decode()
        return True


def releases():
    rows = []
    for line, text in enumerate(read(TABLE).splitlines(), 1):
        if text.startswith('#'):
            continue
        columns = text.split('\t')
        if len(columns) == 4:
            rows.append(Release(line, columns))
        else:
            complain(TABLE, line, 'a row has four columns')
    return rows


def check_changes(text, version, abi, rows):
    """The top section is this tree's; below it are the releases, none missing, and as they were."""
    known = {row.version: row for row in rows}
    parts = sections(text)
    for part in parts:
        if part.version is None:
            complain(CHANGES, part.line, 'a section is "Unreleased: firmware X.Y.Z, ABI X.Y" or "X.Y.Z (YYYY-MM-DD), ABI X.Y"')
            return
    if not parts or (parts[0].version, parts[0].abi) != (version, abi):
        complain(CHANGES, parts[0].line if parts else 1, f'the top section is not of {version} with ABI {abi}, as {BASE} is')
        return
    if parts[0].version in known:
        complain(CHANGES, parts[0].line, f'{version} is released: what comes behind it has the next version')
    entries = re.findall(r'^- .*', parts[0].body, re.M)
    for entry in sorted({entry for entry in entries if entries.count(entry) > 1}):
        complain(CHANGES, parts[0].line, f'an entry stands twice, as after a merge: {entry}')
    for part in parts[1:]:
        row = known.pop(part.version, None)
        if not part.released or row is None:
            complain(CHANGES, part.line, f'{part.version} is no release of {TABLE}')
            continue
        if part.abi != row.abi:
            complain(CHANGES, part.line, f'{part.version} has ABI {row.abi}')
        then = sections(row.files[CHANGES])[0]
        if part.body != then.body:
            complain(CHANGES, part.line, f'{part.version} is released: its section stays as it was; new entries belong to the top section')
    for row in known.values():
        if row.version != version:
            complain(CHANGES, 1, f'there is no section for {row.version}')
    order = [number(part.version) for part in parts]
    if order != sorted(order, reverse=True):
        complain(CHANGES, parts[0].line, 'the sections are not in the order of their versions')


def check_numbers(base, version, abi, last):
    """A release is followed by the next version of one of three kinds; the interface only grows, and says so."""
    major, minor, patch = number(last.version)
    line = line_of(base, '^#define PB_VERSION')
    if number(version) not in ((major, minor, patch + 1), (major, minor + 1, 0), (major + 1, 0, 0)):
        complain(BASE, line, f'{version} does not follow {last.version}')
    stayed, other = wire(last.files[WIRE])
    stays, rest = wire(read(WIRE))
    line = line_of(base, '^#define PB_ABI_MINOR')
    old, new = number(last.abi), number(abi)
    gone = sorted(stayed - stays)
    if gone and new[0] == old[0]:
        complain(BASE, line_of(base, '^#define PB_ABI_MAJOR'), f'{" ".join(gone[0])} of ABI {last.abi} is gone or another: ABI {old[0] + 1}.0')
    elif (stayed, other) != (stays, rest) and new <= old:
        changed = sorted((stays ^ stayed) | (rest ^ other))
        complain(BASE, line, f'{" ".join(changed[0])}: the wire is not that of {last.version}, and its version is not above {last.abi}')
    if new < old or (new[0] != old[0] and new != (old[0] + 1, 0)) or (new[0] == old[0] and new[1] > old[1] + 1):
        complain(BASE, line, f'ABI {abi} does not follow {last.abi}')
    if new != old and number(version)[:2] == (major, minor):
        complain(BASE, line, f'with another ABI than {last.abi}, {version} is not the next version of {last.version}')


def git(*arguments):
    done = subprocess.run(['git', *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def check_tags(version, rows):
    """A tag vX.Y.Z names the commit of its row, or, while that is not written yet, a commit of that version."""
    if git('rev-parse', '--show-toplevel') != os.getcwd():
        return
    known = {row.version: row for row in rows}
    for tag in (git('tag', '--list') or '').split():
        commit = git('rev-parse', f'{tag}^{{commit}}')
        row = known.get(tag.removeprefix('v'))
        if not re.fullmatch(r'v\d+\.\d+\.\d+', tag):
            complain(TABLE, 1, f'the tag {tag} is no version')
        elif row and row.commit != commit:
            complain(TABLE, row.line, f'the tag {tag} names {commit}')
        elif not row and (tag != f'v{version}' or versions_of(git('show', f'{commit}:{BASE}') or '')[0] != version):
            complain(TABLE, 1, f'the tag {tag} has no row')


def main():
    if not os.path.exists(CHANGES) or not os.path.exists(TABLE):
        return
    base = read(BASE)
    version, abi = versions_of(base)
    rows = releases()
    if not all([row.load() for row in rows]):
        return
    for row in rows:
        then = versions_of(row.files[BASE])
        if then[1] != row.abi or then[0] not in (None, row.version):
            complain(TABLE, row.line, f'{row.path} has version {then[0]} and ABI {then[1]}')
    if [number(row.version) for row in rows] != sorted({number(row.version) for row in rows}):
        complain(TABLE, 1, 'the rows are not in the order of their versions')
    check_changes(read(CHANGES), version, abi, rows)
    if rows and rows[-1].version != version:
        check_numbers(base, version, abi, rows[-1])
    check_tags(version, rows)


main()
sys.stdout.flush()
