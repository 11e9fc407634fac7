# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Shared by the style checks. A check is called as check_NAME.sh [ROOT]; it prints
# "file:line: what is wrong" and exits 1, or says nothing and exits 0.

set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "${1-$here/../..}"

# All source files below the given folders that exist; without "./" in front.
sources() {
	find "$@" \( -name .git -o -path ./build \) -prune -o \( -name '*.[ch]' -o -name '*.cpp' \) -print 2>/dev/null |
		sed 's,^\./,,' | sort
}

# need FILE: that scripts/test builds before its tests.
need() {
	[[ -e $1 ]] || { echo "$1 is missing: scripts/test builds it first" && exit 1; }
}

# The last command of a check: exit 1 if the file of findings is not empty.
findings=$(mktemp)
trap 'rm -f "$findings"' EXIT
finish() {
	sort -u -t : -k 1,1 -k 2,2n "$findings"
	[[ ! -s $findings ]]
}
