#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The figures that scripts/bench measures, their gates, and the tables that show them.

scripts/figures.py print JSON: the measured figures with their gates, and beside those of other drivers.
scripts/figures.py check JSON [PATTERN]: fails if a figure is beyond its gate, or if one is missing whose key has not the pattern.
scripts/figures.py write JSON: records the measured figures and writes the tables anew.
scripts/figures.py tables: writes the tables anew, from what is recorded.
scripts/figures.py linux: writes the table of the Linux driver's cost anew, from tests/records/linux_cost.tsv.
scripts/figures.py clients: writes the table of the Linux driver's clients anew, from tests/records/linux_clients.tsv.
scripts/figures.py put FILE NAME: puts standard input between the lines <!-- NAME --> and <!-- /NAME -->.

Run in the root of the tree. JSON is build/bench.json. tests/bench/figures.tsv explains the gates.
"""
import decimal
import json
import os
import platform
import re
import sys

RECORD = 'tests/bench/figures.tsv'
PEERS = 'tests/bench/peers.txt'
PAGE = 'docs/figures.md'
LINUX = 'tests/records/linux_cost.tsv'
# The keys of its last line that are shown, and what they mean.
LINUX_KEYS = {
    'submit_ratio': 'submit_ns by vgem_ns',
    'submit_ns': 'ns from the ioctl that submits a fill of 64 bytes until its sync_file is signaled: the median',
    'vgem_ns': 'ns in which a fence of vgem is made, put into a sync_file, signaled by an ioctl and waited for, without a device',
    'flip_cpu_ratio': 'flip_cpu_ns by vkms_flip_cpu_ns',
    'flip_cpu_ns': "ns of the guest's processor for a flip of 640x480, until its event is read; all that runs meanwhile is in it",
    'vkms_flip_cpu_ns': 'flip_cpu_ns on vkms',
    'rest_cpu_ns': "ns of the guest's processor in a time as long as a flip, without one, with both displays on",
    'instructions_per_flip': 'instructions of the MCU for a flip, less those of as long a rest',
    'instructions_at_rest_per_s': 'instructions of the MCU in a second of rest, without its poll loop',
}
CLIENTS = 'tests/records/linux_clients.tsv'
CLIENTS_PAGE = 'docs/linux.md'
README = 'README.md'
# Those in README.md.
SHORT = ['submit_instr', 'retire_instr', 'patch64_instr_per_entry', 'patch_compact_instr_per_entry', 'slice_instr_max',
         'text_bytes']
# Allocations to one entry in the lists of the bench.
ALLOCATIONS = decimal.Decimal(200) / 2048


class Figure:
    """A row of tests/bench/figures.tsv."""

    def __init__(self, key, recorded, rule, meaning):
        self.key, self.recorded, self.rule, self.meaning = key, recorded, rule, meaning

    def is_recorded(self):
        return self.recorded != '-'

    def is_floor(self):
        """Whether the gate is the least that may be measured."""
        return self.rule.startswith('>=')

    def gate(self):
        """The most, or the least, that may be measured; None if any figure may."""
        if self.rule.startswith('report'):
            return None
        if self.is_floor():
            return decimal.Decimal(self.rule.removeprefix('>='))
        if self.rule != '+3%':
            return decimal.Decimal(self.rule)
        if not self.is_recorded():
            sys.exit(f'{RECORD}: {self.key} has no recorded figure: run scripts/bench --write')
        step = decimal.Decimal('0.01') if '.' in self.recorded else 1
        return (decimal.Decimal(self.recorded) * decimal.Decimal('1.03')).quantize(decimal.Decimal(step), decimal.ROUND_DOWN)

    def gate_text(self):
        gate = self.gate()
        if self.is_floor():
            return f'at least {gate}'
        return 'none' if gate is None else f'{gate} (+3 %)' if self.rule == '+3%' else str(gate)

    def is_beyond(self, measured):
        """Whether the figure breaks its gate."""
        gate = self.gate()
        if gate is None:
            return False
        return decimal.Decimal(measured) < gate if self.is_floor() else decimal.Decimal(measured) > gate

    def is_low(self, measured):
        """Whether it deserves a warning."""
        report, _, least = self.rule.partition('>=')
        return report != '' and bool(least) and decimal.Decimal(measured) < decimal.Decimal(least)


def warn(text):
    print(f'-- {text}', file=sys.stderr)


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def write(path, text):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def read_record():
    rows = [line.split('\t') for line in read(RECORD).splitlines() if not line.startswith('#')]
    return {row[0]: Figure(*row) for row in rows}


def read_measured(path):
    """{key: figure as it is written}; the board in front of a key is left out."""
    figures = json.loads(read(path), parse_float=str, parse_int=str)
    return {re.sub(r'^\w+\.', '', key): figure for key, figure in figures.items()}


# ---- tables ----

def table(columns, rows):
    return ''.join(f'| {" | ".join(cells)} |\n' for cells in [columns, *rows]).replace(
        '\n', '\n|' + '---|' * len(columns) + '\n', 1)


def figure_table(figures, keys):
    rows = [figures[key] for key in keys]
    return table(('figure', 'measured', 'gate', 'meaning'),
                 [(f'`{row.key}`', row.recorded, row.gate_text(), row.meaning) for row in rows if row.is_recorded()])


class Peer:
    """A row of tests/bench/peers.txt, with our figures beside it. A ratio is theirs by ours."""

    def __init__(self, cells, figures):
        self.name, self.bits, theirs, formats, mix, self.what, _ = cells
        self.theirs = decimal.Decimal(theirs)
        self.formats = [(name, self.ours(name, figures)) for name in formats.split()]
        self.mix = self.ours(mix, figures)
        self.ratio = self.theirs / self.mix
        self.all_ratio = self.ratio
        if mix != 'unmoved':
            self.all_ratio = self.theirs / (
                self.mix + decimal.Decimal(figures['resolve_instr_per_allocation']) * ALLOCATIONS)
        self.reason = ''

    @staticmethod
    def ours(name, figures):
        """Our instructions an entry."""
        for ending, part in (('_instr_per_entry', 1), ('_instr_per_allocation', ALLOCATIONS)):
            if name + ending in figures:
                return decimal.Decimal(figures[name + ending]) * part
        sys.exit(f'{PEERS}: there is no figure {name}_instr_per_entry')

    def format_text(self):
        """Our figure for each format, and its ratio."""
        return ', '.join(f'{name.removeprefix("patch_")} {ours:.2f} ({self.theirs / ours:.2f})' for name, ours in self.formats)


def read_peers(figures):
    """The rows of tests/bench/peers.txt. Each whose mix costs us more has a reason."""
    peers, reasons = {}, {}
    for line in read(PEERS).splitlines():
        if line.startswith('#'):
            continue
        cells = re.split(r' *\| *', line.removeprefix('! '))
        if line.startswith('! '):
            reasons[cells[0]] = cells[1]
        else:
            peers[cells[0]] = Peer(cells, figures)
    for peer in peers.values():
        if peer.ratio < 1 and peer.name not in reasons:
            sys.exit(f'{PEERS}: {peer.name} has no reason for its ratio of {peer.ratio:.2f}')
        if peer.ratio < 1:
            peer.reason = reasons[peer.name]
    return list(peers.values())


def peer_table(figures):
    return table(('driver', 'theirs', 'ours, by format (ratio)', 'ours, mixed', 'ratio', 'with the allocation list',
                  'why ours needs more'),
                 [(peer.name, f'{peer.theirs:.2f}', peer.format_text(), f'{peer.mix:.2f}', f'{peer.ratio:.2f}',
                   f'{peer.all_ratio:.2f}', peer.reason) for peer in read_peers(figures)])


def linux_table():
    """The last measurement of the Linux driver; None: there is none."""
    lines = [line.split('\t') for line in read(LINUX).splitlines()] if os.path.exists(LINUX) else []
    if len(lines) < 2:
        return None
    last = dict(zip(lines[0], lines[-1]))
    return table(('figure', 'measured', 'meaning'),
                 [(f'`{key}`', last[key], meaning) for key, meaning in LINUX_KEYS.items()])


def clients_table():
    """The last run of the Linux driver's clients; None: there is none."""
    lines = [line.split('\t') for line in read(CLIENTS).splitlines()] if os.path.exists(CLIENTS) else []
    if len(lines) < 2:
        return None
    rows = [dict(zip(lines[0], line)) for line in lines[1:]]
    last = [row for row in rows if (row['date'], row['revision']) == (rows[-1]['date'], rows[-1]['revision'])]
    return table(('program', 'version', 'compared', 'on vkms, or another driver', 'on the card'),
                 [(f'`{row["program"]}`', row['version'], row['compared'], row['on_control'], row['on_card']) for row in last])


