/* SPDX-License-Identifier: MIT */
/*
 * A client is killed at the worst moments. Another client is not disturbed, and all that the dead one held is
 * free again.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hal/engine/packets.h"
#include "hal/shared.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_host.h"
#include "tests/e2e/e2e_queues.h"

#define REPEATS 3u
/* One second of engine time. */
#define BUSY_US 1000000u
#define MARK    0x4d41524bu
/* As many patches as one submission may have. */
#define MANY_PATCHES 60000u
#define MANY_BYTES   0x300000u

/* ---- the victim ---- */

static _Noreturn void die(void)
{
	for (;;)
		kill(getpid(), SIGKILL);
}

static void die_in_doorbell(struct pb_link *link)
{
	(void)link;
	die();
}

static void replace_doorbell(struct pb_link *link, void (*doorbell)(struct pb_link *link))
{
	static struct pb_link_ops replaced;

	replaced = *link->ops;
	replaced.doorbell = doorbell;
	link->ops = &replaced;
}

static bool idle(struct e2e_host *host)
{
	(void)host;
	die();
}

/* The descriptor is written, put and kick announce it, but the doorbell is not rung. */
static bool before_doorbell(struct e2e_host *host)
{
	e2e_host_fill(host, 0, MARK);
	replace_doorbell(host->link, die_in_doorbell);
	return e2e_ok("submit", pb_dma_submit(&host->builders[0], 1));
}

/* Submits a FILL and a test packet until the ring is full, and dies once the engine runs. */
static bool die_at(struct e2e_host *host, uint32_t node, uint32_t opcode, uint32_t words)
{
	struct pb_dma *dma = &host->builders[node];
	enum pb_error error = PB_ERROR_OK;
	const uint64_t start = e2e_now();

	e2e_target_set(host, node, 0);
	e2e_host_fill(host, node, MARK);
	pb_dma_packet(dma, opcode, words);
	if (words > 1)
		pb_dma_word(dma, BUSY_US);
	for (uint32_t i = 0; error == PB_ERROR_OK; i++)
		error = pb_dma_submit(dma, i);
	if (error != PB_ERROR_NO_SPACE)
		return e2e_ok("submit", error);
	while (pb_shared_read32((uint32_t *)(void *)host->targets[node].bytes_host) != MARK) {
		if (!e2e_patience(start))
			return e2e_fail("the engine did not start");
	}
	die();
}

static bool in_flight(struct e2e_host *host)
{
	return die_at(host, 0, PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS);
}

static bool in_flight_on_copy(struct e2e_host *host)
{
	return die_at(host, 1, PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS);
}

static bool hanging(struct e2e_host *host)
{
	return die_at(host, 0, PB_PACKET_HANG, PB_PACKET_HANG_WORDS);
}

/* Big patch lists for both nodes. The firmware can have patched at most the first ones. */
static bool in_patch_list(struct e2e_host *host)
{
	struct pb_dma dma;

	if (!e2e_ok("big builder", pb_dma_open(&dma, &host->queues[0], host->context, &host->system,
					       &host->system, (1u + 2u * MANY_PATCHES) * 4u, MANY_PATCHES)))
		return false;
	pb_dma_begin(&dma);
	pb_dma_packet(&dma, PB_PACKET_NOP, 1u + 2u * MANY_PATCHES);
	for (uint32_t i = 0; i < MANY_PATCHES; i++)
		pb_dma_address(&dma, &host->targets[i % E2E_NODES], i % E2E_TARGET_BYTES, true);
	for (uint32_t i = 0; i < 16; i++) {
		dma.queue = &host->queues[i % E2E_NODES];
		if (!e2e_ok("submit", pb_dma_submit(&dma, i)))
			return false;
	}
	die();
}

static const struct moment {
	const char *name;
	bool (*die)(struct e2e_host *host); /**< returns only on failure */
	uint32_t system_bytes;
} moments[] = {
	{"idle", idle, E2E_SYSTEM_BYTES},
	{"between descriptor and doorbell", before_doorbell, E2E_SYSTEM_BYTES},
	{"submissions in flight", in_flight, E2E_SYSTEM_BYTES},
	{"submissions in flight on the copy node", in_flight_on_copy, E2E_SYSTEM_BYTES},
	{"engine hangs", hanging, E2E_SYSTEM_BYTES},
	{"in a patch list", in_patch_list, MANY_BYTES},
};

