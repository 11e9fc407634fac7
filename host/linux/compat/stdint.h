/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The fixed-width types of the host library, from the kernel's own. */
#ifndef PBD_COMPAT_STDINT_H
#define PBD_COMPAT_STDINT_H

#include <linux/limits.h>
#include <linux/types.h>

#define INT32_MAX ((int32_t)0x7fffffff)
#define UINT8_MAX ((uint8_t)~0U)
#define UINT16_MAX ((uint16_t)~0U)
#define UINT32_C(value) value##U
#define UINT64_C(value) value##ULL
#ifndef UINT32_MAX
#define UINT32_MAX ((uint32_t)~0U)
#endif
#ifndef UINT64_MAX
#define UINT64_MAX ((uint64_t)~0ULL)
#endif

#endif
