/* SPDX-License-Identifier: MIT */
/*
 * What wakes nobody must not be lost: words that a host stores while the
 * firmware falls asleep, queues behind the first slice of a rescan, waiters
 * behind one that leaves. And records that change are seen to have changed.
 */
#include <string.h>

#include "firmware/core.h"
#include "tests/unit/puppet_bench.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define QUEUES       7u

static void no_doorbell(struct pb_link *link)
{
	(void)link;
}

/* From now on the host stores without ringing. */
static void silence(void)
{
	static struct pb_link_ops ops;

	ops = *puppet_bench.link.ops;
	ops.doorbell = no_doorbell;
	puppet_bench.link.ops = &ops;
}

/* ---- falling asleep ---- */

static uint32_t *stored; /* the word that a host stores as the firmware falls asleep */
static uint32_t slept;

static void store_late(void *context)
{
	(void)context;
	if (stored != NULL)
		(*stored)++;
}

static void sleep_now(void *context)
{
	(void)context;
	slept++;
}

static void wake(void *context)
{
	(void)context;
}

static uint32_t sleeps_over(uint32_t *word)
{
	static struct pb_lines_ops ops;

	ops = pb_host_lines_ops;
	ops.idle_enter = store_late;
	ops.idle_wait = sleep_now;
	ops.idle_leave = wake;
	puppet_bench.lines.ops = &ops;
	stored = word;
	slept = 0;
	pb_firmware_idle(puppet_bench.firmware);
	puppet_bench.lines.ops = &pb_host_lines_ops;
	return slept;
}

static void words_stored_on_the_way_to_sleep(void **state)
{
	struct pb_channel_entry *const entry = puppet_bench.channel.entry;
	struct pb_channel_entry *const closed = entry + 1;

	(void)state;
	assert_int_equal(sleeps_over(NULL), 1);
	assert_int_equal(sleeps_over(&entry->kick_put), 0);
	entry->kick_put--;
	assert_int_equal(sleeps_over(&entry->rescan), 0);
	entry->rescan--;
	assert_int_equal(sleeps_over(&entry->control_put), 0);
	entry->control_put--;
	assert_int_equal(sleeps_over(&entry->attach_request), 0);
	entry->attach_request--;
	assert_int_equal(sleeps_over(NULL), 1);
	/* Of a channel that nobody has attached to, one word counts. */
	assert_int_equal(sleeps_over(&closed->kick_put), 1);
	assert_int_equal(sleeps_over(&closed->rescan), 1);
	assert_int_equal(sleeps_over(&closed->control_put), 1);
	assert_int_equal(sleeps_over(&closed->attach_request), 0);
}

/* What was found there is done, although no line is raised. */
static void found_on_the_way_to_sleep(void **state)
{
	(void)state;
	silence();
	puppet_submit(0, 1);
	puppet_run(0);
	assert_int_equal(puppet_bench.puppet.count, 0);
	assert_int_equal(sleeps_over(NULL), 0);
	puppet_run(0);
	assert_int_equal(puppet_bench.puppet.count, 1);
}

/* ---- kicks and rescans ---- */

static struct pb_queue queues[QUEUES];

static void make_queues(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(
			pb_queue_create(&queues[i], &puppet_bench.channel, &puppet_bench.system, 0, 4),
			PB_ERROR_OK);
}

static void submit_to(struct pb_queue *queue, uint32_t fence_id)
{
	const struct pb_descriptor descriptor = {.context = puppet_bench.contexts[0],
						 .fence_id = fence_id,
						 .dma_address_low = PUPPET_DMA,
						 .dma_size = 4096,
						 .dma_end = 4};

	assert_int_equal(pb_queue_submit(queue, &descriptor), PB_ERROR_OK);
}

static uint32_t completed_of(struct pb_queue *queue)
{
	uint32_t completed;

	assert_int_equal(pb_queue_completed(queue, &completed), PB_ERROR_OK);
	return completed;
}

