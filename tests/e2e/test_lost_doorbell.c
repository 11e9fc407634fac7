/* SPDX-License-Identifier: MIT */
/* Lost doorbells: the firmware's tick finds what a host has stored. */
#define _GNU_SOURCE
#include <signal.h>

#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_host.h"

#define ROUNDS 10u
/* Two rings of this size hold more than a kick ring. */
#define LONG_RING_ENTRIES 256u

static uint32_t lost;

static void lose_doorbell(struct pb_link *link)
{
	(void)link;
	lost++;
}

/* Every store of pb_queue_submit happens, the doorbell does not. */
static void mute(struct pb_link *link, struct pb_link_ops *muted)
{
	*muted = *link->ops;
	muted->doorbell = lose_doorbell;
	link->ops = muted;
	lost = 0;
}

static void submissions_without_a_doorbell_are_found(void **state)
{
	static struct pb_link_ops muted;
	struct e2e_host host;
	struct e2e_card card;

	(void)state;
	e2e_card_start(&card, 0);
	assert_true(e2e_host_open(&host, card.socket));
	mute(host.link, &muted);
	for (uint32_t i = 0; i < ROUNDS; i++)
		assert_true(e2e_host_round(&host, 0x51000000u + i));
	assert_int_equal(lost, 2 * ROUNDS);
	assert_true(e2e_host_close(&host));
	e2e_card_stop(&card);
}

/* No doorbell rings at all: attach, commands, submissions, detach. */
static void a_host_without_doorbells_is_served(void **state)
{
	static struct pb_link_ops muted;
	struct e2e_host host = {.rounds = 0};
	struct e2e_card card;

	(void)state;
	e2e_card_start(&card, 0);
	assert_int_equal(pb_link_open_socket(card.socket, &host.link), PB_ERROR_OK);
	mute(host.link, &muted);
	assert_int_equal(pb_channel_attach(&host.channel, host.link, E2E_PATIENCE_US), PB_ERROR_OK);
	assert_true(e2e_host_furnish(&host, E2E_SYSTEM_BYTES));
	assert_true(e2e_host_round(&host, 0x52000000u));
	/* Attach, five commands, two submissions. */
	assert_int_equal(lost, 1 + 5 + 2);
	assert_true(e2e_host_close(&host));
	e2e_card_stop(&card);
}

/* The MCU sleeps until the kick ring is full. The rescan word announces the rest. */
static void a_full_kick_ring_loses_no_submission(void **state)
{
	static struct pb_link_ops muted;
	struct pb_queue queues[E2E_NODES];
	struct e2e_host host;
	struct e2e_card card;
	pid_t mcu;

	(void)state;
	e2e_card_start(&card, 0);
	assert_true(e2e_host_open(&host, card.socket));
	for (uint32_t n = 0; n < E2E_NODES; n++) {
		assert_int_equal(
			pb_queue_create(&queues[n], &host.channel, &host.system, n, LONG_RING_ENTRIES),
			PB_ERROR_OK);
		host.builders[n].queue = &queues[n];
	}
	mute(host.link, &muted);
	mcu = e2e_card_mcu(&card);
	assert_int_equal(kill(mcu, SIGSTOP), 0);
	for (uint32_t n = 0; n < E2E_NODES; n++) {
		e2e_host_fill(&host, n, 0x53000000u);
		for (uint32_t i = 0; i < LONG_RING_ENTRIES; i++)
			assert_int_equal(pb_dma_submit(&host.builders[n], i), PB_ERROR_OK);
		assert_int_equal(pb_dma_submit(&host.builders[n], 0), PB_ERROR_NO_SPACE);
	}
	assert_int_equal(host.channel.rescan, E2E_NODES * LONG_RING_ENTRIES - host.channel.kick_entries);
	assert_int_equal(kill(mcu, SIGCONT), 0);
	for (uint32_t n = 0; n < E2E_NODES; n++) {
		struct pb_fence fence;

		assert_int_equal(pb_dma_wait(&host.builders[n], E2E_PATIENCE_US, &fence), PB_ERROR_OK);
		assert_int_equal(fence.completed, LONG_RING_ENTRIES);
		assert_int_equal(fence.errors, 0);
		assert_true(e2e_target_is(&host, n, 0x53000000u));
	}
	assert_true(e2e_host_close(&host));
	e2e_card_stop(&card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(submissions_without_a_doorbell_are_found),
		e2e_test(a_host_without_doorbells_is_served),
		e2e_test(a_full_kick_ring_loses_no_submission),
	};

	return e2e_run_tests(tests);
}
