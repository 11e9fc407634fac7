/* SPDX-License-Identifier: MIT */
/*
 * The count of patches, of two words: the stores of the firmware and the reads of the host library, in every order that
 * two processors may have. A reader never sees the count go back, or beyond what it will be.
 */
#include "firmware/queue/ring.h"
#include "tests/unit/fake_firmware.h"
#include "tests/unit/stepped.h"
#include "tests/unit/unit.h"

#define STORES_MAX 3u
/** Reads of the counter's words by one pb_queue_fence(). */
#define READS 3u

static struct fake_bench bench;

/** The firmware's stores for one submission that completes, in their order. */
static struct {
	uint32_t *address;
	uint32_t value;
} stores[STORES_MAX];
static uint32_t store_count;
static bool records;

/** Before which read of the counter each store is done. */
static uint32_t moments[STORES_MAX];
static uint32_t done, reads;

static bool is_counter(const uint32_t *address)
{
	const struct pb_channel_entry *entry = bench.channel.entry;

	return entry != NULL && (address == &entry->patches_low || address == &entry->patches_high);
}

uint32_t pb_stepped_read32(const uint32_t *address)
{
	if (is_counter(address)) {
		for (; done < store_count && moments[done] <= reads; done++)
			*stores[done].address = stores[done].value;
		reads++;
	}
	return *address;
}

void pb_stepped_write32(uint32_t *address, uint32_t value)
{
	if (!records) {
		*address = value;
		return;
	}
	assert_true(is_counter(address) && store_count < STORES_MAX);
	stores[store_count].address = address;
	stores[store_count++].value = value;
}

/** The count is published, and the firmware has its stores for the next patches ready. */
static void prepare(uint64_t before, uint32_t patches)
{
	struct pb_core_usage usage = {.patches = before};
	struct pb_channel_entry *entry = bench.channel.entry;

	entry->patches_low = (uint32_t)before;
	entry->patches_high = (uint32_t)(before >> 32);
	store_count = done = reads = 0;
	records = true;
	pb_core_ring_count_patches(&usage, entry, patches);
	records = false;
	assert_true(usage.patches == before + patches);
	assert_in_range(store_count, 1, STORES_MAX);
}

static uint64_t read_count(void)
{
	struct pb_fence fence;

	assert_int_equal(pb_queue_fence(&bench.queue, &fence), PB_ERROR_OK);
	return fence.patches;
}

/** The next choice of moments in which stores keep their order. @return false: that was the last one */
static bool next_moments(void)
{
	uint32_t i = store_count;

	while (i != 0 && moments[i - 1u] == 2u * READS)
		i--;
	if (i == 0)
		return false;
	moments[i - 1u]++;
	for (; i < store_count; i++)
		moments[i] = moments[i - 1u];
	return true;
}

static void the_count_of_patches_never_goes_back(void **state)
{
	static const struct {
		uint64_t before;
		uint32_t patches;
	} rows[] = {
		{0, 1},
		{5, 300},
		{0xfffffffe, 1},
		{0xffffffff, 1},
		{0xfffffff0, 300},
		{0x100000001, 0xffffffff},
		{0x1ffffffff, 0xffffffff},
		{0x7ffffffe00000001, 0xffffffff},
	};

	(void)state;
	fake_bench_start(&bench);
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const uint64_t before = rows[i].before, after = before + rows[i].patches;

		moments[0] = moments[1] = moments[2] = 0;
		do {
			uint64_t first, second;

			prepare(before, rows[i].patches);
			first = read_count();
			assert_int_equal(reads, READS);
			second = read_count();
			assert_true(before <= first && first <= second && second <= after);
			assert_true(first == before || moments[0] < READS);
			assert_true(first == after || moments[store_count - 1u] > 0);
		} while (next_moments());
		assert_true(read_count() == after || moments[0] == 2u * READS);
	}
	fake_bench_stop(&bench);
}

/** Whatever the firmware stores, a read ends. */
static void any_words_are_read_at_once(void **state)
{
	static const uint32_t words[] = {0, 1, 0x7fffffff, PB_PATCHES_CARRY, UINT32_MAX};

	(void)state;
	fake_bench_start(&bench);
	store_count = done = 0;
	for (uint32_t i = 0; i < 25; i++) {
		const uint32_t low = words[i / 5u], high = words[i % 5u];

		bench.channel.entry->patches_low = low;
		bench.channel.entry->patches_high = high;
		reads = 0;
		assert_true(read_count() == (high < PB_PATCHES_CARRY
						     ? (uint64_t)high << 32 | low
						     : (uint64_t)(high - PB_PATCHES_CARRY) << 32));
		assert_int_equal(reads, READS);
	}
	fake_bench_stop(&bench);
}

UNIT_SUITE(test_host_patches)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_count_of_patches_never_goes_back),
		cmocka_unit_test(any_words_are_read_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
