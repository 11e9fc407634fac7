#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The line "Threads:" of each public function names the state that it uses, and whether it waits, as its code does
(include/patchbay/lock.h). Under a short lock no code waits or takes another one. Submissions and completions share no
state with control commands and segments."""
import pathlib
import re

ROOT = pathlib.Path()
STATE = {
    "commands": r"channel->(entry->)?(control_put|reply_get|next_tag|pending)\b",
    "kicks": r"channel->(entry->)?(kick_put|rescan)\b",
    "events": r"channel->(entry->)?(event_get|events_dropped)\b",
    "queue": r"queue->(put|completed|timeline|history|stop)\b",
    "mutex": r"segment->(extents|extent_count)\b",
}
WAIT = re.compile(r"ops->wait\(")
TAKE = re.compile(r"\bpb_lock\(|->acquire\(")
GIVE = re.compile(r"\bpb_unlock\(|->release\(")
# Functions of one group never touch the state of the other.
SHORT = ("pb_queue_submit", "pb_queue_completed", "pb_queue_fence_now", "pb_queue_preempted_now", "pb_channel_event")
LONG = ("pb_channel_command", "pb_context_create", "pb_segment_create", "pb_memory_allocate", "pb_quota_set")


def functions(path):
    """Each function of a file: its name, whether it is static, and its body."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    for match in re.finditer(r"^((?:static )?[a-zA-Z][^;{}=()#]*?\b(\w+)\([^;{}]*\))\n?\s*\{\n(.*?)^\}", text, re.S | re.M):
        yield match.group(2), match.group(1).startswith("static"), match.group(3)


class Library:
    def __init__(self):
        names = re.findall(r"/(\w+\.c)", (ROOT / "host/library.cmake").read_text())
        self.bodies, self.public, self.local = {}, {}, {}
        for path in [ROOT / "host" / name for name in names] + [ROOT / "host/internal.h"]:
            for name, static, body in functions(path):
                key = (path.name, name)
                self.bodies[key] = body
                if static and path.suffix == ".c":
                    self.local[key] = key
                else:
                    self.public[name] = key
        self.known = {}

    def callees(self, key, text):
        for name in re.findall(r"\b(\w+)\b", text):
            callee = self.local.get((key[0], name)) or self.public.get(name)
            if callee is not None and callee != key:
                yield callee

    def uses(self, key, text=None):
        """Groups of state, "waits" and "lock": of a function, or of a part of its body, with all that it calls."""
        if text is None and key in self.known:
            return self.known[key]
        body = self.bodies[key] if text is None else text
        found = {group for group, pattern in STATE.items() if re.search(pattern, body)}
        found |= {"waits"} if WAIT.search(body) else set()
        found |= {"lock"} if TAKE.search(body) else set()
        if text is None:
            self.known[key] = found
        for callee in self.callees(key, body):
            found = found | self.uses(callee)
        if text is None:
            self.known[key] = found
        return found


def sections(body):
    """The parts of a body between the taking of a short lock and its release."""
    start = 0
    while (take := TAKE.search(body, start)) is not None:
        give = GIVE.search(body, take.end())
        end = give.start() if give is not None else len(body)
        yield body[take.end():end]
        start = end


def statements():
    """Each public function with what its line "Threads:" says: (path, line, name, words or None)."""
    for path in sorted((ROOT / "include/patchbay").glob("*.h")):
        text = path.read_text()
        for match in re.finditer(r"^(?:/\*\*((?:(?!\*/).)*)\*/\n)?([a-z][^\n;{}#]*?\b(pb_\w+)\([^;{}]*\);)", text, re.S | re.M):
            said = re.search(r"Threads: ([^.]*)\.", match.group(1) or "")
            words = re.split(r"[,;] ?", said.group(1)) if said else None
            yield path.relative_to(ROOT), text.count("\n", 0, match.start(2)) + 1, match.group(3), words


def main():
    if not (ROOT / "host/library.cmake").exists():
        return
    library = Library()
    for key, body in sorted(library.bodies.items()):
        for section in sections(body):
            bad = library.uses(key, section) & {"waits", "lock"}
            if bad and key[1] not in ("pb_lock", "pb_unlock"):
                print(f"host/{key[0]}:1: {key[1]} {'waits' if 'waits' in bad else 'takes a lock'} under a short lock")
    count = 0
    for path, line, name, words in statements():
        key = library.public.get(name)
        if key is None:
            continue
        uses = library.uses(key) - {"lock"}
        if words is None:
            # What uses a manager's or a reader's state is its caller's to serialise.
            if uses & set(STATE) and path.name != "residency.h":
                print(f"{path}:{line}: {name} has no line Threads:, and uses {', '.join(sorted(uses))}")
            continue
        count += 1
        said = set(words)
        if "alone" in said:
            said, uses = said & {"waits"}, uses & {"waits"}
        said -= {"none", "interrupt"}
        if said != uses:
            print(f"{path}:{line}: {name} says {', '.join(sorted(said)) or 'none'}, and uses {', '.join(sorted(uses)) or 'none'}")
    short = set().union(*(library.uses(library.public[name]) for name in SHORT)) - {"lock"}
    long = set().union(*(library.uses(library.public[name]) for name in LONG)) - {"lock", "waits"}
    if short & long or "waits" in short:
        print(f"host/queue.c:1: submissions and control commands share {', '.join(sorted(short & long | short & {'waits'}))}")
    if count < 40:
        print(f"include/patchbay/lock.h:1: only {count} functions have a line Threads:")


main()
