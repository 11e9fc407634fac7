/* SPDX-License-Identifier: MIT */
/* What ends although the engine does not: a preemption forced by a reset, and work under an engine that runs nothing. */
#include "qemu/engine.h"
#include "tests/unit/card_fixture.h"

#define ENDLESS_US 100000000u
#define STOP_ID    0x5151u
#define FIRST_LOST 71u /**< fence id of the endless work */

static struct card card;
static uint32_t other; /**< a context that has nothing to do with the endless work */

static void submit_busy(uint32_t slot, uint32_t fence_id, uint32_t microseconds)
{
	uint32_t *words = card_dma(&card, slot);
	struct pb_descriptor descriptor;

	words[0] = PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS);
	words[1] = microseconds;
	descriptor = card_descriptor(&card, slot, PB_PACKET_BUSY_WORDS * 4u, 0, 0);
	descriptor.fence_id = fence_id;
	if (fence_id != FIRST_LOST)
		descriptor.context = other;
	card_submit(&card, 0, &descriptor);
}

/** The buffer that runs gets on, so that the preemption waits for it. What the reset is told comes second. */
static void reset_forces_a_preemption(void **state)
{
	struct pb_queue *queue = &card.queues[0];
	struct pb_preempt preempt;
	struct pb_preempt reset;

	(void)state;
	card_start(&card);
	assert_int_equal(pb_context_create(&card.channel, &other), PB_ERROR_OK);
	submit_busy(0, 70, 10);
	submit_busy(1, 71, ENDLESS_US);
	submit_busy(2, 72, 10);
	submit_busy(3, 73, 10);
	card_run(&card, 1000);
	assert_int_equal(pb_queue_preempt_begin(queue, STOP_ID, 0), PB_ERROR_OK);
	card_run(&card, 500000);
	assert_int_equal(pb_queue_preempt_finish(queue, &preempt), PB_ERROR_TIMEOUT);
	submit_busy(4, 74, 10); /* behind the preemption, before the reset */
	assert_int_equal(pb_queue_reset(queue, &reset), PB_ERROR_OK);
	assert_int_equal(reset.fence_id, 71);
	assert_true(reset.valid);
	assert_int_equal(reset.completed, 5);
	assert_int_equal(reset.returned, 1);
	assert_int_equal(pb_queue_preempt_finish(queue, &preempt), PB_ERROR_OK);
	assert_int_equal(preempt.preemption_id, STOP_ID);
	assert_int_equal(preempt.fence_id, 71);
	assert_int_equal(preempt.completed, 4);
	assert_int_equal(preempt.returned, 2);
	assert_false(preempt.started);
	/* Both are over. */
	assert_int_equal(pb_context_clear(&card.channel, other), PB_ERROR_OK);
	submit_busy(5, 75, 10);
	assert_int_equal(card_wait(&card, 0, 6).fence_id, 75);
	card_stop(&card);
}

/** A reset beside a reset that forces, and beside a suspension. */
static void one_reset_at_a_time(void **state)
{
	struct pb_queue *queue = &card.queues[0];
	uint32_t arguments[PB_COMMAND_ARGUMENTS] = {0, 0, 1};
	uint32_t tags[2];
	uint32_t suspend;

	(void)state;
	card_start(&card);
	assert_int_equal(pb_context_create(&card.channel, &other), PB_ERROR_OK);
	arguments[1] = queue->handle;
	submit_busy(0, 70, ENDLESS_US);
	card_run(&card, 1000);
	assert_int_equal(pb_queue_preempt_begin(queue, STOP_ID, 0), PB_ERROR_OK);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(pb_channel_begin(&card.channel, PB_COMMAND_RESET, arguments, &tags[i]),
				 PB_ERROR_OK);
	card_run(&card, 1000);
	assert_int_equal(pb_channel_finish(&card.channel, tags[0], NULL), PB_ERROR_OK);
	assert_int_equal(pb_channel_finish(&card.channel, tags[1], NULL), PB_ERROR_BUSY);
	assert_int_equal(pb_queue_preempt_finish(queue, NULL), PB_ERROR_OK);

	assert_int_equal(pb_context_clear(&card.channel, other), PB_ERROR_OK);
	submit_busy(0, 71, 50000);
	card_run(&card, 1000);
	assert_int_equal(pb_queue_suspend_begin(queue, 0, &suspend), PB_ERROR_OK);
	assert_int_equal(pb_queue_reset(queue, NULL), PB_ERROR_BUSY);
	card_run(&card, 100000);
	assert_int_equal(pb_channel_finish(&card.channel, suspend, NULL), PB_ERROR_OK);
	card_stop(&card);
}

