#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Paths that the documents name exist: words in backticks that begin with a folder of the tree, and links.
# A component in capitals, as in boards/NAME/board.c, stands for any name. In `path: function()` the file has that
# function, and what is called ..._instr... in backticks is a figure of tests/bench/figures.tsv.
# A record of the trace in backticks, as in `1.234567  FEED  queue 0 fence 0x1 context 0`, is one of include/patchbay/abi/trace.h
# with its arguments; ", 12 us later" behind it is true of the record before it in the page.
source "$(dirname "$0")/lib.sh"

mapfile -t documents < <(find . -maxdepth 1 -name '*.md'; find docs -name '*.md' 2>/dev/null || true)
((${#documents[@]})) || exit 0
tops='firmware|hal|boards|linker|host|qemu|tests|docs|scripts|include|\.ci'

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

# "file:line: what is wrong"
wrong_records() {
	local schema=include/patchbay/abi/trace.h
	[[ -e $schema ]] || schema=/dev/null
	awk '
	FILENAME == ARGV[1] {
		if (match($0, /^\tX\([A-Z]+, [0-9]+, [A-Z]+, [0-9], "/)) {
			name = substr($0, 4)
			sub(/,.*/, "", name)
			sub(/^[^"]*"/, "")
			sub(/".*/, "")
			gsub(/:[a-z]/, "")
			events[name] = $0
		}
		next
	}
	FNR == 1 { last = "" }
	{
		line = $0
		while (match(line, /`[0-9]+\.[0-9][0-9][0-9][0-9][0-9][0-9]  +[A-Z]+ *[^`]*`/)) {
			record = substr(line, RSTART + 1, RLENGTH - 2)
			line = substr(line, RSTART + RLENGTH)
			split(record, words)
			clock = words[1]
			sub(/\./, "", clock)
			if (!(words[2] in events))
				print FILENAME ":" FNR ": no record of the trace is called " words[2]
			count = split(events[words[2]], arguments)
			for (i = 1; i <= count; i++)
				if (arguments[i] != "-" && index(record, " " arguments[i] " ") == 0)
					print FILENAME ":" FNR ": the record " words[2] " has an argument " arguments[i]
			if (match(line, /^, [0-9]+ us later/) && substr(line, 3) + 0 != clock - last)
				print FILENAME ":" FNR ": the record " words[2] " comes " clock - last " us later"
			last = clock
		}
	}' "$schema" "${documents[@]#./}" >>"$findings"
}
wrong_records

while IFS=: read -r document line path; do
	case $path in
	'&'*)
		file=${path%%:*} function=${path##* }
		file=${file#&}
		[[ ! -e $file ]] || grep -qE "^([A-Za-z#].*[* ])?${function%()}\(.*[^;]$" "$file" ||
			echo "$document:$line: $file has no $function" >>"$findings"
		continue
		;;
	'#'*)
		grep -qs "^${path#\#}"$'\t' tests/bench/figures.tsv ||
			echo "$document:$line: there is no figure ${path#\#}" >>"$findings"
		continue
		;;
	esac
	if [[ $path == @* ]]; then
		folder=.
		[[ $document != */* ]] || folder=${document%/*}
		path=$folder/${path#@}
	fi
	while [[ $path =~ ^(.*/)?[A-Z]+([/.].*)?$ ]]; do
		path=${BASH_REMATCH[1]}*${BASH_REMATCH[2]}
	done
	compgen -G "${path%/}" >/dev/null || echo "$document:$line: ${path#./} does not exist" >>"$findings"
done < <(named_paths)
finish
