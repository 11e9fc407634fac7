#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each public header compiles alone, as C11 and as C++17, with include/ as the only include path, and includes no header
# from the folders of the implementation.
source "$(dirname "$0")/lib.sh"

# compile LANGUAGE COMPILER STANDARD HEADER: prints the first error or warning of the compiler.
compile() {
	local said
	said=$("$2" -x "$1" -std="$3" -Wall -Wextra -pedantic -Werror -fsyntax-only -fno-diagnostics-color \
		-fno-diagnostics-show-caret -Iinclude "$4" 2>&1) && return
	said=$(grep -m 1 -E '^[^:]+:[0-9]+:[0-9]+: (fatal )?(error|warning): ' <<<"$said" ||
		echo "$4:1:1: error: it does not compile")
	sed -E "s/^([^:]+:[0-9]+:)[0-9]+: (fatal )?(error|warning):/\1 as $1 alone:/" <<<"$said"
}

private='^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"](boards|firmware|hal|host|qemu|tests)/'
mapfile -t headers < <(sources include)
for header in "${headers[@]}"; do
	if grep -qE "$private" "$header"; then
		grep -nE "$private" "$header" | sed -E "s,^([0-9]+):.*[<\"]([^>\"]*)[>\"].*,$header:\1: \2 is no public header,"
		continue
	fi
	said=$(compile c "${CC:-cc}" c11 "$header")
	[[ -n $said ]] || said=$(compile c++ "${CXX:-c++}" c++17 "$header")
	[[ -z $said ]] || echo "$said"
done >>"$findings"
finish