/* One doorbell for all queues of a channel, more than a slice looks at. */
static void all_queues_of_a_rescan(void **state)
{
	(void)state;
	make_queues(QUEUES);
	silence();
	for (uint32_t i = 0; i < QUEUES; i++)
		submit_to(&queues[i], i);
	puppet_bench.channel.entry->kick_put -= QUEUES;
	puppet_bench.channel.entry->rescan++;
	puppet_run(1u << PB_LINE_CHANNEL(1));
	for (uint32_t i = 1; i <= QUEUES; i++)
		puppet_finish(i);
	for (uint32_t i = 0; i < QUEUES; i++)
		assert_int_equal(completed_of(&queues[i]), 1);
}

/* A kick for a queue that is gone is an error of the host's, of which it is told. */
static void kick_for_a_queue_that_is_gone(void **state)
{
	struct pb_channel *channel = &puppet_bench.channel;
	uint32_t *kicks = (uint32_t *)(void *)(puppet_memory + channel->kick_offset);
	struct pb_event event;

	(void)state;
	make_queues(1);
	assert_int_equal(pb_queue_destroy(&queues[0]), PB_ERROR_OK);
	assert_false(pb_channel_event(channel, &event));
	kicks[channel->kick_put % channel->kick_entries] = queues[0].handle;
	channel->entry->kick_put = ++channel->kick_put;
	puppet_run(1u << PB_LINE_CHANNEL(1));
	assert_true(pb_channel_event(channel, &event));
	assert_int_equal(event.type, PB_EVENT_QUEUE_FAULT);
	assert_int_equal(event.error, PB_ERROR_BAD_HANDLE);
	assert_int_equal(event.queue, queues[0].handle);
	assert_false(pb_channel_event(channel, &event));
}

/* ---- waiters ---- */

static void submit_waiting(struct pb_queue *queue, const struct pb_memory *list,
			   const struct pb_queue *target)
{
	const struct pb_descriptor descriptor = {.context = puppet_bench.contexts[0],
						 .wait_address_low = (uint32_t)list->os_address,
						 .wait_count = 1};

	pb_wait_on((struct pb_wait *)(void *)list->bytes_host, target, 1);
	assert_int_equal(pb_queue_submit(queue, &descriptor), PB_ERROR_OK);
}

/* Whichever of them leaves, in any order: the others are woken. */
static void waiters_that_leave(void **state)
{
	for (uint32_t leaving = 1; leaving < 16u; leaving++) {
		struct pb_memory list;
		uint32_t left = 4;

		assert_int_equal(puppet_start(state), 0);
		make_queues(4);
		assert_int_equal(
			pb_memory_allocate(&puppet_bench.system, PB_LINE_BYTES, PB_LINE_BYTES, &list),
			PB_ERROR_OK);
		for (uint32_t i = 0; i < 4; i++)
			submit_waiting(&queues[i], &list, &puppet_bench.queue);
		for (uint32_t i = 0; i < 4; i++) {
			if ((leaving >> i & 1u) == 0)
				continue;
			assert_int_equal(pb_queue_destroy(&queues[i]), PB_ERROR_OK);
			left--;
		}
		puppet_submit(0, 1);
		for (uint32_t i = 1; i <= 1u + left; i++)
			puppet_finish(i);
		for (uint32_t i = 0; i < 4; i++) {
			if ((leaving >> i & 1u) == 0)
				assert_int_equal(completed_of(&queues[i]), 1);
		}
	}
}

/* A queue that is destroyed while the engine has work of it: its waiters are told at once, and it goes when that is done. */
static void closed_with_work_and_waiters(void **state)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {puppet_bench.queue.handle};
	struct pb_memory list;
	struct pb_fence fence;
	uint32_t tag;

	(void)state;
	make_queues(1);
	assert_int_equal(pb_memory_allocate(&puppet_bench.system, PB_LINE_BYTES, PB_LINE_BYTES, &list),
			 PB_ERROR_OK);
	puppet_submit(0, 1);
	submit_waiting(&queues[0], &list, &puppet_bench.queue);
	assert_int_equal(pb_channel_begin(&puppet_bench.channel, PB_COMMAND_QUEUE_DESTROY, arguments, &tag),
			 PB_ERROR_OK);
	assert_int_equal(puppet_bench.puppet.count, 2);
	assert_int_equal(pb_channel_finish(&puppet_bench.channel, tag, NULL), PB_ERROR_TIMEOUT);
	puppet_finish(2);
	assert_int_equal(pb_channel_finish(&puppet_bench.channel, tag, NULL), PB_ERROR_OK);
	assert_int_equal(pb_queue_fence(&queues[0], &fence), PB_ERROR_OK);
	assert_int_equal(fence.status, PB_ERROR_DEP_FAILED);
}

