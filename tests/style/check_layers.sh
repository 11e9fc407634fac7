#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Calls go one way between the folders of firmware/, as docs/design.md has it, and in no circle between its files. Beside
# firmware/ no more than two files call one another. Headers include what is below them.
tool=$(cd "$(dirname "$0")" && pwd)/layers.py
source "$(dirname "$0")/lib.sh"

python3 "$tool" >"$findings" || [[ -s $findings ]]
finish
