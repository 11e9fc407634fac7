# SPDX-License-Identifier: MIT
"""Machines that sleep in memory and are woken by the emulator, for scripts/linux.py."""

import argparse
import glob
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time

from linux_machine import ENDS_WITH_US, PATIENCE, PATIENT, Card, Failure, Machine

# Tests of one machine that sleeps in memory, on a card that is there afterwards.
TESTS = ("a_machine_that_is_woken_is_as_before,the_clock_wakes_the_machine,the_button_wakes_the_machine,"
         "others_draw_while_the_machine_sleeps,the_firmware_dies_while_the_machine_sleeps")

# How late an alarm may be, in seconds, before it counts as one that came before the machine slept.
LATE = 20
# Room for the memory of a machine.
DISK_BYTES = 512 << 20

# Of the boot protocol: the sectors of the setup code; the kernel's size in units of 16 bytes.
SETUP_SECTORS, KERNEL_UNITS = 0x1f1, 0x1f4
# Where the emulator's firmware puts what is behind the setup code, and where this kernel belongs.
LOADED_AT, KERNEL_AT = 0x100000, 0x1000000
SEGMENT = struct.Struct("<IIQQQQQQ")


def flat(kernel):
    """The memory of a kernel's ELF file from KERNEL_AT on."""
    [table] = struct.unpack_from("<Q", kernel, 32)
    [count] = struct.unpack_from("<H", kernel, 56)
    memory = bytearray()
    for index in range(count):
        kind, _, offset, _, address, length, size, _ = SEGMENT.unpack_from(kernel, table + index * SEGMENT.size)
        if kind != 1:
            continue
        memory.extend(bytes(max(0, address - KERNEL_AT + size - len(memory))))
        memory[address - KERNEL_AT : address - KERNEL_AT + length] = kernel[offset : offset + length]
    return memory


def kernel_path(folder):
    """Where make_kernel() puts the kernel."""
    return os.path.join(folder, "sleep-kernel")


