# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# Programs of Debian's that run on the driver in the guest, and the driver vkms to compare with. Sourced by scripts/linux.

# Programs that scripts/linux runs each time; fbset is for con2fbmap.
client_packages=(dash weston xserver-xorg-core x11-apps libdrm-tests drm-info fbset)
# Never read in the guest.
client_leaves_out=(usr/share/{doc,man,locale,info,lintian,bug,groff,iso-codes,icons,mime,perl5} var/cache)
# Modules of the kernel that the disk needs.
client_modules=(drivers/virtio/{virtio,virtio_ring,virtio_pci,virtio_pci_legacy_dev,virtio_pci_modern_dev}
	drivers/block/virtio_blk fs/ext4/ext4 fs/mbcache fs/jbd2/jbd2 lib/crc16 lib/libcrc32c crypto/crc32c_generic)

# fetch_disk NAME PACKAGE...: $folder/NAME.disk, a file system with the packages and all that they depend on.
fetch_disk() {
	local name=$1 bytes
	local tree=$packages/$name.tree
	shift
	[[ "$(cat "$packages/$name.list" 2>/dev/null)" != "$*" || ! -e $folder/$name.disk ]] || return 0
	rm -rf "$tree"
	mkdir -p "$tree"/{dev,proc,sys,tmp,run}
	unpack_all "$tree" "$@"
	mv "$tree.versions" "$packages/$name.versions"
	(cd "$tree" && rm -rf "${client_leaves_out[@]}")
	bytes=$(du -s --block-size=1M --apparent-size "$tree" | cut -f1)
	rm -f "$folder/$name.disk"
	PATH=$PATH:/usr/sbin:/sbin logged linux-clients mke2fs -q -t ext4 -O '^has_journal' -m 0 -N 40000 -d "$tree" \
		"$folder/$name.disk" "$((bytes * 6 / 5 + 40))M"
	rm -rf "$tree"
	echo "$*" >"$packages/$name.list"
}

# Of Debian's kernel source: in $packages/vkms a driver of a virtual display, which Debian does not build; in $packages/vgem the
# driver whose fences the tests end; the style checker $packages/checker/scripts/checkpatch.pl.
fetch_drivers() {
	local part=$packages/source.part name
	[[ ! -e $packages/vkms/Makefile || ! -e $packages/vgem/Makefile || ! -e $packages/checker/scripts/checkpatch.pl ]] || return 0
	unpack linux-source-6.1
	say "unpacking vkms, vgem and the style checker"
	rm -rf "$packages"/{vkms,vgem,checker} "$part"
	mkdir -p "$part"
	logged linux-packages tar -C "$part" --strip-components=1 -xf "$packages/tree/usr/src/linux-source-6.1.tar.xz" \
		linux-source-6.1/drivers/gpu/drm/{vkms,vgem} \
		linux-source-6.1/scripts/{checkpatch.pl,spelling.txt,const_structs.checkpatch}
	for name in vkms vgem; do
		mv "$part/drivers/gpu/drm/$name" "$packages/$name"
	done
	patient_vgem "$packages/vgem"
	mv "$part" "$packages/checker"
}

# patient_vgem FOLDER: fences of the driver in the folder end by themselves after an hour instead of 10 s, so that a test which
# a busy system makes slow still finds them as it made them. The module's parameter fence_seconds changes it.
patient_vgem() {
	sed -i '/VGEM_FENCE_TIMEOUT/!b
		s/.*define.*/static unsigned int fence_seconds = 3600;\nmodule_param(fence_seconds, uint, 0600);/
		s/VGEM_FENCE_TIMEOUT/fence_seconds * HZ/' "$1/vgem_fence.c"
	sed -i '0,/^#include/s//#include <linux\/moduleparam.h>\n#include/' "$1/vgem_fence.c"
	grep -q 'fence_seconds \* HZ' "$1/vgem_fence.c" || die 1 "vgem is not as it was: its fences end too early"
}

build_vgem() {
	logged linux-vgem make -C "$headers" M="$packages/vgem" -j "$(nproc)" modules
}

build_vkms() {
	logged linux-vkms make -C "$headers" M="$packages/vkms" CONFIG_DRM_VKMS=m -j "$(nproc)" modules
}

# build_client_guest: $folder/clients.cpio, the guest of build_guest() with what runs the programs.
build_client_guest() {
	local tree=$folder/clients modules=$packages/tree/lib/modules/$release/kernel module
	rm -rf "$tree"
	mkdir -p "$tree"/{bin,lib/modules,lib/clients}
	logged linux-guest gcc -std=gnu11 -O1 -Wall -Wextra -Werror -static -D__user= -isystem "$folder/uapi" \
		-o "$tree/bin/pbd-picture" "$root/host/linux/tests/clients/picture.c"
	logged linux-guest gcc -std=gnu11 -O1 -Wall -Wextra -Werror -static -D__user= -isystem "$folder/uapi" \
		-I"$root" -I"$root/include" -I"$root/host/linux/tests" -o "$tree/bin/pbd-kms" \
		"$root"/host/linux/tests/clients/kms{,_buffers,_display,_events,_files,_state}.c "$root/host/linux/tests/guest.c"
	logged linux-guest gcc -std=gnu11 -O1 -Wall -Wextra -Werror -static -D__user= -isystem "$folder/uapi" \
		-o "$tree/bin/pbd-flips" "$root/host/linux/tests/clients/flips.c"
	for module in "${client_modules[@]}"; do
		cp "$modules/$module.ko" "$tree/lib/modules/"
	done
	[[ ! -e $packages/vkms/vkms.ko ]] || cp "$packages/vkms/vkms.ko" "$tree/lib/modules/"
	cp "$root"/host/linux/tests/clients/*.{sh,ini,conf} "$tree/lib/clients/"
	{
		cat "$folder/guest.cpio"
		(cd "$tree" && find . | "$folder/guest/bin/busybox" cpio -o -H newc 2>/dev/null)
	} >"$folder/clients.cpio"
}

# wants_clients: whether the mode, or a run that is asked for, needs a disk with programs.
wants_clients() {
	[[ $mode == weston || $mode == xorg || $mode == clients ]] || wants run_clients
}

# fetch_clients: that disk.
fetch_clients() {
	if [[ $mode == clients ]]; then
		fetch_disk programs "${program_packages[@]}"
	else
		fetch_disk clients "${client_packages[@]}"
	fi
}

# prepare_clients: what runs the programs, and what they are compared with.
prepare_clients() {
	[[ $mode != clients ]] || client_modules+=("${program_modules[@]}")
	[[ $mode == weston || $mode == xorg ]] || build_vkms
	build_client_guest
}