/* ---- records and accounts ---- */

/* Whoever looks twice sees that it has changed: the sequence never comes again. */
static void sequences_only_grow(void **state)
{
	const struct pb_queue_page *page = (const void *)puppet_bench.queue.memory.bytes_host;
	uint32_t last = page->fence.sequence;

	(void)state;
	for (uint32_t step = 0; step < 8; step++) {
		puppet_submit(0, step);
		if (step % 4 == 0) {
			puppet_finish(puppet_bench.puppet.sequence + 1u);
		} else if (step % 4 == 1) {
			/* It is taken back. */
			const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {puppet_bench.queue.handle,
									  puppet_bench.queue.put, step};
			uint32_t tag;

			assert_int_equal(
				pb_channel_begin(&puppet_bench.channel, PB_COMMAND_PREEMPT, arguments, &tag),
				PB_ERROR_OK);
			puppet_stop_done(puppet_bench.puppet.sequence, 0);
			assert_int_equal(pb_channel_finish(&puppet_bench.channel, tag, NULL), PB_ERROR_OK);
			/* The library starts from the last one completed. */
			puppet_bench.queue.timeline = page->fence.timeline_low;
		} else if (step % 4 == 2) {
			puppet_bench.puppet.state = PB_ENGINE_FAULTED;
			puppet_run(1u << PB_LINE_NODE(0));
			puppet_reset_done();
			puppet_run(1u << PB_LINE_NODE(0));
			puppet_finish(1);
			assert_int_equal(page->fence.error, PB_ERROR_ENGINE_FAULT);
		} else {
			puppet_finish(puppet_bench.puppet.sequence + 1u);
			assert_int_equal(pb_queue_clear(&puppet_bench.queue), PB_ERROR_OK);
			assert_int_equal(pb_context_clear(&puppet_bench.channel, puppet_bench.contexts[0]),
					 PB_ERROR_OK);
		}
		assert_int_equal(page->fence.sequence % 2, 0);
		assert_in_range(page->fence.sequence - last, 2, 8);
		last = page->fence.sequence;
	}
}

/* What a level owes the more urgent ones does not wrap. */
static void debts_of_a_level_do_not_wrap(void **state)
{
	struct pb_core_node *node = &puppet_bench.firmware->nodes[0];
	struct pb_core_queue *queue =
		&puppet_bench.firmware->queues[PB_HANDLE_INDEX(puppet_bench.queue.handle)];
	struct pb_core_level *level = &node->level[PB_PRIORITY_NORMAL];
	const struct pb_core_work work = {.queue = queue, .guarded = true};
	static const uint32_t owed[] = {0, 1000, UINT32_MAX - 8u * PB_BYPASS_TIMES, UINT32_MAX - 1u,
					UINT32_MAX};

	(void)state;
	for (uint32_t i = 0; i < COUNT(owed); i++) {
		const uint32_t room = (UINT32_MAX - owed[i]) / PB_BYPASS_TIMES;

		level->owed = owed[i];
		pb_core_schedule_charge(node, &work, 1000);
		assert_int_equal(level->owed, owed[i] + (room < 1000u ? room : 1000u) * PB_BYPASS_TIMES);
	}
	level->owed = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(words_stored_on_the_way_to_sleep, puppet_start),
		cmocka_unit_test_setup(found_on_the_way_to_sleep, puppet_start),
		cmocka_unit_test_setup(all_queues_of_a_rescan, puppet_start),
		cmocka_unit_test_setup(kick_for_a_queue_that_is_gone, puppet_start),
		cmocka_unit_test(waiters_that_leave),
		cmocka_unit_test_setup(closed_with_work_and_waiters, puppet_start),
		cmocka_unit_test_setup(sequences_only_grow, puppet_start),
		cmocka_unit_test_setup(debts_of_a_level_do_not_wrap, puppet_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
