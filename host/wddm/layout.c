/* SPDX-License-Identifier: MIT */
/*
 * The structs of include/patchbay/wddm have the layout of ddi_layout.def: each offset and each size, and so each width. A
 * host with 32-bit pointers has the layout of 32-bit Windows, and must align 64-bit integers to 8 bytes as Windows does.
 */
#include <stddef.h>

#include "patchbay/wddm/ddi.h"
#include "patchbay/wddm/ddi_adapter.h"
#include "patchbay/wddm/ddi_gdi.h"
#include "patchbay/wddm/ddi_paging.h"

#define PB_DDI_VERSION PB_DXGKDDI_WDDM1_3

/* No conditional operator: clang-tidy objects to one whose results are equal. */
#define EITHER(of_64, of_32)                                                                                 \
	((sizeof(void *) == 8) * (size_t)(of_64) + (sizeof(void *) != 8) * (size_t)(of_32))
#define FIELD(at, bytes, at32, bytes32, name, type, from)                                                    \
	RENAMED(at, bytes, at32, bytes32, name, name, type, from)
#define UNNAMED(at, bytes, at32, bytes32, ours, type, from)                                                  \
	RENAMED(at, bytes, at32, bytes32, ours, ours, type, from)
#define RENAMED(at, bytes, at32, bytes32, name, ours, type, from)                                            \
	PB_STATIC_ASSERT(offsetof(struct OURS, ours) == EITHER(at, at32), #ours);
#define SIZE(bytes, bytes32, from)     PB_STATIC_ASSERT(sizeof(struct OURS) == EITHER(bytes, bytes32), "size");
#define AT_LEAST(bytes, bytes32, from) SIZE(bytes, bytes32, from)
#include "host/wddm/ddi_layout.def"
