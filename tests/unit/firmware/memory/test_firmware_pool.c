/* SPDX-License-Identifier: MIT */
/* The pool of card memory, searched in slices between which it changes, and words of apertures that lie in it. */
#include <string.h>

#include "firmware/instance.h"
#include "tests/unit/patch_oracle.h"
#include "tests/unit/unit.h"

#define PAGE       0x1000u
#define POOL       0x20000u
#define POOL_PAGES 400u
#define MEMORY     (POOL + POOL_PAGES * PAGE)
/* Host memory, with a page between. */
#define HOST_PAGE  (POOL_PAGES + 1u)
#define HOST       (POOL + HOST_PAGE * PAGE)
#define HOST_PAGES 3u
#define HOST_END   (HOST + HOST_PAGES * PAGE)
#define OUTER      (HOST_END + PAGE)
#define TABLE      0x1000u /* where the engine below says its page table is */

static uint8_t memory[HOST_END];
static uint32_t entry; /* what it says of page 5 */

static uint32_t page(void *context, uint32_t table_offset, uint32_t index)
{
	assert_ptr_equal(context, &entry);
	assert_int_equal(table_offset, TABLE);
	return index == 5 ? entry : 0;
}

static const struct pb_engine_memory_ops ops = {.page = page};
static const struct pb_engine_memory engine_memory = {.ops = &ops, .context = &entry};
static const struct pb_host_window window = {.offset = HOST, .bytes = HOST_PAGES * PAGE};
static const struct pb_firmware_config config = {
	.memory = memory,
	.host = &window,
	.memory_bytes = MEMORY,
	.pool_offset = POOL,
	.engine_memory = &engine_memory,
	.node_count = 1,
};
static struct pb_firmware firmware;

static int start(void **state)
{
	(void)state;
	memset(&firmware, 0, sizeof(firmware));
	firmware.config = &config;
	return 0;
}

/** Takes pages for a place where the search finds them. @return the first page's number, or -1 */
static int take(uint32_t place, uint32_t pages)
{
	uint32_t at = POOL;
	enum pb_core_search search;

	do
		search = pb_core_pool_search(&firmware.pool, MEMORY, &at, pages * PAGE);
	while (search == PB_CORE_SEARCH_MORE);
	if (search == PB_CORE_SEARCH_NONE)
		return -1;
	pb_core_pool_claim(&firmware.pool, place, at, pages * PAGE);
	return (int)((at - POOL) / PAGE);
}

/* ---- search ---- */

/** One slice of a search that goes on from page *at. */
static enum pb_core_search search_on(uint32_t *at, uint32_t pages)
{
	uint32_t offset = POOL + *at * PAGE;
	const enum pb_core_search search = pb_core_pool_search(&firmware.pool, MEMORY, &offset, pages * PAGE);

	*at = (offset - POOL) / PAGE;
	return search;
}

static void slices_end(void **state)
{
	uint32_t at = 0;

	(void)state;
	for (uint32_t place = 1; place <= 96; place++)
		assert_int_equal(take(place, 2), 2 * (place - 1));
	for (uint32_t slice = 1; slice <= 12; slice++) {
		assert_int_equal(search_on(&at, 3), PB_CORE_SEARCH_MORE);
		assert_int_equal(at, 16 * slice);
	}
	assert_int_equal(search_on(&at, 3), PB_CORE_SEARCH_FOUND);
	assert_int_equal(at, 192);
	assert_int_equal(search_on(&at, POOL_PAGES - 192), PB_CORE_SEARCH_FOUND);
	assert_int_equal(search_on(&at, POOL_PAGES - 191), PB_CORE_SEARCH_NONE);
}

/** What is taken and given back between two slices: the search neither returns what is taken nor gets lost. */
static void pool_changes_between_slices(void **state)
{
	uint32_t at = 0;

	(void)state;
	for (uint32_t place = 1; place <= 25; place++)
		assert_int_equal(take(place, 2), 2 * (place - 1));
	assert_int_equal(search_on(&at, 3), PB_CORE_SEARCH_MORE);
	assert_int_equal(at, 16);
	/* Pages 12 to 19 are freed, and a segment gets 12 to 18: page 16 is in the middle of that segment. */
	for (uint32_t place = 7; place <= 10; place++)
		pb_core_pool_free(&firmware.pool, place);
	assert_int_equal(take(7, 7), 12);
	assert_int_equal(search_on(&at, 3), PB_CORE_SEARCH_MORE);
	assert_int_equal(at, 36);
	/* All before it goes: no harm. */
	for (uint32_t place = 1; place <= 18; place++)
		pb_core_pool_free(&firmware.pool, place);
	assert_int_equal(search_on(&at, 3), PB_CORE_SEARCH_FOUND);
	assert_int_equal(at, 50);
}

