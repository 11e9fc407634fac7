#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the recordings of this folder, and what is expected of them.

make.py convert DUMP OUT [RUNS]  what a client sent to a vtest server, from a file that holds it as it came: OUT gets
                                 the creations and ends of resources and the runs of commands, without padding
make.py expect FILE...           prints a row for each recording: runs, commands, words that name resources, a sum over
                                 these (which words those are is taken from positions.tsv alone), and how many resources
                                 the commands of each run reach through state, with a sum over these

A recording is a list of records of little-endian words: type, count, and `count` words. Type 1: a resource begins (its
number); 2: it ends; 3: a run of commands.
"""
import collections
import os
import struct
import sys

CREATE, UNREF, SUBMIT, RENDERER, CREATE2 = 2, 3, 6, 8, 12
PADDING = (0, 44)
LISTS = (6, 34, 35, 40)  # as many resources as the command has elements


def messages(data):
    at = 0
    while at + 8 <= len(data):
        count, number = struct.unpack_from("<II", data, at)
        size = count if number == RENDERER else 4 * count
        yield number, data[at + 8:at + 8 + size]
        at += 8 + size


def commands(words):
    at = 0
    while at < len(words):
        yield words[at:at + 1 + (words[at] >> 16)]
        at += 1 + (words[at] >> 16)


def record(kind, words):
    return struct.pack(f"<II{len(words)}I", kind, len(words), *words)


def convert(dump, out, most):
    result = bytearray()
    with open(dump, "rb") as file:
        data = file.read()
    for number, body in messages(data):
        words = struct.unpack(f"<{len(body) // 4}I", body[:len(body) // 4 * 4])
        if number in (CREATE, CREATE2):
            result += record(1, words[:1])
        elif number == UNREF:
            result += record(2, words[:1])
        elif number == SUBMIT:
            most -= 1
            if most < 0:
                break
            kept = [word for command in commands(words) if command[0] & 0xff not in PADDING for word in command]
            if kept:
                result += record(3, kept)
    with open(out, "wb") as file:
        file.write(result)


def positions():
    found = collections.defaultdict(set)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "positions.tsv"), encoding="utf-8") as table:
        for line in list(table)[1:]:
            number, kind, _, word, named = map(int, line.split())
            if named:
                found[number, kind].add(word)
    return found


def named(found, command):
    """@return indices of the words that name resources, in their order"""
    number = command[0] & 0xff
    words = sorted(found[number, command[0] >> 8 & 0xff if number == 1 else 0])
    if number in LISTS:
        words = range(words[0], len(command), words[1] - words[0])
    return [word for word in words if word < len(command) and command[word] != 0]


class Context:
    """What is bound, as names of slots; written from docs/gl_commands.md, not from hal/gl."""

    def __init__(self):
        self.sub = 0
        self.state = {0: ({}, {})}  # by sub-context: objects, slots

    def follow(self, words):
        """@return resources that the command reaches"""
        number, kind, rest = words[0] & 0xff, words[0] >> 8 & 0xff, words[1:]
        objects, slots = self.state[self.sub]
        if number == 1:
            objects[rest[0]] = rest[3] if kind == 9 else rest[1] if kind in (6, 8, 10, 11) else 0
        elif number == 3:
            objects.pop(rest[0], None)
        elif number in (28, 29) and rest[0] not in self.state:
            self.state[rest[0]] = ({}, {})
            self.sub = rest[0]
        elif number == 28:
            self.sub = rest[0]
        elif number == 30 and rest[0] != 0:
            self.state.pop(rest[0], None)
            self.sub = 0 if self.sub == rest[0] else self.sub
        elif number == 21:
            return {objects[rest[0]]}
        elif number == 7:
            return {slots.get(("color", n), 0) for n in range(8) if rest[0] >> 2 + n & 1} | \
                ({slots.get(("depth",), 0)} if rest[0] & 3 else set())
        elif number in (8, 37):
            stages = {5} if number == 37 else {0, 1, 2, 3, 4}
            return {resource for slot, resource in slots.items() if
                    (slot[1] in stages if slot[0] == "stage" else slot[0] == "atomic" or number == 8) and
                    (slot[0] != "index" or rest[3])} | ({objects.get(rest[11], 0)} if number == 8 else set())
        else:
            self.bind(number, rest, objects, slots)
        return set()

    @staticmethod
    def bind(number, rest, objects, slots):
        def replace(name, resources, first=0, all_behind=True):
            for slot in [slot for slot in slots if slot[:-1] == name and slot[-1] >= first]:
                if all_behind or slot[-1] < first + len(resources):
                    del slots[slot]
            slots.update({name + (first + n,): resource for n, resource in enumerate(resources)})
        if number == 5:
            slots["depth",] = objects.get(rest[1], 0)
            replace(("color",), [objects.get(handle, 0) for handle in rest[2:]])
        elif number == 6:
            replace(("vertex",), rest[2::3])
        elif number == 10:
            replace(("stage", rest[0], "view"), [objects.get(handle, 0) for handle in rest[2:]], rest[1])
        elif number == 11:
            slots["index",] = rest[0]
        elif number == 25:
            replace(("streamout",), [objects.get(handle, 0) for handle in rest[1:]])
        elif number == 27:
            replace(("stage", rest[0], "uniform"), [rest[4]], rest[1], False)
        elif number == 34:
            replace(("stage", rest[0], "buffer"), rest[4::3], rest[1], False)
        elif number == 35:
            replace(("stage", rest[0], "image"), rest[6::5], rest[1], False)
        elif number == 40:
            replace(("atomic",), rest[3::3], rest[0], False)


def expect(path, found):
    with open(path, "rb") as file:
        data = file.read()
    at = runs = count = uses = total = reached = reached_total = 0
    context = Context()
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        words = struct.unpack_from(f"<{length}I", data, at + 8)
        at += 8 + 4 * length
        if kind != 3:
            continue
        runs += 1
        place = 0
        reach = set()
        for command in commands(words):
            count += 1
            for word in named(found, command):
                uses += 1
                total = (total * 31 + (place + word) * 7 + command[word]) & 0xffffffff
            place += len(command)
            reach |= context.follow(command)
        reach.discard(0)
        reached += len(reach)
        reached_total += sum(reach) * runs
    name = os.path.basename(path)
    print(f'\t{{"{name}", {runs}, {count}, {uses}, 0x{total:08x}, {reached}, {reached_total}}},')


if __name__ == "__main__":
    if sys.argv[1:2] == ["convert"] and len(sys.argv) in (4, 5):
        convert(sys.argv[2], sys.argv[3], int(sys.argv[4]) if len(sys.argv) == 5 else sys.maxsize)
    elif sys.argv[1:2] == ["expect"]:
        for name in sys.argv[2:]:
            expect(name, positions())
    else:
        sys.exit(__doc__)
