# SPDX-License-Identifier: MIT
"""The guest's OpenGL through the driver, for scripts/linux.py: the driver's own tests, and Debian's Mesa."""

import os
import re
import signal
import subprocess
import time

import linux_picture
import programs
from linux_machine import PATIENCE

# Megabytes of the virtual machine: of its own tests; with a disk in memory that has Mesa. Of card memory.
TEST_MEGABYTES, MESA_MEGABYTES = "512", "2048"
CARD_MEMORY = "256M"
# The tests of pbd-gl that are short, in the order in which they run.
SHORT = ("the_engine_says_what_it_is", "a_triangle_reads_back", "transfers_go_both_ways", "fences_go_in_and_out",
         "wrong_arguments_are_refused", "a_wrong_stream_costs_its_file_alone", "a_renderer_may_rest",
         "a_hang_costs_its_file_alone", "fdinfo_says_who_draws", "debugfs_says_what_a_client_does",
         "files_see_what_others_draw", "files_change_parts_of_a_picture",
         "what_a_file_drew_outlives_it", "a_writer_that_fails_costs_no_reader", "what_cannot_be_shared_is_refused",
         "a_name_shares_a_resource", "files_share_by_chance", "files_take_turns", "a_resource_is_shown",
         "a_resource_of_another_file_is_shown", "the_device_unbinds_while_files_draw",
         "files_draw_when_the_firmware_is_back")
PARAMETERS = "patchbay.virtgpu=1"
# Programs that print sums of what they draw; each prints the same on virglrenderer's own server.
SUMS = ("frames 20 10", "frames 100 2", "textures 16 256", "flood 20 10")
# Frames of kmscube.
FRAMES = 200
# Programs that draw with OpenGL in a window of Weston's, and count their frames every five seconds.
WINDOWS = (("simple_egl", "weston-simple-egl"), ("es2gears", "es2gears_wayland.x86_64-linux-gnu"))
WINDOW_SECONDS = 20
# A channel of a pixel of Weston's picture may differ by so much from the one that pixman draws: they round differently.
ROUNDING = 1
# Weston's picture has more colours than this.
COLOURS_MIN = 10
# How long a picture rests that has come to rest, in seconds.
REST = 3


def engine(options):
    """Whether the card can have a GL engine here."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(options.patchbay)))
    return os.path.exists(os.path.join(folder, "qemu", "patchbay-renderer"))


def open_card(linux, options, work, name):
    """A card with a GL engine."""
    return linux.Card(options, work, name, memory=CARD_MEMORY, engine="gl")


def renderers(card, what):
    """Lets the card's renderers rest, or go on."""
    for pid in card.children("patchbay-render"):
        os.kill(pid, {"rest": signal.SIGSTOP, "go-on": signal.SIGCONT}[what])


def run_gl(linux, options, work, table, tests=SHORT):
    """The driver's own tests. @param tests none: all"""
    if not engine(options):
        print("left out: run_gl: libvirglrenderer-dev was not there when this was built", flush=True)
        return
    card = open_card(linux, options, work, "gl")
    try:
        words = ",".join("gl:" + test for test in tests) or "gl:"
        machine = linux.Machine(options, card, words, linux.PATIENT + " " + PARAMETERS, extra=("-m", TEST_MEGABYTES))
        linux.serve(machine, card, options)
        table.machine(machine)
    finally:
        card.stop()


class Guest:
    """A machine that runs what it is told."""

    def __init__(self, linux, options, card, table):
        self.linux, self.options, self.card, self.table = linux, options, card, table
        self.machine = linux.Machine(options, card, "mesa", linux.PATIENT + " patchbay.virtgpu=1", guest="gl.cpio",
                                     extra=("-m", MESA_MEGABYTES))

    def run(self, command):
        """(status, lines that it printed) of a command."""
        self.machine.until("GUEST reads")
        first = len(self.machine.seen)
        self.machine.answer(command)
        while True:
            line = self.machine.line()
            if line is None:
                return 1, self.machine.seen[first:]
            match = re.match(r"GUEST ran (\d+)$", line)
            if match:
                return int(match[1]), self.machine.seen[first:-1]

    def check(self, name, command, wanted):
        """Runs a command, and has what it printed checked by a function, which returns None or what is wrong."""
        start = time.monotonic()
        status, lines = self.run(command)
        wrong = f"exit status {status}" if status else wanted(lines)
        self.table.row(name, wrong is None, int((time.monotonic() - start) * 1000), lines + [str(wrong)])
        return lines

    def picture(self, name):
        """The display, when it has come to rest. Its file stays in build/linux."""
        path = os.path.join(self.options.folder, name + ".png")
        end, before, since = time.monotonic() + PATIENCE, None, 0
        while time.monotonic() < end:
            shot = subprocess.run([self.options.patchbay, "screenshot", path, "--card", self.card.socket],
                                  capture_output=True, check=False)
            now = linux_picture.read_png(path) if shot.returncode == 0 else None
            # An empty display is no picture yet, however long it rests.
            if now is None or now != before or colours(now) <= COLOURS_MIN:
                before, since = now, time.monotonic()
            elif time.monotonic() - since > REST:
                return now
            time.sleep(0.5)
        raise self.linux.Failure(f"{name}: the picture does not come to rest")


