/* SPDX-License-Identifier: MIT */
/* STOP, STOP_INSIDE and power: when they are answered, and what the engine says then. */
#include <string.h>

#include "patchbay/abi/boot.h"
#include "tests/unit/hal/engine_bench.h"
#include "tests/unit/unit.h"

#define ARRAY(a) (sizeof(a) / sizeof((a)[0]))
#define STOP     PB_ENGINE_COMMAND_STOP
#define INSIDE   PB_ENGINE_COMMAND_STOP_INSIDE
#define NESTED   (BENCH_DATA + 0x100)
#define NEVER    UINT32_MAX

/* A stop at some time in a buffer. */
static const struct place {
	const char *name;
	uint32_t words[8];
	uint32_t bytes;
	uint32_t op;
	uint32_t at;       /* microseconds into the slot, its own one included */
	uint32_t answered; /* the same */
	uint32_t sequence;
	uint32_t running;
	uint32_t offset; /* done, when it runs */
} places[] = {
	{"between slots", {NOP(1), NOP(1)}, 8, STOP, 0, 0, 1, 0, 0},
	{"between slots, inside", {NOP(1), NOP(1)}, 8, INSIDE, 0, 0, 1, 0, 0},
	{"before the first packet", {NOP(1), NOP(1)}, 8, INSIDE, 1, 1, 1, 2, 0},
	{"before the first packet, end", {NOP(1), NOP(1)}, 8, STOP, 1, 3, 2, 0, 0},
	{"between two packets", {NOP(1), NOP(1)}, 8, INSIDE, 2, 2, 1, 2, 4},
	{"between two packets, end", {NOP(1), NOP(1)}, 8, STOP, 2, 3, 2, 0, 0},
	{"behind the last", {NOP(1), NOP(1)}, 8, INSIDE, 3, 3, 2, 0, 0},
	{"behind the last, end", {NOP(1), NOP(1)}, 8, STOP, 3, 3, 2, 0, 0},
	{"in a long packet", {BUSY(50), NOP(1)}, 12, INSIDE, 10, 51, 1, 2, 8},
	{"in a long packet, end", {BUSY(50), NOP(1)}, 12, STOP, 10, 52, 2, 0, 0},
	{"in the last, long one", {NOP(1), BUSY(50)}, 12, INSIDE, 10, 52, 2, 0, 0},
	{"before a nested buffer", {NOP(1), INDIRECT(AT(NESTED), 12), NOP(1)}, 24, INSIDE, 2, 2, 1, 2, 4},
	{"in a nested buffer", {NOP(1), INDIRECT(AT(NESTED), 12), NOP(1)}, 24, INSIDE, 4, 6, 1, 2, 20},
	{"in a nested buffer, end", {NOP(1), INDIRECT(AT(NESTED), 12), NOP(1)}, 24, STOP, 4, 7, 2, 0, 0},
	{"at its end", {NOP(1), INDIRECT(AT(NESTED), 12), NOP(1)}, 24, INSIDE, 6, 6, 1, 2, 20},
	{"in a nested buffer at the end", {INDIRECT(AT(NESTED), 12)}, 16, INSIDE, 3, 5, 2, 0, 0},
	{"in an empty slot", {0}, 0, INSIDE, 1, 1, 2, 0, 0},
	{"in an empty slot, end", {0}, 0, STOP, 1, 1, 2, 0, 0},
	{"in a hang", {NOP(1), HANG, NOP(1)}, 12, INSIDE, 5, NEVER, 0, 0, 0},
	{"in a hang, end", {NOP(1), HANG, NOP(1)}, 12, STOP, 5, NEVER, 0, 0, 0},
	{"before a hang", {NOP(1), HANG, NOP(1)}, 12, INSIDE, 2, 2, 1, 2, 4},
	{"before a hang, end", {NOP(1), HANG, NOP(1)}, 12, STOP, 2, NEVER, 0, 0, 0},
	{"before a fault", {NOP(1), FAULT, NOP(1)}, 12, INSIDE, 2, 2, 1, 2, 4},
};

