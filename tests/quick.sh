#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# quick.sh FOLDER: runs those tests of the inner loop that were changed since they passed, in a build whose target
# quick_programs is built. Prints what failed, and counts over all; exit status 1 if one failed.
set -euo pipefail

folder=$1
status=0
ninja -C "$folder" -k 0 quick || status=1
cd "$folder/tests/quick"
while read -r name; do
	cat "$name".passed "$name".passed.failed 2>/dev/null || true
done <tests.txt | awk '{ passed += $1; failed += $2 } END { printf "%d passed, %d failed\n", passed, failed }'
exit $status
