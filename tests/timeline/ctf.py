#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ctf.py SAMPLE PATCHBAY: `patchbay trace export --ctf`, read back by babeltrace2. A small trace with each form of an
argument, lost records, an anchor, DDI calls and events of a guest gives the lines that were written by hand; the records of 3,000
submissions are those of `trace decode`, and their ends those of --chrome."""

import json
import os
import re
import struct
import subprocess
import sys
import tempfile

SAMPLE, PATCHBAY = sys.argv[1:]
PACKETS = 3000


def patchbay(*arguments):
    return subprocess.run([PATCHBAY, *arguments], check=True, capture_output=True, text=True).stdout


def babeltrace(folder, *arguments):
    """The lines, and what is reported beside them."""
    run = subprocess.run(
        ["babeltrace2", "--no-delta", *arguments, folder], capture_output=True, text=True, env={**os.environ, "TZ": "UTC"}
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines(), run.stderr


def same(name, got, expected):
    if isinstance(got, list) and got != expected:
        for one, other in zip(got, expected):
            assert one == other, f"{name}:\n  got      {one}\n  expected {other}"
    assert got == expected, f"{name}:\n  got      {got}\n  expected {expected}"


# ---- a small trace ----


def piece(kind, contents):
    return struct.pack("<II", kind, len(contents)) + contents


def record(clock, event, thing, first=0, second=0):
    return piece(2, struct.pack("<4I", clock, thing << 16 | event, first, second))


NONE = 0xFFFF
# An argument named as a word of the language, and one of a form that no schema has today.
SCHEMA = b"""1 BOOT LIFE 1 stage:s incarnation:u
5 HANDLE LIFE 1 handle:x of:o
20 FEED PACKET 1 fence:x event:q
21 COMPLETE PACKET 1 fence:x done:d
23 KIND PACKET 1 fence:x flags:f
33 RESUME SCHEDULE 1 - -
48 NODE NODE 1 state:u event:u
64 COMMAND CONTROL 1 code:c error:e
"""
LINK = 50_000_000  # clock of the host's link at the anchor
ANCHOR = 1_700_000_000_123_456_000  # when the clock was 1,000,250
SMALL = (
    b"PBTRACE2"
    + piece(1, SCHEMA)
    + piece(6, struct.pack("<I", 0))
    + record(1_000_000, 1, NONE, 4, 7)
    + record(1_000_000, 5, 3, 0x20003, 3 << 16 | 1 << 8 | 2)
    + piece(4, struct.pack("<QIIQ", ANCHOR, 1_000_250, 0, LINK))
    + record(1_000_300, 20, 3, 0xFFFFFFFF, 4_000_000_000)
    + piece(3, struct.pack("<I", 5))
    + record(1_000_400, 33, 3, 1, 1)
    + record(1_000_400, 23, 3, 5, 0x0B)
    + record(1_000_500, 48, 1, 2, 3)
    + piece(3, struct.pack("<I", 4))
    + piece(3, struct.pack("<I", 1))
    + record(1_000_600, 64, NONE, 16, 9999)
    + record(1_000_700, 250, 8, 1, 0xABC)
    + record(3_000_700, 21, 3, 5, 2 << 16)
    + piece(3, struct.pack("<I", 2))
    + piece(7, struct.pack("<Q5I", LINK + 100, 4, 1, 1, 7, 0))
    + piece(7, struct.pack("<Q5I", LINK + 100, 99, 0xFFFFFFFF, 0, 0, 0xC01E0001))
)
# On a clock that is 8 s ahead of the card's.
GUEST = """\
    kms-cube-412  [000] ..... 9.000350: patchbay_submit: file=3 node=2 queue=0xffff0001 value=4294967297 card_us=1000350 detail=-1
    <idle>-0      [000] ..... 9.000351: patchbay_signal: file=3 node=2 queue=0xffff0001 value=4294967297 card_us=1000351 detail=0
