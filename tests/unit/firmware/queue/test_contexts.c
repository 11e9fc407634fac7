/* SPDX-License-Identifier: MIT */
/* The table of contexts: each is given out once, whatever was freed before, and in what order. */
#include <string.h>

#include "firmware/queue/context.h"
#include "tests/unit/unit.h"

#define STEPS 40000u

static struct pb_core_contexts contexts;
/** The model: the handle that each slot has given out last, and to which channel. 0: never; channel 0: free. */
static uint32_t words[PB_LIMIT_CONTEXTS];
static uint32_t handles[PB_LIMIT_CONTEXTS];
static uint32_t channels[PB_LIMIT_CONTEXTS];
static uint32_t used;

static void start(void)
{
	memset(&contexts, 0, sizeof(contexts));
	memset(words, 0, sizeof(words));
	memset(handles, 0, sizeof(handles));
	memset(channels, 0, sizeof(channels));
	used = 0;
	pb_core_context_init(&contexts, words);
}

/** Creates one: in a slot that was free, with the generation behind the slot's last one. */
static void create(uint32_t channel)
{
	const uint32_t handle = pb_core_context_create(&contexts, channel);
	const uint32_t slot = handle & 0xffffu;
	const uint32_t before = handles[slot] >> 16;

	assert_true(slot < PB_LIMIT_CONTEXTS);
	assert_int_equal(channels[slot], 0);
	assert_int_equal(handle >> 16, before == 0xffff ? 1 : before + 1);
	handles[slot] = handle;
	channels[slot] = channel;
	used++;
}

static void destroy(uint32_t slot)
{
	pb_core_context_destroy(&contexts, handles[slot]);
	channels[slot] = 0;
	used--;
}

/** Frees a channel's in slices, as its closing does. */
static void close_channel(uint32_t channel)
{
	for (uint32_t at = 0; at < PB_LIMIT_CONTEXTS; at += 16)
		pb_core_context_free_some(&contexts, channel, at, at + 16);
	for (uint32_t slot = 0; slot < PB_LIMIT_CONTEXTS; slot++) {
		if (channels[slot] != channel)
			continue;
		channels[slot] = 0;
		used--;
	}
}

/** Each handle names its slot's context as long as that exists, for its channel alone. */
static void check(void)
{
	for (uint32_t slot = 0; slot < PB_LIMIT_CONTEXTS; slot++) {
		for (uint32_t channel = 1; channel <= 3; channel++)
			assert_ptr_equal(pb_core_context_find(&contexts, channel, handles[slot]),
					 channels[slot] == channel ? &contexts.at[slot] : NULL);
	}
}

static uint32_t some(uint32_t *state, uint32_t below)
{
	*state = *state * 1664525u + 1013904223u;
	return (*state >> 8) % below;
}

static void each_context_is_given_out_once(void **state)
{
	(void)state;
	start();
	for (uint32_t i = 0; i < PB_LIMIT_CONTEXTS; i++)
		create(1 + i % 3);
	check();
	assert_int_equal(used, PB_LIMIT_CONTEXTS);
	destroy(PB_LIMIT_CONTEXTS - 1u);
	destroy(0);
	destroy(7);
	check();
	for (uint32_t i = 0; i < 3; i++)
		create(2);
	check();
}

static void any_order_of_creating_and_freeing_is_allowed(void **state)
{
	uint32_t seed = 1;

	(void)state;
	start();
	for (uint32_t i = 0; i < STEPS; i++) {
		const uint32_t slot = some(&seed, PB_LIMIT_CONTEXTS);
		/* The table fills and empties by turns. */
		const bool fills = i / 3000u % 2 == 0;

		if (channels[slot] != 0 && some(&seed, 4) != (fills ? 0u : 4u))
			destroy(slot);
		if (used < PB_LIMIT_CONTEXTS && some(&seed, 4) < (fills ? 4u : 1u))
			create(1 + some(&seed, 3));
		if (some(&seed, 2000) == 0)
			close_channel(1 + some(&seed, 3));
		if (i % 1000u == 0)
			check();
	}
	check();
	for (uint32_t channel = 1; channel <= 3; channel++)
		close_channel(channel);
	assert_int_equal(used, 0);
	for (uint32_t i = 0; i < PB_LIMIT_CONTEXTS; i++)
		create(3);
	check();
}

/** No handle is 0: a slot's generations are 1 to 65,535, in a circle. */
static void no_handle_is_0(void **state)
{
	(void)state;
	start();
	for (uint32_t i = 0; i < 70000u; i++) {
		create(1);
		destroy(0);
	}
}

/** A context that is lost and freed is not lost when it is given out again. */
static void a_new_context_is_not_lost(void **state)
{
	const struct pb_core_submission submission = {.context = 0};

	(void)state;
	start();
	create(1);
	pb_core_context_lose(&contexts, &submission);
	assert_true(pb_core_context_is_lost(&contexts, &submission));
	destroy(0);
	create(2);
	assert_int_equal(handles[0] & 0xffffu, 0);
	assert_false(pb_core_context_is_lost(&contexts, &submission));
	assert_int_equal(pb_core_context_look_up(&contexts, 2, handles[0]), PB_ERROR_OK);
	assert_int_equal(pb_core_context_look_up(&contexts, 1, handles[0]), PB_ERROR_BAD_CONTEXT);
}

UNIT_SUITE(test_contexts)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_context_is_given_out_once),
		cmocka_unit_test(any_order_of_creating_and_freeing_is_allowed),
		cmocka_unit_test(no_handle_is_0),
		cmocka_unit_test(a_new_context_is_not_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