static void step_until_stopped(struct bench *bench)
{
	for (uint32_t step = 0; step < 100; step++) {
		if (!pb_engine_model_step(bench->model, 1))
			break;
		assert_true(bench->registers->command_done != bench->registers->command);
		assert_int_equal(bench->registers->sequence, 1);
	}
}

static void expect_place(const struct bench *bench, const struct place *place, uint32_t time,
			 uint32_t interrupts)
{
	if (place->answered == NEVER) {
		assert_true(bench->registers->command_done != bench->registers->command);
		assert_int_equal(interrupts, 0);
		return;
	}
	if (time != place->answered)
		fail_msg("%s: %u", place->name, (unsigned int)time);
	bench_expect_stop(bench, place->sequence, place->running);
	assert_int_equal(interrupts, place->sequence == 2 ? 2 : 1);
	if (place->running != 0)
		assert_int_equal(bench->registers->save.offset, place->offset);
}

/* A slot before, then the buffer, and one behind it. */
static void the_engine_stops_where_it_may(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY(places); i++) {
		struct bench bench;
		uint32_t start;
		uint32_t before;

		bench_start(&bench, PB_NODE_COPY);
		bench_feed(&bench, 1, 0, 0);
		bench_run(&bench);
		start = bench.registers->time;
		STORE(&bench, NESTED, NOP(1), NOP(1), NOP(1));
		bench_store(&bench, BENCH_BUFFER, places[i].words, 8);
		bench_feed(&bench, 1, BENCH_GPU + BENCH_BUFFER, places[i].bytes);
		bench_feed(&bench, 1, 0, 0);
		pb_engine_model_step(bench.model, places[i].at);
		assert_int_equal(bench.registers->time - start, places[i].at);
		before = bench.interrupts;
		bench_ask(&bench, places[i].op);
		step_until_stopped(&bench);
		expect_place(&bench, &places[i], bench.registers->time - start, bench.interrupts - before);
		bench_reset(&bench);
		bench_feed(&bench, 1, 0, 0);
		bench_run(&bench);
		bench_expect_done(&bench);
		bench_stop(&bench);
	}
}

/* One slot ran, then stops of an idle engine, which each count from the one before. */
static void an_idle_engine_answers_at_once(void **state)
{
	static const uint32_t ops[] = {STOP, INSIDE};

	(void)state;
	for (size_t i = 0; i < ARRAY(ops); i++) {
		struct bench bench;
		uint32_t time;

		bench_start(&bench, PB_NODE_COPY);
		bench_ask(&bench, ops[i]);
		assert_false(pb_engine_model_step(bench.model, 0));
		bench_expect_stop(&bench, 0, 0);
		for (uint32_t slots = 1; slots < 7; slots++) {
			for (uint32_t slot = 0; slot < slots; slot++) {
				bench_feed(&bench, 1, 0, 0);
				bench_run(&bench);
			}
			bench_expect_done(&bench);
			time = bench.registers->time;
			bench_ask(&bench, ops[i]);
			assert_false(pb_engine_model_step(bench.model, 100));
			bench_expect_stop(&bench, slots, 0);
			bench_ask(&bench, ops[i]);
			assert_false(pb_engine_model_step(bench.model, 100));
			bench_expect_stop(&bench, 0, 0);
			assert_int_equal(bench.registers->time, time);
		}
		assert_int_equal(bench.interrupts, 1 + 21 + 12);
		bench_stop(&bench);
	}
}

static void expect_fault(const struct bench *bench, uint32_t code)
{
	assert_int_equal(bench->registers->fault_code, code);
	assert_int_equal(bench->registers->fault_sequence, code == 0 ? 0 : 2);
}

