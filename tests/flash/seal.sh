#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# seal.sh PATCHBAY: scripts/seal produces images that `patchbay image` accepts, changes nothing the second time, and
# refuses files that it cannot seal, without a change.
# shellcheck source=scripts/lib.sh disable=SC2154
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib.sh"

patchbay=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cases=0
failures=0

wrong() {
	failures=$((failures + 1))
	echo "wrong: $*"
}

# Every built image of every board, images of the tests included. A boot loader is no image: it has no header.
images=0
for elf in "$root"/build/*/patchbay-*.elf; do
	[[ -e $elf ]] || break
	[[ ${elf##*/} != patchbay-loader-* ]] || continue
	images=$((images + 1))
	cases=$((cases + 1))
	"$patchbay" image "$elf" >/dev/null || wrong "$elf is not good"
	cp "$elf" twice.elf
	"$root/scripts/seal" twice.elf
	cmp "$elf" twice.elf || wrong "$elf changes when it is sealed again"
done
((images)) || die 1 "no image is built: scripts/test does that first"
sound=$root/build/mps2_an500/patchbay-mps2_an500.elf
# The loaded part is contiguous in the file up to the end of the header.
header=$(grep -abo PBIM "$sound" | head -n 1 | cut -d : -f 1)

# refuses WORDS: checks the refusal of broken.elf, and that the file does not change
refuses() {
	cases=$((cases + 1))
	cp broken.elf before.elf
	if "$root/scripts/seal" broken.elf 2>err; then
		wrong "sealed in spite of: $1"
	fi
	[[ $(<err) == "broken.elf: $1" ]] || wrong "the message is '$(<err)', not: $1"
	cmp before.elf broken.elf || wrong "$1: the file has changed"
}

# broken OFFSET BYTES: the good image with other bytes at an offset
broken() {
	cp "$sound" broken.elf
	# shellcheck disable=SC2059
	printf "$2" | dd of=broken.elf bs=1 seek="$1" conv=notrunc status=none
}

broken 4 '\003'
refuses 'not a little-endian ELF file'
broken 5 '\002'
refuses 'not a little-endian ELF file'
printf 'text' >broken.elf
refuses 'not a little-endian ELF file'
broken 44 '\000\000'
refuses 'nothing in it is loaded'
broken "$header" 'X'
refuses 'no header of version 1'
broken $((header + 4)) '\002'
refuses 'no header of version 1'
broken 48 '\000\000'
refuses 'the linker made no build id of SHA-1'
rm broken.elf
cases=$((cases + 1))
! "$root/scripts/seal" broken.elf 2>err || wrong 'sealed a missing file'
[[ $(<err) == 'broken.elf: No such file or directory' ]] || wrong "the message for a missing file is: $(<err)"

echo "$cases cases, $failures wrong"
((failures == 0))
