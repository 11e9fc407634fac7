/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Mappings of DMA buffers: each call of the driver sees a buffer at another CPU
 * address, which ends with the call. What is written there later reaches no
 * buffer, and is found.
 */
#ifndef PB_TESTS_WDDM_OS_MAP_H
#define PB_TESTS_WDDM_OS_MAP_H

#include <stdbool.h>
#include <stdint.h>

#define OS_MAP_BYTES   4096u /**< of a buffer */
#define OS_MAP_GUARD   256u  /**< bytes behind it that may not be written */
#define OS_MAP_WINDOWS 6u

/** One range of addresses. */
struct os_window {
	_Alignas(4096) uint8_t bytes[OS_MAP_BYTES];
	uint8_t guard[OS_MAP_GUARD];
	uint8_t before[OS_MAP_BYTES]; /**< contents when the mapping began */
	uint8_t *buffer;              /**< memory of the buffer; NULL: nothing is mapped here */
};

struct os_map {
	struct os_window windows[OS_MAP_WINDOWS];
	uint32_t next; /**< the window that the next mapping takes */
};

void os_map_start(struct os_map *map);
/** Maps a buffer. @return the window; at most one less than OS_MAP_WINDOWS at a time */
struct os_window *os_map_open(struct os_map *map, uint8_t *buffer);
/** Whether the driver has left bytes [start, end) alone; `end` may lie in the guard. */
bool os_map_untouched(const struct os_window *window, uint32_t start, uint32_t end);
/** Ends a mapping: the buffer has what was written. */
void os_map_close(struct os_window *window);
/** Returns an address that was written although nothing is mapped there; NULL: none was. */
const void *os_map_stray(const struct os_map *map);

#endif
