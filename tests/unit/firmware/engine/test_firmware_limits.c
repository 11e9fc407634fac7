/* SPDX-License-Identifier: MIT */
/* Time limits of one queue: what it asks for, within what the admin allows its channel. */
#include "firmware/instance.h"
#include "tests/unit/puppet_bench.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
/** Longer than any limit below, in milliseconds. */
#define FOR_EVER 6000u

static void allow(uint32_t resource, uint32_t microseconds)
{
	if (microseconds != 0)
		assert_int_equal(pb_quota_set(&puppet_bench.admin, 1, resource, microseconds), PB_ERROR_OK);
}

/** @return milliseconds until the engine is asked to reset, in which it makes progress at each tick, or none */
static uint32_t milliseconds_to_reset(bool progress)
{
	const uint32_t before = puppet_bench.puppet.resets;
	uint32_t milliseconds = 0;

	while (puppet_bench.puppet.resets == before && milliseconds < FOR_EVER) {
		puppet_bench.puppet.progress += progress;
		puppet_stall(5);
		milliseconds += 5;
	}
	return milliseconds;
}

static void a_hang_takes_as_long_as_the_queue_asks_for(void **state)
{
	static const struct {
		const char *name;
		uint32_t allowed, asked; /* microseconds; 0: not at all */
		uint32_t least;          /* milliseconds */
	} rows[] = {
		{"the default", 0, 0, 100},
		{"allowed more, not asked", 500000, 0, 100},
		{"asked less", 0, 20000, 20},
		{"asked more, not allowed", 0, 500000, 100},
		{"asked as much as allowed", 500000, 500000, 500},
		{"asked more than allowed", 500000, 0xffffffff, 500},
		{"asked less than allowed", 500000, 300000, 300},
		{"asked too little", 0, 1, 10},
		{"allowed less than the default, not asked", 50000, 0, 100},
		{"allowed less, asked more", 50000, 70000, 50},
		{"seconds", 3000000, 3000000, 3000},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint32_t milliseconds;

		print_message("%s\n", rows[i].name);
		assert_int_equal(puppet_start(state), 0);
		puppet_join_admin();
		allow(PB_RESOURCE_HANG_MICROSECONDS, rows[i].allowed);
		pb_queue_set_limits(&puppet_bench.queue, rows[i].asked, 0);
		puppet_submit(0, 1);
		milliseconds = milliseconds_to_reset(false);
		/* Two ticks may pass before it is noticed. */
		assert_in_range(milliseconds, rows[i].least, rows[i].least + 10u);
		puppet_reset_done();
		puppet_run(1u << PB_LINE_NODE(0));
		puppet_finish(1);
		puppet_expect_fence(1, 1, PB_ERROR_ENGINE_HANG);
	}
}

/** A submission that makes progress never hangs, whatever its queue asks for. */
static void progress_is_no_hang(void **state)
{
	(void)state;
	pb_queue_set_limits(&puppet_bench.queue, 10000, 0);
	puppet_submit(0, 1);
	assert_int_equal(milliseconds_to_reset(true), FOR_EVER);
}

