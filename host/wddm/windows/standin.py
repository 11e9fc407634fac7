#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""standin.py OUTPUT: writes declarations of the documented structs, made of the tables of their layout.

They stand in for the WDK's headers where there is no WDK, so that a compiler for Windows can check host/wddm/windows.
Only the order and the types of the members come from the tables: where the compiler puts them is compared with the
tables' offsets by layout.c.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
TYPES = {'PTR': 'PVOID', 'PHYS': 'PHYSICAL_ADDRESS', 'FUNCTION': 'PVOID'}


def read(table):
    """Yields (struct, [(guard, offset, path, type)]) of each struct."""
    struct, rows, guard, depth = None, [], None, 0
    for line in table.read_text().splitlines():
        if line.startswith('#define WDK'):
            struct, rows = line.split()[2], []
        elif line.startswith('#undef WDK'):
            yield struct, rows
        elif match := re.match(r'#if (.*)', line):
            guard, depth = match[1], depth + 1
        elif line.startswith('#endif'):
            guard, depth = None, depth - 1
        elif match := re.match(r'(FIELD|RENAMED|UNNAMED)\((.*)\)$', line):
            words = [word.strip() for word in match[2].split(',')]
            kind = words[6] if match[1] == 'RENAMED' else words[5]
            rows.append((guard, int(words[0], 16), words[4].split('.'), kind))
        assert depth in (0, 1), line


def members(rows):
    """Groups rows by the first part of their path, in order: [(name, rows)]."""
    groups = []
    for row in rows:
        if groups and groups[-1][0] == row[2][0]:
            groups[-1][1].append(row)
        else:
            groups.append((row[2][0], [row]))
    return groups


def declare(name, rows, indent):
    """Declares one member, which may be a struct."""
    guards = {row[0] for row in rows}
    guard = guards.pop() if len(guards) == 1 else None
    if len(rows) == 1 and len(rows[0][2]) == 1:
        kind, _, count = rows[0][3].partition('[')
        lines = [f'{indent}{TYPES.get(kind, kind)} {name}{"[" + count if count else ""};']
    else:
        lines = [f'{indent}struct {{']
        lines += body([(row[0] if guard is None else None, row[1], row[2][1:], row[3]) for row in rows],
                      indent + '\t')
        lines += [f'{indent}}} {name};']
    return lines if guard is None else [f'#if {guard}', *lines, '#endif']


def body(rows, indent):
    """Declares members; those that start at one place are a union."""
    groups = members(rows)
    lines = []
    while groups:
        start = groups[0][1][0][1]
        same = [group for group in groups if group[1][0][1] == start]
        assert groups[:len(same)] == same, groups[0]
        groups = groups[len(same):]
        if len(same) == 1:
            lines += declare(*same[0], indent)
            continue
        lines += [f'{indent}union {{']
        for group in same:
            lines += declare(*group, indent + '\t')
        lines += [f'{indent}}};']
    return lines


def structs(table):
    for name, rows in read(table):
        if not rows:
            continue
        guards = {row[0] for row in rows}
        guard = guards.pop() if len(guards) == 1 else None
        if guard is not None:
            rows = [(None, *row[1:]) for row in rows]
            yield f'#if {guard}'
        yield f'typedef struct _{name} {{'
        yield from body(rows, '\t')
        yield f'}} {name};'
        if guard is not None:
            yield '#endif'
        yield ''


def main():
    text = ['/* Made by host/wddm/windows/standin.py. */', '#include "host/wddm/windows/standin_types.h"', '',
            *structs(HERE.parent / 'ddi_layout.def'), *structs(HERE.parent / 'ddi_layout_adapter.def'),
            *structs(HERE.parent / 'ddi_layout_gdi.def'),
            '#include "host/wddm/windows/standin_functions.h"', '',
            *structs(HERE / 'driver_layout.def')]
    pathlib.Path(sys.argv[1]).write_text('\n'.join(text))


main()
