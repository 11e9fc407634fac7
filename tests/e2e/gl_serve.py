#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gl_serve.py PATCHBAY PROGRAM BOARD [TEST...]: several OpenGL programs at one server on one card. PROGRAM is gl_program.c.
What a program draws is compared with what it draws alone, and with what it draws on virglrenderer's own server. Nothing is
measured by a clock on the wall: engine time is the card's own, as its trace has it."""

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

from e2e import PATIENCE, until

PATCHBAY, PROGRAM, BOARD = [os.path.abspath(word) for word in sys.argv[1:3]] + sys.argv[3:4]
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


def children(pid, name):
    """Ids of a process's children with this name, oldest first."""
    found = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/children") as file:
            of_thread = file.read().split()
        for child in of_thread:
            with contextlib.suppress(OSError), open(f"/proc/{child}/stat") as file:
                text = file.read()
                comm, state = text[text.index("(") + 1:text.rindex(")")], text[text.rindex(")") + 2]
                if comm.startswith(name) and state != "Z":
                    found.append(int(child))
    return sorted(found)


class World:
    """A card, a server, and programs."""

    def __init__(self, *server, card=(), engine="gl"):
        self.folder = tempfile.mkdtemp(prefix="gl-serve-")
        self.count, self.processes = 0, []
        self.card_socket, self.socket = self.folder + "/card", self.folder + "/gl"
        self.card = Process(self, "card", PATCHBAY, "card", "--board", BOARD, "--engine", engine, "--card-memory", "256M",
                            "--socket", self.card_socket, *card)
        self.card.see("ready", "err")
        self.server = None
        if engine == "gl":
            self.serve(*server)

    def serve(self, *options):
        self.server = Process(self, "server", PATCHBAY, "gl", "--card", self.card_socket, "--socket", self.socket,
                              "--verbose", *options)
        until(self.listens, lambda: "the server does not listen")

    def listens(self):
        """Whether it takes registrations. Its socket alone says nothing: one that was killed has left its own."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as control, contextlib.suppress(OSError):
            control.connect(self.socket + ".control")
            return True
        return False

    def run(self, *words, options=(), program=PROGRAM):
        """A program that is registered."""
        return Process(self, "program", PATCHBAY, "run", f"--server={self.socket}", *options, "--", program, *words)

    def stranger(self, *words):
        """A program that is not registered: it finds the server's socket where Mesa looks, in a /tmp of its own."""
        script = ("mount -t tmpfs none /mnt && touch /mnt/.virgl_test && mount --bind \"$0\" /mnt/.virgl_test && "
                  "mount --rbind /mnt /tmp && exec \"$@\"")
        return Process(self, "stranger", "unshare", "-m", "--propagation", "private", "sh", "-c", script, self.socket,
                       "./" + os.path.basename(PROGRAM), *words, env={**os.environ, **MESA}, cwd=os.path.dirname(PROGRAM))

    def renderers(self):
        return children(self.card.pid, "patchbay-render")

    def record(self):
        self.trace = Process(self, "trace", PATCHBAY, "trace", "record", "--card", self.card_socket, "--time", "1000",
                       self.folder + "/trace")

    def end(self):
        for process in reversed(self.processes):
            if process.process.poll() is None:
                process.process.terminate()
                try:
                    process.process.wait(PATIENCE)
                except subprocess.TimeoutExpired:
                    process.process.kill()
                    process.process.wait()
        shutil.rmtree(self.folder)


@contextlib.contextmanager
def world(*server, card=(), engine="gl"):
    made = World(*server, card=card, engine=engine)
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
    script = ("mount -t tmpfs none /tmp || exit 1\nvirgl_test_server --use-egl-surfaceless >/dev/null 2>&1 &\n"
              "until [ -S /tmp/.virgl_test ]; do kill -0 $! || exit 1; sleep 0.05; done\n"
              "env GALLIUM_DRIVER=virpipe LIBGL_ALWAYS_SOFTWARE=1 \"$@\"; exit $?\n")
    # A server with that environment would be a program of its own. /tmp is hidden, and the program may lie there.
    done = subprocess.run(["unshare", "-mpf", "--kill-child", "--propagation", "private", "bash", "-c", script, "bash",
                           "./" + os.path.basename(PROGRAM), *[str(word) for word in words]], stdout=subprocess.PIPE,
                          timeout=PATIENCE, check=True, text=True, cwd=os.path.dirname(PROGRAM))
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
        elif kind == "BLAME" and "ENGINE_HANG" in rest:
            resets.append(now)
        elif kind == "COMPLETE" and queue in ring:
            spans.append((last, now, channels.get(ring[0])))
            ring.remove(queue)
            last = now
        elif kind == "NODE" and "node 0 " in rest and ring:
            # Back to work behind a stop or a reset: the ring is empty.
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
        program = made.run("-c", f"({PROGRAM} frames 10 5 | cat >&2 &) 2>&1 | cat", options=("--weight", "7"), program="sh")
        program.wait()
        made.server.see(f"process {program.pid}: channel", "err")
        assert re.search(rf"process {program.pid}: channel \d, priority normal, weight 7\n", made.server.err())
        # All of them have left: their channels have weight 1 again.
        assert made.server.signal() == 0
        assert not os.path.exists(made.socket) and not os.path.exists(made.socket + ".control")
        program = made.run("frames", 1, 1)
        assert program.wait() == 1 and "no `patchbay gl` serves at" in program.err(), program.err()


