#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Words that this project has retired stand in no comment, no identifier and no page. docs/glossary.md has the words in use.
# An underscore ends a word, so identifiers are checked too; a phrase is found across the end of a line.
# Exempt: saved records and data, this check and its selftest, and what CHANGELOG.md has between the lines
# "<!-- renamed -->" and "<!-- /renamed -->", which is the history of the renamed words.
source "$(dirname "$0")/lib.sh"

words='chores?|stopwatch(es)?|lapsed|bypass(es|ed)|owed|owes|guarded|g[eo]ts? on|goes down|nobody|somebody'
words+='|withdr[ae]w[a-z]*|taken back|tripped|exact way|the other way round|who has'
exempt='^tests/(records|data|fuzz/corpus)/|^tests/style/(check_words|selftest)[.]sh$'

# The files to check, one a line.
candidates() {
	find . -maxdepth 1 -name '*.md'
	local folder
	for folder in firmware hal loader boards linker include host qemu tests scripts docs; do
		[[ ! -d $folder ]] || find "$folder" -type f \( -path 'scripts/*' -o -name '*.[chS1]' -o -name '*.cpp' \
			-o -name '*.ld' -o -name '*.cmake' -o -name '*.txt' -o -name '*.md' -o -name '*.sh' -o -name '*.py' \
			-o -name '*.pl' -o -name '*.pml' -o -name '*.tsv' -o -name '*.list' \)
	done
}

# "file:line: the retired word WORD" for each line; a phrase that two lines share is reported at the second one.
retired() {
	awk -v words="(^|[^a-z0-9])($words)(\$|[^a-z0-9])" '
	FNR == 1 { before = ""; history = 0 }
	/^<!-- \/?renamed -->$/ { history = !/\//; before = ""; next }
	history { next }
	{
		line = tolower($0)
		gsub(/_/, " ", line)
		# What begins a line of a comment or of a list is no part of its text.
		sub(/^[ \t]*([*#>-]+|\/[*\/]+|\.\\")?[ \t]*/, "", line)
		found = match(line, words) ? line : match(before " " line, words) ? before " " line : ""
		if (found != "") {
			match(found, words)
			word = substr(found, RSTART, RLENGTH)
			gsub(/^[^a-z]+|[^a-z]+$/, "", word)
			print FILENAME ":" FNR ": the retired word \"" word "\""
		}
		# The end of this line, unless it was reported: the longest phrase has four words.
		count = split(line, word_of, /[ \t]+/)
		before = ""
		for (i = count > 3 && found == "" ? count - 2 : found == "" ? 1 : count + 1; i <= count; i++)
			before = before " " word_of[i]
	}' "$@"
}

mapfile -t files < <(candidates | sed 's,^\./,,' | grep -Ev "$exempt" | sort)
((${#files[@]})) || exit 0
retired "${files[@]}" >"$findings"
finish
