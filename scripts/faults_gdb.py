# SPDX-License-Identifier: MIT
"""For scripts/faults: the gdb stub of a QEMU whose CPU is one of Arm's M profile."""

import os
import select
import socket
import struct
import time

# What a boot may take by the clock, on whatever machine.
LIMIT = 120
# b .
STANDS = 0xe7fe
SP, LR, PC, PSR = 13, 14, 15, 16
# The largest piece of memory of one request.
PIECE = 0x7c0


class Gdb:
    """The gdb stub of a QEMU. Several requests go in one message: a turn to QEMU and back is what costs the time."""

    def __init__(self, path, process):
        self.stat = f'/proc/{process}/stat'
        self.socket = connect(path)
        self.buffer, self.places = b'', set()
        # Without the second the registers come in another form.
        self.ask('qSupported', 'qXfer:features:read:target.xml:0,fff')

    def send(self, *requests):
        packets = b''
        for text in requests:
            data = text.encode()
            packets += b'$' + data + b'#%02x' % (sum(data) & 255)
        self.socket.sendall(packets)

    def receive(self, patience=60.0):
        """The next answer; None: not in time. It is not acknowledged: the next request does that."""
        while True:
            start = self.buffer.find(b'$')
            end = self.buffer.find(b'#', start + 1)
            if start >= 0 and 0 <= end and len(self.buffer) >= end + 3:
                text = self.buffer[start + 1:end].decode()
                self.buffer = self.buffer[end + 3:]
                return text
            if not select.select([self.socket], [], [], patience)[0]:
                if patience > 5:
                    raise ConnectionError('QEMU does not answer')
                return None
            data = self.socket.recv(65536)
            if not data:
                raise ConnectionError('QEMU has ended')
            self.buffer += data

    def ask(self, *requests):
        """The answers to requests, in their order."""
        self.send(*requests)
        return [self.receive() for _ in requests]

    def registers(self):
        return registers_of(self.ask('g')[0])

    def set_registers(self, values):
        if self.ask(register_request(values))[0] != 'OK':
            raise ConnectionError('registers')

    def read(self, *ranges):
        """The contents of ranges of at most PIECE bytes; None where memory is closed."""
        return [memory_of(text) for text in self.ask(*(f'm{address:x},{size:x}' for address, size in ranges))]

    def step(self):
        self.ask('s')

    def seconds(self):
        """What QEMU has computed, so that a busy machine makes no boot endless."""
        with open(self.stat, encoding='ascii') as file:
            return sum(int(word) for word in file.read().rsplit(')', 1)[1].split()[11:13]) / os.sysconf('SC_CLK_TCK')

    def run(self, patience, *before):
        """
        Runs to a breakpoint, behind requests whose answers do not matter. Returns whether it came in time. A CPU that
        jumps to itself has no time left.
        """
        computed, start, pause = self.seconds(), time.monotonic(), 0.2
        self.send(*before, 'c')
        for _ in before:
            self.receive()
        while self.receive(pause) is None:
            self.socket.sendall(b'\x03')
            self.receive()
            place = self.registers()[PC]
            if place in self.places:
                break
            half = self.read((place, 2))[0]
            late = self.seconds() - computed >= patience or time.monotonic() - start >= LIMIT
            if half is None or struct.unpack('<H', half)[0] == STANDS or late:
                return False
            pause = 0.3
            self.send('c')
        return True

    def breakpoint(self, address, on=True):
        self.ask(f'{"Z" if on else "z"}0,{address:x},2')
        (self.places.add if on else self.places.discard)(address)


def connect(path):
    """A connection to a socket of a QEMU that is starting."""
    found = socket.socket(socket.AF_UNIX)
    for _ in range(1500):
        try:
            found.connect(path)
            return found
        except OSError:
            time.sleep(0.02)
    raise ConnectionError('QEMU does not start')


def registers_of(answer):
    return list(struct.unpack('<17I', bytes.fromhex(answer)[:68]))


def register_request(values):
    return 'G' + struct.pack('<17I', *values).hex()


def memory_of(answer):
    """An error has three digits: the memory protection of a boot with a fault may close anything."""
    return bytes.fromhex(answer) if len(answer) % 2 == 0 else None


def pieces_of(address, size):
    return [(at, min(PIECE, address + size - at)) for at in range(address, address + size, PIECE)]


def write_requests(address, data):
    return [f'M{at:x},{size:x}:{data[at - address:at - address + size].hex()}' for at, size in pieces_of(address, len(data))]
