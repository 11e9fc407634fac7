#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which file writes which field: the state of firmware/ has one writer for each field.

owners.py          prints "file:line: what is wrong" for each write that its owner does not do; exit status 1 if there is one
owners.py figures  prints the writers of each field that has more than one

A struct pb_core_... belongs to the module whose header declares it: the header and the .c file of its name. In the structs of
COMMENTED each field has its owner in a comment: in the field's own, or in a plain comment in front of a group of fields.
A value that a function keeps in a local variable is its own.
"""
import bisect
import collections
import glob
import os
import re
import sys

# Structs whose fields have owners of their own.
COMMENTED = {"pb_core_queue", "pb_core_node", "pb_core_channel", "pb_firmware"}
# A field whose comment names no file is set once, when the firmware starts.
BOOT = ("firmware/boot", "firmware/instance")
# Objects that are handed along a path: where they are written.
HANDED = {
    "pb_core_submission": ("firmware/prepare/", "firmware/engine/", "firmware/queue/in_flight"),
    "pb_core_submission.patches": ("firmware/prepare/admit", "firmware/patch/patch"),
    "pb_core_lists": ("firmware/prepare/",),
    "pb_core_job": ("firmware/prepare/", "firmware/patch/"),
    "pb_core_slot": ("firmware/prepare/resolve", "firmware/patch/slow"),
    "pb_core_cursor": ("firmware/patch/",),
    "pb_core_entry": ("firmware/patch/",),
    "pb_core_request": ("firmware/command/",),
    "pb_core_queue_plan": ("firmware/command/",),
    # What is asked for, before it is entered in the table of stop requests.
    "pb_core_stop.queue": ("firmware/command/stop", "firmware/command/stopping"),
    "pb_core_stop.tag": ("firmware/command/stop", "firmware/command/stopping"),
    "pb_core_outcome": ("firmware/channel/", "firmware/command/"),
    # command/rings.h opens them for a host.
    "pb_core_kicks": ("firmware/command/rings", "firmware/command/doorbell"),
    "pb_core_commands": ("firmware/command/rings", "firmware/command/control"),
    # Of a level of the fair policy: what it repays has a file of its own.
    "pb_core_fair_level.repay_us": ("firmware/queue/repay",),
    "pb_core_fair.repays": ("firmware/queue/repay",),
    "pb_core_fair_level.deficit": ("firmware/queue/policy_fair", "firmware/queue/policy_fair_tick"),
    "pb_core_fair_level.charged": ("firmware/queue/policy_fair", "firmware/queue/policy_fair_tick"),
    # A queue that is created is written as a whole.
    "pb_core_queue.*": ("firmware/queue/table",),
}

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'')
MACRO = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.M)
STRUCT = re.compile(r"^struct (\w+) \{\n(.*?)^\}", re.M | re.S)
FUNCTION = re.compile(r"^(?!struct \w+ \{)(?P<type>[a-z][\w \t\n*]*?[ *])(?P<name>\w+)\((?P<arguments>[^;{}]*?)\)\s*(?P<end>[;{])",
                      re.M)
VARIABLE = re.compile(r"(?P<const>\bconst\s+)?\b(?:struct\s+(?P<struct>\w+)|(?P<scalar>\w+_t|int|unsigned|bool|char|void|enum \w+))"
                      r"\s*(?P<stars>\*(?:\s*(?:const|restrict)?\s*\**)*)?\s*\b(?P<name>[a-z_]\w*)\s*(?P<array>\[[^\]]*\]\s*)*(?=[=;,)]|$)")
OWNER = re.compile(r"\b((?:(?:queue|channel|engine|prepare|patch|memory|command|observe)/)?[a-z_]+)\.[ch]\b")
TOKEN = re.compile(r"[A-Za-z_]\w*|->|\+\+|--|<<=|>>=|[-+*/%&|^]=|==|!=|<=|>=|&&|\|\||<<|>>|\d\w*|[^\s\w]")
ASSIGN = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
FILLS = {"memset", "memcpy", "memmove"}

Field = collections.namedtuple("Field", "struct pointer")
Variable = collections.namedtuple("Variable", "struct pointer constant")
Write = collections.namedtuple("Write", "file line struct field")


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def module(path):
    return os.path.splitext(path)[0]


def variable(match):
    return Variable(match["struct"], (match["stars"] or "").count("*"), bool(match["const"]))


class Source:
    """A file without comments, strings and macros; their lines stay where they are."""

    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8") as text:
            self.raw = text.read()
        text = STRING.sub(blank, COMMENT.sub(blank, self.raw))
        self.macros = list(MACRO.finditer(text))
        self.text = MACRO.sub(blank, text)
        self.starts = [0] + [found.end() for found in re.finditer("\n", self.text)]

    def line(self, position):
        return bisect.bisect_right(self.starts, position)


class Tree:
    """The structs and functions of all headers and files."""

    def __init__(self):
        names = [path for folder in ("firmware", "hal", "include") for path in
                 sorted(glob.glob(f"{folder}/**/*.[ch]", recursive=True))]
        self.sources = [Source(path) for path in names]
        self.fields = {}      # struct -> field -> Field
        self.owners = {}      # struct, or "struct.field" -> where it may be written
        self.functions = {}   # name -> (what it returns, its parameters)
        self.findings = []
        for source in self.sources:
            self.read_structs(source)
            for found in FUNCTION.finditer(source.text):
                self.functions[found["name"]] = (VARIABLE.match(found["type"].replace("static inline", "").replace(
                    "static", "").strip() + " x"), [VARIABLE.search(part) for part in found["arguments"].split(",")])
        self.owned = {name for name in self.fields if name + "." in self.owners}

    def read_structs(self, source):
        for found in STRUCT.finditer(source.text):
            name = found[1]
            self.fields[name] = fields = {}
            for field in re.finditer(r"[^;]+;", found[2]):
                for part in VARIABLE.finditer(field[0].rstrip(";")):
                    fields[part["name"]] = Field(part["struct"], (part["stars"] or "").count("*"))
            if source.path.startswith("firmware/") and (name.startswith("pb_core_") or name in COMMENTED):
                self.owners[name + "."] = HANDED.get(name, (module(source.path),))
                if name in COMMENTED:
                    self.read_owners(source, name, found.start(2), found.end(2))

    def read_owners(self, source, name, start, end):
        group = ()
        # The comment behind a field begins with /**<; one in front of a group is a plain one.
        for found in re.finditer(r"/\*(?!\*)(.*?)\*/|([^;{}/]*;)(\s*/\*\*<.*?\*/)?", source.raw[start:end], re.S):
            if found[1] is not None:
                group = self.named(found[1])
                continue
            field = VARIABLE.search(found[2].rstrip(";"))
            if not field:
                continue
            owner = self.named(found[3] or "") or group
            target = self.fields[name][field["name"]].struct
            if not owner and not self.fields[name][field["name"]].pointer and target:
                owner = self.owners.get(target + ".", ())
            self.owners[f"{name}.{field['name']}"] = owner or BOOT

    def named(self, comment):
        return tuple("firmware/" + path for path in OWNER.findall(comment))

    def allowed(self, struct, field):
        name = f"{struct}.{field}"
        return HANDED.get(name) or self.owners.get(name) or self.owners[struct + "."]


class Body:
    """One function."""

    def __init__(self, tree, source, found):
        self.tree = tree
        self.source = source
        self.start = found.end()
        end = source.text.find("\n}", self.start)
        text = source.text[self.start:end]
        self.tokens = [(token[0], token.start()) for token in TOKEN.finditer(text)]
        self.words = [token for token, _ in self.tokens]
        self.variables = {}
        for part in [*VARIABLE.finditer(found["arguments"]), *VARIABLE.finditer(text)]:
            self.variables[part["name"]] = variable(part)
        self.writes = []

    def opening(self, at):
        """@return where the bracket that closes at `at` opens"""
        depth = 0
        while at >= 0:
            depth += (self.words[at] in ")]") - (self.words[at] in "([")
            if depth == 0:
                return at
            at -= 1
        return 0

    def ends_condition(self, at):
        """Whether the token is the end of the brackets behind an if."""
        return self.words[at] == ")" and self.words[self.opening(at) - 1] in ("if", "while", "for", "switch")

    def closing(self, at):
        depth = 0
        while at < len(self.words):
            depth += (self.words[at] in "([") - (self.words[at] in ")]")
            if depth == 0:
                return at
            at += 1
        return len(self.words) - 1

    def begin_of(self, end):
        """@return where the postfix expression begins whose last token is at `end`"""
        at = end
        while at >= 0:
            if self.words[at] in (")", "]"):
                at = self.opening(at)
                word = self.words[at - 1] if at else ""
                if self.ends_condition(at - 1):
                    return at
                if word in (")", "]") or re.match(r"[a-z_]\w*$", word) and word not in ("return", "if", "while", "for", "switch"):
                    at -= 1
                    continue
            if at >= 2 and self.words[at - 1] in ("->", "."):
                at -= 2
                continue
            return at
        return 0

    def end_of(self, at):
        """@return the last token of the postfix expression that begins at `at`"""
        if self.words[at] == "(":
            at = self.closing(at)
        while at + 1 < len(self.words):
            if self.words[at + 1] in ("(", "["):
                at = self.closing(at + 1)
            elif self.words[at + 1] in ("->", "."):
                at += 2
            else:
                break
        return at

    def resolve(self, begin, end):
        """@return (type, struct and field that hold it or None, whether it lies in a local variable), or None: unknown"""
        at = begin
        holder = None
        local = False
        if self.words[at] == "(":
            close = self.closing(at)
            first = at + 1
            stars = 0
            while self.words[first] in "*&":
                stars += -1 if self.words[first] == "*" else 1
                first += 1
            inner = self.resolve(first, close - 1) if first < close else None
            if not inner:
                return None
            kind = inner[0]._replace(pointer=inner[0].pointer + stars)
            holder, local = inner[1], inner[2] and stars >= 0
            at = close
        elif at + 1 <= end and self.words[at + 1] == "(":
            found = self.tree.functions.get(self.words[at])
            if not found or not found[0]:
                return None
            kind = variable(found[0])
            at = self.closing(at + 1)
        else:
            kind = self.variables.get(self.words[at]) or self.tree_global(self.words[at])
            if not kind:
                return None
            local = kind.pointer == 0 and self.words[at] in self.variables
        while at < end:
            at += 1
            if self.words[at] == "[":
                at = self.closing(at)
                if holder is None or kind.pointer > 0:
                    kind = kind._replace(pointer=max(kind.pointer - 1, 0))
                continue
            if self.words[at] not in ("->", "."):
                return None
            local = local and self.words[at] == "."
            name = self.words[at + 1]
            field = self.tree.fields.get(kind.struct, {}).get(name)
            if not field:
                return None
            holder = (kind.struct, name)
            kind = Variable(field.struct, field.pointer, False)
            at += 1
        return kind, holder, local

    def tree_global(self, name):
        found = re.search(rf"^static [^;(]*\b{name}\b[^;(]*[;=]", self.source.text, re.M)
        part = VARIABLE.search(found[0]) if found else None
        return variable(part) if part else None

    def note(self, begin, end, dereferenced=False):
        """The expression is written."""
        result = self.resolve(begin, end)
        position = self.source.line(self.start + self.tokens[begin][1])
        if not result:
            if {"->", "."} & set(self.words[begin:end + 1]):
                self.tree.findings.append(f"{self.source.path}:{position}: whose is "
                                          f"{''.join(self.words[begin:end + 1])}?")
            return
        kind, holder, local = result
        if local:
            return
        if holder and not dereferenced:
            self.writes.append(Write(self.source.path, position, *holder))
        if kind.struct and (kind.pointer == 1 if dereferenced else kind.pointer == 0):
            self.writes.append(Write(self.source.path, position, kind.struct, "*"))

    def is_declaration(self, begin):
        """Whether the name at `begin` is declared there: a type stands in front of it."""
        at = begin - 1
        while at >= 0 and self.words[at] in ("*", "const", "restrict"):
            at -= 1
        word = self.words[at] if at >= 0 else ";"
        return bool(re.match(r"[a-z]\w*$", word)) and word not in ("return", "else", "do")

    def scan(self):
        for at, word in enumerate(self.words):
            if word in ASSIGN and at:
                begin = self.begin_of(at - 1)
                if self.is_declaration(begin) or self.words[begin] in ("{", ",", ".") or self.words[begin - 1] == ".":
                    continue  # a declaration, or a field of an initialiser
                self.note(begin, at - 1, begin > 0 and self.words[begin - 1] == "*")
            elif word in ("++", "--"):
                if at and re.match(r"\w|[\])]", self.words[at - 1]) and self.words[at - 1] not in ("return", "else", "do") and \
                        not self.ends_condition(at - 1):
                    begin = self.begin_of(at - 1)
                    self.note(begin, at - 1, begin > 0 and self.words[begin - 1] == "*")
                else:
                    first = at + 1
                    self.note(first, self.end_of(first))
            elif word == "&" and (not at or not re.match(r"[\w)\]]", self.words[at - 1]) or self.words[at - 1] == "return"):
                self.address(at)
            elif word in FILLS and self.words[at + 1] == "(":
                self.fill(at + 2)
        return self.writes

    def fill(self, first):
        """The first argument of memset() and the like."""
        if self.words[first] == "&":
            self.note(first + 1, self.end_of(first + 1))
        elif re.match(r"[a-z]", self.words[first]):
            self.note(first, self.end_of(first), True)

    def address(self, at):
        """A scalar's address that something may be written through."""
        begin = at + 1
        end = self.end_of(begin)
        result = self.resolve(begin, end) if re.match(r"[a-z(]", self.words[begin]) else None
        if not result or not result[1] or result[2] or result[0].struct:
            return
        parameter = self.parameter(at)
        if parameter is None or not parameter.constant:
            self.note(begin, end)

    def parameter(self, at):
        """What a function declares of the argument that begins at `at`."""
        number = 0
        at -= 1
        while at >= 0:
            word = self.words[at]
            if word in (")", "]"):
                at = self.opening(at)
            elif word == ",":
                number += 1
            elif word == "(":
                found = self.tree.functions.get(self.words[at - 1])
                part = found[1][number] if found and number < len(found[1]) else None
                return variable(part) if part else None
            elif word in ("=", ";", "{", "return", "["):
                return None
            at -= 1
        return None


