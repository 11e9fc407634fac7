#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/docs/manual.sh PATCHBAY: docs/patchbay.1 has exactly the commands and long options of the command's own help,
# each in its section, and mandoc reports no error.

set -euo pipefail
page=$(cd "$(dirname "$0")/../.." && pwd)/docs/patchbay.1
patchbay=$1

# "command option" of all that a help lists, subcommands included.
in_help() {
	local name text
	text=$("$patchbay" "$@" --help </dev/null)
	if [[ $text == Usage:*" COMMAND [ARGUMENT...]"* ]]; then
		while read -r name; do
			in_help "$@" "$name"
		done < <(sed -nE 's/^  ([a-z]+) .*/\1/p' <<<"$text")
		return
	fi
	echo "patchbay $*:"
	sed -nE 's/^ *(-., )?--([a-z-]+).*/\2/p' <<<"$text" | sed "s/^/patchbay $*: --/"
}

# "command option" of all that the page lists: each command has the options of all, and those of a card if it refers to them.
in_page() {
	awk '
	/^\.Ss / { part = substr($0, 5); if (part ~ /^patchbay /) print part ":" }
	/^\.Sh / { part = $2 == "DESCRIPTION" ? "all" : "" }
	/^\.Sx Which card/ { card[part] = 1 }
	/^\.It Fl/ && match($0, /Fl -[a-z-]+/) && part != "" { options[part] = options[part] " " substr($0, RSTART + 4, RLENGTH - 4) }
	/^\.Ss patchbay/ { parts[++count] = part }
	END {
		for (i = 1; i <= count; i++) {
			part = parts[i]
			n = split(options["all"] options[part] (part in card ? options["Which card"] : ""), option, " ")
			for (j = 1; j <= n; j++)
				print part ": --" option[j]
		}
	}' "$page"
}

if ! diff <(in_help | sort) <(in_page | sort); then
	echo "above: < in the help and not in docs/patchbay.1; > in the page alone" >&2
	exit 1
fi
mandoc -Tlint -Wwarning "$page"
