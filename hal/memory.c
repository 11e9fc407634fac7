/* SPDX-License-Identifier: MIT */
/*
 * memcpy and memset, which compilers call for records and tables. Those of the
 * C libraries are several times as large, for blocks longer than any here.
 */
#include <stdint.h>
#include <string.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
	if (((uintptr_t)to | (uintptr_t)from | bytes) % sizeof(uint32_t) == 0) {
		uint32_t *words = to;
		const uint32_t *const end = words + bytes / sizeof(uint32_t);

		for (const uint32_t *next = from; words != end; words++)
			*words = *next++;
	} else {
		uint8_t *at = to;
		const uint8_t *const end = at + bytes;

		for (const uint8_t *next = from; at != end; at++)
			*at = *next++;
	}
	return to;
}

void *memset(void *to, int value, size_t bytes)
{
	const uint8_t byte = (uint8_t)value;
	const uint32_t word = byte * 0x01010101u;
	uint8_t *at = to;
	const uint8_t *const end = at + bytes;

	for (; at != end && (uintptr_t)at % sizeof(uint32_t) != 0; at++)
		*at = byte;
	for (; end - at >= 16; at += 16) {
		uint32_t *words = (uint32_t *)(void *)at;

		words[0] = word;
		words[1] = word;
		words[2] = word;
		words[3] = word;
	}
	for (; end - at >= 4; at += 4)
		*(uint32_t *)(void *)at = word;
	for (; at != end; at++)
		*at = byte;
	return to;
}
