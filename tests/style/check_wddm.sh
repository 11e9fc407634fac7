#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs/wddm.md is complete and true to its word: it names every field of the three structs that carry a submission,
# below a heading that names the struct, and each test that it names exists, with the row that it names.
source "$(dirname "$0")/lib.sh"

structs='pb_descriptor|pb_patch_location|pb_allocation'
document=docs/wddm.md

# "line:heading:word" of each word in backticks, under the last heading.
words() {
	[[ ! -e $document ]] || awk '
	/^#/ { heading = $0; gsub(/[:`]/, "", heading) }
	{
		line = $0
		while (match(line, /`[^`]+`/)) {
			print FNR ":" heading ":" substr(line, RSTART + 1, RLENGTH - 2)
			line = substr(line, RSTART + RLENGTH)
		}
	}' "$document"
}

# "file:line:struct field" of each field.
fields() {
	local headers
	mapfile -t headers < <(sources include/patchbay/abi)
	code "${headers[@]}" | awk -v wanted="^($structs)$" '
	{
		match($0, /^[^:]*:[0-9]*:/)
		where = substr($0, 1, RLENGTH)
		text = substr($0, RLENGTH + 1)
	}
	text ~ /^struct [a-z0-9_]+ *{/ { split(text, word, /[ {]+/); name = word[2]; inside = name ~ wanted; next }
	text ~ /^}/ { inside = 0 }
	inside && text ~ /;/ {
		sub(/[ \t]*(\[.*)?;[ \t]*$/, "", text)
		sub(/^.*[ \t]/, "", text)
		print where name " " text
	}'
}

all_words=$(words)
while IFS=: read -r file line field; do
	grep -qE ":.*\\b${field% *}\\b.*:${field#* }\$" <<<"$all_words" ||
		echo "$file:$line: $document does not mention ${field/ /.}" >>"$findings"
done < <(fields)

# A test is named as suite.function, or suite.function: row.
shopt -s globstar
while IFS=: read -r line _ name row; do
	[[ $name =~ ^(test_[a-z0-9_]+)\.([a-z0-9_]+)$ ]] || continue
	source=$(compgen -G "tests/**/${BASH_REMATCH[1]}.c" || compgen -G "tests/**/${BASH_REMATCH[1]#test_}.c") ||
		source=/dev/null
	# A function, or a scenario of a table.
	if ! grep -qE "^(static void ${BASH_REMATCH[2]}\(void \*\*|[[:space:]](PUPPET|CARD)\(${BASH_REMATCH[2]},)" "$source"; then
		echo "$document:$line: there is no test $name" >>"$findings"
	elif [[ -n $row ]] && ! grep -qF "\"${row# }\"" "$source"; then
		echo "$document:$line: $name has no row \"${row# }\"" >>"$findings"
	fi
done <<<"$all_words"
finish
