#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The firmware image is a function of the sources: built in two folders it has the same bytes.
source "$(dirname "$0")/lib.sh"

work=$(mktemp -d)
trap 'rm -rf "$work" "$findings"' EXIT

# The second folder has a path of another length.
for copy in one another/folder; do
	mkdir -p "$work/$copy"
	tar --exclude=./build --exclude=./.git -cf - . | tar -C "$work/$copy" -xf -
	if ! { cmake -S "$work/$copy" --preset mps2_an500 &&
		cmake --build "$work/$copy/build/mps2_an500" --target image -j "$(nproc)"; } >"$work/log" 2>&1; then
		tail -n 40 "$work/log"
		exit 1
	fi
done
images=0
while IFS= read -r image; do
	images=$((images + 1))
	cmp "$work/one/$image" "$work/another/folder/$image" >/dev/null 2>&1 ||
		echo "$image:1: differs between two builds in two folders" >>"$findings"
done < <(cd "$work/one" && find build/mps2_an500 -name 'patchbay-mps2_an500*' \( -name '*.elf' -o -name '*.bin' \))
((images)) || echo "build/mps2_an500:1: no image was built" >>"$findings"
finish
