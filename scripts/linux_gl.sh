# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# Part of scripts/linux: the guest with Debian's Mesa, which draws through the driver and the card's GL engine. Sourced;
# needs linux_mesa.sh, and what that needs.

# What runs in the guest, without what it depends on.
gl_programs=(mesa-utils-bin libegl1 libgles2 libgl1-mesa-dri libgbm1 kmscube weston)

fetch_gl() {
	fetch_programs gl virtio_gpu "${gl_programs[@]}"
}

# build_gl_test FOLDER: the tests of the driver's OpenGL, for any guest.
build_gl_test() {
	logged linux-guest gcc -std=gnu11 -O1 -Wall -Wextra -Werror -static -D__user= -isystem "$folder/uapi" -I"$root" \
		-I"$root/include" -o "$1/pbd-gl" "$root"/host/linux/tests/gl/*.c "$root"/host/linux/tests/{guest,shown}.c
}

# Makes $folder/gl.cpio, and $folder/gl_program for the guest and for this system alike.
build_gl_guest() {
	local tree=$folder/gl/tree drm=$packages/tree/lib/modules/$release/kernel/drivers/gpu/drm
	mkdir -p "$tree/lib/modules"
	logged linux-guest gcc -O1 -o "$folder/gl_program" "$root/tests/e2e/gl_program.c" -lEGL -lGLESv2
	cp "$folder/gl_program" "$packages/tree/bin/busybox" "$tree/usr/bin/"
	cp "$drm"/drm{,_kms_helper,_shmem_helper}.ko "$folder/module/patchbay.ko" "$tree/lib/modules/"
	cp "$root/host/linux/tests/gl/weston.ini" "$tree/"
	install -m 755 "$root/host/linux/tests/gl/mesa.sh" "$tree/init"
	(cd "$tree" && find . | usr/bin/busybox cpio -o -H newc >"$folder/gl.cpio" 2>/dev/null)
}
