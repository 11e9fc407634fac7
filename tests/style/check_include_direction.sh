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

all=$(sources include firmware hal loader boards host qemu tests)

# rule FILES EXCEPT ALLOWED: each include of the files whose path matches FILES and not EXCEPT must match ALLOWED.
rule() {
	local file files=()
	while IFS= read -r file; do
		[[ ! $file =~ $1 || $file =~ $2 ]] || files+=("$file")
	done <<<"$all"
	allow "$3" "${files[@]}"
}

none='^$'
abi='"patchbay/abi/[^"]*"'
public='"patchbay/[^"]*"'
rule '^include/patchbay/abi/' "$none" "$abi|<(stdint|stddef)[.]h>"
# A client's include path is include/ alone.
rule '^include/' '^include/patchbay/abi/' "$public|$freestanding"
rule '^firmware/' "$none" "\"firmware/[^\"]*\"|\"hal/[^/\"]*\"|$abi|PB_BOARD_LIMITS_H|$freestanding"
rule '^hal/[^/]*$' "$none" "$abi|\"hal/[^/\"]*\"|$freestanding"
rule '^hal/.*/' '^hal/host/' "$abi|\"hal/[^\"]*\"|$freestanding"
# The drivers of the host stand on its operating system.
rule '^hal/host/' "$none" "$abi|\"hal/[^\"]*\"|<[^>]*>"
# The loader knows its own headers and the hardware contracts; one file knows the cryptographic library.
rule '^loader/' '^loader/crypto[.]c$' "\"loader/[^\"]*\"|\"hal/[^/\"]*\"|$abi|$freestanding"
rule '^loader/crypto[.]c$' "$none" "\"loader/crypto[.]h\"|<bearssl_(ec|hash)[.]h>|$freestanding"
# The MCU's end of an emulated card is below the boards, beside the drivers.
# Of both, only what belongs to a loader knows the loader: no firmware image reaches it, nor what loaders have of the flash.
loads='^boards/(emulated_loader[.]|[^/]*/loader/)|^qemu/mcu/(flash[.]h$|loader_)'
rule '^qemu/mcu/' "$loads" "$abi|\"(qemu/mcu/(layout|lines|nodes|uart_[a-z0-9]*)[.]h|hal/[^\"]*)\"|$freestanding"
rule '^boards/' "/machine[.]c$|^boards/[^/]*/app/|$loads" \
	"$abi|\"((boards|hal|firmware)/[^\"]*|qemu/mcu/(layout|lines|nodes|uart_[a-z0-9]*)[.]h)\"|$freestanding"
rule "$loads" "$none" "$abi|\"(boards|hal|loader|qemu/mcu)/[^\"]*\"|$freestanding"
# A host that runs on the MCU knows the card as any other host does, and its board not at all.
rule '^boards/[^/]*/app/' "$none" "$abi|\"(boards/[^/]*/app/[^/\"]*|hal/(shared|shared_copy|engine/packets|card_admin/admin)[.]h)\"|$freestanding"
# How to emulate a board is for the host.
rule '^boards/.*/machine[.]c$' "$none" '"qemu/machines[.]h"|<stddef[.]h>'
# What a kernel driver would take: links to a card and the command line are not part of it.
rule '^host/[^/]*$' '^host/link_' "\"host/[^/\"]*\"|$public|\"hal/(shared|shared_copy|engine/packets)[.]h\"|$freestanding"
rule '^host/wddm/' '^host/wddm/windows/' "\"host/(wddm/)?[^/\"]*\"|$public|\"hal/shared(_copy)?[.]h\"|$freestanding"
# The front end of OpenGL programs, but for its sockets and processes, which are in host/tool.
rule '^host/gl/' "$none" "\"host/(gl/)?[^/\"]*\"|$public|\"hal/(shared|engine|engine/packets|engine/gl_packets|gl/[a-z]*)[.]h\"|$freestanding"
# Where the shim becomes a driver of Windows it takes the headers of the driver kit, or what stands in for them.
rule '^host/wddm/windows/' "$none" "\"host/wddm/(windows/)?[^/\"]*\"|\"standin[.]h\"|$public|<[^>]*>"
# The DRM driver takes the kernel's headers; its tests are programs of the guest.
kernel='<(linux|drm|trace|uapi/drm)/[^>]*[.]h>'
rule '^host/linux/' '^host/linux/(tests|tools)/' "\"(pbd_[a-z0-9_]*|patchbay_drm|patchbay_i915|host/gl/client)[.]h\"|$public|$kernel"
rule '^host/linux/tests/' "$none" "\"((../)?(guest|shown)|failing|gl|objects|tests|tests/e2e/gl_endless|i915|chain|kms_(display|checks)|../patchbay_(drm|i915)|hal/engine/packets)[.]h\"|$public|<[^>]*>"
rule '^host/linux/tools/' "$none" '"../patchbay_i915[.]h"|<[^>]*>'
# Programs of others, which see what is installed; and a board of theirs.
rule '^host/examples/[^/]*$' "$none" "$public|\"example[.]h\"|<[^>]*>"
rule '^host/examples/board/' "$none" "$abi|\"(boards|hal|firmware|qemu/mcu)/[^\"]*\"|$freestanding"
rule '^host/(link_|.*/)' '^host/(wddm|gl|linux|examples)/' "$public|\"(host|qemu|hal|loader)/[^\"]*\"|<[^>]*>"
rule '^qemu/' '^qemu/mcu/' "$public|\"(qemu|host|hal|loader|firmware)/[^\"]*\"|<[^>]*>"
rule '^tests/' "$none" "$public|\"(tests|qemu|host|hal|loader|firmware|boards)/[^\"]*\"|<[^>]*>"

# forbidden MESSAGE COMMAND...: each line that grep finds breaks a rule.
forbidden() {
	local message=$1
	shift
	"$@" | sed -E "s/^([^:]*:[0-9]+):.*/\1: $message/" >>"$findings" || true
}
code() { grep -rnE "$1" --include='*.[ch]' "${@:3}" 2>/dev/null | grep -vE "$2"; }
# The flag of a signal handler has to be volatile; of an assembly statement it says another thing.
forbidden 'volatile belongs in hal: use hal\/shared.h' code '\bvolatile\b' \
	'^host/linux/|^[^:]*:[0-9]+:[[:space:]]*/?[*]|volatile sig_atomic_t|__asm__ volatile' firmware loader boards host qemu tests
# Include guards and __cplusplus are the only conditions that the core needs.
forbidden 'no conditional code in the portable core' code '^\s*#\s*(if|elif)' \
	'ifndef PB_[A-Z0-9_]*_H\s*$|ifdef __cplusplus\s*$' firmware
# GCC takes for granted that the frame pointer is not 0, also where a variable is kept in its register.
forbidden 'no variable in the frame pointer: its comparison with 0 is left out' code '__asm__ *[(]"(r7|fp|s0|x8)"[)]' '^$' \
	firmware loader boards hal
finish
