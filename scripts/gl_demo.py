#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/demo --gl: two OpenGL programs of Debian share an emulated card, one of them urgent.

glmark2 floods the card with a landscape. glxgears, at high priority, draws a frame and rests. Every frame of both is
taken by a camera (host/tool/camera.c), and compared with those that the same programs make on virglrenderer's own
server.
"""
import argparse
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib

from programs import NET, ROOT, Display, end_group, on_plain_server

# The programs, by the names of their folders. The flood is not urgent, and never rests.
URGENT, FLOOD = 'glxgears', 'glmark2'
COMMANDS = {
    URGENT: ['glxgears', '-geometry', '300x300'],
    FLOOD: ['glmark2', '-b', 'terrain:duration=1000000', '-s', '300x300'],
}
# Between two frames of the urgent program, in milliseconds.
PAUSE = 30
# Frames of each program on the sheet.
SHEET = 4


def environment(options, folder, **camera):
    """What a program is run with: the display, and a camera that fills this folder."""
    os.makedirs(folder)
    camera = {'FOLDER': folder, 'FRAMES': options.frames, **camera}
    return ['env', f'LD_PRELOAD={options.camera}', *(f'PATCHBAY_CAMERA_{name}={value}' for name, value in camera.items())]


def start(command, log, **more):
    with open(log, 'ab') as file:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True,
                                **more)


def finish(process, name, log):
    """Waits for a program. One that fails or hangs ends the demonstration."""
    try:
        code = process.wait(NET)
    except subprocess.TimeoutExpired:
        code = 'none: it hangs'
    if code != 0:
        end_group(process)
        with open(log, encoding='utf-8', errors='replace') as file:
            sys.stderr.write(file.read())
        raise SystemExit(f'error: {name} ended with status {code}')


def wait_for(condition, process, name, log):
    """Waits until something is so, while a process lives."""
    end = time.monotonic() + NET
    while not condition():
        if process.poll() is not None or time.monotonic() > end:
            finish(process, name, log)
            raise SystemExit(f'error: {name} has ended too early')
        time.sleep(0.05)


# ---- through the firmware ----

def card_answers(options, socket):
    return subprocess.run([options.patchbay, 'info', '--card', socket], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def run_both(options, folder, socket):
    """Runs the flood, and the urgent program as long as the flood goes on."""
    logs = {name: os.path.join(folder, f'{name}.log') for name in COMMANDS}
    until = os.path.join(folder, 'until')
    pictures = {name: os.path.join(folder, name) for name in COMMANDS}
    run = [options.patchbay, 'run', '--card', socket, '--video-memory', options.video_memory]
    flood = start([*run, '--',
                   *environment(options, pictures[FLOOD], UNTIL=until), *COMMANDS[FLOOD]], logs[FLOOD])
    try:
        wait_for(lambda: os.path.exists(os.path.join(pictures[FLOOD], '0001.ppm')), flood, FLOOD, logs[FLOOD])
        urgent = start([*run, '--priority', 'high', '--',
                        *environment(options, pictures[URGENT], PAUSE=PAUSE), *COMMANDS[URGENT]], logs[URGENT])
        finish(urgent, URGENT, logs[URGENT])
        with open(until, 'w', encoding='utf-8'):
            pass
        finish(flood, FLOOD, logs[FLOOD])
    finally:
        end_group(flood)


def through_firmware(options, folder, trace):
    os.makedirs(folder)
    log = os.path.join(folder, 'card.log')
    with tempfile.TemporaryDirectory(prefix='patchbay-demo-') as sockets:
        socket = os.path.join(sockets, 'card')
        card = start([options.patchbay, 'card', '--engine', 'gl', '--card-memory', '256M', '--socket', socket,
                      '--board', options.board, '--quiet'], log)
        try:
            wait_for(lambda: card_answers(options, socket), card, 'the card', log)
            recorder = start([options.patchbay, 'trace', 'record', '--card', socket, '--time', '100000', '--levels',
                              'default', trace], log)
            run_both(options, folder, socket)
            recorder.send_signal(signal.SIGINT)
            finish(recorder, 'patchbay trace', log)
        finally:
            card.terminate()
            card.wait()


def count_preemptions(options, trace):
    """Submissions that were stopped and fed again, by the priority of their queue."""
    text = subprocess.run([options.patchbay, 'trace', 'decode', trace], stdout=subprocess.PIPE, check=True,
                          encoding='utf-8').stdout
    priorities, fed, again = {}, {}, {}
    for line in text.splitlines():
        found = re.search(r' (HANDLE|FEED|COMPLETE) +queue (\d+) (.*)', line)
        if not found:
            continue
        event, queue, rest = found.groups()
        if event == 'HANDLE':
            priorities[queue] = rest.split()[-1].lower()
            fed[queue] = None
        elif event == 'COMPLETE':
            fed[queue] = None
        else:
            fence = rest.split()[1]
            if fed.get(queue) == fence:
                priority = priorities.get(queue, 'unknown')
                again[priority] = again.get(priority, 0) + 1
            fed[queue] = fence
    return again


# ---- on the server alone ----

def on_server(options, folder):
    """Runs both programs on virglrenderer's own server, one after the other."""
    os.makedirs(folder)
    for name, command in COMMANDS.items():
        log = os.path.join(folder, f'{name}.log')
        process = start([*on_plain_server(folder, os.path.join(folder, 'server.log')),
                         *environment(options, os.path.join(folder, name)), *command], log)
        finish(process, f'{name} on the server', log)


