/* SPDX-License-Identifier: MIT */
/* The structs that the compiler for Windows has, the WDK's or the stand-in, are as the tables of their layout say. */
#include <stddef.h>

#include "host/wddm/windows/wdk.h"

#define TEXT(name)           #name
#define TEXT_OF(name)        TEXT(name)
#define MEMBER(member)       (((WDK *)0)->member)
#define EITHER(of_64, of_32) (sizeof(void *) == 8 ? (of_64) : (of_32))
#define FIELD(at, bytes, at32, bytes32, member, type, from)                                                  \
	PB_STATIC_ASSERT(offsetof(WDK, member) == EITHER(at, at32), TEXT_OF(WDK) "." #member);               \
	PB_STATIC_ASSERT(sizeof(MEMBER(member)) == EITHER(bytes, bytes32), TEXT_OF(WDK) "." #member);
#define RENAMED(at, bytes, at32, bytes32, member, ours, type, from)                                          \
	FIELD(at, bytes, at32, bytes32, member, type, from)
#define UNNAMED(at, bytes, at32, bytes32, ours, type, from)
#define SIZE(bytes, bytes32, from)     PB_STATIC_ASSERT(sizeof(WDK) == EITHER(bytes, bytes32), TEXT_OF(WDK));
#define AT_LEAST(bytes, bytes32, from) PB_STATIC_ASSERT(sizeof(WDK) >= EITHER(bytes, bytes32), TEXT_OF(WDK));
#include "host/wddm/ddi_layout.def"
#include "host/wddm/windows/driver_layout.def"
