#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/abi.py PAGE: describes the wire, as the headers of include/patchbay/abi declare it, in docs/abi.md.in.

Prints "file:line: what is wrong" and fails if the page leaves something out, or if a header does not describe a field or name
the writer of a struct. A line "<!-- KIND NAME -->" of the page becomes what the headers declare.

KIND: struct, enum; file HEADER: its first comment; constants HEADER: its macros; note WORDS: the plain comment that
begins so; commands: the note of the control commands, as a table.
"""
import glob
import os
import re
import sys

TEMPLATE = 'docs/abi.md.in'
BASE = 'include/patchbay/abi/base.h'
TYPE_BYTES = {'uint8_t': 1, 'char': 1, 'uint16_t': 2, 'uint32_t': 4, 'uint64_t': 8}
WRITER = re.compile(r"written[^.;]*? by (?:the )?(host|firmware|card's supervisor|build|MCU|engine)", re.I)

findings = []


def complain(file, line, text):
    findings.append(f'{file}:{line}: {text}')


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


# ---- comments and tables ----

def lines_of(comment):
    """The lines of a comment, without its stars."""
    text = re.sub(r'\A/\*\*?<?[ \t]*\n?|\s*\*/\Z', '', comment)
    return [re.sub(r'^[ \t]*\* ?', '', line) for line in text.rstrip('\n').split('\n')] if text else []


def words(comment):
    """A comment on one line."""
    return ' '.join(' '.join(lines_of(comment)).split())


def cell(text):
    return re.sub(r'([|*])', r'\\\1', str(text))


def row(*cells):
    return '| ' + ' | '.join(map(cell, cells)) + ' |\n'


def table(columns, rows):
    return row(*columns) + '|' + '---|' * len(columns) + '\n' + ''.join(row(*cells) for cells in rows)


def prose(comment):
    """A comment as paragraphs; indented lines stay as they are drawn."""
    out, drawn = '', False
    for line in [*lines_of(comment), '']:
        if line.startswith('@file'):
            continue
        if line.startswith(' ') and not drawn:
            out += '\n```text\n'
            drawn = True
        elif drawn and line and not line.startswith(' '):
            out = out.rstrip('\n') + '\n```\n\n'
            drawn = False
        out += (line.removeprefix(' ') if drawn else cell(line)) + '\n'
    if drawn:
        out = out.rstrip('\n') + '\n```\n'
    return re.sub(r'\n{3,}', '\n\n', out).strip('\n') + '\n'


def matches(pattern, text):
    """One match behind the other, from the start of the text to where the pattern does not match."""
    match = pattern.match(text)
    while match and match.end() > match.start():
        yield match
        match = pattern.match(text, match.end())


def x_rows(body):
    """The rows of an X macro: [name, number, further columns...]"""
    body = re.sub(r'/\*.*?\*/', '', body.replace('\\\n', ''), flags=re.S)
    return [[re.sub(r'^"|"$', '', argument.strip()) for argument in re.findall(r'((?:[^",]|"[^"]*")+)', arguments)]
            for arguments in re.findall(r'\bX\(((?:[^"()]|"[^"]*")*)\)', body)]


class XList:
    """An X macro: its rows, the names of their columns, and the comment, if it has more than those."""

    def __init__(self, rows, note):
        note = words(note or '')
        columns = re.search(r'X\(([^)]*)\)', note)
        self.rows = rows
        self.columns = columns[1].split(', ') if columns else ['NAME', 'number', 'meaning']
        if len(self.columns) < 3:
            self.columns.append('meaning')
        rest = re.sub(r'.*?X\([^)]*\)[:.]?\s*', '', note, count=1)
        self.doc = f'/* {rest[0].upper()}{rest[1:]} */' if rest else None


# ---- headers ----

class Headers:
    """The blocks that the headers make, by name, in the order of the headers."""

    CODE = re.compile(r'(?P<comment>/\*\*?(?!<).*?\*/)\n'
                      r'|#define (?P<macro>\w+)(?P<arguments>\([^)]*\))?[ \t]*'
                      r'(?P<value>(?:[^\n]*\\\n)*[^\n]*(?:\n\t*/\*\*<[^\n]*)?)\n'
                      r'|(?P<kind>struct|enum) (?P<name>\w+) \{\n(?P<body>.*?)^\};'
                      r'|(?P<other>[^\n]*\n)', re.M | re.S)
    ENUMERATOR = re.compile(r'\s*(?:/\*\*([^<].*?)\*/|(PB_\w+)(?:\s*=\s*(\d+))?,?[ \t]*(/\*\*<.*?\*/)?)', re.S)
    FIELD = re.compile(r'\s*(?:/\*\*([^<].*?)\*/|/\*([^*].*?)\*/'
                       r'|((?:struct )?\w+)\s+(\w+)((?:\[\w+\])*);[ \t]*(/\*\*<.*?\*/)?)', re.S)

    def __init__(self):
        self.blocks = {}
        self.lists, self.values, self.sizes, self.offsets = {}, {}, {}, {}
        self.path = None

    def keep(self, name, text):
        if name in self.blocks:
            sys.exit(f'{self.path}: two blocks are called: {name}')
        self.blocks[name] = text

    def read(self, path):
        self.path = path
        text = read(path)
        short = os.path.basename(path)
        self.sizes.update((name, int(size.rstrip('u'))) for name, size in re.findall(r'^PB_SIZE\((\w+), (\w+)\)', text, re.M))
        self.offsets.update(((struct, field), int(offset))
                            for struct, field, offset in re.findall(r'^PB_AT\((\w+), (\w+), (\d+)\);', text, re.M))
        declared, notes, macros = {'struct': [], 'enum': []}, [], []
        # The comment in front of what comes next: a documenting one, or a plain one.
        doc = note = None
        for match in matches(self.CODE, text):
            line = 1 + text.count('\n', 0, match.start())
            if match['comment']:
                comment = match['comment']
                if re.search('clang-format|SPDX', comment):
                    continue
                if comment.startswith('/**\n * @file'):
                    self.keep(f'file {short}', prose(comment))
                    continue
                doc, note = (comment, None) if comment.startswith('/**') else (None, comment)
                if note and '\n' in note and not re.search(r'X\(NAME, number, (?:meaning|category|kind)', note):
                    notes.append((note, line))
                continue
            if match['kind']:
                declared[match['kind']].append((match['name'], match['body'], doc, line))
            elif match['arguments'] == '(X)':
                rows = x_rows(match['value'])
                if not rows:
                    continue
                self.lists[match['macro']] = XList(rows, note)
            elif match['macro']:
                macros.extend(self.macro(match['macro'], match['arguments'] or '', match['value'], doc, line))
                doc = None
                continue
            if match['other'] is None or not match['other'].strip():
                doc = note = None
        for comment, line in notes:
            self.note(comment, line)
        if macros:
            self.keep(f'constants {short}', table(('value', 'name', 'meaning'), macros))
        for declaration in declared['enum']:
            self.enum(*declaration)
        for declaration in declared['struct']:
            self.struct(*declaration)

    def macro(self, name, arguments, body, doc, line):
        """Its row, unless it is none that a reader of the page needs."""
        behind = re.search(r'\s*/\*\*<(.*?)\*/\s*\Z', body, re.S)
        meaning = words(f'/**<{behind[1]}*/' if behind else doc or '')
        body = re.sub(r'\\\n\s*', '', body[:behind.start()] if behind else body)
        if re.search('_H$|_(?:ENUM|ROW|LINE)$|^PB_(?:AT|SIZE|STATIC_ASSERT)$', name) or not body.strip():
            return
        self.values[name] = body
        if not meaning:
            complain(self.path, line, f'{name} is not described')
        yield re.sub(r'\b(0x[0-9a-f]+|\d+)u\b', r'\1', body), f'`{name}{arguments}`', meaning

    def constant(self, name):
        if name not in self.values:
            sys.exit(f'{self.path}: {name} has no value')
        return int(str(self.values[name]).strip().rstrip('u'), 0)

    def note(self, comment, line):
        first = next(text for text in lines_of(comment) if text.strip())
        if first.startswith('Control commands'):
            self.keep('commands', self.commands(comment, line))
        else:
            self.keep('note ' + re.sub('[:,]', '', ' '.join(first.split()[:2])), prose(comment))

    def commands(self, note, line):
        """The note of the commands: a name, what belongs to it, and further lines of that, indented."""
        about, name, after = {}, None, ''
        for text in lines_of(note):
            command = re.match(r'([A-Z]+(?:_[A-Z]+)*) +((?:\d|->).*)', text)
            if command:
                name = command[1]
                about[name] = command[2]
            elif name and text.startswith(' ' * 8):
                about[name] += ' ' + text[8:].lstrip(' ')
            elif text.strip() and name:
                name, after = None, text
            elif text.strip() and after:
                after += ' ' + text
        rows = []
        for name, number, meaning, *_ in self.lists['PB_COMMANDS'].rows:
            text = about.pop(name, 'none -> nothing')
            parts = re.match(r'(.*?)\s*-> ?(.*)$', text)
            arguments, results = parts.groups() if parts else (text, 'nothing')
            # Without a result, what follows the last argument's full stop is about the command.
            more = re.match(r'(.*?)[.;] (?!\d)(.*)$', arguments)
            if results == 'nothing' and more:
                arguments, results = more.groups()
            rows.append((number, f'`PB_COMMAND_{name}`', meaning, arguments or 'none', results))
        for name in sorted(about):
            complain(self.path, line, f'there is no command {name}')
        return table(('number', 'name', 'what it does', 'arguments', 'results, and more'), rows) + f'\n{after}\n'

    def enum(self, name, body, doc, line):
        columns, rows, number = ['number', 'name', 'meaning'], [], 0
        listed = re.search(r'(PB_[A-Z0-9_]*?)##name.*?\n\s*(PB_[A-Z0-9_]+)\(', body, re.S)
        if listed:
            prefix, x_list = listed[1], self.lists[listed[2]]
            columns[2:] = x_list.columns[2:]
            doc = doc or x_list.doc
            rows = [(number, f'`{prefix}{name}`', *more) for name, number, *more in x_list.rows]
            number = int(rows[-1][0]) + 1
            body = re.sub(r'^#.*\n|^\s*PB_[A-Z0-9_]+\(\w+\)\n', '', body, flags=re.M)
        before = ''
        for comment, enumerator, value, behind in (match.groups() for match in matches(self.ENUMERATOR, body)):
            if comment is not None:
                before = f'/**{comment}*/'
                continue
            number = int(value) if value else number
            meaning = words(behind or before)
            if not meaning:
                complain(self.path, line, f'{enumerator} of enum {name} is not described')
            self.values[enumerator] = number
            rows.append((number, f'`{enumerator}`', *(meaning if column == 'meaning' else '' for column in columns[2:])))
            number += 1
            before = ''
        self.keep(f'enum {name}', (prose(doc) + '\n' if doc else '') + table(columns, rows))

    def struct(self, name, body, doc, line):
        of_all = WRITER.search((doc or '').replace('\n * ', ' '))
        of_all = of_all and of_all[1]
        writer, before, offset = of_all, '', 0
        out = table(('offset', 'field', 'type', 'written by', 'meaning'), [])
        for match in matches(self.FIELD, body):
            comment, section, kind, field, dimensions, behind = match.groups()
            if comment is not None:
                before = f'/**{comment}*/'
                continue
            if section is not None:
                section = words(f'/*{section}*/')
                writer = WRITER.search(section)
                writer = writer[1] if writer else of_all
                out += f'| | | | | **{section}** |\n'
                continue
            where = line + 1 + body.count('\n', 0, match.start(4))
            meaning = words(behind or before)
            if 'reserved' in field and meaning in ('', '0'):
                meaning = 'reserved'
            before = ''
            counts = [int(count) if count.isdigit() else self.constant(count) for count in re.findall(r'\w+', dimensions)]
            offset = self.offsets.get((name, field), offset)
            if not meaning:
                complain(self.path, where, f'{name}.{field} is not described')
            if writer is None:
                complain(self.path, where, f'{name}.{field}: no writer is named')
            out += row(offset, f'`{field}`', kind + ''.join(f'[{count}]' for count in counts), writer or '', meaning)
            size = TYPE_BYTES.get(kind) or self.sizes[kind.removeprefix('struct ')]
            for count in counts:
                size *= count
            offset += size
        size = self.sizes.get(name)
        if offset != size:
            complain(self.path, line, f'{name}: not all of its fields are understood')
        self.keep(f'struct {name}', (prose(doc) + '\n' if doc else '') + (f'{size} bytes.\n\n' if size else '') + out)


# ---- the page ----

def read_headers():
    headers = Headers()
    for path in [BASE, *sorted(set(glob.glob('include/patchbay/abi/*.h')) - {BASE})]:
        headers.read(path)
    return headers


def page(blocks):
    template = read(TEMPLATE)
    shown = re.findall(r'^<!-- (.*) -->$', template, re.M)
    for name in sorted(set(shown) - set(blocks)):
        complain(TEMPLATE, 1, f'no header has: {name}')
    for name in sorted(set(blocks) - set(shown)):
        complain(TEMPLATE, 1, f'not shown: {name}')
    return re.sub(r'^<!-- (.*) -->\n', lambda match: blocks.get(match[1], ''), template, flags=re.M)


def main():
    text = page(read_headers().blocks)
    os.makedirs(os.path.dirname(sys.argv[1]) or '.', exist_ok=True)
    with open(sys.argv[1], 'w', encoding='utf-8') as file:
        file.write(text)
    print(''.join(f'{finding}\n' for finding in findings), end='', file=sys.stderr)
    sys.exit(bool(findings))


if __name__ == '__main__':
    main()
