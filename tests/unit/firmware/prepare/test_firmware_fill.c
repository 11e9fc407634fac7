/* SPDX-License-Identifier: MIT */
/* While a queue waits for a job that is not free, submissions of another queue that need none run on its node. */
#include "firmware/instance.h"
#include "tests/unit/puppet_bench.h"

#define REPAY 100000u

static struct pb_queue fills;

/** The bench's queue waits for a job, as other nodes have all; the other queue is ready whenever it has a submission. */
static void wait_for_job(void)
{
	const struct pb_descriptor waits = {.context = puppet_bench.contexts[0], .patch_length = 24};

	assert_int_equal(pb_queue_create(&fills, &puppet_bench.channel, &puppet_bench.system, 0, 8),
			 PB_ERROR_OK);
	puppet_bench.firmware->jobs.free = 0;
	assert_int_equal(pb_queue_submit(&puppet_bench.queue, &waits), PB_ERROR_OK);
}

/** A submission that needs no job, and for which the engine takes some time. @param microseconds of the card and the engine */
static void run_one(uint32_t microseconds)
{
	const struct pb_descriptor descriptor = {.context = puppet_bench.contexts[0],
						 .dma_address_low = PUPPET_DMA,
						 .dma_size = 4096,
						 .dma_end = 4};

	assert_int_equal(pb_queue_submit(&fills, &descriptor), PB_ERROR_OK);
	/* The time before is not its own. */
	assert_true(puppet_bench.firmware->nodes[0].retirement.uncharged);
	puppet_bench.clock += microseconds;
	puppet_bench.puppet.time += microseconds;
	puppet_finish(puppet_bench.puppet.sequence + 1u);
}

/** A lower priority is repaid by all the time for which a higher one has the node, also while its engine has nothing to run. */
static void gaps_between_submissions_repay_lower_priorities(void **state)
{
	static const struct {
		uint32_t gap, run; /* microseconds */
	} rows[] = {{0, 300}, {700, 300}, {700, 0}, {5000, 1}, {90000, 20000}};

	(void)state;
	wait_for_job();
	run_one(1);
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pb_core_fair *fair = &puppet_bench.firmware->nodes[0].fair;
		const uint32_t time = rows[i].gap + rows[i].run;

		fair->at[PB_PRIORITY_LOW].repay_us = REPAY;
		fair->at[PB_PRIORITY_HIGH].repay_us = REPAY;
		fair->repays = 1u << PB_PRIORITY_LOW | 1u << PB_PRIORITY_HIGH;
		puppet_bench.clock += rows[i].gap;
		run_one(rows[i].run);
		assert_int_equal(fair->at[PB_PRIORITY_LOW].repay_us, time < REPAY ? REPAY - time : 0);
		assert_int_equal(fair->at[PB_PRIORITY_HIGH].repay_us, REPAY);
	}
}

UNIT_SUITE(test_firmware_fill)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(gaps_between_submissions_repay_lower_priorities, puppet_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
