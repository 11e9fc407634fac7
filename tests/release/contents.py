#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/release/contents.py FOLDER: what the SPDX document and WHENCE of a release say is so: each file is there once, with its
sum; each relation names two elements; each firmware file of WHENCE exists, and no other."""
import glob
import json
import os
import sys

folder = sys.argv[1]
with open(f'{folder}/SHA256SUMS', encoding='utf-8') as file:
    sums = {path: digest for digest, path in (line.rstrip('\n').split('  ', 1) for line in file)}
[name] = glob.glob(f'{folder}/*.spdx.json')
with open(name, encoding='utf-8') as file:
    document = json.load(file)
assert document['spdxVersion'] == 'SPDX-2.3' and document['SPDXID'] == 'SPDXRef-DOCUMENT' and document['dataLicense'] == 'CC0-1.0'
elements = [element['SPDXID'] for element in document['packages']]
assert len(set(elements)) == len(elements), 'an id stands twice'
stated = {element['packageFileName']: element['checksums'][0]['checksumValue']
          for element in document['packages'] if 'packageFileName' in element}
outside = {os.path.basename(name), 'linux-firmware/WHENCE', 'linux-firmware/LICENCE.patchbay'}
assert stated == {path: digest for path, digest in sums.items() if path not in outside}, 'not the files of the release'
for relation in document['relationships']:
    for side in ('spdxElementId', 'relatedSpdxElement'):
        assert relation[side] in [*elements, 'SPDXRef-DOCUMENT'], relation
with open(f'{folder}/linux-firmware/WHENCE', encoding='utf-8') as file:
    listed = [line.split(': ', 1)[1].strip() for line in file if line.startswith('File: ')]
assert sorted(listed) == sorted(os.path.relpath(path, f'{folder}/linux-firmware')
                                for path in glob.glob(f'{folder}/linux-firmware/patchbay/*')), listed