def tables(figures):
    """(file, name, text) of each table that the recorded figures make."""
    linux, clients = linux_table(), clients_table()
    recorded = {key: figure.recorded for key, figure in figures.items() if figure.is_recorded()}
    return [(PAGE, 'figures', figure_table(figures, figures)), (PAGE, 'peers', peer_table(recorded)),
            (README, 'figures', figure_table(figures, SHORT)), *([(PAGE, 'linux', linux)] if linux else []),
            *([(CLIENTS_PAGE, 'clients', clients)] if clients else [])]


def find_block(path, name):
    """(text of the file, start and end of what stands between the markers)"""
    text = read(path)
    block = re.search(f'^<!-- {name} -->\n(.*?)^<!-- /{name} -->$', text, re.M | re.S)
    if not block:
        sys.exit(f'{path}:1: there is no block {name}')
    return text, *block.span(1)


def put(path, name, block):
    text, start, end = find_block(path, name)
    write(path, text[:start] + block + text[end:])


# ---- commands ----

def print_figures(figures, measured):
    for key, figure in figures.items():
        if key in measured:
            print(f'{key:42} {measured[key]:>8}  gate {figure.gate_text():>15}  {figure.meaning}')
            if figure.is_low(measured[key]):
                warn(f'{key} is {measured[key]}, {figure.rule.removeprefix("report")} is expected')
    print('\nInstructions an entry beside those of other drivers, on one CPU and emulator. Theirs are measurements of kernels that'
          '\nrestate the checks and writes of each driver; they are not the drivers. Ours are those of the mix of formats that the'
          '\ndriver uses, and include slices and passes of the main loop; "all" is the ratio with the allocation list. A ratio is'
          f'\ntheirs by ours. {PAGE} says more.\n')
    print(f'{"driver":22} bits  theirs   ours  ratio    all  what theirs does')
    for peer in read_peers(measured):
        print(f'{peer.name:22} {peer.bits:>4} {peer.theirs:7.2f} {peer.mix:6.2f} {peer.ratio:6.2f} {peer.all_ratio:6.2f}  {peer.what}')
        if len(peer.formats) > 1:
            print(f'{"":28}{peer.format_text()}')


