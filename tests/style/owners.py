#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each field of the state of firmware/ is written by the module that owns it, and by no other.

A struct pb_core_... belongs to the module whose header declares it: the header and the .c file of its name. In the structs of
COMMENTED each field has its owner in a comment: in the field's own, or in a plain comment in front of a group of fields.
A value that a function keeps in a local variable is its own. The compiler's syntax tree says what is written (clang-query).
"""
import collections
import functools
import glob
import os
import re
import subprocess
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
    "pb_core_slot": ("firmware/prepare/resolve", "firmware/prepare/run_resolve", "firmware/prepare/run_kept", "firmware/patch/slow"),
    "pb_core_listed": ("firmware/prepare/",),
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


def local(depth):
    """A part of a variable of the function: members and elements, but nothing behind a pointer."""
    variable = "declRefExpr(to(varDecl(hasLocalStorage(), unless(hasType(pointerType())))))"
    if depth == 0:
        return variable
    inner = f"ignoringParenImpCasts({local(depth - 1)})"
    return (f"anyOf({variable}, memberExpr(unless(isArrow()), hasObjectExpression({inner})), "
            f"arraySubscriptExpr(hasBase(ignoringImpCasts(expr(unless(hasType(pointerType())), {inner})))))")


def queries():
    """What clang-query looks for: each match binds a write, and the field or struct where it is declared."""
    struct = 'hasUnqualifiedDesugaredType(recordType(hasDeclaration(recordDecl(state).bind("struct"))))'
    element = "arraySubscriptExpr(hasBase(ignoringParenImpCasts({})))"
    # A call with a pointer to const only reads.
    read = "hasParent(implicitCastExpr(hasType(pointsTo(qualType(isConstQualified())))))"
    fills = 'callExpr(callee(functionDecl(hasAnyName("memset", "memcpy", "memmove"))), hasArgument(0, ignoringParenImpCasts({})))'
    yield from ("set output diag", "set bind-root false",
                'let state recordDecl(matchesName("^::pb_(core_[a-z_]*|firmware)$"))',
                f"let own {local(4)}",
                'let field memberExpr(member(fieldDecl(hasParent(state)).bind("field")), unless(own))',
                f"let part expr(anyOf(field, {element.format('field')}, {element.format(element.format('field'))}))",
                f"let whole expr(hasType({struct}), unless(own))")
    for target in ("part", "whole"):
        pointed = f'unaryOperator(hasOperatorName("&"), hasUnaryOperand(ignoringParens({target})))'
        for write in (f"binaryOperator(isAssignmentOperator(), hasLHS(ignoringParens({target})))", fills.format(pointed)):
            yield f'match {write}.bind("write")'
    yield 'match unaryOperator(hasAnyOperatorName("++", "--"), hasUnaryOperand(ignoringParens(part))).bind("write")'
    yield f'match {fills.format("expr(hasType(arrayType()), part)")}.bind("write")'
    yield f'match {fills.format(f"expr(hasType(pointsTo({struct})), unless(unaryOperator()))")}.bind("write")'
    # The address of a number.
    yield ('match unaryOperator(hasOperatorName("&"), hasUnaryOperand(ignoringParens(expr(part, '
           f'unless(hasType(hasUnqualifiedDesugaredType(recordType()))), unless(hasType(isConstQualified()))))), unless({read}))'
           '.bind("write")')


BOUND = re.compile(rf'^(?:{re.escape(os.getcwd())}/|\./)?(\S+?):(\d+):\d+: note: "(\w+)" binds here')
OWNER = re.compile(r"\b((?:(?:queue|channel|engine|prepare|patch|memory|command|observe)/)?[a-z_]+)\.[ch]\b")
Write = collections.namedtuple("Write", "file line struct field owners")


def module(path):
    return os.path.splitext(path)[0]


@functools.cache
def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read().split("\n")


@functools.cache
def declared_in(struct):
    return next(path for path in glob.glob("firmware/**/*.[ch]", recursive=True) if f"struct {struct} {{" in lines_of(path))


def named(comment):
    return tuple("firmware/" + path for path in OWNER.findall(comment))


def owners_of(path, struct, field, above, behind):
    """@return where the field may be written; above: the struct up to the field, behind: from the field on"""
    owners = HANDED.get(f"{struct}.{field}") or HANDED.get(struct, (module(path),))
    if struct not in COMMENTED or f"{struct}.{field}" in HANDED:
        return owners
    comment = re.match(r"[^;]*;\s*/\*\*<(.*?)\*/", behind, re.S)
    groups = re.findall(r"/\*(?!\*)(.*?)\*/", above, re.S)
    owners = named(comment[1] if comment else "") or named(groups[-1] if groups else "")
    part = re.match(r"\s*struct (\w+) [^*]*;", behind)
    if not owners and part and part[1].startswith("pb_core_"):
        return HANDED.get(part[1], (module(declared_in(part[1])),))
    return owners or BOOT


@functools.cache
def place(path, line, kind):
    """@return struct, field and owners of what is declared there"""
    lines = lines_of(path)
    first = next(number for number in range(line, 0, -1) if re.match(r"struct \w+ \{", lines[number - 1]))
    struct = lines[first - 1].split()[1]
    if kind == "struct":
        return struct, "*", HANDED.get(struct + ".*") or HANDED.get(struct, (module(path),))
    behind = "\n".join(lines[line - 1:])
    field = re.match(r"[^;]*?(\w+)\s*(?:[\[)][^;]*)?;", behind)[1]
    return struct, field, owners_of(path, struct, field, "\n".join(lines[first:line - 1]), behind)


def all_writes():
    said = subprocess.run(["clang-query", "-f", "/dev/stdin", *sorted(glob.glob("firmware/**/*.c", recursive=True)), "--",
                           "-std=c11", "-ffreestanding", "-w", "-I.", "-Iinclude"], input="\n".join(queries()) + "\n", text=True,
                          capture_output=True, check=False)
    if said.returncode or "Match #1:" not in said.stdout:
        sys.exit(said.stdout + said.stderr)
    writes, declared = set(), None
    for line in said.stdout.splitlines():
        bound = BOUND.match(line)
        if line.startswith("Match #"):
            declared = written = None
        elif bound and bound[3] == "write":
            written = bound[1], int(bound[2])
        elif bound:
            declared = bound[1], int(bound[2]), bound[3]
        if bound and declared and written:
            writes.add(Write(*written, *place(*declared)))
    return sorted(writes)


def may_write(write):
    return any(write.file.startswith(place) if place.endswith("/") else module(write.file) == place for place in write.owners)


def main():
    findings = [write for write in all_writes() if not may_write(write)]
    for write in findings:
        owners = ", ".join(place.removeprefix("firmware/") for place in write.owners)
        what = f"{write.struct} as a whole" if write.field == "*" else f"{write.struct}.{write.field}"
        print(f"{write.file}:{write.line}: {what} belongs to {owners}")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main())