/** Its resets are answered, and nothing comes of them: each piece of work has its two chances, and fails. */
static void engine_that_runs_nothing(void **state)
{
	const struct pb_engine_model_defects stuck = {.stuck = true};
	const struct pb_engine_model_defects none = {0};
	struct pb_fence fence;

	(void)state;
	card_start(&card);
	assert_int_equal(pb_context_create(&card.channel, &other), PB_ERROR_OK);
	pb_engine_model_set_defects(pb_sim_engine(card.sim, 0), &stuck);
	for (uint32_t i = 0; i < 4; i++)
		submit_busy(i, 70 + i, 10);
	fence = card_wait(&card, 0, 4);
	assert_int_equal(fence.fence_id, 73);
	assert_int_equal(fence.error, PB_ERROR_ENGINE_HANG);
	assert_int_equal(fence.error_fence_id, 70);
	assert_int_equal(fence.errors, 4);
	pb_engine_model_set_defects(pb_sim_engine(card.sim, 0), &none);
	assert_int_equal(pb_context_clear(&card.channel, other), PB_ERROR_OK);
	submit_busy(0, 80, 10);
	assert_int_equal(card_wait(&card, 0, 5).status, PB_ERROR_OK);
	card_stop(&card);
}

/** A queue that is destroyed answers for what was asked of it: else its place among the replies stays taken. */
static void destroyed_queue_answers_for_its_stops(void **state)
{
	(void)state;
	card_start(&card);
	for (uint32_t round = 0; round < 20; round++) {
		struct pb_queue *queue = &card.queues[0];
		const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {queue->handle};
		uint32_t tags[2];

		submit_busy(0, FIRST_LOST, 2000);
		card_run(&card, 1000);
		if (round % 2 == 0)
			assert_int_equal(pb_queue_suspend_begin(queue, 0, &tags[0]), PB_ERROR_OK);
		else
			assert_int_equal(pb_queue_preempt_begin(queue, STOP_ID, 0), PB_ERROR_OK);
		assert_int_equal(
			pb_channel_begin(&card.channel, PB_COMMAND_QUEUE_DESTROY, arguments, &tags[1]),
			PB_ERROR_OK);
		card_run(&card, 200);
		assert_int_equal(round % 2 == 0 ? pb_channel_finish(&card.channel, tags[0], NULL)
						: pb_queue_preempt_finish(queue, NULL),
				 PB_ERROR_CANCELLED);
		assert_int_equal(pb_channel_finish(&card.channel, tags[1], NULL), PB_ERROR_TIMEOUT);
		card_run(&card, 10000);
		assert_int_equal(pb_channel_finish(&card.channel, tags[1], NULL), PB_ERROR_OK);
		pb_memory_free(&queue->memory);
		assert_int_equal(pb_queue_create(queue, &card.channel, &card.segments[0], 0, 16),
				 PB_ERROR_OK);
	}
	card_stop(&card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reset_forces_a_preemption),
		cmocka_unit_test(one_reset_at_a_time),
		cmocka_unit_test(engine_that_runs_nothing),
		cmocka_unit_test(destroyed_queue_answers_for_its_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