def engine_time_follows_the_weights():
    """Two programs that keep their rings full, with weights 16 and 1: both get on, and the heavier one more, four times as
    much in the end. On a busy machine a program may be too late to keep its ring full, and this takes longer. Which share a
    weight is exactly, the simulation proves."""
    with world() as made:
        made.record()
        pair = [made.run("flood", 1000000, 200, options=("--weight", weight)) for weight in (16, 1)]
        for program in pair:
            program.see("frame")
        channels = [channel_of(made, program) for program in pair]
        total = {}

        def ahead():
            spans, _ = engine_time(made)
            begin = max(min((last for _, last, channel in spans if channel == c), default=1 << 62) for c in channels)
            total.clear()
            total.update(sums(spans, begin))
            heavy, light = (total.get(channel, 0) for channel in channels)
            return light > 0 and heavy > max(500000, 4 * light)

        until(ahead, lambda: f"engine time by channel {total}", 0.5)
        print(f"  engine time by channel {total}")


def a_shader_without_end_costs_its_own_program():
    """It has the time that its program asked for, and its program is told; the other's picture is right, and behind the
    reset the engine is the other's again. The other one rests until the shader runs."""
    expected = re.findall(r"picture \w+", plain("frames", 100, 20))
    with world() as made:
        made.record()
        good = made.run("frames", 100, 20)
        good.see("frame")
        resting = children(good.pid, "gl_program")[0]
        os.kill(resting, signal.SIGSTOP)
        endless = made.run("endless", options=("--hang-limit", "1000"))
        endless.see("endless")
        os.kill(resting, signal.SIGCONT)
        assert endless.wait() != 0, endless.err()
        made.server.see("the context is lost", "err")
        assert good.wait() == 0 and picture(good) == expected, good.out()[-200:]
        later = made.run("frames", 10, 5)
        assert later.wait() == 0, later.err()
        assert made.trace.signal(signal.SIGINT) == 0
        spans, resets = engine_time(made)
        assert len(resets) == 1, resets
        mine = channel_of(made, endless)
        at_last = [end - begin for begin, end, channel in spans if channel == mine and begin < resets[0] <= end + 10000]
        print(f"  engine time of the shader without end {at_last} us")
        assert at_last and max(at_last) >= 1000000, spans[-20:]
        total = sums(spans, resets[0] + 1)
        print(f"  engine time by channel behind the reset {total}")
        own = channel_of(made, later)
        assert total.get(own, 0) > 0 and (own == mine or total.get(mine, 0) < 1000000), total


def a_killed_program_renderer_server_or_card():
    """Whatever is killed with signal 9: what depends on it ends, and says so; all others go on, and new ones work."""
    expected = re.findall(r"picture \w+", plain("frames", 60, 20))
    with world(card=("--restarts", "3")) as made:
        good = made.run("frames", 60, 20)
        good.see("frame")
        # A program: its connection, its channel and its renderer are gone.
        first = made.run("wait")
        made.server.see(f"process {first.pid}: channel", "err")
        os.kill(children(first.pid, "gl_program")[0], signal.SIGKILL)
        assert first.wait() == 128 + 9
        # A renderer: its program is told, and so is the server.
        before = made.renderers()
        second = made.run("flood", 1000000, 60)
        second.see("frame")
        victim = [pid for pid in made.renderers() if pid not in before]
        os.kill(victim[-1], signal.SIGKILL)
        assert second.wait() != 0
        made.server.see("the context is lost", "err")
        assert good.wait() == 0 and picture(good) == expected, good.out()[-200:]
        until(lambda: not made.renderers(), "renderers of programs that have ended")
        # The server: its programs end. Another one starts where it was.
        third = made.run("flood", 1000000, 60)
        third.see("frame")
        made.server.signal(signal.SIGKILL)
        assert third.wait() != 0
        until(lambda: not made.renderers(), "renderers of a server that was killed")
        made.serve()
        fourth = made.run("frames", 60, 20)
        assert fourth.wait() == 0 and picture(fourth) == expected
        # The MCU: programs end; the card starts another one, for new programs.
        fifth = made.run("flood", 1000000, 60)
        fifth.see("frame")
        os.kill(children(made.card.pid, "qemu-system")[0], signal.SIGKILL)
        assert fifth.wait() != 0
        until(lambda: made.run("frames", 60, 20).wait() == 0, "no program runs on the MCU that was started again")
        # The card: programs end, and new ones are told.
        sixth = made.run("flood", 1000000, 60)
        sixth.see("frame")
        made.card.signal(signal.SIGKILL)
        assert sixth.wait() != 0
        assert made.run("frames", 1, 1).wait() != 0
        made.server.see("NO_CARD", "err")
        assert made.server.process.poll() is None


