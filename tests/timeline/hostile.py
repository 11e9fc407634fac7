#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hostile.py SAMPLE PATCHBAY: traces that no recording makes: pieces with extreme words behind a small trace, ends in the
middle, bytes of chance. `trace decode`, `export` and `import` end with 0, or with 1 and a message; within a time that such
a small file may take, and a memory."""

import os
import random
import resource
import struct
import subprocess
import sys
import tempfile

SAMPLE, PATCHBAY = sys.argv[1:]
RECORDS, LOST, ANCHOR, RATE, CALLS, NODES, GUEST, HOST = 2, 3, 4, 6, 7, 8, 16, 17
GUEST_EVENTS, HOST_EVENTS = (1, 2, 3), (4, 5, 6)
MOST, LONG = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
# Of the processor, seconds, under sanitizers; and of memory.
SECONDS, MIBS = 20, 1024
CUTS, FLIPS = 8, 15


def piece(kind, content):
    return struct.pack("<2I", kind, len(content)) + content


def words(kind, *values):
    return piece(kind, struct.pack(f"<{len(values)}I", *values))


def records(*rows):
    packed = [struct.pack("<4I", clock, event | of << 16, first, second) for clock, event, of, first, second in rows]
    return b"".join(piece(RECORDS, b"".join(packed[i : i + 4096])) for i in range(0, len(packed), 4096))


def anchor(day, clock, error, host):
    return piece(ANCHOR, struct.pack("<QIIQ", day, clock, error, host))


def guest(kind, number, event, time, file=1, value=1, node=0, queue=1, card=0, detail=0, pid=7):
    return piece(kind, struct.pack("<IIQQQ5I", number, event, time, file, value, node, queue, card, detail, pid)
                 + b"x" * 16)


def first_clock(sample):
    """The clock of the first record."""
    at = 8
    while True:
        kind, length = struct.unpack_from("<2I", sample, at)
        if kind == RECORDS:
            return struct.unpack_from("<I", sample, at + 8)[0]
        at += 8 + length


def cases(clock):
    """Names, and what stands behind the sample, whose first record has that clock."""
    yield "nothing", b""
    yield "anchors at the ends of time", anchor(LONG, MOST, MOST, LONG) + anchor(0, 0, 0, 1) + anchor(1, 1, 1, LONG)
    yield "anchors that go back", b"".join(anchor(1 << 60, 1000 + i, 1, 1 << 50 >> i) for i in range(40))
    yield "an anchor of no host, and a call", anchor(5, 5, 5, 0) + words(CALLS, 1, 0, 1, 0, 1, 1, 0)
    yield "calls with extreme words", anchor(1 << 60, 9, 1, 1000) + words(CALLS, *[MOST] * 70) + words(CALLS, *[0] * 70)
    for nodes in (0, 1, 255, 256, 257, MOST):
        yield f"{nodes} nodes", words(NODES, nodes)
    yield "losses without end", words(LOST, MOST) * 2000
    yield "rates behind the records", words(RATE, 0) + words(RATE, MOST)
    yield "nodes and errors out of range", records(*[(9000 + i, e, 3, MOST, MOST) for i, e in enumerate(range(1, 256))])
    yield "a clock that jumps", records(*[(i * 0x7FFFFFFF & MOST, 1 + i % 40, 2, i, i) for i in range(4000)])
    yield "each queue there can be", records(*[(9000 + i, e, i, 7, 0) for i in range(0x10000) for e in (17, 21)])
    yield "rings without end", records(*[(9000 + i, 17, 4, i * 0x10001 & MOST, 0) for i in range(4000)])
    for kind, events in ((GUEST, GUEST_EVENTS), (HOST, HOST_EVENTS)):
        for event in (events[0] - 1, events[-1] + 1, MOST):
            yield f"an event {kind} of kind {event & MOST}", guest(kind, 1, event & MOST, 1000)
        yield f"events {kind} with extreme words", anchor(1 << 60, 9, 1, 1000) + b"".join(
            guest(kind, MOST, event, time, LONG, LONG, MOST, MOST, MOST, MOST, MOST)
            for event in events for time in (0, 1, LONG))
        yield f"many senders of {kind}", anchor(1 << 60, clock, 1, 1000) + b"".join(
            guest(kind, number * 0x10001 & MOST, events[number % len(events)], 1_000_000 + number)
            for number in range(20_000))


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))


def attempt(name, *arguments, wanted=None):
    """Runs the command, which has to end by itself, and to say what it does not like: the `wanted` words."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as said:
        child = subprocess.Popen([PATCHBAY, "trace", *arguments], stdout=out, stderr=said, preexec_fn=limits)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = code = os.waitstatus_to_exitcode(status)
        said.seek(0)
        message = said.read().decode(errors="replace")
    assert code in (0, 1), f"{name}: {arguments[0]} ends with {code}: {message[-2000:]}"
    assert code == 0 or message.strip(), f"{name}: {arguments[0]} says nothing"
    assert usage.ru_maxrss < MIBS << 10, f"{name}: {arguments[0]} takes {usage.ru_maxrss >> 10} MiB"
    assert not wanted or wanted in message, f"{name}: {arguments[0]} says: {message}"
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss >> 10, message.strip()[-60:]


