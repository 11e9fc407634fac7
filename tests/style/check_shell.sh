#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The scripts are as shellcheck wants them, but for what .shellcheckrc leaves out.
source "$(dirname "$0")/lib.sh"

{
	grep -lE '^#!.*bash$' scripts/* .ci/*
	find scripts tests -name '*.sh'
} | sort -u | xargs -r -n 16 -P "$(nproc)" shellcheck -f gcc
