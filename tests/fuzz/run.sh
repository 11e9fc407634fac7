#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh PROGRAM CORPUS RUNS: the test of a fuzz target. All of its corpus, and so many cases more from a fixed seed.
# What it finds is thrown away: scripts/fuzz keeps such things.
set -euo pipefail

program=$1
corpus=$2
found=$(mktemp -d)
trap 'rm -rf "$found"' EXIT
cases=$(find "$corpus" -type f | wc -l)
"$program" -seed=1 -runs=$((cases + $3)) -timeout=30 -rss_limit_mb=2048 -print_final_stats=1 \
	-artifact_prefix="$found/" "$found" "$corpus" 2>&1 | tail -n 60
