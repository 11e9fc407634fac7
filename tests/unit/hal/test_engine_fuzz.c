/* SPDX-License-Identifier: MIT */
/*
 * Buffers, and then whole card memories, of noise that looks almost right. The
 * seeds are fixed, so that a failure is found again. Built with sanitizers, an
 * access outside card memory ends the test.
 */
#include <string.h>

#include "patchbay/abi/boot.h"
#include "tests/unit/hal/engine_stream.h"
#include "tests/unit/unit.h"

#define MEMORIES     4000u
#define STREAM_STEPS 12u
#define ARRAY(a)     (sizeof(a) / sizeof((a)[0]))

/* What channel 1 must leave alone: all but its ranges, their page tables, the dummy page and what is the engine's. */
static const struct {
	uint32_t first;
	uint32_t end;
} outside[] = {
	{0, BENCH_REGISTERS + 64},
	{BENCH_REGISTERS + 192, BENCH_TRANSLATION + 64},
	{BENCH_TRANSLATION + 68, BENCH_RANGE0},
	{BENCH_RANGE2 + 0x1000, BENCH_DUMMY},
	{BENCH_TABLE + 4 * BENCH_PAGES, BENCH_BYTES},
};

/* Progress that looks almost right, for the slot that comes next. */
static void resume_somewhere(struct bench *bench, uint32_t *seed)
{
	struct pb_engine_progress progress = {
		.version = PB_ENGINE_PROGRESS_VERSION,
		.offset = 4 * stream_below(seed, STREAM_WORDS + 1),
	};
	uint32_t words[PB_SAVE_WORDS];

	if (stream_below(seed, 2) == 0)
		stream_surface(seed, progress.target);
	if (stream_below(seed, 2) == 0)
		stream_surface(seed, progress.texture);
	memcpy(words, &progress, sizeof(words));
	stream_mutate(seed, words, PB_SAVE_WORDS);
	memcpy(&progress, words, sizeof(words));
	bench_resume(bench, &progress);
}

static void save_outside(const struct bench *bench, uint8_t *before)
{
	for (size_t i = 0; i < ARRAY(outside); i++)
		memcpy(before + outside[i].first, bench->memory + outside[i].first,
		       outside[i].end - outside[i].first);
}

static void expect_outside(const struct bench *bench, const uint8_t *before)
{
	for (size_t i = 0; i < ARRAY(outside); i++)
		assert_int_equal(memcmp(before + outside[i].first, bench->memory + outside[i].first,
					outside[i].end - outside[i].first),
				 0);
}

static void run_a_while(struct bench *bench)
{
	for (uint32_t step = 0; step < STREAM_STEPS; step++) {
		if (!pb_engine_model_step(bench->model, 1 + 16 * step))
			return;
	}
}

static void streams_stay_in_their_ranges(void **state)
{
	static uint8_t before[BENCH_BYTES];
	struct pb_engine_model_statistics statistics;
	uint32_t codes[PB_ENGINE_FAULT_PRIVILEGE + 1] = {0};
	struct bench bench;
	uint32_t seed = 4711;
	uint32_t changed;

	(void)state;
	bench_start(&bench, PB_NODE_3D);
	changed = *bench_at(&bench, BENCH_TRANSLATION + 64);
	for (uint32_t i = 0; i < STREAMS; i++) {
		uint32_t words[STREAM_WORDS];
		uint32_t count = stream_generate(&seed, words);

		stream_mutate(&seed, words, count);
		if (i % 8 == 0) {
			stream_scatter_vertices(&bench, &seed);
			stream_scatter_pages(&bench, &seed);
		}
		bench_store(&bench, BENCH_BUFFER, words, count);
		if (stream_below(&seed, 8) == 0)
			resume_somewhere(&bench, &seed);
		bench_feed(&bench, stream_below(&seed, 4) == 0 ? 1 : BENCH_PAGING, BENCH_GPU + BENCH_BUFFER,
			   4 * count);
		save_outside(&bench, before);
		run_a_while(&bench);
		expect_outside(&bench, before);
		assert_in_range(bench.registers->fault_code, 0, PB_ENGINE_FAULT_PRIVILEGE);
		codes[bench.registers->fault_code]++;
		bench_reset(&bench);
	}
	/* The noise was no mere noise: everything that this node has was reached, often. */
	for (uint32_t code = 0; code <= PB_ENGINE_FAULT_PRIVILEGE; code++)
		assert_true(code == PB_ENGINE_FAULT_NODE ? codes[code] == 0 : codes[code] > 20);
	assert_true(*bench_at(&bench, BENCH_TRANSLATION + 64) - changed > STREAMS / 8);
	pb_engine_model_statistics(bench.model, &statistics);
	assert_true(statistics.packets > 2 * STREAMS);
	assert_true(statistics.bytes_moved > STREAMS);
	assert_true(statistics.pixels > STREAMS);
	bench_stop(&bench);
}

