#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gl_serve.py PATCHBAY PROGRAM BOARD [TEST...]: several OpenGL programs at one server on one card. PROGRAM is gl_program.c.
What a program draws is compared with what it draws alone, and with what it draws on virglrenderer's own server. Nothing is
measured by a clock on the wall: engine time is the card's own, as its trace has it. Only a hang takes a minute."""

import contextlib
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

PATCHBAY, PROGRAM, BOARD = sys.argv[1:4]
PATIENCE = 100
MESA = {"GALLIUM_DRIVER": "virpipe", "LIBGL_ALWAYS_SOFTWARE": "1"}


class Process:
    """A process with its output in files, ended at the end of the test."""

    def __init__(self, world, name, *arguments, **options):
        self.name, self.arguments = name, arguments
        world.count += 1
        self.path = os.path.join(world.folder, f"{name}-{world.count}")
        with open(self.path + ".out", "wb") as out, open(self.path + ".err", "wb") as err:
            self.process = subprocess.Popen([str(a) for a in arguments], stdout=out, stderr=err,
                                            stdin=subprocess.DEVNULL, **options)
        self.pid = self.process.pid
        world.processes.append(self)

    def out(self):
        with open(self.path + ".out", errors="replace") as file:
            return file.read()

    def err(self):
        with open(self.path + ".err", errors="replace") as file:
            return file.read()

    def wait(self):
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} does not end: {self.out()[-500:]}{self.err()[-500:]}") from None

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.wait()

    def see(self, text, where="out"):
        until(lambda: text in (self.out() if where == "out" else self.err()),
              lambda: f"{self.name}: no {text!r} in\n{self.out()[-2000:]}{self.err()[-2000:]}")


def until(found, what):
    end = time.monotonic() + PATIENCE
    while not found():
        assert time.monotonic() < end, what() if callable(what) else what
        time.sleep(0.05)


def children(pid, name):
    """Ids of a process's children with this name, oldest first."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                with open(f"/proc/{entry}/stat") as file:
                    text = file.read()
                with open(f"/proc/{entry}/comm") as file:
                    comm = file.read().strip()
                state, parent = text[text.rindex(")") + 2:].split()[:2]
                if int(parent) == pid and comm.startswith(name) and state != "Z":
                    found.append(int(entry))
    return sorted(found)


class World:
    """A card, a server, and programs."""

    def __init__(self, *server, card=()):
        self.folder = tempfile.mkdtemp(prefix="gl-serve-")
        self.count, self.processes = 0, []
        self.card_socket, self.socket = self.folder + "/card", self.folder + "/gl"
        self.card = Process(self, "card", PATCHBAY, "card", "--board", BOARD, "--engine", "gl", "--card-memory", "256M",
                            "--socket", self.card_socket, *card)
        self.card.see("ready", "err")
        self.server = None
        self.serve(*server)

    def serve(self, *options):
        self.server = Process(self, "server", PATCHBAY, "gl", "--card", self.card_socket, "--socket", self.socket,
                              "--verbose", *options)
        until(lambda: os.path.exists(self.socket + ".control"), "the server does not listen")

    def run(self, *words, options=(), program=PROGRAM):
        """A program that is registered."""
        return Process(self, "program", PATCHBAY, "run", f"--server={self.socket}", *options, "--", program, *words)

    def stranger(self, *words):
        """A program that is not registered: it finds the server's socket where Mesa looks."""
        script = ("mount -t tmpfs none /mnt && touch /mnt/.virgl_test && mount --bind \"$0\" /mnt/.virgl_test && "
                  "mount --rbind /mnt /tmp && exec \"$@\"")
        return Process(self, "stranger", "unshare", "-m", "--propagation", "private", "sh", "-c", script, self.socket,
                       PROGRAM, *words, env={**os.environ, **MESA})

    def renderers(self):
        return children(self.card.pid, "patchbay-render")

    def record(self):
        return Process(self, "trace", PATCHBAY, "trace", "record", "--card", self.card_socket, "--time", "1000",
                       self.folder + "/trace")

    def end(self):
        for process in reversed(self.processes):
            if process.process.poll() is None:
                process.process.terminate()
                try:
                    process.process.wait(30)
                except subprocess.TimeoutExpired:
                    process.process.kill()
                    process.process.wait()
        shutil.rmtree(self.folder)


@contextlib.contextmanager
def world(*server, card=()):
    made = World(*server, card=card)
    try:
        yield made
    except BaseException:
        for process in made.processes:
            print(f"-- {process.name} {process.arguments[1:]}\n{process.out()[-1500:]}{process.err()[-1500:]}")
        raise
    finally:
        made.end()


def plain(*words):
    """What the program prints on virglrenderer's own server."""
    script = ("mount -t tmpfs none /tmp && { virgl_test_server --use-egl-surfaceless >/dev/null 2>&1 & }\n"
              "for try in $(seq 400); do [ -S /tmp/.virgl_test ] && break; sleep 0.05; done\n"
              "env GALLIUM_DRIVER=virpipe LIBGL_ALWAYS_SOFTWARE=1 \"$@\"; exit $?\n")
    # A server with that environment would be a program of its own.
    done = subprocess.run(["unshare", "-mpf", "--kill-child", "--propagation", "private", "bash", "-c", script, "bash",
                           PROGRAM, *[str(word) for word in words]], stdout=subprocess.PIPE, timeout=PATIENCE, check=True,
                          text=True)
    return done.stdout


