#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The tree is as clang-format leaves it, but for host/linux, which is in the kernel's style.
source "$(dirname "$0")/lib.sh"

sources . | grep -v '^host/linux/' | xargs -r -n 64 -P "$(nproc)" clang-format --style=file --dry-run 2>&1 |
	sed -nE 's/^([^:]*:[0-9]+):[0-9]+: (warning|error): .*/\1: not as clang-format leaves it/p' >"$findings"
finish
