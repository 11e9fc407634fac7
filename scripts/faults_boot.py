# SPDX-License-Identifier: MIT
"""For scripts/faults: the boot of a loader in QEMU, with its gdb stub, and faults in it. Arm's M profile."""

import base64
import hashlib
import json
import os
import re
import struct
import subprocess

from faults_gdb import (LR, PC, PSR, SP, STANDS, Gdb, connect, memory_of, pieces_of, register_request, registers_of,
                        write_requests)

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MARK = (0x4b52414d, 0xb4adbeb2)
IMAGE_BYTES, HEADER_BYTES, ENTRY = 64, 160, 0x20
KINDS = ('signature', 'code', 'version')
MPU = 0xe000ed94
# A boot counts as endless when QEMU has computed for so long without an end, in seconds: four times what a boot takes.
PATIENCE = 0.25
# It is endless, too, if it verifies so many signatures: two slots have two checks each.
VERIFICATIONS = 16
# bne . and beq .: one of the two stands, too.
STANDS_TOO = 0xd0fed1fe
# Whoever executes any halfword of it stays there, so that it is noticed.
ENDLESS = 0xe7fee7fe


def text_of(*path):
    with open(os.path.join(ROOT, *path), encoding='utf-8') as file:
        return file.read()


def number_in(text, pattern):
    """The number behind a pattern, as C or the linker writes it."""
    word = re.search(pattern + r'\s*(0x[0-9a-fA-F]+|\d+K?)', text).group(1)
    return int(word[:-1]) * 1024 if word.endswith('K') else int(word, 0)


def boards():
    """Those that have a loader for this CPU."""
    names = sorted(os.listdir(os.path.join(ROOT, 'boards')))
    return [name for name in names if os.path.exists(os.path.join(ROOT, 'boards', name, 'loader', 'loader.c')) and
            'arm-none-eabi' in text_of('boards', name, 'board.cmake')]


class Board:
    """Where a board's loader finds everything, from the board's own files."""

    def __init__(self, name):
        memory, loader = (text_of('boards', name, 'loader', file) for file in ('memory.ld', 'loader.cmake'))
        machine, layout = text_of('boards', name, 'machine.c'), text_of('qemu', 'mcu', 'flash.h')
        self.name = name
        self.code, self.code_bytes = (number_in(memory, rf'CODE[^\n]*{word} =') for word in ('ORIGIN', 'LENGTH'))
        self.ram, self.ram_bytes = (number_in(memory, rf'DATA[^\n]*{word} =') for word in ('ORIGIN', 'LENGTH'))
        self.flash, self.stage, self.stage_bytes = (
            number_in(loader, f'PB_LOADER_{word}=') for word in ('FLASH', 'STAGE', 'STAGE_BYTES'))
        self.load = number_in(machine, r'\.load_address =')
        self.emulator = re.search(r'\.program = "([^"]+)"', machine).group(1)
        # Its arguments, with card memory that no file keeps.
        words = re.findall('"([^"]*)"', machine[machine.index('arguments[] = {'):machine.index('PB_MACHINE_CONNECTIONS')])
        self.arguments = [re.sub(r'memory-backend-file,(.*),mem-path=\{memory\}', r'memory-backend-ram,\1', word) for word in words]
        self.flash_bytes, self.sector, self.slot_a, self.slot_b, self.slot_bytes = (
            number_in(layout, f'#define PB_CARD_{word}') for word in (
                'FLASH_BYTES', 'FLASH_SECTOR_BYTES', 'SLOT_A_OFFSET', 'SLOT_B_OFFSET', 'SLOT_BYTES'))

    def uart(self):
        return number_in(text_of('boards', self.name, 'loader', 'loader.c'), '#define UART')

    def elf(self):
        return os.path.join(ROOT, 'build', self.name, f'patchbay-loader-{self.name}.elf')


class Symbols:
    """The functions of the loader."""

    def __init__(self, elf, board):
        text = subprocess.run(['arm-none-eabi-nm', '-n', elf], check=True, stdout=subprocess.PIPE, text=True).stdout
        self.address = {line.split()[2]: int(line.split()[0], 16) for line in text.splitlines()}
        # BearSSL's static functions, by their place: they have no prefix.
        self.library = range(self.address['br_ecdsa_i31_vrfy_raw'], self.address['memcmp'])
        code = [int(line.split()[0], 16) for line in text.splitlines() if line.split()[1] in 'tT']
        self.start, self.end = code[0], board.code + board.code_bytes


