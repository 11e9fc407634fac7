#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_sample.py IN.subm[.zst] OUT N[,N...]: cuts submissions out of a capture.

Writes OUT.subm.zst with the submissions of those numbers, unchanged, and
OUT.expect.tsv with what they must become. No test runs this; it says where the
data comes from. It knows the format from README.txt alone and shares no code
with the replay that the data tests.
"""
import struct
import subprocess
import sys
import zlib

FILE_HEADER = struct.Struct('<4s7I')
HEADER = struct.Struct('<8IQ2I')
OBJECT = struct.Struct('<IIQQQQ')
RELOCATION = struct.Struct('<IIQIIIIQ')
CONTENTS = struct.Struct('<II')


def read(path):
    if path.endswith('.zst'):
        return subprocess.run(['zstd', '-dcq', '--long=27', path], stdout=subprocess.PIPE, check=True).stdout
    with open(path, 'rb') as file:
        return file.read()


def submissions(data, count):
    start = FILE_HEADER.size
    for _ in range(count):
        total = HEADER.unpack_from(data, start)[0]
        yield data[start:start + total]
        start += total


def crc(contents):
    value = 0
    for data in contents.values():
        value = zlib.crc32(data, value)
    return value


def expect(index, blob, bits):
    """One row of the .expect.tsv file."""
    _, n_objects, n_relocations, n_contents = HEADER.unpack_from(blob)[:4]
    at = HEADER.size
    addresses, contents = [], {}
    place = 0x100000000 if bits == 64 else 0x00100000
    for _, _, size, alignment, _, _ in OBJECT.iter_unpack(blob[at:at + n_objects * OBJECT.size]):
        grid = max(4096, alignment)
        place = (place + grid - 1) // grid * grid
        addresses.append(place)
        place += size
    at += n_objects * OBJECT.size
    relocations = list(RELOCATION.iter_unpack(blob[at:at + n_relocations * RELOCATION.size]))
    at += n_relocations * RELOCATION.size
    for _ in range(n_contents):
        number, length = CONTENTS.unpack_from(blob, at)
        contents[number] = bytearray(blob[at + CONTENTS.size:at + CONTENTS.size + length])
        at += CONTENTS.size + length
    before = crc(contents)
    for patched, target, offset, delta, _, _, kind, _ in relocations:
        width = kind & 0xff
        if width == 8 and delta >= 1 << 31:
            delta -= 1 << 32
        value = (addresses[target] + delta) % (1 << 8 * width)
        contents[patched][offset:offset + width] = value.to_bytes(width, 'little')
    return f'{index}\t{n_relocations}\t{before:08x}\t{crc(contents):08x}\n'


def main(source, out, numbers):
    data = read(source)
    fields = list(FILE_HEADER.unpack_from(data))
    every = list(submissions(data, fields[6]))
    chosen = [every[int(number)] for number in numbers.split(',')]
    bits, fields[6] = fields[5], len(chosen)
    with open(out + '.subm', 'wb') as file:
        file.write(FILE_HEADER.pack(*fields) + b''.join(chosen))
    subprocess.run(['zstd', '-q', '-f', '--ultra', '-22', '--long=27', '--rm', out + '.subm'], check=True)
    with open(out + '.expect.tsv', 'w', encoding='ascii') as file:
        file.write('index\trelocs\tcrc_before\tcrc_after\n')
        file.writelines(expect(i, blob, bits) for i, blob in enumerate(chosen))


if __name__ == '__main__':
    main(*sys.argv[1:])
