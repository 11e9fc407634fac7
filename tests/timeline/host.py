#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""host.py SAMPLE PATCHBAY: events of hosts, written here byte by byte, joined with the trace of a card whose anchors are known.
Their times, their submissions, the lanes and names in every export are compared with what was written down by hand;
files that are no host's, or cut off, are refused and leave no file."""

import json
import os
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

from perfetto_reader import Trace  # noqa: E402

SAMPLE, PATCHBAY = sys.argv[1:]
# Events of the trace, as `patchbay trace decode` names them.
CHANNEL, QUEUE, HANDLE, PATCH, PATCHED, FEED, COMPLETE = (3, 4, 5, 18, 19, 20, 21)
NONE, OPEN = 0xFFFF, 1
# The clock of the link, and that of day, when the trace begins.
BASE, DAY = 5_000_000_000, 1_700_000_000_000_000_000
HERE, OTHER = 0x00010002, 0x00010003
SUBMITTED, INTERRUPT, SEEN, FRAME = 1, 2, 3, 4


def piece(kind, content):
    return struct.pack("<2I", kind, len(content)) + content


def event(time, kind, queue=0, index=0, fence=0, value=0, node=0):
    return struct.pack("<QQ6I", time, value, kind, queue, node, index, fence, 0)


def section(events, pid=77, channel=3, lost=0, name=b"glx<gears"):
    return b"PBHOST01" + struct.pack("<4I16s", pid, channel, len(events), lost, name) + b"".join(events)


def run(*arguments):
    return subprocess.run([PATCHBAY, *arguments], capture_output=True, text=True)


def patchbay(*arguments):
    done = run(*arguments)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


def same(what, got, want):
    assert got == want, f"{what}:\n got {got}\nwant {want}"


RECORDS = [
    (0, CHANNEL, NONE, 3, OPEN),
    (0, QUEUE, 2, 3, 0),
    (0, HANDLE, 2, HERE, 2 << 16 | 0 << 8 | 3),
    # Three of one burst, then one that has the fence id of the first.
    (30, PATCH, 2, 5, 1),
    (40, PATCHED, 2, 5, 0),
    (41, FEED, 2, 5, 0),
    (45, PATCH, 2, 8, 1),
    (46, PATCHED, 2, 8, 0),
    (47, FEED, 2, 8, 0),
    (50, PATCH, 2, 6, 1),
    (55, PATCHED, 2, 6, 0),
    (56, FEED, 2, 6, 0),
    (100, COMPLETE, 2, 5, 0),
    (140, COMPLETE, 2, 8, 0),
    (180, COMPLETE, 2, 6, 0),
    (200, PATCH, 2, 5, 1),
    (205, PATCHED, 2, 5, 0),
    (206, FEED, 2, 5, 0),
    (250, COMPLETE, 2, 5, 0),
]
PUTS = [(20, 5), (22, 8), (25, 6), (210, 5)]
EVENTS = (
    [event(BASE + time, SUBMITTED, HERE, index, fence, 1000 + index) for index, (time, fence) in enumerate(PUTS)]
    + [event(BASE + 95, SEEN, HERE, 1), event(BASE + 90, INTERRUPT), event(BASE + 190, SEEN, HERE, 3)]
    + [event(BASE + 50, SUBMITTED, OTHER, 0, 1, 1, 1)]
    # Ends of frames: one behind what was seen at 95, which ended at 100; one before a put, which the firmware has seen at 200.
    + [event(BASE + 97, FRAME, index=41), event(BASE + 205, FRAME, index=42)]
    # Before the recording, before the machine had booted, and long after.
    + [event(BASE - 10, SUBMITTED, HERE, 9, 6), event(0, SUBMITTED, HERE, 9, 6), event(2**53, SUBMITTED, HERE, 9, 6)]
)
# By hand: a put is not behind what the firmware did with it first (200), nothing is seen before it has ended (100).
DECODED = [(20, "submitted"), (22, "submitted"), (25, "submitted"), (50, "submitted"), (90, "interrupt"), (95, "seen"), (97, "frame"), (190, "seen"),
           (205, "frame"), (210, "submitted")]
