#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each public function states which locks it uses and whether it waits, as its code does (include/patchbay/lock.h).
tool=$(cd "$(dirname "$0")" && pwd)/threads.py
source "$(dirname "$0")/lib.sh"

python3 "$tool" >"$findings" || [[ -s $findings ]]
finish
