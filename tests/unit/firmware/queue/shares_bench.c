/* SPDX-License-Identifier: MIT */
#include "tests/unit/firmware/queue/shares_bench.h"

#include <string.h>

/* Places in segment 0 before the queues: buffers, then the lists that all of them share. */
#define BUFFERS      0x0u
#define BUFFER_BYTES 64u
#define ALLOCATIONS  0x1000u
#define PATCHES      0x1100u

#define CLIENT_BYTES  0x4000u
#define HOSTILE_BYTES 0x100000u
/* How often rings are filled up again, in steps of the card; a ring of short work lasts longer. */
#define REFILL_STEPS 16u
/* How often the hostile one takes its replies. */
#define FINISH_STEPS 4u

static const struct {
	uint32_t weight;
	uint32_t microseconds[SHARES_QUEUES];
} clients[SHARES_CLIENTS] = {
	{1, {500, 500, 500}},  {1, {300, 1700, 7000}},  {2, {4000, 4000, 900}}, {2, {12000, 300, 300}},
	{3, {250, 700, 2100}}, {3, {6000, 6000, 6000}}, {2, {1000, 450, 800}},  {2, {350, 2500, 5000}},
};

uint32_t shares_weight(uint32_t client)
{
	return clients[client].weight;
}

uint32_t shares_weights(void)
{
	uint32_t sum = 0;

	for (uint32_t c = 0; c < SHARES_CLIENTS; c++)
		sum += clients[c].weight;
	return sum;
}

static uint8_t *bytes_at(const struct shares_client *client, uint32_t offset)
{
	return client->channel.link->memory + client->system.memory_offset + offset;
}

static void make_segments(struct shares_client *client, uint32_t bytes)
{
	const struct pb_segment_request system = {0, CARD_SYSTEM_OS, CARD_SYSTEM_GPU, bytes, bytes, 0};
	const struct pb_segment_request addresses = {1, CARD_VIDEO_OS, CARD_VIDEO_GPU, 0x10000, 0, 0};
	const struct pb_allocation allocation = {.address_low = (uint32_t)CARD_VIDEO_OS,
						 .address_high = (uint32_t)(CARD_VIDEO_OS >> 32),
						 .size_low = 0x10000,
						 .flags = CARD_SEGMENT(1)};

	assert_int_equal(pb_segment_create(&client->system, &client->channel, &system), PB_ERROR_OK);
	assert_int_equal(pb_segment_create(&client->addresses, &client->channel, &addresses), PB_ERROR_OK);
	memcpy(bytes_at(client, ALLOCATIONS), &allocation, sizeof(allocation));
}

/** Work with one patch: an address that the engine skips, and then so much time. */
static struct pb_descriptor make_work(struct shares_client *client, uint32_t place, uint32_t microseconds)
{
	const uint32_t start = BUFFERS + place * BUFFER_BYTES;
	const uint32_t words[] = {PB_PACKET(PB_PACKET_NOP, 3), 0, 0,
				  PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS), microseconds};
	const struct pb_patch_location patch = {.driver_id = PB_PATCH_FORMAT_ADDRESS64,
						.patch_offset = start + 4u};

	memcpy(bytes_at(client, start), words, sizeof(words));
	memcpy(bytes_at(client, PATCHES + place * (uint32_t)sizeof(patch)), &patch, sizeof(patch));
	return (struct pb_descriptor){
		.context = client->context,
		.dma_address_low = (uint32_t)CARD_SYSTEM_OS,
		.dma_size = PB_PAGE_BYTES,
		.dma_start = start,
		.dma_end = start + (uint32_t)sizeof(words),
		.allocation_count = 1,
		.allocation_address_low = (uint32_t)CARD_SYSTEM_OS + ALLOCATIONS,
		.patch_address_low = (uint32_t)CARD_SYSTEM_OS + PATCHES,
		.patch_count = SHARES_QUEUES,
		.patch_start = place,
		.patch_length = 1,
	};
}

static void join(struct shares *shares, uint32_t number)
{
	struct shares_client *client = &shares->clients[number];

	card_join(&shares->card, &client->channel, number + 1u);
	assert_int_equal(card_command(&shares->admin, PB_COMMAND_CHANNEL_GRANT, number + 1u,
				      PB_PRIVILEGE_PAGING, clients[number].weight, PB_PRIORITY_NORMAL, 0),
			 PB_ERROR_OK);
	make_segments(client, number == SHARES_HOSTILE ? HOSTILE_BYTES : CLIENT_BYTES);
	assert_int_equal(pb_context_create(&client->channel, &client->context), PB_ERROR_OK);
	for (uint32_t q = 0; q < SHARES_QUEUES; q++) {
		const struct card_queue_request request = {.place = q, .level = PB_PRIORITY_NORMAL};

		client->microseconds[q] = clients[number].microseconds[q];
		client->work[q] = make_work(client, q, client->microseconds[q]);
		assert_int_equal(
			card_queue_open(&client->queues[q], &client->channel, &client->system, &request),
			PB_ERROR_OK);
	}
}

