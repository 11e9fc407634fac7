/* SPDX-License-Identifier: MIT */
/* Engine time and progress: what each packet takes, and that every step ends. */
#include <string.h>

#include "patchbay/abi/boot.h"
#include "tests/unit/hal/engine_bench.h"
#include "tests/unit/unit.h"

#define WORDS 24

static void packets_take_their_time(void **state)
{
	static const struct {
		const char *name;
		uint32_t words[WORDS];
		uint32_t count;
		uint32_t time; /* without the slot's own microsecond */
	} cases[] = {
		{"NOP", {NOP(5)}, 5, 1},
		{"two NOPs", {NOP(1), NOP(1)}, 2, 2},
		{"FILL, short of 1024", {FILL(AT(BENCH_DATA), 4092, 0)}, 5, 1},
		{"FILL, 1024 words", {FILL(AT(BENCH_DATA), 4096, 0)}, 5, 2},
		{"rests do not add up",
		 {FILL(AT(BENCH_DATA), 4092, 0), FILL(AT(BENCH_DATA), 4092, 0)},
		 10,
		 2},
		{"COPY, 2047 words", {COPY(AT(BENCH_DATA), AT(BENCH_DATA + 4), 8188)}, 6, 2},
		{"COPY, 2048 words", {COPY(AT(BENCH_DATA), AT(BENCH_DATA + 4), 8192)}, 6, 3},
		{"RECT, 1023 words", {RECT(AT(BENCH_DATA), 0, AT(BENCH_DATA), 0, 12, 341)}, 9, 1},
		{"RECT, 1024 words", {RECT(AT(BENCH_DATA), 0, AT(BENCH_DATA), 0, 16, 256)}, 9, 2},
		{"INDIRECT to nothing", {INDIRECT(AT(0), 0)}, 4, 1},
		{"BUSY", {BUSY(12345)}, 2, 12345},
		{"BUSY 0", {BUSY(0), BUSY(0)}, 4, 2},
		{"FAULT", {FAULT}, 1, 1},
		{"unknown", {PB_PACKET(0xff, 1)}, 1, 1},
		{"BUSY cut off", {PB_PACKET(PB_PACKET_BUSY, 2)}, 1, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench;

		bench_start(&bench, PB_NODE_COPY);
		bench_submit(&bench, cases[i].words, cases[i].count);
		if (bench.registers->time != 1 + cases[i].time ||
		    bench.registers->progress != 1 + cases[i].time)
			fail_msg("%s: %u", cases[i].name, (unsigned int)bench.registers->time);
		bench_stop(&bench);
	}
}

static void a_hang_moves_time_only(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	STORE(&bench, BENCH_BUFFER, NOP(1), HANG, NOP(1));
	bench_feed(&bench, 1, BENCH_GPU + BENCH_BUFFER, 12);
	assert_true(pb_engine_model_step(bench.model, 100));
	assert_int_equal(bench.registers->time, 100);
	assert_int_equal(bench.registers->progress, 2);
	for (uint32_t i = 1; i < 50; i++) {
		assert_true(pb_engine_model_step(bench.model, 1000));
		assert_int_equal(bench.registers->time, 100 + 1000 * i);
		assert_int_equal(bench.registers->progress, 2);
	}
	assert_true(pb_engine_model_step(bench.model, 0));
	assert_true(pb_engine_model_step(bench.model, UINT32_MAX));
	assert_int_equal(bench.registers->time, 49099); /* modulo 2^32 */
	assert_int_equal(bench.interrupts, 0);
	bench_stop(&bench);
}

static void busy_ends_on_time_however_it_is_stepped(void **state)
{
	static const uint32_t steps[] = {1, 2, 3, 7, 100, 1000};

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct bench bench;
		uint32_t time = 0;

		bench_start(&bench, PB_NODE_COPY);
		STORE(&bench, BENCH_BUFFER, BUSY(1000));
		bench_feed(&bench, 1, BENCH_GPU + BENCH_BUFFER, 8);
		while (pb_engine_model_step(bench.model, steps[i])) {
			time += steps[i];
			assert_int_equal(bench.registers->time, time <= 1001 ? time : 1001);
			assert_int_equal(bench.registers->progress, bench.registers->time);
		}
		bench_expect_done(&bench);
		assert_int_equal(bench.registers->time, 1001);
		bench_stop(&bench);
	}
}

