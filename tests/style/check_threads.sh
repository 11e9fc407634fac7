#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each public function states which locks it uses and whether it waits, as its code does (include/patchbay/lock.h).
source "$(dirname "$0")/lib.sh"
python3 "$here/threads.py" >"$findings"
finish
