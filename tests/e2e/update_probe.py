#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""update_probe.py PATCHBAY BOARD BUILD: updates over a debug probe. The probe is played: its server passes the emulator's gdb
stub on, programs the flash of the card, and resets its MCU. No card program runs: only `patchbay update` confirms."""

import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
from e2e import must, run, until  # pylint: disable=wrong-import-position
from faults_boot import ROOT, Board  # pylint: disable=wrong-import-position

PATCHBAY, BOARD, BUILD = sys.argv[1:4]
SIGN = os.path.join(ROOT, "scripts", "sign")
PROGRAM, REPORT, LOCK, DONE = 0x81, 0x82, 0x83, 0x84
LENGTHS = {PROGRAM: 9, REPORT: 3, LOCK: 1}
TRIED, CONFIRMED = 16, 24

board = Board(BOARD)
folder = tempfile.TemporaryDirectory(prefix="patchbay-probe-")
names = iter(range(1000))


def path(name):
    return os.path.join(folder.name, name)


def packet(text):
    return b"$" + text + b"#%02x" % (sum(text) & 255)


def connect(place):
    found = socket.socket(socket.AF_UNIX)
    until(lambda: found.connect_ex(place) == 0, "no gdb stub")
    return found


class Mcu:
    """The emulator, with the flash as it is at the reset; and the loader's end of the flash, at the UART."""

    def __init__(self, probe):
        number = next(names)
        self.stub, lines = path(f"{number}.gdb"), path(f"{number}.lines")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(lines)
        listener.listen()
        with open(path("flash"), "wb") as file:
            file.write(probe.flash)
        words = [word.replace("memory-backend-ram,", f"memory-backend-file,mem-path={path('memory')},") for word in board.arguments]
        self.process = subprocess.Popen(
            [board.emulator, *words, "-display", "none", "-monitor", "none", "-chardev", f"socket,id=lines,path={lines}",
             "-serial", "chardev:lines", "-kernel", board.elf(), "-S", "-gdb", f"unix:{self.stub},server=on,wait=off",
             "-device", f"loader,addr={board.flash:#x},force-raw=on,file={path('flash')}"], stdin=subprocess.DEVNULL)
        self.lines = listener.accept()[0]
        threading.Thread(target=self.serve, args=(probe,), daemon=True).start()

    def serve(self, probe):
        """Programs what the loader asks for, until it locks the flash."""
        frame = b""
        while data := self.lines.recv(1):
            frame += data
            if len(frame) < LENGTHS[frame[0]]:
                continue
            if frame[0] == PROGRAM:
                probe.program(*struct.unpack_from("<I4s", frame, 1))
                self.lines.sendall(bytes([DONE]))
            elif frame[0] == LOCK:
                # Its lines are of no use without a supervisor.
                while self.lines.recv(64):
                    pass
                return
            frame = b""

    def end(self):
        self.process.kill()
        self.process.wait()
        self.lines.close()


