#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A build of an image fails if its worst stack does not fit what it reserves, or cannot be known: the check of the build,
# on copies of finished builds, with less stack each time, and with faults in a call graph.
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fits BOARD BYTES: whether the check accepts an image with that much stack.
fits() {
	local map=$work/$1/patchbay-$1.elf.map bottom top
	cp "build/$1/patchbay-$1.elf.map" "$map"
	bottom=$(sed -nE 's/^ +(0x[0-9a-f]+) +pb_stack_bottom = .*/\1/p' "$map")
	top=$(printf '0x%x' $((bottom + $2)))
	sed -i -E "s/^( +)0x[0-9a-f]+( +pb_stack_top = )/\1$top\2/" "$map"
	python3 scripts/stack.py "$work/$1" >"$work/out" 2>"$work/err"
}

for board in mps2_an500 qemu_virt_rv32; do
	grep -q "stack.py .*build/$board" "build/$board/build.ninja" ||
		{ echo "the build of $board does not run the check"; exit 1; }
	(cd build && find "$board" -name '*.ci' -exec cp --parents -t "$work" {} +)
	worst=$(python3 scripts/stack.py "build/$board" 2>/dev/null)
	fits "$board" "$worst" || { cat "$work/err"; exit 1; }
	[[ $(<"$work/out") == "$worst" ]] || { echo "$board: the figure of a copy differs"; exit 1; }
	! fits "$board" $((worst - 8)) || { echo "$board: $worst bytes fitted in $((worst - 8))"; exit 1; }
	grep -q "may need $worst bytes and reserves $((worst - 8)):" "$work/err" || { cat "$work/err"; exit 1; }
	echo "$board: $worst bytes fit, 8 less do not"
done

# refuses WORDS LINE...: with these lines in the call graph of main.c the check fails with WORDS.
graph=boards/CMakeFiles/patchbay-mps2_an500.elf.dir/main.c.ci
refuses() {
	local words=$1
	shift
	cp "build/mps2_an500/$graph" "$work/mps2_an500/$graph"
	printf '%s\n' "$@" >>"$work/mps2_an500/$graph"
	! python3 scripts/stack.py "$work/mps2_an500" >"$work/out" 2>"$work/err" || { echo "passes: $words"; exit 1; }
	grep -qF "$words" "$work/err" || { echo "does not report: $words"; cat "$work/err"; exit 1; }
}

cp build/mps2_an500/patchbay-mps2_an500.elf.map "$work/mps2_an500"
edge='edge: { sourcename: "main" targetname: "%s" label: "boards/main.c:1:1" }'
node='node: { title: "%s" label: "%s\\n8 bytes (%s)\\n0 dynamic objects" }'
# shellcheck disable=SC2059
{
	refuses 'recursion through main' "$(printf "$edge" main)"
	refuses 'the frame of gone is unknown' "$(printf "$edge" gone)"
	refuses 'cannot tell what main calls in boards/main.c' "$(printf "$edge" __indirect_call)"
	refuses 'cannot tell what calls firmware/loop.c:entry' "$(printf "$node" loop.c:entry 'entry\nfirmware/loop.c:1:1' static)"
	refuses 'firmware/loop.c:grows has a frame of no fixed size' \
		"$(printf "$node" loop.c:grows 'grows\nfirmware/loop.c:1:1' dynamic)"
	refuses 'main is in two call graphs' "$(printf "$node" main 'main\nboards/main.c:1:1' static)"
}
echo "6 faults of a call graph are refused"
