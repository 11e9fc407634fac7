#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""update.py PATCHBAY BOARD BUILD: updates of a card that boots by its loader, with the real loader and the real firmware
image in QEMU. BUILD is the board's build folder. Each case has a flash of its own."""

import array
import fcntl
import mmap
import os
import random
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time

from e2e import PATIENCE, must, run, until

PATCHBAY, BOARD, BUILD = sys.argv[1:4]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SIGN = os.path.join(ROOT, "scripts", "sign")
IMAGE = os.path.join(BUILD, f"patchbay-{BOARD}.bin")

# Of qemu/mcu/flash.h and of patchbay/abi/: where the slots lie, and the words of the boot block.
SLOTS = (0x1000, 0x21000)
RECORD_BYTES = 0x1000
HEADER_BYTES = 160
STAGE, FATAL_KIND, FATAL_STATUS, LOADER_SLOT, REASONS = 64, 132, 144, 204, 208
STAGE_FATAL, KIND_REFUSED = 5, 6
EMPTY, BAD_HEADER, BAD_SIGNATURE, BAD_DIGEST, OLD_VERSION = 2, 3, 5, 6, 7
STARTED = 1

folder = tempfile.TemporaryDirectory(prefix="patchbay-update-")
names = iter(range(1000))


def path(name):
    return os.path.join(folder.name, name)


def signed(version, change=None, key="key.pem"):
    """A signed image; change(image) may spoil it before it is signed."""
    image = bytearray(open(IMAGE, "rb").read())
    if change:
        change(image)
    plain, file = path(f"{next(names)}.bin"), path(f"{next(names)}.signed")
    with open(plain, "wb") as out:
        out.write(image)
    must(SIGN, plain, "--key", path(key), "--security-version", str(version), "-o", file)
    return file


class Card:
    """A card with a flash, and the output of its process."""

    def __init__(self, flash, restarts=3):
        self.socket = path(f"{next(names)}.sock")
        self.log = path(f"{next(names)}.log")
        self.process = subprocess.Popen(
            [PATCHBAY, "card", "--board", BOARD, "--flash", flash, "--socket", self.socket, "--restarts", str(restarts)],
            stdout=subprocess.DEVNULL, stderr=open(self.log, "w"))

    def text(self):
        with open(self.log) as log:
            return log.read()

    def wait(self, text):
        def found():
            ended = self.process.poll() is not None
            assert not ended or text in self.text(), (text, self.text())
            return text in self.text()

        until(found, lambda: (text, self.text()))

    def memory(self):
        """Card memory, as any host gets it."""
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(self.socket)
            descriptor = None
            while descriptor is None:
                _, extra, _, _ = link.recvmsg(8, socket.CMSG_LEN(4))
                for _, _, data in extra:
                    descriptor = array.array("i", data[:4])[0]
            with mmap.mmap(descriptor, 4096, prot=mmap.PROT_READ) as memory:
                os.close(descriptor)
                return memory[:4096]

    def loader_words(self):
        """The slot that was started, from 1, and the reasons."""
        return struct.unpack_from("<3I", self.memory(), LOADER_SLOT)

    def update(self, file, *more):
        return run(PATCHBAY, "update", file, "--card", self.socket, *more)

    def stop(self):
        self.process.terminate()
        assert self.process.wait(PATIENCE) == 0, self.text()

    def end(self):
        """Waits for a card that gives up. Returns its output."""
        assert self.process.wait(PATIENCE) == 1, self.text()
        return self.text()


def new_flash(*files):
    flash = path(f"{next(names)}.flash")
    must(SIGN, "--new-flash", flash, "--key", path("key.pem"))
    for file in files:
        must(PATCHBAY, "update", file, "--flash", flash, "--board", BOARD)
    return flash


def change_flash(flash, offset, change):
    with open(flash, "r+b") as file:
        file.seek(offset)
        data = bytearray(file.read(4))
        change(data)
        file.seek(offset)
        file.write(data)


