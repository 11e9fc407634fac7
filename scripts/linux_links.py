# SPDX-License-Identifier: MIT
"""Programs in a virtual machine that reach the card without a driver of this project, for scripts/linux.py."""

import array
import os
import select
import socket
import struct
import subprocess
import threading

# vfio-pci wants a machine with an IOMMU, which can remap interrupts.
MACHINE = ("-machine", "q35", "-device", "intel-iommu")
PARAMETERS = "intel_iommu=on"
VECTORS = 9
CHANNEL = 5
# Rings of each link: COMMANDS of tests/guest/link.c.
RINGS = 20


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
    machine = linux.Machine(options, server, "ring", parameters=PARAMETERS, guest="links.cpio", extra=MACHINE)
    linux.serve(machine, None, options)
    table.machine(machine)
    wanted = [2 * RINGS if vector == CHANNEL else 0 for vector in range(VECTORS)]
    table.row("the_server_counts_each_ring", server.counts == wanted, 0, [str(server.counts)])
    table.row("the_server_sees_the_last_word", server.last_word() == ~CHANNEL & 0xffffffff, 0)


def run_links(linux, options, work, table):
    """Machines of tests/guest/init.sh. What commands report of the firmware there is what the card's host sees."""
    run_rings(linux, options, work, table)
    card = linux.Card(options, work, "links")
    try:
        info = subprocess.run([options.patchbay, "info", "--card", card.socket], capture_output=True, text=True, check=False)
        builds = [line for line in info.stdout.splitlines() if line.startswith("build ")]
        machine = linux.Machine(options, card, "links", parameters=PARAMETERS, guest="links.cpio", extra=MACHINE)
        linux.serve(machine, card, options)
        table.machine(machine)
        seen = [line[5:] for line in machine.seen if line.startswith("INFO ")]
        table.row("guest_and_host_see_one_firmware", len(builds) == 1 and seen == 2 * builds, 0, [*builds, *seen])
    finally:
        card.stop()