def check(figures, measured, left_out='$^'):
    """Whether no figure is beyond its gate, and none missing but those whose keys have the pattern left_out."""
    passed = True
    for key, figure in figures.items():
        of_another_cpu = key.startswith('host_') and platform.machine() != 'x86_64'
        if key in measured and figure.is_beyond(measured[key]):
            warn(f'{key} is {measured[key]}, beyond its gate: {figure.gate_text()}')
            passed = False
        elif key not in measured and figure.is_recorded() and not of_another_cpu and not re.search(left_out, key):
            warn(f'{key} was not measured')
            passed = False
    return passed


def record(figures, measured):
    """Writes the measured figures and what is made of them."""
    lines = []
    for line in read(RECORD).splitlines():
        figure = figures.get(line.split('\t')[0])
        now = figure and measured.get(figure.key)
        # Wall time is of one machine, and replays are measured on request only.
        if now and now != figure.recorded and (figure.is_recorded() or figure.rule == '+3%'):
            warn(f'{figure.key}: {figure.recorded} -> {now}')
            figure.recorded = now
        lines.append(line if not figure else '\t'.join((figure.key, figure.recorded, figure.rule, figure.meaning)))
    write(RECORD, '\n'.join(lines) + '\n')
    write_tables(figures)


def write_tables(figures):
    for path, name, text in tables(figures):
        put(path, name, text)


def main():
    command, *arguments = sys.argv[1:]
    if command == 'put':
        return put(*arguments, sys.stdin.read())
    if command == 'linux':
        return put(PAGE, 'linux', linux_table() or '')
    if command == 'clients':
        return put(CLIENTS_PAGE, 'clients', clients_table() or '')
    if command == 'tables':
        return write_tables(read_record())
    figures, measured = read_record(), read_measured(arguments.pop(0))
    unknown = measured.keys() - figures.keys()
    if unknown:
        sys.exit(f'{RECORD}: not listed: {" ".join(sorted(unknown))}')
    return {'print': print_figures, 'check': check, 'write': record}[command](figures, measured, *arguments)


sys.exit(1 if main() is False else 0)
