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

# agree NAME: compiles NAME.c of the folder.
agree() {
	clang --target=x86_64-pc-windows-gnu -std=gnu11 -w -I include -isystem "$mingw" -isystem "$mingw/ddk" \
		-idirafter "$wine" -c "$folder/$1.c" -o "$folder/$1.obj"
}

checks='
#include <stddef.h>
#define FIELD(at, bytes, member, type, from) \
	_Static_assert(offsetof(WDK, member) == (at), #member); \
	_Static_assert(sizeof(((WDK *)0)->member) == (bytes), #member);
#define RENAMED(at, bytes, member, ours, type, from) FIELD(at, bytes, member, type, from)
#define SIZE(bytes, from) _Static_assert(sizeof(WDK) == (bytes), "size");
'

cat >"$folder/wine.c" <<END
#include <windows.h>
#include <ntdef.h>
#include <ddk/d3dkmthk.h>
$checks
$(rows D3DDDI_PATCHLOCATIONLIST)
_Static_assert(sizeof(D3DDDI_ALLOCATIONLIST) == 8, "D3DDDI_ALLOCATIONLIST");
_Static_assert(sizeof(RECT) == 16 && offsetof(RECT, right) == 8, "RECT");
_Static_assert(sizeof(HANDLE) == 8 && sizeof(LARGE_INTEGER) == 8 && sizeof(SIZE_T) == 8 && sizeof(UINT) == 4, "types");
END
cat >"$folder/mdl.c" <<END
#include <wdm.h>
$checks
$(rows MDL)
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
# The comparison can fail.
sed -i 's/FIELD(0x10, 8, Process/FIELD(0x18, 8, Process/' "$folder/mdl.c"
if agree mdl 2>/dev/null; then
	echo "error: a wrong row of MDL was not found"
	exit 1
fi
