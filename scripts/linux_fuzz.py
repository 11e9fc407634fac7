# SPDX-License-Identifier: MIT
"""A long run of calls of chance in chains, for scripts/linux.py: host/linux/tests/chain.c."""

import datetime
import os
import re

import linux_machine

RECORD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/records/linux_fuzz.tsv")
COLUMNS = ("date", "revision", "board", "processors", "seed", "calls_of_each_process", "calls", "succeeded",
           "verdict")
TEST = "calls_of_chance_in_chains_harm_no_other_file"
SEED, CALLS = 1, 20000
# Calls of each process that a second has at least, on a busy system.
CALLS_PER_SECOND = 20


def run_fuzz(linux, options, work, table):
    """One machine of two processors. The arguments are seed and calls of each process."""
    numbers = [int(number) for number in options.tests]
    seed, calls = (numbers + [SEED, CALLS][len(numbers):])[:2]
    options.processors = "2"
    options.slow = 1 + calls // CALLS_PER_SECOND // 60
    card = linux_machine.Card(options, work, "fuzz")
    try:
        machine = linux_machine.Machine(options, card, TEST, f"{linux_machine.PATIENT} pbd_seed={seed} pbd_calls={calls}")
        linux.serve(machine, card)
        table.machine(machine)
    finally:
        card.stop()
    said = [line for line in machine.seen if line.startswith("chain ")]
    print("\n".join(said))
    results = [(word, int(number)) for line in said for word, number in re.findall(r" ([A-Za-z0-9]+)=(\d+)", line)
               if "refusals" not in line]
    total, succeeded = sum(number for _, number in results), sum(number for word, number in results if word == "ok")
    verdict = "passed" if not table.failed else "failed"
    with open(RECORD, "a", encoding="utf-8") as file:
        if file.tell() == 0:
            file.write("\t".join(COLUMNS) + "\n")
        file.write("\t".join(str(cell) for cell in (
            datetime.date.today().isoformat(), options.revision or "-", options.board, options.processors, seed,
            calls, total, succeeded, verdict)) + "\n")
