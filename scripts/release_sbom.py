#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/release_sbom.py FOLDER VERSION SECONDS: an SPDX 2.3 document about the files of a release, on standard output. Images
have the C library and the compiler's library of the cross compilers linked in; their versions are those of the packages
that dpkg knows."""
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys

# What is linked into an image, by a word of its ELF header: the Debian packages, and their licences.
LINKED = {
    'ARM': [('libnewlib-arm-none-eabi', 'LicenseRef-newlib'), ('gcc-arm-none-eabi', 'GPL-3.0-or-later WITH GCC-exception-3.1')],
    'RISC-V': [('picolibc-riscv64-unknown-elf', 'LicenseRef-picolibc'),
               ('gcc-riscv64-unknown-elf', 'GPL-3.0-or-later WITH GCC-exception-3.1')],
}
TEXTS = {
    'LicenseRef-newlib': 'See /usr/share/doc/libnewlib-arm-none-eabi/copyright of the Debian package.',
    'LicenseRef-picolibc': 'See /usr/share/doc/picolibc-riscv64-unknown-elf/copyright of the Debian package.',
}


def identifier(text):
    return 'SPDXRef-' + re.sub(r'[^A-Za-z0-9.-]', '-', text)


def package(name, version, licence, **more):
    return {'SPDXID': identifier(name), 'name': name, 'versionInfo': version, 'downloadLocation': 'NOASSERTION',
            'filesAnalyzed': False, 'licenseConcluded': licence, 'licenseDeclared': licence, 'copyrightText': 'NOASSERTION', **more}


def digest(path):
    with open(path, 'rb') as file:
        return hashlib.sha256(file.read()).hexdigest()


def machine(path):
    """The CPU that an ELF file is for: a key of LINKED."""
    with open(path, 'rb') as file:
        head = file.read(20)
    return {40: 'ARM', 243: 'RISC-V'}[int.from_bytes(head[18:20], 'little')]


def installed(name):
    done = subprocess.run(['dpkg-query', '-W', '-f', '${Version}', name], capture_output=True, text=True, check=False)
    return done.stdout or 'NOASSERTION'


def relation(one, kind, other):
    return {'spdxElementId': one, 'relationshipType': kind, 'relatedSpdxElement': other}


def main():
    folder, version, seconds = sys.argv[1:]
    paths = sorted(os.path.relpath(os.path.join(where, name), folder) for where, _, names in os.walk(folder) for name in names)
    source = f'patchbay-{version}.tar.xz'
    packages, relations, linked = [], [], {}
    for path in paths:
        if os.path.basename(path) in ('SHA256SUMS', 'WHENCE', 'LICENCE.patchbay'):
            continue
        libraries = []
        image = re.fullmatch(r'linux-firmware/patchbay/(.*)_\d+\.bin|images/patchbay-(.*)\.elf', path)
        if image:
            libraries = LINKED[machine(f'{folder}/images/patchbay-{image[1] or image[2]}.elf')]
        licence = ' AND '.join(['MIT', *(licence for _, licence in libraries)])
        packages.append(package(path, version, licence, packageFileName=path,
                                checksums=[{'algorithm': 'SHA256', 'checksumValue': digest(f'{folder}/{path}')}]))
        relations.append(relation('SPDXRef-DOCUMENT', 'DESCRIBES', identifier(path)))
        if path != source:
            relations.append(relation(identifier(path), 'GENERATED_FROM', identifier(source)))
        for name, licence in libraries:
            linked[name] = package(name, installed(name), licence)
            relations.append(relation(identifier(path), 'STATIC_LINK', identifier(name)))
    created = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc)
    content = hashlib.sha256(json.dumps(packages).encode()).hexdigest()
    used = json.dumps(packages)
    json.dump({
        'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT', 'name': f'patchbay-{version}',
        'documentNamespace': f'https://patchbay.invalid/spdx/patchbay-{version}-{content}',
        'creationInfo': {'created': created.strftime('%Y-%m-%dT%H:%M:%SZ'), 'creators': [f'Tool: scripts-release-{version}']},
        'hasExtractedLicensingInfos': [{'licenseId': name, 'extractedText': text} for name, text in TEXTS.items() if name in used],
        'packages': packages + [linked[name] for name in sorted(linked)], 'relationships': relations}, sys.stdout, indent=1)
    print()


main()
