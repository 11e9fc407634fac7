#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The firmware image is a function of the sources: built in two folders it has the same bytes.
source "$(dirname "$0")/lib.sh"

work=$(mktemp -d)
trap 'rm -rf "$work" "$findings"' EXIT

# build_all FOLDER: the image of each board, in the tree or in a copy of it.
build_all() {
	local file board
	for file in "$1"/boards/*/board.c; do
		board=$(basename "$(dirname "$file")")
		cmake -S "$1" -B "$1/build/$board" -G Ninja -DPB_BOARD="$board" &&
			cmake --build "$1/build/$board" --target image -j "$(nproc)" || return 1
	done
}

# Here, where scripts/test has built them, and in a folder whose path has another length.
mkdir -p "$work/another/folder"
tar --exclude=./build --exclude=./.git -cf - . | tar -C "$work/another/folder" -xf -
for copy in "$PWD" "$work/another/folder"; do
	if ! build_all "$copy" >"$work/log" 2>&1; then
		tail -n 40 "$work/log"
		exit 1
	fi
done
for file in boards/*/board.c; do
	board=$(basename "$(dirname "$file")")
	images=0
	while IFS= read -r image; do
		images=$((images + 1))
		cmp "$image" "$work/another/folder/$image" >/dev/null 2>&1 ||
			echo "$image:1: differs between two builds in two folders" >>"$findings"
	done < <(find "build/$board" -maxdepth 1 -name "patchbay-$board*" \( -name '*.elf' -o -name '*.bin' \))
	((images)) || echo "build/$board:1: no image was built" >>"$findings"
done
finish
