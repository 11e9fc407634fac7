#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each struct that crosses the bus has fixed-width fields, and its size and every offset are checked right below it.
source "$(dirname "$0")/lib.sh"

# A wire header is one that uses the checks.
mapfile -t wire < <(sources include/patchbay/abi; sources hal | xargs -r grep -l 'PB_SIZE(' || true)
((${#wire[@]})) || exit 0
code "${wire[@]}" | awk '
{
	match($0, /^[^:]*:[0-9]*:/)
	where = substr($0, 1, RLENGTH)
	text = substr($0, RLENGTH + 1)
}
text ~ /^struct [a-z0-9_]+ *{/ {
	split(text, word, /[ {]+/)
	name = word[2]; place[name] = where; structs++; inside = 1
	next
}
inside && text ~ /^}/ { inside = 0 }
inside && text ~ /;/ {
	if (text !~ /^[ \t]*(u?int(8|16|32|64)_t|char|struct pb_[a-z0-9_]+)[ \t]+[a-z0-9_]+(\[[A-Z0-9_a-z]+\])*[ \t]*;[ \t]*$/) {
		print where " a wire field is one fixed-width field on a line"
		next
	}
	field = text
	sub(/[ \t]*(\[.*)?;[ \t]*$/, "", field)
	sub(/^.*[ \t]/, "", field)
	fields[name " " field] = where
}
text ~ /^PB_SIZE\(/ { split(text, word, /[(), ]+/); sized[word[2]] = 1 }
text ~ /^PB_AT\(/ { split(text, word, /[(), ]+/); at[word[2] " " word[3]] = 1 }
END {
	for (name in place)
		if (!(name in sized))
			print place[name] " PB_SIZE(" name ", ...) is missing"
	for (key in fields)
		if (!(key in at) && key !~ /reserved/) {
			split(key, word, " ")
			print fields[key] " PB_AT(" word[1] ", " word[2] ", ...) is missing"
		}
}' >"$findings"
finish
