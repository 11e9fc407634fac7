# SPDX-License-Identifier: MIT
"""The guest's tracepoints beside the card's trace, for scripts/linux.py: both are recorded while the guest's tests run,
joined by `patchbay trace import`, exported for Perfetto, and read by the rules of its documentation."""

import os
import signal
import subprocess
import sys
import time

from linux_machine import ENDS_WITH_US, PATIENCE, SILENCE, Failure, Machine

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/timeline"))
import perfetto_reader  # noqa: E402  pylint: disable=wrong-import-position

TESTS = ("commands_run_on_each_node", "timelines_order_queues")


def command(options, *arguments):
    """Runs a trace command of patchbay to its end."""
    run = subprocess.run([options.patchbay, "trace", *arguments], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise Failure(f"patchbay trace {' '.join(arguments)}: {run.stderr}")
    return run.stdout


def start_recorder(options, card, path):
    """Records the card's trace. Returns when the recording has begun: the file is not empty then."""
    recorder = subprocess.Popen([*ENDS_WITH_US, options.patchbay, "trace", "record", "--card", card.socket, "--levels",
                                 "PACKET=2", "--time", str(SILENCE), path])
    end = time.monotonic() + PATIENCE
    while not os.path.exists(path) or os.path.getsize(path) == 0:
        if recorder.poll() is not None or time.monotonic() > end:
            recorder.kill()
            raise Failure("the recording does not begin")
        time.sleep(0.02)
    return recorder


def way_of(trace, indices):
    """What a flow comes by: the name of each event without its fence, and its times."""
    events = [trace.slices[i] for i in indices]
    return [one.name.split(" 0x")[0] for one in events], [one.begin for one in events]


def complaints(trace, printed):
    """What is wrong with the picture, a line each. @param printed what the guest has printed of its trace"""
    said = []
    flows = [way_of(trace, indices) for indices in trace.flows.values()]
    ways = [(names, times) for names, times in flows if any(name.startswith("guest ") for name in names)]
    for event in ("submit", "ring", "signal"):
        there = sum(names.count("guest " + event) for names, _ in ways)
        wanted = sum(f": patchbay_{event}: " in line for line in printed)
        if there != wanted or wanted == 0:
            said.append(f"{there} of {wanted} events patchbay_{event} belong to a submission of the card")
    for names, times in ways:
        if names[0] != "guest submit" or names[-1] != "guest signal" or names.count("fence") != 1:
            said.append(f"a submission takes the way {names}")
        elif times[names.index("fence")] < times[0]:
            said.append(f"the firmware sees a submission {times[0] - times[names.index('fence')]} ns before the guest has it")
    return said


def run_trace(linux, options, work, table):
    """A machine with tracepoints on, on a card whose trace is recorded."""
    start = time.monotonic()
    card = linux.Card(options, work, "trace")
    path = os.path.join(work, "trace")
    recorder = None
    try:
        recorder = start_recorder(options, card, path + ".trace")
        machine = Machine(options, card, "trace:" + "+".join(TESTS))
        linux.serve(machine, card)
        table.machine(machine)
        recorder.send_signal(signal.SIGINT)
        if recorder.wait(PATIENCE) != 0:
            raise Failure("the recording fails")
        printed = machine.seen[machine.seen.index("GUEST trace") + 1 : machine.seen.index("GUEST traced")]
        with open(path + ".txt", "w", encoding="utf-8") as text:
            text.writelines(line + "\n" for line in printed)
        command(options, "import", path + ".trace", path + ".txt", path + ".joined")
        command(options, "export", "--perfetto", path + ".pftrace", path + ".joined")
        with open(path + ".pftrace", "rb") as file:
            said = complaints(perfetto_reader.Trace(file.read()), printed)
        table.row("the_guest_and_the_card_are_one_picture", not said, int((time.monotonic() - start) * 1000), said)
    finally:
        if recorder is not None and recorder.poll() is None:
            recorder.kill()
        card.stop()