static void spoil(struct bench *bench, uint32_t *seed)
{
	uint32_t *registers = bench_at(bench, BENCH_REGISTERS);

	for (uint32_t i = 0; i < 10; i++) {
		if (stream_below(seed, 4) == 0)
			registers[i] = stream_word(seed);
	}
	for (uint32_t i = 0; i < BENCH_CHANNELS * BENCH_ROW_BYTES / 4; i++) {
		if (stream_below(seed, 4) == 0)
			*bench_at(bench, BENCH_RANGES + 4 * i) = stream_word(seed);
	}
	for (uint32_t i = 0; i < BENCH_PAGES; i++) {
		if (stream_below(seed, 2) == 0)
			*bench_at(bench, BENCH_TABLE + 4 * i) = stream_word(seed) | stream_below(seed, 2);
	}
	for (uint32_t i = 0; i < PB_SAVE_WORDS * BENCH_SLOTS; i++) {
		if (stream_below(seed, 16) == 0)
			*bench_at(bench, BENCH_RESTORE + 4 * i) = stream_word(seed);
	}
	for (uint32_t i = 0; i < 8 * BENCH_SLOTS; i++) {
		if (stream_below(seed, 16) == 0)
			*bench_at(bench, BENCH_RING + 4 * i) = stream_word(seed);
	}
}

static void no_memory_brings_the_model_down(void **state)
{
	uint32_t seed = 1234567;
	uint32_t ran = 0;

	(void)state;
	for (uint32_t i = 0; i < MEMORIES; i++) {
		struct pb_engine_model_statistics statistics;
		uint32_t words[STREAM_WORDS];
		struct bench bench;

		bench_start(&bench, i % 2 == 0 ? PB_NODE_3D : PB_NODE_COPY);
		for (uint32_t slot = 0; slot < BENCH_SLOTS; slot++) {
			uint32_t at = BENCH_BUFFER + 0x200 * slot;
			uint32_t count = stream_generate(&seed, words);

			stream_mutate(&seed, words, count);
			bench_store(&bench, at, words, count);
			if (stream_below(&seed, 2) == 0)
				resume_somewhere(&bench, &seed);
			bench_feed(&bench,
				   stream_below(&seed, BENCH_CHANNELS + 1) |
					   (slot % 2 * PB_ENGINE_OWNER_PRIVILEGED),
				   BENCH_GPU + at, 4 * count);
		}
		spoil(&bench, &seed);
		run_a_while(&bench);
		for (uint32_t command = 0; command < 4; command++) {
			bench.registers->command += PB_ENGINE_COMMAND_ONE + stream_below(&seed, 8);
			if (stream_below(&seed, 4) == 0)
				bench.registers->power = bench.registers->command;
			run_a_while(&bench);
		}
		pb_engine_model_statistics(bench.model, &statistics);
		ran += statistics.packets != 0;
		bench_stop(&bench);
	}
	assert_true(ran > MEMORIES / 50);
}

UNIT_SUITE(test_engine_fuzz)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams_stay_in_their_ranges),
		cmocka_unit_test(no_memory_brings_the_model_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
