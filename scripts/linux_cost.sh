# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154,SC2034
# What the driver costs, measured in the guest. Sourced by scripts/linux.

# build_cost_guest: $folder/cost.cpio, the guest of build_guest() with vkms and the program that measures.
build_cost_guest() {
	local tree=$folder/cost
	build_vkms
	rm -rf "$tree"
	mkdir -p "$tree"/{bin,lib/modules}
	logged linux-guest gcc -std=gnu11 -O2 -Wall -Wextra -Werror -static -D__user= -isystem "$folder/uapi" \
		-I"$root" -I"$root/include" -I"$root/host/linux/tests" -o "$tree/bin/pbd-cost" \
		"$root/host/linux/tests/clients/cost.c" "$root/host/linux/tests/guest.c"
	cp "$packages/vkms/vkms.ko" "$tree/lib/modules/"
	{
		cat "$folder/guest.cpio"
		(cd "$tree" && find . | "$folder/guest/bin/busybox" cpio -o -H newc 2>/dev/null)
	} >"$folder/cost.cpio"
}

# prepare_counting: $folder/counting, a folder with an emulator for the card that counts the instructions of its MCU.
prepare_counting() {
	# shellcheck source=tests/bench/gl.sh
	source "$root/tests/bench/gl.sh"
	[[ -e $root/tests/bench/$board.sh && $board == mps* ]] || die 2 "instructions are counted on boards with a Cortex-M only"
	build_preset host patchbay-bench-count
	image_folder=$root/build/$board
	local counting=$folder/counting
	rm -rf "$counting"
	mkdir -p "$counting"
	truncate -s 16 "$counting/counters"
	gl_emulator "$counting"
}
