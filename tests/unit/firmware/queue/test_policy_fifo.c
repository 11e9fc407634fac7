/* SPDX-License-Identifier: MIT */
/* The policy of a node that its host orders: its functions on one queue that the test makes up. */
#include <string.h>

#include "firmware/instance.h"
#include "tests/unit/unit.h"

#define PRIORITY PB_PRIORITY_LOW
#define CHANNEL  3u

static struct pb_firmware firmware;
/* The queue of the node, and one of another channel that would outrank it on a scheduled node. */
static struct pb_core_queue queues[2];
static struct pb_core_node *const node = &firmware.nodes[0];

static const struct pb_firmware_config config = {.node_count = 1};

/** A host-ordered node; queue 0 has a submission that is not admitted yet, and is in no list. */
static int start(void **state)
{
	(void)state;
	memset(&firmware, 0, sizeof(firmware));
	memset(queues, 0, sizeof(queues));
	firmware.table.queues = queues;
	firmware.table.count = 2;
	firmware.config = &config;
	node->bit = 1;
	firmware.node_at[0] = node;
	pb_core_schedule_init(node);
	pb_core_schedule_set_mode(node, PB_NODE_HOST_ORDERED);
	for (uint32_t i = 0; i < 2; i++) {
		queues[i].channel = (uint8_t)(CHANNEL + i);
		queues[i].put = 1;
		queues[i].quantum = 1;
		queues[i].identity = (uint8_t)(PB_CORE_QUEUE_OPEN << PB_CORE_QUEUE_STATE_SHIFT |
					       (PRIORITY + i) << PB_CORE_QUEUE_PRIORITY_SHIFT);
		firmware.channels[CHANNEL + i].grants.weight = 1;
	}
	return 0;
}

static void the_mode_selects_the_policy(void **state)
{
	(void)state;
	assert_ptr_equal(node->schedule.policy, &pb_core_policy_fifo);
	assert_int_equal(pb_core_schedule_mode(node), PB_NODE_HOST_ORDERED);
	pb_core_schedule_set_mode(node, PB_NODE_SCHEDULED);
	assert_ptr_equal(node->schedule.policy, &pb_core_policy_fair);
	assert_int_equal(pb_core_schedule_mode(node), PB_NODE_SCHEDULED);
}

static void an_empty_node_has_no_next_queue(void **state)
{
	(void)state;
	assert_null(pb_core_policy_fifo.next(&firmware, node));
	assert_null(node->slice.current);
}

/** The first call takes the queue from the ready list; each later one finds it as the current queue. */
static void the_queue_is_next_until_its_ring_is_empty(void **state)
{
	(void)state;
	queues[0].put = 3;
	pb_core_ready_append(queues, &node->ready, &queues[0]);
	for (uint32_t left = 3; left != 0; left--) {
		assert_ptr_equal(pb_core_policy_fifo.next(&firmware, node), &queues[0]);
		assert_ptr_equal(node->slice.current, &queues[0]);
		assert_int_equal(node->ready.priorities, 0);
		queues[0].put--;
	}
	assert_null(pb_core_policy_fifo.next(&firmware, node));
}

/** A queue that was destroyed with its ring empty leaves the node to the queue that the host creates next. */
static void an_idle_queue_ends_for_the_next_one(void **state)
{
	(void)state;
	pb_core_timeslice_begin(&node->slice, &queues[0]);
	queues[0].put = 0;
	pb_core_ready_append(queues, &node->ready, &queues[1]);
	assert_ptr_equal(pb_core_policy_fifo.next(&firmware, node), &queues[1]);
	assert_ptr_equal(node->slice.current, &queues[1]);
	assert_int_equal(node->ready.priorities, 0);
}

/** Neither a ready queue of a higher priority, nor used time, nor a charge changes anything. */
static void the_current_queue_is_kept_whatever_it_uses(void **state)
{
	const struct pb_core_submission first = {.queue = &queues[0]};
	const struct pb_core_submission other = {.queue = &queues[1]};
	struct pb_core_fair fair;

	(void)state;
	pb_core_timeslice_begin(&node->slice, &queues[0]);
	pb_core_ready_append(queues, &node->ready, &queues[1]);
	node->flight.fed = 1;
	*pb_core_in_flight_at(&node->flight, 1) = first;
	fair = node->fair;
	pb_core_policy_fifo.charge(node, &first, UINT32_MAX);
	assert_memory_equal(&node->fair, &fair, sizeof(fair));
	assert_int_equal(node->slice.used, 0);
	assert_false(pb_core_policy_fifo.is_over(node, &queues[0], UINT32_MAX));
	assert_false(pb_core_policy_fifo.should_preempt(node, NULL, 0));
	assert_false(pb_core_policy_fifo.should_preempt(node, &other, 0));
	assert_false(pb_core_policy_fifo.should_preempt(node, &other, UINT32_MAX));
	assert_ptr_equal(pb_core_policy_fifo.next(&firmware, node), &queues[0]);
}

/** Only a suspended card asks: every submission is recalled, a protected one too. */
static void every_submission_may_be_recalled(void **state)
{
	const struct pb_core_submission plain = {.queue = &queues[0]};
	const struct pb_core_submission protected_one = {.queue = &queues[0], .protected = true};

	(void)state;
	assert_true(pb_core_policy_fifo.may_recall(node, &plain));
	assert_true(pb_core_policy_fifo.may_recall(node, &protected_one));
}

UNIT_SUITE(test_policy_fifo)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_mode_selects_the_policy, start),
		cmocka_unit_test_setup(an_empty_node_has_no_next_queue, start),
		cmocka_unit_test_setup(the_queue_is_next_until_its_ring_is_empty, start),
		cmocka_unit_test_setup(an_idle_queue_ends_for_the_next_one, start),
		cmocka_unit_test_setup(the_current_queue_is_kept_whatever_it_uses, start),
		cmocka_unit_test_setup(every_submission_may_be_recalled, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