WAITS = [(5, 20, 30, 100), (8, 22, 45, 140), (6, 25, 50, 180), (5, 200, 200, 250)]
CALLS = sorted([(20, "host submitted", 5), (22, "host submitted", 8), (25, "host submitted", 6), (200, "host submitted", 5),
                (50, "host submitted", 1), (90, "host interrupt", None), (100, "host seen", 5), (190, "host seen", 6),
                (100, "host frame", None), (200, "host frame", None)], key=repr)
FRAMES = [(100, 41), (200, 42)]


def write_trace(path, schema, anchored=True):
    with open(path, "wb") as file:
        file.write(b"PBTRACE2" + piece(1, schema) + piece(6, struct.pack("<I", 0)))
        for number, (clock, code, object_, first, second) in enumerate(RECORDS):
            if anchored and number in (3, 18):
                file.write(piece(4, struct.pack("<QIIQ", DAY + 1000 * clock, clock, 0, BASE + clock)))
            file.write(piece(2, struct.pack("<4I", clock, object_ << 16 | code, first, second)))


def join(trace, contents, joined):
    with open(trace + ".host", "wb") as file:
        file.write(contents)
    return run("trace", "import", trace, trace + ".host", joined)


def host_lines(joined):
    lines = [line.split() for line in patchbay("trace", "decode", joined).splitlines()]
    return [(round(float(line[0]) * 1e6), line[3]) for line in lines if line[1] == "host"]


def check_page(path, joined):
    patchbay("trace", "export", "--html", path + ".html", joined)
    with open(path + ".html", encoding="utf-8") as file:
        data = json.loads(file.read().split('<script id="data" type="application/json">')[1].split("</script>")[0])
    same("waits", [(row[4], row[8], row[9], row[13]) for row in data["packets"]], WAITS)
    same("hosts", data["hosts"], [[0, "glx_gears", 77, 3]])
    same("events", sorted([(row[0], row[1], row[3]) for row in data["calls"]], key=repr), CALLS)
    same("all are the host's", {row[6] for row in data["calls"]}, {0})
    same("frames", [(row[0], row[7], row[2]) for row in data["calls"] if len(row) > 7], [(*frame, None) for frame in FRAMES])


def check_perfetto(path, joined):
    patchbay("trace", "export", "--perfetto", path + ".pftrace", joined)
    with open(path + ".pftrace", "rb") as file:
        trace = Trace(file.read())
    process = "host: glx_gears 77"
    names = {(trace.path(one.track), one.name) for one in trace.slices if trace.path(one.track)[0] == process}
    same("tracks", names, {((process, "channel 3, queue 0x00010002 (node 0)"), "host submitted"),
                           ((process, "channel 3, queue 0x00010002 (node 0)"), "host seen"),
                           ((process, "channel 3, queue 0x00010003 (node 1)"), "host submitted"),
                           ((process, "channel 3, interrupts"), "host interrupt"),
                           ((process, "channel 3, frames"), "host frame")})
    frames = [(one.begin, one.notes["frame"]) for one in trace.slices if one.name == "host frame"]
    same("frames", sorted(frames), [(DAY + 1000 * time, number) for time, number in FRAMES])
    waiting = sorted(one.end - one.begin for one in trace.slices if one.name == "waiting")
    same("waits in ns", waiting, [10_000, 23_000, 25_000])
    flows = {}
    for one in trace.slices:
        for flow in one.flows:
            flows.setdefault(flow, []).append(one)
    ways = [[one.name for one in sorted(way, key=lambda one: one.begin)] for way in flows.values()]
    assert any("host submitted" in way and "render" in way and "host seen" in way for way in ways), ways


def check_ctf(path, joined):
    patchbay("trace", "export", "--ctf", path + ".ctf", joined)
    said = subprocess.run(["babeltrace2", "--no-delta", path + ".ctf"], capture_output=True, text=True, check=True).stdout
    got = [line.split("] ")[1] for line in said.splitlines() if "] host_" in line]
    assert len(got) == len(DECODED), got
    frames = [line for line in got if line.startswith("host_frame")]
    same("frames", [line.split("index = ")[1].split(",")[0] for line in frames], [str(number) for _, number in FRAMES])
    same("an event", got[2], f"host_submitted: {{ host = 0, channel = 3, node = 0, queue = 0x{HERE:X}, value = 1002, fence = 0x6, "
         f"index = 2, host_ns = {(BASE + 25) * 1000}, pid = 77, comm = \"glx_gears\" }}")


