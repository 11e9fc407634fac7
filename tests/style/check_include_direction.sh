#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Who may include whom. The core knows its own headers and the hardware contracts, never a CPU or a board.
source "$(dirname "$0")/lib.sh"

freestanding='<(stdint|stddef|stdbool|string)[.]h>'

# allow REGEX FILE...: every include of these files must match.
allow() {
	local allowed=$1
	shift
	(($#)) || return 0
	awk -v allowed="^($allowed)\$" '
	/^[ \t]*#[ \t]*include/ {
		name = $0
		sub(/^[ \t]*#[ \t]*include[ \t]*/, "", name)
		sub(/[>"][^>"]*$/, substr(name, 1, 1) == "<" ? ">" : "\"", name)
		if (name !~ allowed)
			print FILENAME ":" FNR ": " name " may not be included here"
	}' "$@" >>"$findings"
}

# rule FILES EXCEPT ALLOWED: each include of the files whose path matches FILES and not EXCEPT must match ALLOWED.
rule() {
	local files
	mapfile -t files < <(sources firmware hal boards host qemu tests | grep -E "$1" | grep -Ev "$2" || true)
	allow "$3" "${files[@]}"
}

none='^$'
rule '^firmware/abi/' "$none" '"firmware/abi/[^"]*"|<(stdint|stddef)[.]h>'
rule '^firmware/' '^firmware/abi/' "\"firmware/[^\"]*\"|\"hal/[^/\"]*\"|PB_BOARD_LIMITS_H|$freestanding"
rule '^hal/[^/]*$' "$none" "\"firmware/abi/[^\"]*\"|\"hal/[^/\"]*\"|$freestanding"
rule '^hal/.*/' '^hal/host/' "\"firmware/abi/[^\"]*\"|\"hal/[^\"]*\"|$freestanding"
# The drivers of the host stand on its operating system.
rule '^hal/host/' "$none" '"(firmware/abi|hal)/[^"]*"|<[^>]*>'
rule '^boards/' '/machine[.]c$' "\"(boards|hal|firmware)/[^\"]*\"|$freestanding"
# How to emulate a board is for the host.
rule '^boards/.*/machine[.]c$' "$none" '"qemu/machines[.]h"|<stddef[.]h>'
# What a kernel driver would take: links to a card and the command line are not part of it.
rule '^host/[^/]*$' '^host/link_' "\"host/[^/\"]*\"|\"firmware/abi/[^\"]*\"|\"hal/(shared|shared_copy|engine/packets)[.]h\"|$freestanding"
rule '^host/wddm/' "$none" "\"host/(wddm/)?[^/\"]*\"|\"firmware/abi/[^\"]*\"|\"hal/shared(_copy)?[.]h\"|$freestanding"
rule '^host/(link_|.*/)' '^host/wddm/' '"(host|qemu|hal|firmware/abi)/[^"]*"|<[^>]*>'
rule '^qemu/' "$none" '"(qemu|host|hal|firmware)/[^"]*"|<[^>]*>'
rule '^tests/' "$none" '"(tests|qemu|host|hal|firmware|boards)/[^"]*"|<[^>]*>'

finish
