# SPDX-License-Identifier: MIT
"""Shared by the end-to-end tests in Python. A wait has one patience: long enough for any step on a busy machine, so that only
a hang takes so long."""

import subprocess
import time

PATIENCE = 600


def until(found, what, pause=0.02):
    """Waits until found() is true, and returns its result. @param what text, or a function that returns it"""
    end = time.monotonic() + PATIENCE
    while not (result := found()):
        assert time.monotonic() < end, what() if callable(what) else what
        time.sleep(pause)
    return result


def mcu_of(card):
    """The process that emulates the MCU of a card, which is a process with or without a board's loader."""
    with open(f"/proc/{card.pid}/task/{card.pid}/children", encoding="ascii") as file:
        return int(file.read().split()[0])


def run(*arguments):
    """Runs a command. @return its exit status, and all that it has printed"""
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout


def must(*arguments):
    status, text = run(*arguments)
    assert status == 0, (arguments, text)
    return text
