/* SPDX-License-Identifier: MIT */
#include "tests/wddm/os/map.h"

#include <string.h>

#define ABSENT 0x7e /**< contents of an address where nothing is mapped */
#define GUARD  0x5c

static bool holds(const uint8_t *bytes, uint32_t count, uint8_t value)
{
	return count == 0 || (bytes[0] == value && memcmp(bytes, bytes + 1, count - 1) == 0);
}

void os_map_start(struct os_map *map)
{
	map->next = 0;
	for (uint32_t w = 0; w < OS_MAP_WINDOWS; w++) {
		map->windows[w].buffer = NULL;
		memset(map->windows[w].bytes, ABSENT, OS_MAP_BYTES);
		memset(map->windows[w].guard, GUARD, OS_MAP_GUARD);
	}
}

struct os_window *os_map_open(struct os_map *map, uint8_t *buffer)
{
	struct os_window *window = &map->windows[map->next];

	while (window->buffer != NULL) {
		map->next = (map->next + 1) % OS_MAP_WINDOWS;
		window = &map->windows[map->next];
	}
	map->next = (map->next + 1) % OS_MAP_WINDOWS;
	window->buffer = buffer;
	memcpy(window->bytes, buffer, OS_MAP_BYTES);
	memcpy(window->before, buffer, OS_MAP_BYTES);
	return window;
}

bool os_map_untouched(const struct os_window *window, uint32_t start, uint32_t end)
{
	const uint32_t inside = end < OS_MAP_BYTES ? end : OS_MAP_BYTES;

	if (start < inside && memcmp(window->bytes + start, window->before + start, inside - start) != 0)
		return false;
	return end <= OS_MAP_BYTES || holds(window->guard, end - OS_MAP_BYTES, GUARD);
}

void os_map_close(struct os_window *window)
{
	memcpy(window->buffer, window->bytes, OS_MAP_BYTES);
	memset(window->bytes, ABSENT, OS_MAP_BYTES);
	memset(window->guard, GUARD, OS_MAP_GUARD);
	window->buffer = NULL;
}

/** The first byte that has another value; NULL: none. */
static const void *other(const uint8_t *bytes, uint32_t count, uint8_t value)
{
	if (holds(bytes, count, value))
		return NULL;
	while (*bytes == value)
		bytes++;
	return bytes;
}

const void *os_map_stray(const struct os_map *map)
{
	const void *stray = NULL;

	for (uint32_t w = 0; w < OS_MAP_WINDOWS && stray == NULL; w++) {
		const struct os_window *window = &map->windows[w];

		if (window->buffer != NULL)
			continue;
		stray = other(window->bytes, OS_MAP_BYTES, ABSENT);
		if (stray == NULL)
			stray = other(window->guard, OS_MAP_GUARD, GUARD);
	}
	return stray;
}
