/* SPDX-License-Identifier: MIT */
/*
 * The other side acts between any two accesses of the library to card memory:
 * a record changes under the reader, the firmware dies or reboots at step N.
 */
#include <string.h>

#include "tests/unit/fake_firmware.h"
#include "tests/unit/stepped.h"
#include "tests/unit/unit.h"

static struct fake_bench bench;
static uint32_t step;
static uint32_t first_step; /* act at this one ... */
static uint32_t last_step;  /* ... and at this one, not before the first */
static void (*first_act)(void);
static void (*last_act)(void);

static void arm(uint32_t first, void (*act)(void), uint32_t last, void (*end)(void))
{
	step = 0;
	first_step = first;
	first_act = act;
	last_step = last;
	last_act = end;
}

static void next_step(void)
{
	if (first_act != NULL && step == first_step)
		first_act();
	if (last_act != NULL && step == last_step)
		last_act();
	step++;
}

uint32_t pb_stepped_read32(const uint32_t *address)
{
	next_step();
	return *address;
}

void pb_stepped_write32(uint32_t *address, uint32_t value)
{
	next_step();
	*address = value;
}

/* ---- a record that changes while it is read ---- */

static void begin_record(void)
{
	struct pb_fence_record *record = fake_record(&bench);

	record->sequence++;
	record->completed = 2;
	record->timeline_low = 2;
	record->status = 6;
}

static void end_record(void)
{
	struct pb_fence_record *record = fake_record(&bench);

	record->fence_id = 71;
	record->errors = 9;
	record->sequence++;
}

/* Whole before or whole after, whatever steps the change begins and ends at. */
static void record_is_read_whole(void **state)
{
	uint32_t seen[3] = {0};

	(void)state;
	for (uint32_t first = 0; first < 40; first++)
		for (uint32_t last = first; last < 60; last++) {
			struct pb_fence fence;

			arm(0, NULL, 0, NULL);
			fake_bench_start(&bench);
			bench.fake.work_limit = 1;
			assert_int_equal(fake_submit(&bench, 70), PB_ERROR_OK);
			assert_int_equal(fake_submit(&bench, 71), PB_ERROR_OK);
			assert_int_equal(pb_queue_wait(&bench.queue, 1, 1000, NULL), PB_ERROR_OK);
			arm(first, begin_record, last, end_record);
			assert_int_equal(pb_queue_fence(&bench.queue, &fence), PB_ERROR_OK);
			assert_in_range(fence.completed, 1, 2);
			seen[fence.completed]++;
			assert_int_equal(fence.timeline, fence.completed);
			assert_int_equal(fence.fence_id, 69 + fence.completed);
			assert_int_equal(fence.errors, fence.completed == 2 ? 9 : 0);
			arm(0, NULL, 0, NULL);
			fake_bench_stop(&bench);
		}
	assert_true(seen[1] > 100);
	assert_true(seen[2] > 100);
}

/* ---- a host that gets no processor for a while ---- */

static void time_goes_by(void)
{
	fake_boot(&bench.fake)->clock += 4 * PB_HEARTBEAT_US;
	fake_boot(&bench.fake)->heartbeat_clock = fake_boot(&bench.fake)->clock;
}

/* Time that passes between two of its reads is no silence of the firmware. */
static void slow_host_calls_no_firmware_dead(void **state)
{
	(void)state;
	for (uint32_t first = 0; first < 12; first++)
		for (uint32_t last = first; last < 12; last++) {
			arm(0, NULL, 0, NULL);
			fake_bench_start(&bench);
			assert_int_equal(pb_channel_watch(&bench.channel), PB_ERROR_OK);
			arm(first, time_goes_by, last, time_goes_by);
			for (uint32_t i = 0; i < 8; i++)
				assert_int_equal(pb_channel_watch(&bench.channel), PB_ERROR_OK);
			assert_true(step > last);
			arm(0, NULL, 0, NULL);
			fake_bench_stop(&bench);
		}
}

/* ---- a firmware that goes away at step N ---- */

static void die(void)
{
	fake_die(&bench.fake);
}

/* As a boot does it: first the stage, then the rings, and only once it runs the new incarnation. */
static void start_to_reboot(void)
{
	fake_boot(&bench.fake)->boot_stage = PB_BOOT_STAGE_STARTED;
	memset(&fake_entry(&bench.fake)->attach_done, 0, 128);
	memset(fake_word(&bench.fake, FAKE_REPLY_OFFSET), 0, 512);
}