/* A step of one microsecond never does more than the packet or row that it is in. */
static void steps_end_in_long_packets(void **state)
{
	static const uint32_t rows[] = {RECT(AT(BENCH_DATA), 0, AT(BENCH_DATA), 0, 0x1000, UINT32_MAX)};
	static const uint32_t nothing[] = {RECT(AT(BENCH_DATA), 4, AT(BENCH_DATA), 4, 0, UINT32_MAX)};
	static const uint32_t busy[] = {BUSY(UINT32_MAX)};
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	bench_submit(&bench, nothing, 9);
	bench_expect_done(&bench);
	assert_int_equal(bench.registers->time, 2);
	bench_reset(&bench);
	bench_store(&bench, BENCH_BUFFER, rows, 9);
	bench_feed(&bench, 1, BENCH_GPU + BENCH_BUFFER, 36);
	for (uint32_t i = 0; i < 100; i++) {
		assert_true(pb_engine_model_step(bench.model, 1));
		assert_in_range(bench.registers->time, 3 + i, 4 + i);
		assert_int_equal(bench.registers->progress, bench.registers->time);
	}
	bench_reset(&bench);
	bench_store(&bench, BENCH_BUFFER, busy, 2);
	bench_feed(&bench, 1, BENCH_GPU + BENCH_BUFFER, 8);
	assert_true(pb_engine_model_step(bench.model, 0x7fffffff));
	assert_false(pb_engine_model_step(bench.model, UINT32_MAX));
	bench_expect_done(&bench);
	bench_stop(&bench);
}

/* A buffer of buffers does 2^n packets: the stack is kept over steps, and each of them ends. */
static void steps_end_in_nested_buffers(void **state)
{
	struct bench bench;
	uint32_t steps = 0;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	for (uint32_t i = 0; i < 16; i++) {
		STORE(&bench, BENCH_BUFFER + 16 * i, INDIRECT(AT(BENCH_DATA), 256));
		STORE(&bench, BENCH_DATA + 16 * i, INDIRECT(AT(BENCH_DATA + 0x100), 256));
		STORE(&bench, BENCH_DATA + 0x100 + 16 * i, INDIRECT(AT(BENCH_DATA + 0x200), 256));
		STORE(&bench, BENCH_DATA + 0x200 + 16 * i, NOP(1), NOP(1), NOP(1), NOP(1));
	}
	bench_feed(&bench, 1, BENCH_GPU + BENCH_BUFFER, 256);
	while (pb_engine_model_step(bench.model, 10)) {
		steps++;
		if (bench.registers->sequence == 0)
			assert_int_equal(bench.registers->time, 10 * steps);
	}
	bench_expect_done(&bench);
	assert_int_equal(bench.registers->time, 1 + 16 + 256 + 4096 + 64 * 4096);
	bench_stop(&bench);
}

static void statistics_count(void **state)
{
	struct pb_engine_model_statistics statistics;
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	SUBMIT(&bench, FILL(AT(BENCH_DATA), 40, 0), COPY(AT(BENCH_DATA), AT(BENCH_DATA), 8),
	       RECT(AT(BENCH_DATA), 0, AT(BENCH_DATA), 0, 12, 3));
	SUBMIT(&bench, NOP(1), FAULT);
	pb_engine_model_statistics(bench.model, &statistics);
	assert_true(statistics.slots == 1);
	assert_true(statistics.packets == 5);
	assert_true(statistics.bytes_moved == 40 + 8 + 36);
	assert_true(statistics.pixels == 0);
	assert_true(statistics.faults == 1);
	bench_stop(&bench);
}

UNIT_SUITE(test_engine_time)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_take_their_time),
		cmocka_unit_test(a_hang_moves_time_only),
		cmocka_unit_test(busy_ends_on_time_however_it_is_stepped),
		cmocka_unit_test(steps_end_in_long_packets),
		cmocka_unit_test(steps_end_in_nested_buffers),
		cmocka_unit_test(statistics_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
