# SPDX-License-Identifier: MIT
"""Pictures of a display, as `patchbay screenshot` writes them, for scripts/linux.py; the guest's test picture."""

import struct
import subprocess
import zlib

from linux_machine import Failure


def read_png(path):
    """(width, height, bytes of RGB) of a PNG file as `patchbay screenshot` writes it."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise Failure(path + " is no PNG file")
    offset, packed, width, height = 8, b"", 0, 0
    while offset < len(data):
        length, kind = struct.unpack(">I4s", data[offset:offset + 8])
        body = data[offset + 8:offset + 8 + length]
        if kind == b"IHDR":
            width, height = struct.unpack(">II", body[:8])
        elif kind == b"IDAT":
            packed += body
        offset += 12 + length
    raw, stride = zlib.decompress(packed), 3 * width
    rows, above = [], bytes(stride)
    for y in range(height):
        start = y * (stride + 1)
        above = unfilter(raw[start], bytearray(raw[start + 1:start + 1 + stride]), above)
        rows.append(above)
    return width, height, rows


def unfilter(kind, row, above):
    """Undoes a filter of PNG for pixels of three bytes. `patchbay screenshot` writes rows without one."""
    if kind == 0:
        return row
    for i in range(len(row)):  # pylint: disable=consider-using-enumerate
        left = row[i - 3] if i >= 3 else 0
        corner = above[i - 3] if i >= 3 else 0
        if kind == 1:
            row[i] = row[i] + left & 255
        elif kind == 2:
            row[i] = row[i] + above[i] & 255
        elif kind == 3:
            row[i] = row[i] + (left + above[i]) // 2 & 255
        elif kind == 4:
            guess = left + above[i] - corner
            distances = abs(guess - left), abs(guess - above[i]), abs(guess - corner)
            nearest = (left, above[i], corner)[distances.index(min(distances))]
            row[i] = row[i] + nearest & 255
    return row


def part_of_row(left, right, y, seed):
    """Pixels left to right - 1 of a row of the guest's test picture: red is 3 x + seed, green 5 y + 7 seed, blue x ^ y."""
    colours = bytearray(3 * (right - left))
    colours[0::3] = bytes([(3 * x + seed) % 256 for x in range(256)] * (right // 256 + 1))[left:right]
    colours[1::3] = bytes([(5 * y + 7 * seed) % 256]) * (right - left)
    colours[2::3] = bytes([(x ^ y) % 256 for x in range(256)] * (right // 256 + 1))[left:right]
    return colours


def compare(card, options, words):
    """Holds the display in card memory against the picture that the guest says it shows."""
    width, height, seed, inner, left, top, right, bottom = (int(word) for word in words)
    path = card.socket + ".png"
    shot = subprocess.run([options.patchbay, "screenshot", path, "--card", card.socket], capture_output=True, text=True,
                          check=False)
    if shot.returncode != 0:
        return shot.stderr.strip()
    got_width, got_height, rows = read_png(path)
    if (got_width, got_height) != (width, height):
        return f"{got_width} x {got_height} pixels instead of {width} x {height}"
    for y in range(height):
        wanted = part_of_row(0, width, y, seed)
        if top <= y < bottom:
            wanted[3 * left:3 * right] = part_of_row(left, right, y, inner)
        if wanted != rows[y]:
            x = next(i for i in range(3 * width) if wanted[i] != rows[y][i]) // 3
            return f"pixel {x}, {y} is {tuple(rows[y][3 * x:3 * x + 3])}, not {tuple(wanted[3 * x:3 * x + 3])}"
    return "same"
