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

# fetch_clients NAME PACKAGE...: $folder/NAME.disk, a file system with the packages and all that they depend on.
fetch_clients() {
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

# The kernel's virtual display driver, which Debian does not build: $packages/vkms/vkms.ko, from Debian's source; and from
# there the style checker: $packages/checker/scripts/checkpatch.pl.
build_vkms() {
	local part=$packages/source.part
	unpack linux-source-6.1
	if [[ ! -e $packages/vkms/Makefile || ! -e $packages/checker/scripts/checkpatch.pl ]]; then
		say "unpacking vkms"
		rm -rf "$packages/vkms" "$packages/checker" "$part"
		mkdir -p "$part"
		logged linux-packages tar -C "$part" --strip-components=1 -xf "$packages/tree/usr/src/linux-source-6.1.tar.xz" \
			linux-source-6.1/drivers/gpu/drm/vkms \
			linux-source-6.1/scripts/{checkpatch.pl,spelling.txt,const_structs.checkpatch}
		mv "$part/drivers/gpu/drm/vkms" "$packages/vkms"
		mv "$part" "$packages/checker"
	fi
	logged linux-vkms make -C "$headers" M="$packages/vkms" CONFIG_DRM_VKMS=m -j "$(nproc)" modules
}

# build_client_guest: $folder/clients.cpio, the guest of build_guest() with what runs the programs.
build_client_guest() {
	local tree=$folder/clients modules=$packages/tree/lib/modules/$release/kernel module
	rm -rf "$tree"
	mkdir -p "$tree"/{bin,lib/modules,lib/clients}
	logged linux-guest gcc -std=gnu11 -O2 -Wall -Wextra -Werror -static -D__user= -isystem "$folder/uapi" \
		-o "$tree/bin/pbd-picture" "$root/host/linux/tests/clients/picture.c"
	logged linux-guest gcc -std=gnu11 -O2 -Wall -Wextra -Werror -static -D__user= -isystem "$folder/uapi" \
		-I"$root" -I"$root/include" -I"$root/host/linux/tests" -o "$tree/bin/pbd-kms" \
		"$root"/host/linux/tests/clients/kms{,_buffers,_display,_events,_files,_state}.c "$root/host/linux/tests/guest.c"
	logged linux-guest gcc -std=gnu11 -O2 -Wall -Wextra -Werror -static -D__user= -isystem "$folder/uapi" \
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

# prepare_clients: what the mode, or the tests that are asked for, need of the above.
prepare_clients() {
	case $mode in
	weston | xorg) ;;
	clients)
		prepare_programs
		return
		;;
	run) ((${#tests[@]} == 0)) || [[ " ${tests[*]} " == *" run_clients "* ]] || return 0 ;;
	*) return 0 ;;
	esac
	need_packages e2fsprogs
	fetch_clients clients "${client_packages[@]}"
	[[ $mode != run ]] || build_vkms
	build_client_guest
}
