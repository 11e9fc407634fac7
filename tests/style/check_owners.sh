#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each field of the state of firmware/ is written by the module that owns it, and by no other.
source "$(dirname "$0")/lib.sh"
python3 "$here/owners.py"
