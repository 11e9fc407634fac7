# SPDX-License-Identifier: MIT
"""Runs more of Debian's programs on the driver, each beside another driver of the same kernel, for scripts/linux.py; and makes
the table of docs/linux.md out of the record."""

import datetime
import os
import re

import linux_clients
import linux_describe
import linux_machine

RECORD = "tests/records/linux_clients.tsv"
COLUMNS = ("date", "revision", "board", "program", "version", "compared", "control", "on_control", "on_card")
# Bytes of card memory: glmark2 takes the largest mode, and four pictures of it.
CARD_MEMORY = "128M"
# All programs together run for minutes.
CPU_SECONDS = 1500
# Those of glmark2 that run.
SCENES = 2
VIRTIO = ("-device", "virtio-gpu-pci,xres=1024,yres=768,edid=off")


class Program:
    """A row of the table: a program, the Debian package that it is in, and how it is run on which drivers."""

    def __init__(self, name, package, kind, compared, control="vkms"):
        self.name, self.package, self.kind, self.compared, self.control = name, package, kind, compared, control

    def words(self):
        """What the guest is told."""
        word = {"text": "text", "picture": "run"}.get(self.kind, "program")
        drivers = dict.fromkeys(("vkms", self.control, "patchbay"))
        return [f"client_{word}-{self.name}-{driver}" for driver in drivers]


PROGRAMS = (
    Program("drm_info", "drm-info", "text", "all that it prints as JSON; what differs is listed"),
    Program("modetest", "libdrm-tests", "text", "all that it prints; what differs is listed"),
    Program("fbcon", "", "picture", "picture of the kernel's console"),
    Program("weston", "weston", "picture", "picture of Weston with weston-cliptest"),
    Program("cage", "cage", "picture", "picture of cage with weston-cliptest"),
    Program("sway", "sway", "picture", "picture of sway with swaybg and weston-cliptest"),
    Program("xorg", "xserver-xorg-core", "picture", "picture of Xorg with xclock, xeyes, xlogo, xcalc"),
    Program("x11perf", "x11-apps", "picture", "11 tests run to their ends; picture of the same screen after them"),
    Program("kmscube", "kmscube", "frames", "frames 1, 20 and 40 of 40, number of flips", "virtio_gpu"),
    Program("mpv", "mpv", "frames", "frames 1, 10 and 25 of a test video of 50 by --vo=drm"),
    Program("glmark2", "glmark2-es2-drm", "scenes", "two scenes in the largest mode: no error, and flips; no picture"),
)


class Stage(linux_clients.Gallery):
    """The programs of a machine: pictures and texts as in a Gallery, and programs that end by themselves."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.ends = {}

    def other(self, line):
        """Takes "HOST program NAME DRIVER STATUS COUNTS"."""
        if line.startswith("HOST program "):
            _, _, name, driver, status, *counts = line.split(" ", 5)
            found = dict((word, int(number)) for number, word in re.findall(r"(\d+) (\w+)", " ".join(counts)))
            self.ends[name, driver] = int(status), found
            return "same"
        return None

    def frames(self, program, driver):
        """None, or what is wrong with the pictures of a program on a driver, and their number."""
        found = {name: why for (name, on), why in self.results.items()
                 if on == driver and name.startswith(program.name + ".")}
        bad = [f"{name}: {why}" for name, why in found.items() if why is not None]
        return bad, len(found)

    def verdict(self, program, driver):
        """(whether a program did on a driver what it should, in words)"""
        if program.kind == "text":
            facts = len(self.texts.get((program.name, driver)) or ())
            return facts > 0, f"{facts} facts"
        if program.kind == "picture":
            why = self.results.get((program.name, driver), "not reached")
            return why is None, why or "picture taken"
        status, counts = self.ends.get((program.name, driver), (255, {}))
        flips = counts.get("pages", 0) + counts.get("commits", 0)
        bad, pictures = self.frames(program, driver)
        if status != 0 or flips == 0:
            return False, f"exit status {status}, {flips} flips"
        return not bad, "; ".join(bad) or f"{flips} flips" + (f", {pictures} pictures" if pictures else "")

    def lines(self, program, driver, seen):
        """What a program says about its tests, as the guest hands it on."""
        return [line for line in seen if line.startswith(f"{program.name} {driver} ")]

    def compared(self, program, seen):
        """(whether the card does what the control does, in words)"""
        card, said = self.verdict(program, "patchbay")
        if not card:
            return False, said
        if program.kind == "text":
            wrong = linux_clients.described(self.texts, program.name)
            listed = len(linux_describe.expected(program.name))
            return not wrong, f"{said}, {listed} listed differences" if not wrong else "; ".join(wrong[:5])
        if program.kind == "picture":
            return True, "equal"
        if program.kind == "frames":
            _, there = self.frames(program, program.control)
            _, here = self.frames(program, "patchbay")
            return here > 0 and here == there, said + ", equal"
        scenes, errors = (sum(word in line for line in self.lines(program, "patchbay", seen)) for word in ("FPS: ", "Error: "))
        return scenes == SCENES and errors == 0, f"{scenes} scenes, {errors} errors, {said}"


def versions(folder):
    """{package: version} of what is on the programs' disk."""
    with open(os.path.join(folder, "packages/programs.versions"), encoding="utf-8") as file:
        names = [line.strip().removesuffix(".deb").split("_") for line in file]
    return {name[0]: name[1].replace("%3a", ":") for name in names}


def rows_of(stage, seen, options):
    """The rows of the record, with whether each is as it should be."""
    packages = versions(options.folder)
    for program in PROGRAMS:
        _, control = stage.verdict(program, "vkms")
        if program.control != "vkms":
            control = f"vkms: {control}; {program.control}: {stage.verdict(program, program.control)[1]}"
        passed, card = stage.compared(program, seen)
        yield passed, (datetime.date.today().isoformat(), options.revision or "-", options.board, program.name,
                       packages.get(program.package, "the kernel's"), program.compared, program.control, control, card)


def run_programs(linux, options, work, table):
    """All programs, in one machine."""
    linux_machine.CPU_SECONDS = CPU_SECONDS
    options.disk = "programs"
    chosen = [program for program in PROGRAMS if not options.tests or program.name in options.tests]
    words = ",".join(word for program in chosen for word in program.words())
    card = linux.Card(options, work, "programs", CARD_MEMORY)
    try:
        stage = Stage(linux, options, card, options.folder, os.path.join(work, "picture.raw"))
        machine = linux_clients.machine_on(linux, options, card, work, words, stage.disk, VIRTIO)
        stage.serve(machine)
        took = linux_clients.picture_of(machine.seen)
        rows = list(rows_of(stage, machine.seen, options))
        for program, (passed, row) in zip(PROGRAMS, rows):
            if program in chosen:
                name = program.name + ("_text" if program.kind == "text" else "")
                table.row(program.name, passed, took.get((name, "patchbay"), 0), machine.seen)
                print(f"  card: {row[-1]}; {row[-3]}: {row[-2]}", flush=True)
        table.machine(machine)
    finally:
        card.stop()
    if options.record and options.revision and not table.failed and chosen == list(PROGRAMS):
        with open(options.record, "a", encoding="utf-8") as file:
            if file.tell() == 0:
                file.write("\t".join(COLUMNS) + "\n")
            for _, row in rows:
                file.write("\t".join(row) + "\n")