def flip(bit):
    def change(data):
        data[bit // 8] ^= 1 << bit % 8
    return change


def an_update_is_tried_and_confirmed_and_there_is_no_way_back():
    """Two updates, a downgrade by the updater, and one behind its back."""
    old = signed(2)
    flash = new_flash(old)
    card = Card(flash)
    card.wait("slot A is confirmed")
    assert card.loader_words() == (1, STARTED, EMPTY), card.loader_words()
    status, text = card.update(signed(3))
    assert status == 0 and "slot B runs and is confirmed; the card's counter is 3" in text, text
    assert card.loader_words() == (2, 0, STARTED), card.loader_words()
    status, text = card.update(old)
    assert status == 1 and "less than the card's counter" in text, text
    status, text = card.update(signed(4), "--slot", "B")
    assert status == 1 and "the only image that came up" in text, text
    must(PATCHBAY, "info", "--card", card.socket)
    card.stop()
    # The old image, valid as it is, in the place of the new one: nothing runs, and the reason is in the boot block.
    with open(flash, "r+b") as file:
        file.seek(SLOTS[1] + RECORD_BYTES)
        file.write(open(old, "rb").read())
    text = Card(flash, 0).end()
    assert text.count("OLD_VERSION") == 2 and "REFUSED" in text, text


def no_bit_of_the_image_may_differ():
    """Bits of header, signature and code in the flash: the loader refuses the slot and starts the other one."""
    pick = random.Random(21)
    good = signed(2)
    size = os.path.getsize(good)
    places = [(pick.randrange(96), None), (pick.randrange(96, HEADER_BYTES), BAD_SIGNATURE),
              (HEADER_BYTES, BAD_DIGEST), (pick.randrange(HEADER_BYTES, size), BAD_DIGEST), (size - 1, BAD_DIGEST)]
    flash = new_flash(good)
    card = Card(flash)
    card.wait("slot A is confirmed")
    for offset, reason in places:
        status, text = card.update(good, "--later")
        assert status == 0, text
        change_flash(flash, SLOTS[1] + RECORD_BYTES + offset // 4 * 4, flip(offset % 4 * 8 + pick.randrange(8)))
        before = card.text().count("starts slot A")
        card.process.poll()
        restart(card)
        until(lambda: card.text().count("starts slot A") > before, card.text)
        slot, a_reason, b_reason = card.loader_words()
        assert (slot, a_reason) == (1, STARTED), (offset, slot, a_reason)
        assert b_reason == reason or (reason is None and b_reason > EMPTY), (offset, b_reason)
        assert "refuses slot B" in card.text()
    card.stop()


def restart(card):
    """Has the MCU started again, as the administrator."""
    with socket.socket(socket.AF_UNIX) as admin:
        admin.connect(card.socket + ".admin")
        admin.sendall(struct.pack("<4I", 0x44414250, 3, 0, 0))
        assert len(admin.recv(40, socket.MSG_WAITALL)) == 40


def an_image_that_does_not_come_up_is_left():
    """Signed by the right key: one that hangs at its first instruction, and one whose own check fails."""
    def hang(image):
        start = struct.unpack_from("<I", image, 4)[0] & ~1 if BOARD.startswith("mps") else None
        if start is None:
            image[0:4] = struct.pack("<I", 0x0000006f)
        else:
            at = start - struct.unpack_from("<I", image, 0x200 + 8)[0]
            image[at:at + 2] = b"\xfe\xe7"

    def damage(image):
        image[len(image) - 30] ^= 1

    flash = new_flash(signed(2))
    card = Card(flash)
    card.wait("slot A is confirmed")
    for change in (hang, damage):
        status, text = card.update(signed(3, change))
        assert status == 1 and "slot B did not come up" in text and "slot A runs" in text, text
    assert card.loader_words()[0] == 1
    status, text = card.update(signed(3))
    assert status == 0 and "counter is 3" in text, text
    card.stop()


def a_foreign_key_starts_nothing():
    """Also on a card that has nothing else: hosts find the reason."""
    flash = new_flash(signed(2, key="other.pem"))
    card = Card(flash, 0)
    text = card.end()
    assert "refuses slot A: BAD_SIGNATURE" in text and "REFUSED" in text, text
    assert f"status 0x{BAD_SIGNATURE | EMPTY << 8:08x}" in text, text


def a_host_does_not_reach_the_flash():
    """The hosts' socket takes no request of the administrator, and the card is as it was."""
    flash = new_flash(signed(2))
    card = Card(flash)
    card.wait("slot A is confirmed")
    before = open(flash, "rb").read()
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(card.socket)
        file = open(signed(3), "rb").read()
        link.sendall(struct.pack("<4I", 0x44414250, 2, 1, len(file)) + file[:4096] +
                     struct.pack("<4I", 0x44414250, 3, 0, 0))
        unread = array.array("i", [1])
        until(lambda: fcntl.ioctl(link, termios.TIOCOUTQ, unread) == 0 and unread[0] == 0, "the card does not read")
    # An administrator that leaves in the middle, and one that talks nonsense.
    for nonsense in (struct.pack("<4I", 0x44414250, 2, 1, 50000) + bytes(100), bytes(16),
                     struct.pack("<4I", 0x44414250, 2, 1, 0xffffffff)):
        with socket.socket(socket.AF_UNIX) as admin:
            admin.connect(card.socket + ".admin")
            admin.sendall(nonsense)
    assert open(flash, "rb").read() == before
    status, text = card.update(signed(3))
    assert status == 0, text
    card.stop()


def a_flash_belongs_to_one_card_at_a_time():
    """A second card, and an update behind a card's back, find the flash in use; what is no flash is refused."""
    flash = new_flash(signed(2))
    card = Card(flash)
    card.wait("slot A is confirmed")
    before = open(flash, "rb").read()
    text = Card(flash, 0).end()
    assert "a card or an update uses it" in text, text
    status, text = run(PATCHBAY, "update", signed(3), "--flash", flash, "--board", BOARD)
    assert status == 1 and "a card or an update uses it" in text, text
    status, text = run(SIGN, "--new-flash", flash, "--key", path("key.pem"))
    assert status == 1 and "a card or an update uses it" in text, text
    assert open(flash, "rb").read() == before
    card.stop()
    must(PATCHBAY, "update", signed(3), "--flash", flash, "--board", BOARD)
    must(SIGN, "--new-flash", flash, "--key", path("key.pem"))
    assert open(flash, "rb").read().count(b"\xff") >= len(before) - 64
    # A board that has no loader: neither a card nor an update uses a flash.
    for arguments in (("card", "--flash", flash, "--socket", path("none.sock")), ("update", signed(3), "--flash", flash),
                      ("update", signed(3), "--link", "gdb:" + path("none"))):
        status, text = run(PATCHBAY, *arguments, "--board", "mps3_an547")
        assert status != 0 and "board mps3_an547 has no loader" in text, text
    short, fifo = path("short.flash"), path("fifo.flash")
    with open(short, "wb") as file:
        file.write(open(flash, "rb").read()[:-1])
    os.mkfifo(fifo)
    for file, reason in ((short, "no file of a flash's size"), (fifo, "no file of a flash's size"),
                         (folder.name, "Is a directory"), (path("none.flash"), "No such file")):
        text = Card(file, 0).end()
        assert reason in text and file in text, text


def a_flash_that_shrinks_takes_no_update_and_ends_no_card():
    """The file is truncated under a card that runs: updates fail, and everything else goes on."""
    flash = new_flash(signed(2))
    card = Card(flash)
    card.wait("slot A is confirmed")
    for size in (1000, 0):
        os.truncate(flash, size)
        status, text = card.update(signed(3))
        assert status == 1 and "could not be read, erased or programmed" in text, text
        must(PATCHBAY, "info", "--card", card.socket)
    assert os.path.getsize(flash) == 0
    card.stop()


def two_updates_at_once_both_end():
    """Each is tried and confirmed, one after the other, or refused with a reason."""
    card = Card(new_flash(signed(2)))
    card.wait("slot A is confirmed")
    both = [subprocess.Popen((PATCHBAY, "update", signed(version), "--card", card.socket), stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True) for version in (3, 4)]
    texts = [update.communicate(timeout=PATIENCE)[0] for update in both]
    results = [update.returncode == 0 and "runs and is confirmed" in text for update, text in zip(both, texts)]
    refused = [update.returncode == 1 and "less than the card's counter" in text for update, text in zip(both, texts)]
    assert results == [True, True] or (results[1] and refused[0]), texts
    card.stop()


def main():
    for key in ("key.pem", "other.pem"):
        must(SIGN, "--new-key", path(key))
    for case in (an_update_is_tried_and_confirmed_and_there_is_no_way_back, no_bit_of_the_image_may_differ,
                 an_image_that_does_not_come_up_is_left, a_foreign_key_starts_nothing, a_host_does_not_reach_the_flash,
                 a_flash_belongs_to_one_card_at_a_time,
                 a_flash_that_shrinks_takes_no_update_and_ends_no_card, two_updates_at_once_both_end):
        start = time.monotonic()
        case()
        print(f"ok   {case.__name__} ({time.monotonic() - start:.1f} s)", flush=True)


main()
