# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# Part of scripts/linux: the guest whose programs use the card without a driver of this project (tests/guest). Sourced; needs
# lib.sh, and $root, $folder, $packages and $release of scripts/linux.

# Modules of the kernel, in the order of their dependencies; tests/guest/init.sh loads them.
link_modules=(drivers/vfio/{vfio_virqfd,vfio,vfio_iommu_type1} virt/lib/irqbypass drivers/vfio/pci/{vfio-pci-core,vfio-pci})

# Makes $folder/links.cpio: busybox, the command with its libraries, and the examples, which are linked statically.
build_link_guest() {
	local tree=$folder/links name library
	local modules=$packages/tree/lib/modules/$release/kernel
	rm -rf "$tree"
	mkdir -p "$tree"/{bin,dev,proc,sys,tmp,lib/modules}
	build_preset host pb_patchbay
	library=$root/build/host/host/libpatchbay.a
	for name in hello_submit waits preemption own_format residency; do
		# shellcheck disable=SC2046 # one word or none
		logged linux-guest gcc -std=c11 -O1 -static -I"$root/include" -I"$root/build/host/include" -o "$tree/bin/$name" \
			"$root/host/examples/$name.c" $([[ $name == hello_submit ]] || echo "$root/host/examples/example.c") "$library"
	done
	logged linux-guest gcc -std=gnu11 -O1 -Wall -Wextra -Werror -static -I"$root/include" -o "$tree/bin/guest-link" "$root/tests/guest/link.c" "$library"
	for name in "${link_modules[@]}"; do
		cp "$modules/$name.ko" "$tree/lib/modules/"
	done
	cp "$packages/tree/bin/busybox" "$root/build/host/host/patchbay" "$tree/bin/"
	# The command and its libraries, the dynamic linker among them, where the command looks for them.
	ldd "$root/build/host/host/patchbay" | grep -o '/[^ ]*' | while read -r name; do
		install -D "$name" "$tree$name"
	done
	install -m 755 "$root/tests/guest/init.sh" "$tree/init"
	(cd "$tree" && find . | bin/busybox cpio -o -H newc >"$folder/links.cpio" 2>/dev/null)
}
