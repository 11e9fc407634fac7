#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_nouveau.py FOLDER: makes nv40 and nv50, submissions as nouveau's would be.

No capture of nouveau exists. These push buffers are made up from the methods
that its drivers send and from the rules for its relocations in README.txt;
what they must become is worked out by make_sample.py. No test runs this.
"""
import sys

import make_sample

VRAM, GART = 2, 4
LOW, HIGH, OR = 0x100, 0x200, 0x400


class Random:
    """One sequence of numbers on every machine."""

    def __init__(self, seed):
        self.state = seed

    def below(self, limit):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self.state >> 33) % limit


class Submission:
    def __init__(self, sequence, source, random):
        self.sequence, self.source, self.random = sequence, source, random
        self.objects, self.relocations = [], []
        self.words = [random.below(1 << 32) for _ in range(16 * random.below(6))]
        self.start = 4 * len(self.words)
        self.object(0x10000, GART, False)

    def object(self, size, domain, written):
        number = len(self.objects)
        flags = (VRAM | GART) | domain << 8 | (domain << 16 if written else 0) | domain << 24
        address = 0x20000000 + 0x1000000 * number
        placed = address | (1 << 63 if domain == VRAM else 0)
        self.objects.append(make_sample.OBJECT.pack(number + 1, flags, size, self.random.below(2), address, placed))
        return number

    def method(self, subchannel, number, *values):
        """Values are numbers, or tuples (kind, target, data, vor, tor)."""
        self.words.append(len(values) << 18 | subchannel << 13 | number)
        for value in values:
            if isinstance(value, tuple):
                kind, target, data, vor, tor = value
                self.relocations.append(make_sample.RELOCATION.pack(
                    0, target, 4 * len(self.words), data, vor, tor, kind | 4, (1 << 64) - 1))
                value = 0
            self.words.append(value)

    def blob(self):
        data = b''.join(word.to_bytes(4, 'little') for word in self.words)
        body = b''.join(self.objects) + b''.join(self.relocations) + make_sample.CONTENTS.pack(0, len(data)) + data
        return make_sample.HEADER.pack(
            make_sample.HEADER.size + len(body), len(self.objects), len(self.relocations), 1, 0, self.start,
            len(data) - self.start, 0, 0, self.sequence, self.source) + body


def nv40(sequence, random):
    """Two memory sets, each with a DMA object whose handle the program chose; most choose equal handles."""
    source = sequence % 16
    handles = (0xbeef0201 + 0x100 * source, 0xbeef0202 + 0x100 * source)
    made = Submission(sequence, source, random)
    targets = [made.object(4096 * (1 + random.below(64)), random.below(2) * 2 + 2, True) for _ in range(3)]
    textures = [made.object(4096 * (1 + random.below(512)), random.below(2) * 2 + 2, False) for _ in range(8)]
    for number, method in zip(targets, (0x194, 0x198, 0x1b4)):
        made.method(7, method, (OR, number, 0, *handles))
    made.method(7, 0x210, (LOW, targets[0], 0x80 * random.below(32), 0, 0))
    made.method(7, 0x214, (LOW, targets[1], 0, 0, 0))
    for unit in range(2 + random.below(14)):
        texture = textures[random.below(8)]
        made.method(7, 0x1a00 + 0x20 * unit, (LOW, texture, 256 * random.below(16), 0, 0),
                    (OR, texture, random.below(1 << 28) & ~3, 1, 2))
    for array in range(1 + random.below(15)):
        made.method(7, 0x1680 + 4 * array, (LOW | OR, textures[random.below(8)], random.below(4096), 0, 1 << 31))
    made.method(7, 0x8e4, (LOW | OR, textures[0], 64 * random.below(64), 1, 2))
    made.method(7, 0x181c, (LOW, textures[1], 2 * random.below(2048), 0, 0), (OR, textures[1], 0x10, 0, 1))
    made.method(3, 0x184, (OR, textures[2], 0, *handles), (OR, targets[2], 0, *handles))
    made.method(3, 0x30c, (LOW, textures[2], 0xfffffff0, 0, 0), (LOW, targets[2], 16, 0, 0), 64, 64, 64, 1, 0x101, 0)
    return made.blob()


def nv50(sequence, random):
    """40-bit addresses in two words, which need a carry where an object crosses 4 GiB."""
    made = Submission(sequence, 0, random)
    targets = [made.object(4096 * (1 + random.below(0x180000)), random.below(2) * 2 + 2, True) for _ in range(6)]

    def pair(target, data):
        return (HIGH, target, data, 0, 0), (LOW, target, data, 0, 0)

    for target in range(4):
        made.method(3, 0x200 + 0x20 * target, *pair(targets[target], 256 * random.below(1 << 24)), 0xcf, 0x40, 0)
    for _ in range(random.below(20)):
        made.method(5, 0x238, *(half for half in pair(targets[4], random.below(1 << 32))))
        made.method(5, 0x30c, (LOW, targets[5], 0xffffffff - random.below(2), 0, 0), 4096, 4096, 4096, 16, 0x101)
    made.method(3, 0xfe0, (HIGH | OR, targets[0], 0x1000, 0x100, 0x200), (LOW | HIGH, targets[1], 0x40, 0, 0),
                (0, targets[2], 0x12345678, 0, 0), (OR, targets[3], 0xf0000000, 0, 0), (OR, targets[3], 5, 3, 3))
    return made.blob()


def main(folder):
    for name, chipset, bits, make, count in (('nv40', 0x46, 32, nv40, 40), ('nv50', 0x96, 64, nv50, 20)):
        random = Random(chipset)
        fields = [b'SUBM', 1, make_sample.NOUVEAU, chipset, 0, bits, 0, 0]
        make_sample.save(f'{folder}/{name}', fields, [make(sequence, random) for sequence in range(count)])


if __name__ == '__main__':
    main(sys.argv[1])
