#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A build of an image fails if its worst stack does not fit what it reserves: the check that it runs, on copies of what
# builds have left, with less stack each time.
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fits BOARD BYTES: whether the check lets an image with so much stack pass.
fits() {
	local map=$work/$1/patchbay-$1.elf.map bottom top
	cp "build/$1/patchbay-$1.elf.map" "$map"
	bottom=$(sed -nE 's/^ +(0x[0-9a-f]+) +pb_stack_bottom = .*/\1/p' "$map")
	top=$(printf '0x%x' $((bottom + $2)))
	sed -i -E "s/^( +)0x[0-9a-f]+( +pb_stack_top = )/\1$top\2/" "$map"
	perl scripts/stack.pl "$work/$1" >"$work/out" 2>"$work/err"
}

for board in mps2_an500 qemu_virt_rv32; do
	grep -q "stack.pl .*build/$board" "build/$board/build.ninja" ||
		{ echo "the build of $board does not ask"; exit 1; }
	(cd build && find "$board" -name '*.ci' -exec cp --parents -t "$work" {} +)
	worst=$(perl scripts/stack.pl "build/$board" 2>/dev/null)
	fits "$board" "$worst" || { cat "$work/err"; exit 1; }
	[[ $(<"$work/out") == "$worst" ]] || { echo "$board: another figure of a copy"; exit 1; }
	! fits "$board" $((worst - 8)) || { echo "$board: $worst bytes fitted in $((worst - 8))"; exit 1; }
	grep -q "may need $worst bytes and reserves $((worst - 8)):" "$work/err" || { cat "$work/err"; exit 1; }
	echo "$board: $worst bytes fit, 8 less do not"
done