static void a_stop_takes_as_long_as_the_queue_asks_for(void **state)
{
	static const struct {
		const char *name;
		uint32_t allowed, asked; /* microseconds; 0: not at all */
		bool progress;
		uint32_t least; /* milliseconds */
	} rows[] = {
		{"the default", 0, 0, false, 100},
		{"the default, with progress", 0, 0, true, 2100},
		{"asked less, with progress", 0, 30000, true, 30},
		{"asked as much as is allowed", 0, 2000000, false, 2000},
		{"asked more, not allowed", 0, 5000000, true, 2000},
		{"asked as much as allowed", 4000000, 4000000, true, 4000},
		{"the same without progress", 4000000, 4000000, false, 4000},
		{"asked more than allowed", 50000, 0xffffffff, false, 50},
		{"asked too little", 0, 1, true, 10},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {puppet_bench.queue.handle, 1, 77};
		uint32_t milliseconds, tag;

		print_message("%s\n", rows[i].name);
		assert_int_equal(puppet_start(state), 0);
		puppet_join_admin();
		/* So that it is the stop that ends it. */
		allow(PB_RESOURCE_HANG_MICROSECONDS, 5000000);
		allow(PB_RESOURCE_STOP_MICROSECONDS, rows[i].allowed);
		pb_queue_set_limits(&puppet_bench.queue, 5000000, rows[i].asked);
		puppet_submit(0, 1);
		puppet_stall(5);
		assert_int_equal(pb_channel_begin(&puppet_bench.channel, PB_COMMAND_PREEMPT, arguments, &tag),
				 PB_ERROR_OK);
		puppet_run(1u << PB_LINE_CHANNEL(1));
		assert_int_equal(puppet_bench.puppet.stops, 1);
		milliseconds = milliseconds_to_reset(rows[i].progress);
		assert_in_range(milliseconds, rows[i].least, rows[i].least + 10u);
	}
}

/** The engine stops inside the submission, and runs it again: its host lets it end. */
static void a_submission_that_is_to_end_has_the_time_of_a_stop(void **state)
{
	static const struct {
		const char *name;
		uint32_t allowed, asked; /* microseconds; 0: not at all */
		uint32_t least;          /* milliseconds */
	} rows[] = {
		{"the default", 0, 0, 2000},
		{"asked less", 0, 30000, 30},
		{"asked more, not allowed", 0, 4000000, 2000},
		{"asked as much as allowed", 4000000, 4000000, 4000},
		{"asked too little", 0, 1, 10},
		{"more ticks than 16 bits count", 327690000, 327690000, FOR_EVER},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {puppet_bench.queue.handle, 1, 77};
		uint32_t tag;

		print_message("%s\n", rows[i].name);
		assert_int_equal(puppet_start(state), 0);
		puppet_join_admin();
		allow(PB_RESOURCE_STOP_MICROSECONDS, rows[i].allowed);
		pb_queue_set_limits(&puppet_bench.queue, 0, rows[i].asked);
		puppet_submit(0, 1);
		puppet_stall(5);
		assert_int_equal(pb_channel_begin(&puppet_bench.channel, PB_COMMAND_PREEMPT, arguments, &tag),
				 PB_ERROR_OK);
		puppet_run(1u << PB_LINE_CHANNEL(1));
		puppet_stop_done(0, 1);
		assert_in_range(milliseconds_to_reset(true), rows[i].least, rows[i].least + 10u);
	}
}

/** Others wait for a channel that closes: its queues' wishes count no more. */
static void a_closing_channel_has_the_limits_of_the_node(void **state)
{
	(void)state;
	puppet_join_admin();
	allow(PB_RESOURCE_HANG_MICROSECONDS, 5000000);
	pb_queue_set_limits(&puppet_bench.queue, 5000000, 0);
	puppet_submit(0, 1);
	puppet_stall(50);
	puppet_bench.channel.entry->attach_request =
		(puppet_bench.channel.entry->attach_done & ~PB_ATTACH_OP_MASK) + PB_ATTACH_COUNTER_ONE +
		PB_ATTACH_OP_DETACH;
	puppet_run(1u << PB_LINE_CHANNEL(1));
	assert_in_range(milliseconds_to_reset(false), 50, 60);
}

UNIT_SUITE(test_firmware_limits)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_hang_takes_as_long_as_the_queue_asks_for, puppet_start),
		cmocka_unit_test_setup(progress_is_no_hang, puppet_start),
		cmocka_unit_test_setup(a_stop_takes_as_long_as_the_queue_asks_for, puppet_start),
		cmocka_unit_test_setup(a_submission_that_is_to_end_has_the_time_of_a_stop, puppet_start),
		cmocka_unit_test_setup(a_closing_channel_has_the_limits_of_the_node, puppet_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