class Probe:
    """A probe's server. Like a real one it programs when it is told that all has been sent, and never sets a bit by that."""

    def __init__(self, flash, stops_after=None):
        with open(flash, "rb") as file:
            self.flash = bytearray(file.read())
        self.pending, self.operations, self.stops_after = [], 0, stops_after
        self.address = path(f"{next(names)}.probe")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.address)
        listener.listen()
        self.mcu = Mcu(self)
        threading.Thread(target=self.serve, args=(listener,), daemon=True).start()

    def program(self, offset, data):
        for i, byte in enumerate(data):
            self.flash[offset + i] &= byte

    def serve(self, listener):
        while True:
            client = listener.accept()[0]
            current = [connect(self.mcu.stub)]
            try:
                self.pass_on(client, current)
            except OSError:
                pass
            current[0].shutdown(socket.SHUT_RDWR)
            client.close()

    def pass_on(self, client, current):
        """Packets to the stub, but for those that the probe answers itself; everything from the stub."""
        buffer = b""
        threading.Thread(target=self.copy, args=(current, client, current[0]), daemon=True).start()
        while data := client.recv(65536):
            buffer += data
            while buffer:
                if buffer[:1] != b"$":
                    # Acknowledgements, and the break: the emulator takes what it has not asked for, too.
                    current[0].sendall(buffer[:1])
                    buffer = buffer[1:]
                    continue
                end = buffer.find(b"#")
                if end < 0 or len(buffer) < end + 3:
                    break
                whole, buffer = buffer[:end + 3], buffer[end + 3:]
                answer = self.answer(whole[1:end])
                if answer is None:
                    current[0].sendall(whole)
                    continue
                if answer == b"reset":
                    current[0] = None
                    self.mcu.end()
                    self.mcu = Mcu(self)
                    current[0] = connect(self.mcu.stub)
                    # As the client has asked of the one before; its answers are the probe's.
                    current[0].sendall(b"+" + packet(b"Qqemu.PhyMemMode:1"))
                    reply = b""
                    while not reply.endswith(packet(b"OK")):
                        reply += current[0].recv(64)
                    current[0].sendall(b"+")
                    threading.Thread(target=self.copy, args=(current, client, current[0]), daemon=True).start()
                    answer = b"OK"
                client.sendall(b"+" + packet(answer))

    @staticmethod
    def copy(current, client, stub):
        try:
            while data := stub.recv(65536):
                client.sendall(data)
        except OSError:
            pass
        # A reset has ended the stub, and another one follows.
        stub.close()
        if current[0] is stub:
            client.close()

    def answer(self, text):
        """What the probe answers itself; None: the stub is to answer."""
        if text == b"qRcmd," + b"reset halt".hex().encode():
            return b"reset"
        found = re.fullmatch(rb"m([0-9a-f]+),([0-9a-f]+)", text)
        if found:
            at, size = (int(word, 16) for word in found.groups())
            # What the emulator has there is a copy of the last reset.
            inside = board.flash <= at < board.flash + board.flash_bytes
            return bytes(self.flash[at - board.flash:at - board.flash + size]).hex().encode() if inside else None
        if not text.startswith(b"vFlash"):
            return None
        self.operations += 1
        if self.stops_after is not None and self.operations > self.stops_after:
            return b"E01"
        found = re.fullmatch(rb"vFlashErase:([0-9a-f]+),([0-9a-f]+)", text)
        if found:
            at, size = (int(word, 16) for word in found.groups())
            assert at % board.sector == 0 and size % board.sector == 0
            self.flash[at - board.flash:at - board.flash + size] = b"\xff" * size
        elif text.startswith(b"vFlashWrite:"):
            at, data = text[len(b"vFlashWrite:"):].split(b":", 1)
            self.pending.append((int(at, 16) - board.flash, unescape(data)))
        else:
            for offset, data in self.pending:
                self.program(offset, data)
            self.pending = []
        return b"OK"

    def mark(self, slot, offset):
        at = (board.slot_a, board.slot_b)[slot] + offset
        return struct.unpack_from("<2I", self.flash, at) == (0x4b52414d, 0xb4adbeb2)

    def counter(self):
        return sum(bin(~byte & 255).count("1") for byte in self.flash[64:192])

    def end(self):
        self.mcu.end()


def unescape(data):
    return re.sub(rb"}(.)", lambda found: bytes([found[1][0] ^ 0x20]), data, flags=re.DOTALL)


def signed(version, change=None, key="key.pem"):
    """A signed image; change(image) may spoil it before it is signed."""
    with open(os.path.join(BUILD, f"patchbay-{BOARD}.bin"), "rb") as file:
        image = bytearray(file.read())
    if change:
        change(image)
    plain, result = path(f"{next(names)}.bin"), path(f"{next(names)}.signed")
    with open(plain, "wb") as out:
        out.write(image)
    must(SIGN, plain, "--key", path(key), "--security-version", str(version), "-o", result)
    return result


def new_flash():
    flash = path(f"{next(names)}.flash")
    must(SIGN, "--new-flash", flash, "--key", path("key.pem"))
    with open(path("memory"), "wb") as memory:
        memory.truncate(16 << 20)
    return flash


