#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs virtual machines on emulated cards for scripts/linux, and prints what their tests say."""

import argparse
import atexit
import glob
import lzma
import os
import signal
import sys
import tempfile
import time

import linux_clients
import linux_cost
import linux_ends
import linux_fail
import linux_fuzz
import linux_gl
import linux_host
import linux_links
import linux_mesa
import linux_programs
import linux_runs
import linux_sleep
import linux_trace
from linux_machine import PATIENT, Card, Failure, Machine, end_all, ended
from linux_picture import compare


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


def serve(machine, card, options=None):
    """Does what the machine asks for, until it ends."""
    while True:
        line = machine.line()
        if line is None:
            machine.process.wait()
            return
        if line == "HOST kill-mcu":
            card.kill_mcu()
        elif line == "HOST stop-mcu":
            card.kill_mcu(signal.SIGSTOP)
            machine.answer("stopped")
        elif line == "HOST continue-mcu":
            card.kill_mcu(signal.SIGCONT)
        elif line.startswith("HOST compare "):
            answer = compare(card, options, line.split()[2:])
            machine.seen.append("compared: " + answer)
            machine.answer("same" if answer == "same" else "other")
        elif line.startswith("HOST renderers "):
            linux_gl.renderers(card, line.split()[2])
            machine.answer("done")
        elif line == "HOST kill-card":
            card.kill()


# Tests of one machine that compare the display from outside.
DISPLAY = ("flips_show_the_picture,damage_is_all_that_is_taken,the_picture_returns_after_a_sleep,"
           "pictures_of_another_driver_are_shown")


def run_one(options, work, table, words=f"tests,{DISPLAY},life,the_firmware_dies_and_returns"):
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
        machines[0].kill()
        machines[1].answer("go on")
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
    """The card is killed under a machine."""
    card = Card(options, work, "card")
    try:
        machine = Machine(options, card, "a_card_that_is_gone_ends_all_fences", parameters=PATIENT + " patchbay.fbdev=1")
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


def run_display(options, work, table):
    """All modes up to 1920x1080, on a card that has just enough room for them."""
    card = Card(options, work, "display", memory="64M")
    try:
        machine = Machine(options, card, "each_mode_has_room_after_each_other")
        serve(machine, card)
        table.machine(machine)
    finally:
        card.stop()


def run_debug(options, work, table):
    """What a kernel with checkers is to see: all tests of one machine, two machines, memory that the card reaches, the end of
    the card, i915's uAPI."""
    run_one(options, work, table, f"sw_sync_fences_are_waited_for,tests,{DISPLAY},life,the_firmware_dies_and_returns,leaks")
    for run in (run_two, run_host, run_card, run_i915):
        run(options, work, table)


def run_clients(options, work, table):
    """Debian's display servers: linux_clients.py."""
    linux_clients.run_clients(sys.modules[__name__], options, work, table)


def run_gl(options, work, table):
    """The driver with virtio-gpu's 3D uAPI, on a card with a GL engine."""
    linux_gl.run_gl(sys.modules[__name__], options, work, table)


def run_host(options, work, table):
    """Machines whose memory the card reaches: linux_host.py."""
    linux_host.run_host(sys.modules[__name__], options, work, table)


def run_ends(options, work, table):
    """What ends this command ends its card and its machine: linux_ends.py."""
    linux_ends.run_ends(sys.modules[__name__], options, work, table)


def run_trace(options, work, table):
    """The guest's tracepoints beside the card's trace: linux_trace.py."""
    linux_trace.run_trace(sys.modules[__name__], options, work, table)


def run_links(options, work, table):
    """Programs without the driver: linux_links.py."""
    linux_links.run_links(sys.modules[__name__], options, work, table)


def run_sleep(options, work, table):
    """Machines that sleep and are woken: linux_sleep.py."""
    linux_sleep.run_sleep(sys.modules[__name__], options, work, table)


def run_hibernate(options, work, table):
    """Machines whose memory is on a disk meanwhile: linux_sleep.py."""
    linux_sleep.run_hibernate(sys.modules[__name__], options, work, table)


def run_fail(options, work, table):
    """Allocations that fail: linux_fail.py."""
    linux_fail.run_fail(sys.modules[__name__], options, work, table)


# Those that are part of every run; the longest first, so that two at a time end together.
RUNS = {"run_one": run_one, "run_clients": run_clients, "run_sleep": run_sleep, "run_host": run_host,
        "run_hibernate": run_hibernate, "run_i915": run_i915, "run_gl": run_gl, "run_two": run_two,
        "run_display": run_display, "run_links": run_links, "run_fail": run_fail, "run_ends": run_ends, "run_trace": run_trace,
        "run_card": run_card, "run_reset": run_reset}


def run_in(work, name, table, run):
    """One run, in a folder of its own. Behind a failure, prints what its cards have said."""
    place, failed = os.path.join(work, name), table.failed
    os.makedirs(place, exist_ok=True)
    try:
        run(place)
    except Failure as failure:
        table.row(name, False, 0, [str(failure)])
    if table.failed != failed:
        for log in sorted(glob.glob(os.path.join(place, "*.log"))):
            with open(log, encoding="utf-8", errors="replace") as text:
                print(f"  the card of {os.path.basename(log)}:", *text, sep="\n    ", flush=True)


def run_some(options, table):
    """The runs or tests that are asked for, one behind the other."""
    with tempfile.TemporaryDirectory(prefix="patchbay-linux-") as work:
        known = {**RUNS, "run_debug": run_debug}
        runs = [name for name in options.tests if name in known]
        tests = [name for name in options.tests if name not in known]
        if tests:
            run_in(work, "tests", table, lambda place: run_one(options, place, table, ",".join(tests)))
        for name in runs:
            run_in(work, name, table, lambda place, name=name: known[name](options, place, table))


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
    parser.add_argument("--host-board")
    parser.add_argument("--host-image")
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
    parser.add_argument("--fuzz", action="store_true")
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
               (options.counting, linux_cost.run_cost), (options.clients, linux_programs.run_programs),
               (options.fuzz, linux_fuzz.run_fuzz))
    chosen = [run for given, run in special if given]
    if chosen:
        run = chosen[0]
        with tempfile.TemporaryDirectory(prefix="patchbay-linux-") as work:
            run(sys.modules[__name__], options, work, table)
    elif options.tests:
        run_some(options, table)
    else:
        # A run that is a part of all is not recorded.
        linux_runs.run_together(RUNS, [*sys.argv[1:], "--revision", ""], table)
    print(f"{table.count - table.failed} of {table.count} passed in {time.monotonic() - table.start:.0f} s")
    return 1 if table.failed or table.count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
