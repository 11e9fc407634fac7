# SPDX-License-Identifier: MIT
"""Several runs of machines at once, for scripts/linux.py: each is a process of its own, whose lines stay together."""

import re
import signal
import subprocess
import sys
import threading
import time

from linux_machine import ENDS_WITH_US, PATIENCE

# A machine of one processor keeps one busy; its card takes little beside it.
RUNS_AT_ONCE = 2


class Runs:
    """The runs that are still to be done, and those that are under way."""

    def __init__(self, names, arguments, table):
        self.ahead = list(names)
        self.command = [*ENDS_WITH_US, sys.executable, sys.argv[0], *arguments]
        self.table = table
        self.under_way = []
        self.ending = False
        self.lock = threading.Lock()

    def start_next(self):
        """Starts the next run; returns its name and process, or None: there is none, or all are to end."""
        with self.lock:
            if self.ending or not self.ahead:
                return None
            name = self.ahead.pop(0)
            # ENDS_WITH_US: the kernel ends it with this thread, which waits for it, or with this program.
            process = subprocess.Popen([*self.command, name], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True, errors="replace")
            self.under_way.append(process)
            return name, process

    def report(self, name, text):
        """Prints what a run has said, and counts its results."""
        lines = text.splitlines()
        total = re.match(r"(\d+) of (\d+) passed in (\d+) s$", lines[-1]) if lines else None
        with self.lock:
            print(f"-- {name}" + (f": {total[3]} s" if total else ""), *lines[:-1 if total else None], sep="\n", flush=True)
            if total:
                self.table.count += int(total[2])
                self.table.failed += int(total[2]) - int(total[1])
            else:
                self.table.row(name, False, 0, ["this run of machines ended without its last line"])

    def work(self):
        """Does one run behind the other until none is left."""
        while True:
            started = self.start_next()
            if started is None:
                return
            name, process = started
            text = process.communicate()[0]
            if not self.ending:
                self.report(name, text)

    def end(self):
        """Ends the runs that are under way; each one ends its cards and machines."""
        with self.lock:
            self.ending = True
        for process in self.under_way:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        limit = time.monotonic() + PATIENCE
        for process in self.under_way:
            try:
                process.wait(max(0.1, limit - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()


def run_together(names, arguments, table):
    """Does these runs of scripts/linux.py with its arguments, RUNS_AT_ONCE at a time. A signal ends all of them."""
    runs = Runs(names, arguments, table)
    threads = [threading.Thread(target=runs.work, daemon=True) for _ in range(RUNS_AT_ONCE)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        runs.end()