def check_chrome(path, joined):
    patchbay("trace", "export", "--chrome", path + ".json", joined)
    with open(path + ".json", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    frames = [one for one in events if one["ph"] == "i" and one["name"].startswith("frame ")]
    same("frames", [(one["ts"], one["name"]) for one in frames], [(time, f"frame {number}") for time, number in FRAMES])
    track = (frames[0]["pid"], frames[0]["tid"])
    names = [one["args"]["name"] for one in events if one["name"] == "thread_name" and (one["pid"], one["tid"]) == track]
    same("their track", names, ["host glx_gears 77, channel 3"])


def check_refused(path, trace):
    good = section(EVENTS[:2])
    for contents, why in [
        (good[:-1], "cut off"),
        (good[:39], "cut off"),
        (good + good[:8], "cut off"),
        (good + b"PBHOST02" + good[8:], "no host's"),
        (good + bytes(40), "no host's"),
        (b"PBHOST01" + struct.pack("<4I16s", 1, 1, 2**32 - 1, 0, b"x"), "too long"),
        # What a later version has added is refused, not misread.
        (section([event(1, 5)]), "no known kind"),
        (section([event(1, 0)]), "no known kind"),
        (section([event(2**64 - 1, SEEN)]), "no time"),
        (b"PBHOST99" + good[8:], "there is no event"),
        (b"", "there is no event"),
    ]:
        done = join(trace, contents, path + ".none")
        assert done.returncode == 1 and why in done.stderr, (why, done)
        assert not os.path.exists(path + ".none"), "an import that failed has left a file"


def check_same_file(path, trace):
    """What is read is not written, by whatever name: neither the trace nor the host's events."""
    done = join(trace, section(EVENTS), path + ".apart")
    assert done.returncode == 0, done
    os.link(trace, path + ".linked")
    os.symlink(trace + ".host", path + ".symbolic")
    for name in (trace, path + ".linked", trace + ".host", path + ".symbolic"):
        with open(name, "rb") as file:
            before = file.read()
        done = run("trace", "import", trace, trace + ".host", name)
        assert done.returncode == 1 and name in done.stderr and "also read" in done.stderr, done
        with open(name, "rb") as file:
            assert file.read() == before, f"{name} was written"


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "small")
        subprocess.run([SAMPLE, "10", path + ".sample"], check=True, stdout=subprocess.DEVNULL)
        with open(path + ".sample", "rb") as file:
            length = struct.unpack("<8sII", file.read(16))[2]
            schema = file.read(length)
        write_trace(path + ".trace", schema)
        same("what import says", join(path + ".trace", section(EVENTS, lost=4), path + ".joined").stdout, "13 events of hosts, 4 lost\n")
        same("times", host_lines(path + ".joined"), DECODED)
        check_page(path, path + ".joined")
        check_perfetto(path, path + ".joined")
        check_ctf(path, path + ".joined")
        check_chrome(path, path + ".joined")
        # Two links in one file, and a second import: each has a number of its own.
        join(path + ".trace", section(EVENTS[:1]) + section(EVENTS[1:2], pid=78), path + ".two")
        join(path + ".two", section(EVENTS[2:3], pid=79), path + ".three")
        said = [line.split() for line in patchbay("trace", "decode", path + ".three").splitlines()]
        same("numbers", [(line[2], line[-1]) for line in said if line[1] == "host"], [("0", "77"), ("1", "78"), ("2", "79")])
        # Without an anchor no time is known.
        write_trace(path + ".none.trace", schema, False)
        join(path + ".none.trace", section(EVENTS), path + ".blind")
        same("times without an anchor", host_lines(path + ".blind"), [])
        check_refused(path, path + ".trace")
        check_same_file(path, path + ".trace")


main()
