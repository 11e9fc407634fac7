#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pack.py FOLDER: builds what a CMSIS pack describes, as a tool that selects all of its components would.

Checks that the names that the description uses are defined, and that its files exist; compiles the sources with the
include paths that the description gives, and prints the sources, sorted.
"""
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

COMPILER = ['arm-none-eabi-gcc', '-mcpu=cortex-m7', '-mthumb', '-std=c11', '-Os', '-ffreestanding', '-fsyntax-only']


def check_names(package):
    """Each condition that is required exists; a component that is required is one of the pack."""
    conditions = {condition.get('id') for condition in package.iter('condition')}
    groups = {(component.get('Cclass'), component.get('Cgroup')) for component in package.iter('component')}
    for element in package.iter():
        if element.tag != 'condition' and element.get('condition') is not None:
            assert element.get('condition') in conditions, element.attrib
        if element.tag == 'require' and element.get('Cclass') is not None:
            assert (element.get('Cclass'), element.get('Cgroup')) in groups, element.attrib
    releases = {release.get('version') for release in package.iter('release')}
    assert {component.get('Cversion') for component in package.iter('component')} == releases


def main():
    folder = sys.argv[1]
    package = ElementTree.parse(os.path.join(folder, 'Patchbay.patchbay.pdsc')).getroot()
    assert (package.findtext('vendor'), package.findtext('name')) == ('Patchbay', 'patchbay')
    assert os.path.isfile(os.path.join(folder, package.findtext('license')))
    check_names(package)
    files = [(file.get('category'), file.get('name')) for file in package.iter('file')]
    includes = ['-I' + os.path.join(folder, name) for category, name in files if category == 'include']
    sources = sorted(name for category, name in files if category == 'sourceC')
    assert len(files) == len(set(files)) == len(includes) + len(sources)
    drivers = [os.path.join(folder, name) for name in sources if not name.startswith('firmware/')]
    subprocess.run([*COMPILER, *includes, *drivers], check=True)
    print('\n'.join(sources))


main()
