/* SPDX-License-Identifier: MIT */
/* What is kept of a slot that the engine stopped inside, and how it is checked when it comes back. */
#include <stddef.h>
#include <string.h>

#include "patchbay/abi/boot.h"
#include "tests/unit/hal/engine_bench.h"
#include "tests/unit/unit.h"

#define ARRAY(a) (sizeof(a) / sizeof((a)[0]))
#define NONE                                                                                                 \
	{                                                                                                    \
		0, 0, 0, 0, 0                                                                                \
	}
#define VERSION PB_ENGINE_PROGRESS_VERSION

/* A slot of two fills, of which the first is done. */
static const uint32_t fills[] = {FILL(AT(BENCH_DATA), 4, 1), FILL(AT(BENCH_DATA + 4), 4, 2)};

/* Stops inside a buffer so many microseconds after its start; the garbage that was there before must go. */
static void stop_at(struct bench *bench, uint32_t microseconds)
{
	memset(&bench->registers->save, 0xa5, sizeof(bench->registers->save));
	bench_feed(bench, 1, BENCH_GPU + BENCH_BUFFER, 64);
	pb_engine_model_step(bench->model, microseconds);
	bench_ask(bench, PB_ENGINE_COMMAND_STOP_INSIDE);
	pb_engine_model_step(bench->model, 0);
	bench_expect_stop(bench, 0, 1);
}

static void the_words_are_as_documented(void **state)
{
	static const uint32_t words[16] = {TARGET(AT(BENCH_DATA + 0x10), 3, 5, 28),
					   TEXTURE(ADDRESS(BENCH_RANGE2_GPU + 4), 9, 2, 36), NOP(4)};
	static const struct pb_engine_progress expected[] = {
		{0x50425031, 0, NONE, NONE, {0}, 0},
		{0x50425031, 24, {BENCH_DATA + 0x10, 1, 3, 5, 28}, NONE, {0}, 0},
		{0x50425031, 48, {BENCH_DATA + 0x10, 1, 3, 5, 28}, {0x2004, 0, 9, 2, 36}, {0}, 0},
	};

	(void)state;
	for (uint32_t i = 0; i < ARRAY(expected); i++) {
		struct bench bench;

		bench_start(&bench, PB_NODE_3D);
		bench_store(&bench, BENCH_BUFFER, words, 16);
		stop_at(&bench, 1 + i);
		assert_memory_equal(&bench.registers->save, &expected[i], 64);
		/* and again from there, before anything else has run */
		bench_resume(&bench, &expected[i]);
		stop_at(&bench, 1);
		assert_memory_equal(&bench.registers->save, &expected[i], 64);
		bench_stop(&bench);
	}
}

