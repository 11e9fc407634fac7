/* SPDX-License-Identifier: MIT */
/*
 * Work that is stopped and goes on leaves the same as work that is left alone:
 * the same memory, the same faults, and the same time but for starting again.
 */
#include <stdlib.h>
#include <string.h>

#include "patchbay/abi/boot.h"
#include "tests/unit/hal/engine_stream.h"
#include "tests/unit/unit.h"

#define ARRAY(a)     (sizeof(a) / sizeof((a)[0]))
#define BUFFER(slot) (BENCH_BUFFER + 0x200u * (slot))
/* A stream that takes longer is left out: BUSY and COPY_RECT may be endless, HANG is. */
#define LONGEST 3000u

/* What became of a slot. */
struct outcome {
	uint32_t code;
	uint64_t address;
};

/* Up to a ring full of slots on a bench of their own. */
struct run {
	struct bench bench;
	uint32_t bytes[BENCH_SLOTS];
	uint32_t owners[BENCH_SLOTS];
	uint32_t count;
	uint32_t first; /* of them, the one that is fed as sequence 1 */

	uint32_t resumes;
	uint32_t stops;
	struct outcome outcomes[BENCH_SLOTS];
};

static void feed_from(struct run *run, uint32_t first, const struct pb_engine_progress *progress)
{
	run->first = first;
	for (uint32_t slot = first; slot < run->count; slot++) {
		if (slot == first && progress != NULL) {
			bench_resume(&run->bench, progress);
			run->resumes++;
		}
		bench_feed(&run->bench, run->owners[slot], BENCH_GPU + BUFFER(slot), run->bytes[slot]);
	}
}

static void start_run(struct run *run, uint32_t kind)
{
	memset(run, 0, sizeof(*run));
	bench_start(&run->bench, kind);
}

static void add_slot(struct run *run, uint32_t owner, const uint32_t *words, uint32_t count)
{
	bench_store(&run->bench, BUFFER(run->count), words, count);
	run->owners[run->count] = owner;
	run->bytes[run->count] = 4 * count;
	run->count++;
}

/* The same work, on memory as it is now. */
static void copy_run(struct run *copy, const struct run *run, uint32_t kind)
{
	start_run(copy, kind);
	memcpy(copy->bench.memory + BENCH_RANGE0, run->bench.memory + BENCH_RANGE0,
	       BENCH_BYTES - BENCH_RANGE0);
	memcpy(copy->bytes, run->bytes, sizeof(copy->bytes));
	memcpy(copy->owners, run->owners, sizeof(copy->owners));
	copy->count = run->count;
}

/* Keeps the fault, and goes on with the next slot. */
static void pass_fault(struct run *run)
{
	const struct pb_engine_registers *registers = run->bench.registers;
	uint32_t slot = run->first + registers->fault_sequence - 1;

	assert_in_range(slot, run->first, run->count - 1);
	run->outcomes[slot] =
		(struct outcome){registers->fault_code, (uint64_t)registers->fault_address_high << 32 |
								registers->fault_address_low};
	bench_reset(&run->bench);
	feed_from(run, slot + 1, NULL);
}

/* Feeds the rest again behind the answer to a stop. */
static void pass_stop(struct run *run)
{
	const struct pb_engine_registers *registers = run->bench.registers;
	struct pb_engine_progress progress = registers->save;
	uint32_t next = run->first + registers->stop_sequence;

	run->stops++;
	bench_expect_stop(&run->bench, registers->stop_sequence, registers->stop_running);
	if (registers->fault_code != 0) {
		assert_int_equal(registers->fault_sequence, registers->stop_sequence + 1);
		assert_int_equal(registers->stop_running, 0);
		pass_fault(run);
		return;
	}
	if (registers->stop_running != 0)
		assert_int_equal(registers->stop_running, registers->stop_sequence + 1);
	feed_from(run, next, registers->stop_running != 0 ? &progress : NULL);
}

/* Steps once. @return false: all slots have ended */
static bool step(struct run *run, uint32_t microseconds)
{
	const struct pb_engine_registers *registers = run->bench.registers;
	bool more = pb_engine_model_step(run->bench.model, microseconds);

	if (registers->command_done != registers->command)
		return true;
	if (registers->fault_code != 0) {
		pass_fault(run);
		return run->first < run->count;
	}
	if (!more)
		assert_int_equal(run->first + registers->sequence, run->count);
	return more;
}

