#!/usr/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# The first process of the guest with Mesa: loads the driver with i915=1, and runs what the console says, a line
# "NAME COMMAND" each, under the capture of relocations, whose file is the disk. "end" ends it.
/usr/bin/busybox mkdir -p /bin /proc /sys /dev /tmp /run
/usr/bin/busybox --install -s /bin
export PATH=/bin:/usr/bin HOME=/tmp XDG_RUNTIME_DIR=/run LD_LIBRARY_PATH=/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu
export SDL_VIDEODRIVER=kmsdrm VK_ICD_FILENAMES=/usr/share/vulkan/icd.d/intel_hasvk_icd.x86_64.json
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t debugfs none /sys/kernel/debug
mkdir -p /dev/shm
stty -echo 2>/dev/null
echo 4 >/proc/sys/kernel/printk
parameters=$(tr ' ' '\n' </proc/cmdline | sed -nE 's/^patchbay[.]//p' | tr '\n' ' ')
for module in virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk drm drm_kms_helper \
	drm_shmem_helper patchbay; do
	case $module in
	patchbay) insmod /lib/modules/$module.ko fbdev=0 i915=1 ${parameters} || echo "FAIL insmod 0" ;;
	*) insmod /lib/modules/$module.ko ;;
	esac
done
# Input that never comes: kmscube ends when it can read.
mkfifo /tmp/silence
exec 3<>/tmp/silence
echo "GUEST up"
while echo "GUEST reads" && read -r name command && [ "$name" != end ]; do
	# shellcheck disable=SC2086
	pbd-capture -o /dev/vda $command <&3
	status=$?
	# A process that the program has left behind may have the disk open: closing it writes nothing then.
	sync
	echo "GUEST ran $name $status"
done
if dmesg | grep -E 'BUG|WARNING|Oops|Call Trace|blocked for more|refcount|list_(add|del) corruption'; then
	dmesg | tail -n 60
	echo "FAIL the_kernel_does_not_complain 0"
else
	echo "ok the_kernel_does_not_complain 0"
fi
echo "GUEST down"
poweroff -f
