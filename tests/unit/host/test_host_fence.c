/* SPDX-License-Identifier: MIT */
/* Fence records and waits, and what they do when the record or the firmware goes bad. */
#include "tests/unit/fake_firmware.h"
#include "tests/unit/unit.h"

static void fence_is_the_record(void **state)
{
	struct fake_bench bench;
	struct pb_fence fence;

	(void)state;
	fake_bench_start(&bench);
	assert_int_equal(pb_queue_fence(&bench.queue, &fence), PB_ERROR_OK);
	assert_false(fence.valid);
	assert_true(fence.timeline == 0);
	assert_int_equal(fake_submit(&bench, 0), PB_ERROR_OK);
	*fake_record(&bench) = (struct pb_fence_record){2, 1,      3, 4,  5,  6,  bench.channel.epoch,
							1, {0, 0}, 9, 10, 11, 12, {0, 0}};
	bench.channel.entry->patches_low = 7;
	bench.channel.entry->patches_high = 8;
	assert_int_equal(pb_queue_fence(&bench.queue, &fence), PB_ERROR_OK);
	assert_int_equal(fence.completed, 1);
	assert_true(fence.timeline == 0x400000003);
	assert_int_equal(fence.fence_id, 5);
	assert_int_equal(fence.status, 6);
	assert_true(fence.valid);
	assert_true(fence.patches == 0x800000007);
	assert_int_equal(fence.error, 9);
	assert_int_equal(fence.error_fence_id, 10);
	assert_int_equal(fence.error_index, 11);
	assert_int_equal(fence.errors, 12);
	fake_bench_stop(&bench);
}

static void fence_trusts_no_record(void **state)
{
	static const struct {
		const char *name;
		uint32_t sequence;
		uint32_t completed; /* 3 were submitted, 2 completed and seen */
		uint32_t epoch;     /* added to the right one */
		void (*happens)(struct fake_firmware *fake);
		enum pb_error expected;
	} cases[] = {
		{"sound", 6, 3, 0, fake_nothing, PB_ERROR_OK},
		{"odd", 5, 2, 0, fake_nothing, PB_ERROR_PROTOCOL},
		{"odd and dead", 5, 2, 0, fake_die, PB_ERROR_FIRMWARE_DEAD},
		{"odd and gone", 5, 2, 0, fake_unplug, PB_ERROR_NO_CARD},
		{"odd and faulted", 5, 2, 0, fake_fault_channel, PB_ERROR_DETACHED},
		{"beyond put", 4, 4, 0, fake_nothing, PB_ERROR_PROTOCOL},
		{"back", 4, 1, 0, fake_nothing, PB_ERROR_PROTOCOL},
		{"back by reboot", 4, 0, 0, fake_reboot, PB_ERROR_FIRMWARE_DEAD},
		{"another epoch", 4, 2, 1, fake_nothing, PB_ERROR_DETACHED},
		{"another epoch by reboot", 4, 2, 1, fake_reboot, PB_ERROR_FIRMWARE_DEAD},
		{"sound though dead", 6, 3, 0, fake_die, PB_ERROR_OK},
		{"sound, but another's by reboot", 6, 3, 0, fake_reboot, PB_ERROR_FIRMWARE_DEAD},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_bench bench;
		struct pb_fence fence;
		uint64_t begin;

		print_message("%s\n", cases[i].name);
		fake_bench_start(&bench);
		bench.fake.work_limit = 2;
		for (uint32_t k = 0; k < 3; k++)
			assert_int_equal(fake_submit(&bench, k), PB_ERROR_OK);
		assert_int_equal(pb_queue_wait(&bench.queue, 2, 1000, &fence), PB_ERROR_OK);
		fake_record(&bench)->sequence = cases[i].sequence;
		fake_record(&bench)->completed = cases[i].completed;
		fake_record(&bench)->epoch += cases[i].epoch;
		cases[i].happens(&bench.fake);
		begin = bench.fake.now;
		assert_int_equal(pb_queue_fence(&bench.queue, &fence), cases[i].expected);
		assert_true(bench.fake.now - begin <= 100000);
		assert_int_equal(pb_queue_wait(&bench.queue, 2, 1000000, NULL), cases[i].expected);
		bench.channel.attached = false;
		assert_int_equal(pb_queue_fence(&bench.queue, &fence), PB_ERROR_DETACHED);
		fake_bench_stop(&bench);
	}
}

static void heal_at_third_wait(struct fake_firmware *fake, enum fake_moment moment)
{
	if (moment == FAKE_WAIT && fake->waits == 3)
		fake_page(fake, 0)->fence.sequence++;
}

