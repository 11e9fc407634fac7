#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Seeded single-token mutants of the firmware, and the suites that must kill them. Run by scripts/mutate."""

import argparse
import collections
import concurrent.futures
import glob
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build", "mutate")
KNOWN = os.path.join(ROOT, "tests", "records", "mutants.tsv")
RECORD = os.path.join(ROOT, "tests", "records", "mutate.tsv")
# Mutants made by hand, each a mistake that a programmer could make: file, text, what stands there instead, what it breaks.
SEMANTIC = os.path.join(ROOT, "tests", "records", "semantic_mutants.tsv")
# Which suite killed a mutant the last time, and how often each has killed one of a file.
KILLERS = os.path.join(BUILD, "killers.tsv")
# Below firmware/, without .c or .h.
FILES = ("patch/*", "prepare/*", "queue/*", "memory/segment", "command/doorbell", "channel/fence_record", "engine/retire")
LIBRARY = "firmware/libpb_firmware.a"
# The firmware as test programs have it, by the folder of its objects: as a library, and with its accesses as steps.
VARIANTS = {"pb_firmware.dir": "libfirmware.so", "pb_firmware_stepped.dir": "libstepped.so"}
STEPPED_OBJECT = re.compile(r" \S+/pb_firmware_stepped\.dir/__/firmware/\S+\.o\b")
PROGRAM = r"(?:test|unit)_\w+|sim_stepped"
# What sim_stepped runs for mutants made by hand: schedules with events at each access, and contests of the known claims.
SIMULATIONS = {"schedules": ["--from", "100000", "--count", "6000"],
               "contests": ["--contests", "--count", "200", "--without", "lists,churn"]}
# A suite that takes longer is left out: seconds of one processor. Mutants made by hand also run the simulated schedules.
SUITE_SECONDS = 3
SUITE_SECONDS_SEMANTIC = 60
# Seconds that starting a suite takes at least.
START_SECONDS = 0.02
# A mutant may take this many times as long as the original, and this many seconds more.
TIMES_LONGER = 4
SECONDS_LONGER = 1
# Seconds of wall time: the suites wait for nothing outside.
WALL_SECONDS = 300


# ---- what can be changed ----

def blank(match):
    """Spaces in place of text that is left alone, so that offsets stay."""
    return re.sub(r"[^\n]", " ", match.group())


def blank_assertions(text):
    out = text
    for match in re.finditer(r"\b(PB_ASSERT|_Static_assert|PB_AT|PB_SIZE|static_assert)\s*\(", text):
        depth, end = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        out = out[:match.start()] + re.sub(r"[^\n]", " ", out[match.start():end]) + out[end:]
    return out


