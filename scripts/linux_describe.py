# SPDX-License-Identifier: MIT
"""What drm_info and modetest print of two displays, and how it differs, for scripts/linux.py.

A description is a dict: the path of a fact, as "connectors/0/status", and its value as text. Numbers that the kernel gives to
objects are replaced by the objects' kinds, as they say nothing about a driver."""

import fnmatch
import json
import os
import re

# Differences that are expected: tabs between program, path (with * for any text), value on vkms, value on the card (- for
# a fact that is not there, * for any), reason.
EXPECTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../host/linux/tests/clients/differences.tsv")
ABSENT = "-"
# Types of properties whose value is the number of an object: DRM_MODE_PROP_BLOB, DRM_MODE_PROP_OBJECT.
BLOB, OBJECT = 16, 64
MODE = ("clock", "hdisplay", "hsync_start", "hsync_end", "htotal", "hskew", "vdisplay", "vsync_start", "vsync_end",
        "vtotal", "vscan", "flags", "type")


def name_of(names, number):
    """What stands for the number of an object."""
    return names.get(number, "object") if number else "none"


def flatten(value, path, names, facts):
    """Adds the facts of a part of drm_info's output."""
    if isinstance(value, dict) and set(MODE) <= set(value):
        facts[path] = mode_text(value)
    elif isinstance(value, dict):
        reference = value.get("type") in (BLOB, OBJECT) and "raw_value" in value
        for key, inner in value.items():
            if key == "id" and "spec" in value:
                continue
            if key in ("id", "fb_id", "crtc_id", "encoder_id") or (reference and key in ("value", "raw_value")):
                facts[f"{path}/{key}"] = name_of(names, inner)
            else:
                flatten(inner, f"{path}/{key}", names, facts)
    elif isinstance(value, list) and path.endswith("/modes"):
        for mode in value:
            facts[f"{path}/{mode_text(mode)}"] = "there"
    elif isinstance(value, list) and path.endswith("/encoders") and all(isinstance(one, int) for one in value):
        facts[path] = " ".join(name_of(names, one) for one in value)
    elif isinstance(value, list) and path.endswith("/formats"):
        for one in value:
            facts[f"{path}/{one.to_bytes(4, 'little').decode('ascii', 'replace')}"] = "there"
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            flatten(inner, f"{path}/{index}", names, facts)
    else:
        facts[path] = str(value)


def mode_text(mode):
    """A mode in one line."""
    return f"{mode['hdisplay']}x{mode['vdisplay']} " + " ".join(str(mode[key]) for key in MODE)


def drm_info(text, driver):
    """The description of a driver's device in what `drm_info -j` prints; empty if there is none."""
    found = [device for device in json.loads(text).values() if device["driver"]["name"] == driver]
    facts = {}
    if not found:
        return facts
    names = {one["id"]: f"{kind}/{index}" for kind in ("connectors", "encoders", "crtcs", "planes")
             for index, one in enumerate(found[0][kind])}
    names.update({plane["fb"]["id"]: "framebuffer" for plane in found[0]["planes"] if plane.get("fb")})
    for key, value in found[0].items():
        flatten(value, key, names, facts)
    return facts


def modetest(text, _):
    """The description of a device in what `modetest` prints."""
    facts, section, item, part = {}, "", -1, ""
    names = {0: "none"}
    lines = text.splitlines()
    for line in lines:
        if re.match(r"\w[\w ]*:$", line):
            section, item = line[:-1].lower(), -1
        elif re.match(r"\d+\t", line):
            item += 1
            names[int(line.split("\t")[0])] = f"{section}/{item}"
    section, item = "", -1
    for line in lines:
        row = re.match(r"(\d+)\t(.*)$", line)
        named = re.match(r"\t(\d+) ([^:]+):$", line)
        if re.match(r"\w[\w ]*:$", line):
            section, item, part = line[:-1].lower(), -1, ""
        elif row:
            item, part = item + 1, ""
            facts[f"{section}/{item}"] = modetest_row(section, row[2].split("\t"), names)
        elif re.match(r"  \w+:$", line):
            part = line.strip()[:-1]
        elif line.startswith("  #"):
            facts[f"{section}/{item}/modes/{line.split(None, 1)[1]}"] = "there"
        elif line.startswith("  formats: "):
            for name in line.split()[1:]:
                facts[f"{section}/{item}/formats/{name}"] = "there"
        elif named:
            part = "props/" + named[2]
        elif line.strip() and not line.startswith(("id\t", "\tindex ")):
            key = f"{section}/{item}/{part}"
            facts[key] = (facts.get(key, "") + " " + line.strip()).strip()
    return facts


def modetest_row(section, cells, names):
    """A line of an object, without its own number, and with the names of others."""
    numbers = {"encoders": (0,), "connectors": (0, -1), "crtcs": (0,), "planes": (0, 1)}.get(section, ())
    cells = [cell.strip() for cell in cells]
    for index in numbers:
        cells[index] = " ".join(name_of(names, int(one)) for one in re.split(r",\s*", cells[index]) if one)
    return " ".join(cell for cell in cells if cell)


PROGRAMS = {"drm_info": drm_info, "modetest": modetest}


def expected(program):
    """[path, on vkms, on the card, reason] of each difference that is expected."""
    with open(EXPECTED, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]
    return [row[1:] for row in rows if row[0] == program]


def equal(pattern, value):
    """Whether a value is what a cell of the list says."""
    return pattern == value or (pattern == "*" and value != ABSENT)


def unexpected(program, control, card):
    """What is not expected, a line each: differences that are not listed, and listed ones that are not there."""
    rows, used, said = expected(program), set(), []
    for path in sorted(set(control) | set(card)):
        there, here = control.get(path, ABSENT), card.get(path, ABSENT)
        if there == here:
            continue
        for number, row in enumerate(rows):
            if fnmatch.fnmatchcase(path, row[0]) and equal(row[1], there) and equal(row[2], here):
                used.add(number)
                break
        else:
            said.append(f"{path}: {there} on vkms, {here} on the card")
    said += [f"listed, but not so: {' '.join(row)}" for number, row in enumerate(rows) if number not in used]
    return said