/* The words that others may have spoiled; 0 is no fault. */
static const struct {
	const char *name;
	struct pb_engine_progress progress;
	uint32_t kind;
	uint32_t code;
	uint64_t address;
} spoiled[] = {
	{"good", {VERSION, 20, NONE, NONE, {0}, 0}, PB_NODE_3D, 0, 0},
	{"good on the copy node", {VERSION, 20, NONE, NONE, {0}, 0}, PB_NODE_COPY, 0, 0},
	{"target", {VERSION, 20, {AT(BENCH_DATA), 1, 1, 4}, NONE, {0}, 0}, PB_NODE_3D, 0, 0},
	{"no version", {0, 20, NONE, NONE, {0}, 0}, PB_NODE_3D, PB_ENGINE_FAULT_VALUE, 0},
	{"next version", {VERSION + 1, 20, NONE, NONE, {0}, 0}, PB_NODE_3D, PB_ENGINE_FAULT_VALUE, 0},
	{"unaligned", {VERSION, 21, NONE, NONE, {0}, 0}, PB_NODE_3D, PB_ENGINE_FAULT_ALIGNMENT, 0},
	{"half aligned", {VERSION, 18, NONE, NONE, {0}, 0}, PB_NODE_3D, PB_ENGINE_FAULT_ALIGNMENT, 0},
	{"past the end", {VERSION, 44, NONE, NONE, {0}, 0}, PB_NODE_3D, PB_ENGINE_FAULT_VALUE, 0},
	{"past the end, unaligned", {VERSION, 41, NONE, NONE, {0}, 0}, PB_NODE_3D, PB_ENGINE_FAULT_VALUE, 0},
	{"far", {VERSION, 0xfffffffc, NONE, NONE, {0}, 0}, PB_NODE_3D, PB_ENGINE_FAULT_VALUE, 0},
	{"reserved 0", {VERSION, 20, NONE, NONE, {1, 0, 0}, 0}, PB_NODE_3D, PB_ENGINE_FAULT_VALUE, 0},
	{"reserved 1", {VERSION, 20, NONE, NONE, {0, 1, 0}, 0}, PB_NODE_3D, PB_ENGINE_FAULT_VALUE, 0},
	{"reserved 2", {VERSION, 20, NONE, NONE, {0, 0, 1}, 0}, PB_NODE_3D, PB_ENGINE_FAULT_VALUE, 0},
	{"a target on the copy node",
	 {VERSION, 20, {AT(BENCH_DATA), 1, 1, 4}, NONE, {0}, 0},
	 PB_NODE_COPY,
	 PB_ENGINE_FAULT_NODE,
	 0},
	{"a texture on the copy node",
	 {VERSION, 20, NONE, {0, 0, 0, 0, 1}, {0}, 0},
	 PB_NODE_COPY,
	 PB_ENGINE_FAULT_NODE,
	 0},
	{"target, no width",
	 {VERSION, 20, {AT(BENCH_DATA), 0, 1, 4}, NONE, {0}, 0},
	 PB_NODE_3D,
	 PB_ENGINE_FAULT_VALUE,
	 0},
	{"target, an address only",
	 {VERSION, 20, {1, 0, 0, 0, 0}, NONE, {0}, 0},
	 PB_NODE_3D,
	 PB_ENGINE_FAULT_VALUE,
	 0},
	{"texture, too high",
	 {VERSION, 20, NONE, {AT(BENCH_DATA), 1, 4097, 4}, {0}, 0},
	 PB_NODE_3D,
	 PB_ENGINE_FAULT_VALUE,
	 0},
	{"texture, pitch too small",
	 {VERSION, 20, NONE, {AT(BENCH_DATA), 2, 1, 4}, {0}, 0},
	 PB_NODE_3D,
	 PB_ENGINE_FAULT_VALUE,
	 0},
	{"target, pitch unaligned",
	 {VERSION, 20, {AT(BENCH_DATA), 1, 1, 5}, NONE, {0}, 0},
	 PB_NODE_3D,
	 PB_ENGINE_FAULT_ALIGNMENT,
	 0},
	{"texture unaligned",
	 {VERSION, 20, NONE, {AT(BENCH_DATA + 2), 1, 1, 4}, {0}, 0},
	 PB_NODE_3D,
	 PB_ENGINE_FAULT_ALIGNMENT,
	 0},
	{"target not the channel's",
	 {VERSION, 20, {AT(BENCH_OTHER), 1, 1, 4}, NONE, {0}, 0},
	 PB_NODE_3D,
	 PB_ENGINE_FAULT_ADDRESS,
	 BENCH_GPU + BENCH_OTHER},
	{"texture past the end of its range",
	 {VERSION, 20, NONE, {AT(BENCH_RANGE1_END - 8), 1, 3, 4}, {0}, 0},
	 PB_NODE_3D,
	 PB_ENGINE_FAULT_ADDRESS,
	 BENCH_GPU + BENCH_RANGE1_END - 8},
	{"the target comes first",
	 {VERSION, 20, {AT(0), 1, 1, 4}, {AT(0), 0, 1, 4}, {0}, 0},
	 PB_NODE_3D,
	 PB_ENGINE_FAULT_ADDRESS,
	 BENCH_GPU},
};

static void progress_is_checked(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY(spoiled); i++) {
		struct bench bench;

		bench_start(&bench, spoiled[i].kind);
		STORE(&bench, BENCH_DATA, 8, 9);
		bench_resume(&bench, &spoiled[i].progress);
		SUBMIT(&bench, FILL(AT(BENCH_DATA), 4, 1), FILL(AT(BENCH_DATA + 4), 4, 2));
		if (bench.registers->fault_code != spoiled[i].code)
			fail_msg("%s: %u", spoiled[i].name, (unsigned int)bench.registers->fault_code);
		assert_int_equal(*bench_at(&bench, BENCH_DATA), 8);
		assert_int_equal(*bench_at(&bench, BENCH_DATA + 4), spoiled[i].code == 0 ? 2 : 9);
		assert_int_equal(bench.registers->time, spoiled[i].code == 0 ? 2 : 1);
		if (spoiled[i].code != 0) {
			bench_expect_fault(&bench, spoiled[i].code, spoiled[i].address);
			bench_command(&bench, PB_ENGINE_COMMAND_CONTINUE);
			bench_run(&bench);
		}
		bench_expect_done(&bench);
		bench_stop(&bench);
	}
}

