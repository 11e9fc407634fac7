# SPDX-License-Identifier: MIT
"""Programs in a virtual machine that reach the card without a driver of this project, for scripts/linux.py."""

import subprocess

# vfio-pci wants a machine with an IOMMU, which can remap interrupts.
MACHINE = ("-machine", "q35", "-device", "intel-iommu")


def run_links(linux, options, work, table):
    """One machine: tests/guest/init.sh. What its commands report of the firmware is what the card's host sees."""
    card = linux.Card(options, work, "links")
    try:
        info = subprocess.run([options.patchbay, "info", "--card", card.socket], capture_output=True, text=True, check=False)
        builds = [line for line in info.stdout.splitlines() if line.startswith("build ")]
        machine = linux.Machine(options, card, "links", parameters="intel_iommu=on", guest="links.cpio", extra=MACHINE)
        linux.serve(machine, card, options)
        table.machine(machine)
        seen = [line[5:] for line in machine.seen if line.startswith("INFO ")]
        table.row("guest_and_host_see_one_firmware", len(builds) == 1 and seen == 2 * builds, 0, [*builds, *seen])
    finally:
        card.stop()
