#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""frames.py SAMPLE.trace HOST: adds an anchor to a trace whose clock counts microseconds, and writes the file of two
programs that have ended frames within it, one frame of each in every 30th of the trace."""

import struct
import sys

FRAME, PARTS, BASE = 4, 30, 1_000_000


def records(data):
    """The clocks of a trace's records."""
    at = 8
    while at < len(data):
        kind, length = struct.unpack_from("<2I", data, at)
        for offset in range(at + 8, at + 8 + length, 16) if kind == 2 else ():
            yield struct.unpack_from("<I", data, offset)[0]
        at += 8 + length


def section(name, pid, times):
    rows = [struct.pack("<QQ6I", BASE + int(time), 0, FRAME, 0, 0, number, 0, 0) for number, time in enumerate(times, 1)]
    return b"PBHOST01" + struct.pack("<4I16s", pid, 2, len(rows), 0, name) + b"".join(rows)


def main():
    with open(sys.argv[1], "rb") as file:
        clocks = list(records(file.read()))
    span = clocks[-1] - clocks[0]
    with open(sys.argv[1], "ab") as file:
        file.write(struct.pack("<2IQIIQ", 4, 24, 0, clocks[-1], 0, BASE + span))
    with open(sys.argv[2], "wb") as file:
        file.write(section(b"game", 7, [span * (n + .25) / PARTS for n in range(PARTS)]))
        file.write(section(b"player", 8, [span * (n + .75) / PARTS for n in range(PARTS)]))


main()
