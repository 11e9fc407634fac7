#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perfetto.py SAMPLE PATCHBAY: `patchbay trace import` and `patchbay trace export --perfetto`, read by the rules of Perfetto's documentation
(perfetto_reader.py). A small trace is compared with what was written into it, by hand; a trace of 3,000 submissions with
--chrome and with `trace decode`; and files that break a rule are refused."""

import json
import os
import re
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

from perfetto_reader import Trace, Wrong  # noqa: E402

SAMPLE, PATCHBAY = sys.argv[1:]
PACKETS = 3000
# Events of the trace, as `patchbay trace decode` names them, and what the small trace needs of the ABI.
CHANNEL, QUEUE, HANDLE, FREE, SUBMIT, PATCH, PATCHED, FEED, COMPLETE, STOP, WAIT, WAKE = (
    3, 4, 5, 6, 16, 18, 19, 20, 21, 32, 34, 35,
)  # fmt: skip
OPEN, CLOSED, NONE = 1, 0, 0xFFFF
SECOND = 1_700_000_000_000_000_000
START = 0xFFFFFFF0  # of the card's clock, which wraps on the way
CARD = 0xFFFCCBB0  # of the card's clock beside a counter


def patchbay(*arguments):
    return subprocess.run([PATCHBAY, *arguments], check=True, capture_output=True, text=True).stdout


def same(name, got, expected):
    assert got == expected, f"{name}:\n  got      {got}\n  expected {expected}"


def refuse(data, why):
    try:
        Trace(data)
    except Wrong as wrong:
        assert why in str(wrong), f"refused for another reason than {why}: {wrong}"
        return
    raise AssertionError(f"not refused: {why}")


# ---- a small trace ----


def of(channel, node):
    return 2 << 16 | node << 8 | channel


# What the clock of the host's link shows at the first record, in microseconds.
LINK = 3_000_000_000


def piece(kind, contents):
    return struct.pack("<II", kind, len(contents)) + contents


def write_small(path, schema):
    """Two clients with a queue each; the second waits for the first, and leaves its channel to a third one. Things of one
    time: two anchors, an end and a begin in one queue, an end and the call that reports it."""
    records = [
        (0, CHANNEL, NONE, 1, OPEN),
        (0, QUEUE, 0, 1, 0),
        (0, HANDLE, 0, 0x10000, of(1, 0)),
        (0, CHANNEL, NONE, 2, OPEN),
        (0, QUEUE, 1, 2, 1),
        (0, HANDLE, 1, 0x10001, of(2, 1)),
        (10, SUBMIT, 0, 1, 0),
        (11, SUBMIT, 1, 1, 0),
        (12, WAIT, 1, 0, 5),
        (20, PATCH, 0, 5, 3),
        (30, PATCHED, 0, 5, 0),
        (40, FEED, 0, 5, 1),
        (60, SUBMIT, 0, 2, 0),
        (60, PATCH, 0, 6, 1),
        (64, PATCHED, 0, 6, 0),
        (64, FEED, 0, 6, 1),
        (100, COMPLETE, 0, 5, 0),
        (101, WAKE, 1, 0, 0),
        (105, PATCH, 1, 9, 2),
        (110, PATCHED, 1, 9, 0),
        (112, FEED, 1, 9, 2),
        (130, STOP, 0, 1, 2),
        (150, COMPLETE, 1, 9, 1 << 16),
        (151, COMPLETE, 0, 6, 0),
        (151, PATCH, 0, 7, 1),
        (153, PATCHED, 0, 7, 0),
        (153, FEED, 0, 7, 1),
        (158, COMPLETE, 0, 7, 0),
        (160, FREE, 1, 0x10001, of(2, 1)),
        (161, CHANNEL, NONE, 2, CLOSED),
        (170, CHANNEL, NONE, 2, OPEN),
        (170, QUEUE, 1, 2, 1),
        (170, HANDLE, 1, 0x20001, of(2, 1)),
        (180, FEED, 1, 1, 2),
        (20_190, COMPLETE, 1, 1, 1 << 16 | 1),
    ]
    calls = [(8, 4, 0, 1, 5, 0), (103, 6, 0, 1, 5, 0), (158, 6, 0, 1, 7, 0), (159, 8, 0xFFFFFFFF, 0, 0, 0xC01E0001)]
    anchors = [(50, SECOND), (100, SECOND + 49_000), (140, SECOND + 91_500), (140, SECOND + 91_600)]
    with open(path, "wb") as file:
        file.write(b"PBTRACE2" + piece(1, schema) + piece(6, struct.pack("<I", 0)))
        for clock, event, queue, first, second in records:
            for at, nanoseconds in [anchor for anchor in anchors if anchor[0] < clock]:
                words = (nanoseconds, at + START & 0xFFFFFFFF, 0, LINK + at)
                file.write(piece(4, struct.pack("<QIIQ", *words)))
                anchors = anchors[1:]
            words = (clock + START & 0xFFFFFFFF, queue << 16 | event, first, second)
            file.write(piece(2, struct.pack("<4I", *words)))
        for call in calls:
            file.write(piece(7, struct.pack("<Q5I", LINK + call[0], *call[1:])))


# What three guests print. Their clocks differ from the card's, which they see in steps, by 7 s, 1 day, and -5,000 us.
GUESTS = [
    # As /sys/kernel/tracing/trace has it. The stamps alone place each event: the times differ from theirs by 1 us. The
    # first one is from before the recording, the last one from more than 0.1 s behind it.
    """# tracer: nop
