/* SPDX-License-Identifier: MIT */
/* The driver: registers, apertures, and all that it asks of an engine, with one that runs behind it. */
#include <string.h>

#include "hal/engine/reference.h"
#include "patchbay/abi/boot.h"
#include "tests/unit/hal/engine_bench.h"
#include "tests/unit/unit.h"

#define ARRAY(a) (sizeof(a) / sizeof((a)[0]))
/* Room for the driver's ring and what is behind it, where no channel reaches. */
#define RING    0x1a000u
#define RESTORE (RING + PB_ENGINE_SLOTS * 32u)
/* Where a test keeps progress: memory that others could write. */
#define SAVED 0x1b000u

static void ignore_line(void *context, uint32_t line)
{
	(void)context;
	(void)line;
}

static const struct pb_lines_ops lines_ops = {.raise = ignore_line};
static const struct pb_lines lines = {.ops = &lines_ops};

/* Of the bench that driver_of() was called for last. */
static struct pb_reference_memory tables;

static struct pb_reference_engine driver_of(const struct bench *bench)
{
	tables = (struct pb_reference_memory){
		.card_memory = bench->memory,
		.range_offset = BENCH_RANGES,
		.channels = BENCH_CHANNELS,
		.dummy_offset = BENCH_DUMMY,
		.translation_offset = BENCH_TRANSLATION,
	};
	return (struct pb_reference_engine){
		.memory = &tables,
		.registers_offset = BENCH_REGISTERS,
		.ring_offset = RING,
		.lines = &lines,
	};
}

static void a_reset_sets_the_registers(void **state)
{
	struct pb_reference_engine driver;
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	driver = driver_of(&bench);
	memset(bench.registers, 0, 64);
	pb_reference_engine_recover_ops.reset(&driver);
	assert_int_equal(bench.registers->ring_offset, RING);
	assert_int_equal(bench.registers->ring_slots, PB_ENGINE_SLOTS);
	assert_int_equal(bench.registers->restore_offset, RESTORE);
	assert_int_equal(bench.registers->range_offset, BENCH_RANGES);
	assert_int_equal(bench.registers->channels, BENCH_CHANNELS);
	assert_int_equal(bench.registers->dummy_offset, BENCH_DUMMY);
	assert_int_equal(bench.registers->translation_offset, BENCH_TRANSLATION);
	bench_stop(&bench);
}

static void ranges_are_written_as_the_engine_reads_them(void **state)
{
	static const struct pb_engine_range ranges[] = {
		{BENCH_APERTURE + 0x100000, 0x3000, BENCH_TABLE, true},
		{BENCH_APERTURE + 0x100000, 0x3000, 0x1a000, false},
		{0, 0, 0, false},
	};
	static const uint32_t words[][4] = {
		{0x100000, 7, 0x3000, BENCH_TABLE + 1},
		{0x100000, 7, 0x3000, 0x1a000},
		{0, 0, 0, 0},
	};
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	(void)driver_of(&bench);
	for (size_t i = 0; i < ARRAY(ranges); i++) {
		pb_reference_memory_ops.set_range(&tables, 2, 31, &ranges[i]);
		assert_memory_equal(bench.memory + BENCH_RANGES + 2 * BENCH_ROW_BYTES + 31 * 16, words[i],
				    16);
	}
	bench_stop(&bench);
}

static void pages_are_read_as_the_engine_reads_them(void **state)
{
	static const struct {
		uint32_t entry;
		uint32_t page;
	} cases[] = {
		{0, 0},      {0x9001, 0x9000}, {0x9000, 0}, {0x9003, 0},
		{0x9801, 0}, {1, 0},           {2, 0},      {0xfffff001, 0xfffff000},
	};
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	(void)driver_of(&bench);
	for (size_t i = 0; i < ARRAY(cases); i++) {
		*bench_at(&bench, BENCH_TABLE + 4 * 70) = cases[i].entry;
		assert_int_equal(pb_reference_memory_ops.page(&tables, BENCH_TABLE, 70), cases[i].page);
	}
	bench_stop(&bench);
}

