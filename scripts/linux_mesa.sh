# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Part of scripts/linux: the guest with Mesa's unmodified drivers for Intel's generation 7.5, and programs that use it.
# Sourced; needs lib.sh, and $root, $folder, $packages and $release of scripts/linux.

# What runs in the guest, without what it depends on.
mesa_programs=(libgl1-mesa-dri libegl-mesa0 libegl1 libgles2 libgbm1 mesa-vulkan-drivers kmscube glmark2-es2-drm
	libsdl2-tests intel-gpu-tools)

# fetch_programs NAME DRIVER PROGRAM...: downloads programs with all that they need, whatever this system has installed, and
# unpacks them to $folder/NAME/tree, with one OpenGL driver of Mesa's, and the Vulkan driver hasvk if it is among them.
fetch_programs() {
	local place=$folder/$1 driver=$2
	shift 2
	[[ "$(cat "$place/unpacked" 2>/dev/null)" != "$*" ]] || return 0
	rm -rf "$place"
	unpack_all "$place/tree" "$@"
	rm -rf "$place"/tree/usr/share/{doc,locale,man}
	# One file has many names, which the guest's disk in memory would copy.
	find "$place/tree/usr/lib/x86_64-linux-gnu/dri" -type f ! -name "${driver}_dri.so" -delete
	find "$place/tree/usr/lib/x86_64-linux-gnu" -name 'libvulkan_*.so' ! -name libvulkan_intel_hasvk.so -delete
	echo "$*" >"$place/unpacked"
}

fetch_mesa() {
	fetch_programs mesa crocus "${mesa_programs[@]}"
}

# build_capture FOLDER: the program that compares relocations, for any guest.
build_capture() {
	logged linux-guest gcc -std=gnu11 -O1 -Wall -Wextra -Werror -static -D__user= -isystem "$folder/uapi" \
		-o "$1/pbd-capture" "$root/host/linux/tools/capture.c"
}

# The revision of what a run is about; nothing, if it is not committed: then the run is not recorded.
mesa_revision() {
	local sources=(firmware include hal host qemu boards scripts CMakeLists.txt CMakePresets.json)
	if [[ -z $(git -C "$root" status --porcelain -- "${sources[@]}" 2>/dev/null) ]]; then
		git -C "$root" log -1 --format=%h -- "${sources[@]}" 2>/dev/null
	fi
}

# Makes $folder/mesa.cpio.
build_mesa_guest() {
	local tree=$folder/mesa/tree modules=$packages/tree/lib/modules/$release/kernel/drivers
	mkdir -p "$tree/lib/modules"
	build_capture "$tree/usr/bin"
	cp "$packages/tree/bin/busybox" "$tree/usr/bin/"
	cp "$modules"/virtio/virtio{,_ring,_pci,_pci_legacy_dev,_pci_modern_dev}.ko "$modules/block/virtio_blk.ko" \
		"$modules"/gpu/drm/drm{,_kms_helper,_shmem_helper}.ko "$folder/module/patchbay.ko" "$tree/lib/modules/"
	install -m 755 "$root/host/linux/tests/mesa.sh" "$tree/init"
	(cd "$tree" && find . | usr/bin/busybox cpio -o -H newc >"$folder/mesa.cpio" 2>/dev/null)
}