#
# entries-in-buffer/entries-written: 5/5   #P:1
#
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
        kms-cube-412     [000] .....     6.800000: patchbay_submit: file=3 node=0 queue=0x10000 value=4 card_us={-200001} detail=0
        kms-cube-412     [000] .....     7.000009: patchbay_submit: file=3 node=0 queue=0x10000 value=5 card_us={7} detail=0
        kms-cube-412     [000] .....     7.000009: drm_vblank_event: crtc=0, seq=7
          <idle>-0       [000] ..s1.     7.000012: patchbay_ring: file=3 node=0 queue=0x10000 value=5 card_us={11} detail=0
          <idle>-0       [000] d.h1.     7.000102: patchbay_signal: file=3 node=0 queue=0x10000 value=5 card_us={100} detail=0
        kms-cube-412     [000] .....     7.000103: patchbay_submit: file=4 node=2 queue=0x70007 value=1 card_us={100} detail=1
          <idle>-0       [000] d.h1.     7.120103: patchbay_signal: file=4 node=2 queue=0x70007 value=1 card_us={120102} detail=0
          <idle>-0       [000] d.h1.     7.120299: patchbay_signal: file=4 node=2 queue=0x70007 value=2 card_us={120298} detail=0
""",
    # As trace-cmd prints it. All moves by 2 us: the firmware has seen the submission 2 us before its stamp. The process
    # is the one that submits, whatever ran before.
    """cpus=2
