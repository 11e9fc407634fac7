#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs/wddm.md is complete and true to its word: it names every field of the three structs that carry a submission,
# below a heading that names the struct; each documented field of the structs that Render and Patch get, as
# host/wddm/ddi_layout.def has them, begins a row below a heading that names the documented struct; each test that it names
# exists, with the row that it names; and no row of a table is without its test or its reason.
source "$(dirname "$0")/lib.sh"

structs='pb_descriptor|pb_patch_location|pb_allocation'
document=docs/wddm.md
documented='DXGKARG_PATCH|DXGKARG_RENDER|D3DDDI_PATCHLOCATIONLIST|DXGK_ALLOCATIONLIST'
layout=host/wddm/ddi_layout.def

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

# "line:struct field" of each documented field; Value is another name of bit-fields.
documented_fields() {
	[[ ! -e $layout ]] || awk -F '[(,]' -v wanted="^($documented)$" '
	/^#define WDK/ { split($0, word, " "); inside = word[3] ~ wanted; name = word[3] }
	/^#undef WDK/ { inside = 0 }
	inside && /^(FIELD|RENAMED)/ && $6 != " Value" { print FNR ":" name $6 }' "$layout"
}

# "heading:field" of the first cell of each row, where several fields may share a row, and without what follows a field's name.
first_cells() {
	[[ ! -e $document ]] || awk '
	/^#/ { heading = $0; gsub(/[:`]/, "", heading) }
	/^\| / {
		split($0, cell, /  *\| */)
		sub(/^\| */, "", cell[1])
		count = split(cell[1], field, /, */)
		for (i = 1; i <= count; i++) {
			print heading ":" field[i]
		}
	}' "$document"
}

cells=$(first_cells)
while IFS=: read -r line field; do
	grep -qE "\b${field% *}\b.*:${field#* }\$" <<<"$cells" ||
		echo "$layout:$line: $document has no row of ${field/ /.}" >>"$findings"
done < <(documented_fields)

# Columns "shown by" and "reason" have no empty cells.
[[ ! -e $document ]] || awk -v document="$document" '
!/^\|/ { columns = 0; next }
!columns { columns = split($0, title, / *\| */); next }
{
	split($0, cell, / *\| */)
	for (i = 1; i < columns; i++)
		if ((title[i] == "shown by" || title[i] == "reason") && cell[i] == "")
			print document ":" FNR ": a row without " (title[i] == "reason" ? "its reason" : "a test")
}' "$document" >>"$findings"

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
