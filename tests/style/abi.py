#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The wire: each struct that crosses the bus has fixed-width fields, and its size and every offset are checked right below it;
the headers describe all of it (scripts/abi.py); and it is that of the last release, or PB_ABI_MAJOR and PB_ABI_MINOR say that
it is not (docs/versions.md)."""
import contextlib
import glob
import os
import re
import sys
import tarfile
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '../../scripts'))
import abi  # pylint: disable=wrong-import-position

FIELD = re.compile(r'\t(?:u?int(?:8|16|32|64)_t|char|struct pb_\w+)\s+(\w+)(?:\[\w+\])*;')
RELEASES = 'tests/released/releases.tsv'


def check_structs(path):
    text = re.sub(r'/\*.*?\*/', lambda match: '\n' * match[0].count('\n'), abi.read(path), flags=re.S)
    for match in re.finditer(r'^struct (\w+) \{\n(.*?)^\}', text, re.M | re.S):
        line = 1 + text.count('\n', 0, match.start())
        if f'\nPB_SIZE({match[1]},' not in text:
            abi.complain(path, line, f'PB_SIZE({match[1]}, ...) is missing')
        # A long line may be broken behind the type.
        for field in re.finditer(r'^\t[^;]*;', match[2], re.M):
            where = line + 1 + match[2].count('\n', 0, field.start())
            name = FIELD.fullmatch(re.sub(r'\s+', ' ', field[0]).replace(' ', '\t', 1))
            if not name:
                abi.complain(path, where, 'a wire field is one fixed-width field on a line')
            elif 'reserved' not in name[1] and f'\nPB_AT({match[1]}, {name[1]},' not in text:
                abi.complain(path, where, f'PB_AT({match[1]}, {name[1]}, ...) is missing')


def wire(blocks):
    """@return fields and numbers, which stay, and all other values"""
    stays, rest = set(), set()
    for name, text in blocks.items():
        for cells in (row.split(' | ') for row in re.findall(r'^\| (.*) \|$', text, re.M)):
            if len(cells) < 2 or '`' not in cells[1] or re.match(r'`PB_(?:VERSION|ABI_)', cells[1]):
                continue
            if name.startswith('constants'):
                rest.add((name, cells[1], cells[0]))
            elif name.startswith('enum') or name.startswith('struct') and 'reserved' not in cells[1]:
                stays.add((name, *cells[:3 if name.startswith('struct') else 2]))
    return stays, rest


def version(headers):
    return headers.constant('PB_ABI_MAJOR'), headers.constant('PB_ABI_MINOR')


def released():
    """@return the wire of the last release, and its version"""
    last = [line.split('\t')[0] for line in abi.read(RELEASES).splitlines() if not line.startswith('#')][-1]
    with tempfile.TemporaryDirectory() as folder, tarfile.open(f'tests/released/patchbay-{last}.tar.xz') as archive:
        archive.extractall(folder, [member for member in archive if '/include/patchbay/abi/' in member.name])
        with contextlib.chdir(f'{folder}/patchbay-{last}'):
            headers = abi.read_headers()
    abi.findings.clear()
    return wire(headers.blocks), version(headers)


def check_version(then, old, now, new):
    gone, changed = sorted(then[0] - now[0]), sorted((then[0] ^ now[0]) | (then[1] ^ now[1]))
    if gone and new[0] == old[0]:
        abi.complain(abi.BASE, 1, f'{" ".join(gone[0])} of ABI {old[0]}.{old[1]} is gone or another: ABI {old[0] + 1}.0')
    elif changed and new <= old:
        abi.complain(abi.BASE, 1, f'{" ".join(changed[0])}: the wire is not that of ABI {old[0]}.{old[1]}, and its version is not above')
    elif new not in (old, (old[0], old[1] + 1), (old[0] + 1, 0)):
        abi.complain(abi.BASE, 1, f'ABI {new[0]}.{new[1]} does not follow {old[0]}.{old[1]}')


def main():
    then, old = released()
    for path in sorted(glob.glob('include/patchbay/abi/*.h') + glob.glob('hal/**/*.h', recursive=True)):
        if path.startswith('include') or 'PB_SIZE(' in abi.read(path):
            check_structs(path)
    if not abi.findings:
        headers = abi.read_headers()
        abi.page(headers.blocks)
        check_version(then, old, wire(headers.blocks), version(headers))
    print(''.join(f'{finding}\n' for finding in abi.findings), end='')
    return bool(abi.findings)


sys.exit(main())
