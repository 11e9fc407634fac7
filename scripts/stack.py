#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/stack.py BUILD_FOLDER [BOARD_FOLDER] [--loader]: prints the worst stack of a firmware image, or of the board's
loader, in bytes.

Reads the call graphs that gcc writes (-fcallgraph-info=su) beside each object, or beside the image for what is compiled
when the image is linked (-flto). Fails on recursion, on a frame of unknown size, on a call that it cannot follow, and if
the image reserves less stack than that. Every build of an image runs this script.
"""
import fnmatch
import functools
import glob
import os
import re
import sys

LOADER = '--loader' in sys.argv
ARGUMENTS = [argument for argument in sys.argv[1:] if argument != '--loader']
# Of a board that lies elsewhere.
BOARD = os.path.abspath(ARGUMENTS[1]) if len(ARGUMENTS) > 1 else ''
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# CPUs, by the first function of an image: the bytes that an exception pushes by itself, and the functions that handle
# interrupts, where they are not entries of a vector table.
CPUS = {
    # Exception frame and its alignment (Armv7-M Architecture Reference Manual, B1.5.6).
    'pb_cortex_m_reset': (32 + 4, []),
    # A handler's own frame holds all registers. A fault starts at the top of the stack; its frame is counted nevertheless.
    'pb_riscv_start': (0, ['pb_riscv_timer', 'pb_riscv_external']),
    # A loader whose reset is assembly and whose traps use no stack.
    'pb_start': (0, []),
}
# Frames of hand-written and of library functions, which gcc does not report: read off their code.
LIBRARY = {
    'memcpy': 24, 'memset': 24, 'memmove': 24, 'memcmp': 24, 'strlen': 24, 'strncpy': 24, 'pb_cortex_m_fault': 0,
    'pb_hal_start_image': 0, '__clzsi2': 0, '__ctzsi2': 0, '__clzdi2': 0,
    '__aeabi_ldivmod': 48, '__ashldi3': 0, '__lshrdi3': 0,
    'pb_core_run_list_64': 48, 'pb_core_run_compact_64': 44, 'pb_core_run_resolve': 60,
}

# What a pointer may point at. FILE: its static functions that are not called by name, and so are entries of a table.
# FILE:NAME: functions of that file, called by name or not. NAME: one function. * stands for any text.
LINES = ['*/uart_*.c', '*/uart_lines.c:pb_uart_lines_*', 'hal/cortex_m/local_lines.c']
ENGINE = ['hal/engine/reference*.c']
POLICY = ['firmware/queue/policy_*.c']
LOADER_OPS = ['boards/*loader*.c', 'qemu/mcu/loader_*.c', 'pb_loader_flash_lock']
# By the file of the call; the first pattern that fits.
POINTERS = [
    ('firmware/command/control.c', ['firmware/command/*.c:pb_core_*_command', 'pb_core_ping']),
    *((f'firmware/{file}.c', POLICY) for file in ('engine/complete', 'engine/preempt', 'engine/recall', 'queue/schedule')),
    ('firmware/patch/patch.c', ['firmware/patch/patch.c', *LINES]),
    ('firmware/patch/list.c', ['firmware/patch/list.c', 'pb_core_run_list_64']),
    ('firmware/patch/compact.c', ['firmware/patch/compact.c', 'pb_core_run_compact_64']),
    ('firmware/*', [*LINES, *ENGINE]),
    ('hal/engine/reference*.c', LINES),
    ('hal/cortex_m/fault.c', ['pb_firmware_fatal']),
    ('hal/riscv/fault.c', ['pb_firmware_fatal']),
    ('hal/cortex_m/local_lines.c', ['boards/*/board.c']),
    ('hal/card*/admin.c', ['boards/*/local_host.c']),
    ('hal/engine*/packets.c', ['hal/engine*/packets.c',
                               *(f'hal/engine*/{file}.c:pb_model_*' for file in ('blit', 'draw', 'pages'))]),
    # An image has no GL engine: the table is not there.
    ('hal/engine*/command.c', ['pb_model_pages_reset']),
    ('hal/engine*/defects.c', ['hal/engine*/soft.c']),
    ('loader/*', LOADER_OPS),
    ('*bearssl/src/ec/*', ['*bearssl/src/ec/ec_prime_i31.c']),
]


class Function:
    """A function of the image; its frame in bytes, None if unknown; the functions that it calls."""

    def __init__(self, name, file, frame, local=False):
        self.name, self.file, self.frame, self.local = name, file, frame, local
        self.calls, self.called_by_name = {}, False

    def __str__(self):
        return f'{self.file}:{self.name}' if self.local else self.name

    def is_entry(self):
        """Whether it can only be called through a table. Functions of other files than their own begin with pb_."""
        return not self.called_by_name and not self.name.startswith('pb_')


def fail(text):
    sys.exit(f'stack: {text}')


def plain_name(name):
    """Without what gcc appends to the name of a clone, or of a local function that several units share."""
    return re.sub(r'\.(constprop|isra|part|cold|lto_priv)\b.*', '', name)


@functools.cache
def in_tree(path):
    """The path relative to the root of the tree, which gcc may have written from any folder; a foreign path as it is.

    A board elsewhere counts as a folder of boards/.
    """
    if BOARD and os.path.normpath(path).startswith(BOARD + '/'):
        return 'boards' + os.path.normpath(path)[len(os.path.dirname(BOARD)):]
    parts = os.path.normpath(path).split('/')
    for first in range(len(parts)):
        tail = '/'.join(parts[first:])
        if not tail.startswith('/') and os.path.isfile(os.path.join(ROOT, tail)):
            return tail
    return path


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def linked_objects(map_text):
    """The objects that the image has anything of, by its map; a member of an archive as ARCHIVE(OBJECT), an object of the
    image itself from its folder CMakeFiles on: the image may be a part of a larger build.

    All that an object for -flto adds by itself is the name of the compiler.
    """
    sections = re.findall(r'^ (\.\S+)\s+0x[0-9a-f]+ +0x[1-9a-f][0-9a-f]* (\S+)$', map_text, re.M)
    objects = {path for section, path in sections if section != '.comment'}
    return objects | {os.path.basename(path) for path in objects if path.endswith(')')} | {
        path[path.find('CMakeFiles/'):] for path in objects if 'CMakeFiles/' in path}


def is_dropped(name, map_text):
    """Whether the linker has left out the function: every section of that name lies at address 0."""
    addresses = re.findall(rf'^ \.text\.(?:\S+\.)?{re.escape(name)}\s+0x([0-9a-f]+)', map_text, re.M)
    return bool(addresses) and not any(int(address, 16) for address in addresses)


def find_graphs(build, image, objects):
    """The call graphs of what is in the image. Others are of other images, or remains of an earlier build."""
    for path in sorted(glob.glob(f'{glob.escape(build)}/**/*.ci', recursive=True)):
        graph = read(path)
        of_target = re.search(r'CMakeFiles/([^/]+)\.dir/', path)
        if not of_target:
            title = re.match(r'graph: \{ title: "([^"]*)\.o"', graph)
            candidate = title and f'{title[1]}.ltrans.o'
        elif of_target[1] == image:
            candidate = path[path.find('CMakeFiles/'):-len('.ci')] + '.obj'
        else:
            candidate = f'lib{of_target[1]}.a({os.path.basename(path)[:-len(".ci")]}.obj)'
        if candidate in objects:
            yield graph


NODE = re.compile(r'^node: \{ title: "([^"]+)" label: "([^"\\]*)\\n([^"\\]*):\d+:\d+\\n(\d+) bytes \((\w+)', re.M)
EDGE = re.compile(r'^edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"(?: label: "([^"]*):\d+:\d+")?', re.M)


class Program:
    """The functions of an image, by their names in the call graphs: (graph, title) of a local function, else title."""

    def __init__(self, graphs):
        self.functions, self.indirect = {}, []
        graphs = list(enumerate(graphs))
        for number, graph in graphs:
            for title, name, path, frame, kind in NODE.findall(graph):
                self.add((number, title), name, in_tree(path), int(frame), kind)
        for number, graph in graphs:
            for source, target, path in EDGE.findall(graph):
                caller = self.functions[self.key(number, source)]
                if target == '__indirect_call':
                    self.indirect.append((caller, in_tree(path)))
                else:
                    callee = self.at(self.key(number, target))
                    callee.called_by_name = True
                    caller.calls[callee] = None

    @staticmethod
    def key(number, title):
        return (number, title) if ':' in title else title

    def add(self, where, name, file, frame, kind):
        function = Function(plain_name(name), file, frame, local=':' in where[1])
        if kind != 'static':
            fail(f'{function} has a frame of no fixed size')
        if self.functions.setdefault(self.key(*where), function) is not function:
            fail(f'{function} is in two call graphs: build anew, from an empty folder')

    def at(self, key):
        """The function of that key; one that no graph describes is of a library, or an alias of one that was the same."""
        if key not in self.functions:
            title = key[1] if isinstance(key, tuple) else key
            function = Function(plain_name(title.rpartition(':')[2]), '', LIBRARY.get(title))
            twins = [twin for twin in self.functions.values() if twin.name == function.name]
            if twins:
                function.frame, function.calls = 0, dict.fromkeys(twins)
            self.functions[key] = function
        return self.functions[key]

    def named(self, name):
        """All functions of that name: clones too. A name that no graph has is that of a library function."""
        return [function for function in self.functions.values() if function.name == name] or [self.at(name)]

    def pointed(self, pattern):
        """What a pointer may point at, by a pattern of POINTERS."""
        if '.c' not in pattern:
            return self.named(pattern)
        file, _, name = pattern.partition(':')
        return [function for function in self.functions.values() if fnmatch.fnmatch(function.file, file) and
                (fnmatch.fnmatch(function.name, name) if name else function.is_entry())]

    def follow_pointers(self):
        """Adds the calls through pointers; returns what they may call."""
        found = set()
        for caller, file in self.indirect:
            patterns = next((patterns for call, patterns in POINTERS if fnmatch.fnmatch(file, call)), [file])
            targets = [target for pattern in patterns for target in self.pointed(pattern)]
            if not targets:
                fail(f'cannot tell what {caller} calls in {file}: it belongs into POINTERS')
            caller.calls.update(dict.fromkeys(targets))
            found.update(targets)
        return found


class Depths:
    """The worst stack below each function, with the calls that lead there."""

    def __init__(self):
        self.known, self.active = {}, set()

    def of(self, function):
        """(bytes, functions from this one on)"""
        if function not in self.known:
            if function in self.active:
                fail(f'recursion through {function}')
            if function.frame is None:
                fail(f'the frame of {function} is unknown')
            self.active.add(function)
            deepest, way = max((self.of(target) for target in function.calls), key=lambda depth: depth[0], default=(0, []))
            self.active.remove(function)
            self.known[function] = function.frame + deepest, [function, *way]
        return self.known[function]

    def worst(self, functions):
        return max((self.of(function) for function in functions), key=lambda depth: depth[0], default=(0, ['none']))


def reserved_stack(map_path, map_text):
    """What the image reserves, by its map."""
    ends = []
    for symbol in ('pb_stack_bottom', 'pb_stack_top'):
        address = re.search(rf'^\s+0x([0-9a-f]+)\s+{symbol} = ', map_text, re.M)
        ends.append(int(address[1], 16) if address else fail(f'{map_path} does not say where {symbol} is'))
    return ends[1] - ends[0]


def main():
    if len(ARGUMENTS) not in (1, 2):
        sys.exit('usage: scripts/stack.py BUILD_FOLDER [BOARD_FOLDER] [--loader]')
    build = ARGUMENTS[0]
    maps = [path for path in glob.glob(f'{glob.escape(build)}/patchbay-{"loader-" if LOADER else ""}*.elf.map')
            if LOADER or not re.search('patchbay-(bench|echo|loader|twins)-', path)]
    if not maps:
        fail(f'no image in {build}: build it first')
    map_text = read(maps[0])
    image = os.path.basename(maps[0])[:-len('.map')]
    program = Program(find_graphs(build, image, linked_objects(map_text)))
    if not program.functions:
        fail(f'no call graphs in {build}: build the image first')

    pointed = program.follow_pointers()
    start = next((function for name in CPUS for function in program.functions.values() if function.name == name), None)
    if start is None:
        fail('an image of a CPU that is not known')
    pushes, handlers = CPUS[start.name]
    # A board's vector table names them: nothing calls them by name.
    handlers = [*(function for name in handlers for function in program.named(name)),
                *(function for function in program.functions.values()
                  if re.match('boards/[^/]*/loader/' if LOADER else 'boards/', function.file) and not function.called_by_name
                  and not is_dropped(function.name, map_text))]
    if not handlers and not LOADER:
        fail('no function handles interrupts')
    faults = program.pointed('hal/*/fault.c:*fault')
    reached = {start, *pointed, *handlers, *faults}
    for function in program.functions.values():
        # BearSSL has tables of functions that a loader has no use for.
        if not function.called_by_name and function not in reached and not is_dropped(function.name, map_text) and \
                'bearssl/' not in function.file:
            fail(f'cannot tell what calls {function} of {function.file}: it belongs into POINTERS')

    depths = Depths()
    thread, way = depths.of(start)
    handler, handler_way = depths.worst(handlers)
    fault, _ = depths.worst(faults)
    print(f'stack: thread {thread} ({" > ".join(function.name for function in way)}), '
          f'handler {handler} ({handler_way[0]}), fault {fault}', file=sys.stderr)
    total = thread + pushes + handler + pushes + fault
    reserved = reserved_stack(maps[0], map_text)
    if total > reserved:
        fail(f'{image} may need {total} bytes and reserves {reserved}: a larger PB_STACK_BYTES in its memory.ld')
    print(total)


main()
