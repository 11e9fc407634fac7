#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# windows.sh FOLDER: the host library, the shim and host/wddm/windows compile for x86_64-pc-windows-msvc and for
# i686-pc-windows-msvc, the last for each interface version against the stand-in for the WDK; a wrong row of a table does
# not. Objects go to FOLDER.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

folder=$1
# The C library's headers of a Windows compiler: string.h is all that the libraries need of them.
headers=/usr/share/mingw-w64/include
if ! command -v clang >/dev/null || [[ ! -e $headers/string.h ]]; then
	echo "skipped: this takes clang and the headers of the Debian package mingw-w64-common"
	exit 77
fi
rm -rf "$folder"
mkdir -p "$folder"
# Without -Wsign-conversion: an enum is signed there. __try is an extension of Windows compilers.
warnings=(-Wall -Wextra -Werror -Wpedantic -Wshadow -Wundef -Wconversion -Wno-sign-conversion -Wstrict-prototypes
	-Wno-language-extension-token -Wmissing-prototypes -Wcast-align -Wvla -Wswitch-enum -Wwrite-strings -Wpointer-arith)

# compile ROOT SOURCE OPTION...: for the processor of $machine. ROOT is where host/ lies.
compile() {
	local root=$1 source=$2
	shift 2
	clang --target="$machine-pc-windows-msvc" -std=c11 -O1 -ffreestanding "${warnings[@]}" "$@" -I "$root" -I . -I include \
		-isystem "$headers" -c "$root/$source" -o "$folder/$(tr / _ <<<"$source").obj"
}

# sources FILE: of a library, from its list.
sources() {
	sed -n "s,^ *\${CMAKE_CURRENT_LIST_DIR}/\([a-z_]*\.c\).*,$(dirname "$1")/\1,p" "$1"
}

count=0
for machine in x86_64 i686; do
	for source in $(sources host/library.cmake) $(sources host/wddm/wddm.cmake); do
		compile . "$source" -Wcast-qual
		count=$((count + 1))
	done
done
((count > 40)) || { echo "error: the lists of sources were not understood" && exit 1; }

# windows ROOT: host/wddm/windows for each processor and interface.
windows() {
	local version source machine
	python3 "$1/host/wddm/windows/standin.py" "$folder/standin.h" || return 1
	for machine in x86_64 i686; do
		for version in 0x1052 0x2005 0x300e 0x4002; do
			for source in layout.c driver.c; do
				compile "$1" "host/wddm/windows/$source" -DDXGKDDI_INTERFACE_VERSION=$version -I "$folder" ||
					return 1
			done
		done
	done
}

windows .

# Render reads memory of a process, which may fault: the entry point has an exception handler.
for handler in x86_64:__C_specific_handler i686:_except_handler3; do
	machine=${handler%%:*}
	compile . host/wddm/windows/driver.c -I "$folder"
	grep -aq "${handler#*:}" "$folder/host_wddm_windows_driver.c.obj" ||
		{ echo "error: Render of $machine has no exception handler" && exit 1; }
done

# wrong FILE ROW REPLACEMENT: with another row the compiler disagrees.
wrong() {
	local copy=$folder/wrong
	rm -rf "$copy"
	mkdir -p "$copy/host"
	cp -r host/wddm "$copy/host"
	sed -i "s/^$2\$/$3/" "$copy/host/wddm/$1"
	! cmp -s "host/wddm/$1" "$copy/host/wddm/$1" || { echo "error: $1 has no row $2" && exit 1; }
	if windows "$copy" >"$folder/wrong.log" 2>&1; then
		echo "error: the compiler did not find $3"
		exit 1
	fi
}

# The copy itself is no error.
rm -rf "$folder/copy"
mkdir -p "$folder/copy/host"
cp -r host/wddm "$folder/copy/host"
windows "$folder/copy"

wrong ddi_layout.def 'FIELD(0x58, 4, 0x48, 4, NodeOrdinal, UINT, HDR10)' 'FIELD(0x5c, 4, 0x48, 4, NodeOrdinal, UINT, HDR10)'
wrong ddi_layout.def 'FIELD(0x58, 4, 0x48, 4, NodeOrdinal, UINT, HDR10)' 'FIELD(0x58, 4, 0x44, 4, NodeOrdinal, UINT, HDR10)'
wrong ddi_layout.def 'FIELD(0x38, 4, 0x20, 4, Color, UINT, HDR7)' ''
wrong ddi_layout.def 'FIELD(0x3c, 16, 0x24, 16, DstRect, RECT, HDR7)' 'FIELD(0x40, 16, 0x24, 16, DstRect, RECT, HDR7)'
wrong ddi_layout.def 'FIELD(0x64, 4, 0x4c, 4, Transfer.MdlOffset, UINT, HDR7)' \
	'FIELD(0x64, 8, 0x4c, 4, Transfer.MdlOffset, UINT, HDR7)'
wrong ddi_layout.def 'SIZE(304, 288, HDR7)' 'SIZE(312, 288, HDR7)'
wrong ddi_layout.def 'SIZE(304, 288, HDR7)' 'SIZE(304, 296, HDR7)'
wrong windows/driver_layout.def 'FIELD(0x1b0, 8, 0x0d8, 4, DxgkDdiPresent, PDXGKDDI_PRESENT, BUILT)' ''
