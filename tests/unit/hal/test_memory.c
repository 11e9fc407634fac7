/* SPDX-License-Identifier: MIT */
/* The images' own memcpy and memset, under other names: every alignment and length up to a few words. */
#include <stdint.h>
#include <string.h>

#include "tests/unit/unit.h"

#define LENGTHS 40u
#define OFFSETS 8u
#define ROOM    64u

void *tested_memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *tested_memset(void *to, int value, size_t bytes);

#define memcpy tested_memcpy
#define memset tested_memset
#include "hal/memory.c"
#undef memcpy
#undef memset

/* Aligned as the words that the functions use. */
static union {
	uint8_t bytes[ROOM];
	uint64_t words[ROOM / 8u];
} target, source;

static void fill(void)
{
	for (uint32_t i = 0; i < ROOM; i++) {
		target.bytes[i] = (uint8_t)(0x80u + i);
		source.bytes[i] = (uint8_t)(i + 1u);
	}
}

static void memcpy_copies_these_bytes_and_no_others(void **state)
{
	(void)state;
	for (uint32_t to = 0; to < OFFSETS; to++) {
		for (uint32_t from = 0; from < OFFSETS; from++) {
			for (uint32_t length = 0; length <= LENGTHS; length++) {
				fill();
				assert_ptr_equal(
					tested_memcpy(&target.bytes[to], &source.bytes[from], length),
					&target.bytes[to]);
				for (uint32_t i = 0; i < ROOM; i++)
					assert_int_equal(target.bytes[i],
							 i - to < length ? i - to + from + 1u : 0x80u + i);
			}
		}
	}
}

static void memset_fills_these_bytes_and_no_others(void **state)
{
	/* All bytes above the first of a value mean nothing. */
	static const int values[] = {0, 0xa5, 0x1237f, -1};

	(void)state;
	for (uint32_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
		for (uint32_t to = 0; to < OFFSETS; to++) {
			for (uint32_t length = 0; length <= LENGTHS; length++) {
				fill();
				assert_ptr_equal(tested_memset(&target.bytes[to], values[v], length),
						 &target.bytes[to]);
				for (uint32_t i = 0; i < ROOM; i++)
					assert_int_equal(target.bytes[i], i - to < length ? values[v] & 0xff
											  : (int)(0x80u + i));
			}
		}
	}
}

UNIT_SUITE(test_memory)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memcpy_copies_these_bytes_and_no_others),
		cmocka_unit_test(memset_fills_these_bytes_and_no_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
