/* SPDX-License-Identifier: MIT */
/*
 * The structs of include/patchbay/wddm have the layout of ddi_layout.def: each offset and each size, and so each width. On
 * a 32-bit host offsets differ.
 */
#include <stddef.h>

#include "patchbay/wddm/ddi.h"
#include "patchbay/wddm/ddi_adapter.h"
#include "patchbay/wddm/ddi_paging.h"

#define PB_DDI_VERSION PB_DXGKDDI_WDDM1_3

#define CHECK(condition, text)                     PB_STATIC_ASSERT(sizeof(void *) != 8 || (condition), text)
#define FIELD(at, bytes, name, type, from)         RENAMED(at, bytes, name, name, type, from)
#define RENAMED(at, bytes, name, ours, type, from) CHECK(offsetof(struct OURS, ours) == (at), #ours);
#define UNNAMED(at, bytes, ours, type, from)       RENAMED(at, bytes, ours, ours, type, from)
#define SIZE(bytes, from)                          CHECK(sizeof(struct OURS) == (bytes), "size");
#define AT_LEAST(bytes, from)                      SIZE(bytes, from)
#include "host/wddm/ddi_layout.def"