static void run_again(struct fake_firmware *fake, enum fake_moment moment)
{
	if (moment != FAKE_WAIT || fake_boot(fake)->boot_stage != PB_BOOT_STAGE_STARTED)
		return;
	fake_boot(fake)->incarnation++;
	fake_boot(fake)->boot_stage = PB_BOOT_STAGE_RUNNING;
}

/* Submits, takes it back, asks what came of it, and submits again. */
static enum pb_error take_back(void)
{
	struct pb_queue_resync resync;
	struct pb_preempt last;
	enum pb_error error;

	bench.fake.work_limit = 1;
	error = fake_submit(&bench, 20);
	if (error == PB_ERROR_OK)
		error = fake_submit(&bench, 21);
	if (error == PB_ERROR_OK)
		error = pb_queue_preempt(&bench.queue, 5, 0, &last);
	if (error == PB_ERROR_OK)
		error = pb_queue_preempted(&bench.queue, &last);
	if (error == PB_ERROR_OK)
		error = pb_queue_resync(&bench.queue, &resync);
	if (error == PB_ERROR_OK)
		error = pb_queue_reset(&bench.queue, NULL);
	bench.fake.work_limit = UINT32_MAX;
	return error;
}

/* Everything that a host does, once; stops at the first error. */
static enum pb_error life(void)
{
	const struct pb_segment_request request = {
		.os_base = FAKE_OS_BASE, .size = 0x10000, .backing_bytes = 0x10000};
	struct pb_channel *channel = &bench.channel;
	uint32_t context;
	enum pb_error error = pb_channel_attach(channel, &bench.fake.link, 50000);

	if (error == PB_ERROR_OK)
		error = pb_segment_create(&bench.system, channel, &request);
	if (error == PB_ERROR_OK)
		error = pb_context_create(channel, &context);
	if (error == PB_ERROR_OK)
		error = pb_queue_create(&bench.queue, channel, &bench.system, 0, 4);
	for (uint32_t i = 0; i < 6 && error == PB_ERROR_OK; i++) {
		error = fake_submit(&bench, i);
		if (error == PB_ERROR_NO_SPACE)
			error = pb_queue_wait(&bench.queue, i, 1000000, NULL);
	}
	if (error == PB_ERROR_OK)
		error = pb_queue_wait(&bench.queue, bench.queue.timeline, 1000000, NULL);
	if (error == PB_ERROR_OK)
		error = take_back();
	if (error == PB_ERROR_OK)
		error = pb_queue_destroy(&bench.queue);
	return error == PB_ERROR_OK ? pb_channel_detach(channel) : error;
}

static enum pb_error life_with(uint32_t at, void (*act)(void))
{
	enum pb_error error;

	arm(at, act, 0, NULL);
	fake_start(&bench.fake);
	bench.fake.tamper = run_again;
	error = life();
	/* An attach waits its time out for a firmware that may come back; nothing else waits for a dead one. */
	assert_true(bench.fake.now <= 1000 + 50000 + 200 * FAKE_PASS_US + 2000);
	fake_stop(&bench.fake);
	return error;
}

static void firmware_goes_away_at_any_step(void **state)
{
	uint32_t steps;

	(void)state;
	assert_int_equal(life_with(UINT32_MAX, NULL), PB_ERROR_OK);
	steps = step;
	assert_true(steps > 300);
	for (uint32_t at = 0; at < steps; at++) {
		enum pb_error error = life_with(at, die);
		bool late = at + 100 > steps; /* its last answer may be out by then */

		if (error != PB_ERROR_FIRMWARE_DEAD && !(late && error == PB_ERROR_OK))
			fail_msg("dead at step %u: %s", at, pb_error_name(error));
		error = life_with(at, start_to_reboot);
		/* An attach starts over. */
		if (error != PB_ERROR_FIRMWARE_DEAD && error != PB_ERROR_OK)
			fail_msg("reboot at step %u: %s", at, pb_error_name(error));
	}
}

UNIT_SUITE(test_host_steps)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(record_is_read_whole),
		cmocka_unit_test(slow_host_calls_no_firmware_dead),
		cmocka_unit_test(firmware_goes_away_at_any_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