"""
EXPECTED = """\
[2023-11-14 22:13:20.123206000] BOOT: { object = -1, stage = ( "RUNNING" : container = 4 ), incarnation = 7 }
[2023-11-14 22:13:20.123206000] HANDLE: { object = 3, handle = 0x20003, channel = 2, node = 1, priority = ( "HIGH" : \
container = 3 ), reserved = 0 }
[2023-11-14 22:13:20.123506000] FEED: { object = 3, fence = 0xFFFFFFFF, event = 4000000000 }
[2023-11-14 22:13:20.123556000] SubmitCommand: { node = 1, names = ( "fence" : container = 1 ), id = 0x7, status = 0x0 }
[2023-11-14 22:13:20.123556000] call: { node = -1, names = ( "nothing" : container = 0 ), id = 0x0, status = 0xC01E0001 }
[2023-11-14 22:13:20.123556000] guest_submit: { guest = 0, file = 3, node = 2, queue = 0xFFFF0001, value = 4294967297, \
detail = -1, card_us = 1000350, guest_ns = 9000350000, pid = 412, comm = "kms-cube" }
[2023-11-14 22:13:20.123557000] guest_signal: { guest = 0, file = 3, node = 2, queue = 0xFFFF0001, value = 4294967297, \
detail = 0, card_us = 1000351, guest_ns = 9000351000, pid = 0, comm = "_idle_" }
[2023-11-14 22:13:20.123606000] RESUME: { object = 3 }
[2023-11-14 22:13:20.123606000] KIND: { object = 3, fence = 0x5, flags = 0xB }
[2023-11-14 22:13:20.123706000] NODE: { object = 1, state = 2, event = 3 }
[2023-11-14 22:13:20.123806000] COMMAND: { object = -1, code = ( "QUERY" : container = 16 ), error = ( <unknown> : \
container = 9999 ) }
[2023-11-14 22:13:20.123906000] event 250: { object = 8, first = 0x1, second = 0xABC }
[2023-11-14 22:13:22.123906000] COMPLETE: { object = 3, fence = 0x5, error = ( "OK" : container = 0 ), node = 2 }
""".splitlines()
LOST = [("5", "123557", "123706"), ("5", "123706", "123906"), ("2", "123906", "123906")]


def check_small(folder):
    path = os.path.join(folder, "small")
    with open(path + ".alone", "wb") as file:
        file.write(SMALL)
    with open(path + ".txt", "w", encoding="ascii") as file:
        file.write(GUEST)
    patchbay("trace", "import", path + ".alone", path + ".txt", path + ".trace")
    patchbay("trace", "export", "--ctf", path, path + ".trace")
    lines, reported = babeltrace(path, "--clock-gmt", "--clock-date")
    same("the small trace", lines, EXPECTED)
    lost = re.findall(r"discarded (\d+) events? .*?\.(\d{6})\d*\].*?\.(\d{6})\d*\]", reported)
    same("what was lost, and when", lost, LOST)
    assert len(reported.splitlines()) == len(LOST), reported
    # A second export to the same folder leaves nothing of the first one.
    with open(path + ".trace", "wb") as file:
        file.write(b"PBTRACE1" + piece(1, SCHEMA) + record(5, 1, NONE, 4, 8))
    patchbay("trace", "export", "--ctf", path, path + ".trace")
    lines, reported = babeltrace(path, "--clock-seconds")
    expected = '[0.000000000] BOOT: { object = -1, stage = ( "RUNNING" : container = 4 ), incarnation = 8 }'
    same("a trace without an anchor", (lines, reported), ([expected], ""))


# ---- a large one ----


def fields_of_line(line):
    """Time in microseconds, name and fields of an event, as babeltrace2 prints it."""
    time, name, fields = re.fullmatch(r"\[(\d+\.\d{6})000\] (\w+): \{ (.*) \}", line).groups()
    values = {}
    for field in re.findall(r'(\w+) = (\( "?([^":]*)"? : container = \d+ \)|-?\w+)', fields):
        values[field[0]] = field[2].strip() if field[2] else str(int(field[1], 0))
    return int(time.replace(".", "")), name, values


def fields_of_decoded(line):
    words = line.split()
    time, name, words = int(words[0].replace(".", "")), words[1], words[2:]
    values = {"object": "-1"}
    if words[:1] in (["queue"], ["node"]):
        values["object"] = words[1]
        words = words[2:]
    while words:
        if words[0] == "of":
            values["reserved"] = "0"
            words = words[1:]
        elif words[0] == "flags":
            words = ["flags", words[-1]]
        elif words[0] == "done":
            words[0] = "error"
        text = words[1]
        values[words[0]] = str(int(text, 0)) if text[0].isdigit() else text
        words = words[2:]
    return time, name, values


def check_sample(folder):
    path = os.path.join(folder, "sample")
    subprocess.run([SAMPLE, str(PACKETS), path + ".trace"], check=True, stdout=subprocess.DEVNULL)
    patchbay("trace", "export", "--ctf", path, "--chrome", path + ".json", path + ".trace")
    lines, reported = babeltrace(path, "--clock-seconds")
    same("reports", reported, "")
    events = [fields_of_line(line) for line in lines]
    same("records", events, [fields_of_decoded(line) for line in patchbay("trace", "decode", path + ".trace").splitlines()])
    with open(path + ".json", encoding="ascii") as file:
        spans = [event for event in json.load(file)["traceEvents"] if event["ph"] == "e"]
    ends = [(e["ts"], int(e["args"]["fence"], 0), e["args"]["error"]) for e in spans if e["args"]["kind"] != "preempted"]
    got = [(time, int(values["fence"]), values["error"]) for time, name, values in events if name == "COMPLETE"]
    same("ends of submissions", sorted(got), sorted(ends))
    assert len(spans) == PACKETS and len(ends) > PACKETS * 0.9


with tempfile.TemporaryDirectory() as temporary:
    check_small(temporary)
    check_sample(temporary)