def fixed_key(text):
    """A private key that follows from a text, as PEM (RFC 5915, without the public half)."""
    der = bytes.fromhex('30310201010420') + hashlib.sha256(text.encode()).digest() + bytes.fromhex('a00a06082a8648ce3d030107')
    return f'-----BEGIN EC PRIVATE KEY-----\n{base64.b64encode(der).decode()}\n-----END EC PRIVATE KEY-----\n'


def signature_by(key, header):
    """A signature as the loader reads it: r and s, 32 bytes each."""
    der = subprocess.run(['openssl', 'dgst', '-sha256', '-sign', key], input=header, stdout=subprocess.PIPE, check=True).stdout
    at, signature = 2, b''
    for _ in range(2):
        length = der[at + 1]
        signature += int.from_bytes(der[at + 2:at + 2 + length], 'big').to_bytes(32, 'big')
        at += 2 + length
    return signature


def signed(board, version, sign):
    """An image that stands wherever it is entered, with what `sign` makes of its header."""
    image = struct.pack('<16I', board.ram + 0x10000, board.load + ENTRY + 1, *[ENDLESS] * 14)
    header = struct.pack('<8I', 0x49534250, 1, IMAGE_BYTES, board.load, version, 0, 0, 0)
    header += hashlib.sha256(image).digest() + board.name.encode().ljust(32, b'\0')
    return bytearray(header + sign(header) + image)


