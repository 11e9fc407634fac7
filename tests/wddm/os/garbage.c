/* SPDX-License-Identifier: MIT */
#include "tests/wddm/os/garbage.h"

#include <string.h>

void os_chance_start(struct os_chance *chance, uint64_t seed)
{
	chance->state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
	chance->state |= 1u;
	for (uint32_t i = 0; i < 4; i++)
		(void)os_word(chance);
}

/* xorshift64*: its upper half is good enough for decisions and garbage. */
uint32_t os_word(struct os_chance *chance)
{
	chance->state ^= chance->state >> 12;
	chance->state ^= chance->state << 25;
	chance->state ^= chance->state >> 27;
	return (uint32_t)((chance->state * UINT64_C(0x2545f4914f6cdd1d)) >> 32);
}

uint32_t os_below(struct os_chance *chance, uint32_t bound)
{
	return (uint32_t)(((uint64_t)os_word(chance) * bound) >> 32);
}

bool os_one_in(struct os_chance *chance, uint32_t count)
{
	return os_below(chance, count) == 0;
}

void os_garbage(struct os_chance *chance, void *memory, size_t bytes)
{
	uint8_t *to = memory;

	while (bytes != 0) {
		const uint32_t word = os_word(chance);
		const size_t part = bytes < sizeof(word) ? bytes : sizeof(word);

		memcpy(to, &word, part);
		to += part;
		bytes -= part;
	}
}
