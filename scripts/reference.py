#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/reference.py HEADER: prints what doxygen reads of a header, with every line where it was.

Lists of numbers become the enumerations that they make, with the meanings as comments; drawings stay as they are drawn;
checks of offsets and reserved fields are left out.
"""
import re
import sys


def same_lines(new, old):
    """The new text with as many lines as the old one, so that a warning names the right line."""
    return new + '\n' * (old.count('\n') - new.count('\n'))


def x_lists(text):
    """{X macro: the enumerators of its rows, without their prefix}"""
    lists = {}
    for name, body in re.findall(r'^#define (PB_\w+)\(X\)((?:[^\n]*\\\n)*[^\n]*)', text, re.M):
        body = re.sub(r'/\*.*?\*/', '', body.replace('\\\n', ''), flags=re.S)
        lists[name] = [f'{item} = {number}, /**< ' + re.sub(r'^\s*"([^"]*)".*', r'\1', meaning) + ' */'
                       for item, number, meaning in re.findall(r'\bX\((\w+),\s*(\d+),((?:[^"()]|"[^"]*")*)\)', body)]
    return lists


def filtered(text, with_drawings):
    lists = x_lists(text)
    text = re.sub(r'^#define PB_\w+_ENUM\(name[^\n]*?(PB_\w+_)##name[^\n]*\n\s*(PB_\w+)\([^)\n]*\)\n#undef[^\n]*',
                  lambda match: same_lines(' '.join(match[1] + row for row in lists.get(match[2], [])), match[0]),
                  text, flags=re.M)
    # The comment of a list of numbers is that of its macro.
    text = re.sub(r'^/\*(?=(?:[^*]|\*(?!/))*?X\(NAME)', '/**', text, flags=re.M)
    text = re.sub(r'^(/\*\* *clang-format|/\* clang-format)[^\n]*', '', text, flags=re.M)
    for left_out in (r'^(?:PB_AT|PB_SIZE|PB_DDI_AT|PB_DDI_SIZE|PB_STATIC_ASSERT)\(.*?\);$',
                     r'^\s*\w[\w ]* \w*reserved\w*(?:\[\w+\])?;(?: /\*\*<.*?\*/)?'):
        text = re.sub(left_out, lambda match: same_lines('', match[0]), text, flags=re.M | re.S)
    if with_drawings:
        # Runs of lines of a comment that are indented.
        text = re.sub(r'^( \*(?:  +(?!@)[^\n]*)\n(?: \*\n(?= \*  )| \*  [^\n]*\n)*)',
                      lambda match: f' * @verbatim{match[1][2:-1]} @endverbatim\n', text, flags=re.M)
    return text


def main():
    path = sys.argv[1]
    with open(path, encoding='utf-8') as file:
        print(filtered(file.read(), not re.search(r'(^|/)(host|patchbay)/[^/]*$', path)), end='')


main()