/* Stops, waits for the answer, feeds the rest again. @return false: all slots have ended */
static bool stop_run(struct run *run, uint32_t op, uint32_t microseconds)
{
	const struct pb_engine_registers *registers = run->bench.registers;

	bench_ask(&run->bench, op);
	for (uint32_t i = 0; i < 2 * LONGEST; i++) {
		pb_engine_model_step(run->bench.model, microseconds);
		if (registers->command_done == registers->command) {
			pass_stop(run);
			return run->first < run->count;
		}
	}
	fail_msg("no answer");
	return false;
}

/* @return false: it takes too long */
static bool run_alone(struct run *run)
{
	feed_from(run, 0, NULL);
	while (step(run, 100)) {
		if (run->bench.registers->time > LONGEST)
			return false;
	}
	return true;
}

static void expect_same(const struct run *run, const struct run *alone)
{
	assert_memory_equal(run->bench.memory + BENCH_RANGE0, alone->bench.memory + BENCH_RANGE0,
			    BENCH_BYTES - BENCH_RANGE0);
	for (uint32_t slot = 0; slot < run->count; slot++) {
		assert_int_equal(run->outcomes[slot].code, alone->outcomes[slot].code);
		assert_true(run->outcomes[slot].address == alone->outcomes[slot].address);
	}
	assert_int_equal(run->bench.registers->time, alone->bench.registers->time + run->resumes);
	assert_int_equal(run->bench.registers->progress, alone->bench.registers->progress + run->resumes);
}

/* ---- fixed work ---- */

#define VERTICES (BENCH_DATA + 0x2000)
#define COLOURS  (BENCH_DATA + 0x3000)
#define TEXELS   (BENCH_DATA + 0x4000)
#define NESTED   (BENCH_DATA + 0x5000)
#define LIST     (BENCH_DATA + 0x6000)

/* Every piece of state that a buffer has: what is drawn on, a nested buffer that sets it, pages, long packets. */
static void add_fixed_work(struct run *run)
{
	static const uint32_t drawn[] = {TARGET(AT(COLOURS), 16, 16, 64),
					 TEXTURE(AT(TEXELS), 8, 8, 32),
					 DRAW(AT(VERTICES), 6),
					 INDIRECT(AT(NESTED), 80),
					 DRAW(AT(VERTICES), 3),
					 BUSY(4),
					 COPY(AT(COLOURS), AT(COLOURS + 4), 1020),
					 COPY(AT(COLOURS), AT(COLOURS + 4), 1020)};
	static const uint32_t paged[] = {MAP(IN(0x1000), 2, AT(LIST)),     FILL(IN(0x1ffc), 8, 5),
					 COPY(IN(0x1ff0), IN(0x1ff8), 24), UNMAP(IN(0x2000), 1),
					 FILL(IN(0x1ff8), 4, 6),           FILL(IN(0x1ffc), 8, 7)};
	static const int32_t vertices[][4] = {{0, 0, 0, 0},        {200, 30, 3000, 100}, {40, 220, 50, 2500},
					      {250, 250, 999, 17}, {10, 200, 4, 900},    {130, 5, 700, 7}};
	struct bench *bench = &run->bench;

	memcpy(bench->memory + VERTICES, vertices, sizeof(vertices));
	STORE(bench, NESTED, TARGET(AT(COLOURS + 0x400), 8, 8, 32), FILL(AT(BENCH_DATA), 4096, 3),
	      RECT(AT(COLOURS), 64, AT(COLOURS + 0x800), 32, 16, 4));
	STORE(bench, LIST, AT(0xc000), AT(0xd000));
	add_slot(run, 1, drawn, ARRAY(drawn));
	add_slot(run, BENCH_PAGING, paged, ARRAY(paged));
	add_slot(run, 1, drawn, 12); /* TARGET and TEXTURE; the next has neither */
	add_slot(run, 1, &drawn[12], 4);
}

static void start_fixed(struct run *run)
{
	start_run(run, PB_NODE_3D);
	add_fixed_work(run);
}

static const uint32_t ops[] = {PB_ENGINE_COMMAND_STOP, PB_ENGINE_COMMAND_STOP_INSIDE};

