#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls go one way between the folders of firmware/, as the table of docs/design.md has it, and in no circle between its files.
Beside firmware/ no more than two files call one another.

A module is a .c file with the header of its name. What a file can call or name it includes (the compiler refuses the rest), so
that no file of firmware/ includes one of a higher layer; what the objects of the build name of each other shows the circles,
and a function that a header of another module declares.
"""
import collections
import glob
import json
import os
import re
import subprocess
import sys

TABLE = "docs/design.md"
DATABASE = "build/host-test/compile_commands.json"
INSTANCE = "firmware/instance.h"
# Headers beside the .c files that may include the instance.
INSTANCE_ALLOWED = ("firmware/prepare/admit.h", "firmware/prepare/resolve.h", "firmware/queue/schedule_add.h")
# Root files of firmware/ are the layer of this name; root headers without a .c file are below all layers.
TOP = "loop"
SYMBOL = re.compile(r"^(\S+?):\s*[0-9a-f]* ([A-Z]) (\w+)$", re.M)


def read_layers():
    """@return the level of each folder, 1 the lowest"""
    with open(TABLE, encoding="utf-8") as text:
        table = re.search(r"<!-- layers -->(.*?)<!-- /layers -->", text.read(), re.S)
    return {name: int(level) for level, name in re.findall(r"^\|\s*(\d+)\s*\|\s*`?(?:firmware/)?([a-z_]+)[/`\s]*\|", table[1], re.M)}


def level(layers, path):
    folders = path.split("/")[1:-1]
    if not folders and path.endswith(".h") and (path == INSTANCE or not os.path.exists(path[:-2] + ".c")):
        return 0
    name = folders[0] if folders else TOP
    if name not in layers:
        sys.exit(f"{TABLE}:1: the table of layers has no row for {name}")
    return layers[name]


def check_includes(layers):
    for path in sorted(glob.glob("firmware/**/*.[ch]", recursive=True)):
        with open(path, encoding="utf-8") as text:
            for number, line in enumerate(text, 1):
                found = re.match(r'\s*#\s*include\s*"(firmware/[^"]+)"', line)
                if not found or path == INSTANCE:
                    continue
                if found[1] == INSTANCE and path.endswith(".h") and path not in INSTANCE_ALLOWED:
                    yield f"{path}:{number}: no header includes {INSTANCE}"
                elif level(layers, found[1]) > level(layers, path):
                    yield f"{path}:{number}: {found[1]} is of a higher layer"


def objects():
    """@return {object: its source}, of the build's libraries and commands"""
    with open(DATABASE, encoding="utf-8") as file:
        entries = json.load(file)
    found = {re.search(r" -o (\S+)", entry["command"])[1]: entry for entry in entries}
    return {os.path.join(entry["directory"], path): os.path.relpath(entry["file"]) for path, entry in found.items()
            if re.match(r"(firmware|hal|host|qemu)/", path)}


def read_uses(sources):
    """@return {module: {module that it names: symbol}}"""
    said = subprocess.run(["nm", "-A", "-g", *sources], capture_output=True, text=True, check=False)
    if said.returncode:
        sys.exit(f"{said.stderr.splitlines()[0]}: scripts/test builds it first")
    symbols = [(sources[path].removesuffix(".c"), kind, name) for path, kind, name in SYMBOL.findall(said.stdout)]
    defined = {name: module for module, kind, name in symbols if kind != "U" and name != "main"}
    uses = collections.defaultdict(dict)
    for module, kind, name in symbols:
        if kind == "U" and defined.get(name, module) != module:
            uses[module][defined[name]] = name
    return uses


def reached(uses, start):
    """@return all modules that a module calls, directly or through others"""
    found, todo = set(), [start]
    while todo:
        new = set(uses.get(todo.pop(), ())) - found
        found |= new
        todo += new
    return found


def check_uses(layers, uses):
    below = {module: reached(uses, module) for module in uses}
    for module, targets in sorted(uses.items()):
        circle = sorted(other for other in below[module] if module in below.get(other, ()))
        if len(circle) > (1 if module.startswith("firmware/") else 2):
            yield f"{module}.c:1: {len(circle)} modules call one another in a circle: {' '.join(circle)}"
        for target, name in targets.items():
            if module.startswith("firmware/") and target.startswith("firmware/") and \
                    level(layers, target + ".c") > level(layers, module + ".c"):
                yield f"{module}.c:1: {name} is of a higher layer, {target}.c"


def main():
    layers = read_layers()
    findings = [*check_includes(layers), *check_uses(layers, read_uses(objects()))]
    print("".join(f"{finding}\n" for finding in findings), end="")
    return bool(findings)


sys.exit(main())
