#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# foreign.sh FOLDER: the rows of ddi_layout.def whose structs are in headers of Debian packages agree with them: those of
# Wine (libwine-dev) and of mingw-w64 (mingw-w64-common). None of them was written for this project.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

folder=$1
mingw=/usr/share/mingw-w64/include
wine=/usr/include/wine/wine/windows
if ! command -v clang >/dev/null || [[ ! -e $mingw/ddk/wdm.h || ! -e $wine/ddk/d3dkmthk.h ]]; then
	echo "skipped: this takes clang and the Debian packages mingw-w64-common and libwine-dev"
	exit 77
fi
rm -rf "$folder"
mkdir -p "$folder"

# rows STRUCT: its rows of the table.
rows() {
	sed -n "/^#define WDK *$1\$/,/^#undef WDK/p" host/wddm/ddi_layout.def
}

# agree NAME: compiles NAME.c of the folder for 64-bit and for 32-bit Windows.
agree() {
	agree_on x86_64 "$1" && agree_on i686 "$1"
}

agree_on() {
	local machine=$1
	shift
	clang --target="$machine-pc-windows-gnu" -std=gnu11 -w -I include -isystem "$mingw" -isystem "$mingw/ddk" \
		-idirafter "$wine" -c "$folder/$1.c" -o "$folder/$1.obj"
}

checks='
#include <stddef.h>
#define EITHER(of_64, of_32) (sizeof(void *) == 8 ? (of_64) : (of_32))
#define FIELD(at, bytes, at32, bytes32, member, type, from) \
	_Static_assert(offsetof(WDK, member) == EITHER(at, at32), #member); \
	_Static_assert(sizeof(((WDK *)0)->member) == EITHER(bytes, bytes32), #member);
#define RENAMED(at, bytes, at32, bytes32, member, ours, type, from) FIELD(at, bytes, at32, bytes32, member, type, from)
#define SIZE(bytes, bytes32, from) _Static_assert(sizeof(WDK) == EITHER(bytes, bytes32), "size");
'

cat >"$folder/wine.c" <<END
#include <windows.h>
#include <ntdef.h>
#include <ddk/d3dkmthk.h>
$checks
$(rows D3DDDI_PATCHLOCATIONLIST)
_Static_assert(sizeof(D3DDDI_ALLOCATIONLIST) == 8, "D3DDDI_ALLOCATIONLIST");
_Static_assert(sizeof(RECT) == 16 && offsetof(RECT, right) == 8, "RECT");
_Static_assert(sizeof(HANDLE) == EITHER(8, 4) && sizeof(SIZE_T) == EITHER(8, 4), "types as wide as a pointer");
_Static_assert(sizeof(LARGE_INTEGER) == 8 && _Alignof(LARGE_INTEGER) == 8 && sizeof(UINT) == 4, "types of one width");
END
cat >"$folder/mdl.c" <<END
#include <wdm.h>
$checks
$(rows MDL)
_Static_assert(sizeof(PFN_NUMBER) == EITHER(8, 4), "frame numbers");
END
# The NTSTATUS values: the shim's macros and Windows's.
cat >"$folder/status.c" <<END
#include <ntdef.h>
#include <ntstatus.h>
#include "patchbay/wddm/ddi.h"
#include "patchbay/render.h"
#define SAME(ours, theirs) _Static_assert((unsigned int)(ours) == (unsigned int)(theirs), #theirs)
SAME(PB_STATUS_SUCCESS, STATUS_SUCCESS);
SAME(PB_STATUS_UNSUCCESSFUL, STATUS_UNSUCCESSFUL);
SAME(PB_STATUS_INSUFFICIENT_DMA_BUFFER, STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER);
SAME(PB_STATUS_ALLOCATION_BUSY, STATUS_GRAPHICS_ALLOCATION_BUSY);
SAME(PB_STATUS_GPU_EXCEPTION_ON_DEVICE, STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE);
#define X(name, number, status, text) NTSTATUS_OF_##name = status,
enum { PB_RENDER_STATUSES(X) };
SAME(NTSTATUS_OF_INSUFFICIENT_DMA_BUFFER, STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER);
SAME(NTSTATUS_OF_ILLEGAL_INSTRUCTION, STATUS_ILLEGAL_INSTRUCTION);
SAME(NTSTATUS_OF_PRIVILEGED_INSTRUCTION, STATUS_PRIVILEGED_INSTRUCTION);
SAME(NTSTATUS_OF_INVALID_PARAMETER, STATUS_INVALID_PARAMETER);
SAME(NTSTATUS_OF_INVALID_USER_BUFFER, STATUS_INVALID_USER_BUFFER);
SAME(NTSTATUS_OF_INVALID_HANDLE, STATUS_INVALID_HANDLE);
SAME(NTSTATUS_OF_NO_MEMORY, STATUS_NO_MEMORY);
END
for name in wine mdl status; do
	agree "$name"
done
# The comparison can fail, for either.
for wrong in 's/FIELD(0x10, 8, 0x08, 4, Process/FIELD(0x18, 8, 0x08, 4, Process/' \
	's/FIELD(0x10, 8, 0x08, 4, Process/FIELD(0x10, 8, 0x0c, 4, Process/'; do
	sed "$wrong" "$folder/mdl.c" >"$folder/wrong.c"
	if cmp -s "$folder/mdl.c" "$folder/wrong.c" || agree wrong 2>/dev/null; then
		echo "error: a wrong row of MDL was not found"
		exit 1
	fi
done
