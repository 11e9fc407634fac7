#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/install/packages.sh BUILD_FOLDER: the Debian packages. Lintian finds nothing in them. They are installed by dpkg into a
# root of their own, which has nothing but the packages that they depend on, and those of a compiler: these are copied from this
# machine as dpkg lists them, so that no network is needed. There, by chroot, the command and a program of the library run.
# shellcheck source=tests/install/lib.sh
source "$(dirname "$0")/lib.sh" "$@"
if ((EUID != 0)); then
	exec unshare --map-root-user --mount bash "$0" "$@"
fi
root=$work/root
# For the program that is built there; for dpkg itself; for the shell of their scripts.
tools=(gcc libc6-dev pkgconf dpkg dash coreutils)

# needed_by PACKAGE...: what these packages of this machine depend on, and they themselves, one a line.
needed_by() {
	local -A seen=()
	local queue=("$@") name depends word
	while ((${#queue[@]})); do
		name=${queue[0]%%:*}
		queue=("${queue[@]:1}")
		[[ -z ${seen[$name]-} ]] || continue
		dpkg-query -W "$name" >/dev/null 2>&1 || continue
		seen[$name]=yes
		echo "$name"
		depends=$(dpkg-query -W -f '${Pre-Depends}, ${Depends}' "$name" | sed -E 's/\([^)]*\)//g; s/[,|]/ /g')
		for word in $depends; do
			queue+=("$word")
		done
	done
}

make_root() {
	local folder names
	mkdir -p "$root"/{usr/{bin,sbin,lib,lib64},var/lib/dpkg/{info,updates},tmp,dev,etc}
	for folder in bin sbin lib lib64; do
		ln -s "usr/$folder" "$root/$folder"
	done
	# shellcheck disable=SC2046 # a word for each package
	mapfile -t names < <(needed_by "${tools[@]}" $(dpkg-deb -f "$work"/patchbay_*.deb Depends | sed -E 's/\([^)]*\)//g; s/[,|]/ /g') libc6-dev)
	dpkg-query -s "${names[@]}" >"$root/var/lib/dpkg/status"
	dpkg-query -L "${names[@]}" | grep '^/' | sort -u | while read -r folder; do
		[[ -d $folder && ! -L $folder ]] || printf '%s\n' "${folder#/}"
	done >"$work/files"
	tar -C / --ignore-failed-read -cf - -T "$work/files" 2>/dev/null | tar -C "$root" --keep-directory-symlink -xf -
	: >"$root/dev/null"
	[[ -e $root/bin/sh ]] || ln -s dash "$root/bin/sh"
	ldconfig -r "$root"
	! ls "$root"/usr/*/*patchbay* 2>/dev/null || fail "above: files of Patchbay before it is installed"
}

# What xz takes 4 s of one processor for is no matter here.
make_packages -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip
mv "$work"/packages/*.deb "$work"
bash "$project/tests/install/lintian.sh" "$work"/*.deb
[[ $(dpkg-deb -c "$work"/patchbay-firmware_*.deb | grep -c '/images/.*[.]elf$') -ge 1 ]] || fail "no image in patchbay-firmware"
make_root
quiet dpkg --root="$root" -i "$work"/*.deb
[[ $(dpkg-query --admindir="$root/var/lib/dpkg" -W -f '${db:Status-Abbrev}' 'patchbay*' libpatchbay-dev) == "ii ii ii " ]] || fail "not installed"
quiet chroot "$root" patchbay image --board mps2_an500 /usr/share/patchbay/images/patchbay-mps2_an500.elf
quiet chroot "$root" patchbay demo --sim --frames 2 --output /tmp/demo
cp "$project/tests/install/within/in_process.c" "$root/tmp"
quiet chroot "$root" sh -c 'cd /tmp && gcc in_process.c $(pkg-config --cflags --libs patchbay-sim) -o in_process && ./in_process'
quiet dpkg --root="$root" -r patchbay libpatchbay-dev patchbay-firmware
[[ $(find "$root/usr" -path '*patchbay*' | wc -l) == 0 ]] || fail "removed, and files are left: $(find "$root/usr" -path '*patchbay*' | head -3)"
echo "3 packages: lintian found nothing; installed, used and removed in a root of $(grep -c ^Package "$root/var/lib/dpkg/status") packages"
