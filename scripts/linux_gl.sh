# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# Part of scripts/linux: the guest with Debian's Mesa, which draws through the driver and the card's GL engine. Sourced;
# needs lib.sh, and $root, $folder, $packages and $release of scripts/linux.

# What runs in the guest, without what it depends on.
gl_programs=(mesa-utils-bin libegl1 libgles2 libgl1-mesa-dri libgbm1 kmscube weston)

# Downloads the programs with all that they need, whatever this system has installed, and unpacks them to $folder/gl/tree.
fetch_gl() {
	local tree=$folder/gl/tree cache=$folder/gl/debs deb
	[[ ! -e $folder/gl/unpacked ]] || return 0
	say "downloading ${gl_programs[*]}"
	rm -rf "$folder/gl"
	mkdir -p "$cache/partial" "$tree"
	: >"$folder/gl/status"
	logged linux-packages apt-get install -y -q --no-install-recommends --download-only -o Debug::NoLocking=1 \
		-o Dir::State::status="$folder/gl/status" -o Dir::Cache::archives="$cache" "${gl_programs[@]}"
	for deb in "$cache"/*.deb; do
		logged linux-packages dpkg -x "$deb" "$tree"
	done
	rm -rf "$cache" "$tree"/usr/share/{doc,locale,man,info,lintian,perl5}
	# One file has many names, which the guest's disk in memory would copy.
	find "$tree/usr/lib/x86_64-linux-gnu/dri" -type f ! -name virtio_gpu_dri.so -delete
	touch "$folder/gl/unpacked"
}

# build_gl_test FOLDER: the tests of the driver's OpenGL, for any guest.
build_gl_test() {
	logged linux-guest gcc -std=gnu11 -O2 -Wall -Wextra -Werror -static -D__user= -isystem "$folder/uapi" -I"$root" \
		-I"$root/include" -o "$1/pbd-gl" "$root/host/linux/tests/gl/virtgpu.c" "$root/host/linux/tests/guest.c"
}

# The revision of what a run is about; nothing, if it is not committed: then the run is not recorded.
gl_revision() {
	local sources=(firmware include hal host qemu boards scripts CMakeLists.txt CMakePresets.json)
	if [[ -z $(git -C "$root" status --porcelain -- "${sources[@]}" 2>/dev/null) ]]; then
		git -C "$root" log -1 --format=%h -- "${sources[@]}" 2>/dev/null
	fi
}

# Makes $folder/gl.cpio, and $folder/gl_program for the guest and for this system alike.
build_gl_guest() {
	local tree=$folder/gl/tree drm=$packages/tree/lib/modules/$release/kernel/drivers/gpu/drm
	mkdir -p "$tree/lib/modules"
	logged linux-guest gcc -O2 -o "$folder/gl_program" "$root/tests/e2e/gl_program.c" -lEGL -lGLESv2
	cp "$folder/gl_program" "$packages/tree/bin/busybox" "$tree/usr/bin/"
	cp "$drm"/drm{,_kms_helper,_shmem_helper}.ko "$folder/module/patchbay.ko" "$tree/lib/modules/"
	cp "$root/host/linux/tests/gl/weston.ini" "$tree/"
	install -m 755 "$root/host/linux/tests/gl/mesa.sh" "$tree/init"
	(cd "$tree" && find . | usr/bin/busybox cpio -o -H newc >"$folder/gl.cpio" 2>/dev/null)
}