def make_kernel(folder, source):
    """
    A kernel with the setup code of Debian's, but not compressed. The emulator writes an ELF kernel to memory anew at each
    reset, with which waking up begins; it loads this one once. Unpacking Debian's own takes an emulated machine 15 s.
    """
    packages = os.path.join(folder, "packages")
    entry = os.path.join(folder, "entry")
    subprocess.run(["gcc", "-c", "-o", entry + ".o", os.path.join(source, "entry.S")], check=True)
    subprocess.run(["objcopy", "-O", "binary", "-j", ".text", entry + ".o", entry], check=True)
    [image] = glob.glob(os.path.join(packages, "tree/boot/vmlinuz-*"))
    with open(image, "rb") as file:
        setup = bytearray(file.read())
    del setup[(setup[SETUP_SECTORS] + 1) * 512 :]
    with open(os.path.join(packages, "vmlinux"), "rb") as file:
        memory = flat(file.read())
    with open(entry, "rb") as file:
        first = file.read()
    struct.pack_into("<I", setup, KERNEL_UNITS, (KERNEL_AT - LOADED_AT + len(memory)) // 16)
    with open(kernel_path(folder), "wb") as file:
        file.write(setup + first + bytes(KERNEL_AT - LOADED_AT - len(first)) + memory)


class Monitor:
    """The emulator's monitor: commands and events."""

    def __init__(self, path):
        end = time.monotonic() + PATIENCE
        self.socket = socket.socket(socket.AF_UNIX)
        while True:
            try:
                self.socket.connect(path)
                break
            except OSError as error:
                if time.monotonic() > end:
                    raise Failure("the emulator has no monitor") from error
                time.sleep(0.02)
        self.socket.settimeout(PATIENCE)
        self.lines = self.socket.makefile("r")
        self.events = []
        self.next()
        self.command("qmp_capabilities")

    def next(self):
        """The next message. An event is kept."""
        line = self.lines.readline()
        if not line:
            raise Failure("the emulator has ended")
        message = json.loads(line)
        if "event" in message:
            self.events.append(message["event"])
        return message

    def command(self, name, **arguments):
        """Does a command."""
        self.socket.sendall(json.dumps({"execute": name, "arguments": arguments}).encode())
        message = self.next()
        while "return" not in message and "error" not in message:
            message = self.next()
        if "error" in message:
            raise Failure(f"{name}: {message['error']}")

    def until(self, event, seconds=PATIENCE):
        """Waits for an event since the last one that was waited for. Returns whether it came."""
        self.socket.settimeout(seconds)
        try:
            while event not in self.events:
                self.next()
        except TimeoutError:
            self.lines = self.socket.makefile("r")
            return False
        finally:
            self.socket.settimeout(PATIENCE)
        del self.events[: self.events.index(event) + 1]
        return True


class Sleeper:
    """A card, and a machine on it that sleeps."""

    def __init__(self, options, work, memory=None):
        self.options = argparse.Namespace(**vars(options))
        self.options.kernel = kernel_path(options.folder)
        self.work, self.memory = work, memory
        self.cards, self.machine, self.monitor = [], None, None
        self.waker = ""
        self.start_card()

    def start_card(self):
        """Starts a card."""
        self.cards.append(Card(self.options, self.work, f"sleep{len(self.cards)}", memory=self.memory))

    def start(self, words, extra=()):
        """Starts the machine on the card."""
        path = os.path.join(self.work, f"monitor{len(os.listdir(self.work))}")
        self.machine = Machine(self.options, self.cards[-1], words, PATIENT + " hibernate=nocompress",
                               extra=("-qmp", f"unix:{path},server=on,wait=off", *extra))
        self.monitor = Monitor(path)
        return self.machine

    def draw(self):
        """Another client draws, beside the machine."""
        drawn = subprocess.run([*ENDS_WITH_US, self.options.patchbay, "demo", "--card", self.cards[-1].socket, "--quiet",
                                "--frames", "4", "--output", os.path.join(self.work, "frames")],
                               stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if drawn.returncode != 0:
            raise Failure("what another client draws is wrong: " + drawn.stdout + drawn.stderr)

    def meanwhile(self, what):
        """Does to the card what a test asks for."""
        card = self.cards[-1]
        if what == "draw":
            self.draw()
        elif what == "kill-mcu":
            dead = card.children("qemu")
            card.kill_mcu()
            # The driver waits for firmware for some seconds only, which a busy system may not give the new emulator.
            end = time.monotonic() + PATIENCE
            while set(card.children("qemu")) <= set(dead):
                if time.monotonic() > end:
                    raise Failure("the card does not start its MCU again: " + card.said())
                time.sleep(0.02)
        elif what == "replace-card":
            card.kill()
            self.start_card()

    def sleep_in_memory(self, what, alarm=None):
        """The machine is on its way to sleep in memory. @param alarm after so many seconds its clock wakes it"""
        self.monitor.until("SUSPEND")
        self.meanwhile(what)
        self.waker = "clock" if alarm and self.monitor.until("WAKEUP", int(alarm) + LATE) else "host"
        if self.waker == "host":
            self.monitor.command("system_wakeup")
            self.monitor.until("WAKEUP")

    def wait_idle(self):
        """Presses the button as soon as the machine sleeps, until it has noticed."""
        self.machine.until("PM: suspend-to-idle")
        pressing = threading.Event()

        def press():
            while not pressing.wait(0.2):
                self.monitor.command("system_powerdown")

        presser = threading.Thread(target=press)
        presser.start()
        try:
            self.machine.until("HOST awake")
        finally:
            pressing.set()
            presser.join()

    def serve(self):
        """Does what the machine asks for, until it ends."""
        while True:
            line = self.machine.line()
            if line is None:
                self.machine.process.wait()
                return
            words = line.split()
            if words == ["HOST", "idle"]:
                self.wait_idle()
            if words[:3] == ["HOST", "sleep", "mem"]:
                self.sleep_in_memory(*words[3:])
            elif words == ["HOST", "waker"]:
                self.machine.answer(self.waker)

    def stop(self):
        """Ends the machine and its cards."""
        if self.machine:
            self.machine.kill()
        for card in self.cards:
            card.stop()


def run_sleep(linux, options, work, table):
    """A machine that sleeps and is woken, one whose card is another one then, and one whose memory is short."""
    for words, memory in ((TESTS, None), ("another_card_starts_while_the_machine_sleeps", None),
                          ("a_machine_sleeps_when_memory_is_short", "256M")):
        sleeper = Sleeper(options, work, memory)
        try:
            machine = sleeper.start(words)
            sleeper.serve()
            table.machine(machine)
        finally:
            sleeper.stop()


def return_from_disk(sleeper, words, table, other_card=None):
    """
    A machine writes its memory to a disk and ends; another one goes on from there. Meanwhile a client has taken the
    channel that the first one had, or the card is another one, with that much memory.
    """
    disk = os.path.join(sleeper.work, "disk")
    with open(disk, "wb") as file:
        file.truncate(DISK_BYTES)
    extra = ("-drive", f"file={disk},format=raw,if=virtio,cache=unsafe")
    first = sleeper.start(words, extra)
    first.until("HOST disk")
    sleeper.serve()
    if first.results():
        table.machine(first)
        return
    with socket.socket(socket.AF_UNIX) as client:
        if other_card:
            sleeper.cards[-1].stop()
            sleeper.memory = other_card
            sleeper.start_card()
        else:
            client.connect(sleeper.cards[-1].socket)
            if not client.recv(8):
                raise Failure("the card does not take another client")
            sleeper.draw()
        second = sleeper.start(words, extra)
        sleeper.serve()
    if "HOST disk" in second.seen:
        raise Failure("the machine begins anew:\n  " + "\n  ".join(second.seen))
    table.machine(second)


# What the driver does when its machine returns: with another driver there in the meantime, and without. The memory of the
# card that is there then, if it is another one; that of the first.
HIBERNATE = (("resume,a_machine_returns_from_disk_by_the_platform", None, None),
             ("resume_first,a_machine_returns_from_disk_by_a_shutdown", None, None),
             ("resume,a_machine_returns_from_disk_on_another_card", "16M", "16M"),
             ("resume_first,a_machine_returns_from_disk_on_a_smaller_card", "16M", "64M"))


def run_hibernate(linux, options, work, table):
    """Machines whose memory is on a disk meanwhile: with the driver there when they return, and without."""
    for words, other_card, memory in HIBERNATE:
        place = os.path.join(work, words.partition(",")[2])
        os.makedirs(place)
        sleeper = Sleeper(options, place, memory)
        try:
            return_from_disk(sleeper, words, table, other_card)
        finally:
            sleeper.stop()


if __name__ == "__main__":
    make_kernel(*sys.argv[1:])
