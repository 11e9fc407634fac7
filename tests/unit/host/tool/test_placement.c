/* SPDX-License-Identifier: MIT */
/* Where a replay puts the objects, and what its oracle makes of that. */
#include <string.h>

#include "host/tool/placement.h"
#include "host/tool/replay_oracle.h"
#include "tests/unit/unit.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define GIB          (UINT64_C(1) << 30)

/* ---- the fixed placement ---- */

static struct pb_subm_object mixed[] = {
	{.size = 1},
	{.size = 4096},
	{.size = 4097, .alignment = 64},
	{.size = 0x3000, .alignment = 0x10000},
	{.size = 0x20000, .alignment = 4096},
};

static void objects_follow_each_other_aligned(void **state)
{
	static const uint64_t expected_32[] = {0x100000, 0x101000, 0x102000, 0x110000, 0x113000};
	static const uint64_t expected_64[] = {0x100000000, 0x100001000, 0x100002000, 0x100010000,
					       0x100013000};
	const struct pb_subm_submission submission = {.objects = mixed, .object_count = COUNT(mixed)};
	uint64_t addresses[COUNT(mixed)];

	(void)state;
	assert_true(pb_placement_fixed(&submission, 32, addresses));
	assert_memory_equal(addresses, expected_32, sizeof(expected_32));
	assert_true(pb_placement_fixed(&submission, 64, addresses));
	assert_memory_equal(addresses, expected_64, sizeof(expected_64));
}

struct large {
	uint64_t size;
	uint64_t alignment;
	bool fixed_32;
	bool fixed_64;
	bool random_32;
	bool random_64;
};

/* Two such objects. The fixed placement may go past 4 GiB even in a 32-bit file. */
static const struct large larges[] = {
	{GIB, 0, true, true, true, true},
	{2 * GIB, 0, true, true, false, true},
	{511 * GIB, 0, true, false, false, true},
	{512 * GIB, 0, false, false, false, false},
	{UINT64_MAX, 0, false, false, false, false},
	{4096, GIB, true, true, true, true},
	{4096, UINT64_C(1) << 39, false, false, false, false},
	{4096, UINT64_C(1) << 63, false, false, false, false},
};

static void test_large(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(larges); i++) {
		struct pb_subm_object two[2] = {{.size = larges[i].size, .alignment = larges[i].alignment}};
		const struct pb_subm_submission submission = {.objects = two, .object_count = 2};
		uint64_t addresses[2];
		uint64_t random = i;
		uint32_t order[2];

		two[1] = two[0];
		assert_int_equal(pb_placement_fixed(&submission, 32, addresses), larges[i].fixed_32);
		assert_int_equal(pb_placement_fixed(&submission, 64, addresses), larges[i].fixed_64);
		assert_int_equal(pb_placement_random(&submission, 32, &random, order, addresses),
				 larges[i].random_32);
		assert_int_equal(pb_placement_random(&submission, 64, &random, order, addresses),
				 larges[i].random_64);
	}
}

/* ---- random placements ---- */

static void check_random(const uint64_t *addresses, uint64_t top)
{
	for (size_t i = 0; i < COUNT(mixed); i++) {
		uint64_t grid = mixed[i].alignment > 4096 ? mixed[i].alignment : 4096;

		assert_int_equal(addresses[i] % grid, 0);
		assert_true(addresses[i] + mixed[i].size <= top);
		for (size_t j = 0; j < i; j++)
			assert_true(addresses[i] + mixed[i].size <= addresses[j] ||
				    addresses[j] + mixed[j].size <= addresses[i]);
	}
}

