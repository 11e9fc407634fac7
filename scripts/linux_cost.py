# SPDX-License-Identifier: MIT
"""What the Linux driver costs, for scripts/linux.py: fences beside vgem's, flips beside vkms's, instructions of the MCU."""

import os
import struct

# A run of pbd-cost has minutes: its tests may take so many times the usual limit.
SLOW = 4
# What the guest measures: processor time and time in ns, instructions of the card's MCU.
MEASURED = ("submissions", "submit_ns", "vgem_ns", "flips", "flip_cpu_ns", "vkms_flip_cpu_ns", "rest_cpu_ns",
            "instructions_per_flip", "instructions_at_rest_per_s")


def ratios(found):
    """The two figures that mean something on another machine."""
    return {"submit_ratio": f"{found['submit_ns'] / found['vgem_ns']:.2f}",
            "flip_cpu_ratio": f"{found['flip_cpu_ns'] / found['vkms_flip_cpu_ns']:.2f}"}


def instructions(folder):
    """What the emulator of the card's MCU has counted, without its idle loop (tests/bench/count.c)."""
    with open(os.path.join(folder, "counters"), "rb") as file:
        return struct.unpack("=Q", file.read(8))[0]


def serve(machine, folder):
    """Answers the guest until it ends. Returns its figures."""
    found = {}
    while True:
        line = machine.line()
        if line is None:
            machine.process.wait()
            return found
        if line == "HOST count":
            machine.answer(str(instructions(folder)))
        elif line.startswith("cost "):
            _, key, value = line.split()
            found[key] = int(value)


def record(options, found):
    """Adds a line to the record."""
    values = {**found, **ratios(found), "board": options.board, "revision": options.revision}
    keys = (*MEASURED, *ratios(found), "board", "revision")
    with open(options.record, "a", encoding="utf-8") as file:
        if file.tell() == 0:
            file.write("\t".join(keys) + "\n")
        file.write("\t".join(str(values[key]) for key in keys) + "\n")


def run_cost(linux, options, work, table):
    """Measures, on a card whose MCU counts its instructions."""
    os.environ["PATH"] = os.path.join(options.counting, "bin") + ":" + os.environ["PATH"]
    options.slow = SLOW
    card = linux.Card(options, work, "cost")
    try:
        machine = linux.Machine(options, card, "cost", guest="cost.cpio")
        found = serve(machine, options.counting)
        table.machine(machine)
    finally:
        card.stop()
    missing = [key for key in MEASURED if found.get(key, 0) <= 0]
    table.row("all_figures_are_there", not missing, 0, ["missing or 0: " + " ".join(missing)])
    if table.failed:
        return
    for key, value in {**found, **ratios(found)}.items():
        print(f"  {key:28} {value}")
    if options.record and options.revision:
        record(options, found)
