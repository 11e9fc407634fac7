#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A board is a small folder, fewer than 200 lines in all, and nothing outside names it.
source "$(dirname "$0")/lib.sh"

board_lines_max=199
# Copied to make a board; its name is an English word.
template=template
# Where the board is chosen that commands use when none is named.
chooser=host/tool/board_image.h
chosen_in='(host/tool/board_image[.]h|qemu/card[.]h|scripts/(debug|demo|linux|patchbay|programs|soak))'

# check_folder BOARD: an application that runs on the board lies in app/ and is not counted.
check_folder() {
	local folder=boards/$1 file lines=0
	while IFS= read -r file; do
		lines=$((lines + $(wc -l <"$file")))
		[[ $1 == "$template" ]] || grep -nH '\bCHANGE:' "$file" |
			sed -E 's/^([^:]*:[0-9]+):.*/\1: still as in the template/' >>"$findings" || true
	done < <(find "$folder" -path "$folder/app" -prune -o -type f -print | sort)
	((lines <= board_lines_max)) ||
		echo "$folder:1: the board has $lines lines, at most $board_lines_max" >>"$findings"
}

all=$(texts)

# check_name BOARD: tests and documents may be about a board, and budgets are one board's each.
check_name() {
	local others='^(tests|docs)/|^scripts/(bench|cycles([.]py)?)$|[.]md$' files
	[[ $1 != "$template" ]] || return 0
	! grep -qsF "\"$1\"" "$chooser" || others+="|^$chosen_in\$"
	mapfile -t files < <(grep -Ev "$others|^boards/$1/" <<<"$all")
	grep -nHw -- "$1" /dev/null "${files[@]}" | sed -E "s/^([^:]*:[0-9]+):.*/\1: only boards\/$1 may know $1/" \
		>>"$findings" || true
}

for folder in boards/*/; do
	[[ -d $folder && $folder != boards/cmake/ && $folder != boards/zephyr/ ]] || continue
	check_folder "$(basename "$folder")"
	check_name "$(basename "$folder")"
done
finish
