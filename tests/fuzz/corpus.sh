# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The corpus of a fuzz target is one file, tests/fuzz/corpus/TARGET.txt: a line for each case, its bytes in hexadecimal
# ("-" for a case of no bytes), then a name if the case was made by hand or failed once. Lines are sorted by their bytes,
# each case stands once, so that the same cases always give the same file. Sourced by scripts/fuzz and run.sh.

# corpus_count ARCHIVE: cases in it; 0 if there is no such file.
corpus_count() {
	if [[ -e $1 ]]; then wc -l <"$1"; else echo 0; fi
}

# corpus_unpack ARCHIVE FOLDER: one file for each case, called by its name or by the number of its line.
corpus_unpack() {
	local bytes name line=0
	mkdir -p "$2"
	while read -r bytes name; do
		line=$((line + 1))
		[[ $bytes =~ ^(-|([0-9a-f][0-9a-f])+)$ ]] || {
			printf '%s:%d: not a case\n' "$1" "$line" >&2
			return 1
		}
		[[ $bytes != - ]] || bytes=
		# shellcheck disable=SC2001,SC2059 # the format is the bytes
		printf "$(sed 's/../\\x&/g' <<<"$bytes")" >"$2/${name:-$line}"
	done <"$1"
}

# corpus_pack FOLDER ARCHIVE: the files of the folder. A name of digits or of a SHA-1 sum says nothing and is left out; of
# two equal cases one with a name is kept.
corpus_pack() {
	local file name bytes
	for file in "$1"/*; do
		[[ -f $file ]] || continue
		bytes=$(od -An -v -tx1 "$file" | tr -d ' \n')
		name=${file##*/}
		[[ ! $name =~ ^([0-9]+|[0-9a-f]{40})$ ]] || name=
		printf '%s\n' "${bytes:--}${name:+ $name}"
	done | LC_ALL=C sort -k1,1 -k2,2r | awk '$1 != last { print; last = $1 }' >"$2.new"
	mv "$2.new" "$2"
}
