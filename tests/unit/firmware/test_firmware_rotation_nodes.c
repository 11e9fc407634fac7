/* SPDX-License-Identifier: MIT */
/*
 * What nodes get of the passes of the main loop while the lines of eight
 * clients are pending again at once: each has its turn, and an engine that has
 * answered is fed, at no channel's cost.
 */
#include "firmware/limits.h"
#include "hal/engine_model/model.h"
#include "hal/engine_model/state.h"
#include "tests/unit/firmware/flood.h"

/** Every node has submissions all the time: each makes progress within a bounded number of passes. @param failing mask of nodes */
static void expect_progress(uint32_t failing)
{
	struct pb_queue queues[FLOOD_NODES];
	uint32_t waited[FLOOD_NODES] = {0}, completed[FLOOD_NODES] = {0};

	flood_start();
	flood.paused = true;
	for (uint32_t n = 0; n < FLOOD_NODES; n++)
		card_queue_make(&queues[n], &flood.card,
				&(struct card_queue_request){.place = n, .node = n, .level = 2});
	flood.paused = false;
	for (uint32_t p = 0; p < FLOOD_PASSES; p++) {
		for (uint32_t n = 0; n < FLOOD_NODES; n++) {
			struct pb_descriptor descriptor = card_nothing(&flood.card, p);
			const uint32_t now = card_queue_completed(&queues[n]);

			if ((failing & 1u << n) != 0)
				descriptor.context = 0;
			waited[n] = now == completed[n] ? waited[n] + 1u : 0;
			completed[n] = now;
			assert_in_range(waited[n], 0, FLOOD_CHANNEL_WAIT + FLOOD_NODE_WAIT);
			if (queues[n].put - now < 3u)
				card_queue_submit(&queues[n], &descriptor);
		}
		flood.card.channel.entry->event_get = flood.card.channel.entry->event_put;
		flood_pass(1, true);
	}
	flood_end();
}

static void each_node_makes_progress_under_a_flood(void **state)
{
	(void)state;
	expect_progress(0);
}

/** A completion that failed is expensive: it keeps those of other nodes waiting, but not for long. */
static void nodes_whose_submissions_fail_do_not_starve_the_others(void **state)
{
	(void)state;
	expect_progress(1);
	expect_progress(3);
	expect_progress(15);
}

/** How many of the queues have completed more than the test knows. */
static uint32_t count_completed(struct pb_queue queues[FLOOD_NODES], uint32_t completed[FLOOD_NODES])
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < FLOOD_NODES; n++) {
		const uint32_t now = card_queue_completed(&queues[n]);

		count += now != completed[n];
		completed[n] = now;
	}
	return count;
}

/**
 * A tick finds failed submissions on all nodes whose interrupts were lost: one node in a pass. What completes on a node
 * behind its turn is not left to the next tick, 500 passes later.
 */
static void a_tick_retires_one_failing_node_in_a_pass(void **state)
{
	static const struct pb_engine_model_defects deaf = {.lose_interrupt = 1};

	(void)state;
	for (uint32_t late = 0; late < 16u; late++) {
		struct pb_queue queues[FLOOD_NODES];
		uint32_t completed[FLOOD_NODES] = {0};
		struct pb_descriptor descriptor;
		uint32_t most = 0;

		flood_start();
		flood.paused = true;
		for (uint32_t n = 0; n < FLOOD_NODES; n++) {
			card_queue_make(&queues[n], &flood.card,
					&(struct card_queue_request){.place = n, .node = n, .level = 2});
			pb_engine_model_set_defects(pb_sim_engine(flood.card.sim, n), &deaf);
			descriptor = card_nothing(&flood.card, 1);
			descriptor.context = 0;
			card_queue_submit(&queues[n], &descriptor);
		}
		descriptor =
			card_busy(&flood.card, 0,
				  5000u - (uint32_t)(pb_sim_now(flood.card.sim) % 5000u) + late * 10u - 100u);
		card_queue_submit(&queues[0], &descriptor);
		flood.paused = false;
		for (uint32_t p = 0; p < 600u; p++) {
			const uint32_t count = count_completed(queues, completed);

			most = count > most ? count : most;
			flood_pass(FLOOD_CLIENTS, false);
		}
		assert_int_equal(most, 1);
		for (uint32_t n = 0; n < FLOOD_NODES; n++)
			assert_int_equal(completed[n], n == 0 ? 2 : 1);
		flood_end();
	}
}

/** Passes until node 1 has completed its submission, which ends about when node 0's faults. @param late of node 1, in microseconds */
static uint32_t passes_beside_fault(uint32_t late)
{
	struct pb_queue faults, other;
	struct pb_descriptor descriptor;
	uint32_t passes = 0;

	flood_start();
	flood.paused = true;
	card_queue_make(&faults, &flood.card, &(struct card_queue_request){.place = 0, .level = 2});
	card_queue_make(&other, &flood.card, &(struct card_queue_request){.place = 1, .node = 1, .level = 2});
	/* Right behind a tick. */
	card_run(&flood.card, 5100u - pb_sim_now(flood.card.sim) % 5000u);
	descriptor = card_busy(&flood.card, 0, 500);
	card_dma(&flood.card, 0)[2] = PB_PACKET(PB_PACKET_FAULT, PB_PACKET_FAULT_WORDS);
	descriptor.dma_end += PB_PACKET_FAULT_WORDS * 4u;
	card_queue_submit(&faults, &descriptor);
	descriptor = card_busy(&flood.card, 1, 400u + late);
	card_queue_submit(&other, &descriptor);
	flood.paused = false;
	for (; card_queue_completed(&other) == 0 && passes <= FLOOD_PASSES; passes++)
		flood_pass(FLOOD_CLIENTS, false);
	flood_end();
	return passes;
}