static void one_stop_at_any_time_changes_nothing(void **state)
{
	struct run alone;
	uint32_t resumes = 0;

	(void)state;
	start_fixed(&alone);
	assert_true(run_alone(&alone));
	assert_int_equal(alone.outcomes[0].code, 0);
	assert_int_equal(alone.outcomes[1].code, PB_ENGINE_FAULT_PAGE);
	assert_int_equal(alone.outcomes[2].code, 0);
	assert_int_equal(alone.outcomes[3].code, PB_ENGINE_FAULT_STATE);
	for (uint32_t i = 0; i < 2 * alone.bench.registers->time; i++) {
		struct run run;

		start_fixed(&run);
		feed_from(&run, 0, NULL);
		for (uint32_t at = 0; at < i / 2; at++)
			step(&run, 1);
		if (stop_run(&run, ops[i % 2], 1)) {
			while (step(&run, 100))
				continue;
		}
		expect_same(&run, &alone);
		resumes += run.resumes;
		bench_stop(&run.bench);
	}
	assert_true(resumes > 12);
	bench_stop(&alone.bench);
}

/* A stop after every so many microseconds: at each boundary, too, when it is one. */
static void stops_again_and_again_change_nothing(void **state)
{
	struct run alone;

	(void)state;
	start_fixed(&alone);
	assert_true(run_alone(&alone));
	for (uint32_t i = 0; i < 24; i++) {
		struct run run;

		start_fixed(&run);
		feed_from(&run, 0, NULL);
		while (step(&run, 2 + i / 2) && stop_run(&run, ops[i % 2], 1))
			continue;
		expect_same(&run, &alone);
		assert_true(run.stops >= 2);
		bench_stop(&run.bench);
	}
	bench_stop(&alone.bench);
}

/* ---- random work ---- */

static void add_random_work(struct run *run, uint32_t *seed)
{
	uint32_t slots = 1 + stream_below(seed, BENCH_SLOTS);
	uint32_t words[STREAM_WORDS];

	stream_scatter_vertices(&run->bench, seed);
	stream_scatter_pages(&run->bench, seed);
	for (uint32_t slot = 0; slot < slots; slot++) {
		uint32_t count = stream_generate(seed, words);

		if (stream_below(seed, 4) == 0)
			stream_mutate(seed, words, count);
		add_slot(run, stream_below(seed, 4) == 0 ? 1 : BENCH_PAGING, words, count);
	}
}

static void run_stopped(struct run *run, uint32_t *seed)
{
	uint32_t often = 1 + stream_below(seed, 3);
	bool more = true;

	feed_from(run, 0, NULL);
	while (more) {
		more = step(run, 1 + stream_below(seed, 4));
		if (more && stream_below(seed, often) == 0)
			more = stop_run(run, ops[stream_below(seed, 4) != 0], 1 + stream_below(seed, 4));
	}
}

static void random_stops_change_nothing_in_random_work(void **state)
{
	uint32_t seed = 90210;
	uint32_t compared = 0;
	uint32_t resumes = 0;
	uint32_t faults = 0;
	uint32_t drawn = 0;

	(void)state;
	for (uint32_t i = 0; i < CASES; i++) {
		uint32_t kind = stream_below(&seed, 8) == 0 ? PB_NODE_COPY : PB_NODE_3D;
		struct pb_engine_model_statistics statistics;
		struct run alone;
		struct run run;

		start_run(&alone, kind);
		add_random_work(&alone, &seed);
		copy_run(&run, &alone, kind);
		if (run_alone(&alone)) {
			run_stopped(&run, &seed);
			expect_same(&run, &alone);
			pb_engine_model_statistics(run.bench.model, &statistics);
			compared++;
			resumes += run.resumes;
			faults += statistics.faults != 0;
			drawn += statistics.pixels != 0 && run.resumes != 0;
		}
		bench_stop(&run.bench);
		bench_stop(&alone.bench);
	}
	/* Few were too long, and they were no idle cases. */
	assert_true(compared > CASES / 4 * 3);
	assert_true(resumes > CASES);
	assert_true(faults > CASES / 4);
	assert_true(drawn > CASES / 20);
}

UNIT_SUITE(test_engine_preempt)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_stop_at_any_time_changes_nothing),
		cmocka_unit_test(stops_again_and_again_change_nothing),
		cmocka_unit_test(random_stops_change_nothing_in_random_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