static void random_objects_do_not_overlap(void **state)
{
	const struct pb_subm_submission submission = {.objects = mixed, .object_count = COUNT(mixed)};
	uint64_t addresses[COUNT(mixed)];
	uint64_t again[COUNT(mixed)];
	uint32_t order[COUNT(mixed)];
	uint32_t first_is_lowest = 0;
	uint32_t above_4_gib = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 1000; seed++) {
		uint64_t random = seed;

		assert_true(pb_placement_random(&submission, 32, &random, order, addresses));
		check_random(addresses, 4 * GIB);
		first_is_lowest += addresses[0] < addresses[1];
		assert_true(pb_placement_random(&submission, 64, &random, order, addresses));
		check_random(addresses, PB_PLACEMENT_TOP);
		above_4_gib += addresses[0] >= 4 * GIB;
		random = seed;
		assert_true(pb_placement_random(&submission, 32, &random, order, again));
		assert_memory_not_equal(addresses, again, sizeof(again));
		assert_true(pb_placement_random(&submission, 64, &random, order, again));
		assert_memory_equal(addresses, again, sizeof(again));
	}
	assert_in_range(first_is_lowest, 400, 600);
	assert_in_range(above_4_gib, 900, 1000);
}

/* ---- the oracle ---- */

struct sum {
	uint64_t address;
	uint32_t delta;
	uint32_t width;
	uint8_t expected[8]; /* at offset 4 of 16 bytes that hold 0xaa */
};

static const struct sum sums[] = {
	{0x00100000, 0x00000234, 4, {0x34, 0x02, 0x10, 0x00, 0xaa, 0xaa, 0xaa, 0xaa}},
	{0xfffff000, 0x00001000, 4, {0x00, 0x00, 0x00, 0x00, 0xaa, 0xaa, 0xaa, 0xaa}},
	{0x00101000, 0xfffffff0, 4, {0xf0, 0x0f, 0x10, 0x00, 0xaa, 0xaa, 0xaa, 0xaa}},
	{0x123456000, 0x00000078, 4, {0x78, 0x60, 0x45, 0x23, 0xaa, 0xaa, 0xaa, 0xaa}},
	{0x123456000, 0x00000078, 8, {0x78, 0x60, 0x45, 0x23, 0x01, 0x00, 0x00, 0x00}},
	{0x0fffff000, 0x7fffffff, 8, {0xff, 0xef, 0xff, 0x7f, 0x01, 0x00, 0x00, 0x00}},
	{0x123456000, 0x80000000, 8, {0x00, 0x60, 0x45, 0xa3, 0x00, 0x00, 0x00, 0x00}},
	{0x123456000, 0xffffffff, 8, {0xff, 0x5f, 0x45, 0x23, 0x01, 0x00, 0x00, 0x00}},
	{0x000000000, 0xffffffff, 8, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
};

static void test_oracle(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(sums); i++) {
		struct pb_subm_object objects[2] = {{.size = 16, .contents = 0}, {.size = 4096}};
		struct pb_subm_contents contents = {.object = 0, .bytes = 16};
		struct pb_subm_relocation relocation = {
			.target = 1, .offset = 4, .delta = sums[i].delta, .width = sums[i].width};
		const struct pb_subm_submission submission = {
			.object_count = 2,
			.relocation_count = 1,
			.contents_count = 1,
			.objects = objects,
			.relocations = &relocation,
			.contents = &contents,
		};
		const uint64_t addresses[2] = {0x7000, sums[i].address};
		const uint32_t place = 0;
		uint8_t expected[16];
		uint8_t bytes[16];

		memset(bytes, 0xaa, sizeof(bytes));
		memset(expected, 0xaa, sizeof(expected));
		memcpy(expected + 4, sums[i].expected, 8);
		pb_oracle_apply(&submission, addresses, &place, bytes);
		assert_memory_equal(bytes, expected, sizeof(bytes));
	}
}

/* The CRC goes over the contents only, not over what lies between them. */
static void the_crc_covers_contents_only(void **state)
{
	struct pb_subm_contents contents[2] = {{.object = 0, .bytes = 4}, {.object = 1, .bytes = 5}};
	const struct pb_subm_submission submission = {.contents = contents, .contents_count = 2};
	const uint32_t places[2] = {0, 6};

	(void)state;
	/* The check value of CRC-32: "123456789". */
	assert_int_equal(pb_oracle_crc(&submission, places, (const uint8_t *)"1234..56789"), 0xcbf43926);
}

UNIT_SUITE(test_placement)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_follow_each_other_aligned), cmocka_unit_test(test_large),
		cmocka_unit_test(random_objects_do_not_overlap),     cmocka_unit_test(test_oracle),
		cmocka_unit_test(the_crc_covers_contents_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