def has(text):
    """A check: some line has the text."""
    return lambda lines: None if any(text in line for line in lines) else f"no {text!r}"


def frames(lines):
    """A check: a program has counted frames that it has drawn."""
    found = [re.match(r"(\d+) frames in", line) for line in lines]
    return None if any(match and int(match[1]) > 0 for match in found) else "no frames"


def sums(lines):
    """The sums of pictures among lines of output."""
    return [line for line in lines if line.startswith("picture")]


def on_server(options, work, arguments):
    """The sums of the same program on virglrenderer's own server, on this system."""
    command = programs.on_plain_server(work, os.path.join(work, "server.log"))
    done = subprocess.run([*command, os.path.join(options.folder, "gl_program"), *arguments.split()],
                          capture_output=True, text=True, timeout=PATIENCE, check=False)
    return sums(done.stdout.splitlines())


def difference(got, wanted):
    """(most that a channel of a pixel differs by, how many do)."""
    if got[:2] != wanted[:2]:
        return 256, 0
    most = count = 0
    for row, other in zip(got[2], wanted[2]):
        if bytes(row) != bytes(other):
            apart = [abs(a - b) for a, b in zip(row, other)]
            most, count = max(most, *apart), count + sum(1 for value in apart if value)
    return most, count


def colours(picture):
    """Number of different colours of a picture."""
    return len({bytes(row[i:i + 3]) for row in picture[2] for i in range(0, len(row), 3)})


def compare_weston(guest, table, name, ups, log):
    """
    A picture of Weston's, drawn with OpenGL, beside the one that it draws with pixman. Returns how many channels differ.

    @param ups commands that start it; each gets the renderer's option @param log of the one whose renderer is checked
    """
    start, pictures = time.monotonic(), []
    for renderer, option in (("gl", ""), ("pixman", " --use-pixman")):
        for command in ups:
            guest.run(command + option)
        pictures.append(guest.picture(f"weston-{name}-{renderer}"))
        _, said = guest.run("cat " + log)
        if (has("GL renderer: virgl")(said) is None) != (renderer == "gl"):
            table.row(f"weston_{name}_draws_by_{renderer}", False, 0, said)
        guest.run("weston_down")
    most, count = difference(*pictures)
    table.row(f"weston_{name}_shows_the_picture_of_pixman", most <= ROUNDING,
              int((time.monotonic() - start) * 1000), [f"{count} channels differ, by {most} at most"])
    return count


def run_weston(guest, table):
    """Weston alone, Weston as a client of Weston, and clients that draw with OpenGL. Returns how many channels differ."""
    count = compare_weston(guest, table, "alone", ("weston_up",), "/tmp/weston.log")
    for name, size in (("in_a_window", "--width=640 --height=480"), ("on_weston", "--fullscreen")):
        count += compare_weston(guest, table, name, ("outer_up", "nested_up " + size), "/tmp/nested.log")
    guest.run("outer_up")
    for name, program in WINDOWS:
        guest.check(name + "_draws_in_a_window", f"timeout {WINDOW_SECONDS} {program} || true", frames)
    guest.run("weston_down")
    return count


def run_mesa(linux, options, work, table):
    """All of it: scripts/linux --gl."""
    run_gl(linux, options, work, table, ())
    card = open_card(linux, options, work, "mesa")
    guest = None
    try:
        guest = Guest(linux, options, card, table)
        guest.check("eglinfo_names_the_driver", "eglinfo.x86_64-linux-gnu || true", has("EGL driver name: virtio_gpu"))
        for arguments in SUMS:
            wanted = on_server(options, work, arguments)
            guest.check("gl_program_" + arguments.replace(" ", "_"), "gl_program " + arguments,
                        lambda lines, wanted=wanted: None if wanted and sums(lines) == wanted else
                        f"on the server itself: {wanted}")
        lines = guest.check("kmscube_draws_to_its_end", f"kmscube --count={FRAMES}", has(f"Rendered {FRAMES - 1} frames"))
        guest.table.row("kmscube_draws_by_virgl", has('renderer: "virgl')(lines) is None, 0, lines)
        count = run_weston(guest, table)
        guest.machine.until("GUEST reads")
        guest.machine.answer("end")
        linux.serve(guest.machine, card)
        table.machine(guest.machine)
    finally:
        if guest:
            guest.machine.kill()
        card.stop()
    if options.record and options.revision and not table.failed:
        with open(options.record, "a", encoding="utf-8") as file:
            if file.tell() == 0:
                file.write("checks\tpassed\tweston_channels_rounded\tboard\trevision\n")
            file.write(f"{table.count}\t{table.count - table.failed}\t{count}\t{options.board}\t{options.revision}\n")
