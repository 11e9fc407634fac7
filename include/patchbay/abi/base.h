/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What every wire header starts from: the version rule and the compile-time
 * checks. The wire structs are little-endian, fixed-width and padded by hand,
 * so that one definition serves the firmware, the host library and a driver.
 */
#ifndef PB_FIRMWARE_ABI_BASE_H
#define PB_FIRMWARE_ABI_BASE_H

#include <stddef.h>
#include <stdint.h>

/** Holds when the header is compiled, in C and in C++. */
#ifdef __cplusplus
#define PB_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define PB_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif

/** Checks the place of one field; stands right below its struct. */
#define PB_AT(type, field, offset)                                                                           \
	PB_STATIC_ASSERT(offsetof(struct type, field) == (offset), #type "." #field)
/** Checks the size of one struct; stands right below it. */
#define PB_SIZE(type, bytes) PB_STATIC_ASSERT(sizeof(struct type) == (bytes), #type)

/*
 * Version word: 31..16 major, 15..0 minor.
 * A change that an older peer would misread bumps major; a field or value
 * added where older peers read zero or skip bumps minor. Firmware accepts a
 * host of its own major, whatever the minor.
 */
#define PB_ABI_MAJOR   1u                                  /**< what an older peer would misread */
#define PB_ABI_MINOR   3u                                  /**< what an older peer may not know of */
#define PB_ABI_VERSION (PB_ABI_MAJOR << 16 | PB_ABI_MINOR) /**< the version word */

#ifndef PB_VERSION
/** Release of these sources: CMake reads it here. It is part of the boot block's build text and of an image's header. */
#define PB_VERSION "0.2.0"
#endif

/** One writer a line: no two sides store into the same 64 bytes. */
#define PB_LINE_BYTES 64u
/** Granularity of segments and of their backing memory, in bytes. */
#define PB_PAGE_BYTES 4096u

/*
 * Handle of a queue or a context, never an index alone:
 *
 *   31          16 15           0
 *  +--------------+--------------+
 *  |  generation  |    index     |   generation is 1..65535, so 0 is no handle
 *  +--------------+--------------+
 */
/** Makes a handle. */
#define PB_HANDLE(index, generation) ((uint32_t)(generation) << 16 | (uint32_t)(index))
#define PB_HANDLE_INDEX(handle)      ((handle)&0xffffu) /**< slot of a handle */
#define PB_HANDLE_GENERATION(handle) ((handle) >> 16)   /**< how often the slot was used */
#define PB_HANDLE_NONE               0u                 /**< no handle */

#endif
