#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""OpenGL programs through the firmware and on virglrenderer's own server: do both give the same verdict?

scripts/programs.py compare OPTIONS: the whole comparison; scripts/programs has the options.
scripts/programs.py work LIST FOLDER: runs the programs of a list, one after the other, on the server that listens
where Mesa looks. Several of these share a list: each takes the next program that none has taken.
"""
import argparse
import csv
import fcntl
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Programs whose verdicts differ through no fault of the firmware.
KNOWN = os.path.join(ROOT, 'tests', 'gl', 'programs', 'differs.tsv')
# Processor time that a process may take before it hangs, in seconds: many times what any needs.
LIMIT_CPU = 120
# So long one may take that waits for ever, however busy the machine is, in seconds.
NET = 1800
# How often the server runs what differs once more, to see whether its own verdict wavers.
REPEATS = 20
# Most of a program's output that is kept.
OUTPUT_MAX = 1 << 20
VIRPIPE = {'GALLIUM_DRIVER': 'virpipe', 'LIBGL_ALWAYS_SOFTWARE': '1'}

# The server, in namespaces with a /tmp of its own in which two folders are seen; all ends with the last line.
PLAIN = r'''
mount -t tmpfs none /mnt || exit 1
for folder in "$1" "$2"; do
	case $folder in /tmp/*)
		mkdir -p "/mnt${folder#/tmp}" && mount --rbind "$folder" "/mnt${folder#/tmp}" || exit 1 ;;
	esac
done
mount --move /mnt /tmp || exit 1
env -u GALLIUM_DRIVER virgl_test_server --use-egl-surfaceless >"$3" 2>&1 &
shift 3
until [ -S /tmp/.virgl_test ]; do kill -0 $! || exit 1; sleep 0.05; done
"$@"
'''


def on_plain_server(folder, log):
    """What stands before a command that runs on the server, and sees the project and a folder."""
    flags = ['-mpf', '--mount-proc', '--kill-child', '--propagation', 'private']
    if os.geteuid() != 0:
        flags.append('-r')
    return ['unshare', *flags, 'env', *(f'{name}={value}' for name, value in VIRPIPE.items()), 'bash', '-c', PLAIN, 'bash',
            ROOT, folder, log]


def read_table(path, header):
    """The rows of a file of tab-separated values with this header line."""
    with open(path, encoding='utf-8') as file:
        rows = [row for row in csv.reader(file, delimiter='\t', quoting=csv.QUOTE_NONE) if row]
    if rows[0] != header.split():
        sys.exit(f'error: {path}: the first line is not "{header}"')
    return rows[1:]


def read_list(path):
    return read_table(path, 'kind command why')


# ---- one program ----

def environment(kind, piglit):
    result = dict(os.environ)
    if kind == 'piglit':
        result.update(PIGLIT_PLATFORM='surfaceless_egl', PIGLIT_SOURCE_DIR=piglit,
                      LD_LIBRARY_PATH=os.path.join(piglit, 'lib'))
    return result


def command_of(kind, text, piglit):
    words = text.split()
    if kind == 'piglit':
        return [os.path.join(piglit, 'bin', words[0]), *words[1:], '-auto', '-fbo']
    return words


def limit_cpu():
    """Of a process that is about to begin, and of each that it starts."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_CPU, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def end_group(process):
    """Ends a program with all that it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def run_one(command, env):
    """Runs a program in an empty folder. Returns its exit status (None: it did not end by itself) and its output."""
    with tempfile.TemporaryDirectory(dir='/tmp') as folder, open(os.path.join(folder, 'output'), 'w+b') as output:
        process = subprocess.Popen(command, env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=limit_cpu)
        try:
            code = process.wait(NET)
            code = None if code == -signal.SIGXCPU else code
        except subprocess.TimeoutExpired:
            code = None
        end_group(process)
        output.seek(0)
        return code, output.read(OUTPUT_MAX).decode('utf-8', 'replace')


class Display:
    """An X server that draws by itself, for the programs that want one."""

    def __init__(self):
        self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process is not None:
            self.process.terminate()
            self.process.wait()

    def name(self):
        if self.process is None:
            reading, writing = os.pipe()
            self.process = subprocess.Popen(
                ['Xvfb', '-displayfd', str(writing), '-screen', '0', '1024x768x24', '-nolisten', 'tcp', '-noreset'],
                pass_fds=[writing], env={**os.environ, 'GALLIUM_DRIVER': 'llvmpipe'}, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            os.close(writing)
            with os.fdopen(reading) as pipe:
                self.number = pipe.readline().strip()
            if not self.number:
                sys.exit('error: Xvfb does not start')
        return ':' + self.number


def take_next(folder, count):
    """Returns the number of the next program; None: all have been taken."""
    with open(os.path.join(folder, 'next'), 'a+', encoding='utf-8') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        number = int(file.read() or 0)
        if number >= count:
            return None
        file.truncate(0)
        file.write(str(number + 1))
        return number


def work(path, folder, piglit):
    rows = read_list(path)
    with Display() as display:
        while (number := take_next(folder, len(rows))) is not None:
            kind, text = rows[number][:2]
            env = environment(kind, piglit)
            if kind != 'piglit':
                env['DISPLAY'] = display.name()
            # So that messages of the server stand behind the program's name in its log.
            print(f'== {text}', file=sys.stderr, flush=True)
            start = time.monotonic()
            code, output = run_one(command_of(kind, text, piglit), env)
            result = {'code': code, 'output': output, 'seconds': round(time.monotonic() - start, 3)}
            with open(os.path.join(folder, f'{number}.json'), 'w', encoding='utf-8') as file:
                json.dump(result, file)
    return 0


# ---- all of them ----

def verdict(kind, result):
    """What has to be equal: the exit status, and what a program of this kind says about its pictures."""
    if result is None or result['code'] is None:
        return ['no end']
    lines = result['output'].splitlines()
    if kind == 'piglit':
        lines = [line[line.index('PIGLIT:'):] for line in lines if 'PIGLIT:' in line]
    elif kind == 'scenes':
        lines = [re.sub(r'FPS: \d+ FrameTime: [\d.]+ ms', '', line) for line in lines if 'Validation' in line]
    return [f"exit {result['code']}", *lines]


def short(lines):
    """A verdict in a few words."""
    for line in reversed(lines):
        found = re.search(r'"result": "(\w+)"', line)
        if found:
            return found.group(1)
    return lines[0]


def read_results(folder, count):
    results = []
    for number in range(count):
        try:
            with open(os.path.join(folder, f'{number}.json'), encoding='utf-8') as file:
                results.append(json.load(file))
        except FileNotFoundError:
            results.append(None)
    return results


def workers(options, name, prefix):
    """Runs the list behind this command prefix, a process for each job. Returns the results, in the list's order."""
    folder = os.path.join(options.folder, name)
    count = len(read_list(options.list))
    if options.keep and os.path.exists(os.path.join(folder, f'{count - 1}.json')):
        return read_results(folder, count)
    os.makedirs(folder, exist_ok=True)
    for entry in os.listdir(folder):
        os.unlink(os.path.join(folder, entry))
    env = {**os.environ, 'LP_NUM_THREADS': '1'}
    # Where the server's namespaces show it.
    listed = os.path.join(folder, 'list.tsv')
    shutil.copyfile(options.list, listed)
    processes = []
    for job in range(options.jobs):
        log = os.path.join(folder, f'log.{job}')
        command = [*prefix(os.path.join(folder, f'server.{job}')), 'python3', os.path.abspath(__file__), 'work',
                   listed, folder, '--piglit', options.piglit]
        with open(log, 'wb') as file:
            processes.append(subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=file, stderr=file))
    for process in processes:
        process.wait()
    return read_results(folder, count)


