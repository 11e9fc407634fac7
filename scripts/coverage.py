#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the branches that gcovr found uncovered against those that are named as exceptions. Run by scripts/coverage."""

import collections
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXCEPTIONS = "tests/unit/firmware/coverage_exceptions.tsv"


def assertion_lines(text):
    """The lines of assertions: their other branch is a mistake of the firmware's own."""
    lines = set()
    for match in re.finditer(r"\bPB_ASSERT\(", text):
        depth, end = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        lines.update(range(text.count("\n", 0, match.start()) + 1, text.count("\n", 0, end) + 2))
    return lines


def squeeze(line):
    return " ".join(line.split())


def count_file(entry, text):
    """@return branches in all, and those that were not taken: {source line: how many}"""
    source, skipped = text.split("\n"), assertion_lines(text)
    total, missed = 0, collections.Counter()
    for line in entry["lines"]:
        number = line["line_number"]
        if number in skipped:
            continue
        total += len(line["branches"])
        missing = sum(1 for branch in line["branches"] if branch["count"] == 0)
        if missing:
            missed[squeeze(source[number - 1])] += missing
    return total, missed


def read_exceptions(lines):
    """@return {(file, source line): how many branches}"""
    found = {}
    for number, line in enumerate(lines, 1):
        if line.startswith("#") or not line.strip():
            continue
        parts = line.rstrip("\n").split("\t")
        if len(parts) != 4 or not parts[1].isdigit() or not parts[3].strip():
            sys.exit(f"{EXCEPTIONS}:{number}: not FILE, COUNT, SOURCE LINE and WHY, with tabs between them")
        found[parts[0], squeeze(parts[2])] = int(parts[1])
    return found


def compare(missed, exceptions):
    """@return what is wrong, a line each"""
    wrong = []
    for key in sorted(set(missed) | set(exceptions)):
        is_missed, excepted = missed.get(key, 0), exceptions.get(key, 0)
        if is_missed > excepted:
            wrong.append(f"{key[0]}: {is_missed - excepted} branches not covered: {key[1]}")
        elif is_missed < excepted:
            wrong.append(f"{key[0]}: {excepted - is_missed} exceptions too many, these are covered, or gone: {key[1]}")
    return wrong


def selftest():
    text = "if (a)\n\tPB_ASSERT(f(1) ||\n\t\t  b);\nif  (c && d)\nif (c && d)\n"
    entry = {"lines": [{"line_number": n, "branches": [{"count": c} for c in counts]}
                       for n, counts in ((1, (1, 0)), (2, (1, 0)), (3, (0, 0)), (4, (3, 0, 0, 1)), (5, (1, 1, 1, 0)))]}
    if count_file(entry, text) != (10, {"if (a)": 1, "if (c && d)": 3}):
        sys.exit("coverage: selftest: branches are counted wrongly")
    exceptions = read_exceptions(["# why\n", "f.c\t1\tif  (a)\twhy\n", "f.c\t2\tif (c && d)\twhy\n", "f.c\t1\tgone\twhy\n"])
    wrong = compare({("f.c", "if (a)"): 1, ("f.c", "if (c && d)"): 3}, exceptions)
    if wrong != ["f.c: 1 exceptions too many, these are covered, or gone: gone",
                 "f.c: 1 branches not covered: if (c && d)"]:
        sys.exit(f"coverage: selftest: {wrong}")


def main():
    if sys.argv[1] == "--selftest":
        selftest()
        return 0
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)
    missed, all_branches = {}, 0
    print(f"{'file':32} {'branches':>8} {'covered':>8} {'not':>5}")
    for entry in sorted(report["files"], key=lambda e: e["file"]):
        with open(os.path.join(ROOT, entry["file"]), encoding="utf-8") as file:
            total, lines = count_file(entry, file.read())
        not_covered = sum(lines.values())
        all_branches += total
        missed.update({(entry["file"], line): count for line, count in lines.items()})
        if total:
            print(f"{entry['file']:32} {total:8} {total - not_covered:8} {not_covered:5}")
    with open(os.path.join(ROOT, EXCEPTIONS), encoding="utf-8") as file:
        exceptions = read_exceptions(file)
    wrong = compare(missed, exceptions)
    print("\n".join(wrong), end="\n" if wrong else "")
    uncovered = sum(missed.values())
    reachable = all_branches - sum(exceptions.values())
    print(f"{min(all_branches - uncovered, reachable)} of {reachable} branches covered, "
          f"{sum(exceptions.values())} exceptions")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