def video_memory_of_a_quarter_of_the_working_set():
    """272 textures of 16 KiB, three times around, and addresses for 1 MiB of them: equal pictures, and evictions."""
    expected = re.findall(r"picture \w+", plain("textures", 272, 64))
    assert len(expected) == 3
    with world() as made:
        for memory, evicts in (("64M", False), ("1M", True)):
            program = made.run("textures", 272, 64, options=("--video-memory", memory))
            assert program.wait() == 0 and picture(program) == expected, program.out()
            until(lambda: re.search(rf"process {program.pid}: \d+ submissions", made.server.err()), "no figures")
            evictions = [int(n) for n in re.findall(rf"process {program.pid}: .* (\d+) evictions", made.server.err())]
            print(f"  --video-memory {memory}: {sum(evictions)} evictions")
            assert (sum(evictions) > 272) == evicts, evictions


def one_that_takes_too_much_ends_alone():
    """A program that makes textures for ever; one that opens 1,000 connections; connections that send nothing, or half a
    message. Beside them another one draws."""
    expected = re.findall(r"picture \w+", plain("frames", 60, 20))
    with world() as made:
        good = made.run("frames", 60, 20)
        good.see("frame")
        hoarder = made.run("hoard")
        crowd = [socket.socket(socket.AF_UNIX) for _ in range(1000)]
        for number, connection in enumerate(crowd):
            connection.connect(made.socket)
            # Nothing, half a header, half a name.
            with contextlib.suppress(OSError):
                connection.sendall((b"", struct.pack("<I", 9), struct.pack("<II", 9, 8) + b"half")[number % 3])
        made.server.see(f"process {os.getpid()} has 4 connections, and gets no more", "err")
        second = made.run("frames", 60, 20)
        assert second.wait() == 0 and picture(second) == expected
        assert good.wait() == 0 and picture(good) == expected
        assert hoarder.wait() != 0 and "textures 3" in hoarder.out(), hoarder.out()
        made.server.see("the context is lost", "err")
        for connection in crowd:
            connection.close()
        # One that has sent its name, and then half a message, holds nothing but its own channel.
        half = socket.socket(socket.AF_UNIX)
        until(lambda: not children(made.server.pid, "patchbay"), "processes of connections that have left")
        half.connect(made.socket)
        half.sendall(struct.pack("<II", 5, 8) + b"half\0" + struct.pack("<III", 64, 6, 1))
        made.server.see("half, process", "err")
        third = made.run("frames", 60, 20)
        assert third.wait() == 0 and picture(third) == expected
        half.close()


def a_wrong_card_is_refused():
    """Neither `gl` nor `run` begins with a socket at which no card listens, or with a card without a GL engine."""
    with world(engine="reference") as made:
        for wrong, text in ((made.card_socket + "-none", "NO_CARD"), (made.card_socket, "--engine gl")):
            for words in (("gl", "--card", wrong, "--socket", made.socket), ("run", "--card", wrong, "--", "true")):
                refused = Process(made, "refused", PATCHBAY, *words)
                assert refused.wait() == 1, refused.err()
                assert wrong in refused.err() and text in refused.err(), refused.err()
                assert not os.path.exists(made.socket), "the server has listened"


TESTS = [a_wrong_card_is_refused, programs_get_what_was_registered_for_them, engine_time_follows_the_weights,
         a_shader_without_end_costs_its_own_program, a_killed_program_renderer_server_or_card,
         video_memory_of_a_quarter_of_the_working_set, one_that_takes_too_much_ends_alone]


def main():
    chosen = sys.argv[4:]
    for test in TESTS:
        if not chosen or test.__name__ in chosen:
            began = time.monotonic()
            test()
            print(f"{test.__name__}: passed, {time.monotonic() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
