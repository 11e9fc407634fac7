#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Paths that the documents name exist: words in backticks that begin with a folder of the tree, and links.
# A component in capitals, as in boards/NAME/board.c, stands for any name. In `path: function()` the file has that
# function, and what is called ..._instr... in backticks is a figure of README.md or scripts/bench.
source "$(dirname "$0")/lib.sh"

mapfile -t documents < <(find . -maxdepth 1 -name '*.md'; find docs -name '*.md' 2>/dev/null || true)
((${#documents[@]})) || exit 0
tops='firmware|hal|boards|linker|host|qemu|tests|docs|scripts|cmake|\.ci'

# "file:line:path"
named_paths() {
	awk -v folders="^($tops)/" '
	/^```/ { fence = !fence; next }
	fence {
		if ($1 ~ folders)
			print FILENAME ":" FNR ":" $1
		next
	}
	{
		line = $0
		while (match(line, /`[^`]+`/)) {
			word = substr(line, RSTART + 1, RLENGTH - 2)
			line = substr(line, RSTART + RLENGTH)
			if (word ~ folders && word ~ /^[^ ]+: [a-z0-9_]+\(\)$/)
				print FILENAME ":" FNR ":&" word
			if (word ~ /^[a-z0-9_]+_instr[a-z0-9_]*$/)
				print FILENAME ":" FNR ":#" word
			sub(/:? .*/, "", word)
			if (word ~ folders)
				print FILENAME ":" FNR ":" word
		}
		line = $0
		while (match(line, /\]\([^)#]+/)) {
			word = substr(line, RSTART + 2, RLENGTH - 2)
			line = substr(line, RSTART + RLENGTH)
			if (word !~ /^[a-z]+:/)
				print FILENAME ":" FNR ":@" word
		}
	}' "${documents[@]#./}"
}

while IFS=: read -r document line path; do
	case $path in
	'&'*)
		file=${path%%:*} function=${path##* }
		file=${file#&}
		[[ ! -e $file ]] || grep -qE "^[a-z#].*[* ]${function%()}\(.*[^;]$" "$file" ||
			echo "$document:$line: $file has no $function" >>"$findings"
		continue
		;;
	'#'*)
		grep -qF "| \`${path#\#}\` |" README.md || grep -qs "^[[:space:]]*\"${path#\#} " scripts/bench ||
			echo "$document:$line: there is no figure ${path#\#}" >>"$findings"
		continue
		;;
	esac
	if [[ $path == @* ]]; then
		path=$(dirname "$document")/${path#@}
	fi
	path=$(sed -E 's,(^|/)[A-Z]+(/|\.|$),\1*\2,g' <<<"$path")
	compgen -G "${path%/}" >/dev/null || echo "$document:$line: ${path#./} does not exist" >>"$findings"
done < <(named_paths)
finish
