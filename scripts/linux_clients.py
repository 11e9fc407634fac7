# SPDX-License-Identifier: MIT
"""Runs Debian's display servers on the driver in a virtual machine, for scripts/linux.py, and compares their pictures."""

import os
import re
import struct
import subprocess
import time
import zlib

import linux_describe
import linux_picture
from linux_machine import PATIENCE

# A card that shows 1920 x 1080, with what fits beside it.
CARD_MEMORY = "64M"
# What the guest has no fixed size for: a picture of vkms comes out on its second disk.
PICTURE_BYTES = 16 << 20


def read_raw(path):
    """(width, height, rows of RGB) that pbd-picture has written."""
    with open(path, "rb") as file:
        data = file.read()
    width, height = struct.unpack("<II", data[:8])
    stride = 3 * width
    return width, height, [data[8 + y * stride:8 + (y + 1) * stride] for y in range(height)]


def write_png(path, picture):
    """Writes a picture, so that a failure can be looked at."""
    width, height, rows = picture

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)))
        file.write(chunk(b"IDAT", zlib.compress(b"".join(b"\0" + bytes(row) for row in rows), 1)) + chunk(b"IEND", b""))


def difference(got, wanted):
    """None, or where a picture differs from that of the other driver."""
    if got[:2] != wanted[:2]:
        return f"{got[0]} x {got[1]} pixels instead of {wanted[0]} x {wanted[1]}"
    for y, (row, other) in enumerate(zip(got[2], wanted[2])):
        if bytes(row) != bytes(other):
            x = next(i for i in range(len(row)) if row[i] != other[i]) // 3
            return f"pixel {x}, {y} is {tuple(row[3 * x:3 * x + 3])}, on the control {tuple(other[3 * x:3 * x + 3])}"
    return None


def colours(picture):
    """Number of different colours of a picture: one that is empty proves nothing."""
    found = set()
    for row in picture[2]:
        found.update(bytes(row[i:i + 3]) for i in range(0, len(row), 3))
    return len(found)


class Gallery:
    """The pictures of a machine's clients."""

    def __init__(self, linux, options, card, folder, disk):
        self.linux, self.options, self.card, self.folder, self.disk = linux, options, card, folder, disk
        self.wanted = {}
        self.results = {}
        self.texts = {}

    def shot(self, path):
        """The display as it is in card memory."""
        shot = subprocess.run([self.options.patchbay, "screenshot", path, "--card", self.card.socket],
                              capture_output=True, text=True, check=False)
        return None if shot.returncode else linux_picture.read_png(path)

    def take_wanted(self, client):
        """The picture on vkms, which the card's is held against."""
        picture = read_raw(self.disk)
        write_png(os.path.join(self.folder, client + "-vkms.png"), picture)
        self.wanted[client] = picture
        count = colours(picture)
        return None if count > 2 else f"the control's picture has {count} colours"

    def compare(self, client):
        """None, or how the card's picture differs from that on vkms."""
        path = os.path.join(self.folder, client + ".png")
        wanted, end, why = self.wanted.get(client), time.monotonic() + PATIENCE, "no picture on the card"
        if wanted is None:
            return "no picture on the control"
        while time.monotonic() < end:
            picture = self.shot(path)
            if picture:
                why = difference(picture, wanted)
            if why is None:
                return None
            time.sleep(1)
        return why

    def take_text(self, line):
        """Takes what a program has printed: client_text() of the guest. @return how it failed, or None"""
        _, _, program, driver, status = line.split()
        with open(self.disk, "rb") as file:
            text = file.read(int(file.read(10))).decode("utf-8", "replace")
        with open(os.path.join(self.folder, f"{program}-{driver}.txt"), "w", encoding="utf-8") as file:
            file.write(text)
        self.texts[program, driver] = linux_describe.PROGRAMS[program](text, driver) if status == "0" else {}
        return None if self.texts[program, driver] else f"it ends with {status} or describes nothing"

    def show(self, client):
        """Only takes the card's picture."""
        picture = self.shot(os.path.join(self.folder, client + ".png"))
        return None if picture else "no picture on the card"

    def other(self, _):
        """An answer to a line that is no question of those below; None: it is none of ours either."""
        return None

    def serve(self, machine):
        """Does what the machine asks for, until it ends."""
        while True:
            line = machine.line()
            if line is None:
                machine.process.wait()
                return
            if line == "HOST kill-mcu":
                self.card.kill_mcu()
            if line.startswith("HOST text "):
                machine.answer("same" if self.take_text(line) is None else "other")
            answer = self.other(line)
            if answer:
                machine.answer(answer)
            if not line.startswith("HOST picture "):
                continue
            _, _, client, driver, failed = line.split()
            if failed != "0":
                why = "it does not come up"
            elif driver != "patchbay":
                why = self.take_wanted(client)
            elif self.options.client:
                why = self.show(client)
            else:
                why = self.compare(client)
            self.results[client, driver] = why
            machine.answer("same" if why is None else "other")