/** Completions behind an expensive one, whose lines were claimed with it, are retired soon, and not at the next tick. */
static void a_completion_behind_an_expensive_one_is_not_left_to_the_tick(void **state)
{
	(void)state;
	for (uint32_t late = 0; late < 200u; late += 5u)
		assert_in_range(passes_beside_fault(late), 1,
				60u + FLOOD_CHANNEL_WAIT + 2u * FLOOD_NODE_WAIT);
}

/** Passes behind an engine's answer in which it has nothing to run, although a submission is ready. */
static uint32_t passes_unfed(struct pb_queue *low, struct pb_queue *high, uint32_t number)
{
	const struct pb_engine_registers *registers = pb_sim_engine(flood.card.sim, 0)->registers;
	struct pb_descriptor descriptor = card_busy(&flood.card, 0, 20000);
	uint32_t unfed = 0;

	descriptor.fence_id = number;
	card_queue_submit(low, &descriptor);
	for (uint32_t p = 0; p < 80u; p++)
		flood_pass(1, true);
	descriptor = card_nothing(&flood.card, number);
	card_queue_submit(high, &descriptor);
	for (uint32_t p = 0; card_queue_completed(high) != number && p < FLOOD_PASSES; p++) {
		flood_pass(1, true);
		unfed += registers->command == registers->command_done && registers->tail == 0;
	}
	assert_int_equal(card_queue_completed(high), number);
	while (card_queue_completed(low) != number)
		flood_pass(FLOOD_CLIENTS, false);
	return unfed;
}

/**
 * An engine that was stopped for a higher priority is fed in the pass that retires its answer, whatever seven clients ask
 * for: in the first pass behind the answer, or in the second if a tick has the first.
 */
static void a_stopped_engine_is_fed_under_a_flood(void **state)
{
	struct pb_queue low, high;
	uint32_t unfed = 0;

	(void)state;
	flood_start();
	flood.paused = true;
	card_queue_make(&low, &flood.card, &(struct card_queue_request){.place = 0, .node = 0, .level = 1});
	card_queue_make(&high, &flood.card, &(struct card_queue_request){.place = 1, .node = 0, .level = 2});
	flood.paused = false;
	for (uint32_t i = 1; i <= 20u; i++)
		unfed += passes_unfed(&low, &high, i);
	assert_in_range(unfed, 20, 30);
	flood_end();
}

/** A pass in which seven clients have full rings; asserts that none of them waits for too long. */
static void pass_and_serve(uint32_t progress[FLOOD_CLIENTS], uint32_t waited[FLOOD_CLIENTS])
{
	uint32_t mask;

	flood_pass(1, false);
	mask = flood_served(progress);
	for (uint32_t i = 1; i < FLOOD_CLIENTS; i++) {
		waited[i] = (mask & 1u << i) != 0 ? 0 : waited[i] + 1u;
		assert_in_range(waited[i], 0, FLOOD_CHANNEL_WAIT);
	}
}

/** Engines of all nodes are stopped for higher priorities over and over: channels are served within eight passes all the same. */
static void channels_are_served_beside_engines_that_answer(void **state)
{
	struct pb_queue low[FLOOD_NODES], high[FLOOD_NODES];
	uint32_t progress[FLOOD_CLIENTS] = {0}, waited[FLOOD_CLIENTS] = {0};

	(void)state;
	flood_start();
	flood.paused = true;
	for (uint32_t n = 0; n < FLOOD_NODES; n++) {
		card_queue_make(&low[n], &flood.card,
				&(struct card_queue_request){.place = n, .node = n, .level = 1});
		card_queue_make(
			&high[n], &flood.card,
			&(struct card_queue_request){.place = FLOOD_NODES + n, .node = n, .level = 2});
	}
	flood.paused = false;
	for (uint32_t p = 0, submitted = 0; p < 2u * FLOOD_PASSES; p++) {
		const uint32_t n = p % FLOOD_NODES;
		const struct pb_descriptor busy = card_busy(&flood.card, n, 200);
		const struct pb_descriptor nothing = card_nothing(&flood.card, p);

		if (low[n].put - card_queue_completed(&low[n]) < 2u)
			card_queue_submit(&low[n], &busy);
		/* Now close together, now apart: each is a stop, and an answer. */
		if (high[n].put == card_queue_completed(&high[n]) && p % 61u < 20u) {
			card_queue_submit(&high[n], &nothing);
			submitted++;
		}
		flood.card.channel.entry->event_get = flood.card.channel.entry->event_put;
		pass_and_serve(progress, waited);
		if (p + 1u == 2u * FLOOD_PASSES)
			assert_in_range(submitted, 40, FLOOD_PASSES);
	}
	flood_end();
}

UNIT_SUITE(test_firmware_rotation_nodes)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_node_makes_progress_under_a_flood),
		cmocka_unit_test(nodes_whose_submissions_fail_do_not_starve_the_others),
		cmocka_unit_test(a_tick_retires_one_failing_node_in_a_pass),
		cmocka_unit_test(a_completion_behind_an_expensive_one_is_not_left_to_the_tick),
		cmocka_unit_test(a_stopped_engine_is_fed_under_a_flood),
		cmocka_unit_test(channels_are_served_beside_engines_that_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
