#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""loader_confined.py BOARD: from its first look at the flash on, a loader executes its own code only. In QEMU, by its gdb
stub: the CPU is sent to memory that anyone may have written, with instructions there that do nothing."""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
from faults_boot import Board, emulator, text_of  # pylint: disable=wrong-import-position
from faults_gdb import Gdb  # pylint: disable=wrong-import-position

BOARD = Board(sys.argv[1])
RISCV = "riscv" in BOARD.emulator
# Of the gdb stub: the number of the program counter. And an instruction of two bytes that does nothing.
PC, NOTHING = (32, "0100") if RISCV else (15, "00bf")
FAULT, CONFINE = ("pb_riscv_fault", "pb_riscv_confine") if RISCV else ("fault", "pb_cortex_m_confine")
CARD_MEMORY = int(text_of("boards", BOARD.name, "board.cmake").split("PB_CARD_MEMORY=")[1].split("u")[0], 16)
PLACES = {"a staged image": BOARD.stage, "the flash": BOARD.flash + BOARD.slot_a + BOARD.sector,
          "where images are loaded": BOARD.load + 0x1000, "card memory": CARD_MEMORY + 0x2000}


def symbols():
    text = subprocess.run(["nm", BOARD.elf()], check=True, stdout=subprocess.PIPE, text=True).stdout
    return {line.split()[2]: int(line.split()[0], 16) & ~1 for line in text.splitlines()}


def where(gdb):
    return int.from_bytes(bytes.fromhex(gdb.ask(f"p{PC:x}")[0]), "little")


def send_to(folder, names, start, place):
    """Has the CPU go to a place when it is about to execute a function. Returns where it stops."""
    flash, socket = os.path.join(folder, "flash"), os.path.join(folder, "gdb")
    for file, size in ((flash, BOARD.flash_bytes), (flash + ".stage", BOARD.stage_bytes)):
        with open(file, "wb") as out:
            out.write(b"\xff" * size)
    if os.path.exists(socket):
        os.unlink(socket)
    process = emulator(BOARD, BOARD.elf(), flash, socket)
    try:
        gdb = Gdb(socket, process.pid)
        gdb.ask(f"Z0,{names[start]:x},2", "c")
        assert where(gdb) == names[start]
        gdb.ask(f"M{place:x},10:{NOTHING * 8}", f"P{PC:x}={place.to_bytes(4, 'little').hex()}",
                f"Z0,{place + 8:x},2", f"Z0,{names[FAULT]:x},2", "c")
        return where(gdb)
    finally:
        process.kill()
        process.wait()


def main():
    names = symbols()
    with tempfile.TemporaryDirectory(prefix="patchbay-confined-") as folder:
        for what, place in PLACES.items():
            # Before the loader has confined itself it would go on there: the fault is not of something else.
            assert send_to(folder, names, CONFINE, place) == place + 8, what
            stopped = send_to(folder, names, "pb_loader_choose", place)
            assert stopped == names[FAULT], (what, hex(stopped))
            print(f"ok   {what} is not executed")


main()
