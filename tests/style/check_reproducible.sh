#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The firmware image is a function of the sources: built in two folders it has the same bytes.
source "$(dirname "$0")/lib.sh"

work=$(mktemp -d)
trap 'rm -rf "$work" "$findings"' EXIT

# A board for each compiler: boards differ in what they compile, not in how.
choose_boards() {
	local folder
	for folder in boards/*/; do
		[[ ! -e $folder/board.c ]] ||
			printf '%s %s\n' "$(basename "$folder")" "$(sed -n 's/^set(PB_TOOLCHAIN //p' "$folder/board.cmake")"
	done | sort -u -k 2 | cut -d ' ' -f 1
}

# build_all FOLDER: the image of each of these boards, in the tree or in a copy of it.
build_all() {
	local board
	for board in $boards; do
		cmake -S "$1" -B "$1/build/$board" -G Ninja -DPB_BOARD="$board" &&
			cmake --build "$1/build/$board" --target image -j "$(nproc)" || return 1
	done
}

boards=$(choose_boards)
# Here, where scripts/test has built them, and in a folder whose path has another length.
mkdir -p "$work/another/folder"
tar --exclude=./build --exclude=./.git -cf - . | tar -C "$work/another/folder" -xf -
for copy in "$PWD" "$work/another/folder"; do
	if ! build_all "$copy" >"$work/log" 2>&1; then
		tail -n 40 "$work/log"
		exit 1
	fi
done
for board in $boards; do
	images=0
	while IFS= read -r image; do
		images=$((images + 1))
		cmp "$image" "$work/another/folder/$image" >/dev/null 2>&1 ||
			echo "$image:1: differs between two builds in two folders" >>"$findings"
	done < <(find "build/$board" -maxdepth 1 -name "patchbay-$board*" \( -name '*.elf' -o -name '*.bin' \))
	((images)) || echo "build/$board:1: no image was built" >>"$findings"
done
finish