/* A writer that lost its processor in the middle comes back. */
static void half_written_record_is_waited_for(void **state)
{
	struct fake_bench bench;
	struct pb_fence fence;

	(void)state;
	fake_bench_start(&bench);
	fake_record(&bench)->sequence = 1;
	bench.fake.waits = 0;
	bench.fake.tamper = heal_at_third_wait;
	assert_int_equal(pb_queue_fence(&bench.queue, &fence), PB_ERROR_OK);
	assert_int_equal(bench.fake.waits, 3);
	fake_bench_stop(&bench);
}

static void wait_ends_when_the_value_is_reached(void **state)
{
	static const struct {
		uint64_t value;
		uint32_t work;
		enum pb_error expected;
		uint32_t completed;
	} cases[] = {
		{0, 0, PB_ERROR_OK, 0},      {1, 1, PB_ERROR_OK, 1},      {1, 3, PB_ERROR_OK, 3},
		{3, 2, PB_ERROR_TIMEOUT, 2}, {4, 3, PB_ERROR_TIMEOUT, 3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_bench bench;
		struct pb_fence fence;
		uint64_t begin;

		fake_bench_start(&bench);
		bench.fake.work_limit = cases[i].work;
		for (uint32_t k = 0; k < 3; k++)
			assert_int_equal(fake_submit(&bench, 70 + k), PB_ERROR_OK);
		begin = bench.fake.now;
		assert_int_equal(pb_queue_wait(&bench.queue, cases[i].value, 250000, &fence),
				 cases[i].expected);
		assert_int_equal(fence.completed, cases[i].completed);
		assert_true(bench.fake.now - begin <= 250000 + FAKE_PASS_US);
		assert_true((bench.fake.now - begin >= 250000) == (cases[i].expected == PB_ERROR_TIMEOUT));
		fake_bench_stop(&bench);
	}
}

static void fail_work(struct fake_firmware *fake, enum fake_moment moment)
{
	if (moment == FAKE_COMPLETED)
		fake_page(fake, 0)->fence.status = PB_ERROR_PATCH_RANGE;
}

static void failed_work_ends_the_wait_too(void **state)
{
	struct fake_bench bench;
	struct pb_fence fence;

	(void)state;
	fake_bench_start(&bench);
	bench.fake.tamper = fail_work;
	assert_int_equal(fake_submit(&bench, 1), PB_ERROR_OK);
	assert_int_equal(pb_queue_wait(&bench.queue, 1, UINT64_MAX, &fence), PB_ERROR_OK);
	assert_int_equal(fence.status, PB_ERROR_PATCH_RANGE);
	fake_bench_stop(&bench);
}

static void (*fate)(struct fake_firmware *fake);
static void fate_at_second_wait(struct fake_firmware *fake, enum fake_moment moment)
{
	if (moment == FAKE_WAIT && fake->waits == 2)
		fate(fake);
}

static void wait_ends_soon_after_the_firmware(void **state)
{
	static const struct {
		void (*happens)(struct fake_firmware *fake);
		enum pb_error expected;
	} cases[] = {
		{fake_die, PB_ERROR_FIRMWARE_DEAD},      {fake_fail, PB_ERROR_FIRMWARE_DEAD},
		{fake_reboot, PB_ERROR_FIRMWARE_DEAD},   {fake_close_channel, PB_ERROR_DETACHED},
		{fake_fault_channel, PB_ERROR_DETACHED}, {fake_unplug, PB_ERROR_NO_CARD},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_bench bench;

		fake_bench_start(&bench);
		bench.fake.work_limit = 0;
		assert_int_equal(fake_submit(&bench, 1), PB_ERROR_OK);
		bench.fake.waits = 0;
		fate = cases[i].happens;
		bench.fake.tamper = fate_at_second_wait;
		assert_int_equal(pb_queue_wait(&bench.queue, 1, UINT64_MAX, NULL), cases[i].expected);
		assert_int_equal(bench.fake.waits, 2);
		assert_int_equal(fake_submit(&bench, 2),
				 cases[i].expected == PB_ERROR_NO_CARD ? PB_ERROR_OK : cases[i].expected);
		fake_bench_stop(&bench);
	}
}

UNIT_SUITE(test_host_fence)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fence_is_the_record),
		cmocka_unit_test(fence_trusts_no_record),
		cmocka_unit_test(half_written_record_is_waited_for),
		cmocka_unit_test(wait_ends_when_the_value_is_reached),
		cmocka_unit_test(failed_work_ends_the_wait_too),
		cmocka_unit_test(wait_ends_soon_after_the_firmware),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