def engine_time(made, since=0):
    """Engine time in microseconds by channel, from the trace: what ran until a completion or a stop was the first in the
    ring. @return spans (begin, end, channel) behind `since`, and times of resets"""
    # The file may end in the middle of a record that is being written.
    text = subprocess.run([PATCHBAY, "trace", "decode", made.folder + "/trace"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False, text=True).stdout
    channels, ring, spans, resets, last = {}, [], [], [], 0
    for line in text.splitlines():
        match = re.match(r"\s*(\d+\.\d+)\s+(\w+)\s+(.*)", line)
        if not match:
            continue
        now, kind, rest = round(float(match[1]) * 1e6), match[2], match[3]
        queue = re.search(r"queue (\d+)", rest)
        queue = int(queue[1]) if queue else None
        if kind == "QUEUE":
            channels[queue] = int(re.search(r"channel (\d+)", rest)[1])
        elif kind == "FEED":
            last = last if ring else now
            ring.append(queue)
        elif kind == "COMPLETE" and queue in ring:
            spans.append((last, now, channels.get(ring[0])))
            ring.remove(queue)
            last = now
        elif kind == "NODE" and "node 0 " in rest and ring:
            # Back to work behind a stop or a reset: the ring is empty.
            if "state 2" in rest:
                resets.append(now)
            if "state 0" in rest:
                spans.append((last, now, channels.get(ring[0])))
                ring, last = [], now
    return [span for span in spans if span[1] > since], resets


def sums(spans, begin=0, end=1 << 62):
    total = {}
    for first, last, channel in spans:
        part = min(last, end) - max(first, begin)
        if part > 0:
            total[channel] = total.get(channel, 0) + part
    return total


def channel_of(made, process):
    found = re.findall(r"process (\d+): channel (\d+)", made.server.err())
    return [int(channel) for pid, channel in found if int(pid) == process.pid][-1]


def picture(process):
    """The sums that a program has printed of its pictures."""
    return re.findall(r"picture \w+", process.out())


# ---- tests ----


def programs_get_what_was_registered_for_them():
    """With its own priority and weight, and without: then the server's."""
    expected = re.findall(r"picture \w+", plain("frames", 20, 5))
    with world("--priority", "low", "--weight", "2", "--video-memory", "32M") as made:
        first = made.run("frames", 20, 5, options=("--priority", "high", "--weight", "64"))
        second = made.run("frames", 20, 5)
        third = made.stranger("frames", 20, 5)
        for program in (first, second, third):
            assert program.wait() == 0, program.err()
            assert picture(program) == expected, picture(program)
        text = made.server.err()
        for program, what in ((first, "priority high, weight 64"), (second, "priority normal, weight 1"),
                              (third, "priority low, weight 2")):
            assert re.search(rf"process {program.pid}: channel \d, {what}\n", text), text
        # A child of a child, which the program leaves behind.
        program = made.run("-c", f"({PROGRAM} frames 10 5 &) ; sleep 1; wait", options=("--weight", "7"), program="sh")
        program.wait()
        made.server.see(f"process {program.pid}: channel", "err")
        assert re.search(rf"process {program.pid}: channel \d, priority normal, weight 7\n", made.server.err())
        # All of them have left: their channels have weight 1 again.
        assert made.server.signal() == 0
        assert not os.path.exists(made.socket) and not os.path.exists(made.socket + ".control")
        program = made.run("frames", 1, 1)
        assert program.wait() == 1 and "no `patchbay gl` serves at" in program.err(), program.err()


def engine_time_follows_the_weights():
    """Two programs that keep their rings full, with weights 3 and 1: of four seconds of engine time in which both had begun,
    one gets three parts."""
    with world() as made:
        made.record()
        pair = [made.run("flood", 1000000, 300, options=("--weight", weight)) for weight in (3, 1)]
        for program in pair:
            program.see("frame")
        channels = [channel_of(made, program) for program in pair]
        total = {}

        def enough():
            spans, _ = engine_time(made)
            begin = [min((last for _, last, channel in spans if channel == c), default=1 << 62) for c in channels]
            total.clear()
            total.update(sums(spans, max(begin)))
            return sum(total.get(c, 0) for c in channels) >= 4000000

        until(enough, lambda: f"only {total} us of engine time")
        ratio = total[channels[0]] / total[channels[1]]
        print(f"  engine time by channel {total}, ratio {ratio:.2f}")
        assert 2.7 <= ratio <= 3.3, ratio


TESTS = [programs_get_what_was_registered_for_them, engine_time_follows_the_weights]


def main():
    chosen = sys.argv[4:]
    for test in TESTS:
        if not chosen or test.__name__ in chosen:
            began = time.monotonic()
            test()
            print(f"{test.__name__}: passed, {time.monotonic() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
