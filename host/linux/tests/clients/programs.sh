# SPDX-License-Identifier: GPL-2.0 OR MIT
# shellcheck shell=busybox disable=SC2034,SC2154,SC2086
# In the guest: the programs of `scripts/linux --clients`, and those whose text says what a display can do. Sourced by
# guest.sh, whose functions and variables these use.

# Where a package's link would lead that dpkg has not set.
LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu/blas:/usr/lib/x86_64-linux-gnu/lapack
# Programs that draw with OpenGL: by the processor.
export LD_LIBRARY_PATH LIBGL_ALWAYS_SOFTWARE=1

# text_drm_info: all that drm_info finds out about all devices.
text_drm_info() {
	inside drm_info -j
}

# text_modetest DRIVER: all that modetest finds out about a device.
text_modetest() {
	inside modetest -M "$1"
}

# client_text NAME DRIVER: hands what a program prints to the machine below, by the second disk: its length, ten digits, and itself.
client_text() {
	start=$(cut -d' ' -f1 /proc/uptime)
	client_root
	# A program that was master and has gone leaves the console on the display: the state that is compared.
	for driver in vkms patchbay; do
		text_modetest $driver >/dev/null
	done
	status=0
	"text_$1" "$2" >/tmp/text.out 2>/tmp/errors.out || status=$?
	{
		printf '%010d' "$(wc -c </tmp/text.out)"
		cat /tmp/text.out
	} >/dev/vdb
	sync
	echo "HOST text $1 $2 $status"
	read -r answer
	[ "$answer" = same ] || tail -n 20 /tmp/errors.out
	echo "client $1_text $2 $start $(cut -d' ' -f1 /proc/uptime)"
}

# wlroots SOCKET COMMAND...: starts a compositor that is built on wlroots, drawn by the processor, without input devices. It
# refuses to run as root: seatd, which does, opens the display for user 1000.
wlroots() {
	socket=$1
	shift
	rm -f /client/run/user1/* /client/run/seatd.sock
	mkdir -p -m 700 /client/run/user1
	chown 1000:1000 /client/run/user1
	inside seatd </dev/tty1 >/tmp/seatd.out 2>&1 &
	server=$!
	until_there /client/run/seatd.sock || return 1
	chown 1000:1000 /client/run/seatd.sock
	WLR_RENDERER=pixman WLR_LIBINPUT_NO_DEVICES=1 WLR_DRM_DEVICES=$node WLR_BACKENDS=drm,libinput SHELL=/bin/sh \
		inside /usr/bin/setpriv --reuid=1000 --regid=1000 --clear-groups /usr/bin/env LIBSEAT_BACKEND=seatd XDG_RUNTIME_DIR=/run/user1 \
		WAYLAND_DISPLAY= "$@" </dev/null >/tmp/$client.out 2>&1 &
	server=$!
	until_there "/client/run/user1/$socket"
}

cage_up() {
	wlroots wayland-0 cage weston-cliptest
}

sway_up() {
	wlroots wayland-1 sway --config /tmp/sway.conf
}

# Xorg, in which x11perf has run to its end, with a fixed number of operations each.
x11perf_up() {
	xorg_up || return 1
	inside x11perf -repeat 1 -time 1 -reps 2 -rect10 -rect100 -line10 -seg100 -ellipse100 -copywinwin100 \
		-copypixwin100 -putimage100 -shmput100 -trap100 -scroll100 >/tmp/x11perf.out 2>&1 || return 1
	grep -E ' reps @' /tmp/x11perf.out | sed "s/^/x11perf $driver /"
	[ "$(grep -c ' reps @' /tmp/x11perf.out)" = 11 ]
}

# watched COMMAND...: in the disk's root, with its updates of the display counted, and pictures at $frames. It never gets input.
watched() {
	[ -e /tmp/silence ] || mkfifo /tmp/silence
	exec 7<>/tmp/silence
	at=
	[ -z "$frames" ] || at="-s $frames"
	# shellcheck disable=SC2086
	XDG_RUNTIME_DIR=/run/user HOME=/tmp PATH=/usr/sbin:/usr/bin:/sbin:/bin pbd-flips $at ${at:+"sh /lib/clients/frame.sh $client $driver"} \
		chroot /client "$@" <&7 >/tmp/$client.out 2>/tmp/errors.out
}

run_kmscube() {
	frames=1,20,40
	watched kmscube -D "$node" -c 40 -v 1024x768-60
}

run_mpv() {
	frames=1,10,25
	watched mpv --no-config --vo=drm --drm-device="$node" --drm-mode=640x480 --no-audio --untimed --framedrop=no \
		--no-terminal av://lavfi:testsrc2=size=640x480:rate=25:duration=2
}

run_glmark2() {
	frames=
	watched glmark2-es2-drm --winsys-options=drm-device="$node" -b build:duration=4 -b texture:duration=4 || return 1
	tr '\r' '\n' </tmp/$client.out | grep -E 'FPS: |Error: ' | sed "s/^/glmark2 $driver /"
}

# client_program CLIENT DRIVER: runs it to its end, with pictures on the way.
client_program() {
	client=$1
	driver=$2
	start=$(cut -d' ' -f1 /proc/uptime)
	client_root
	node=$(node_of "$driver")
	status=0
	"run_$client" || status=$?
	[ $status = 0 ] || tail -n 30 /tmp/$client.out
	tail -n 10 /tmp/errors.out | grep -v '^flips: '
	echo "HOST program $client $driver $status $(sed -n 's/^flips: //p' /tmp/errors.out)"
	read -r answer
	exec 7>&-
	echo "client $client $driver $start $(cut -d' ' -f1 /proc/uptime)"
}
