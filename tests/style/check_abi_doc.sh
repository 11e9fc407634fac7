#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs/abi.md describes the wire as the headers of include/patchbay/abi declare it, and leaves nothing out.
tool=$(cd "$(dirname "$0")/../../scripts" && pwd)/abi.py
source "$(dirname "$0")/lib.sh"

python3 "$tool" >"$findings" || [[ -s $findings ]]
finish
