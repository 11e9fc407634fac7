#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/install/clean.sh BUILD_FOLDER: the Debian packages in a new Debian 12, which debian.sh has made: nothing but the essential
# packages and apt. There apt installs them with what they depend on and recommend. The emulated card runs, the examples are
# built with the package and run on it. Removed, they leave nothing. Needs root.
# shellcheck source=tests/install/lib.sh
source "$(dirname "$0")/lib.sh" "$1"
if ((EUID != 0)); then
	echo "left out: needs root, for chroot"
	exit 77
fi
system=$project/build/debian/bookworm.tar
[[ -e $system ]] || fail "$system is missing: scripts/fetch --all"
root=$work/root

# inside COMMAND...: in the new system, with nothing of this one's environment.
inside() {
	quiet chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"
}

listed() {
	(cd "$root" && find usr etc var/lib/dpkg/info -path '*patchbay*' | sort)
}

make_system() {
	mkdir "$root"
	quiet tar -C "$root" -xf "$system"
	[[ $(listed) == '' ]] || fail "Patchbay before it is installed: $(listed)"
	# Where the card keeps its memory, as any running system has it.
	mkdir -p "$root/dev/shm" "$root/debs"
	# Nothing is downloaded, whether there is a network or not.
	echo 'Acquire::http::Proxy "http://127.0.0.1:1";' >"$root/etc/apt/apt.conf.d/no-network"
}

# A card in the new system, and the examples of the package on it, built there.
run_examples() {
	inside apt-get install -y -q --no-install-recommends gcc libc6-dev cmake make
	inside cmake -S /usr/share/doc/patchbay/examples -B /tmp/examples
	inside cmake --build /tmp/examples
	inside sh -c '
		patchbay card --quiet --socket /tmp/card & card=$!
		while ! patchbay info --card /tmp/card >/dev/null 2>&1; do sleep 0.1; kill -0 $card || exit 1; done
		for program in hello_submit waits preemption own_format residency; do
			/tmp/examples/$program /tmp/card || exit 1
		done
		kill $card; wait $card || true'
	[[ $(wc -l <"$work/output") -ge 5 ]] || fail "examples said too little: $(cat "$work/output")"
}

make_system
make_packages
mv "$work"/packages/*.deb "$root/debs"
# What these packages recommend, but not what others do.
inside sh -c 'apt-get install -y -q --no-install-recommends /debs/*.deb $(for deb in /debs/*.deb; do
	dpkg-deb -f $deb Recommends | sed "s/([^)]*)//g; s/,/ /g; s/patchbay[a-z-]*//g"; done)'
[[ $(chroot "$root" dpkg-query -W -f '${db:Status-Abbrev}' patchbay libpatchbay-dev patchbay-firmware) == "ii ii ii " ]] || fail "not installed"
inside dpkg --verify patchbay libpatchbay-dev patchbay-firmware
[[ ! -s $work/output ]] || fail "files that are not those of the packages: $(cat "$work/output")"
inside patchbay demo --frames 2 --output /tmp/demo
[[ -s $root/tmp/demo/timeline.html ]] || fail "no timeline"
run_examples
inside apt-get purge -y -q patchbay libpatchbay-dev patchbay-firmware
[[ $(listed) == '' ]] || fail "removed, and left: $(listed)"
echo "installed by apt in a new Debian $(<"$root/etc/debian_version"), used, removed; $(grep -c ^Package: "$root/var/lib/dpkg/status") packages"
