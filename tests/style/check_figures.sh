#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The tables of docs/figures.md and README.md show what tests/bench/figures.tsv records.
tool=$(cd "$(dirname "$0")/../../scripts" && pwd)/figures.py
source "$(dirname "$0")/lib.sh"

python3 "$tool" compare >"$findings" 2>&1 || [[ -s $findings ]]
finish
