/* SPDX-License-Identifier: MIT */
/* The structs that the compiler for Windows has, the WDK's or the stand-in, are as the tables of their layout say. */
#include <stddef.h>

#include "host/wddm/windows/wdk.h"

#define TEXT(name)     #name
#define TEXT_OF(name)  TEXT(name)
#define MEMBER(member) (((WDK *)0)->member)
#define FIELD(at, bytes, member, type, from)                                                                 \
	PB_STATIC_ASSERT(offsetof(WDK, member) == (at), TEXT_OF(WDK) "." #member);                           \
	PB_STATIC_ASSERT(sizeof(MEMBER(member)) == (bytes), TEXT_OF(WDK) "." #member);
#define RENAMED(at, bytes, member, ours, type, from) FIELD(at, bytes, member, type, from)
#define UNNAMED(at, bytes, ours, type, from)
#define SIZE(bytes, from)     PB_STATIC_ASSERT(sizeof(WDK) == (bytes), TEXT_OF(WDK));
#define AT_LEAST(bytes, from) PB_STATIC_ASSERT(sizeof(WDK) >= (bytes), TEXT_OF(WDK));
#include "host/wddm/ddi_layout.def"
#include "host/wddm/windows/driver_layout.def"
