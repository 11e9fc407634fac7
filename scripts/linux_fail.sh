# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# The module that lets allocations fail: built for the guest's tests only. Sourced by scripts/linux.

# build_fail_module FOLDER: pbd_fail.ko in the folder.
build_fail_module() {
	local name out=$folder/fail
	mkdir -p "$out"
	for name in Kbuild pbd_fail.c; do
		ln -sf "$root/host/linux/tests/fail/$name" "$out/$name"
	done
	logged linux-fail make -C "$headers" M="$out" modules
	cp "$out/pbd_fail.ko" "$1/"
}
