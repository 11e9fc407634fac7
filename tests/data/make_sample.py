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
NOUVEAU = 2


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


def value_of(driver, address, placed, delta, vor, tor, kind):
    """What a relocation stores, cut to its width by the caller."""
    if driver != NOUVEAU:
        return address + (delta - (1 << 32) if kind & 0xff == 8 and delta >= 1 << 31 else delta)
    value = address + delta if kind & 0x100 else (address + delta) >> 32 if kind & 0x200 else delta
    if kind & 0x400:
        value |= vor if placed >> 63 else tor
    return value


def expect(index, blob, bits, driver):
    """One row of the .expect.tsv file."""
    _, n_objects, n_relocations, n_contents = HEADER.unpack_from(blob)[:4]
    at = HEADER.size
    addresses, memory, contents = [], [], {}
    place = 0x100000000 if bits == 64 else 0x00100000
    for _, _, size, alignment, _, placed in OBJECT.iter_unpack(blob[at:at + n_objects * OBJECT.size]):
        grid = 4096 if driver == NOUVEAU else max(4096, alignment)
        place = (place + grid - 1) // grid * grid
        addresses.append(place)
        memory.append(placed)
        place += size
    at += n_objects * OBJECT.size
    relocations = list(RELOCATION.iter_unpack(blob[at:at + n_relocations * RELOCATION.size]))
    at += n_relocations * RELOCATION.size
    for _ in range(n_contents):
        number, length = CONTENTS.unpack_from(blob, at)
        contents[number] = bytearray(blob[at + CONTENTS.size:at + CONTENTS.size + length])
        at += CONTENTS.size + length
    before = crc(contents)
    for patched, target, offset, delta, vor, tor, kind, _ in relocations:
        width = kind & 0xff
        value = value_of(driver, addresses[target], memory[target], delta, vor, tor, kind) % (1 << 8 * width)
        contents[patched][offset:offset + width] = value.to_bytes(width, 'little')
    return f'{index}\t{n_relocations}\t{before:08x}\t{crc(contents):08x}\n'


def save(out, fields, chosen):
    """Writes both files; `fields` is a file header, but for the number of submissions."""
    driver, bits, fields[6] = fields[2], fields[5], len(chosen)
    with open(out + '.subm', 'wb') as file:
        file.write(FILE_HEADER.pack(*fields) + b''.join(chosen))
    subprocess.run(['zstd', '-q', '-f', '--ultra', '-22', '--long=27', '--rm', out + '.subm'], check=True)
    with open(out + '.expect.tsv', 'w', encoding='ascii') as file:
        file.write('index\trelocs\tcrc_before\tcrc_after\n')
        file.writelines(expect(i, blob, bits, driver) for i, blob in enumerate(chosen))


def main(source, out, numbers):
    data = read(source)
    fields = list(FILE_HEADER.unpack_from(data))
    every = list(submissions(data, fields[6]))
    save(out, fields, [every[int(number)] for number in numbers.split(',')])


if __name__ == '__main__':
    main(*sys.argv[1:])