def all_readers(folder, name, content):
    trace = os.path.join(folder, "hostile.trace")
    with open(trace, "wb") as file:
        file.write(content)
    exports = [part for form in ("perfetto", "chrome", "html", "ctf")
               for part in ("--" + form, os.path.join(folder, "out." + form))]
    costs = attempt(name, "decode", trace), attempt(name, "export", *exports, trace)
    if os.environ.get("VERBOSE"):
        print(name, *(f"{seconds:.1f} s {mibs} MiB {said}" for seconds, mibs, said in costs), flush=True)


def host_section(pid, channel, lost, events):
    return b"PBHOST01" + struct.pack("<4I16s", pid, channel, len(events), lost, b"x" * 16) + b"".join(events)


def imports(folder, sample):
    """Files of hosts: a section behind the other, numbers at their ends, and parts of a file."""
    path, trace = os.path.join(folder, "host.events"), os.path.join(folder, "sample.trace")
    joined = os.path.join(folder, "joined.trace")
    event = struct.pack("<QQ6I", LONG // 2000, LONG, 1, MOST, MOST, MOST, MOST, 0)
    files = {
        "many sections": host_section(1, 1, 0, [event]) * 10_000,
        "extreme words": host_section(MOST, MOST, MOST, [event] * 3),
        "a count without events": b"PBHOST01" + struct.pack("<4I16s", 1, 1, MOST, 0, b""),
        "a cut section": host_section(1, 1, 0, [event])[:-1],
        "nothing": b"",
    }
    with open(trace, "wb") as file:
        file.write(sample)
    for name, content in files.items():
        with open(path, "wb") as file:
            file.write(content)
        attempt("import of " + name, "import", trace, path, joined)
        # Again, with the numbers that the first one has given.
        if os.path.exists(joined):
            attempt("another import of " + name, "import", joined, path, os.path.join(folder, "twice.trace"))
            os.remove(joined)
    # Numbers of guests do not begin anew behind the last one.
    with open(path, "wb") as file:
        file.write(host_section(1, 1, 0, [event]) * 3)
    for last, wanted in ((MOST - 4, None), (MOST - 3, "no number"), (MOST, "no number")):
        with open(trace, "wb") as file:
            file.write(sample + guest(GUEST, last, 1, 1000))
        attempt(f"import behind guest {last}", "import", trace, path, joined, wanted=wanted)


def main():
    chance = random.Random(21)
    with tempfile.TemporaryDirectory(prefix="patchbay-hostile-") as folder:
        small = os.path.join(folder, "small.trace")
        subprocess.run([SAMPLE, "60", small], check=True, stdout=subprocess.DEVNULL)
        with open(small, "rb") as file:
            sample = file.read()
        for name, behind in cases(first_clock(sample)):
            all_readers(folder, name, sample + behind)
        for _ in range(CUTS):
            cut = chance.randrange(len(sample))
            all_readers(folder, f"cut at {cut}", sample[:cut])
        for _ in range(FLIPS):
            changed = bytearray(sample)
            for _ in range(chance.choice((1, 3, 30))):
                changed[chance.randrange(8, len(changed))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
            all_readers(folder, "bytes of chance", bytes(changed))
        imports(folder, sample)


main()
