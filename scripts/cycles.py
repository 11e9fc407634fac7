#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cycles an entry of the patch loops, as llvm-mca models them, beside the kernels of other drivers.

scripts/cycles.py BOARD IMAGE LOG TRACE: the image is the marked one of the bench, LOG and TRACE are what
tests/bench/probe.c has written of it. Prints a table.
"""
import re
import struct
import subprocess
import sys

PEERS = 'tests/bench/peers.txt'
# Arguments of llvm-mca, and the column of the other drivers' cycles.
CPUS = {
    'mps2_an500': (['-mtriple=thumbv7em-none-eabi', '-mcpu=cortex-m7',], 0),
    'qemu_virt_rv32': (['-mtriple=riscv32-none-elf', '-mcpu=sifive-e76', '-mattr=+m,+a,+c,+zba,+zbb'], 1),
}
# An address of the trace whose instruction accesses shared memory has this bit.
ACCESS = 1
# Tries to have llvm-mca accept the text: each replaces instructions that it does not know by a nop.
TRIES = 24


def read_spans(log, trace):
    """{kind: (accesses an entry, [address | ACCESS])} of each kind's longer list."""
    with open(trace, 'rb') as file:
        data = file.read()
    spans, at = [], 0
    while at < len(data):
        count, = struct.unpack_from('<I', data, at)
        spans.append(struct.unpack_from(f'<{count}I', data, at + 4))
        at += 4 + 4 * count
    kinds, kind, index = {}, None, 0
    with open(log, encoding='utf-8') as file:
        for line in file:
            words = line.split()
            if words[0] == 'bus':
                kinds.setdefault(kind, []).append(spans[index])
                index += 1
            else:
                kind = words[0]
                entries = int(words[1])
                kinds[kind] = [entries]
    result = {}
    for kind, values in kinds.items():
        if kind is None:
            continue
        entries, half, full = values
        grown = sum(address & ACCESS for address in full) - sum(address & ACCESS for address in half)
        result[kind] = (grown / (entries / 2), full)
    return result


def read_instructions(image):
    """{address: text} of the image."""
    listing = subprocess.run(['llvm-objdump', '-d', '--no-show-raw-insn', image], capture_output=True, text=True, check=True)
    found = (re.match(r'\s*([0-9a-f]+):\s+(\S.*)$', line) for line in listing.stdout.splitlines())
    return {int(match.group(1), 16): re.split(r'\s*[@#<]\s*(?=[0-9a-zA-Z])(?![0-9-])|\s*//|\s*;', match.group(2))[0].strip()
            for match in found if match}


def straighten(text):
    """An instruction for a straight line of text: a branch goes nowhere, and what it makes conditional is so by itself."""
    name, _, operands = text.partition('\t')
    name = name.strip()
    base = name.split('.')[0]
    if base in ('bl', 'blx', 'bx', 'b', 'tbb', 'tbh', 'j', 'jal', 'jalr', 'jr', 'ret', 'c.j', 'c.jr', 'c.jal', 'c.jalr'):
        return '\tb\t.Lend' if base.startswith(('b', 't')) else '\tj\t.Lend'
    if re.fullmatch(r'b(eq|ne|hs|lo|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)', base):
        return f'\t{base}\t.Lend'
    if base in ('cbz', 'cbnz', 'beqz', 'bnez', 'blez', 'bgez', 'bltz', 'bgtz', 'c.beqz', 'c.bnez'):
        return f'\t{base}\t{operands.split(",")[0]}, .Lend'
    if base in ('beq', 'bne', 'blt', 'bge', 'bltu', 'bgeu'):
        return f'\t{base}\t{",".join(operands.split(",")[:2])}, .Lend'
    return f'\t{text}'


def straight_line(texts):
    """The instructions of a trace as llvm-mca takes them. It has no IT: that is a nop, and what stands behind unconditional."""
    conditional = 0
    for text in texts:
        name = text.split('\t')[0].strip()
        if re.fullmatch(r'it[te]*', name):
            conditional = len(name) - 1
            yield '\tnop'
            continue
        if conditional != 0:
            conditional -= 1
            text = re.sub(r'^(\w+?)(?:eq|ne|hs|lo|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)(?=[.\t])', r'\1', text)
        yield straighten(text)


def model(lines, arguments):
    """(cycles, lines that the model does not know)"""
    lines, replaced = list(lines), 0
    for _ in range(TRIES):
        run = subprocess.run(['llvm-mca', *arguments, '-iterations=1', '-instruction-info=0', '-resource-pressure=0'],
                             input='\n'.join([*lines, '.Lend:', '']), capture_output=True, text=True)
        cycles = re.search(r'^Total Cycles:\s+(\d+)', run.stdout, re.M)
        bad = {int(number) for number in re.findall(r'<stdin>:(\d+):\d+: error', run.stderr)}
        if cycles and not bad:
            return int(cycles.group(1)), replaced
        unsupported = re.search(r'note: instruction:\s+(\S+)', run.stderr)
        if unsupported:
            bad = {number for number, line in enumerate(lines, 1) if line.split()[:1] == [unsupported.group(1)]}
        if not bad:
            sys.exit(f'llvm-mca: {run.stderr[:400]}')
        for number in bad:
            lines[number - 1] = '\tnop'
        replaced += len(bad)
    sys.exit('llvm-mca: it does not take the text')


def cycles_of(span, accesses, instructions, arguments):
    """Cycles and instructions an entry, in the middle half of what a list's patching accesses."""
    places = [place for place, address in enumerate(span) if address & ACCESS]
    first, last = len(places) // 4, len(places) * 3 // 4
    window = [address & ~ACCESS for address in span[places[first]:places[last]]]
    entries = (last - first) / accesses
    cycles, unknown = model(straight_line(instructions[address] for address in window), arguments)
    return cycles / entries, len(window) / entries, unknown / len(window)


def read_peers(column):
    """[(name, our kind, cycles)]"""
    rows = []
    with open(PEERS, encoding='utf-8') as file:
        for line in file:
            if line.startswith(('#', '!')):
                continue
            cells = re.split(r' *\| *', line.rstrip('\n'))
            rows.append((cells[0], cells[4], float(cells[6].split()[column])))
    return rows


def main():
    board, image, log, trace = sys.argv[1:]
    arguments, column = CPUS[board]
    instructions = read_instructions(image)
    ours = {}
    for kind, (accesses, span) in read_spans(log, trace).items():
        ours[kind] = cycles_of(span, accesses, instructions, arguments)
    print(f'| `{board}` | instructions | cycles | not modelled |\n|---|---|---|---|')
    for kind, (cycles, count, unknown) in ours.items():
        print(f'| {kind} | {count:.1f} | {cycles:.1f} | {100 * unknown:.1f} % |')
    print(f'\n| `{board}` | their cycles | ours | ratio |\n|---|---|---|---|')
    for name, kind, theirs in read_peers(column):
        if kind in ours:
            print(f'| {name} | {theirs:.1f} | {ours[kind][0]:.1f} | {theirs / ours[kind][0]:.2f} |')


main()
