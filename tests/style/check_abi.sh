#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The wire is described, its layout is checked by the compiler, and its version says when it changed.
source "$(dirname "$0")/lib.sh"
python3 "$here/abi.py"
