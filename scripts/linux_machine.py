# SPDX-License-Identifier: MIT
"""Emulated cards and virtual machines on them, for scripts/linux.py; they end with this program."""

import glob
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time

# Processor time that a machine or a card may take, in seconds: five times what the longest run needs.
CPU_SECONDS = 300
# How long something may take that must come, in seconds. Only a hang takes so long, on however busy a system.
PATIENCE = 600
# How long a machine may say nothing: a test of the guest ends by itself before (host/linux/tests/guest.c).
SILENCE = 3600
# What makes the guest boot in two seconds without KVM.
COMMAND_LINE = (
    "console=ttyS0 mitigations=off nopti nokaslr tsc=reliable cryptomgr.notests quiet panic=-1 random.trust_cpu=on"
    # Without the kernel's checks of its timer and of processors that stand still: a busy system may give the machine none.
    " no_timer_check nowatchdog rcupdate.rcu_cpu_stall_suppress=1"
)
# The guest's time limit for a card that is not answering: a busy system starves a card for longer than a real one.
PATIENT = f"patchbay.card_timeout_ms={PATIENCE}000"

# The cards and machines that run. Whatever ends this program ends them: it does so itself where it can, the kernel does
# if this program is killed (ENDS_WITH_US).
RUNNING = []
ENDS_WITH_US = ("setpriv", "--pdeathsig", "TERM")


def limited(options):
    """What limits the processor time of a command."""
    return ("prlimit", f"--cpu={CPU_SECONDS * options.slow}:")


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


def is_stopped(process):
    """Whether all threads of a process are stopped by a signal."""
    states = []
    for path in glob.glob(f"/proc/{process}/task/*/stat"):
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        states.append(text[text.rindex(")") + 2])
    return set(states) == {"T"}


class Card:
    """An emulated card, with a socket for machines."""

    def __init__(self, options, work, name, memory=None, engine=None, host_memory=None):
        self.socket = os.path.join(work, name)
        self.log = open(self.socket + ".log", "w", encoding="utf-8")
        board, image = (options.host_board, options.host_image) if host_memory else (options.board, options.image)
        command = [*ENDS_WITH_US, *limited(options), options.patchbay, "card", "--board", board, "--image", image,
                   "--card-memory", memory or options.card_memory, "--socket", self.socket]
        if host_memory:
            command += ["--host-memory", "1=" + host_memory]
        if engine:
            command += ["--engine", engine]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        start_new_session=True)
        RUNNING.append(self)
        end = time.monotonic() + PATIENCE
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

    def children(self, name):
        """The processes that the card has started and whose names begin so; the kernel cuts names off."""
        lines = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(self.process.pid)], capture_output=True,
                               text=True, check=False).stdout.splitlines()
        return [int(line.split()[0]) for line in lines if line.split()[1].startswith(name)]

    def kill_mcu(self, number=signal.SIGKILL):
        """Ends the emulator of the card's MCU, or stops it; other children of the card are renderers."""
        found = self.children("qemu")
        if len(found) != 1:
            raise Failure(f"the card has {len(found)} emulators")
        os.kill(found[0], number)
        # It goes on for a moment: each of its threads stops by itself.
        end = time.monotonic() + PATIENCE
        while number == signal.SIGSTOP and not is_stopped(found[0]):
            if time.monotonic() > end:
                raise Failure("the emulator of the card's MCU does not stop")
            time.sleep(0.01)

    def kill(self):
        """Ends the card and its MCU at once, as a crash would."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """Ends the card as a user does."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.kill()

    end = stop


class Machine:
    """A virtual machine on a card. Its console is read by a thread."""

    def __init__(self, options, card, words, parameters=PATIENT, shell=False, guest="guest.cpio", extra=()):
        folder = options.folder
        self.name = words
        self.seconds = SILENCE * options.slow
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
        command = [*ENDS_WITH_US, *(() if shell else limited(options)), os.path.join(folder, "qemu")]
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
            line = self.lines.get(timeout=self.seconds)
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
                self.process.wait(PATIENCE)
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
