#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs virtual machines on emulated cards for scripts/linux, and prints what their tests say."""

import argparse
import atexit
import glob
import lzma
import os
import queue
import re
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

import linux_clients
import linux_cost
import linux_ends
import linux_gl
import linux_mesa
import linux_programs

# Longest life of a machine or a card, in seconds: an emulated machine on a busy system.
MACHINE_SECONDS = 240
# What makes the guest boot in two seconds without KVM.
COMMAND_LINE = (
    "console=ttyS0 mitigations=off nopti nokaslr tsc=reliable quiet panic=-1 random.trust_cpu=on"
)
# The guest's time limit for a card that is not answering: a busy system starves a card for longer than a real one.
PATIENT = "patchbay.card_timeout_ms=10000"


def extract(image, output):
    """Unpacks the kernel of a compressed image."""
    with open(image, "rb") as file:
        data = file.read()
    start = data.find(b"\xfd7zXZ\x00")
    if start < 0:
        sys.exit(f"error: {image} is not compressed by xz")
    kernel = lzma.LZMADecompressor(format=lzma.FORMAT_XZ).decompress(data[start:])
    if kernel[:4] != b"\x7fELF":
        sys.exit(f"error: {image} holds no ELF file")
    with open(output + ".part", "wb") as file:
        file.write(kernel)
    os.rename(output + ".part", output)


# The cards and machines that run. Whatever ends this program ends them: it does so itself where it can, the kernel does
# if this program is killed (ENDS_WITH_US).
RUNNING = []
ENDS_WITH_US = ("setpriv", "--pdeathsig", "TERM")


class Failure(Exception):
    """A machine or a card that does not do what it should."""


def end_all():
    """Ends all cards and machines. Other signals do not interrupt this."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for one in list(RUNNING):
        one.end()


def ended(number, _):
    """A signal ends this program like an error, so that cards, machines and folders are cleaned up."""
    sys.exit(128 + number)


class Card:
    """An emulated card, with a socket for machines."""

    def __init__(self, options, work, name, memory=None, engine=None):
        self.socket = os.path.join(work, name)
        self.log = open(self.socket + ".log", "w", encoding="utf-8")
        command = [*ENDS_WITH_US, options.patchbay, "card", "--board", options.board, "--image", options.image,
                   "--card-memory", memory or options.card_memory, "--socket", self.socket]
        if engine:
            command += ["--engine", engine]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        start_new_session=True)
        RUNNING.append(self)
        end = time.monotonic() + 30
        # The socket is there before the card listens.
        while "card: ready" not in self.said():
            if self.process.poll() is not None or time.monotonic() > end:
                self.stop()
                raise Failure("the card does not start: " + self.said())
            time.sleep(0.02)

    def said(self):
        """All that the card has said so far."""
        with open(self.log.name, encoding="utf-8") as text:
            return text.read()

    def kill_mcu(self):
        """Ends the emulator of the card's MCU; other children of the card are renderers."""
        lines = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(self.process.pid)], capture_output=True,
                               text=True, check=False).stdout.splitlines()
        found = [int(line.split()[0]) for line in lines if line.split()[1].startswith("qemu")]
        if len(found) != 1:
            raise Failure(f"the card has {len(found)} emulators: {lines}")
        os.kill(found[0], signal.SIGKILL)

    def kill(self):
        """Ends the card and its MCU at once, as a crash would."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """Ends the card as a user does."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()

    end = stop


