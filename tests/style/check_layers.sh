#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Calls go one way between the folders of firmware/, as docs/design.md has it, and in no circle between its files.
source "$(dirname "$0")/lib.sh"
python3 "$here/layers.py"