/* The slot's own address counts before its progress, and each offset up to its end is one. */
static void offsets_end_with_the_buffer(void **state)
{
	static const struct {
		uint32_t bytes;
		uint32_t offset;
		uint32_t code;
		uint32_t time;
	} cases[] = {
		{0, 0, 0, 1},
		{0, 4, PB_ENGINE_FAULT_VALUE, 1},
		{20, 0, 0, 2},
		{20, 20, 0, 1},
		{20, 24, PB_ENGINE_FAULT_VALUE, 1},
		{40, 20, 0, 2},
		{42, 44, PB_ENGINE_FAULT_ALIGNMENT, 1},
		{0xf004, 0xf008, PB_ENGINE_FAULT_ADDRESS, 1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY(cases); i++) {
		const struct pb_engine_progress progress = {.version = VERSION, .offset = cases[i].offset};
		struct bench bench;

		bench_start(&bench, PB_NODE_COPY);
		bench_store(&bench, BENCH_BUFFER, fills, 10);
		bench_resume(&bench, &progress);
		bench_feed(&bench, 1, BENCH_GPU + BENCH_BUFFER, cases[i].bytes);
		bench_run(&bench);
		assert_int_equal(bench.registers->fault_code, cases[i].code);
		assert_int_equal(bench.registers->time, cases[i].time);
		bench_stop(&bench);
	}
}

/* Progress is for one slot of one numbering: whatever else stands there, work begins at its start. */
static void old_progress_does_not_count(void **state)
{
	static const struct pb_engine_progress progress = {.version = VERSION, .offset = 20};
	static const uint32_t ops[] = {PB_ENGINE_COMMAND_RESET, PB_ENGINE_COMMAND_STOP,
				       PB_ENGINE_COMMAND_STOP_INSIDE};

	(void)state;
	for (size_t i = 0; i < ARRAY(ops); i++) {
		struct bench bench;

		bench_start(&bench, PB_NODE_COPY);
		bench_store(&bench, BENCH_BUFFER, fills, 10);
		bench_resume(&bench, &progress); /* recalled before it began */
		bench_feed(&bench, 1, BENCH_GPU + BENCH_BUFFER, 40);
		bench_ask(&bench, ops[i]);
		pb_engine_model_step(bench.model, 0);
		for (uint32_t slot = 0; slot < 3 * BENCH_SLOTS; slot++) {
			STORE(&bench, BENCH_DATA, 8, 9);
			if (slot == 5) /* the only one: the next round of its place is another sequence */
				bench_resume(&bench, &progress);
			bench_feed(&bench, 1, BENCH_GPU + BENCH_BUFFER, 40);
			bench_run(&bench);
			assert_int_equal(*bench_at(&bench, BENCH_DATA), slot == 5 ? 8 : 1);
			assert_int_equal(*bench_at(&bench, BENCH_DATA + 4), 2);
		}
		bench_expect_done(&bench);
		bench_stop(&bench);
	}
}

/* Each slot of the ring has its own. */
static void several_slots_go_on(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, PB_NODE_COPY);
	for (uint32_t slot = 0; slot < BENCH_SLOTS; slot++) {
		const struct pb_engine_progress progress = {.version = VERSION, .offset = 20 * slot};
		uint32_t buffer = BENCH_BUFFER + 0x100 * slot;

		for (uint32_t i = 0; i < BENCH_SLOTS; i++) {
			*bench_at(&bench, BENCH_DATA + 16 * slot + 4 * i) = 0;
			STORE(&bench, buffer + 20 * i, FILL(AT(BENCH_DATA + 16 * slot + 4 * i), 4, 7));
		}
		bench_resume(&bench, &progress);
		bench_feed(&bench, 1, BENCH_GPU + buffer, 20 * BENCH_SLOTS);
	}
	bench_run(&bench);
	bench_expect_done(&bench);
	for (uint32_t slot = 0; slot < BENCH_SLOTS; slot++) {
		for (uint32_t i = 0; i < BENCH_SLOTS; i++)
			assert_int_equal(*bench_at(&bench, BENCH_DATA + 16 * slot + 4 * i), i < slot ? 0 : 7);
	}
	bench_stop(&bench);
}

/* Not a privilege that is kept: the slot that brings it back has it, or has not. */
static void privilege_is_the_slots(void **state)
{
	static const struct pb_engine_progress progress = {.version = VERSION, .offset = 4};

	(void)state;
	for (uint32_t privileged = 0; privileged < 2; privileged++) {
		struct bench bench;

		bench_start(&bench, PB_NODE_COPY);
		STORE(&bench, BENCH_BUFFER, NOP(1), DISCARD(AT(BENCH_DATA), 4));
		bench_resume(&bench, &progress);
		bench_feed(&bench, privileged != 0 ? BENCH_PAGING : 1, BENCH_GPU + BENCH_BUFFER, 20);
		bench_run(&bench);
		assert_int_equal(bench.registers->fault_code,
				 privileged != 0 ? 0 : PB_ENGINE_FAULT_PRIVILEGE);
		bench_stop(&bench);
	}
}

UNIT_SUITE(test_engine_resume)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_words_are_as_documented), cmocka_unit_test(progress_is_checked),
		cmocka_unit_test(offsets_end_with_the_buffer), cmocka_unit_test(old_progress_does_not_count),
		cmocka_unit_test(several_slots_go_on),         cmocka_unit_test(privilege_is_the_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