# ---- pictures ----

def read_picture(path):
    """Returns width, height and bytes of a picture."""
    with open(path, 'rb') as file:
        data = file.read()
    found = re.match(rb'P6\n(\d+) (\d+)\n255\n', data)
    return int(found.group(1)), int(found.group(2)), data[found.end():]


def write_png(path, width, rows):
    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    header = struct.pack('>IIBBBBB', width, len(rows), 8, 2, 0, 0, 0)
    with open(path, 'wb') as file:
        file.write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', header) +
                   chunk(b'IDAT', zlib.compress(b''.join(b'\0' + row for row in rows))) + chunk(b'IEND', b''))


def rows_of(path):
    width, height, data = read_picture(path)
    return width, [data[3 * width * y:3 * width * (y + 1)] for y in range(height)]


def write_pictures(options, folder):
    """Turns the frames into PNG, and makes a sheet of some: a row for each program."""
    sheet = []
    for name in COMMANDS:
        strips = []
        for number in range(options.frames):
            source = os.path.join(folder, name, f'{number:04}.ppm')
            width, rows = rows_of(source)
            write_png(source.replace('.ppm', '.png'), width, rows)
            os.unlink(source)
            if number % max(1, options.frames // SHEET) == 0 and len(strips) < SHEET:
                strips.append(rows)
        sheet += [b''.join(parts) for parts in zip(*strips)]
    path = os.path.join(folder, 'frames.png')
    write_png(path, len(sheet[0]) // 3, sheet)
    return path


def distance(one, other):
    """The largest difference of two frames in a channel of a pixel; None: their sizes differ."""
    (width, height, first), (other_width, other_height, second) = read_picture(one), read_picture(other)
    if (width, height) != (other_width, other_height):
        return None
    return 0 if first == second else max(abs(a - b) for a, b in zip(first, second))


def compare(options, folders):
    """Compares each frame with the server's. What the server itself does not repeat may differ by as much."""
    wrong = 0
    wavering = 0
    for name in COMMANDS:
        for number in range(options.frames):
            paths = [os.path.join(folder, name, f'{number:04}.ppm') for folder in folders]
            apart, allowed = distance(paths[0], paths[1]), distance(paths[1], paths[2])
            wavering += allowed != 0
            if apart is None or allowed is None or apart > allowed:
                wrong += 1
                print(f'{name}, frame {number}: differs by {apart}, the server by {allowed}: {paths[0]} {paths[1]}')
    return wrong, wavering


def main():
    parser = argparse.ArgumentParser(prog='scripts/demo --gl', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--board', required=True, help='a folder of boards/ (default: that of patchbay demo)')
    parser.add_argument('--frames', type=int, default=40, help='frames of each program (default: %(default)s)')
    parser.add_argument('--video-memory', default='64M',
                        help='addresses that the resources of each program have (default: %(default)s)')
    parser.add_argument('--output', default='build/demo-gl', help='folder for the pictures (default: %(default)s)')
    parser.add_argument('--patchbay', default=os.path.join(ROOT, 'build/host/host/patchbay'), help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.camera = os.path.join(os.path.dirname(os.path.abspath(options.patchbay)), 'patchbay-camera.so')
    output = os.path.abspath(options.output)
    shutil.rmtree(output, ignore_errors=True)
    firmware, server, again = (os.path.join(output, name) for name in ('firmware', 'server', 'again'))
    trace, page = os.path.join(output, 'demo.trace'), os.path.join(output, 'timeline.html')
    with Display() as display:
        os.environ['DISPLAY'] = display.name()
        through_firmware(options, firmware, trace)
        on_server(options, server)
        on_server(options, again)
    wrong, wavering = compare(options, (firmware, server, again))
    subprocess.run([options.patchbay, 'trace', 'export', '--html', page, trace], check=True)
    preempted = count_preemptions(options, trace)
    print(f'{FLOOD} was preempted {preempted.get("normal", 0)} times for {options.frames} frames of {URGENT}')
    if wrong == 0:
        print('pictures:', write_pictures(options, firmware))
    print('timeline:', page)
    total = 2 * options.frames
    print(f'demo: {"ok" if wrong == 0 else "failed"} {total} frames, {total - wrong} as on virgl_test_server, '
          f'{total - wavering} of which it repeats bit by bit')
    return 0 if wrong == 0 else 1


if __name__ == '__main__':
    sys.exit(main())