struct victim {
	const char *socket;
	const struct moment *moment;
};

static int victim_body(struct e2e_process *self, void *argument)
{
	const struct victim *victim = argument;
	struct e2e_host host;

	if (!e2e_host_attach(&host, victim->socket) ||
	    !e2e_host_furnish(&host, victim->moment->system_bytes) || !e2e_host_round(&host, MARK))
		return 1;
	e2e_send(self, (char)('0' + host.link->channel));
	victim->moment->die(&host);
	return 1;
}

/* ---- the witness ---- */

static uint32_t next_value = 0x77000000u;

static void check_witness(struct e2e_host *witness)
{
	assert_true(e2e_host_round(witness, next_value++));
}

/* Kills a victim. @return the channel that it had */
static uint32_t kill_one(struct e2e_host *witness, const char *socket, const struct moment *moment)
{
	struct victim victim = {.socket = socket, .moment = moment};
	struct e2e_process process;
	int status = 0;
	char channel;

	e2e_process_start(&process, victim_body, &victim);
	channel = e2e_receive(&process);
	assert_true(channel >= '1' && channel <= '8');
	while (waitpid(process.pid, &status, WNOHANG | WNOWAIT) == 0)
		check_witness(witness);
	status = e2e_process_end(&process);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	return (uint32_t)(channel - '0');
}

/* Connects to that channel, once the card has freed it. The witness runs meanwhile. */
static struct pb_link *open_as(uint32_t channel, struct e2e_host *witness, const char *socket)
{
	const uint64_t start = e2e_now();
	struct pb_link *link;

	for (;;) {
		check_witness(witness);
		assert_int_equal(pb_link_open_socket(socket, &link), PB_ERROR_OK);
		if (link->channel == channel)
			return link;
		link->ops->close(link);
		assert_true(e2e_patience(start));
	}
}

/* ---- everything is free again ---- */

static void check_runs(struct pb_link *link)
{
	struct e2e_host host = {.link = link};

	assert_int_equal(pb_channel_attach(&host.channel, link, E2E_PATIENCE_US), PB_ERROR_OK);
	assert_true(e2e_host_furnish(&host, E2E_SYSTEM_BYTES));
	assert_true(e2e_host_round(&host, next_value++));
	assert_true(e2e_host_close(&host));
}

/* The card frees what a dead client had, even if no client connects to its channel. */
static void await_closed(uint32_t channel, struct e2e_host *witness)
{
	const struct pb_channel_entry *directory =
		(const void *)(witness->link->memory + witness->channel.card.channel_directory_offset);
	const uint64_t start = e2e_now();

	while (pb_shared_read32(&directory[channel].state) != PB_CHANNEL_CLOSED) {
		check_witness(witness);
		assert_true(e2e_patience(start));
	}
}

static void check_moment(struct e2e_host *witness, const char *socket, const struct moment *moment)
{
	struct pb_link *link;
	uint32_t channel;

	check_witness(witness);
	channel = kill_one(witness, socket, moment);
	await_closed(channel, witness);
	link = open_as(channel, witness, socket);
	e2e_channel_is_empty(&witness->channel, channel);
	e2e_all_is_free(link);
	check_witness(witness);
	check_runs(link);
	check_witness(witness);
}

static void a_killed_client_leaves_nothing_behind(void **state)
{
	struct e2e_host witness;
	struct e2e_card card;
	struct pb_event event;

	(void)state;
	e2e_card_start(&card, 0);
	assert_true(e2e_host_open(&witness, card.socket));
	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
		print_message("killed: %s\n", moments[i].name);
		for (uint32_t repeat = 0; repeat < REPEATS; repeat++)
			check_moment(&witness, card.socket, &moments[i]);
	}
	/* The witness got no event, because none concerned it. */
	assert_false(pb_channel_event(&witness.channel, &event));
	assert_true(e2e_host_close(&witness));
	e2e_card_stop(&card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(a_killed_client_leaves_nothing_behind),
	};

	return e2e_run_tests(tests);
}
