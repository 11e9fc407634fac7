# SPDX-License-Identifier: MIT
"""Calls of which each allocation fails, for scripts/linux.py: host/linux/tests/test_fail.c."""

import datetime
import os
import time

RECORD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/records/linux_runs.tsv")
COLUMNS = ("date", "revision", "run", "verdict", "failed", "seconds")


def run_fail(linux, options, work, table):
    """Two machines with the module that lets allocations fail. A run that is asked for by name is recorded."""
    start, first, known = time.monotonic(), table.count, table.failed
    results = []
    for words, more in (("failing", ""), ("failing_i915", " patchbay.i915=1")):
        card = linux.Card(options, work, words)
        try:
            machine = linux.Machine(options, card, "pbd_fail," + words, parameters=linux.PATIENT + more)
            linux.serve(machine, card, options)
            table.machine(machine)
            results += machine.results()
        finally:
            card.stop()
        print("\n".join(line for line in machine.seen if line.startswith(("failures: ", "left: "))))
    if "run_fail" in options.tests and options.revision:
        record(results, options, (table.count - first, table.failed - known), time.monotonic() - start)


def record(results, options, counts, seconds):
    """Adds a line to the table of runs."""
    count, failed = counts
    names = " ".join(name for name, passed, _, _ in results if not passed)
    with open(RECORD, "a", encoding="utf-8") as file:
        if file.tell() == 0:
            file.write("\t".join(COLUMNS) + "\n")
        file.write("\t".join((datetime.date.today().isoformat(), options.revision, "run_fail",
                              f"{count - failed} of {count} passed", names, f"{seconds:.0f}")) + "\n")
