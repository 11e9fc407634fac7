# SPDX-License-Identifier: MIT
"""Runs Mesa's unmodified drivers for Intel's generation 7.5, and IGT's benchmarks: every relocation compared, and replayed."""

import os
import re
import subprocess
import time

import linux_machine

# Megabytes of the virtual machine, whose disk in memory has Mesa; of card memory, for a picture of 1920 x 1080.
MACHINE_MEGABYTES = "1536"
CARD_MEMORY = "256M"
# glmark2's scene "refract" needs 125 MB of it at once.
PARAMETERS = "patchbay.outer_mb=232"
# Bytes that a dump may have.
DISK_BYTES = 4 << 30
# Processor time that the machine may take, in seconds.
CPU_SECONDS = 3000
# Where Debian has the benchmarks of IGT.
IGT = "timeout 60 /usr/libexec/igt-gpu-tools/benchmarks/"
# What runs, by name. glmark2 without arguments has all its scenes; testvulkan runs until it is told to end.
PROGRAMS = {
    "kmscube": "kmscube -c 300",
    "kmscube_rgba": "kmscube -M rgba -c 100",
    "testvulkan": "timeout 15 /usr/libexec/installed-tests/SDL2/testvulkan",
    "glmark2_refract": "glmark2-es2-drm -b refract:duration=3",
    "glmark2": "glmark2-es2-drm -b :duration=5",
    "gem_exec_reloc": IGT + "gem_exec_reloc -b 10 -r 1000 -l 1 -s 16384 -m lut -o sequential",
    "gem_exec_reloc_handles": IGT + "gem_exec_reloc -b 200 -r 500 -l 1 -m old -e cyclic -o random",
    "gem_blt": IGT + "gem_blt -r 1 -t 200 -b 4",
    "gem_exec_nop": IGT + "gem_exec_nop",
    "gem_exec_ctx": IGT + "gem_exec_ctx -r 1 -b create",
    "gem_syslatency": IGT + "gem_syslatency -t 5",
}
# What is counted: words that differ from what they should be, objects with other bytes that do, fences with an error.
COUNTS = ("submissions", "relocations", "wrong", "strays", "failed")
# Submissions that a program must have had at least, and relocations that a whole run must have at least.
SUBMISSIONS_MIN = 10
RELOCATIONS_MIN = 500000
# Relocations of programs that have the same number each time.
RELOCATIONS = {"gem_exec_reloc": 1001000, "gem_exec_reloc_handles": 500500}


def dump(work, folder, name):
    """Cuts the dump off the disk, by the sizes that it begins with, and returns its path."""
    path = os.path.join(folder, name + ".subm")
    with open(os.path.join(work, "disk"), "rb") as disk:
        header = disk.read(32)
        if header[:4] != b"SUBM":
            raise ValueError("the disk holds no dump")
        end = 32
        for _ in range(int.from_bytes(header[24:28], "little")):
            disk.seek(end)
            end += int.from_bytes(disk.read(4), "little")
        disk.seek(0)
        with open(path, "wb") as file:
            while end > 0:
                part = disk.read(min(end, 1 << 20))
                file.write(part)
                end -= len(part)
    return path


def counts(lines):
    """What pbd-capture says: {word: number}."""
    for line in reversed(lines):
        if line.startswith("captured: "):
            return {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", line.split(";")[0])}
    return {}


def run_program(machine, name, command):
    """Runs a program in the machine. Returns (status, counts, milliseconds, its lines)."""
    start, first = time.monotonic(), len(machine.seen)
    machine.until("GUEST reads")
    machine.answer(name + " " + command)
    while True:
        line = machine.line()
        if line is None:
            return 1, {}, 0, machine.seen[first:]
        match = re.match(r"GUEST ran (\w+) (\d+)$", line)
        if match and match[1] == name:
            lines = machine.seen[first:]
            return int(match[2]), counts(lines), int((time.monotonic() - start) * 1000), lines


def replay(options, table, path, name):
    """Has the dump replayed on the board."""
    start = time.monotonic()
    done = subprocess.run([options.patchbay, "replay", path, "--board", options.board],
                          capture_output=True, text=True, check=False)
    table.row(f"{name}_replays", done.returncode == 0, int((time.monotonic() - start) * 1000),
              (done.stdout + done.stderr).splitlines())


def record(options, total, names):
    """Adds a line to the record."""
    with open(options.record, "a", encoding="utf-8") as file:
        if file.tell() == 0:
            file.write("\t".join(("programs", *COUNTS, "board", "revision")) + "\n")
        values = (",".join(names), *(total[word] for word in COUNTS), options.board, options.revision)
        file.write("\t".join(str(value) for value in values) + "\n")


def run_mesa(linux, options, work, table):
    """All programs, or those that are named. Writes build/linux/NAME.subm of each."""
    names = [name for name in options.tests if name in PROGRAMS] or list(PROGRAMS)
    linux_machine.CPU_SECONDS = CPU_SECONDS
    total = dict.fromkeys(COUNTS, 0)
    with open(os.path.join(work, "disk"), "wb") as disk:
        disk.truncate(DISK_BYTES)
    card = linux.Card(options, work, "mesa", memory=CARD_MEMORY)
    machine = None
    try:
        machine = linux.Machine(options, card, "mesa", linux.PATIENT + " " + PARAMETERS, guest="mesa.cpio", extra=(
            "-m", MACHINE_MEGABYTES, "-drive", f"file={work}/disk,if=none,id=disk,format=raw,cache=unsafe",
            "-device", "virtio-blk-pci,drive=disk"))
        for name in names:
            status, found, milliseconds, lines = run_program(machine, name, PROGRAMS[name])
            passed = status == 0 and found.get("wrong") == 0 and found.get("submissions", 0) >= SUBMISSIONS_MIN
            passed = passed and found["relocations"] == RELOCATIONS.get(name, found["relocations"])
            table.row(name, passed, milliseconds, lines)
            print("  " + ", ".join(f"{number} {word}" for word, number in found.items()), flush=True)
            for word in COUNTS:
                total[word] += found.get(word, 0)
            if found.get("submissions"):
                replay(options, table, dump(work, options.folder, name), name)
        machine.until("GUEST reads")
        machine.answer("end")
        linux.serve(machine, card)
        table.machine(machine)
    finally:
        if machine:
            machine.kill()
        card.stop()
    print(f"  {total['relocations']} relocations in all")
    if names == list(PROGRAMS):
        table.row("relocations_are_many", total["relocations"] >= RELOCATIONS_MIN, 0)
        if options.revision and not table.failed:
            record(options, total, names)
