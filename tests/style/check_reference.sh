#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Whatever the wire, the host library and the headers of the hardware declare is documented, and doxygen understands it.
tool=$(cd "$(dirname "$0")/../../scripts" && pwd)/reference.py
source "$(dirname "$0")/lib.sh"

work=$(mktemp -d)
trap 'rm -rf "$findings" "$work"' EXIT
settings() {
	sed '/^FILTER_PATTERNS/d' docs/Doxyfile
	printf '%s = "%s"\n' OUTPUT_DIRECTORY "$work" FILTER_PATTERNS "*.h=python3 $tool"
}
settings | doxygen - 2>"$work/warnings" >/dev/null
sed -E "s,^$PWD/,,; s,: warning: ,: ," "$work/warnings" >"$findings"
finish
