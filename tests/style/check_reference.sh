#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Whatever the wire, the host library and the headers of the hardware declare is documented, and doxygen understands it.
source "$(dirname "$0")/lib.sh"

work=$(mktemp -d)
trap 'rm -rf "$findings" "$work"' EXIT
tools=$(realpath "$here/../../scripts")
python3 "$tools/abi.py" "$work/abi.md" || exit 1
settings() {
	sed "/^FILTER_PATTERNS/d; s,build/docs/,$work/," docs/Doxyfile
	printf '%s = "%s"\n' OUTPUT_DIRECTORY "$work" FILTER_PATTERNS "*.h=python3 $tools/reference.py"
}
settings | doxygen - 2>"$work/warnings" >/dev/null
sed -E "s,^$PWD/,,; s,: warning: ,: ," "$work/warnings" >"$findings"
finish
