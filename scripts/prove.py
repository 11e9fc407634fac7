#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Texts of proofs, for scripts/prove.

scripts/prove.py bare [FILE...]: prints each file, or standard input, without comments that are not contracts and without
lines that are left empty. Text in quotes stays as it is.
scripts/prove.py replace FILE FROM TO: prints the file with the first FROM replaced by TO; fails if there is none.
"""
import re
import sys

TOKEN = re.compile(rb'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*@.*?\*/|//@[^\n]*)|/\*.*?\*/|//[^\n]*', re.S)


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def bare(text):
    text = TOKEN.sub(lambda token: token[1] or b' ', text)
    return re.sub(rb'\n+', b'\n', re.sub(rb'[ \t]+$', b'', text, flags=re.M))


def replaced(text, old, new):
    if old not in text:
        sys.exit(f'not there: {old.decode()}')
    return text.replace(old, new, 1)


def main():
    command, *arguments = sys.argv[1:]
    if command == 'bare':
        texts = [bare(read(path)) for path in arguments] or [bare(sys.stdin.buffer.read())]
    else:
        texts = [replaced(read(arguments[0]), *(argument.encode() for argument in arguments[1:]))]
    sys.stdout.buffer.write(b''.join(texts))


if __name__ == '__main__':
    main()