/* Words in the middle of the table go, and both nodes forget them. */
static void cleared_pages_are_gone_for_all_nodes(void **state)
{
	static uint8_t expected[BENCH_BYTES];
	struct bench bench;
	struct bench other;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	bench_start_other(&other, &bench, PB_NODE_3D);
	(void)driver_of(&bench);
	for (uint32_t page = 0; page < 6; page++)
		bench_map(&bench, page, 0x9000);
	SUBMIT(&bench, FILL(IN(0x1000), 0x4000, 1));
	bench_expect_done(&bench);
	SUBMIT(&other, FILL(IN(0x1000), 0x4000, 1));
	bench_expect_done(&other);
	bench_keep(&bench, expected);
	memset(expected + BENCH_TABLE + 8, 0, 12);
	pb_reference_memory_ops.page_clear(&tables, BENCH_TABLE, 2, 3);
	bench_expect_memory(&bench, expected);
	SUBMIT(&bench, FILL(IN(0x1000), 4, 1), FILL(IN(0x5000), 4, 1), FILL(IN(0x4000), 4, 1));
	bench_expect_fault(&bench, PB_ENGINE_FAULT_PAGE, BENCH_APERTURE + 0x4000);
	SUBMIT(&other, FILL(IN(0x1000), 4, 1), FILL(IN(0x5000), 4, 1), FILL(IN(0x2000), 4, 1));
	bench_expect_fault(&other, PB_ENGINE_FAULT_PAGE, BENCH_APERTURE + 0x2000);
	bench_stop_other(&other);
	bench_stop(&bench);
}

/* ---- feed, stop, go on ---- */

struct setup {
	struct bench bench;
	struct pb_reference_engine driver;
};

static enum pb_engine_state poll(struct setup *setup, uint32_t *sequence)
{
	struct pb_engine_report report;
	enum pb_engine_state state = pb_reference_engine_run_ops.poll(&setup->driver, &report);

	*sequence = report.sequence;
	assert_int_equal(report.time, setup->bench.registers->time);
	return state;
}

static void expect_state(struct setup *setup, enum pb_engine_state state, uint32_t sequence)
{
	uint32_t reported;

	assert_int_equal(poll(setup, &reported), state);
	if (state != PB_ENGINE_BUSY)
		assert_int_equal(reported, sequence);
}

static void step(struct setup *setup, uint32_t microseconds)
{
	pb_engine_model_step(setup->bench.model, microseconds);
}

static void start(struct setup *setup)
{
	bench_start(&setup->bench, PB_NODE_3D);
	setup->driver = driver_of(&setup->bench);
	pb_reference_engine_recover_ops.reset(&setup->driver);
	expect_state(setup, PB_ENGINE_BUSY, 0);
	step(setup, 0);
	expect_state(setup, PB_ENGINE_READY, 0);
}

static void end(struct setup *setup)
{
	bench_stop(&setup->bench);
}

