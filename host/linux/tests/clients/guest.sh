#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# In the guest: runs programs of Debian's, which lie on the first disk. Sourced by the guest's first process with
# CLIENT (what to run) and DRIVER (on which display). Answers of the machine below come over the console.

# Makes the disk's root, once.
client_root() {
	[ -e /client/dev/null ] && return
	for module in virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk crc16 \
		crc32c_generic libcrc32c mbcache jbd2 ext4 vkms virtio_dma_buf virtio-gpu; do
		[ ! -e /lib/modules/$module.ko ] || insmod /lib/modules/$module.ko
	done
	mkdir -p /client
	mount -t ext4 -o ro /dev/vda /client
	for folder in dev proc sys; do
		mount --bind /$folder /client/$folder
	done
	mkdir -p /dev/shm /dev/pts
	chmod 1777 /dev/shm
	mount -t tmpfs none /client/tmp
	mount -t tmpfs none /client/run
	mkdir -m 700 /client/run/user
	mkdir -m 1777 /client/tmp/.X11-unix
	ifconfig lo 127.0.0.1 up 2>/dev/null
	# One time for all, so that clocks show the same.
	cp /lib/clients/* /client/tmp/
}

# inside COMMAND...: in the disk's root. Colours and places that a program takes from its time or number stay the same.
inside() {
	XDG_RUNTIME_DIR=/run/user HOME=/tmp LIBSEAT_BACKEND=builtin SEATD_VTBOUND=0 WAYLAND_DISPLAY=wayland-1 DISPLAY=:0 \
		LIBGL_ALWAYS_SOFTWARE=1 PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot /client "$@"
}

# The node of a driver. That of virtio_gpu has the bus's driver between itself and the device.
node_of() {
	bound=$1
	[ "$1" != virtio_gpu ] || bound=virtio-pci
	for card in /sys/class/drm/card?; do
		[ "$(basename "$(readlink "$card/device/driver")")" = "$bound" ] && echo "/dev/dri/${card##*/}"
		[ "$1" = vkms ] && readlink -f "$card" | grep -q /vkms/ && echo "/dev/dri/${card##*/}"
	done | head -n 1
}

# until_there PATH: waits for what the server makes, as long as it runs.
until_there() {
	tries=0
	while [ ! -e "$1" ] && [ $tries -lt 6000 ]; do
		tries=$((tries + 1))
		kill -0 $server || return 1
		usleep 100000
	done
	[ -e "$1" ]
}

# The number of a driver's connector.
connector_of() {
	inside modetest -M "$1" -c 2>/dev/null | awk '$3 == "connected" {print $1; exit}'
}

weston_up() {
	rm -f /client/run/user/wayland-*
	inside weston --backend=drm-backend.so --use-pixman --tty=1 --drm-device="${node##*/}" --config=/tmp/weston.ini \
		--socket=wayland-1 --log=/tmp/weston.log </dev/tty1 >/tmp/weston.out 2>&1 &
	server=$!
	until_there /client/run/user/wayland-1 || return 1
	inside weston-cliptest >/tmp/image.out 2>&1 &
}

xorg_up() {
	date -s 2026-11-23\ 10:08:00 >/dev/null
	sed "s,@NODE@,$node," /lib/clients/xorg.conf >/client/tmp/xorg.conf
	rm -f /client/tmp/.X11-unix/X0 /client/tmp/.X0-lock
	inside /usr/lib/xorg/Xorg :0 -config /tmp/xorg.conf -nocursor -noreset -nolisten tcp -logfile /tmp/xorg.log vt1 \
		>/tmp/xorg.out 2>&1 &
	server=$!
	until_there /client/tmp/.X11-unix/X0 || return 1
	inside xclock -update 3600 -geometry 300x300+20+20 &
	inside xeyes -geometry 300x200+400+40 &
	inside xlogo -geometry 200x200+60+400 &
	inside xcalc -geometry +420+300 &
}

modetest_up() {
	connector=$(connector_of "$driver")
	mkfifo /tmp/modetest.in 2>/dev/null
	inside modetest -M "$driver" -s "$connector:1024x768" </tmp/modetest.in >/tmp/modetest.out 2>&1 &
	server=$!
	exec 7>/tmp/modetest.in
}

