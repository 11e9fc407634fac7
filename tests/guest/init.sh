#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
# First process of a virtual machine on a card, without a driver of Patchbay: programs use the device through the files of sysfs,
# then through vfio-pci. Prints "ok NAME MILLISECONDS" or "FAIL NAME MILLISECONDS" for each test, then powers off.
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
echo 4 >/proc/sys/kernel/printk
for module in vfio_virqfd vfio vfio_iommu_type1 irqbypass vfio-pci-core vfio-pci; do
	insmod /lib/modules/$module.ko || echo "FAIL insmod_$module 0"
done
for device in /sys/bus/pci/devices/*; do
	[ "$(cat "$device/vendor") $(cat "$device/device")" = "0x1af4 0x1110" ] && address=${device##*/}
done

# run NAME COMMAND...: what the command prints is shown.
run() {
	name=$1
	shift
	read -r before _ </proc/uptime
	verdict=ok
	"$@" 2>&1 || verdict=FAIL
	read -r after _ </proc/uptime
	echo "$verdict $name $(((${after%.*}${after#*.} - ${before%.*}${before#*.}) * 10))"
}

# fails TEXT COMMAND...: the command fails, and says so.
fails() {
	text=$1
	shift
	"$@" >/tmp/said 2>&1 && return 1
	cat /tmp/said
	grep -qF "$text" /tmp/said
}

examples() {
	for example in hello_submit waits preemption own_format residency; do
		"$example" "$1" || return 1
	done
}

# The command's reports of a card; what it says of the firmware is compared outside.
reports() {
	patchbay info --link "$1" >/tmp/info || return 1
	sed -n 's/^build /INFO &/p' /tmp/info
	grep -q '^build ' /tmp/info && patchbay stats --link "$1" >/tmp/stats && grep -q . /tmp/stats || return 1
	patchbay why --link "$1" 1:0 >/tmp/why 2>&1
	head -n 3 /tmp/why
	patchbay demo --link "$1" --frames 2 --output /tmp/demo
}

bind() {
	echo vfio-pci >"/sys/bus/pci/devices/$address/driver_override" && echo "$address" >/sys/bus/pci/drivers_probe &&
		[ -e "/sys/bus/pci/drivers/vfio-pci/$address" ]
}

# A program holds the device. hold KIND COMMAND...: another one is refused meanwhile, then the command ends the first.
hold() {
	guest-link hold "$1:$address" >/tmp/held &
	holder=$!
	until grep -q held /tmp/held; do
		kill -0 $holder || return 1
		usleep 10000
	done
	fails "another program" patchbay info --link "$1:$address" || return 1
	shift
	"$@"
}

unbind() {
	echo "$address" >/sys/bus/pci/drivers/vfio-pci/unbind
	wait "$holder" && grep NO_CARD /tmp/held
}

# The device goes, and comes back.
remove() {
	echo 1 >"/sys/bus/pci/devices/$address/remove"
	wait "$holder" && grep NO_CARD /tmp/held && echo 1 >/sys/bus/pci/rescan && [ -e "/sys/bus/pci/devices/$address" ]
}

without_root() {
	group=$(readlink "/sys/bus/pci/devices/$address/iommu_group")
	chown 1000 "/dev/vfio/${group##*/}"
	guest-link user "vfio:$address"
}

# The card is killed under a program: its calls end.
lose_card() {
	guest-link use "vfio:$address" >/tmp/used &
	user=$!
	until grep -q used /tmp/used; do
		kill -0 $user || return 1
		usleep 10000
	done
	echo "HOST kill-card"
	wait $user
	cat /tmp/used
	grep -qxE 'TIMEOUT|FIRMWARE_DEAD' /tmp/used
}

kill_holder() {
	kill -9 "$holder"
	wait "$holder"
	hello_submit "$1:$address"
}

# A machine without an IOMMU.
if grep -q pbd=plain /proc/cmdline; then
	echo "GUEST up"
	run examples_run_in_a_documented_machine examples "pci:$address"
	patchbay info --link "pci:$address"
	echo "GUEST down"
	poweroff -f
fi

# A machine on a server that only counts.
if grep -q pbd=ring /proc/cmdline; then
	echo "GUEST up"
	run vfio_takes_a_device_of_another_server bind
	run each_ring_is_answered guest-link ring "vfio:$address"
	echo "$address" >/sys/bus/pci/drivers/vfio-pci/unbind
	run rings_without_a_driver guest-link ring "pci:$address"
	echo "GUEST down"
	poweroff -f
fi

echo "GUEST up"
run a_device_without_a_driver_is_not_vfio fails "vfio-pci does not hold" patchbay info --link "vfio:$address"
run a_device_that_is_no_card_is_refused fails "no ivshmem device" patchbay info --link pci:0000:00:00.0
run examples_run_without_a_driver examples "pci:$address"
run the_command_reports_without_a_driver reports "pci:$address"
run vfio_takes_the_device bind
run a_device_with_a_driver_is_left_alone fails "a driver" patchbay info --link "pci:$address"
run examples_run_by_vfio examples "vfio:$address"
run the_command_reports_by_vfio reports "vfio:$address"
run replies_come_with_interrupts guest-link interrupts "vfio:$address"
run a_user_may_be_given_the_device without_root
run a_program_that_is_killed_leaves_the_device hold vfio kill_holder vfio
run a_device_that_is_taken_away_ends_the_wait hold vfio unbind
run a_device_without_a_driver_has_one_program hold pci kill_holder pci
run vfio_takes_the_device_again bind
run a_device_that_is_unplugged_ends_the_wait hold vfio remove
run vfio_takes_a_device_that_is_plugged_in bind
run examples_run_again_by_vfio examples "vfio:$address"
run a_card_that_is_killed_ends_calls lose_card
echo "GUEST down"
poweroff -f