class Machine:
    """A virtual machine on a card. Its console is read by a thread."""

    def __init__(self, options, card, words, parameters=PATIENT, shell=False, guest="guest.cpio", extra=()):
        folder = options.folder
        self.name = words
        self.seconds = MACHINE_SECONDS * options.slow
        self.lines = queue.Queue()
        self.seen = []
        share = [os.path.join(folder, "packages/tree/usr/share/qemu"),
                 os.path.join(folder, "packages/tree/usr/share/seabios"), "/usr/share/qemu", "/usr/share/seabios"]
        environment = dict(os.environ)
        libraries = os.path.join(folder, "packages/tree/usr/lib/x86_64-linux-gnu")
        environment["LD_LIBRARY_PATH"] = libraries
        modules = [m for m in (libraries + "/qemu", "/usr/lib/x86_64-linux-gnu/qemu")
                   if glob.glob(m + "/accel-tcg-x86_64*")]
        if modules:
            environment["QEMU_MODULE_DIR"] = modules[0]
        command = [*ENDS_WITH_US, "timeout", "--foreground", str(86400 if shell else MACHINE_SECONDS * options.slow), "nice",
                   os.path.join(folder, "qemu")]
        for path in share:
            command += ["-L", path]
        command += ["-machine", "pc", *(() if "-m" in extra else ("-m", options.machine_memory)),
                    "-smp", options.processors,
                    "-accel", "tcg,thread=" + ("single" if options.processors == "1" else "multi"), "-nodefaults", "-display", "none",
                    "-serial", "mon:stdio" if shell else "stdio", "-no-reboot",
                    "-kernel", options.kernel or os.path.join(folder, "packages/vmlinux"),
                    "-initrd", options.initrd or os.path.join(folder, guest),
                    "-append", f"{COMMAND_LINE} {parameters} pbd_slow={options.slow} pbd={words}",
                    "-chardev", f"socket,path={card.socket},id=card",
                    "-device", "ivshmem-doorbell,vectors=9,chardev=card", *extra]
        if shell:
            self.process = subprocess.Popen(command, env=environment)
            RUNNING.append(self)
            return
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, start_new_session=True)
        RUNNING.append(self)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        """Takes lines from the console until it ends."""
        for line in self.process.stdout:
            self.lines.put(line.decode("utf-8", "replace").rstrip())
        self.lines.put(None)

    def line(self):
        """Returns the next line; None: the machine has ended."""
        try:
            line = self.lines.get(timeout=self.seconds + 10)
        except queue.Empty:
            return None
        if line is not None:
            self.seen.append(line)
        return line

    def answer(self, text):
        """Types a line on the console."""
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def until(self, text):
        """Reads on to a line."""
        while True:
            line = self.line()
            if line is None:
                said = "\n  ".join(self.seen[-30:])
                raise Failure(f"{self.name}: the machine ends before it says: {text}\n  {said}")
            if line.endswith(text):
                return

    def kill(self):
        """Ends the machine at once."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def end(self):
        """Ends the machine, which may be one on this terminal: that one is in this program's group of processes."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()

    def results(self):
        """(name, passed, milliseconds, lines before it) of each test."""
        found, before = [], []
        for line in self.seen:
            match = re.match(r"(ok|FAIL) (\w+) (\d+)$", line)
            if match:
                found.append((match[2], match[1] == "ok", int(match[3]), before))
                before = []
            elif not line.startswith(("HOST ", "GUEST ")):
                before.append(line)
        return found


class Table:
    """The results of all machines."""

    def __init__(self):
        self.failed = 0
        self.count = 0
        self.start = time.monotonic()

    def row(self, name, passed, milliseconds, before=()):
        """Prints one result, with what was said before it if it is a failure."""
        self.count += 1
        if not passed:
            self.failed += 1
            for line in before[-80:]:
                print("  " + line)
        print(f"{'ok  ' if passed else 'FAIL'} {name:56} {milliseconds:7} ms", flush=True)

    def machine(self, machine, expected=True):
        """Prints the tests of a machine that has ended, and whether it ended as it should."""
        for result in machine.results():
            self.row(*result)
        whole = "GUEST down" in machine.seen
        if expected and not whole:
            self.row("the_machine_ends_by_itself", False, 0, machine.seen)


def read_png(path):
    """(width, height, bytes of RGB) of a PNG file as `patchbay screenshot` writes it."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise Failure(path + " is no PNG file")
    offset, packed, width, height = 8, b"", 0, 0
    while offset < len(data):
        length, kind = struct.unpack(">I4s", data[offset:offset + 8])
        body = data[offset + 8:offset + 8 + length]
        if kind == b"IHDR":
            width, height = struct.unpack(">II", body[:8])
        elif kind == b"IDAT":
            packed += body
        offset += 12 + length
    raw, stride = zlib.decompress(packed), 3 * width
    rows, above = [], bytes(stride)
    for y in range(height):
        start = y * (stride + 1)
        above = unfilter(raw[start], bytearray(raw[start + 1:start + 1 + stride]), above)
        rows.append(above)
    return width, height, rows


def unfilter(kind, row, above):
    """Undoes a filter of PNG for pixels of three bytes."""
    for i in range(len(row)):  # pylint: disable=consider-using-enumerate
        left = row[i - 3] if i >= 3 else 0
        corner = above[i - 3] if i >= 3 else 0
        if kind == 1:
            row[i] = row[i] + left & 255
        elif kind == 2:
            row[i] = row[i] + above[i] & 255
        elif kind == 3:
            row[i] = row[i] + (left + above[i]) // 2 & 255
        elif kind == 4:
            guess = left + above[i] - corner
            distances = abs(guess - left), abs(guess - above[i]), abs(guess - corner)
            nearest = (left, above[i], corner)[distances.index(min(distances))]
            row[i] = row[i] + nearest & 255
    return row


def pixel(x, y, seed):
    """Red, green and blue of the guest's test picture."""
    return (x * 3 + seed) % 256, (y * 5 + seed * 7) % 256, (x ^ y) % 256


