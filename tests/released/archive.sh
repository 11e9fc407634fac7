#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/released/archive.sh VERSION COMMIT: makes tests/released/patchbay-VERSION.tar.xz, the part of the commit's tree that
# builds the host library and the images of two boards, unchanged, and of it patchbay-VERSION-mps2_an500.elf.xz, the image of the
# first one without its symbols. Prints the row for releases.tsv. Equal commits and compilers make equal files.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=$1
commit=$(git rev-parse --verify "$2^{commit}")
file=tests/released/patchbay-$version.tar.xz
number() {
	git show "$commit:include/patchbay/abi/base.h" | sed -nE "s/^#define PB_ABI_$1 +([0-9]+)u.*/\1/p"
}

git -c tar.umask=0022 archive --format=tar --prefix="patchbay-$version/" "$commit" \
	CMakeLists.txt LICENSE CHANGELOG.md include firmware hal linker host/library.cmake host/link.cmake ':(glob)host/*.[ch]' \
	boards/CMakeLists.txt boards/cmake ':(glob)boards/*.[ch]' boards/mps2_an500 boards/qemu_virt_rv32 ':(exclude)boards/*/suites.cmake' \
	qemu/mcu scripts/seal scripts/stack.py tests/bench/bench.cmake tests/bench/loops.cmake ':(glob)tests/e2e/echo*' |
	xz --threads=1 --check=crc64 --lzma2=preset=9e >"$file"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
image=tests/released/patchbay-$version-mps2_an500.elf.xz
tar -C "$work" -xf "$file"
cmake -S "$work/patchbay-$version" -B "$work/build" -G Ninja -DPB_BOARD=mps2_an500 >&2
cmake --build "$work/build" --target image >&2
arm-none-eabi-strip -o "$work/image" "$work/build/patchbay-mps2_an500.elf"
xz --threads=1 --check=crc64 --lzma2=preset=9e <"$work/image" >"$image"
printf '%s\t%s.%s\t%s\t%s\t%s\n' "$version" "$(number MAJOR)" "$(number MINOR)" "$commit" "$(sha256sum "$file" | cut -d' ' -f1)" \
	"$(sha256sum "$image" | cut -d' ' -f1)"
