# SPDX-License-Identifier: MIT
"""Programs in a virtual machine that reach the card without a driver of this project, for scripts/linux.py."""

import array
import os
import select
import shlex
import socket
import struct
import subprocess
import threading

PARAMETERS = "intel_iommu=on"
VECTORS = 9
CHANNEL = 5
# Rings of each link: COMMANDS of tests/guest/link.c.
RINGS = 20


# What each line of the page has, and each Machine.
COMMON = ("-chardev", "socket,path=/tmp/card.sock,id=card", "-device", "ivshmem-doorbell,vectors=9,chardev=card")


def documented(text):
    """The options of the one QEMU line of docs/virtual-machines.md with a text, but for those that each Machine has."""
    page = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "virtual-machines.md")
    with open(page, encoding="utf-8") as file:
        [line] = [line for line in file if line.startswith("qemu-system-x86_64 ") and text in line]
    words = shlex.split(line)[1:]
    words.remove("-nographic")
    pairs = list(zip(words[::2], words[1::2]))
    for pair in zip(COMMON[::2], COMMON[1::2]):
        pairs.remove(pair)
    return [word for pair in pairs if pair[0] not in ("-kernel", "-initrd", "-append") for word in pair]


class Server:
    """An ivshmem server without a card: it answers each ring with an interrupt, and counts the rings of each vector."""

    def __init__(self, path, size):
        self.socket = path
        self.size = size
        self.memory = os.memfd_create("memory")
        os.ftruncate(self.memory, size)
        os.pwrite(self.memory, struct.pack("<I", CHANNEL), 0)
        self.bells = [os.eventfd(0, os.EFD_NONBLOCK) for _ in range(VECTORS)]
        self.interrupts = [os.eventfd(0) for _ in range(VECTORS)]
        self.counts = [0] * VECTORS
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        """Greets one machine as host/link_protocol.h says, then answers."""
        machine, _ = self.listener.accept()
        for number, file in ((0, None), (CHANNEL, None), (-1, self.memory), *((0, bell) for bell in self.bells),
                             *((CHANNEL, interrupt) for interrupt in self.interrupts)):
            rights = [] if file is None else [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file]))]
            machine.sendmsg([struct.pack("<q", number)], rights)
        while True:
            for bell in select.select(self.bells, [], [])[0]:
                self.counts[self.bells.index(bell)] += os.eventfd_read(bell)
                os.eventfd_write(self.interrupts[0], 1)

    def last_word(self):
        """What the machine has stored at the end of the memory."""
        return struct.unpack("<I", os.pread(self.memory, 4, self.size - 4))[0]


def run_rings(linux, options, work, table):
    """A machine on a server that counts: each doorbell is one ring of the channel's vector, each answer one interrupt."""
    server = Server(os.path.join(work, "rings"), 1 << 20)
    machine = linux.Machine(options, server, "ring", parameters=PARAMETERS, guest="links.cpio", extra=documented("intel-iommu"))
    linux.serve(machine, None, options)
    table.machine(machine)
    wanted = [2 * RINGS if vector == CHANNEL else 0 for vector in range(VECTORS)]
    table.row("the_server_counts_each_ring", server.counts == wanted, 0, [str(server.counts)])
    table.row("the_server_sees_the_last_word", server.last_word() == ~CHANNEL & 0xffffffff, 0)


def run_plain(linux, options, work, table):
    """The page's first machine: programs of a guest without an IOMMU."""
    card = linux.Card(options, work, "plain")
    try:
        machine = linux.Machine(options, card, "plain", parameters="", guest="links.cpio", extra=documented("-machine q35 -m 1G"))
        linux.serve(machine, card, options)
        table.machine(machine)
    finally:
        card.stop()


def run_window(linux, options, work, table):
    """The page's machine whose memory is a file, which is host memory of the card."""
    memory = os.path.join(work, "guest")
    with open(memory, "wb") as file:
        file.truncate(512 << 20)
    extra = [word.replace("/dev/shm/guest", memory) for word in documented("memory-backend-file")]
    card = linux.Card(options, work, "window", host_memory=memory)
    try:
        machine = linux.Machine(options, card, "plain", parameters="", guest="links.cpio", extra=extra)
        linux.serve(machine, card, options)
        table.machine(machine)
        words = [line.split() for line in machine.seen]
        table.row("host_memory_is_the_machines_memory", ["HOST_BYTES", str(512 << 20)] in words, 0, machine.seen)
    finally:
        card.stop()


def run_links(linux, options, work, table):
    """Machines of tests/guest/init.sh. What commands report of the firmware there is what the card's host sees."""
    run_rings(linux, options, work, table)
    run_plain(linux, options, work, table)
    run_window(linux, options, work, table)
    card = linux.Card(options, work, "links")
    try:
        info = subprocess.run([options.patchbay, "info", "--card", card.socket], capture_output=True, text=True, check=False)
        builds = [line for line in info.stdout.splitlines() if line.startswith("build ")]
        machine = linux.Machine(options, card, "links", parameters=PARAMETERS, guest="links.cpio", extra=documented("intel-iommu"))
        linux.serve(machine, card, options)
        table.machine(machine)
        seen = [line[5:] for line in machine.seen if line.startswith("INFO ")]
        table.row("guest_and_host_see_one_firmware", len(builds) == 1 and seen == 2 * builds, 0, [*builds, *seen])
    finally:
        card.stop()
