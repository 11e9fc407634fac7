#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""host_lane.py PATCHBAY HOST_BURST: a program puts bursts of submissions to an idle node, traced by PATCHBAY_TRACE_HOST, while
the trace of its card is recorded. The card's MCU stands during each burst, so that each submission waits. Every submission's
wait on the page begins at its own put: the time of the host's event, which lies between the clocks that the program has read
itself, by the anchors of the recording."""

import json
import os
import resource
import signal
import struct
import subprocess
import sys
import tempfile

from e2e import PATIENCE, mcu_of, until

PATCHBAY, BURST = sys.argv[1:3]
ROUNDS, BURSTS = 10, 6
# Rounding to microseconds, at each of the two sides.
NEAR_US = 2


def patchbay(*arguments):
    return subprocess.run([PATCHBAY, *arguments], check=True, capture_output=True, text=True).stdout


def read_host(path):
    """The sections of the file of a host, by the description in host/link_trace.h."""
    sections = []
    with open(path, "rb") as file:
        data = file.read()
    while data:
        magic, pid, channel, count, lost, name = struct.unpack("<8s4I16s", data[:40])
        assert magic == b"PBHOST01"
        rows = list(struct.iter_unpack("<QQ6I", data[40:40 + 40 * count]))
        sections.append((pid, channel, lost, name.rstrip(b"\0").decode(), rows))
        data = data[40 + 40 * count:]
    return sections


def read_anchors(path):
    """Clocks of the link at the anchors of a trace file."""
    with open(path, "rb") as file:
        data = file.read()[8:]
    while data:
        kind, length = struct.unpack("<2I", data[:8])
        if kind == 4:
            words = struct.unpack("<%dI" % (length // 4), data[8:8 + length])
            yield words[5] << 32 | words[4]
        data = data[8 + length:]


def times_of(anchors, clock):
    """The earliest and the latest time that a moment of the host's clock may have. An anchor may have been seen late, so the
    one before and the two behind count, too."""
    i = max([k for k in range(len(anchors)) if anchors[k][0] <= clock], default=0)
    ahead = [host - time for host, time in anchors[max(0, i - 1):i + 3]]
    return clock - max(ahead) - NEAR_US, clock - min(ahead) + NEAR_US


def check_full(card, host, folder):
    """A file that takes no more: the reason is printed, what was in the file stays, and the command fails."""
    size = 64 << 20
    with open(host, "wb") as file:
        file.truncate(size)

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, size + 100))

    for command, code in (([BURST, card, "1"], 0), ([PATCHBAY, "demo", "--card", card, "--frames", "2"], 1)):
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, preexec_fn=limit,
                              env={**os.environ, "PATCHBAY_TRACE_HOST": host})
        assert done.returncode == code and f"{host}: File too large" in done.stderr, (command, done)
        assert os.path.getsize(host) == size, "half a section was written"


def run(folder):
    """Records a run. @return what the program has printed, the paths of the trace and of the host's events"""
    at = lambda name: os.path.join(folder, name)
    card = subprocess.Popen([PATCHBAY, "card", "--quiet", "--board", "mps2_an500", "--socket", at("card")])
    recorder = None
    try:
        until(lambda: os.path.exists(at("card")) or card.poll() is not None, "the card has no socket")
        subprocess.run([BURST, at("card"), "1"], check=True, capture_output=True)
        assert not os.path.exists(at("host")), "events without PATCHBAY_TRACE_HOST"
        recorder = subprocess.Popen([PATCHBAY, "trace", "record", "--card", at("card"), "--levels", "default",
                                     "--time", "1000", at("trace")])
        until(lambda: os.path.exists(at("trace")) and os.path.getsize(at("trace")) > 100, "no recording")
        printed = subprocess.run([BURST, at("card"), str(ROUNDS), str(mcu_of(card))], check=True, capture_output=True, text=True,
                                 env={**os.environ, "PATCHBAY_TRACE_HOST": at("host")}).stdout
        subprocess.run([PATCHBAY, "demo", "--card", at("card"), "--frames", "2"], check=True, capture_output=True, cwd=folder,
                       env={**os.environ, "PATCHBAY_TRACE_HOST": at("host")})
        recorder.send_signal(signal.SIGINT)
        assert recorder.wait(PATIENCE) == 0
        check_full(at("card"), at("full"), folder)
    finally:
        for process in (card, recorder):
            if process is not None and process.poll() is None:
                process.terminate()
                process.wait(PATIENCE)
    return [tuple(map(int, line.split())) for line in printed.splitlines()], at("trace"), at("host")


