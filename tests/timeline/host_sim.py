#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""host_sim.py PATCHBAY SUBM: PATCHBAY_TRACE_HOST on cards that are simulated in the program. The page of a demo has the
events of its host, in virtual time: each submission waits from its own put on, no event is before its cause, and nothing
else of the page differs from that of a demo without them. No file is written. A command that has no page to show the
events on says that they are lost, and ends with 1; one that submits nothing has none."""

import json
import os
import subprocess
import sys
import tempfile

PATCHBAY, SUBM = sys.argv[1:]
FRAMES = 3
# Columns of a packet: its lane, fence, and times.
LANE, FENCE, SUBMIT, FIRST, END = 1, 4, 8, 9, 13


def run(folder, *arguments, traced=True):
    environment = dict(os.environ)
    environment.pop("PATCHBAY_TRACE_HOST", None)
    if traced:
        environment["PATCHBAY_TRACE_HOST"] = os.path.join(folder, "host")
    done = subprocess.run([PATCHBAY, *arguments], capture_output=True, text=True, env=environment)
    assert not os.path.exists(os.path.join(folder, "host")), "a file of virtual times"
    return done


def page(folder, options, traced):
    out = os.path.join(folder, "out")
    done = run(folder, "demo", "--sim", "--frames", str(FRAMES), "--output", out, *options, traced=traced)
    assert done.returncode == 0 and done.stderr == "", done
    with open(os.path.join(out, "timeline.html"), encoding="utf-8") as file:
        return json.loads(file.read().split('<script id="data" type="application/json">')[1].split("</script>")[0])


def first(packet):
    return [time for time in packet[FIRST:END] if time is not None][0]


def without_puts(packets):
    return [packet[:SUBMIT] + packet[SUBMIT + 1:] for packet in packets]


def check_demo(folder, *options):
    plain, traced = page(folder, options, False), page(folder, options, True)
    assert plain["hosts"] == [] and [row[1] for row in traced["hosts"]] == ["patchbay"], traced["hosts"]
    # A simulation is deterministic: that it is traced changes nothing.
    for what in ("lanes", "marks", "frames", "wakes", "duration", "lost"):
        assert plain[what] == traced[what], what
    assert without_puts(plain["packets"]) == without_puts(traced["packets"])
    mine = [packet for packet in traced["packets"] if packet[SUBMIT] is not None and packet[END] is not None]
    assert all(packet[SUBMIT] <= first(packet) for packet in mine)
    puts = [call for call in traced["calls"] if call[1] == "host submitted"]
    seen = [call for call in traced["calls"] if call[1] == "host seen"]
    assert puts and seen and len(mine) > len(plain["packets"]) // 2, (len(puts), len(seen), len(mine))
    # Each put is one submission's, and in virtual time it has not to be moved for that.
    assert sorted(put[0] for put in puts if put[3] is not None) == sorted(packet[SUBMIT] for packet in mine)
    frames = [call for call in traced["calls"] if call[1] == "host frame"]
    assert [call[7] for call in frames] == list(range(1, FRAMES + 1)), frames
    # A demo waits for each frame: what was put before has ended.
    assert all(packet[END] <= frame[0] for frame in frames for packet in mine if packet[SUBMIT] < frame[0])
    ends = {}
    for packet in mine:
        ends.setdefault(packet[FENCE], []).append(packet[END])
    assert all(call[0] >= min(ends[call[3]]) for call in seen if call[3] in ends)
    return len(puts)


def check_others(folder):
    done = run(folder, "replay", "--sim", SUBM)
    lost = f"PATCHBAY_TRACE_HOST: {os.path.join(folder, 'host')}: a simulated card has its own clock, and no recording to " \
           "import them into: the events of this program are lost\n"
    assert done.returncode == 1 and done.stderr == lost, done
    assert run(folder, "replay", "--sim", SUBM, traced=False).returncode == 0
    done = run(folder, "stats", "--sim")
    assert done.returncode == 0 and done.stderr == "", done


def main():
    with tempfile.TemporaryDirectory() as folder:
        puts = check_demo(folder), check_demo(folder, "--wddm")
        check_others(folder)
    print("%d and %d puts of simulated demos" % puts)


main()
