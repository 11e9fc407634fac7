#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh PROGRAM CORPUS RUNS: the test of a fuzz target built with libFuzzer. Runs all cases of its corpus, and RUNS cases
# more from a fixed seed. New cases are thrown away: scripts/fuzz keeps those that it finds.
# shellcheck source=scripts/lib.sh disable=SC2154
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib.sh"
# shellcheck source=tests/fuzz/corpus.sh
source "$(dirname "${BASH_SOURCE[0]}")/corpus.sh"

program=$1
corpus=$2
found=$(mktemp -d)
trap 'rm -rf "$found"' EXIT
mkdir "$found/new"
corpus_unpack "$corpus" "$found/corpus"
"$program" -seed=1 -runs=$(($(corpus_count "$corpus") + $3)) -timeout="$patience" -rss_limit_mb=2048 -print_final_stats=1 \
	-artifact_prefix="$found/" "$found/new" "$found/corpus" 2>&1 | tail -n 60
