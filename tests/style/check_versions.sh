#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The versions of the tree, CHANGELOG.md, the released files and the tags follow the rules of docs/versions.md.
tool=$(cd "$(dirname "$0")" && pwd)/versions.py
source "$(dirname "$0")/lib.sh"

python3 "$tool" >"$findings"
finish
