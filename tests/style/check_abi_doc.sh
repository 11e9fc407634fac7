#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs/abi.md describes the wire as the headers of firmware/abi declare it, and leaves nothing out.
tool=$(cd "$(dirname "$0")/../../scripts" && pwd)/abi.pl
source "$(dirname "$0")/lib.sh"

perl "$tool" >"$findings" || [[ -s $findings ]]
finish