def update(probe, file, *more):
    return run(PATCHBAY, "update", file, "--link", "gdb:" + probe.address, "--board", BOARD, *more)


def hang(image):
    """Its first instruction jumps to itself."""
    if "riscv" in board.emulator:
        image[0:4] = struct.pack("<I", 0x0000006f)
    else:
        at = (struct.unpack_from("<I", image, 4)[0] & ~1) - struct.unpack_from("<I", image, 0x200 + 8)[0]
        image[at:at + 2] = b"\xfe\xe7"


def an_update_is_tried_and_confirmed_and_there_is_no_way_back():
    """From an empty flash: four updates, one of which hangs, one of another owner, and a downgrade."""
    probe, old = Probe(new_flash()), signed(2)
    for version, slot in ((2, "A"), (3, "B")):
        status, text = update(probe, signed(version))
        assert status == 0 and f"slot {slot} runs and is confirmed; the card's counter is {version}" in text, text
        assert probe.mark("AB".index(slot), CONFIRMED) and probe.counter() == version
    status, text = update(probe, signed(4, hang))
    assert status == 1 and "slot A did not come up (" in text and "slot B runs" in text, text
    assert probe.mark(0, TRIED) and not probe.mark(0, CONFIRMED) and probe.counter() == 3
    status, text = update(probe, signed(4, key="other.pem"))
    assert status == 1 and "slot A did not come up (the header was not signed" in text and "slot B runs" in text, text
    before = bytes(probe.flash)
    for file, more, reason in ((old, (), "less than the card's counter"),
                               (signed(4), ("--slot", "B"), "the only image that came up"), (SIGN, (), "no signed image")):
        status, text = update(probe, file, *more)
        assert status == 1 and reason in text, text
    assert bytes(probe.flash) == before
    status, text = update(probe, signed(4), "--later")
    assert status == 0 and "is written to slot A" in text and not probe.mark(0, TRIED), text
    probe.end()


def a_flash_that_fails_at_any_operation_keeps_the_image_that_runs():
    """The probe stops in the middle of an update, at some of its operations; then the card still starts the former image."""
    good = Probe(new_flash())
    status, text = update(good, signed(2))
    assert status == 0, text
    good.end()
    with open(path("good.flash"), "wb") as out:
        out.write(good.flash)
    whole = Probe(path("good.flash"))
    assert update(whole, signed(3), "--later")[0] == 0
    whole.end()
    last = whole.operations - 1
    for stops_after in (0, 1, last // 2, last - 2, last):
        probe = Probe(path("good.flash"), stops_after)
        status, text = update(probe, signed(3))
        assert status == 1 and "reports an error of memory or flash" in text, (stops_after, text)
        probe.stops_after = None
        status, text = update(probe, signed(3))
        assert status == 0 and "slot B runs and is confirmed" in text, (stops_after, text)
        probe.end()


def a_stub_that_programs_no_flash_is_named():
    """The emulator's own stub, and none."""
    probe = Probe(new_flash())
    before = bytes(probe.flash)
    status, text = run(PATCHBAY, "update", signed(2), "--link", "gdb:" + probe.mcu.stub, "--board", BOARD)
    assert status == 1 and "programs no flash" in text, text
    assert bytes(probe.flash) == before
    status, text = run(PATCHBAY, "update", signed(2), "--link", "gdb:" + path("none"), "--board", BOARD)
    assert status == 1 and "no gdb stub answers" in text, text
    probe.end()


def main():
    for key in ("key.pem", "other.pem"):
        must(SIGN, "--new-key", path(key))
    for case in (an_update_is_tried_and_confirmed_and_there_is_no_way_back,
                 a_flash_that_fails_at_any_operation_keeps_the_image_that_runs, a_stub_that_programs_no_flash_is_named):
        start = time.monotonic()
        case()
        print(f"ok   {case.__name__} ({time.monotonic() - start:.1f} s)", flush=True)


main()
