#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the session of docs/debugging.md and compares gdb's output with the page.
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The fenced blocks that have a prompt, without their fences.
awk '/^```/ { if (inside && session) printf "%s", block; inside = !inside; session = 0; block = ""; next }
	inside { block = block $0 "\n"; if (/^\(gdb\) /) session = 1 }' docs/debugging.md >"$work/session"
sed -n 's/^(gdb) //p' "$work/session" >"$work/commands"
[[ -s $work/commands ]] || { echo "docs/debugging.md has no session"; exit 1; }

# Addresses and line numbers change with every build; values behind a $ stay.
normalise() {
	sed -E 's/[[:space:]]+/ /g; /^\$/!s/0x[0-9a-f]+/0xN/g; s/^(\$[0-9]+ = )0x[0-9a-f]+ <(\w+)> "/\10xN <\2> "/
		s/(\.[ch]:|line |\+)[0-9]+/\1N/g; s/ $//'
}
scripts/debug --built mps2_an500 -batch -x "$work/commands" >"$work/out" 2>"$work/err" ||
	{ cat "$work/out" "$work/err"; exit 1; }
grep -v '^(gdb) ' "$work/session" | normalise >"$work/expected"
normalise <"$work/out" >"$work/found"

# Each line of the page, in this order.
awk 'NR == FNR { expected[++count] = $0; next }
	next_line < count && index($0, expected[next_line + 1]) { next_line++ }
	END {
		if (next_line == count && count > 0)
			exit 0
		print "gdb did not say, after what comes before it on the page: " expected[next_line + 1]
		exit 1
	}' "$work/expected" "$work/found" || { cat "$work/out" "$work/err"; exit 1; }
echo "$(wc -l <"$work/commands") commands printed what docs/debugging.md shows"
