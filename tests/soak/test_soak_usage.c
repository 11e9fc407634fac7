/* SPDX-License-Identifier: MIT */
/* The judge of the soak: what counts as growth, and what does not. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/soak/usage.h"
#include "tests/unit/unit.h"

#define MARGIN 10u

static struct pb_series series;

/* Offers `count` samples that begin at `first` and grow by one every `every`, 0: never. */
static void offer(uint32_t count, uint32_t first, uint32_t every)
{
	series = (struct pb_series){.count = 0};
	for (uint32_t i = 0; i < count; i++)
		pb_series_add(&series, first + (every != 0 ? i / every : 0));
}

static void medians_are_of_quarters(void **state)
{
	static const uint32_t samples[16] = {9, 1, 5, 7, 40, 10, 30, 20, 2, 2, 2, 2, 100, 103, 101, 102};

	(void)state;
	series = (struct pb_series){.count = 0};
	for (uint32_t i = 0; i < 16; i++)
		pb_series_add(&series, samples[i]);
	assert_int_equal(pb_series_quarter(&series, 0), 7);
	assert_int_equal(pb_series_quarter(&series, 1), 30);
	assert_int_equal(pb_series_quarter(&series, 2), 2);
	assert_int_equal(pb_series_quarter(&series, 3), 102);
	assert_false(pb_series_is_flat(&series, 71));
	assert_true(pb_series_is_flat(&series, 72));
}

static void few_samples_give_no_median(void **state)
{
	(void)state;
	offer(7, 1000, 0);
	assert_int_equal(pb_series_quarter(&series, 3), 0);
	offer(8, 1000, 0);
	assert_int_equal(pb_series_quarter(&series, 3), 1000);
}

/* Growth by more than the margin between the medians of the quarters is found at any length, and less is not. */
static void growth_beyond_the_margin_is_found(void **state)
{
	static const uint32_t counts[] = {200, PB_SERIES_SAMPLES, PB_SERIES_SAMPLES + 1u,
					  5u * PB_SERIES_SAMPLES};

	(void)state;
	for (uint32_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		offer(counts[i], 500, 0);
		assert_true(pb_series_is_flat(&series, 0));
		/* From quarter to quarter it grows by half of the total. */
		offer(counts[i], 500, counts[i] / (4u * MARGIN));
		assert_false(pb_series_is_flat(&series, MARGIN));
		offer(counts[i], 500, counts[i] / MARGIN);
		assert_true(pb_series_is_flat(&series, MARGIN));
	}
}

static void memory_and_files_of_a_process_are_counted(void **state)
{
	const size_t bytes = 8u << 20;
	struct pb_usage before = {0}, after = {0};
	uint32_t files_before = 0, files_after = 0;
	uint8_t *memory;
	int file;

	(void)state;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(memory != MAP_FAILED);
	/* Written once before, so that a sanitizer's account of the mapping, an eighth of it, is no part of the growth. */
	memset(memory, 2, bytes);
	assert_int_equal(madvise(memory, bytes, MADV_DONTNEED), 0);
	assert_true(pb_usage_memory(getpid(), &before) && pb_usage_files(getpid(), &files_before));
	memset(memory, 1, bytes);
	file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_true(file >= 0);
	assert_true(pb_usage_memory(getpid(), &after) && pb_usage_files(getpid(), &files_after));
	assert_true(after.all >= before.all + 8192u - 1024u);
	assert_in_range(after.own - before.own, 8192u, 8192u + 1024u);
	assert_int_equal(files_after, files_before + 1u);
	close(file);
	munmap(memory, bytes);
	assert_false(pb_usage_memory(-1, &after) || pb_usage_files(-1, &files_after));
}

/* A file of a card, open or mapped. */
static void a_stray_file_is_found(void **state)
{
	char name[] = "/tmp/patchbay-usage-XXXXXX", found[256];
	const int file = mkstemp(name);
	void *memory;

	(void)state;
	assert_true(file >= 0 && ftruncate(file, 4096) == 0);
	assert_true(pb_usage_stray(getpid(), "/tmp/patchbay", found, sizeof(found)));
	assert_string_equal(found, name);
	memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
	assert_true(memory != MAP_FAILED);
	close(file);
	assert_true(pb_usage_stray(getpid(), "/tmp/patchbay", found, sizeof(found)));
	assert_string_equal(found, name);
	/* In the test's folder such files are allowed. */
	assert_false(pb_usage_stray(getpid(), "/tmp", found, sizeof(found)));
	munmap(memory, 4096);
	assert_false(pb_usage_stray(getpid(), "/tmp/patchbay", found, sizeof(found)));
	assert_int_equal(unlink(name), 0);
}

UNIT_SUITE(test_soak_usage)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(medians_are_of_quarters),
		cmocka_unit_test(few_samples_give_no_median),
		cmocka_unit_test(growth_beyond_the_margin_is_found),
		cmocka_unit_test(memory_and_files_of_a_process_are_counted),
		cmocka_unit_test(a_stray_file_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