/* Whether it faults before the stop or while it is on its way to it: the fault stands until a reset. */
static void a_stop_in_a_fault_is_answered_and_the_fault_stands(void **state)
{
	static const struct {
		uint32_t op;
		uint32_t steps;
	} cases[] = {{STOP, 3}, {INSIDE, 3}, {STOP, 10}, {INSIDE, 10}};

	(void)state;
	for (size_t i = 0; i < ARRAY(cases); i++) {
		struct bench bench;

		bench_start(&bench, PB_NODE_COPY);
		bench_feed(&bench, 1, 0, 0);
		STORE(&bench, BENCH_BUFFER, INDIRECT(AT(NESTED), 12));
		STORE(&bench, NESTED, NOP(1), NOP(1), FAULT);
		bench_feed(&bench, 1, BENCH_GPU + BENCH_BUFFER, 16);
		bench_feed(&bench, 1, 0, 0);
		pb_engine_model_step(bench.model, cases[i].steps);
		expect_fault(&bench, cases[i].steps < 6 ? 0 : PB_ENGINE_FAULT_ASKED);
		bench_ask(&bench, cases[i].op);
		assert_false(pb_engine_model_step(bench.model, 100));
		bench_expect_stop(&bench, 1, 0);
		expect_fault(&bench, PB_ENGINE_FAULT_ASKED);
		assert_int_equal(bench.interrupts, 3);
		bench_feed(&bench, 1, 0, 0); /* it runs nothing, and nothing but a reset changes that */
		bench_command(&bench, PB_ENGINE_COMMAND_CONTINUE);
		assert_false(pb_engine_model_step(bench.model, 100));
		expect_fault(&bench, PB_ENGINE_FAULT_ASKED);
		bench_ask(&bench, cases[i].op);
		assert_false(pb_engine_model_step(bench.model, 100));
		bench_expect_stop(&bench, 0, 0);
		expect_fault(&bench, PB_ENGINE_FAULT_ASKED);
		bench_reset(&bench);
		SUBMIT(&bench, NOP(1));
		bench_expect_done(&bench);
		bench_stop(&bench);
	}
}

/* The command given last is the only one that counts. */
static void a_later_command_takes_the_place_of_a_stop(void **state)
{
	static const uint32_t ops[] = {PB_ENGINE_COMMAND_RESET, INSIDE, PB_ENGINE_COMMAND_CONTINUE};

	(void)state;
	for (size_t i = 0; i < ARRAY(ops); i++) {
		struct bench bench;
		uint32_t stop;

		bench_start(&bench, PB_NODE_COPY);
		bench.registers->stop_sequence = 77;
		STORE(&bench, BENCH_BUFFER, NOP(1), BUSY(20), NOP(1));
		bench_feed(&bench, 1, BENCH_GPU + BENCH_BUFFER, 16);
		pb_engine_model_step(bench.model, 5);
		bench_ask(&bench, STOP);
		stop = bench.registers->command;
		assert_true(pb_engine_model_step(bench.model, 1));
		assert_true(bench.registers->command_done != stop);
		bench_ask(&bench, ops[i]);
		bench.registers->tail = ops[i] == PB_ENGINE_COMMAND_CONTINUE;
		pb_engine_model_step(bench.model, 0);
		assert_int_equal(bench.registers->command_done == bench.registers->command, ops[i] != INSIDE);
		bench_run(&bench);
		assert_int_equal(bench.registers->command_done, bench.registers->command);
		assert_int_equal(bench.registers->stop_sequence, ops[i] == INSIDE ? 0 : 77);
		assert_int_equal(bench.registers->stop_running, ops[i] == INSIDE ? 1 : 0);
		assert_int_equal(bench.registers->sequence, ops[i] == PB_ENGINE_COMMAND_CONTINUE ? 1 : 0);
		assert_int_equal(bench.registers->time, ops[i] == PB_ENGINE_COMMAND_RESET ? 6
							: ops[i] == INSIDE                ? 22
											  : 23);
		bench_stop(&bench);
	}
}

