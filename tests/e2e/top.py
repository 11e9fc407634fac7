#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""top.py PATCHBAY: `patchbay top` in a terminal, on an emulated card that runs submissions, whose firmware is halted and
killed, and which ends and returns."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios

import pyte

from e2e import PATIENCE, mcu_of, until

PATCHBAY = sys.argv[1]
ROWS, COLUMNS = 24, 130
children = []


class Terminal:
    """A terminal that runs a command, and the contents of its screen."""

    def __init__(self, *arguments):
        self.screen = pyte.Screen(COLUMNS, ROWS)
        self.stream = pyte.ByteStream(self.screen)
        self.master, slave = pty.openpty()
        self.resize(ROWS, COLUMNS)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        environment = {**os.environ, "TERM": "linux"}
        self.process = subprocess.Popen([PATCHBAY, "top", *arguments], stdin=slave, stdout=slave, stderr=slave,
                                        env=environment, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        children.append(self.process)

    def resize(self, rows, columns):
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        while select.select([self.master], [], [], 0.02)[0]:
            self.stream.feed(os.read(self.master, 65536))

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def wait(self, what, found):
        """Waits until found(lines) is true. Returns its result."""
        def text():
            return what + " is not on the screen:\n" + "\n".join(self.lines())

        def look():
            ended = self.process.poll() is not None
            self.read()
            result = found(self.lines())
            assert result or not ended, text()
            return result

        return until(look, text, 0)

    def see(self, text):
        self.wait(text, lambda lines: any(text in line for line in lines))

    def press(self, keys):
        os.write(self.master, keys)

    def end(self, code):
        """Waits for the end of the command, which must restore the terminal."""
        def ended():
            over = self.process.poll() is not None
            self.read()
            return over

        until(ended, "the command does not end", 0)
        assert self.process.returncode == code, self.process.returncode
        assert termios.tcgetattr(self.slave) == self.before, "the terminal is not as it was"
        assert not self.screen.cursor.hidden, "there is no cursor"
        os.close(self.slave)
        os.close(self.master)


def start(*arguments):
    process = subprocess.Popen([PATCHBAY, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    children.append(process)
    return process


def start_card(path):
    card = start("card", "--quiet", "--socket", path)

    def answers():
        assert card.poll() is None, "there is no card"
        return subprocess.run([PATCHBAY, "info", "--card", path], capture_output=True, check=False).returncode == 0

    until(answers, "the card does not answer")
    return card


def number(text):
    """The value of an abbreviated number."""
    value = re.fullmatch(r"([0-9.]+)([kM]|Ki|Mi)?", text)
    return float(value[1]) if value else 0


def nodes(lines):
    """Submissions, patches and bytes a second of each node."""
    rows = [line.split() for line in lines if re.match(r" +[0-9] (RUNNING|STOPPING|RESETTING)", line)]
    return [[number(word) for word in row[3:6]] for row in rows]


def queues(lines):
    """Channel, index, node and rate of each visible queue."""
    rows = [re.match(r"(\d+):(\d+) +(\d+) +[A-Z]+ +[A-Z_]+ +\S+ +\d+ +(\S+)", line) for line in lines]
    return [(int(row[1]), int(row[2]), int(row[3]), number(row[4])) for row in rows if row]


def is_busy(lines):
    """Whether there are four nodes, the first two busy, with the queues that feed them."""
    rates = nodes(lines)
    busy = {queue[2] for queue in queues(lines) if queue[3] > 0}
    return len(rates) == 4 and all(rates[0]) and rates[1][0] > 0 and busy == {0, 1}


def check_usage(folder):
    def run(*arguments):
        return subprocess.run([PATCHBAY, "top", *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              check=False)

    nowhere = os.path.join(folder, "nowhere.sock")
    no_terminal = run("--card", nowhere)
    assert no_terminal.returncode == 2 and "patchbay stats" in no_terminal.stderr, no_terminal
    assert run().returncode == 2 and "--card SOCKET" in run().stderr
    for delay in ("0", "x", "1e9", "nan"):
        assert run("--card", nowhere, "--delay", delay).returncode == 2
    terminal = Terminal("--card", nowhere)
    terminal.end(1)
    assert any("NO_CARD" in line for line in terminal.lines())


def check_load(terminal, path):
    terminal.see("incarnation 1,")
    terminal.see("heart beating")
    load = start("demo", "--card", path, "--frames", "9999", "--output", path + ".demo")
    terminal.wait("the load", is_busy)
    load.kill()
    # The card closes the channel of a killed client.
    terminal.see("queues 0-0 of 0")
    check_stats(path)


def check_stats(path):
    """Compares the output of `patchbay stats` for the card."""
    def stats(*arguments):
        return subprocess.run([PATCHBAY, "stats", "--card", path, *arguments], capture_output=True, text=True, check=True,
                              stdin=subprocess.DEVNULL).stdout

    def final():
        now = json.loads(stats("--json"))
        return None if any(node["queues"] for node in now["nodes"]) else now

    # After the last queue is gone the published counters are final.
    report = until(final, "queues of a client that was killed")
    assert re.search(r"^SUBMISSIONS +[1-9]\d* +[1-9]\d* +0 +0$", stats(), re.MULTILINE)
    assert report["incarnation"] == 1 and report["ticks"] > 0 and len(report["nodes"]) == 4
    for node in report["nodes"][:2]:
        assert node["busy_us"] > 0 and node["bytes"] > 0
        # The client was killed in the middle of submissions: some may have failed.
        assert 0 < node["latencies"]["fence"]["count"] <= node["submissions"]
        assert node["latencies"]["feed"]["count"] > 0


def check_keys(terminal):
    terminal.press(b"p")
    terminal.see("(paused)")
    terminal.press(b"\x1b[B\x1b[Ap")
    terminal.wait("the running view", lambda lines: "(paused)" not in lines[0])
    terminal.resize(5, 40)
    terminal.wait("a small screen", lambda lines: "q quit" in lines[4] and lines[0].startswith("patchbay top"))
    terminal.resize(ROWS, COLUMNS)
    terminal.wait("a large screen", lambda lines: "queues 0-0" in lines[ROWS - 1])


def check_halt(terminal, card):
    """The view does not block on firmware that does not answer."""
    os.kill(mcu_of(card), signal.SIGSTOP)
    terminal.see("heart STOPPED")
    terminal.press(b"p")
    terminal.see("(paused)")
    terminal.press(b"p")
    os.kill(mcu_of(card), signal.SIGCONT)
    terminal.see("heart beating")


def check_restart(terminal, card, path):
    load = start("demo", "--card", path, "--frames", "9999", "--output", path + ".demo")
    terminal.wait("the load", is_busy)
    os.kill(mcu_of(card), signal.SIGKILL)
    terminal.see("incarnation 2,")
    terminal.see("died 1 times")
    load.wait(PATIENCE)
    load = start("demo", "--card", path, "--frames", "9999", "--output", path + ".demo")
    terminal.wait("the load again", is_busy)
    load.kill()


def await_up(file, up):
    """Waits until `patchbay stats` has written whether the card is up."""
    until(lambda: os.path.exists(file) and f"\npatchbay_up {up}\n" in open(file, encoding="ascii").read(),
          "patchbay_up does not change")


def check_return(terminal, card, path):
    file = path + ".prom"
    stats = start("stats", "--card", path, "--every", "0.1", "--prometheus", file)
    await_up(file, 1)
    card.terminate()
    terminal.see("The card is gone. Retrying " + path)
    assert len(nodes(terminal.lines())) == 4, "the last screen is gone"
    await_up(file, 0)
    assert card.wait(PATIENCE) == 0
    card = start_card(path)
    await_up(file, 1)
    stats.terminate()
    assert stats.wait(PATIENCE) == 0
    terminal.see("incarnation 1,")
    terminal.wait("no error", lambda lines: "card is gone" not in lines[3])
    return card


def check_once(path):
    """One reading fits the terminal that it is printed on, and has all columns elsewhere."""
    whole = subprocess.run([PATCHBAY, "top", "--once", "--card", path], capture_output=True, text=True, timeout=PATIENCE,
                           check=True).stdout
    master, slave = pty.openpty()
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    assert subprocess.run([PATCHBAY, "top", "--once", "--card", path], stdout=slave, timeout=PATIENCE, check=True)
    fitting = os.read(master, 65536).decode().replace("\r\n", "\n")
    os.close(slave)
    os.close(master)
    assert max(map(len, whole.splitlines())) > 80 and "BYTES/S" in whole
    assert max(map(len, fitting.splitlines())) <= 80 and "SUBM/S" in fitting


def check_all(folder):
    path = os.path.join(folder, "card.sock")
    check_usage(folder)
    card = start_card(path)
    terminal = Terminal("--card", path, "--delay", "0.2")
    check_load(terminal, path)
    check_keys(terminal)
    check_halt(terminal, card)
    check_restart(terminal, card, path)
    card = check_return(terminal, card, path)
    terminal.press(b"q")
    terminal.end(0)
    check_once(path)
    terminal = Terminal("--card", path)
    terminal.see("heart beating")
    terminal.process.terminate()
    terminal.end(0)
    # A closed terminal need not be restored.
    terminal = Terminal("--card", path)
    terminal.see("heart beating")
    os.close(terminal.slave)
    os.close(terminal.master)
    assert terminal.process.wait(PATIENCE) == 0
    card.terminate()
    assert card.wait(PATIENCE) == 0


with tempfile.TemporaryDirectory() as top:
    try:
        check_all(top)
    finally:
        for child in children:
            if child.poll() is None:
                child.kill()
                child.wait()
print("every view was seen")