def plain(options, name):
    return workers(options, name, lambda log: on_plain_server(options.folder, log))


def firmware(options):
    return workers(options, 'firmware', lambda _: [options.patchbay, 'run', '--board', options.board, '--'])


def count_verdicts(rows, results):
    counts = {}
    for row, result in zip(rows, results):
        text = short(verdict(row[0], result))
        counts[text] = counts.get(text, 0) + 1
    return ', '.join(f'{count} {text}' for text, count in sorted(counts.items(), key=lambda item: -item[1]))


def seconds(results):
    return sum(result['seconds'] for result in results if result)


def show_difference(row, ours, theirs):
    print(f'{row[1]}: different')
    for name, lines in (('server', theirs), ('firmware', ours)):
        other = theirs if lines is ours else ours
        for line in [line for line in lines if line not in other][:5] or lines[:1]:
            print(f'    {name:8}: {line}')


def record(options, figures):
    header = ['programs', 'equal', 'different', 'known', 'wavering', 'verdicts', 'board', 'revision']
    new = not os.path.exists(options.record)
    with open(options.record, 'a', encoding='utf-8') as file:
        if new:
            file.write('\t'.join(header) + '\n')
        file.write('\t'.join(str(figures[name]) for name in header) + '\n')


def classify(kind, known, theirs, ours, again):
    """What two runs on the server and one through the firmware show of a program."""
    first, second, mine = (verdict(kind, result) for result in (theirs, again, ours))
    if first != second or first == ['no end']:
        return 'wavering'
    if mine == first:
        return 'equal'
    return 'known' if known == [short(first), short(mine)] else 'different'


