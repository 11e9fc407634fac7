# SPDX-License-Identifier: MIT
"""For scripts/linux.py: whatever ends it, its card and its virtual machine end with it."""

import os
import signal
import subprocess
import sys
import time

from linux_machine import PATIENCE

# Processor time after which an emulator of a machine is surely past its start, in ticks of the kernel.
STARTED_TICKS = os.sysconf("SC_CLK_TCK")
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGKILL)


def processes():
    """{process: (its parent, its time of start, its name, its processor time)}, without those that have ended."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                text = file.read()
        except OSError:
            continue
        program, fields = text[text.index("(") + 1:text.rindex(")")], text[text.rindex(")") + 2:].split()
        if fields[0] not in "ZX":
            found[int(name)] = int(fields[1]), fields[19], program, int(fields[11])
    return found


def descendants(root):
    """{process: its time of start} of a process and all that it and its children have started; its emulators' times."""
    known, found, emulators = processes(), {}, []
    ahead = [root]
    while ahead:
        process = ahead.pop()
        if process in known:
            found[process] = known[process][1]
            if known[process][2].startswith("qemu"):
                emulators.append(known[process][3])
        ahead += [child for child, (parent, *_) in known.items() if parent == process]
    return found, emulators


def left_of(started):
    """Names of those of the processes that still run."""
    now = processes()
    return [now[process][2] for process, start in started.items() if process in now and now[process][1] == start]


def end_with(command, environment, number):
    """None, or what was wrong when the command got the signal."""
    # The command runs until its machine boots; the other emulator is that of the card's MCU.
    with subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as child:
        end = time.monotonic() + PATIENCE
        started, emulators = descendants(child.pid)
        while len(emulators) < 2 or max(emulators) < STARTED_TICKS:
            if child.poll() is not None or time.monotonic() > end:
                child.terminate()
                return f"no card and machine were started: emulators with {emulators} ticks"
            time.sleep(0.05)
            started, emulators = descendants(child.pid)
        os.kill(child.pid, number)
        child.wait()
    end, left = time.monotonic() + PATIENCE, left_of(started)
    while left and time.monotonic() < end:
        time.sleep(0.05)
        left = left_of(started)
    return "these still run: " + " ".join(left) if left else None


def run_ends(linux, options, work, table):
    """A run of this command ends by each signal, once its machine is there."""
    command = [sys.executable, linux.__file__, "--folder", options.folder, "--patchbay", options.patchbay,
               "--image", options.image, "--board", options.board, "--card-memory", options.card_memory, "run_card"]
    environment = dict(os.environ, TMPDIR=work)
    for number in SIGNALS:
        start = time.monotonic()
        why = end_with(command, environment, number)
        # A killed process cannot remove its folder.
        folders = [name for name in os.listdir(work) if number != signal.SIGKILL and name.startswith("patchbay-linux-")]
        if not why and folders:
            why = "it leaves folders behind: " + " ".join(folders)
        table.row(f"card_and_machine_end_with_the_command_on_{number.name.lower()}", why is None,
                  int((time.monotonic() - start) * 1000), [why])