void shares_start(struct shares *shares)
{
	memset(shares, 0, sizeof(*shares));
	shares->card.sim = pb_sim_create();
	assert_non_null(shares->card.sim);
	card_join(&shares->card, &shares->admin, PB_CHANNEL_ADMIN);
	for (uint32_t c = 0; c < SHARES_CLIENTS; c++)
		join(shares, c);
}

void shares_stop(struct shares *shares)
{
	for (uint32_t c = 0; c < SHARES_CLIENTS; c++)
		card_leave(&shares->clients[c].channel);
	card_leave(&shares->admin);
	pb_sim_destroy(shares->card.sim);
}

static void keep_busy(struct shares_client *client)
{
	for (uint32_t q = 0; q < SHARES_QUEUES; q++) {
		while (pb_queue_submit(&client->queues[q], &client->work[q]) == PB_ERROR_OK)
			continue;
	}
}

void shares_run(struct shares *shares, shares_act act, uint64_t microseconds)
{
	const uint64_t end = pb_sim_now(shares->card.sim) + microseconds;

	for (uint32_t c = 0; c < SHARES_CLIENTS; c++) {
		for (uint32_t q = 0; q < SHARES_QUEUES; q++)
			shares->clients[c].before[q] = card_queue_completed(&shares->clients[c].queues[q]);
	}
	for (; pb_sim_now(shares->card.sim) < end; shares->steps++) {
		for (uint32_t c = 0; c < SHARES_CLIENTS && shares->steps % REFILL_STEPS == 0; c++) {
			if (c != SHARES_HOSTILE || act == NULL)
				keep_busy(&shares->clients[c]);
		}
		if (act != NULL)
			act(shares);
		pb_sim_step(shares->card.sim);
	}
}

uint64_t shares_time(struct shares *shares, uint32_t c)
{
	struct shares_client *client = &shares->clients[c];
	uint64_t time = 0;

	for (uint32_t q = 0; q < SHARES_QUEUES; q++)
		time += (uint64_t)(card_queue_completed(&client->queues[q]) - client->before[q]) *
			client->microseconds[q];
	return time;
}

/* ---- the hostile one ---- */

void shares_hostile_queues(struct shares *shares, uint32_t count, uint32_t level, bool all_nodes)
{
	struct shares_client *client = &shares->clients[SHARES_HOSTILE];

	assert_true(count <= SHARES_HOSTILE_QUEUES);
	for (uint32_t i = 0; i < count; i++) {
		const struct card_queue_request request = {
			.place = SHARES_QUEUES + i, .node = all_nodes ? i % 4u : 0, .level = level};

		assert_int_equal(
			card_queue_open(&shares->hostile[i], &client->channel, &client->system, &request),
			PB_ERROR_OK);
	}
	shares->hostile_queues = count;
}

struct pb_descriptor shares_hostile_work(struct shares *shares, uint32_t place, const uint32_t *words,
					 uint32_t count)
{
	const struct shares_client *client = &shares->clients[SHARES_HOSTILE];
	const uint32_t start = BUFFERS + (SHARES_QUEUES + place) * BUFFER_BYTES;

	if (count != 0)
		memcpy(bytes_at(client, start), words, count * sizeof(*words));
	return (struct pb_descriptor){.context = client->context,
				      .dma_address_low = (uint32_t)CARD_SYSTEM_OS,
				      .dma_size = PB_PAGE_BYTES,
				      .dma_start = start,
				      .dma_end = start + count * (uint32_t)sizeof(*words)};
}

void shares_hostile_flood(struct shares *shares, const struct pb_descriptor *descriptor)
{
	for (uint32_t i = 0; i < shares->hostile_queues; i++) {
		while (pb_queue_submit(&shares->hostile[i], descriptor) == PB_ERROR_OK)
			continue;
	}
}

/** Takes the replies that have come. */
static void finish_pending(struct shares *shares)
{
	struct pb_channel *channel = &shares->clients[SHARES_HOSTILE].channel;

	for (uint32_t i = 0; i < shares->pending_count;) {
		const enum pb_error error = pb_channel_finish(channel, shares->pending[i], NULL);

		if (error == PB_ERROR_TIMEOUT) {
			i++;
			continue;
		}
		shares->answered += error == PB_ERROR_OK;
		shares->pending[i] = shares->pending[--shares->pending_count];
	}
}

void shares_hostile_ask(struct shares *shares, uint32_t code, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	struct pb_channel *channel = &shares->clients[SHARES_HOSTILE].channel;
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {a, b, c, d};

	/* It takes long to look at each, and there is room for more. */
	if (shares->steps % FINISH_STEPS == 0 || shares->pending_count == PB_COMMANDS_PENDING)
		finish_pending(shares);
	if (shares->pending_count < PB_COMMANDS_PENDING &&
	    pb_channel_begin(channel, code, arguments, &shares->pending[shares->pending_count]) ==
		    PB_ERROR_OK)
		shares->pending_count++;
}