def all_writes(tree):
    writes = set()
    for source in tree.sources:
        if not source.path.startswith("firmware/"):
            continue
        for macro in source.macros:
            if re.search(r"(->|\.)\w+(\[[^\]]*\])?\s*([-+*/%&|^]|<<|>>)?=[^=]", macro[0]):
                tree.findings.append(f"{source.path}:{source.line(macro.start())}: a macro writes a field")
        for found in FUNCTION.finditer(source.text):
            if found["end"] == "{":
                writes.update(Body(tree, source, found).scan())
    return sorted(write for write in writes if write.struct in tree.owned)


def may_write(tree, write):
    return any(write.file.startswith(place) if place.endswith("/") else module(write.file) == place
               for place in tree.allowed(write.struct, write.field))


def check():
    tree = Tree()
    writes = all_writes(tree)
    findings = list(tree.findings)
    for write in writes:
        if not may_write(tree, write):
            owners = ", ".join(place.removeprefix("firmware/") for place in tree.allowed(write.struct, write.field))
            what = f"{write.struct} as a whole" if write.field == "*" else f"{write.struct}.{write.field}"
            findings.append(f"{write.file}:{write.line}: {what} belongs to {owners}")
    for finding in sorted(set(findings)):
        print(finding)
    return 1 if findings else 0


def figures():
    tree = Tree()
    writers = collections.defaultdict(set)
    for write in all_writes(tree):
        if write.field != "*":
            writers[f"{write.struct}.{write.field}"].add(module(write.file).removeprefix("firmware/"))
    counts = collections.Counter(len(files) for files in writers.values())
    for count, fields in sorted(counts.items()):
        print(f"written by {count} module{'s' if count > 1 else ''}: {fields} fields")
    for field, files in sorted(writers.items()):
        if len(files) > 1:
            print(f"  {field}: {' '.join(sorted(files))}")


if __name__ == "__main__":
    if sys.argv[1:] == ["figures"]:
        figures()
    else:
        sys.exit(check())