/** Against a map of pages: many random takes and gives. */
static void random_takes_and_gives(void **state)
{
	static uint8_t owner[POOL_PAGES];
	uint32_t sizes[97] = {0};
	int first[97];
	uint32_t seed = 1;

	(void)state;
	memset(owner, 0, sizeof(owner));
	for (uint32_t step = 0; step < 20000; step++) {
		const uint32_t place = 1u + oracle_random(&seed) % 96u;
		const uint32_t pages = 1u + oracle_random(&seed) % 12u;
		uint32_t run = 0, at = 0;

		if (sizes[place] != 0) {
			memset(&owner[first[place]], 0, sizes[place]);
			pb_core_pool_free(&firmware.pool, place);
			pb_core_pool_free(&firmware.pool, place); /* it has nothing any more */
			sizes[place] = 0;
			continue;
		}
		for (at = 0; at < POOL_PAGES && run < pages; at++)
			run = owner[at] == 0 ? run + 1 : 0;
		first[place] = take(place, pages);
		assert_int_equal(first[place], run == pages ? (int)(at - pages) : -1);
		if (first[place] < 0)
			continue;
		sizes[place] = pages;
		memset(&owner[first[place]], (int)place, pages);
		at = oracle_random(&seed) % POOL_PAGES;
		assert_int_equal(pb_core_pool_owner(&firmware.pool, POOL + at * PAGE), owner[at]);
		assert_int_equal(pb_core_pool_owner(&firmware.pool, POOL + at * PAGE + PAGE - 1), owner[at]);
	}
	assert_int_equal(pb_core_pool_owner(&firmware.pool, 0), 0);
	assert_int_equal(pb_core_pool_owner(&firmware.pool, POOL - 1), 0);
	assert_int_equal(pb_core_pool_owner(&firmware.pool, MEMORY), 0);
	assert_int_equal(pb_core_pool_owner(&firmware.pool, UINT32_MAX), 0);
}

/* ---- words of an aperture ---- */

/**
 * Channel 1 has pages 0 to 3 as linear memory and 4 as a page table; channel 2 has 5 and 6; 7 is being made. Of host memory,
 * channel 1 has the first two pages. Outer memory, which the MCU does not see, is channel 1's.
 */
static void make_segments(void)
{
	const uint32_t sizes[] = {0, 4, 1, 2, 1};

	for (uint32_t place = 1; place <= 4; place++) {
		const int first = take(place, sizes[place]);

		if (place == 4)
			continue;
		firmware.segments.at[place] = (struct pb_core_segment){
			.size = 0x100000,
			.kind = place == 2 ? PB_SEGMENT_APERTURE : PB_SEGMENT_LINEAR,
			.channel = place == 3 ? 2 : 1,
		};
		if (place != 2) {
			firmware.segments.at[place].memory_offset = POOL + (uint32_t)first * PAGE;
			firmware.segments.at[place].memory_bytes = sizes[place] * PAGE;
		}
	}
	firmware.segments.at[5] = (struct pb_core_segment){.size = 2 * PAGE,
							   .kind = PB_SEGMENT_HOST,
							   .channel = 1,
							   .memory_offset = HOST,
							   .memory_bytes = 2 * PAGE};
	firmware.channels[1].memory.segment_of[7] = 5;
	firmware.segments.at[6] = (struct pb_core_segment){
		.size = 2 * PAGE, .kind = PB_SEGMENT_OUTER, .channel = 1, .memory_offset = OUTER};
	pb_core_pool_claim(&firmware.pool, 6, OUTER, 2 * PAGE);
}

static const struct {
	const char *name;
	uint32_t entry;
	int own;   /* page that channel 1 reaches; -1: none */
	int other; /* channel 2 */
} entries[] = {
	{"not mapped", 0, -1, -1},
	{"first page", POOL, 0, -1},
	{"last page", POOL + 3 * PAGE, 3, -1},
	{"a page table", POOL + 4 * PAGE, -1, -1},
	{"another channel's first page", POOL + 5 * PAGE, -1, 5},
	{"another channel's last page", POOL + 6 * PAGE, -1, 6},
	{"a segment being made", POOL + 7 * PAGE, -1, -1},
	{"a free page", POOL + 8 * PAGE, -1, -1},
	{"below the pool", POOL - PAGE, -1, -1},
	{"behind the memory", MEMORY, -1, -1},
	{"the last page of all", 0xfffff000, -1, -1},
	{"misaligned", POOL + 4, -1, -1},
	{"misaligned, at the end", POOL + 4 * PAGE - 4, -1, -1},
	{"host memory", HOST, (int)HOST_PAGE, -1},
	{"the last host page that is the channel's", HOST + PAGE, (int)HOST_PAGE + 1, -1},
	{"host memory of no segment", HOST + 2 * PAGE, -1, -1},
	{"host memory, misaligned", HOST + 4, -1, -1},
	{"behind host memory", HOST_END, -1, -1},
	{"outer memory", OUTER, -1, -1},
	{"the last page of outer memory", OUTER + PAGE, -1, -1},
};

static uint32_t *expected(int pages, uint32_t offset)
{
	return pages < 0 ? NULL : (uint32_t *)(void *)(memory + POOL + (uint32_t)pages * PAGE + offset);
}

static void words_of_an_aperture(void **state)
{
	static const uint32_t offsets[] = {0, 4, 2048, PAGE - 4};
	const struct pb_core_segment aperture = {
		.size = 16 * PAGE, .table_offset = TABLE, .kind = PB_SEGMENT_APERTURE, .channel = 1};

	(void)state;
	make_segments();
	for (uint32_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		print_message("%s\n", entries[i].name);
		entry = entries[i].entry;
		for (uint32_t o = 0; o < sizeof(offsets) / sizeof(offsets[0]); o++) {
			const uint32_t offset = 5 * PAGE + offsets[o];

			assert_ptr_equal(pb_core_aperture_word(&firmware, 1, &aperture, offset),
					 expected(entries[i].own, offsets[o]));
			assert_ptr_equal(pb_core_aperture_word(&firmware, 2, &aperture, offset),
					 expected(entries[i].other, offsets[o]));
			assert_null(pb_core_aperture_word(&firmware, 1, &aperture, offset + PAGE));
		}
	}
}

UNIT_SUITE(test_firmware_pool)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(slices_end, start),
		cmocka_unit_test_setup(pool_changes_between_slices, start),
		cmocka_unit_test_setup(random_takes_and_gives, start),
		cmocka_unit_test_setup(words_of_an_aperture, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