def machine_on(linux, options, card, work, words, disk, devices=()):
    """A machine with the programs' disk and an empty one, and a card."""
    with open(disk, "wb") as file:
        file.truncate(PICTURE_BYTES)
    extra = ["-m", "768", *devices]
    for path, read_only in ((os.path.join(options.folder, options.disk + ".disk"), "on"), (disk, "off")):
        extra += ["-drive", f"file={path},format=raw,if=virtio,readonly={read_only},cache=unsafe"]
    return linux.Machine(options, card, words, linux.PATIENT + " patchbay.fbdev=1", guest="clients.cpio",
                         extra=extra)


def picture_of(lines):
    """{(client, driver): milliseconds} of what the guest says about its clients."""
    found = {}
    for line in lines:
        if line.startswith("client "):
            _, client, driver, start, end = line.split()
            found[client, driver] = int(1000 * (float(end) - float(start)))
    return found


def control_rows(table, lines):
    """The checks of pbd-kms: what holds on vkms, or on vgem, holds on the card."""
    found, said = {}, []
    for line in lines:
        match = re.match(r"kms (\w+) (\w+) (ok|FAIL|LACKS) (\d+)$", line)
        if match:
            found.setdefault(match[2], {})[match[1]] = (match[3], int(match[4]), said)
            said = []
        else:
            said.append(line)
    if not found:
        table.row("checks_of_displays", False, 0, ["none has run"])
    for name, results in found.items():
        card = results.pop("patchbay", ("FAIL", 0, ["it has not run on the card"]))
        results.setdefault("vkms", ("FAIL", 0, ["it has not run"]))
        # vkms reaches the card's memory in this one.
        both = name == "pictures_of_another_driver_are_shown"
        passed = card[0] == "ok" and (not both or results["vkms"][0] == "ok")
        verdicts = ", ".join(f"{driver}: {result[0]}" for driver, result in results.items())
        table.row(f"{name} [{verdicts}]", passed, card[1], card[2])
        for driver, result in results.items():
            if result[0] != "ok":
                print("\n".join(f"  on {driver}: {line}" for line in result[2][-4:]))


def described(texts, program):
    """None, or how a program describes the card's display otherwise than that of vkms and than is listed."""
    control, card = texts.get((program, "vkms")), texts.get((program, "patchbay"))
    if not control or not card:
        return ["there are not two descriptions"]
    return linux_describe.unexpected(program, control, card) or None


def run_clients(linux, options, work, table, clients=("fbcon", "weston", "xorg", "modetest")):
    """Each client on vkms and on the card, in one machine: equal pictures."""
    card = linux.Card(options, work, "clients", CARD_MEMORY)
    disk = os.path.join(work, "picture.raw")
    gallery = Gallery(linux, options, card, options.folder, disk)
    words = ",".join(f"client_run-{client}-{driver}" for client in clients for driver in ("vkms", "patchbay"))
    for program in linux_describe.PROGRAMS:
        words += f",client_text-{program}-vkms,client_text-{program}-patchbay"
    words += ",client_flips-vkms,client_flips-patchbay,client_kms-vkms,client_kms-vgem,client_kms-patchbay"
    words += ",client_console_goes,the_firmware_dies_and_returns"
    try:
        machine = machine_on(linux, options, card, work, words, disk)
        gallery.serve(machine)
        took = picture_of(machine.seen)
        for client in clients:
            why = [f"{driver}: {gallery.results.get((client, driver), 'not reached')}" for driver in ("vkms", "patchbay")
                   if gallery.results.get((client, driver), "") is not None]
            table.row(f"{client}_shows_what_it_shows_on_vkms", not why, took.get((client, "patchbay"), 0),
                      machine.seen + why if why else ())
        for program in linux_describe.PROGRAMS:
            why = described(gallery.texts, program)
            table.row(f"{program}_describes_what_is_listed", not why, took.get((program, "patchbay"), 0), why or ())
        control_rows(table, machine.seen)
        table.machine(machine)
    finally:
        card.stop()


def run_client(linux, options, work):
    """One client on the card. @return exit status"""
    card = linux.Card(options, work, "client", options.card_memory if options.card_memory != "16M" else CARD_MEMORY)
    gallery = Gallery(linux, options, card, options.folder, os.path.join(work, "picture.raw"))
    try:
        machine = machine_on(linux, options, card, work, f"client_run-{options.client}-patchbay", gallery.disk)
        gallery.serve(machine)
    finally:
        card.stop()
    whole = "GUEST down" in machine.seen and not any(line.startswith("FAIL") for line in machine.seen)
    if gallery.results.get((options.client, "patchbay"), "not reached") is not None or not whole:
        print("\n".join(machine.seen[-60:]))
        return 1
    print(f"{options.client}'s picture, read out of card memory: {options.folder}/{options.client}.png")
    return 0
