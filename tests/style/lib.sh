# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Shared by the style checks. A check is called as check_NAME.sh [ROOT]; it prints
# "file:line: what is wrong" and exits 1, or says nothing and exits 0.

set -euo pipefail
export LC_ALL=C

cd "${1-$(dirname "${BASH_SOURCE[0]}")/../..}"

# All source files below the given folders that exist, or below the whole tree; without "./" in front.
sources() {
	local folder folders=()
	for folder in "${@-.}"; do
		[[ ! -e $folder ]] || folders+=("$folder")
	done
	((${#folders[@]})) || return 0
	find "${folders[@]}" \( -name .git -o -path ./build \) -prune -o \( -name '*.[ch]' -o -name '*.cpp' \) -print |
		sed 's,^\./,,' | sort
}

# Every text file that people write.
texts() {
	find . \( -name .git -o -path ./build \) -prune -o -type f -size -1024k \
		\( -name '*.[chS]' -o -name '*.cpp' -o -name '*.ld' -o -name '*.cmake' -o -name '*.txt' -o -name '*.json' \
		-o -name '*.md' -o -name '*.sh' -o -path './scripts/*' -o -path './.ci/*' \) -print |
		sed 's,^\./,,' | sort
}

# "file:line:text" of each line of code; comments and string literals are blanked out.
code() {
	(($#)) || return 0
	awk '
	FNR == 1 { inside = 0 }
	{
		line = $0; out = ""
		while (line != "") {
			if (inside) {
				at = index(line, "*/")
				if (!at) break
				line = substr(line, at + 2); inside = 0
			} else if (substr(line, 1, 2) == "//") {
				break
			} else if (substr(line, 1, 2) == "/*") {
				line = substr(line, 3); inside = 1; out = out " "
			} else if (match(line, /^"([^"\\]|\\.)*"/) || match(line, /^\047([^\047\\]|\\.)*\047/)) {
				out = out "\"\""; line = substr(line, RLENGTH + 1)
			} else {
				out = out substr(line, 1, 1); line = substr(line, 2)
			}
		}
		print FILENAME ":" FNR ":" out
	}' "$@"
}

# The last command of a check: exit 1 if the file of findings is not empty.
findings=$(mktemp)
trap 'rm -f "$findings"' EXIT
finish() {
	sort -u -t : -k 1,1 -k 2,2n "$findings"
	[[ ! -s $findings ]]
}