# The frame buffer device of a driver.
console_of() {
	for console in /sys/class/graphics/fb[0-9]; do
		[ "$(readlink -f "$console/device")" != "$(readlink -f "/sys/class/drm/${node##*/}/device")" ] ||
			echo "${console##*/fb}"
	done | head -n 1
}

# The console of the kernel, without a program that draws.
fbcon_up() {
	echo 0 >/sys/class/graphics/fbcon/cursor_blink
	inside con2fbmap 1 "$(console_of)" || return 1
	printf '\033c\033[?25l' >/dev/tty1
	for line in $(seq 1 60); do
		printf 'line %s of a console that scrolls: %s\n' "$line" "$(head -c "$line" /bin/busybox | md5sum)" >/dev/tty1
	done
	printf '\033[31mred \033[32mgreen \033[44mon blue\033[0m\n' >/dev/tty1
	inside sleep 10000 &
	server=$!
}

# client_flips DRIVER: 120 flips, each with its event; modetest counts 60 at a time.
client_flips() {
	client_root
	name=modetest_flips_on_$1
	start=$(cut -d' ' -f1 /proc/uptime | tr -d .)
	mkfifo /tmp/modetest.in 2>/dev/null
	inside modetest -M "$1" -s "$(connector_of "$1"):640x480" -v </tmp/modetest.in >/tmp/flips.out 2>&1 &
	server=$!
	exec 7>/tmp/modetest.in
	tries=0
	while [ "$(grep -c freq: /tmp/flips.out)" -lt 2 ] && kill -0 $server && [ $tries -lt 3000 ]; do
		tries=$((tries + 1))
		usleep 200000
	done
	verdict=ok
	[ "$(grep -c freq: /tmp/flips.out)" -ge 2 ] || verdict=FAIL
	cat /tmp/flips.out
	echo >&7
	exec 7>&-
	wait $server || verdict=FAIL
	echo "$verdict $name $((($(cut -d' ' -f1 /proc/uptime | tr -d .) - start) * 10))"
}

# client_kms DRIVER: the checks that any driver of a display must pass; a line "kms DRIVER NAME ok|FAIL|LACKS MS"
# for each.
client_kms() {
	client_root
	grep -q debugfs /proc/mounts || mount -t debugfs none /sys/kernel/debug
	pbd-kms "$1" | sed -E "s/^(ok|FAIL|LACKS) ([a-z_0-9]+) ([0-9]+)$/kms $1 \2 \1 \3/"
}

# The device goes and comes while the console is on it.
client_console_goes() {
	client_root
	node=$(node_of patchbay)
	device=$(basename "$(readlink -f "/sys/class/drm/${node##*/}/device")")
	inside con2fbmap 1 "$(console_of)"
	verdict=ok
	for round in 1 2 3; do
		seq 1 200 >/dev/tty1 &
		echo "$device" >/sys/bus/pci/drivers/patchbay/unbind || verdict=FAIL
		wait
		[ -z "$(node_of patchbay)" ] || verdict=FAIL
		echo "$device" >/sys/bus/pci/drivers/patchbay/bind || verdict=FAIL
		node=$(node_of patchbay)
		inside con2fbmap 1 "$(console_of)" || verdict=FAIL
	done
	rmmod patchbay || verdict=FAIL
	insmod /lib/modules/patchbay.ko unsafe=1 || verdict=FAIL
	node=$(node_of patchbay)
	inside con2fbmap 1 "$(console_of)" || verdict=FAIL
	echo "$verdict the_console_goes_with_its_device 0"
}

# The programs of `scripts/linux --clients`.
. /lib/clients/programs.sh

# Shows what went wrong.
client_logs() {
	for log in /tmp/*.out /client/tmp/*.log; do
		echo "--- $log"
		tail -n 30 "$log"
	done
}

# Ends the server, which may clean up, and then whatever is left in the disk's root.
end_of_clients() {
	kill $server 2>/dev/null
	tries=0
	while kill -0 $server 2>/dev/null && [ $tries -lt 6000 ]; do
		tries=$((tries + 1))
		usleep 100000
	done
	for process in /proc/[0-9]*; do
		[ "$(readlink $process/root)" != /client ] || kill -9 "${process#/proc/}" 2>/dev/null
	done
	[ $tries -lt 6000 ] || echo "FAIL ${client}_ends 0"
}

# client_run CLIENT DRIVER: shows it, has its picture taken, ends it.
client_run() {
	client=$1
	driver=$2
	start=$(cut -d' ' -f1 /proc/uptime)
	client_root
	node=$(node_of "$driver")
	failed=
	"${client}_up" || failed=1
	[ -n "$failed" ] || pbd-picture "$driver" settle || failed=1
	# What a server that has ended has left is no picture.
	kill -0 $server || failed=1
	if [ -z "$failed" ] && [ "$driver" = vkms ]; then
		pbd-picture vkms >/dev/vdb && sync
	fi
	[ -z "$failed" ] || client_logs
	echo "HOST picture $client $driver ${failed:-0}"
	read -r answer
	[ "$answer" = same ] || client_logs
	exec 7>&-
	end_of_clients
	echo "client $client $driver $start $(cut -d' ' -f1 /proc/uptime)"
}