CPU:0 [LOST 3 EVENTS]
          <...>-9      [000] 86400.000005000: patchbay_signal:      file=1 node=1 queue=0x10001 value=8 card_us={4} detail=0
          <...>-9      [000] 86400.000014250: patchbay_ring:        file=1 node=1 queue=0x10001 value=9 card_us={13} detail=0
      Xorg: a [b-77    [001] 86400.000014250: patchbay_submit:      file=1 node=1 queue=0x10001 value=9 card_us={13} detail=0
          <...>-9      [000] 86400.000161999: patchbay_signal:      file=1 node=1 queue=0x10001 value=9 card_us={160} detail=-5
""",
    # With thread groups, and with a task whose name looks like an event. The stamps contradict the records in both
    # directions, by 6 us and by 1 us: all moves by 3 us, and then those alone that still do.
    """        weston-5       (    5) [000] .....     9.995186: patchbay_submit: file=1 node=1 queue=0x20001 value=4294967297 card_us={186} detail=0
 a: patchbay_ring:-6   (    5) [000] .....     9.995200: patchbay_ring: file=1 node=1 queue=0x20001 value=4294967297 card_us={200} detail=0
        weston-5       (-----) [000] d.h1.    10.015189: patchbay_signal: file=1 node=1 queue=0x20001 value=4294967297 card_us={20189} detail=-5
""",
]


def import_guests(path):
    """Imports the guests one by one. @return the path of the trace with all of them"""
    for number, text in enumerate(GUESTS):
        text = re.sub(r"\{(-?\d+)\}", lambda stamp: str(int(stamp[1]) + START & 0xFFFFFFFF), text)
        with open(path + ".txt", "w", encoding="ascii") as file:
            file.write(text)
        said = patchbay("trace", "import", "%s%s.trace" % (path, number or ""), path + ".txt", "%s%d.trace" % (path, number + 1))
        counts = (text.count(" card_us="), 3 if "LOST" in text else 0)
        same("what import says", said, "%d events of the guest, %d lost\n" % counts)
    return "%s%d.trace" % (path, len(GUESTS))


GUEST = ("guest 0: kms-cube 412", "file 3, queue 0x00010000 (node 0)")
XORG = ("guest 1: Xorg: a [b 77", "file 1, queue 0x00010001 (node 1)")
WESTON = ("guest 2: weston 5", "file 1, queue 0x00020001 (node 1)")
IMPORTED = [
    (GUEST, "guest submit", 8, None, 0, ["0x5"]),
    (GUEST, "guest ring", 11, None, 0, ["0x5"]),
    (GUEST, "guest signal", 101, None, 0, ["0x5"]),
    ((GUEST[0], "file 4, queue 0x00070007 (node 2)"), "guest submit", 102, None, 0, []),
    ((GUEST[0], "file 4, queue 0x00070007 (node 2)"), "guest signal", 120_102, None, 0, []),
    (XORG, "guest signal", 2, None, 0, []),
    (XORG, "guest submit", 11, None, 0, ["0x9"]),
    (XORG, "guest ring", 11, None, 0, ["0x9"]),
    (XORG, "guest signal", 158, None, 0, ["0x9"]),
    (WESTON, "guest submit", 180, None, 0, ["0x1"]),
    (WESTON, "guest ring", 197, None, 0, ["0x1"]),
    (WESTON, "guest signal", 20_190, None, 0, ["0x1"]),
]


def host(time):
    """The host's clock at a time of the small trace: its second anchor would set that clock back."""
    return SECOND + (time - 50) * 1000 if time < 140 else SECOND + 91_500 + (time - 140) * 1000


FIRST = ("channel 1", "channel 1, queue 0x00010000 (node 0)")
SECOND_ONE = ("channel 2", "channel 2, queue 0x00010001 (node 1)")
THIRD = ("channel 2, client 2", "channel 2, queue 0x00020001 (node 1)")
KERNEL = "WDDM kernel"

# Track, name, begin, end (None: an instant), depth, flows that it belongs to by the fence of their submission.
SMALL = [
    (FIRST + ("submissions",), "fence 0x5", 10, 100, 0, ["0x5"]),
    (FIRST + ("submissions",), "waiting", 10, 20, 1, []),
    (FIRST + ("submissions",), "patching", 20, 30, 1, []),
    (FIRST + ("submissions",), "ready", 30, 40, 1, []),
    (FIRST + ("submissions",), "running", 40, 100, 1, []),
    (FIRST + ("submissions",), "fence 0x6", 60, 151, 0, ["0x6"]),
    (FIRST + ("submissions",), "patching", 60, 64, 1, []),
    (FIRST + ("submissions",), "queued", 64, 100, 1, []),
    (FIRST + ("submissions",), "running", 100, 151, 1, []),
    (FIRST, "QUEUE", 0, None, 0, []),
    (FIRST, "signal", 100, None, 0, ["0x5", "wake"]),
    (FIRST, "STOP", 130, None, 0, []),
    (FIRST, "signal", 151, None, 0, ["0x6"]),
    (FIRST + ("submissions",), "fence 0x7", 151, 158, 0, ["0x7"]),
    (FIRST + ("submissions",), "patching", 151, 153, 1, []),
    (FIRST + ("submissions",), "running", 153, 158, 1, []),
    (FIRST, "signal", 158, None, 0, ["0x7"]),
    (("card", "node 0"), "render", 153, 158, 0, ["0x7"]),
    (("card", "node 0"), "render", 40, 100, 0, ["0x5"]),
    (("card", "node 0"), "render", 100, 151, 0, ["0x6"]),
    (SECOND_ONE + ("submissions",), "fence 0x9", 11, 150, 0, ["0x9"]),
    (SECOND_ONE + ("submissions",), "waiting", 11, 105, 1, []),
    (SECOND_ONE + ("submissions",), "patching", 105, 110, 1, []),
    (SECOND_ONE + ("submissions",), "ready", 110, 112, 1, []),
    (SECOND_ONE + ("submissions",), "running", 112, 150, 1, []),
    (SECOND_ONE, "QUEUE", 0, None, 0, []),
    (SECOND_ONE, "waits for another queue", 12, 101, 0, ["0x9"]),
    (SECOND_ONE, "WAKE", 101, None, 0, ["wake"]),
    (SECOND_ONE, "signal", 150, None, 0, ["0x9"]),
    (SECOND_ONE, "FREE", 160, None, 0, []),
    (("card", "node 1"), "render", 112, 150, 0, ["0x9"]),
    (THIRD + ("submissions",), "fence 0x1", 180, 20_190, 0, ["0x1"]),
    (THIRD + ("submissions",), "running", 180, 20_190, 1, []),
    (THIRD, "QUEUE", 170, None, 0, []),
    (THIRD, "signal", 20_190, None, 0, ["0x1"]),
    (("card", "node 1"), "failed", 180, 20_190, 0, ["0x1"]),
    (("card", "firmware"), "CHANNEL", 0, None, 0, []),
    (("card", "firmware"), "CHANNEL", 0, None, 0, []),
    (("card", "firmware"), "CHANNEL", 161, None, 0, []),
    (("card", "firmware"), "CHANNEL", 170, None, 0, []),
    ((KERNEL, "DDI calls of node 0"), "SubmitCommand", 8, None, 0, ["0x5"]),
    ((KERNEL, "DDI calls of node 0"), "DMA_COMPLETED", 103, None, 0, ["0x5"]),
    ((KERNEL, "DDI calls of node 0"), "DMA_COMPLETED", 158, None, 0, ["0x7"]),
    ((KERNEL, "all nodes"), "DpcRoutine", 159, None, 0, []),
]
# The arrows of each flow, from its first event to its last.
ARROWS = {
    "0x5": ["SubmitCommand", "guest submit", "fence 0x5", "guest ring", "render", "signal", "guest signal", "DMA_COMPLETED"],
    "0x6": ["fence 0x6", "render", "signal"],
    "0x7": ["fence 0x7", "render", "signal", "DMA_COMPLETED"],
    "0x9": ["guest submit", "guest ring", "fence 0x9", "waits for another queue", "render", "signal", "guest signal"],
    "0x1": ["guest submit", "fence 0x1", "failed", "guest ring", "signal", "guest signal"],
    "wake": ["signal", "WAKE"],
}
DRAWN = [
    ("card",),
    ("card", "firmware"),
    ("card", "node 0"),
    ("card", "node 0", "node 0 occupied"),
    ("card", "node 0", "node 0 submissions"),
    ("card", "node 1"),
    ("card", "node 1", "node 1 occupied"),
    ("card", "node 1", "node 1 submissions"),
    ("channel 1",),
    FIRST,
    FIRST + ("submissions",),
    FIRST + ("depth",),
    ("channel 2",),
    SECOND_ONE,
    SECOND_ONE + ("submissions",),
    SECOND_ONE + ("depth",),
    ("channel 2, client 2",),
    THIRD,
    THIRD + ("submissions",),
    THIRD + ("depth",),
    (KERNEL,),
    (KERNEL, "DDI calls of node 0"),
    (KERNEL, "all nodes"),
    GUEST[:1],
    GUEST,
    (GUEST[0], "file 4, queue 0x00070007 (node 2)"),
    XORG[:1],
    XORG,
    WESTON[:1],
    WESTON,
]
# Windows of 10 ms, the last one of 190 us.
COUNTERS = {
    "node 0 occupied": [(0, 1), (10_000, 0), (20_190, 0)],
    "node 1 occupied": [(0, 99), (10_000, 100), (20_190, 0)],
    "node 0 submissions": [(10, 1), (60, 2), (100, 1), (158, 0)],
    "node 1 submissions": [(11, 1), (150, 0), (180, 1), (20_190, 0)],
}
DEPTHS = {
    FIRST: [(10, 1), (60, 2), (100, 1), (158, 0)],
    SECOND_ONE: [(11, 1), (150, 0)],
    THIRD: [(180, 1), (20_190, 0)],
}


def flow_names(trace):
    """Names a flow by the fence of its submission; that of a wait has none."""
    names = {}
    for flow, indices in trace.flows.items():
        fences = [trace.slices[i].notes["fence"] for i in indices if trace.slices[i].name.startswith("fence ")]
        names[flow] = fences[0] if fences else "wake"
    return names


def check_small(trace):
    names = flow_names(trace)
    got = [
        (trace.path(one.track), one.name, one.begin, one.end, one.depth, [names[flow] for flow in one.flows])
        for one in trace.slices
    ]
    expected = [(*one[:2], host(one[2]), one[3] and host(one[3]), *one[4:]) for one in SMALL + IMPORTED]
    same("what is drawn", sorted(got, key=repr), sorted(expected, key=repr))
    arrows = {names[flow]: [trace.slices[i].name for i in indices] for flow, indices in trace.flows.items()}
    same("the arrows", arrows, ARROWS)
    same("the tracks from top to bottom", trace.drawn(), DRAWN)
    same("processes", len({track.pid for track in trace.tracks.values() if track.parent is None}), 8)
    same("the clocks", trace.snapshots, [(50_000, host(50)), (140_000, host(140))])
    for uuid, values in trace.counters.items():
        path = trace.path(uuid)
        expected = COUNTERS[path[-1]] if path[-1] in COUNTERS else DEPTHS[path[:-1]]
        same(path, values, [(host(time), value) for time, value in expected])
    same("counters", len(trace.counters), len(COUNTERS) + len(DEPTHS))
    units = {track.name: track.counter for track in trace.tracks.values() if track.counter is not None}
    same("unit of a share", units["node 0 occupied"], {"unit_name": "%"})
    same("unit of a depth", units["depth"], {"unit": 2})
    failed = [one.notes for one in trace.slices if one.name == "failed"][0]
    same("notes", failed["error"] != "OK" and {**failed, "error": ""}, {
        "fence": "0x1", "channel": 2, "queue": "0x00020001", "node": 1, "kind": "failed", "error": "", "patches": 0,
        "context": 2,
    })  # fmt: skip
    signal = [one.notes for one in trace.slices if trace.path(one.track) == WESTON and one.name == "guest signal"]
    same("notes of a guest", signal, [
        {"fence": "0x1", "value": 4294967297, "queue": "0x00020001", "node": 1, "file": 1, "detail": -5, "task": "weston 5"}
    ])  # fmt: skip
    texts = [one.notes["record"] for one in trace.slices if one.name == "waits for another queue"]
    same("the record of a wait", texts, ["WAIT      queue 1 for 0 value 5"])


def check_page(text):
    """The page has the same events on the lanes of their queues."""
    data = json.loads(text.split('<script id="data" type="application/json">')[1].split("</script>")[0])
    names = [lane[0] for lane in data["lanes"]]
    rows = [row for row in data["calls"] if row[1].startswith("guest ")]
    got = [(row[1], row[0], row[2] if row[2] is None else names[row[2]]) for row in rows]
    lanes = {GUEST: FIRST[1], XORG: SECOND_ONE[1], WESTON: THIRD[1]}
    same("the page", sorted(got, key=repr), sorted([(one[1], one[2], lanes.get(one[0])) for one in IMPORTED], key=repr))
    errors = [(row[3], row[5]) for row in rows if row[5] != 0]
    same("errors on the page", errors, [(9, 2**32 - 5), (1, 2**32 - 5)])


EVENT = "  a-1 [000] ..... 1.000001: patchbay_submit: file=1 node=0 queue=0x1 value=1 card_us=1 detail=0"
REFUSED = [
    ("", "0: there is no event"),
    ("# tracer: nop\n  a-1 [000] ..... 1.5: sched_switch: prev=1\n", "2: there is no event"),
    (EVENT + "\n" + EVENT[:-10], "2: the event is cut off"),
    (EVENT.replace("0x1", "none"), "1: the event is cut off"),
    (EVENT.replace("1.000001", "1000001"), "1: the event has no time"),
    (EVENT.replace("a-1 ", "a "), "1: the event has no task"),
    (EVENT.replace("a-1 ", "a-1x "), "1: the event has no task"),
    (EVENT.replace("[000]", "000"), "1: the event has no task"),
]


def check_refused(path):
    for text, why in REFUSED:
        with open(path + ".txt", "w", encoding="ascii") as file:
            file.write(text)
        files = (path + ".trace", path + ".txt", path + ".none")
        run = subprocess.run([PATCHBAY, "trace", "import", *files], capture_output=True, text=True)
        assert run.returncode == 1 and f"{path}.txt:{why}" in run.stderr, (text, run.returncode, run.stderr)
        assert not os.path.exists(path + ".none"), "an import that failed has left a file"


def check_clock(path, schema):
    """The records have a counter of 2 MHz. The card's clock stands still for 0.1 s, which CLOCK records show."""
    event = "  a-1 [000] ..... %s: patchbay_submit: file=1 node=0 queue=0x10000 value=%d card_us=%d detail=0\n"
    with open(path + ".txt", "w", encoding="ascii") as file:
        file.write(event % ("5.000000", 1, CARD + 100_500 & 0xFFFFFFFF) + event % ("5.250000", 2, CARD + 250_500 & 0xFFFFFFFF))
    # Two guests with the same events.
    for clocks, expected in (([(0, 500), (300_000, 200_500)], ["0.100000"] * 2 + ["0.350000"] * 2), ([], [])):
        with open(path + ".trace", "wb") as file:
            file.write(b"PBTRACE2" + piece(1, schema) + piece(6, struct.pack("<I", 2_000_000)))
            for time, card in clocks:
                file.write(piece(2, struct.pack("<4I", 2 * time, NONE << 16 | 8, CARD + card & 0xFFFFFFFF, 2_000_000)))
            file.write(piece(2, struct.pack("<4I", 800_000, FEED, 1, 1)))
        patchbay("trace", "import", path + ".trace", path + ".txt", path + ".one")
        patchbay("trace", "import", path + ".one", path + ".txt", path + ".joined")
        lines = [line.split() for line in patchbay("trace", "decode", path + ".joined").splitlines()]
        same("times by the card's clock", [line[0] for line in lines if line[1] == "guest"], expected)


# ---- against the other exports ----


def check_against_chrome(trace, events):
    """Submissions, runs and marks are those of --chrome, at the same times."""
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    begun = {}
    lives, runs, marks = [], [], []
    for event in events:
        lane = names.get((event["pid"], event["tid"]))
        if event["ph"] == "b":
            begun[event["id"]] = event["ts"]
        elif event["ph"] == "e":
            lives.append((lane, event["name"], begun[event["id"]] * 1000, event["ts"] * 1000))
        elif event["ph"] == "X" and event["pid"] == 1:
            runs.append((lane, event["name"], event["ts"] * 1000, (event["ts"] + event["dur"]) * 1000))
        elif event["ph"] == "i":
            marks.append(("firmware" if lane == "card" else lane, event["name"], event["ts"] * 1000))
    got = {"lives": [], "runs": [], "marks": []}
    for one in trace.slices:
        path = trace.path(one.track)
        if path[-1] == "submissions" and one.depth == 0:
            got["lives"].append((path[-2], one.name, one.begin, one.end))
        elif path[-1].startswith("node ") and one.end is not None:
            got["runs"].append((path[-1], one.name, one.begin, one.end))
        elif path[-1] != "submissions" and one.name != "signal":
            got["marks"].append((path[-1], one.name, one.begin))
    same("lives", sorted(got["lives"]), sorted(lives))
    same("runs", sorted(got["runs"]), sorted(runs))
    same("marks", sorted(got["marks"]), sorted(marks))
    assert len(lives) == PACKETS and len(runs) > PACKETS * 0.9 and marks


def check_against_decode(trace, text):
    """Each COMPLETE of the trace is a signal of its fence; the shares of a node add up to its runs."""
    signals = []
    for line in text.splitlines():
        words = line.split()
        if words[1] == "COMPLETE":
            seconds, parts = words[0].split(".")
            signals.append(((int(seconds) * 1_000_000 + int(parts)) * 1000, words[5]))
    got = [(one.begin, one.notes["fence"]) for one in trace.slices if one.name == "signal"]
    same("signals", sorted(got), sorted(signals))
    for uuid, values in trace.counters.items():
        track = trace.tracks[uuid]
        assert track.name.endswith("occupied") or values[-1][1] == 0, f"{track.name} does not end at 0"
        if not track.name.endswith("occupied"):
            continue
        counted = sum(share * (after[0] - at) for (at, share), after in zip(values, values[1:])) / 100
        runs = [one.end - one.begin for one in trace.slices if one.track == track.parent and one.end is not None]
        assert abs(counted - sum(runs)) < 0.005 * values[-1][0], f"{track.name}: {counted}, not {sum(runs)}"
    same("ids of the flows", sorted(trace.flows), list(range(1, PACKETS + 1)))
    ends = [len(indices) for indices in trace.flows.values()]
    assert len(ends) == PACKETS and ends.count(3) == len(signals), "each submission that ended is a flow of three"


# ---- files that break a rule ----


def packets_of(data):
    """The packets of a trace as (tag and length, contents): what a fault takes out, doubles or changes."""
    at, packets = 0, []
    while at < len(data):
        assert data[at] == 0x0A
        length = sum((data[at + 1 + i] & 0x7F) << 7 * i for i in range(4))
        packets.append(data[at : at + 5 + length])
        at += 5 + length
    return packets


def check_faults(data):
    packets = packets_of(data)
    same("packets", b"".join(packets), data)
    kinds = ["event" if b"\x5a" in one[:20] else "track" if b"\xe2\x03" in one[:20] else "other" for one in packets]
    first_event, tracks = kinds.index("event"), [i for i, kind in enumerate(kinds) if kind == "track"]
    ends = [i for i, one in enumerate(packets) if kinds[i] == "event" and b"\x48\x02" in one[:30]]

    def without(*indices):
        return b"".join(one for i, one in enumerate(packets) if i not in indices)

    refuse(without(0), "before the sequence has some")
    refuse(without(1, 2), "a clock without a snapshot")
    refuse(without(tracks[0]), "ranks of processes do not count")
    refuse(without(tracks[1]), "before its parent")
    refuse(without(tracks[-1]), "not described")
    refuse(without(ends[0]), "has no end")
    refuse(data + packets[tracks[2]], "described twice")
    refuse(b"".join(packets[: ends[-1] + 1] + packets[ends[-1] :]), "without a begin")
    refuse(data + packets[first_event], "times go back")
    refuse(data[:-1], "cut off")
    refuse(data + b"\x0a\x02\x78\x01", "has no field")


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "sample")
        subprocess.run([SAMPLE, str(PACKETS), path + ".trace"], check=True, stdout=subprocess.DEVNULL)
        patchbay("trace", "export", "--perfetto", path + ".pftrace", "--chrome", path + ".json", path + ".trace")
        with open(path + ".pftrace", "rb") as file:
            trace = Trace(file.read())
        with open(path + ".json", encoding="ascii") as file:
            check_against_chrome(trace, json.load(file)["traceEvents"])
        check_against_decode(trace, patchbay("trace", "decode", path + ".trace"))
        same("clocks without an anchor", trace.snapshots, [])

        with open(path + ".trace", "rb") as file:
            _, kind, length = struct.unpack("<8sII", file.read(16))
            assert kind == 1
            schema = file.read(length)
        small = os.path.join(folder, "small")
        write_small(small + ".trace", schema)
        patchbay("trace", "export", "--perfetto", small + ".pftrace", "--html", small + ".html", import_guests(small))
        with open(small + ".html", encoding="utf-8") as file:
            check_page(file.read())
        with open(small + ".pftrace", "rb") as file:
            data = file.read()
        check_small(Trace(data))
        check_refused(small)
        check_clock(os.path.join(folder, "clock"), schema)
        check_faults(data)


main()
