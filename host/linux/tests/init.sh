#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# The guest's first process: loads the modules, does what pbd= on the kernel's command line says, powers off.
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t debugfs none /sys/kernel/debug
mount -t tracefs none /sys/kernel/tracing
mkdir -p /dev/shm /run
echo 4 >/proc/sys/kernel/printk
# patchbay.NAME=VALUE of the kernel's command line, as modprobe takes it; insmod does not.
words=$(sed -nE 's/.*(^| )pbd=([^ ]*).*/\2/p' /proc/cmdline | tr , ' ')

# Goes on as the machine whose memory is on the disk. Returns if there is none.
resume() {
	for module in virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk; do
		insmod /lib/modules/$module.ko
	done
	cat /sys/block/vda/dev >/sys/power/resume
}

# Some systems have the driver by then, others have not.
case $words in resume_first*) resume ;; esac
parameters=$(tr ' ' '\n' </proc/cmdline | sed -nE 's/^patchbay[.]//p' | tr '\n' ' ')
for module in drm drm_kms_helper drm_shmem_helper patchbay vgem; do
	# A kernel of the project's own has all but the driver built in.
	[ -e /lib/modules/$module.ko ] || continue
	case $module in
	patchbay) insmod /lib/modules/$module.ko unsafe=1 fbdev=0 ${parameters} || echo "FAIL insmod 0" ;;
	*) insmod /lib/modules/$module.ko ;;
	esac
done
echo "GUEST up"
for word in $words; do
	case $word in
	shell) setsid cttyhack sh ;;
	resume_first) ;;
	resume) resume ;;
	client_*)
		# A function of that file with its arguments.
		. /lib/clients/guest.sh
		$(echo "$word" | tr - " ")
		;;
	tests) pbd-test ;;
	cost)
		insmod /lib/modules/vkms.ko
		pbd-cost
		;;
	gl:*) pbd-gl ${word#gl:} ;;
	trace:*)
		# Those tests with the driver's tracepoints, whose records are printed.
		echo 1 >/sys/kernel/tracing/events/patchbay/enable
		# shellcheck disable=SC2046
		pbd-test $(echo "${word#trace:}" | tr + " ")
		echo 0 >/sys/kernel/tracing/events/patchbay/enable
		echo "GUEST trace"
		cat /sys/kernel/tracing/trace
		echo "GUEST traced"
		;;
	leaks)
		# The second look counts: memory that was just freed by the first one is no leak.
		rmmod patchbay
		for _ in 1 2; do
			sleep 6
			echo scan >/sys/kernel/debug/kmemleak
		done
		leaks=$(cat /sys/kernel/debug/kmemleak)
		[ -z "$leaks" ] && echo "ok nothing_leaks 0" || {
			echo "$leaks" | head -n 60
			echo "FAIL nothing_leaks 0"
		}
		insmod /lib/modules/patchbay.ko unsafe=1 ${parameters}
		;;
	crash)
		# The machine ends in the middle of everything.
		pbd-test load_runs_for_a_while </dev/console >/tmp/said &
		until grep -q "HOST loads" /tmp/said; do usleep 10000; done
		echo "GUEST crashes"
		echo 1 >/proc/sys/kernel/sysrq
		echo b >/proc/sysrq-trigger
		;;
	pbd_fail) insmod /lib/modules/pbd_fail.ko || echo "FAIL insmod 0" ;;
	*) pbd-test "$word" ;;
	esac
done
# What the kernel complains of is a failure, whatever the tests say.
if dmesg | grep -E 'BUG|WARNING|Oops|Call Trace|blocked for more|refcount|list_(add|del) corruption'; then
	dmesg | tail -n 60
	echo "FAIL the_kernel_does_not_complain 0"
else
	echo "ok the_kernel_does_not_complain 0"
fi
echo "GUEST down"
poweroff -f