/* Feeds a buffer of these words, which lies in a place of its own for each of 16 sequence numbers. */
static void feed(struct setup *setup, uint32_t sequence, const uint32_t *words, uint32_t count)
{
	const uint32_t buffer = BENCH_BUFFER + 0x80 * (sequence % 16);
	const struct pb_engine_submission work = {1, buffer, 1, 4 * count};

	bench_store(&setup->bench, buffer, words, count);
	pb_reference_engine_run_ops.feed(&setup->driver, &work, sequence);
}
#define FEED(setup, sequence, ...)                                                                           \
	feed(setup, sequence, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

static void stop(struct setup *setup, bool inside, uint32_t sequence, uint32_t running)
{
	struct pb_engine_stop stop;

	pb_reference_engine_preempt_ops.stop(&setup->driver, inside);
	expect_state(setup, PB_ENGINE_BUSY, 0);
	for (uint32_t i = 0; i < 100; i++)
		step(setup, 10);
	expect_state(setup, PB_ENGINE_READY, 0);
	pb_reference_engine_preempt_ops.stopped(&setup->driver, &stop);
	assert_int_equal(stop.sequence, sequence);
	assert_int_equal(stop.running, running);
}

static void a_stop_lets_the_buffer_end(void **state)
{
	struct setup setup;

	(void)state;
	start(&setup);
	FEED(&setup, 1, NOP(1));
	FEED(&setup, 2, BUSY(50), FILL(AT(BENCH_DATA), 4, 2));
	FEED(&setup, 3, FILL(AT(BENCH_DATA), 4, 3));
	step(&setup, 10);
	expect_state(&setup, PB_ENGINE_READY, 1);
	stop(&setup, false, 2, 0);
	assert_int_equal(*bench_at(&setup.bench, BENCH_DATA), 2);
	FEED(&setup, 1, FILL(AT(BENCH_DATA), 4, 4));
	step(&setup, 100);
	expect_state(&setup, PB_ENGINE_READY, 1);
	assert_int_equal(*bench_at(&setup.bench, BENCH_DATA), 4);
	end(&setup);
}

/* Two works stopped inside, kept, and fed behind each other: each goes on from its own progress. */
static void several_works_go_on(void **state)
{
	struct setup setup;
	uint32_t *saved;

	(void)state;
	start(&setup);
	saved = bench_at(&setup.bench, SAVED);
	STORE(&setup.bench, BENCH_DATA, 0, 0);
	for (uint32_t i = 0; i < 2; i++) {
		FEED(&setup, 1, NOP(1));
		FEED(&setup, 2, FILL(AT(BENCH_DATA + 4 * i), 4, 5), BUSY(20 + i));
		step(&setup, 4);
		pb_reference_engine_preempt_ops.stop(&setup.driver, true);
		step(&setup, 4);
		expect_state(&setup, PB_ENGINE_READY, 0);
		assert_int_equal(setup.bench.registers->stop_running, 2);
		pb_reference_engine_preempt_ops.save(&setup.driver, &saved[16 * i]);
		assert_int_equal(saved[16 * i], PB_ENGINE_PROGRESS_VERSION);
		assert_int_equal(saved[16 * i + 1], 20);
	}
	STORE(&setup.bench, BENCH_DATA, 0, 0);
	FEED(&setup, 1, NOP(1));
	pb_reference_engine_preempt_ops.restore(&setup.driver, &saved[0]);
	FEED(&setup, 2, FILL(AT(BENCH_DATA), 4, 5), FILL(AT(BENCH_DATA + 8), 4, 6));
	saved[16 + 1] = 0; /* tells them apart */
	pb_reference_engine_preempt_ops.restore(&setup.driver, &saved[16]);
	FEED(&setup, 3, FILL(AT(BENCH_DATA + 4), 4, 7), FILL(AT(BENCH_DATA + 12), 4, 8));
	step(&setup, 100);
	expect_state(&setup, PB_ENGINE_READY, 3);
	assert_memory_equal(bench_at(&setup.bench, BENCH_DATA), ((const uint32_t[]){0, 7, 6, 8}), 16);
	end(&setup);
}

/* The place in the ring of work that went on is that of other work later, also after stops and resets. */
static void only_the_next_work_goes_on(void **state)
{
	struct setup setup;
	uint32_t *saved;

	(void)state;
	start(&setup);
	saved = bench_at(&setup.bench, SAVED);
	memset(saved, 0, 64);
	saved[0] = PB_ENGINE_PROGRESS_VERSION;
	saved[1] = 20;
	for (uint32_t round = 0; round < 40; round++) {
		const uint32_t resumed = 1 + round;

		for (uint32_t sequence = 1; sequence <= resumed + 40; sequence++) {
			STORE(&setup.bench, BENCH_DATA, 8, 9);
			if (sequence == resumed)
				pb_reference_engine_preempt_ops.restore(&setup.driver, saved);
			FEED(&setup, sequence, FILL(AT(BENCH_DATA), 4, 1), FILL(AT(BENCH_DATA + 4), 4, 2));
			step(&setup, 100);
			expect_state(&setup, PB_ENGINE_READY, sequence);
			assert_int_equal(*bench_at(&setup.bench, BENCH_DATA), sequence == resumed ? 8 : 1);
			assert_int_equal(*bench_at(&setup.bench, BENCH_DATA + 4), 2);
		}
		if (round % 3 == 0) {
			pb_reference_engine_recover_ops.reset(&setup.driver);
			step(&setup, 0);
			expect_state(&setup, PB_ENGINE_READY, 0);
		} else {
			stop(&setup, round % 3 == 1, resumed + 40, 0);
		}
	}
	end(&setup);
}

/* Words that were in the hands of others are the engine's to check. */
static void spoiled_progress_is_a_fault(void **state)
{
	struct setup setup;
	struct pb_engine_fault fault;

	(void)state;
	start(&setup);
	memset(bench_at(&setup.bench, SAVED), 0xff, 64);
	FEED(&setup, 1, NOP(1));
	pb_reference_engine_preempt_ops.restore(&setup.driver, bench_at(&setup.bench, SAVED));
	FEED(&setup, 2, NOP(1));
	step(&setup, 100);
	expect_state(&setup, PB_ENGINE_FAULTED, 1);
	pb_reference_engine_recover_ops.fault(&setup.driver, &fault);
	assert_int_equal(fault.sequence, 2);
	assert_int_equal(fault.code, PB_ENGINE_FAULT_VALUE);
	end(&setup);
}

static void a_fault_before_the_stop_shows_with_the_answer(void **state)
{
	struct pb_engine_fault fault;
	struct pb_engine_stop stop;
	struct setup setup;

	(void)state;
	start(&setup);
	FEED(&setup, 1, NOP(1));
	FEED(&setup, 2, BUSY(20), FAULT);
	step(&setup, 10);
	pb_reference_engine_preempt_ops.stop(&setup.driver, false);
	expect_state(&setup, PB_ENGINE_BUSY, 0);
	step(&setup, 100);
	expect_state(&setup, PB_ENGINE_FAULTED, 0);
	pb_reference_engine_preempt_ops.stopped(&setup.driver, &stop);
	assert_int_equal(stop.sequence, 1);
	assert_int_equal(stop.running, 0);
	pb_reference_engine_recover_ops.fault(&setup.driver, &fault);
	assert_int_equal(fault.sequence, 2);
	assert_int_equal(fault.code, PB_ENGINE_FAULT_ASKED);
	pb_reference_engine_recover_ops.reset(&setup.driver);
	expect_state(&setup, PB_ENGINE_BUSY, 0);
	step(&setup, 0);
	expect_state(&setup, PB_ENGINE_READY, 0);
	end(&setup);
}

/* Stop, reset, power: each where the one before is not answered. */
static void force_comes_last(void **state)
{
	static const struct {
		struct pb_engine_model_defects defects;
		enum pb_engine_state stopped;
		enum pb_engine_state reset;
		enum pb_engine_state powered;
	} cases[] = {
		{{.late = 0}, PB_ENGINE_BUSY, PB_ENGINE_READY, PB_ENGINE_READY},
		{{.deaf_to_reset = true}, PB_ENGINE_BUSY, PB_ENGINE_BUSY, PB_ENGINE_READY},
		{{.deaf_to_reset = true, .deaf_to_power = true},
		 PB_ENGINE_BUSY,
		 PB_ENGINE_BUSY,
		 PB_ENGINE_BUSY},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY(cases); i++) {
		struct setup setup;

		start(&setup);
		pb_engine_model_set_defects(setup.bench.model, &cases[i].defects);
		FEED(&setup, 1, HANG);
		step(&setup, 10);
		pb_reference_engine_preempt_ops.stop(&setup.driver, true);
		step(&setup, 10);
		expect_state(&setup, cases[i].stopped, 0);
		pb_reference_engine_recover_ops.reset(&setup.driver);
		step(&setup, 10);
		expect_state(&setup, cases[i].reset, 0);
		/* twice: the second has nothing new to say to an engine that has not answered the first */
		for (uint32_t time = 0; time < 2; time++) {
			pb_reference_engine_recover_ops.power_cycle(&setup.driver);
			expect_state(&setup, PB_ENGINE_BUSY, 0);
			step(&setup, 10);
			expect_state(&setup, cases[i].powered, 0);
		}
		pb_engine_model_set_defects(setup.bench.model, &(struct pb_engine_model_defects){.late = 0});
		step(&setup, 10);
		expect_state(&setup, PB_ENGINE_READY, 0);
		FEED(&setup, 1, NOP(1));
		step(&setup, 10);
		expect_state(&setup, PB_ENGINE_READY, 1);
		end(&setup);
	}
}

/*
 * An engine that wakes up at any point of a power cycle, and is then fed: what
 * it is fed runs once. The doorbell is that point: the driver rings it after
 * the command and again after the force.
 */
static struct setup *awake;
static uint32_t rings_until_awake;

static void wake(void *context, uint32_t line)
{
	(void)context;
	(void)line;
	if (rings_until_awake != 0 && --rings_until_awake == 0)
		step(awake, 10);
}

static void work_fed_after_a_power_cycle_runs_once(void **state)
{
	static const struct pb_lines_ops waking_ops = {.raise = wake};
	static const struct pb_lines waking = {.ops = &waking_ops};

	(void)state;
	for (uint32_t rings = 0; rings < 3; rings++) {
		struct setup setup;

		start(&setup);
		FEED(&setup, 1, HANG);
		step(&setup, 10);
		STORE(&setup.bench, BENCH_DATA, 1, 2, 3, 4);
		setup.driver.lines = &waking;
		awake = &setup;
		rings_until_awake = rings;
		pb_reference_engine_recover_ops.power_cycle(&setup.driver);
		rings_until_awake = 0;
		expect_state(&setup, rings == 0 ? PB_ENGINE_BUSY : PB_ENGINE_READY, 0);
		step(&setup, rings == 0 ? 10 : 0);
		expect_state(&setup, PB_ENGINE_READY, 0);
		FEED(&setup, 1, COPY(AT(BENCH_DATA), AT(BENCH_DATA + 4), 12));
		for (uint32_t i = 0; i < 10; i++)
			step(&setup, 1);
		expect_state(&setup, PB_ENGINE_READY, 1);
		assert_memory_equal(bench_at(&setup.bench, BENCH_DATA), ((const uint32_t[]){1, 1, 2, 3}), 16);
		end(&setup);
	}
}

/** At each microsecond of some work: an engine that obeys nothing stores nothing more, until a reset that it obeys. */
static void an_engine_that_is_cut_off_stores_nothing(void **state)
{
	static uint8_t before[BENCH_BYTES];
	const struct pb_engine_model_defects broken = {
		.deaf_to_stop = true, .deaf_to_reset = true, .deaf_to_power = true};

	(void)state;
	for (uint32_t at = 0; at < 12; at++) {
		struct setup setup;

		start(&setup);
		FEED(&setup, 1, FILL(AT(BENCH_DATA), 4, 1), BUSY(3), FILL(AT(BENCH_DATA + 4), 4, 2), BUSY(3));
		FEED(&setup, 2, FILL(AT(BENCH_DATA + 8), 4, 3));
		step(&setup, at);
		pb_engine_model_set_defects(setup.bench.model, &broken);
		assert_true(pb_reference_engine_recover_ops.cut_off(&setup.driver));
		bench_keep(&setup.bench, before);
		step(&setup, 100);
		bench_expect_memory(&setup.bench, before);
		pb_engine_model_set_defects(setup.bench.model, &(struct pb_engine_model_defects){.late = 0});
		step(&setup, 100);
		bench_expect_memory(&setup.bench, before);
		pb_reference_engine_recover_ops.reset(&setup.driver);
		step(&setup, 10);
		expect_state(&setup, PB_ENGINE_READY, 0);
		FEED(&setup, 1, FILL(AT(BENCH_DATA + 12), 4, 4));
		step(&setup, 10);
		expect_state(&setup, PB_ENGINE_READY, 1);
		assert_int_equal(*bench_at(&setup.bench, BENCH_DATA + 12), 4);
		end(&setup);
	}
}

UNIT_SUITE(test_engine_driver)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reset_sets_the_registers),
		cmocka_unit_test(ranges_are_written_as_the_engine_reads_them),
		cmocka_unit_test(pages_are_read_as_the_engine_reads_them),
		cmocka_unit_test(cleared_pages_are_gone_for_all_nodes),
		cmocka_unit_test(a_stop_lets_the_buffer_end),
		cmocka_unit_test(several_works_go_on),
		cmocka_unit_test(only_the_next_work_goes_on),
		cmocka_unit_test(spoiled_progress_is_a_fault),
		cmocka_unit_test(a_fault_before_the_stop_shows_with_the_answer),
		cmocka_unit_test(force_comes_last),
		cmocka_unit_test(work_fed_after_a_power_cycle_runs_once),
		cmocka_unit_test(an_engine_that_is_cut_off_stores_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
