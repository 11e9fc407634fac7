#!/usr/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# The first process of the guest with Mesa: loads the driver with virtgpu=1, and runs each line that the console says.
# "end" ends it.
/usr/bin/busybox mkdir -p /bin /proc /sys /dev /tmp /run
/usr/bin/busybox --install -s /bin
export PATH=/bin:/usr/bin HOME=/tmp LD_LIBRARY_PATH=/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu
export XDG_RUNTIME_DIR=/run/user LIBSEAT_BACKEND=builtin SEATD_VTBOUND=0 WAYLAND_DISPLAY=wayland-1
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mkdir -p /dev/shm
mkdir -m 700 /run/user
stty -echo 2>/dev/null
echo 4 >/proc/sys/kernel/printk
parameters=$(tr ' ' '\n' </proc/cmdline | sed -nE 's/^patchbay[.]//p' | tr '\n' ' ')
for module in drm drm_kms_helper drm_shmem_helper; do
	insmod /lib/modules/$module.ko
done
# shellcheck disable=SC2086
insmod /lib/modules/patchbay.ko ${parameters} || echo "FAIL insmod 0"
# Input that never comes: kmscube ends when it can read.
mkfifo /tmp/silence
exec 3<>/tmp/silence

# await FILE: at most a minute.
await() {
	for _ in $(seq 60); do
		[ -e "$1" ] && break
		sleep 1
	done
}

# weston_up [OPTION]: Weston with one client that draws always the same.
weston_up() {
	outer_up "$@"
	weston-cliptest >/tmp/client.out 2>&1 &
}

# outer_up [OPTION]: Weston with no client.
outer_up() {
	weston --backend=drm-backend.so --tty=1 --drm-device=card0 --config=/weston.ini --socket=wayland-1 \
		--log=/tmp/weston.log "$@" </dev/tty1 >/tmp/weston.out 2>&1 &
	await /run/user/wayland-1
}

# nested_up [OPTION]: a second Weston with that client, which is itself a client of the first one and fills its display.
nested_up() {
	weston --backend=wayland-backend.so --display=wayland-1 --config=/weston.ini --socket=wayland-2 \
		--log=/tmp/nested.log "$@" >/tmp/nested.out 2>&1 &
	await /run/user/wayland-2
	WAYLAND_DISPLAY=wayland-2 weston-cliptest >/tmp/client.out 2>&1 &
}

weston_down() {
	killall weston-cliptest weston
	wait
	rm -f /run/user/* /tmp/weston.log /tmp/nested.log
}

echo "GUEST up"
while echo "GUEST reads" && read -r line && [ "$line" != end ]; do
	eval "$line" <&3 2>&1
	echo "GUEST ran $?"
done
if dmesg | grep -E 'BUG|WARNING|Oops|Call Trace|blocked for more|refcount|list_(add|del) corruption'; then
	dmesg | tail -n 60
	echo "FAIL the_kernel_does_not_complain 0"
else
	echo "ok the_kernel_does_not_complain 0"
fi
echo "GUEST down"
poweroff -f
