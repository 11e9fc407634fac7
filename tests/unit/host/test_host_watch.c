/* SPDX-License-Identifier: MIT */
/* Firmware whose main loop stands still: noticed by the card's clock, not by the host's. */
#include "tests/unit/fake_firmware.h"
#include "tests/unit/unit.h"

static void look_after_look(void **state)
{
	static const struct {
		uint32_t clock; /* moves by that */
		bool beats;     /* and the heart is seen to beat then */
		enum pb_error expected;
	} cases[] = {
		{7999, false, PB_ERROR_OK},
		{1, false, PB_ERROR_FIRMWARE_DEAD},
		{0, false, PB_ERROR_FIRMWARE_DEAD},
		{0, true, PB_ERROR_OK}, /* it lives after all */
		{7999, false, PB_ERROR_OK},
		{0, true, PB_ERROR_OK},
		{8001, false, PB_ERROR_FIRMWARE_DEAD},
		{1000000, true, PB_ERROR_OK}, /* no poll for a second */
		{7999, false, PB_ERROR_OK},
		{0u - 8000, false, PB_ERROR_OK}, /* the clock was read before the beat */
		{8001, false, PB_ERROR_FIRMWARE_DEAD},
	};
	static const uint32_t starts[] = {0, 0x12345678, 0xffffd8f0, 0xfffffffe};

	(void)state;
	for (size_t s = 0; s < sizeof(starts) / sizeof(starts[0]); s++) {
		struct fake_firmware fake;
		struct pb_channel channel;

		fake_start(&fake);
		fake_boot(&fake)->clock = starts[s];
		fake_boot(&fake)->heartbeat_clock = starts[s];
		assert_int_equal(pb_channel_attach(&channel, &fake.link, 1000), PB_ERROR_OK);
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			fake_boot(&fake)->clock += cases[i].clock;
			if (cases[i].beats)
				fake_boot(&fake)->heartbeat_clock = fake_boot(&fake)->clock;
			print_message("start %#x, look %zu\n", starts[s], i);
			assert_int_equal(pb_channel_watch(&channel), cases[i].expected);
		}
		fake_stop(&fake);
	}
}

/* Without a supervisor the clock never moves: nothing may be concluded from a heart that does not beat. */
static void clock_that_stands_still(void **state)
{
	struct fake_bench bench;

	(void)state;
	fake_bench_start(&bench);
	bench.fake.work_limit = 0;
	assert_int_equal(fake_submit(&bench, 1), PB_ERROR_OK);
	assert_int_equal(pb_queue_wait(&bench.queue, 1, 60000000, NULL), PB_ERROR_TIMEOUT);
	fake_bench_stop(&bench);
}

/* The card's clock goes as fast as the host's, and the heart stops at some moment. */
static uint64_t since;
static uint64_t stops_at;
static void tick(struct fake_firmware *fake, enum fake_moment moment)
{
	if (moment != FAKE_WAIT)
		return;
	fake_boot(fake)->clock = (uint32_t)(fake->now - since);
	if (fake->now < stops_at)
		fake_boot(fake)->heartbeat_clock = fake_boot(fake)->clock;
	else
		fake->stalled = true;
}

static enum pb_error wait_for_fence(struct fake_bench *bench)
{
	return pb_queue_wait(&bench->queue, 99, 1000000, NULL);
}
static enum pb_error wait_for_reply(struct fake_bench *bench)
{
	const uint32_t none[PB_COMMAND_ARGUMENTS] = {0};

	bench->fake.defer = true;
	return pb_channel_command(&bench->channel, PB_COMMAND_PING, none, NULL);
}
static enum pb_error wait_for_preemption(struct fake_bench *bench)
{
	bench->fake.defer = true;
	return pb_queue_preempt(&bench->queue, 1, 0, NULL);
}
static enum pb_error wait_for_detach(struct fake_bench *bench)
{
	bench->fake.stalled = true;
	return pb_channel_detach(&bench->channel);
}
static enum pb_error wait_for_record(struct fake_bench *bench)
{
	struct pb_fence fence;

	fake_record(bench)->sequence = 1;
	stops_at = bench->fake.now;
	return pb_queue_fence(&bench->queue, &fence);
}

static void every_wait_notices(void **state)
{
	static const struct {
		const char *name;
		enum pb_error (*waits)(struct fake_bench *bench);
		uint32_t lives; /* microseconds from the begin on */
	} cases[] = {
		{"fence", wait_for_fence, 0},           {"fence, later", wait_for_fence, 77777},
		{"reply", wait_for_reply, 0},           {"reply, later", wait_for_reply, 77777},
		{"preemption", wait_for_preemption, 0}, {"preemption, later", wait_for_preemption, 77777},
		{"detach", wait_for_detach, 0},         {"half a record", wait_for_record, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_bench bench;
		uint64_t begin;

		print_message("%s\n", cases[i].name);
		fake_bench_start(&bench);
		since = 5000; /* the clock wraps on its way */
		begin = bench.fake.now;
		stops_at = begin + cases[i].lives;
		fake_boot(&bench.fake)->clock = (uint32_t)(begin - since);
		fake_boot(&bench.fake)->heartbeat_clock = (uint32_t)(begin - since);
		bench.fake.tamper = tick;
		assert_int_equal(cases[i].waits(&bench), PB_ERROR_FIRMWARE_DEAD);
		/* A look apart at most. */
		assert_in_range(bench.fake.now - begin, cases[i].lives + 5999, cases[i].lives + 10000);
		fake_stop(&bench.fake);
	}
}

/* A firmware that calls itself running but stands still: attach tells death from slowness. */
static void attach_to_a_heart_that_stands_still(void **state)
{
	struct fake_firmware fake;
	struct pb_channel channel;

	(void)state;
	fake_start(&fake);
	since = 0;
	stops_at = 0;
	fake.tamper = tick;
	assert_int_equal(pb_channel_attach(&channel, &fake.link, 50000), PB_ERROR_FIRMWARE_DEAD);
	assert_int_equal(fake.now, 1000 + 50000);
	fake_stop(&fake);
}

UNIT_SUITE(test_host_watch)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(look_after_look),
		cmocka_unit_test(clock_that_stands_still),
		cmocka_unit_test(every_wait_notices),
		cmocka_unit_test(attach_to_a_heart_that_stands_still),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
