#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which file calls which: the compiler's call graph, held against the layers of docs/design.md.

layers.py          prints "file:line: what is wrong" for each breach; exit status 1 if there is one
layers.py figures  prints files and lines for each folder of firmware/, and what else a reader may want to know

A module is a .c file with the header of its name. A function whose address is stored or passed counts as called
by the file that names it. An inline function belongs to its header.
"""
import collections
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile

TABLE = "docs/design.md"
INSTANCE = "firmware/instance.h"
# Headers beside the .c files that may include the instance.
INSTANCE_ALLOWED = ("firmware/prepare/admit.h", "firmware/prepare/resolve.h", "firmware/queue/schedule_add.h")
# Root files of firmware/ are the layer of this name; root headers without a .c file are below all layers.
TOP = "loop"
# Only the compiler of their CPU translates these; a list of the boards' machines, which the build makes; what needs a
# library that not every machine has; and what the kernel's build translates.
FOREIGN = re.compile(r"hal/(cortex_m|riscv)/|hal/start\.c|qemu/mcu/|qemu/machines\.c|qemu/gl/renderer\.c|"
                     r"host/wddm/windows/|host/linux/|host/examples/")
# No attribute hides a call.
FLAGS = ["-O0", "-w", "-I.", "-Iinclude", '-DPB_VERSION="0"', "-Dalways_inline=unused", "-ffunction-sections",
         "-fdata-sections", "-fcallgraph-info=su", "-c"]
FREESTANDING = ["-std=c11", "-ffreestanding"]

NODE = re.compile(r'node: \{ title: "([^"]+)" label: "[^"\\]+\\n([^"\\]+):(\d+):\d+')
EDGE = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"(?: label: "([^"]+):(\d+):\d+")?')
SYMBOL = re.compile(r"^[0-9a-f]+ (.{7}) (\S+)\s+[0-9a-f]+ (?:\.hidden )?(\S+)$")
CALL_RELOCATION = re.compile(r"PLT|CALL|JUMP")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')

Use = collections.namedtuple("Use", "file line source target verb")


def tidy(path):
    return os.path.normpath(path)


def sources(folder, ending):
    return sorted(glob.glob(f"{folder}/**/*{ending}", recursive=True))


def module(path):
    """A .c file and its header are one; the instance is data that all layers share, and no part of instance.c."""
    return path if path == INSTANCE else os.path.splitext(path)[0]


def common_ground(path):
    return os.path.dirname(path) == "firmware" and path.endswith(".h") and (
        path == INSTANCE or not os.path.exists(path[:-2] + ".c"))


class Graph:
    """The calls and references of a set of translated files."""

    def __init__(self, files, flags):
        self.findings = []
        self.functions = {}  # extern name -> the file that defines it
        self.objects = {}    # the same of data
        self.calls = []      # (file, line, name of the caller, file of the caller, target)
        self.called = set()  # (translated file, name of the caller, name of the target)
        with tempfile.TemporaryDirectory() as folder:
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                results = list(pool.map(lambda job: self.translate(folder, flags, *job), enumerate(files)))
            good = [result for result in results if result]
            self.units = [self.read_calls(name, path) for name, path in good]
            self.read_references(folder, [(name, path) for name, path in good])

    def translate(self, folder, flags, number, path):
        name = f"{folder}/{number}"
        done = subprocess.run(["gcc", *flags, *FLAGS, path, "-o", name + ".o"], capture_output=True, text=True)
        if done.returncode == 0:
            return name, path
        error = re.search(r"^(\S+:\d+):\d+: (?:fatal )?error: (.*)$", done.stderr, re.M)
        self.findings.append(f"{tidy(error[1])}: {error[2]}" if error else f"{path}:1: gcc does not translate it")
        return None

    def read_calls(self, name, path):
        """@return the file of each function of the unit, by its name"""
        defined = {}
        edges = []
        with open(name + ".ci", encoding="utf-8") as graph:
            for line in graph:
                found = NODE.match(line)
                if found and "shape : ellipse" not in line:
                    defined[found[1]] = tidy(found[2])
                    if ":" not in found[1]:
                        self.functions[found[1]] = tidy(found[2])
                found = EDGE.match(line)
                if found:
                    edges.append(found)
        for edge in edges:
            self.called.add((path, edge[1].split(":")[-1], edge[2].split(":")[-1]))
            self.calls.append((tidy(edge[3] or path), int(edge[4] or 1), edge[1].split(":")[-1],
                               defined.get(edge[1], path), defined.get(edge[2], edge[2])))
        return {title.split(":")[-1]: place for title, place in defined.items()}

    def read_references(self, folder, units):
        if not units:
            self.uses = []
            return
        text = subprocess.run(["objdump", "-rt", *[name + ".o" for name, _ in units]],
                              capture_output=True, text=True, check=True).stdout
        unit = -1
        section = ""
        references = []
        for line in text.splitlines():
            if ".o:     file format" in line:
                unit += 1
                continue
            found = SYMBOL.match(line)
            if found and found[1][0] == "g" and found[1][-1] == "O":
                self.objects[found[3]] = units[unit][1]
            found = re.match(r"RELOCATION RECORDS FOR \[(.*)\]", line)
            if found:
                section = found[1]
                continue
            words = line.split()
            if len(words) == 3 and words[1].startswith("R_") and not CALL_RELOCATION.search(words[1]) and \
                    re.match(r"\.(text|data|rodata)", section):
                references.append((unit, section, re.sub(r"[+-]0x[0-9a-f]+$", "", words[2])))
        self.uses = [self.use_of_call(call) for call in self.calls]
        for unit, section, name in references:
            self.add_reference(units[unit][1], self.units[unit], section, name)
        self.uses = [use for use in self.uses if use]

    def use_of_call(self, call):
        file, line, source, source_file, target = call
        where = target if target in self.known_files() else self.functions.get(target)
        return Use(file, line, source_file, where, f"{source}() calls into") if where else None

    def known_files(self):
        if not hasattr(self, "files"):
            self.files = {place for unit in self.units for place in unit.values()}
        return self.files

    def add_reference(self, path, unit, section, name):
        if name.startswith(".text."):
            name = name[len(".text."):]
            target = unit.get(name)
        else:
            target = self.functions.get(name) or self.objects.get(name)
        source = unit.get(section[len(".text."):], path) if section.startswith(".text.") else path
        if target and target != source and (path, section[len(".text."):], name) not in self.called:
            self.uses.append(Use(source, line_of(source, name), source, target, f"names {name} of"))


def line_of(path, name):
    """Where a file names a function without calling it."""
    with open(path, encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            if re.search(rf"\b{re.escape(name)}\b(?!\()", line) and not line.lstrip().startswith(("*", "/*")):
                return number
    return 1


def read_layers():
    """@return the level of each folder, 1 the lowest"""
    if not os.path.exists(TABLE):
        return {}
    with open(TABLE, encoding="utf-8") as text:
        table = re.search(r"<!-- layers -->(.*?)<!-- /layers -->", text.read(), re.S)
    rows = re.findall(r"^\|\s*(\d+)\s*\|\s*`?(?:firmware/)?([a-z_]+)[/`\s]*\|", table[1] if table else "", re.M)
    return {name: int(level) for level, name in rows}


def layer(path):
    folder = os.path.dirname(path)
    return TOP if folder == "firmware" else folder.split("/")[1]


def level(layers, path):
    return 0 if common_ground(path) else layers[layer(path)]


def circles(uses):
    """@return sets of modules that reach one another (Tarjan), largest first"""
    below = collections.defaultdict(set)
    for use in uses:
        if module(use.source) != module(use.target):
            below[module(use.source)].add(module(use.target))
    number, low, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in sorted(below.get(node, ())):
            if other not in number:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], number[other])
        if low[node] == number[node]:
            at = stack.index(node)
            found.append(set(stack[at:]))
            del stack[at:]

    for node in sorted(below):
        if node not in number:
            visit(node)
    return sorted((circle for circle in found if len(circle) > 1), key=len, reverse=True)


def report_circles(uses, most):
    findings = []
    for circle in circles(uses):
        if len(circle) > most:
            use = min(use for use in uses if {module(use.source), module(use.target)} <= circle and
                      module(use.source) != module(use.target))
            findings.append(f"{use.file}:{use.line}: {len(circle)} modules call one another in a circle: "
                            f"{' '.join(sorted(circle))}")
    return findings


def check_calls(layers, uses):
    findings = []
    for use in uses:
        if not (use.source.startswith("firmware/") and use.target.startswith("firmware/")):
            continue
        if level(layers, use.source) < level(layers, use.target):
            findings.append(f"{use.file}:{use.line}: {use.verb} {use.target}, a higher layer")
    return findings


def check_includes(layers):
    findings = []
    for path in sources("firmware", ".h"):
        with open(path, encoding="utf-8") as text:
            for number, line in enumerate(text, 1):
                found = INCLUDE.match(line)
                if not found or not found[1].startswith("firmware/") or path == INSTANCE:
                    continue
                if found[1] == INSTANCE:
                    if path not in INSTANCE_ALLOWED:
                        findings.append(f"{path}:{number}: no header includes {INSTANCE}")
                elif level(layers, found[1]) > level(layers, path):
                    findings.append(f"{path}:{number}: {found[1]} is of a higher layer")
    return findings


def check_table(layers):
    folders = {layer(path) for path in sources("firmware", ".[ch]") if not common_ground(path)}
    return [f"{TABLE}:1: the table of layers has no row for {name}" for name in sorted(folders - set(layers))]


def firmware_graph():
    return Graph(sources("firmware", ".c"), FREESTANDING)


def others_graph(folder):
    return Graph([path for path in sources(folder, ".c") if not FOREIGN.match(path)], ["-std=gnu11"])


def check():
    layers = read_layers()
    findings = check_table(layers)
    if not findings:
        graph = firmware_graph()
        findings = graph.findings + check_calls(layers, graph.uses) + check_includes(layers)
        findings += report_circles(graph.uses, 1)
    for folder in ("hal", "host", "qemu"):
        graph = others_graph(folder)
        findings += graph.findings + report_circles(graph.uses, 2)
    for finding in sorted(set(findings)):
        print(finding)
    return 1 if findings else 0


def lines_of(path):
    with open(path, encoding="utf-8") as text:
        return sum(1 for _ in text)


def figures():
    files = sources("firmware", ".[ch]")
    by_folder = collections.defaultdict(list)
    for path in files:
        by_folder[os.path.dirname(path)].append(lines_of(path))
    for folder, lines in sorted(by_folder.items()):
        print(f"{folder}: {len(lines)} files, {sum(lines)} lines, largest {max(lines)}")
    print(f"firmware: {len(files)} files, {sum(map(sum, by_folder.values()))} lines")
    headers = sorted(((lines_of(path), path) for path in files if path.endswith(".h")), reverse=True)
    print("largest headers: " + ", ".join(f"{path} {lines}" for lines, path in headers[:3]))
    uses = firmware_graph().uses
    print(f"uses between modules: {len({(module(u.source), module(u.target)) for u in uses if module(u.source) != module(u.target)})}")
    print(f"call circles: {[sorted(circle) for circle in circles(uses)]}")
    for folder in ("hal", "host", "qemu"):
        print(f"call circles of {folder}: {[sorted(circle) for circle in circles(others_graph(folder).uses)]}")


if __name__ == "__main__":
    if sys.argv[1:] == ["figures"]:
        figures()
    else:
        sys.exit(check())