def repeat(options, rows, different, ours):
    """Runs what differs on the server again and again. Returns the programs that come to the firmware's verdict there."""
    found = set()
    folder = os.path.join(options.folder, 'repeat')
    path = os.path.join(options.folder, 'repeat.tsv')
    with open(path, 'w', encoding='utf-8') as file:
        file.write('kind\tcommand\twhy\n')
        file.writelines('\t'.join(rows[number]) + '\n' for number in different)
    again = argparse.Namespace(**{**vars(options), 'list': path, 'folder': folder, 'keep': False, 'jobs': 1})
    for _ in range(REPEATS):
        if len(found) < len(different):
            results = plain(again, 'server')
            found |= {number for number, result in zip(different, results)
                      if verdict(rows[number][0], result) == verdict(rows[number][0], ours[number])}
    return found


def compare(options):
    rows = read_list(options.list)
    known = {row[0]: row[1:] for row in read_table(KNOWN, 'program server firmware why')}
    theirs = plain(options, 'server')
    ours = firmware(options)
    again = plain(options, 'again') if options.again else theirs
    kinds = [classify(row[0], known.get(row[1], [])[:2], theirs[number], ours[number], again[number])
             for number, row in enumerate(rows)]
    for number in repeat(options, rows, [number for number, kind in enumerate(kinds) if kind == 'different'], ours):
        kinds[number] = 'wavering'
    counts = {kind: kinds.count(kind) for kind in ('equal', 'different', 'known', 'wavering')}
    for number, row in enumerate(rows):
        reason, found = known.get(row[1], []), kinds[number]
        if found == 'wavering':
            print(f'{row[1]}: not compared, as it differs from run to run on the server')
        elif found == 'known':
            print(f'{row[1]}: {reason[0]} on the server, {reason[1]} through the firmware: {reason[2]}')
        elif found == 'different':
            show_difference(row, verdict(row[0], ours[number]), verdict(row[0], theirs[number]))
    print(f"{len(rows)} programs: {counts['equal']} equal, {counts['different']} different, "
          f"{counts['known']} different for a known reason, {counts['wavering']} not compared")
    print(f'verdicts on the server: {count_verdicts(rows, theirs)}')
    print(f'seconds of programs: {seconds(theirs):.0f} on the server, {seconds(ours):.0f} through the firmware')
    print(f'outputs: {options.folder}')
    if options.record:
        record(options, {'programs': len(rows), **counts, 'verdicts': count_verdicts(rows, theirs),
                         'board': options.board, 'revision': options.revision})
    return 0 if counts['different'] == 0 and counts['equal'] > 0 else 1


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest='command', required=True)
    worker = commands.add_parser('work')
    worker.add_argument('list')
    worker.add_argument('folder')
    worker.add_argument('--piglit')
    whole = commands.add_parser('compare')
    for name in ('list', 'folder', 'piglit', 'patchbay', 'board'):
        whole.add_argument('--' + name, required=True)
    whole.add_argument('--jobs', type=int, default=2)
    whole.add_argument('--again', action='store_true')
    # What an earlier comparison has left in the folder is judged again, not run.
    whole.add_argument('--keep', action='store_true')
    whole.add_argument('--record')
    whole.add_argument('--revision')
    options = parser.parse_args()
    if options.command == 'work':
        return work(options.list, options.folder, options.piglit)
    return compare(options)


if __name__ == '__main__':
    sys.exit(main())
