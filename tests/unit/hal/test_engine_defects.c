/* SPDX-License-Identifier: MIT */
/* Broken engines: each defect does what it says, and nothing else. */
#include "patchbay/abi/boot.h"
#include "tests/unit/hal/engine_bench.h"
#include "tests/unit/unit.h"

#define ARRAY(a) (sizeof(a) / sizeof((a)[0]))

/* Which commands are answered; the buffer is run all the same. */
static void deaf_engines_do_not_answer(void **state)
{
	static const struct {
		struct pb_engine_model_defects defects;
		bool stop;
		bool reset;
		bool power;
	} cases[] = {
		{{.late = 0}, true, true, true},
		{{.deaf_to_stop = true}, false, true, true},
		{{.deaf_to_reset = true}, true, false, true},
		{{.deaf_to_power = true}, true, true, true}, /* it is a RESET still */
		{{.deaf_to_reset = true, .deaf_to_power = true}, true, false, false},
		{{.deaf_to_stop = true, .deaf_to_reset = true, .deaf_to_power = true}, false, false, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY(cases); i++) {
		const bool answered[] = {cases[i].stop, cases[i].stop, cases[i].reset, cases[i].power};
		static const uint32_t ops[] = {PB_ENGINE_COMMAND_STOP, PB_ENGINE_COMMAND_STOP_INSIDE,
					       PB_ENGINE_COMMAND_RESET, PB_ENGINE_COMMAND_RESET};

		for (size_t op = 0; op < ARRAY(ops); op++) {
			struct bench bench;

			bench_start(&bench, PB_NODE_COPY);
			pb_engine_model_set_defects(bench.model, &cases[i].defects);
			SUBMIT(&bench, NOP(1));
			bench_expect_done(&bench);
			bench_ask(&bench, ops[op]);
			if (op == 3)
				bench.registers->power = bench.registers->command;
			pb_engine_model_step(bench.model, 10);
			assert_int_equal(bench.registers->command_done == bench.registers->command,
					 answered[op]);
			assert_int_equal(bench.registers->sequence, answered[op] ? 0 : 1);
			assert_int_equal(bench.interrupts, answered[op] ? 2 : 1);
			assert_int_equal(bench.registers->power_done != 0,
					 op == 3 && !cases[i].defects.deaf_to_power);
			pb_engine_model_set_defects(bench.model,
						    &(struct pb_engine_model_defects){.late = 0});
			pb_engine_model_step(bench.model, 10); /* healed, it answers what was asked */
			assert_int_equal(bench.registers->command_done, bench.registers->command);
			bench_stop(&bench);
		}
	}
}

static void a_stuck_engine_moves_time_only(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	STORE(&bench, BENCH_BUFFER, NOP(1), FILL(AT(BENCH_DATA), 4, 7), NOP(1));
	bench_feed(&bench, 1, BENCH_GPU + BENCH_BUFFER, 28);
	pb_engine_model_step(bench.model, 2);
	pb_engine_model_set_defects(bench.model, &(struct pb_engine_model_defects){.stuck = true});
	for (uint32_t i = 1; i < 50; i++) {
		assert_true(pb_engine_model_step(bench.model, 100));
		assert_int_equal(bench.registers->time, 2 + 100 * i);
		assert_int_equal(bench.registers->progress, 2);
	}
	assert_int_equal(bench.interrupts, 0);
	pb_engine_model_set_defects(bench.model, &(struct pb_engine_model_defects){.stuck = false});
	bench_run(&bench);
	bench_expect_done(&bench);
	assert_int_equal(*bench_at(&bench, BENCH_DATA), 7);
	assert_int_equal(bench.registers->progress, 4);
	bench_stop(&bench);
}

static void one_interrupt_is_lost(void **state)
{
	(void)state;
	for (uint32_t lost = 0; lost < 5; lost++) {
		struct bench bench;

		bench_start(&bench, PB_NODE_COPY);
		pb_engine_model_set_defects(bench.model,
					    &(struct pb_engine_model_defects){.lose_interrupt = lost});
		for (uint32_t slot = 1; slot < 10; slot++) {
			bench_feed(&bench, 1, 0, 0);
			bench_run(&bench);
			bench_expect_done(&bench);
			assert_int_equal(bench.interrupts, slot - (lost != 0 && slot >= lost ? 1 : 0));
		}
		bench_stop(&bench);
	}
}

static void interrupts_come_for_nothing(void **state)
{
	(void)state;
	for (uint32_t every = 1; every < 5; every++) {
		struct bench bench;

		bench_start(&bench, PB_NODE_COPY);
		pb_engine_model_set_defects(bench.model,
					    &(struct pb_engine_model_defects){.spurious_every = every});
		for (uint32_t step = 1; step < 20; step++) {
			assert_false(pb_engine_model_step(bench.model, 1));
			assert_int_equal(bench.interrupts, step / every);
		}
		bench_stop(&bench);
	}
}

/* What comes while one is held back joins it; the engine wants to be stepped until it is out. */
static void interrupts_are_late(void **state)
{
	(void)state;
	for (uint32_t late = 1; late < 6; late++) {
		struct bench bench;

		bench_start(&bench, PB_NODE_COPY);
		pb_engine_model_set_defects(bench.model, &(struct pb_engine_model_defects){.late = late});
		for (uint32_t round = 1; round < 4; round++) {
			bench_feed(&bench, 1, 0, 0);
			bench_feed(&bench, 1, 0, 0);
			for (uint32_t step = 0; step < late; step++) {
				assert_true(pb_engine_model_step(bench.model, 10));
				bench_expect_done(&bench);
				assert_int_equal(bench.interrupts, round - 1);
			}
			assert_false(pb_engine_model_step(bench.model, 10));
			assert_int_equal(bench.interrupts, round);
		}
		bench_stop(&bench);
	}
}

UNIT_SUITE(test_engine_defects)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(deaf_engines_do_not_answer),
		cmocka_unit_test(a_stuck_engine_moves_time_only),
		cmocka_unit_test(one_interrupt_is_lost),
		cmocka_unit_test(interrupts_come_for_nothing),
		cmocka_unit_test(interrupts_are_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