/* Numbers and slots start anew after each stop, wherever in the ring the last one was. */
static void the_ring_starts_anew_after_a_stop(void **state)
{
	struct bench bench;
	uint32_t ran = 0;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	for (uint32_t slots = 0; slots < 3 * BENCH_SLOTS; slots++) {
		for (uint32_t slot = 0; slot < slots; slot++) {
			uint32_t buffer = BENCH_BUFFER + 0x100 * (slot % BENCH_SLOTS);

			STORE(&bench, buffer, FILL(AT(BENCH_DATA), 4, ++ran));
			bench_feed(&bench, 1, BENCH_GPU + buffer, 20);
			bench_run(&bench);
			assert_int_equal(*bench_at(&bench, BENCH_DATA), ran);
		}
		bench_expect_done(&bench);
		bench_ask(&bench, STOP);
		pb_engine_model_step(bench.model, 0);
		bench_expect_stop(&bench, slots, 0);
	}
	bench_stop(&bench);
}

/* What stands in the way of a RESET does not stand in that of power. */
static void power_resets_whatever_the_engine_does(void **state)
{
	static const struct {
		uint32_t words[3];
		uint32_t pending; /* a command that it has not answered */
	} cases[] = {{{NOP(1), HANG}, 0},        {{HANG}, STOP},       {{HANG}, INSIDE}, {{FAULT}, 0},
		     {{BUSY(50), NOP(1)}, STOP}, {{NOP(1), NOP(1)}, 0}};
	static const struct pb_engine_model_defects deaf = {.deaf_to_stop = true, .deaf_to_reset = true};

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY(cases); i++) {
		struct bench bench;
		uint32_t before;
		uint32_t time;

		bench_start(&bench, PB_NODE_COPY);
		if (i % 2 != 0)
			pb_engine_model_set_defects(bench.model, &deaf);
		bench_store(&bench, BENCH_BUFFER, cases[i / 2].words, 3);
		bench_feed(&bench, 1, BENCH_GPU + BENCH_BUFFER, 12);
		pb_engine_model_step(bench.model, 2);
		if (cases[i / 2].pending != 0)
			bench_ask(&bench, cases[i / 2].pending);
		pb_engine_model_step(bench.model, 3);
		before = bench.interrupts;
		time = bench.registers->time;
		bench_ask(&bench, PB_ENGINE_COMMAND_RESET);
		bench.registers->power = bench.registers->command;
		assert_false(pb_engine_model_step(bench.model, 100));
		assert_int_equal(bench.registers->command_done, bench.registers->command);
		assert_int_equal(bench.registers->power_done, bench.registers->power);
		assert_int_equal(bench.registers->head, 0);
		assert_int_equal(bench.registers->sequence, 0);
		assert_int_equal(bench.registers->fault_code, 0);
		assert_int_equal(bench.interrupts, before + 1);
		assert_int_equal(bench.registers->time, time);
		SUBMIT(&bench, FILL(AT(BENCH_DATA), 4, 7));
		bench_expect_done(&bench);
		assert_int_equal(*bench_at(&bench, BENCH_DATA), 7);
		bench_stop(&bench);
	}
}

/* The engine may obey a command before the force behind it is there: then there is nothing to force. */
static void power_behind_an_answered_command_does_nothing(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	SUBMIT(&bench, NOP(1));
	bench_reset(&bench);
	SUBMIT(&bench, NOP(1));
	bench.registers->power = bench.registers->command;
	assert_false(pb_engine_model_step(bench.model, 100));
	bench_expect_done(&bench);
	assert_int_equal(bench.registers->power_done, 0);
	assert_int_equal(bench.interrupts, 3);
	bench_ask(&bench, STOP); /* it is not behind this one */
	pb_engine_model_step(bench.model, 0);
	bench_expect_stop(&bench, 1, 0);
	assert_int_equal(bench.registers->power_done, 0);
	bench_stop(&bench);
}

UNIT_SUITE(test_engine_stop)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_engine_stops_where_it_may),
		cmocka_unit_test(an_idle_engine_answers_at_once),
		cmocka_unit_test(a_stop_in_a_fault_is_answered_and_the_fault_stands),
		cmocka_unit_test(a_later_command_takes_the_place_of_a_stop),
		cmocka_unit_test(the_ring_starts_anew_after_a_stop),
		cmocka_unit_test(power_resets_whatever_the_engine_does),
		cmocka_unit_test(power_behind_an_answered_command_does_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