def make_key(path, text):
    """A key that follows from a text, or a new one if that is None."""
    if text is None:
        subprocess.run([os.path.join(ROOT, 'scripts', 'sign'), '--new-key', path], check=True)
        return
    with open(path, 'w', encoding='utf-8', opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(fixed_key(text))


def make_flash(folder, board, kind, fixed=None):
    """
    A flash whose slot A has an image of a kind, confirmed; slot B is empty. With a text in `fixed`, the key and a foreign
    signature follow from that, so that every boot of it executes the same.
    """
    own, other = os.path.join(folder, 'own.pem'), os.path.join(folder, 'other.pem')
    for key in (own, other):
        if not os.path.exists(key):
            make_key(key, fixed and fixed + os.path.basename(key))
    path = os.path.join(folder, kind + '.flash')
    subprocess.run([os.path.join(ROOT, 'scripts', 'sign'), '--new-flash', path, '--key', own], check=True)
    if fixed and kind == 'signature':
        file = signed(board, 5, lambda header: hashlib.sha512(fixed.encode() + header).digest())
    else:
        key = other if kind == 'signature' else own
        file = signed(board, 4 if kind == 'version' else 5, lambda header: signature_by(key, header))
    if kind == 'code':
        file[HEADER_BYTES + 40] ^= 4
    with open(path, 'r+b') as flash:
        flash.seek(64)
        # Five bits are clear: the counter is 5.
        flash.write(struct.pack('<I', 0xffffffe0))
        flash.seek(board.slot_a)
        flash.write(struct.pack('<8I', 1, ~1 & 0xffffffff, *MARK, *MARK, *MARK))
        flash.seek(board.slot_a + board.sector)
        # Up to the end of the slot: whoever jumps anywhere into it is noticed.
        flash.write(bytes(file) + struct.pack('<H', STANDS) * ((board.slot_bytes - board.sector - len(file)) // 2))
    # What an earlier, larger image would have left in the private memory for images.
    # Not the word of the image: with a store of the copy skipped, it would repair the image whose code was changed.
    with open(path + '.stage', 'wb') as stage:
        stage.write(struct.pack('<I', STANDS_TOO) * (board.stage_bytes // 4))
    return path


def emulator(board, elf, flash, gdb, *options, count='shift=0'):
    """Starts QEMU with a loader and a flash; its CPU does not run yet."""
    return subprocess.Popen(
        [board.emulator, *board.arguments, '-display', 'none', '-monitor', 'none', '-serial', 'null', '-icount', count,
         '-kernel', elf, '-device', f'loader,addr={board.flash:#x},force-raw=on,file={flash}',
         '-device', f'loader,addr={board.stage:#x},force-raw=on,file={flash}.stage', *options,
         '-S', '-gdb', f'unix:{gdb},server=on,wait=off'], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class State:
    """All that a boot has at a place: registers, and the memory that it changes; None where that is closed."""

    def __init__(self, registers, memory, devices):
        self.registers, self.memory, self.devices = registers, memory, devices

    def put(self):
        """The requests that put it back; UART and memory protection cannot be written."""
        return [request for address, data in self.memory for request in write_requests(address, data)]

    def is_same(self, other):
        return (self.registers, self.memory, self.devices) == (other.registers, other.memory, other.devices)


class Layout:
    """What a State consists of."""

    def __init__(self, board, symbols):
        address = symbols.address
        # Stack and variables, the staged image, and where it would be loaded.
        self.memory = [(board.ram, (address['pb_bss_end'] - board.ram + 3) & ~3), (board.stage, IMAGE_BYTES),
                       (board.load, IMAGE_BYTES)]
        # Registers that gdb cannot write, and what no boot changes; here it is memory that a wild store reaches.
        slot = board.flash + board.slot_a
        self.devices = [(board.uart() + 4, 8), (board.uart() + 16, 4), (MPU, 16),
                        *pieces_of(symbols.start, address['pb_data_load'] + 0xb8 - symbols.start),
                        (board.flash, 0xc0), (slot, 32), (slot + board.sector, HEADER_BYTES + IMAGE_BYTES),
                        (board.flash + board.slot_b, 32)]

    def read(self, gdb):
        """The State that a CPU is in, which stands."""
        ranges = [piece for part in self.memory for piece in pieces_of(*part)] + self.devices
        answers = gdb.ask('g', *(f'm{address:x},{size:x}' for address, size in ranges))
        parts = [memory_of(answer) for answer in answers[1:]]
        memory = []
        for address, size in self.memory:
            count = len(pieces_of(address, size))
            memory.append((address, None if None in parts[:count] else b''.join(parts[:count])))
            parts = parts[count:]
        return State(registers_of(answers[0]), memory, parts)


class Boot:
    """A loader that can be put into a State; faults are made there."""

    def __init__(self, folder, elf, board, symbols, flash):
        self.symbols, self.folder, self.elf, self.board, self.flash = symbols, folder, elf, board, flash
        address = symbols.address
        # A fault of the CPU, a refusal, the end; and the first instruction of what must not start.
        self.ends = {address['fault']: 'cpu fault', address['pb_loader_refuse']: 'refused', address['pb_hal_halt']: 'halted',
                     board.load + ENTRY: 'STARTED'}
        self.layout = Layout(board, symbols)
        self.ram = range(board.ram, board.ram + self.layout.memory[0][1])
        # Steps since the reset, before pb_loader_choose; None: past that.
        self.early = None
        # What the verification of a signature returned, by all that it is given; None: it is always computed.
        self.verified = None
        self.state = None
        # Whether the State at the end of a boot with a fault is kept, and that State.
        self.keeps_ending, self.ending = False, None
        self.power_on()

    def power_on(self):
        place = os.path.join(self.folder, f'gdb-{os.getpid()}.sock')
        if os.path.exists(place):
            os.unlink(place)
        self.process = emulator(self.board, self.elf, self.flash, place)
        self.gdb = Gdb(place, self.process.pid)
        for end in self.ends:
            self.gdb.breakpoint(end)

    def close(self):
        self.process.kill()
        self.process.wait()

    def pass_start(self):
        """Runs past what sets up the memory protection, and the UART."""
        place = self.symbols.address['pb_loader_choose']
        self.gdb.breakpoint(place)
        self.gdb.run(30)
        self.gdb.breakpoint(place, False)

    def revive(self):
        """A new CPU in the State: behind a lockup, and where registers that gdb cannot write have changed."""
        self.close()
        self.power_on()
        if self.early is not None:
            for _ in range(self.early):
                self.gdb.step()
        else:
            self.pass_start()
            self.put_back()

    def leave_handler(self, registers):
        """Ends an exception, as its handler would: otherwise it stays active."""
        if registers[PSR] & 0x1ff == 0:
            return
        room = self.board.ram + self.board.ram_bytes - 0x1000
        frame, handler, place = room, room + 0x100, room + 0x200
        self.gdb.ask(*write_requests(frame, struct.pack('<8I', 0, 0, 0, 0, 0, 0, place, 0x01000000)),
                     *write_requests(handler, b'\x70\x47\x70\x47'), *write_requests(place, b'\xfe\xe7\xfe\xe7'))
        registers = list(registers)
        registers[SP], registers[LR], registers[PC] = frame, 0xfffffff9, handler
        registers[PSR] = registers[PSR] & ~0x0600fc00 | 1 << 24
        self.gdb.set_registers(registers)
        self.gdb.breakpoint(place)
        self.gdb.run(5)
        self.gdb.breakpoint(place, False)

    def put_back(self):
        """Back to the State. Returns whether all of it could be had, the CPU's own registers too."""
        self.leave_handler(self.gdb.registers())
        self.gdb.ask(*self.state.put(), register_request(self.state.registers))
        return self.layout.read(self.gdb).is_same(self.state)

    def run_to_end(self, registers):
        """Runs to a breakpoint. A signature is verified once only of each that is given: BearSSL's result is kept."""
        verify, request = self.symbols.address['br_ecdsa_i31_vrfy_raw'], register_request(registers)
        if self.verified is None:
            return self.gdb.run(PATIENCE, request)
        self.gdb.breakpoint(verify)
        try:
            came = self.gdb.run(PATIENCE, request)
            for _ in range(VERIFICATIONS):
                if not came or self.gdb.registers()[PC] != verify:
                    return came
                came = self.verify(verify) and self.gdb.run(PATIENCE)
            return False
        finally:
            self.gdb.breakpoint(verify, False)

    def verify(self, verify):
        """Stands at the first instruction of the verification. Returns whether the boot goes on behind it, or has ended."""
        gdb, state = self.gdb, self.layout.read(self.gdb)
        registers = state.registers
        given, back = self.given_to_verify(state), registers[LR] & ~1
        if given in self.verified:
            registers[:4], registers[12], registers[PC] = *self.verified[given], back
            gdb.set_registers(registers)
            return True
        gdb.breakpoint(verify, False)
        # There may be an end already.
        here = back in gdb.places
        gdb.breakpoint(back)
        came = gdb.run(PATIENCE)
        after = gdb.registers()
        if came and after[PC] == back and after[4:12] == registers[4:12] and after[SP] == registers[SP] and given is not None:
            self.verified[given] = (after[:4], after[12])
        if not here:
            gdb.breakpoint(back, False)
        gdb.breakpoint(verify)
        return came

    def given_to_verify(self, state):
        """Everything that the result depends on: arguments, what they point to, code and constants. None: they are wild."""
        registers = state.registers
        arguments, key = self.gdb.read((registers[SP], 8), (registers[3], 12))
        if not arguments or not key or registers[2] > 64:
            return None
        signature, size = struct.unpack('<2I', arguments)
        curve, point, point_bytes = struct.unpack('<3I', key)
        if size > 64 or point_bytes > 65 or registers[SP] not in self.ram or registers[SP] < self.board.ram + 0x1000:
            return None
        read = self.gdb.read((registers[1], registers[2]), (point, point_bytes), (signature, size))
        return (*registers[:3], registers[SP], signature, size, curve, point, point_bytes, *read, *state.devices)

    def outcome(self, registers):
        """Lets the boot run to its end, from registers. Returns how it ended."""
        # At an end already: the first instruction of it.
        if registers[PC] in self.ends:
            self.gdb.set_registers(registers)
        elif not self.run_to_end(registers):
            return 'STARTED' if self.runs_image() else 'endless'
        result = self.ends.get(self.gdb.registers()[PC], 'elsewhere')
        # A wild jump to that address is no start: the image is not there.
        return 'wild jump' if result == 'STARTED' and not self.runs_image() else result

    def runs_image(self):
        """Whether the CPU stands in the image: loaded, staged, or in the flash."""
        board, place = self.board, self.gdb.registers()[PC]
        load, stage = self.gdb.read((board.load, IMAGE_BYTES), (board.stage, IMAGE_BYTES))
        return (board.load <= place < board.load + IMAGE_BYTES and load == stage or
                board.stage <= place < board.stage + board.stage_bytes or
                board.flash + board.slot_a <= place < board.flash + board.flash_bytes)

    def stand(self, state=None):
        """Notes the State that the CPU is in; with one given, puts the CPU into it."""
        self.state = state or self.layout.read(self.gdb)
        if state is not None and not self.put_back():
            self.revive()

    def skip(self):
        """Skips the instruction at this place. Returns how the boot ended, with everything put back."""
        registers = list(self.state.registers)
        half = struct.unpack('<H', self.gdb.read((registers[PC], 2))[0])[0]
        registers[PC] += 4 if half >= 0xe800 else 2
        registers[PSR] = next_in_block(registers[PSR])
        return self.try_with(registers)

    def flip(self, register, bit):
        registers = list(self.state.registers)
        registers[register] ^= 1 << bit
        return self.try_with(registers)

    def try_with(self, registers):
        self.ending = None
        try:
            result = self.outcome(registers)
            self.ending = self.layout.read(self.gdb) if self.keeps_ending else None
            # A CPU that was interrupted takes more than one instruction for its next step, in QEMU 7.2 with -icount.
            if self.early is not None or result == 'endless' or not self.put_back():
                self.revive()
        except (ConnectionError, BrokenPipeError):
            # A fault in the handler of a fault: the emulator ends.
            result = 'lockup'
            self.revive()
        return result


def next_in_block(psr):
    """The program status behind an instruction of an IT block (Armv7-M Architecture Reference Manual, A7.3.3)."""
    state = (psr >> 25 & 3) | (psr >> 10 & 0x3f) << 2
    if state == 0:
        return psr
    state = 0 if state & 7 == 0 else (state & 0xe0) | (state << 1 & 0x1f)
    return psr & ~0x0600fc00 | (state & 3) << 25 | (state >> 2) << 10


class Golden:
    """The boot without a fault, recorded by QEMU: it can be seen before any of its instructions."""

    def __init__(self, folder, elf, board, symbols, flash):
        self.board, self.elf, self.flash = board, elf, flash
        self.layout, self.symbols = Layout(board, symbols), symbols
        self.places = {word: os.path.join(folder, f'{word}-{os.getpid()}') for word in ('gdb', 'qmp', 'record')}
        self.start('record')
        self.gdb.breakpoint(symbols.address['pb_loader_refuse'])
        self.run()
        self.instructions = self.count()
        self.ask('quit')
        self.process.wait()
        self.start('replay')

    def start(self, what):
        for word in ('gdb', 'qmp'):
            if os.path.exists(self.places[word]):
                os.unlink(self.places[word])
        self.process = emulator(self.board, self.elf, self.flash, self.places['gdb'], '-nic', 'none',
                                '-qmp', f'unix:{self.places["qmp"]},server=on,wait=off',
                                count=f'shift=0,rr={what},rrfile={self.places["record"]}')
        self.gdb = Gdb(self.places['gdb'], self.process.pid)
        self.control = connect(self.places['qmp']).makefile('rw')
        self.control.readline()
        self.ask('qmp_capabilities')

    def ask(self, command, **arguments):
        self.control.write(json.dumps({'execute': command, 'arguments': arguments}) + '\n')
        self.control.flush()
        while True:
            line = self.control.readline()
            if not line:
                raise ConnectionError('QEMU has ended')
            answer = json.loads(line)
            if 'error' in answer:
                raise ConnectionError(answer['error']['desc'])
            if 'return' in answer:
                return answer['return']

    def run(self):
        """Runs to a breakpoint, and is never interrupted: a replay does not survive that."""
        self.gdb.send('c')
        self.gdb.receive()

    def count(self):
        """Instructions up to here."""
        return self.ask('query-replay')['icount']

    def seek(self, number):
        """Runs up to an instruction; only forward. Returns the State before it."""
        if number != self.count():
            self.ask('replay-break', icount=number)
            self.run()
        if number != self.count():
            raise ConnectionError('QEMU does not replay')
        return self.layout.read(self.gdb)

    def verified(self):
        """The number of the instruction behind the first verification of a signature. The record starts anew then."""
        self.gdb.breakpoint(self.symbols.address['br_ecdsa_i31_vrfy_raw'])
        self.run()
        back = self.gdb.registers()[LR] & ~1
        self.gdb.breakpoint(self.symbols.address['br_ecdsa_i31_vrfy_raw'], False)
        self.gdb.breakpoint(back)
        self.run()
        number = self.count()
        self.close()
        self.start('replay')
        return number

    def close(self):
        self.process.kill()
        self.process.wait()