def check_file(notes, host):
    """Each event lies between the clocks that the program has read. @return time and fence of each submission"""
    (_, channel, lost, name, rows), *demo = read_host(host)
    assert name == "host_burst" and lost == 0, (name, lost)
    assert demo and all(part[3] == "patchbay" and any(row[2] == 1 for row in part[4]) for part in demo), demo
    puts = [row for row in rows if row[2] == 1]
    assert [row[6] for row in puts] == [note[0] for note in notes], "fences"
    assert [row[5] for row in puts] == list(range(len(puts))) and [row[1] for row in puts] == list(range(1, len(puts) + 1))
    for row, (fence, before, after, _) in zip(puts, notes):
        assert before <= row[0] <= after, (fence, before, row[0], after)
    seen = [row for row in rows if row[2] == 3]
    assert seen[-1][5] == len(puts) and [row[5] for row in seen] == sorted(row[5] for row in seen)
    assert any(row[2] == 2 for row in rows), "no interrupt was seen"
    for row in seen:  # a submission was put before it was seen
        assert all(put[0] <= row[0] for put in puts if put[5] < row[5])
    return channel, {row[6]: (row[0], note[3]) for row, note in zip(puts, notes)}


def page_of(trace):
    patchbay("trace", "export", "--html", trace + ".html", trace)
    with open(trace + ".html", encoding="utf-8") as file:
        return json.loads(file.read().split('<script id="data" type="application/json">')[1].split("</script>")[0])


def packets_of(page, channel, fences):
    """Of each fence: its row. Submissions of the other run of the program have fences of the first round only."""
    rows = [row for row in page["packets"] if page["lanes"][row[1]][1] == channel and row[4] in fences and row[13] is not None]
    return {row[4]: row for row in rows}


def check_waits(trace, joined, channel, puts):
    decoded = [line.split() for line in patchbay("trace", "decode", joined).splitlines()]
    times = [float(line[0]) * 1e6 for line in decoded if line[1:4] == ["the", "host's", "clock:"]]
    anchors = list(zip(read_anchors(trace), times))
    page, before = page_of(joined), page_of(trace)
    assert len(anchors) >= 2 and {row[1] for row in page["hosts"]} == {"host_burst", "patchbay"} and before["hosts"] == []
    packets, former = packets_of(page, channel, puts), packets_of(before, channel, puts)
    assert set(packets) == set(puts), "submissions are missing"
    shown = {int(line[line.index("fence") + 1]): round(float(line[0]) * 1e6) for line in decoded if line[1:2] == ["host"] and line[3] == "submitted" and "host_burst" in line}
    assert set(shown) == set(puts)
    waits = set()
    for fence, (clock, released) in puts.items():
        old = [t for t in former[fence][8:12] if t is not None][0]
        new = packets[fence][8]
        least, most = times_of(anchors, clock)
        # Not behind what the firmware did first; else by the anchors. If these are so wrong that they show the put behind the
        # firmware's work, it has no wait.
        if new is not None or shown[fence] <= old:
            assert abs(new - min(shown[fence], old)) <= NEAR_US, (fence, new, shown[fence], old)
        assert least <= shown[fence] <= most, (fence, least, shown[fence], most)
        assert packets[fence][9:] == former[fence][9:], "another time has changed"
        # The MCU went on only later, by more than the anchors are wrong by: certainly a wait.
        if times_of(anchors, released)[0] > most:
            assert new < old, (fence, new, old)
            waits.add(fence)
    # Without the host's events the default level shows no wait at all.
    assert all(row[8] is None for row in former.values())
    assert waits, anchors
    bursts = [sorted(puts)[i:i + BURSTS] for i in range(0, len(puts), BURSTS)]
    for burst in bursts:
        got = [packets[fence][8] for fence in burst if fence in waits]
        assert got == sorted(got), "puts of a burst"
        assert len(set(got)) == len(got), "one time for several of a burst"
    rows = [row for row in page["calls"] if row[1] == "host seen" and row[3] is not None and row[6] == 0]
    assert rows and all(row[0] >= packets[row[3]][13] for row in rows if row[3] in packets), "seen before its end"
    print(f"{len(waits)} of {len(puts)} submissions certainly waited from their put on")


def main():
    with tempfile.TemporaryDirectory() as folder:
        notes, trace, host = run(folder)
        channel, puts = check_file(notes, host)
        joined = os.path.join(folder, "joined")
        said = patchbay("trace", "import", trace, host, joined)
        assert said.endswith(" events of hosts, 0 lost\n"), said
        check_waits(trace, joined, channel, puts)


main()
