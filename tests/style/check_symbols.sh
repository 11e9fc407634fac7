#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What runs on the MCU, and the libraries that a driver takes, use no heap; no symbol is weak, so that nothing is replaced by
# the order of linking.
source "$(dirname "$0")/lib.sh"

heap='_?(malloc|calloc|realloc|free|sbrk)(_r)?'
shopt -s nullglob
libraries=(build/host-test/{firmware,hal,loader}/lib*.a build/host-test/host/libpb_{host,wddm,gl}.a)
images=(build/*/patchbay-*.elf)
for library in build/host-test/{firmware/libpb_firmware,host/libpb_{host,wddm,gl}}.a; do
	need "$library"
done
need "${images[0]-the image of a board}"
{
	nm -A "${libraries[@]}" | sed -nE "s/^([^:]*:[^:]*):.* U ($heap)\$/\1: no heap here: \2/p"
	# The compiler's own code for links (LTO) names no function of the C library; what is linked does.
	nm -A "${images[@]}" | sed -nE "s/^([^:]*):.* [Tt] ($heap)\$/\1:1: no heap here: \2/p"
	nm -A build/host-test/{firmware,hal,loader,host,qemu}/lib*.a build/*/{firmware,hal,loader,boards}/libpb_*.a 2>/dev/null |
		grep -v /libpb_bearssl.a: | sed -nE 's/^([^:]*:[^:]*):.* [WwVv] (\S+)$/\1: a weak symbol: \2/p'
} >"$findings"
finish