def compare(card, options, words):
    """Holds the display in card memory against the picture that the guest says it shows."""
    width, height, seed, inner, left, top, right, bottom = (int(word) for word in words)
    path = card.socket + ".png"
    shot = subprocess.run([options.patchbay, "screenshot", path, "--card", card.socket], capture_output=True, text=True,
                          check=False)
    if shot.returncode != 0:
        return shot.stderr.strip()
    got_width, got_height, rows = read_png(path)
    if (got_width, got_height) != (width, height):
        return f"{got_width} x {got_height} pixels instead of {width} x {height}"
    for y in range(height):
        wanted = bytearray()
        for x in range(width):
            wanted += bytes(pixel(x, y, inner if left <= x < right and top <= y < bottom else seed))
        if wanted != rows[y]:
            x = next(i for i in range(3 * width) if wanted[i] != rows[y][i]) // 3
            return f"pixel {x}, {y} is {tuple(rows[y][3 * x:3 * x + 3])}, not {tuple(wanted[3 * x:3 * x + 3])}"
    return "same"


def serve(machine, card, options=None):
    """Does what the machine asks for, until it ends."""
    while True:
        line = machine.line()
        if line is None:
            machine.process.wait()
            return
        if line == "HOST kill-mcu":
            time.sleep(0.3)
            card.kill_mcu()
        elif line.startswith("HOST compare "):
            answer = compare(card, options, line.split()[2:])
            machine.seen.append("compared: " + answer)
            machine.answer("same" if answer == "same" else "other")
        elif line == "HOST kill-card":
            time.sleep(0.3)
            card.kill()


def run_one(options, work, table, words="tests,flips_show_the_picture,damage_is_all_that_is_taken,life,"
            "the_firmware_dies_and_returns"):
    """One machine: all that it can test by itself, and the end of the firmware."""
    card = Card(options, work, "one")
    try:
        machine = Machine(options, card, words)
        serve(machine, card, options)
        table.machine(machine)
    finally:
        card.stop()


def run_two(options, work, table):
    """Two machines on one card; one is killed under load, the other one goes on; a third one takes its channel."""
    start = time.monotonic()
    card = Card(options, work, "two")
    machines = []
    try:
        machines = [Machine(options, card, "load_runs_for_a_while") for _ in range(2)]
        for machine in machines:
            machine.until("HOST loads")
        time.sleep(1)
        machines[0].kill()
        serve(machines[1], card)
        table.machine(machines[1])
        machines.append(Machine(options, card, "commands_run_on_each_node,objects_keep_their_contents_when_they_move"))
        serve(machines[2], card)
        table.machine(machines[2])
        passed = all(result[1] for machine in machines[1:] for result in machine.results())
        table.row("a_machine_is_killed_beside_another", passed, int((time.monotonic() - start) * 1000))
    finally:
        for machine in machines:
            machine.kill()
        card.stop()


def run_reset(options, work, table):
    """A machine resets itself under load without a word to the driver; the next one works."""
    start = time.monotonic()
    card = Card(options, work, "reset")
    try:
        machine = Machine(options, card, "crash")
        machine.until("GUEST crashes")
        machine.process.wait()
        second = Machine(options, card, "commands_run_on_each_node,timelines_order_queues")
        serve(second, card)
        table.machine(second)
        passed = all(result[1] for result in second.results())
        table.row("a_reset_in_mid_flight_leaves_the_card_whole", passed, int((time.monotonic() - start) * 1000))
    finally:
        card.stop()


def run_card(options, work, table):
    """The card is killed under a machine. With the driver's own time limit: the fences must end in time."""
    card = Card(options, work, "card")
    try:
        machine = Machine(options, card, "a_card_that_is_gone_ends_all_fences", parameters="patchbay.fbdev=1")
        serve(machine, card)
        table.machine(machine)
    finally:
        card.stop()