def code_of(text):
    """The source with comments, strings, preprocessor lines, assertions and attributes blanked."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", blank, text, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)", blank, text)
    text = re.sub(r"\benum\s+\w*\s*\{[^}]*\}", blank, text)
    return blank_assertions(text)


SWAPS = {"<=": "<", "<": "<=", ">=": ">", ">": ">=", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "<<": ">>",
         ">>": "<<", "+": "-", "-": "+", "&": "|", "|": "&", "+=": "-=", "-=": "+=", "&=": "|=", "|=": "&=",
         "<<=": ">>=", ">>=": "<<=", "++": "--", "--": "++", "true": "false", "false": "true"}
TOKEN = re.compile(r"->|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|\+=|-=|&=|\|=|[-+*/%^~!<>&|=?:;,(){}\[\].]|"
                   r"0[xX][0-9a-fA-F]+[uUlL]*|[0-9]+[uUlL]*|\w+")
BEHIND_OPERAND = re.compile(r"[\w)\]]$")
KEYWORDS = {"return", "case", "sizeof"}
DECLARATION = re.compile(r"(const|static|struct|enum|union|u?int\d+_t|bool|size_t|void|uintptr_t|unsigned|return|break|"
                         r"continue|goto|case|default|typedef|extern|else|do|_Noreturn)\b|}")
# tests/interleave/barriers.sh leaves out each barrier; no other suite notices.
BARRIER = re.compile(r"pb_shared_(?:acquire|release|barrier)\(\);")
STATEMENT = re.compile(r"^[ \t]+(?!(?:if|for|while|switch)\b)([A-Za-z_*(+-][^;{}\n]*(?:\n[ \t]+[^;{}\n]+)*;)", re.M)


def is_binary(code, start, before):
    """Whether an operator that may also be unary has a left operand."""
    text = code[:start].rstrip()
    return bool(BEHIND_OPERAND.search(text)) and before not in KEYWORDS


def is_cast_or_type(code, start, token):
    """A star or ampersand of a declaration, or an operator right behind a cast: `(uint8_t) ~x`, `(type *)&x`."""
    return token == "&" and re.search(r"\(\s*(?:const )?(?:struct )?\w+\s*\*+\s*\)\s*$", code[:start]) is not None


def constant(token):
    digits = re.match(r"0[xX][0-9a-fA-F]+|[0-9]+", token).group()
    suffix = token[len(digits):]
    value = int(digits, 0)
    form = (lambda n: hex(n)) if digits[:2].lower() == "0x" else str
    yield form(value + 1) + suffix
    if value:
        yield form(value - 1) + suffix


def changes_of(path):
    """All (start, end, replacement) of a file."""
    text = open(path, encoding="utf-8").read()
    code = code_of(text)
    found, before = [], ""
    for match in TOKEN.finditer(code):
        token, start, end = match.group(), match.start(), match.end()
        if token[0].isdigit():
            found += [(start, end, new) for new in constant(token)]
        elif token in ("!", "~"):
            found.append((start, end, ""))
        elif token in ("&", "+", "-"):
            if is_binary(code, start, before) and not is_cast_or_type(code, start, token):
                found.append((start, end, SWAPS[token]))
        elif token in SWAPS:
            found.append((start, end, SWAPS[token]))
        before = token
    for match in STATEMENT.finditer(code):
        statement = match.group(1)
        if not DECLARATION.match(statement) and not re.match(r"[A-Z_]+\(", statement) and \
                ("(" in statement or "=" in statement or "++" in statement or "--" in statement):
            found.append((match.start(1), match.end(1), ";"))
    return text, found


class Mutant:
    """One change of one file."""

    def __init__(self, path, text, change):
        start, end, new = change
        self.file = os.path.relpath(path, ROOT)
        self.text = text[:start] + new + text[end:]
        first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
        self.line = text.count("\n", 0, start) + 1
        self.old = " ".join(text[first:last].split())
        self.new = " ".join((text[first:start] + new + text[end:last]).split())

    def key(self):
        return self.file, self.old, self.new


def semantic_mutants():
    """Those made by hand. Their text is found whatever its line breaks and indentation; it must stand in its file once."""
    mutants = []
    for number, line in enumerate(open(SEMANTIC, encoding="utf-8").read().splitlines()[1:], 2):
        file, old, new, _ = line.split("\t")
        path = os.path.join(ROOT, file)
        text = open(path, encoding="utf-8").read()
        places = list(re.finditer(r"\s+".join(re.escape(word) for word in old.split()), text))
        if len(places) != 1:
            sys.exit(f"mutate: {SEMANTIC}:{number}: the text stands {len(places)} times in {file}: {old}")
        mutants.append(Mutant(path, text, (places[0].start(), places[0].end(), new)))
        mutants[-1].old, mutants[-1].new = old, new
    return mutants


def all_mutants(patterns):
    paths = sorted(p for pattern in patterns for kind in "ch"
                   for p in glob.glob(os.path.join(ROOT, "firmware", pattern + "." + kind)))
    mutants = []
    for path in dict.fromkeys(paths):
        text, changes = changes_of(path)
        mutants += [Mutant(path, text, change) for change in sorted(changes)]
    return mutants


# ---- building and running ----

def run(command, **options):
    return subprocess.run(command, shell=isinstance(command, str), cwd=BUILD, check=False, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **options)


class Suites:
    """The test programs, linked against the firmware as a shared library, quickest first."""

    def __init__(self, seconds):
        """@param seconds how long a suite may take"""
        self.seconds = seconds
        names = sorted(set(re.findall(f"^build tests/({PROGRAM}):", open(os.path.join(BUILD, "build.ninja"),
                                                                       encoding="utf-8").read(), re.M)))
        commands = run(["ninja", "-t", "commands"] + names).stdout.splitlines()
        self.compile = {}
        for command in commands:
            match = re.search(r"-c \S+/(firmware/(?:\w+/)*\w+\.c)$", command)
            for variant in VARIANTS if match else ():
                if f"/{variant}/" in command:
                    flags = re.sub(r" -W\S+| -M[DTF]+( \S+\.[od](\.d)?)?| -o \S+| -c \S+", "", command)
                    self.compile[variant, match.group(1)] = flags + " -w"
        self.links = [c for c in commands if (LIBRARY in c or STEPPED_OBJECT.search(c)) and
                      re.search(f" -o tests/(?:{PROGRAM}) ", c)]
        self.suites = []
        self.killers = {}
        if os.path.exists(KILLERS):
            for line in open(KILLERS, encoding="utf-8"):
                parts = line.rstrip("\n").split("\t")
                self.killers[tuple(parts[:3])] = parts[3]
        self.kills = collections.Counter(self.killers.values())
        self.kills_of_file = collections.Counter((key[0], suite) for key, suite in self.killers.items())

    def build(self, folder, jobs):
        """Links each and runs it once as it is."""
        os.makedirs(os.path.join(folder, "tests"), exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            built = pool.map(lambda command: self.build_one(command, folder), self.links)
            timed = pool.map(lambda words: self.time_one(words, folder), [words for suites in built for words in suites])
            self.suites = sorted(filter(None, timed), key=lambda suite: suite[1])

    @staticmethod
    def build_one(command, folder):
        """@return the commands of the suites of one program: a runner holds several"""
        name = re.search(f" -o (tests/(?:{PROGRAM})) ", command).group(1)
        path = os.path.join(folder, name)
        if STEPPED_OBJECT.search(command):
            command = STEPPED_OBJECT.sub("", command).replace(" -o " + name, f" -Wl,--no-as-needed {folder}/libstepped.so -o {name}")
            command = command.replace(LIBRARY, "")
        command = command.replace(" -o " + name, " -rdynamic -o " + path)
        command = command.replace(LIBRARY, os.path.join(folder, "libfirmware.so"), 1).replace(LIBRARY, "")
        if run(command).returncode != 0:
            print("left out, as it does not link with the firmware as a library:", os.path.basename(name))
            return []
        if name == "tests/sim_stepped":
            return [(path, *words) for words in SIMULATIONS.values()]
        if "/unit_" not in name:
            return [(path,)]
        listed = run([path, "--list"], env=dict(os.environ, LD_LIBRARY_PATH=folder)).stdout.split()
        return [(path, "--suite", suite) for suite in listed]

    def time_one(self, words, folder):
        """@return the command and the seconds that it takes, or None if it is of no use"""
        good, seconds = execute(words, folder, self.seconds)
        if not good:
            print(f"left out, as it fails when nothing is changed, or takes longer than {self.seconds} s:",
                  name_of(words))
            return None
        return words, seconds

    def of(self, mutant):
        """The suite that killed the mutant last time, then those most likely to kill it for each second that they take."""
        words = re.findall(r"[a-z]+", mutant.file)[1:-1]
        killer = self.killers.get(mutant.key())

        def hope(suite):
            name = name_of(suite[0])
            kills = 3 * self.kills_of_file[mutant.file, name] + self.kills[name] + (3 if any(word in name for word in words) else 0.1)
            return name == killer, kills / (suite[1] + START_SECONDS)
        return sorted(self.suites, key=hope, reverse=True)


def name_of(words):
    """The name of a suite: that of its program, and its own if the program holds several."""
    return " ".join([os.path.basename(words[0]), *(word for word in words[1:] if word != "--suite")])


def execute(words, folder, seconds):
    """@return whether it passes, and the seconds of a processor that it took"""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    process = subprocess.Popen(words, cwd=folder, env=dict(os.environ, LD_LIBRARY_PATH=folder),
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               preexec_fn=limit)
    stopper = threading.Timer(WALL_SECONDS, process.kill)
    stopper.start()
    _, status, used = os.wait4(process.pid, 0)
    stopper.cancel()
    process.returncode = status
    return status == 0, used.ru_utime + used.ru_stime


class Bench:
    """Compiles mutants and runs the suites on them."""

    def __init__(self, suites, folder, jobs):
        self.suites = suites
        self.folder = folder
        self.objects = os.path.join(folder, "objects")
        os.makedirs(self.objects)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            list(pool.map(lambda key: self.must(f"{suites.compile[key]} -o {self.object(*key)} -c {ROOT}/{key[1]}"),
                          suites.compile))
        self.link(folder, {})

    def object(self, variant, source):
        return os.path.join(self.objects, variant + "_" + source.replace("/", "_") + ".o")

    @staticmethod
    def must(command):
        if run(command).returncode != 0:
            sys.exit("cannot build: " + command)

    def link(self, folder, changed):
        for variant, library in VARIANTS.items():
            objects = [changed.get(key, self.object(*key)) for key in sorted(self.suites.compile) if key[0] == variant]
            self.must(f"gcc -shared -Wl,-Bsymbolic-functions -Wl,-soname,{library} -o {folder}/{library} {' '.join(objects)}")

    def users_of(self, mutant):
        """What is to be compiled anew, as (variant, source)."""
        if mutant.file.endswith(".c"):
            return [key for key in self.suites.compile if key[1] == mutant.file]
        return [key for key, command in self.suites.compile.items()
                if f"/{mutant.file}" in run(f"{command} -MM {ROOT}/{key[1]}").stdout]

    def compile(self, mutant, folder):
        """@return the objects that differ, or None if it does not compile"""
        shutil.copytree(os.path.join(ROOT, "firmware"), os.path.join(folder, "firmware"))
        with open(os.path.join(folder, mutant.file), "w", encoding="utf-8") as file:
            file.write(mutant.text)
        changed = {}
        for key in self.users_of(mutant):
            variant, source = key
            target = os.path.join(folder, variant + "_" + source.replace("/", "_") + ".o")
            command = self.suites.compile[key].replace("-I" + ROOT, f"-I{folder} -I{ROOT}", 1)
            command = command.replace("-ffile-prefix-map=" + ROOT, "-ffile-prefix-map=" + folder)
            if run(f"{command} -o {target} -c {folder}/{source}").returncode != 0:
                return None
            if open(target, "rb").read() != open(self.object(*key), "rb").read():
                changed[key] = target
        return changed

    def judge(self, mutant):
        """@return 'broken', 'same', 'survived' or the name of the suite that killed it"""
        folder = tempfile.mkdtemp(prefix="patchbay-mutant-")
        try:
            changed = self.compile(mutant, folder)
            if changed is None:
                return "broken"
            if not changed:
                return "same"
            self.link(folder, changed)
            for words, seconds in self.suites.of(mutant):
                if not execute(words, folder, int(seconds * TIMES_LONGER) + SECONDS_LONGER)[0]:
                    return name_of(words)
            return "survived"
        finally:
            shutil.rmtree(folder)


# ---- records ----

def read_known():
    """Survivors that were read: why each of them changes nothing that a host or an engine sees."""
    known = {}
    if os.path.exists(KNOWN):
        for line in open(KNOWN, encoding="utf-8"):
            parts = line.rstrip("\n").split("\t")
            if len(parts) == 4 and parts[0].startswith("firmware/"):
                known[tuple(parts[:3])] = parts[3]
    return known


def revision():
    found = run(["git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=12"])
    return found.stdout.strip() or "unknown"


def record(of, seed, counts):
    new = not os.path.exists(RECORD)
    with open(RECORD, "a", encoding="utf-8") as file:
        if new:
            file.write("revision\tseed\tmutants\tkilled\tsurvived_equivalent\tsurvived_other\tsame_code\tbroken\n")
        file.write("\t".join(str(x) for x in [of, seed] + counts) + "\n")


def draw(bench, mutants, count, jobs):
    """Judges mutants in their order until so many are killed or survive; the order does not depend on the jobs."""
    results, judged = [], 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = iter(mutants)
        pending = []
        while judged < count:
            for mutant in waiting:
                pending.append((mutant, pool.submit(bench.judge, mutant)))
                if len(pending) >= 3 * jobs:
                    break
            if not pending:
                break
            mutant, future = pending.pop(0)
            verdict = future.result()
            results.append((mutant, verdict))
            if verdict not in ("broken", "same"):
                judged += 1
                if verdict != "survived":
                    with open(KILLERS, "a", encoding="utf-8") as file:
                        file.write("\t".join(mutant.key() + (verdict,)) + "\n")
                print(f"{judged:4} {mutant.file}:{mutant.line}: {verdict}: {mutant.old}  =>  {mutant.new}", flush=True)
        for _, future in pending:
            future.cancel()
    return results


def selftest():
    """The parts that choose and change, on a few lines."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.c")
        source = ("/* a < b */\n#define X (1 + 2)\nstatic int f(int a, const char *s)\n{\n\tPB_ASSERT(a > 3);\n"
                  "\tif (!g(a) && a <= 0x10u)\n\t\th(\"a + b\", -a, &a);\n\treturn a << 2 | s->x;\n}\n")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        text, changes = changes_of(path)
        got = sorted(text[s:e] + " -> " + new for s, e, new in changes)
    want = sorted(["! -> ", "&& -> ||", "<= -> <", "0x10u -> 0x11u", "0x10u -> 0xfu", "<< -> >>", "2 -> 3", "2 -> 1",
                   "| -> &", 'h("a + b", -a, &a); -> ;'])
    if got != want:
        sys.exit(f"mutate: selftest: found {got}, not {want}")
    if len(all_mutants(FILES)) < 1000:
        sys.exit("mutate: selftest: the firmware gives few mutants")
    if len(semantic_mutants()) < 60:
        sys.exit("mutate: selftest: few mutants are made by hand")


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--file", action="append")
    parser.add_argument("--known", action="store_true")
    parser.add_argument("--semantic", action="store_true")
    parser.add_argument("--selftest", action="store_true")
    arguments = parser.parse_args()
    if arguments.selftest:
        selftest()
        return 0
    patterns = [os.path.splitext(f.removeprefix("firmware/"))[0] for f in arguments.file or []] or FILES
    mutants = all_mutants(patterns)
    random.Random(arguments.seed).shuffle(mutants)
    mutants = [m for m in mutants if not BARRIER.match(m.old)]
    known, of = read_known(), revision()
    if arguments.known:
        mutants = [m for m in mutants if m.key() in known]
    if arguments.semantic:
        mutants = semantic_mutants()
        if arguments.file:
            wanted = {"firmware/" + file.removeprefix("firmware/") for file in arguments.file}
            mutants = [m for m in mutants if m.file in wanted]
        arguments.count = len(mutants)
    folder = tempfile.mkdtemp(prefix="patchbay-mutate-")
    try:
        suites = Suites(SUITE_SECONDS_SEMANTIC if arguments.semantic else SUITE_SECONDS)
        bench = Bench(suites, folder, arguments.jobs)
        suites.build(folder, arguments.jobs)
        print(f"{len(mutants)} mutants possible, {len(suites.suites)} suites, "
              f"{sum(s for _, s in suites.suites):.0f} s for one that survives", flush=True)
        results = draw(bench, mutants, arguments.count, arguments.jobs)
    finally:
        shutil.rmtree(folder)
    verdicts = [v for _, v in results]
    alive = [m for m, v in results if v == "survived"]
    strange = [m for m in alive if m.key() not in known]
    for mutant in alive:
        print(f"survived: {mutant.file}:{mutant.line}\n  {mutant.old}\n  {mutant.new}\n  "
              f"{known.get(mutant.key(), 'NOT KNOWN: a suite is missing, or it changes nothing and is to be listed')}")
    total = len(results) - verdicts.count("same") - verdicts.count("broken")
    killed = total - len(alive)
    counts = [total, killed, len(alive) - len(strange), len(strange), verdicts.count("same"), verdicts.count("broken")]
    changing = total - counts[2]
    print(f"{killed} of {total} mutants killed ({100.0 * killed / max(total, 1):.1f} %), {len(alive)} survived, "
          f"{counts[2]} of them listed as changing nothing: {100.0 * killed / max(changing, 1):.1f} % of the others; "
          f"{counts[4]} gave the same code, {counts[5]} did not compile")
    if not arguments.file and not arguments.known:
        record(of, "by hand" if arguments.semantic else arguments.seed, counts)
    return 1 if killed < 0.95 * total or strange else 0


if __name__ == "__main__":
    sys.exit(main())
