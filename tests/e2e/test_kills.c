/* SPDX-License-Identifier: MIT */
/*
 * A thousand clients die, seven at a time, some between two steps of their own and some inside one, before or after a
 * doorbell. Each time all that they had is free again, and one more client runs all the while.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "hal/shared.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_host.h"
#include "tests/e2e/e2e_queues.h"
#include "tests/e2e/e2e_victim.h"

#define KILLS    1000u
#define AT_ONCE  7u
#define CHANNELS 9u
/* A victim takes fewer steps than this, or dies at one of so many points (e2e_victim_dies_at()), the first of its attach. */
#define STEPS  40u
#define POINTS 80u
/* Rounds of kills between two rounds of the witness's own. */
#define WITNESS_ROUNDS 8u

static uint32_t random_state = 0x1234567u;

static uint32_t draw(uint32_t below)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 16) % below;
}

static int victim_body(struct e2e_process *self, void *argument)
{
	(void)self;
	return e2e_victim_live(argument);
}

/* The witness's channel is the first. */
static void await_closed(struct e2e_host *witness)
{
	const struct pb_channel_entry *directory =
		(const void *)(witness->link->memory + witness->channel.card.channel_directory_offset);
	const uint64_t start = e2e_now();

	for (uint32_t c = 2; c < CHANNELS; c++) {
		while (pb_shared_read32(&directory[c].state) != PB_CHANNEL_CLOSED)
			assert_true(e2e_patience(start));
		e2e_channel_is_empty(&witness->channel, c);
	}
}

static void kill_several(struct e2e_host *witness, const char *socket, uint32_t *counts)
{
	struct e2e_process processes[AT_ONCE];
	struct e2e_victim victims[AT_ONCE];
	uint32_t points[AT_ONCE]; /* of which each victim has a copy */

	for (uint32_t i = 0; i < AT_ONCE; i++) {
		const bool between = draw(2) != 0;

		points[i] = between ? 0 : 1u + draw(POINTS);
		victims[i] = (struct e2e_victim){
			.socket = socket,
			.seed = draw(0x10000),
			.steps = between ? draw(STEPS) : E2E_VICTIM_FOREVER,
			.points = &points[i],
			.counts = counts,
		};
		e2e_process_start(&processes[i], victim_body, &victims[i]);
	}
	for (uint32_t i = 0; i < AT_ONCE; i++) {
		const int status = e2e_process_end(&processes[i]);

		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
	await_closed(witness);
}

static void all_is_free(const char *socket)
{
	struct pb_link *link;

	assert_int_equal(pb_link_open_socket(socket, &link), PB_ERROR_OK);
	e2e_all_is_free(link);
	link->ops->close(link);
}

static void a_thousand_killed_clients_leave_nothing_behind(void **state)
{
	const size_t bytes = E2E_VICTIM_STEPS * sizeof(uint32_t);
	uint32_t *counts = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct pb_channel_status before, after;
	struct e2e_host witness;
	struct e2e_card card;
	struct pb_event event;

	(void)state;
	assert_true(counts != MAP_FAILED);
	e2e_card_start(&card, 0);
	assert_true(e2e_host_open(&witness, card.socket));
	assert_int_equal(pb_channel_query(&witness.channel, &before), PB_ERROR_OK);
	for (uint32_t round = 0; round * AT_ONCE < KILLS; round++) {
		kill_several(&witness, card.socket, counts);
		if (round % WITNESS_ROUNDS == 0)
			assert_true(e2e_host_round(&witness, round));
	}
	for (uint32_t i = 0; i < E2E_VICTIM_STEPS; i++) {
		print_message("%s: %u\n", e2e_victim_step_name(i), counts[i]);
		assert_true(counts[i] != 0);
	}
	assert_int_equal(pb_channel_query(&witness.channel, &after), PB_ERROR_OK);
	assert_memory_equal(&before, &after, sizeof(before));
	all_is_free(card.socket);
	/* The surviving client got no event. */
	assert_true(e2e_host_round(&witness, KILLS));
	assert_false(pb_channel_event(&witness.channel, &event));
	assert_int_equal(witness.channel.card.mcu_deaths, 0);
	assert_true(e2e_host_close(&witness));
	e2e_card_stop(&card);
	munmap(counts, bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(a_thousand_killed_clients_leave_nothing_behind),
	};

	return e2e_run_tests(tests);
}