def run_i915(options, work, table):
    """The driver with i915's uAPI, on a card with room for a thousand objects."""
    card = Card(options, work, "i915", memory="64M")
    try:
        machine = Machine(options, card, "i915", parameters=PATIENT + " patchbay.i915=1")
        serve(machine, card)
        table.machine(machine)
    finally:
        card.stop()


def run_debug(options, work, table):
    """What a kernel with checkers is to see: all tests of one machine, two machines, the end of the card, i915's uAPI."""
    run_one(options, work, table, "sw_sync_fences_are_waited_for,tests,flips_show_the_picture,"
            "damage_is_all_that_is_taken,life,the_firmware_dies_and_returns,leaks")
    for run in (run_two, run_card, run_i915):
        run(options, work, table)


def run_clients(options, work, table):
    """Debian's display servers: linux_clients.py."""
    linux_clients.run_clients(sys.modules[__name__], options, work, table)


def run_gl(options, work, table):
    """The driver with virtio-gpu's 3D uAPI, on a card with a GL engine."""
    linux_gl.run_gl(sys.modules[__name__], options, work, table)


def run_ends(options, work, table):
    """What ends this command ends its card and its machine: linux_ends.py."""
    linux_ends.run_ends(sys.modules[__name__], options, work, table)


# Those that are part of every run.
RUNS = {"run_one": run_one, "run_two": run_two, "run_reset": run_reset, "run_card": run_card, "run_i915": run_i915,
        "run_clients": run_clients, "run_ends": run_ends}
# Only by name: on a busy system a file loses its renderer at times (docs/linux.md).
BY_NAME = {"run_gl": run_gl}


def run_all(options, table):
    """The runs or tests that are asked for, or all runs."""
    with tempfile.TemporaryDirectory(prefix="patchbay-linux-") as work:
        known = {**RUNS, **BY_NAME, "run_debug": run_debug}
        runs = [name for name in options.tests if name in known]
        tests = [name for name in options.tests if name not in known]
        if tests:
            run_one(options, work, table, ",".join(tests))
        for name in runs if options.tests else RUNS:
            try:
                known[name](options, work, table)
            except Failure as failure:
                table.row(name, False, 0, [str(failure)])


def shell(options):
    """A machine whose console is this terminal."""
    with tempfile.TemporaryDirectory(prefix="patchbay-linux-") as work:
        card = Card(options, work, "shell")
        try:
            return Machine(options, card, "shell", shell=True).process.wait()
        finally:
            card.stop()


def main():
    """Parses arguments; scripts/linux --help explains them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extract", nargs=2)
    parser.add_argument("--folder")
    parser.add_argument("--patchbay")
    parser.add_argument("--image")
    parser.add_argument("--board")
    parser.add_argument("--card-memory")
    parser.add_argument("--kernel")
    parser.add_argument("--initrd")
    parser.add_argument("--processors", default="1")
    parser.add_argument("--machine-memory", default="256")
    parser.add_argument("--slow", type=int, default=1)
    parser.add_argument("--shell", action="store_true")
    parser.add_argument("--client")
    parser.add_argument("--disk", default="clients")
    parser.add_argument("--mesa", action="store_true")
    parser.add_argument("--gl", action="store_true")
    parser.add_argument("--clients", action="store_true")
    parser.add_argument("--counting")
    parser.add_argument("--record")
    parser.add_argument("--revision")
    parser.add_argument("tests", nargs="*")
    options = parser.parse_args()
    if options.extract:
        extract(*options.extract)
        return 0
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, ended)
    # Before the first card, so that it is the last that is done.
    atexit.register(end_all)
    if options.shell:
        return shell(options)
    if options.client:
        with tempfile.TemporaryDirectory(prefix="patchbay-linux-") as work:
            return linux_clients.run_client(sys.modules[__name__], options, work)
    table = Table()
    special = ((options.mesa, linux_mesa.run_mesa), (options.gl, linux_gl.run_mesa),
               (options.counting, linux_cost.run_cost), (options.clients, linux_programs.run_programs))
    chosen = [run for given, run in special if given]
    if chosen:
        run = chosen[0]
        with tempfile.TemporaryDirectory(prefix="patchbay-linux-") as work:
            run(sys.modules[__name__], options, work, table)
    else:
        run_all(options, table)
    print(f"{table.count - table.failed} of {table.count} passed in {time.monotonic() - table.start:.0f} s")
    return 1 if table.failed or table.count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
