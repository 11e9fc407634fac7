/* SPDX-License-Identifier: MIT */
#include "tests/sim/player.h"

#include <string.h>

#include "hal/engine/packets.h"
#include "patchbay/abi/errors.h"
#include "patchbay/abi/patch.h"

/* The segment: queue pages with their rings, one wait for each ring entry, buffers, the allocation and the patch list. */
#define QUEUE_BYTES   0x400u
#define WAITS_AT      (PB_PLAYER_QUEUES * QUEUE_BYTES)
#define WAITS_BYTES   0x9000u
#define BUFFERS_AT    (WAITS_AT + WAITS_BYTES)
#define ALLOCATION_AT (BUFFERS_AT + PB_PLAYER_PROGRAMS * PB_PAGE_BYTES)
#define PATCHES_AT    (ALLOCATION_AT + 0x20u)
#define ALL_BYTES                                                                                            \
	((PATCHES_AT + PB_PLAYER_PATCHES * sizeof(struct pb_patch_location) + PB_PAGE_BYTES - 1u) /          \
	 PB_PAGE_BYTES * PB_PAGE_BYTES)
/** The allocation that patches name. No engine writes it. */
#define DATA_BYTES PB_PAGE_BYTES
/** Words of each buffer that patches fill: the rest of a packet that does nothing. */
#define PATCHED_WORDS 64u
/** Steps that a join takes at most. */
#define JOIN_STEPS 20000u

PB_STATIC_ASSERT(sizeof(struct pb_queue_page) + PB_PLAYER_ENTRIES * sizeof(struct pb_descriptor) <=
			 QUEUE_BYTES,
		 "a queue fits");
PB_STATIC_ASSERT(PB_PLAYER_QUEUES *PB_PLAYER_ENTRIES * sizeof(struct pb_wait) <= WAITS_BYTES,
		 "the waits fit");

uint32_t pb_player_hang_bytes(void)
{
	return (PATCHED_WORDS + 2u) * 4u;
}

static struct pb_queue_page *page_of(const struct pb_player *player, uint32_t q)
{
	return (struct pb_queue_page *)(void *)(player->memory + q * QUEUE_BYTES);
}

/** Engine time of a program, in microseconds. */
static uint32_t time_of(const struct pb_player *player, enum pb_player_program program)
{
	if (program == PB_PLAYER_LONG)
		return UINT32_MAX;
	return program == PB_PLAYER_WORK ? player->work_us : 1u;
}

/** A packet that patches write into, then the program. @return its words */
static uint32_t write_program(const struct pb_player *player, enum pb_player_program program)
{
	uint32_t *words =
		(uint32_t *)(void *)(player->memory + BUFFERS_AT + (uint32_t)program * PB_PAGE_BYTES);
	uint32_t count = PATCHED_WORDS + 1u, left = time_of(player, program);

	words[0] = PB_PACKET(PB_PACKET_NOP, PATCHED_WORDS + 1u);
	if (program == PB_PLAYER_HANG) {
		words[count] = PB_PACKET(PB_PACKET_HANG, PB_PACKET_HANG_WORDS);
		return count + 1u;
	}
	for (; left != 0 && count + 2u < PB_PAGE_BYTES / 4u; count += 2u) {
		const uint32_t packet = left < player->packet_us ? left : player->packet_us;

		words[count] = PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS);
		words[count + 1u] = packet;
		left -= packet;
	}
	return count;
}

static void write_lists(const struct pb_player *player)
{
	struct pb_allocation *allocation = (struct pb_allocation *)(void *)(player->memory + ALLOCATION_AT);
	struct pb_patch_location *patch = (struct pb_patch_location *)(void *)(player->memory + PATCHES_AT);

	*allocation = (struct pb_allocation){
		.size_low = DATA_BYTES, .flags = PB_ALLOCATION_WRITE | 1u << PB_ALLOCATION_SEGMENT_SHIFT};
	for (uint32_t i = 0; i < PB_PLAYER_PATCHES; i++)
		patch[i] = (struct pb_patch_location){.driver_id = PB_PATCH_FORMAT_ADDRESS64_WRITE,
						      .patch_offset = 4u + i % (PATCHED_WORDS / 2u) * 8u};
}

/** Runs the card until a command of this player is answered. @return false: it fails, or there is no answer */
static bool ask(struct pb_player *player, uint32_t code, const uint32_t *arguments, uint32_t count,
		struct pb_reply *reply, void (*run)(struct pb_world *world))
{
	struct pb_question question;

	pb_client_post(&player->client, code, 0, arguments, count);
	for (uint32_t i = 0; i < JOIN_STEPS; i++) {
		run(player->client.world);
		if (pb_client_reply(&player->client, reply, &question))
			return reply->error == PB_ERROR_OK;
	}
	return false;
}

bool pb_player_join(struct pb_player *player, struct pb_world *world, uint32_t channel, uint32_t work_us,
		    uint32_t packet_us, void (*run)(struct pb_world *world))
{
	const uint32_t segments[2][9] = {
		{0, PB_SEGMENT_LINEAR, 0, 0, 0, 0, ALL_BYTES, 0, ALL_BYTES},
		{1, PB_SEGMENT_LINEAR, 0, 0, ALL_BYTES, 0, DATA_BYTES, 0, DATA_BYTES}};
	struct pb_reply reply;

	*player = (struct pb_player){.work_us = work_us, .packet_us = packet_us};
	pb_client_init(&player->client, world, channel);
	pb_client_ask(&player->client, PB_ATTACH_OP_ATTACH);
	for (uint32_t i = 0; i < JOIN_STEPS && !pb_client_answered(&player->client); i++)
		run(world);
	if (!ask(player, PB_COMMAND_SEGMENT_CREATE, segments[0], 9, &reply, run))
		return false;
	player->memory = world->memory + reply.results[0];
	memset(player->memory, 0, ALL_BYTES);
	for (uint32_t program = PB_PLAYER_BRIEF; program < PB_PLAYER_PROGRAMS; program++)
		player->words[program] = write_program(player, (enum pb_player_program)program);
	write_lists(player);
	if (!ask(player, PB_COMMAND_SEGMENT_CREATE, segments[1], 9, &reply, run) ||
	    !ask(player, PB_COMMAND_CONTEXT_CREATE, NULL, 0, &reply, run))
		return false;
	player->context = reply.results[0];
	return true;
}

bool pb_player_create_with(struct pb_player *player, uint32_t q, const struct pb_player_wish *wish)
{
	struct pb_player_queue *queue = &player->queues[q];
	const uint32_t arguments[] = {wish->node, wish->entries,  q * QUEUE_BYTES,
				      0,          wish->priority, wish->quantum_us};

	if (queue->open || queue->asked)
		return false;
	memset(page_of(player, q), 0, sizeof(struct pb_queue_page));
	page_of(player, q)->stop_us = player->stop_us;
	*queue = (struct pb_player_queue){.node = wish->node, .entries = wish->entries};
	queue->asked = pb_client_post(&player->client, PB_COMMAND_QUEUE_CREATE, q, arguments, 6);
	return queue->asked;
}

bool pb_player_create(struct pb_player *player, uint32_t q, uint32_t node, uint32_t priority)
{
	return pb_player_create_with(
		player, q,
		&(struct pb_player_wish){.node = node, .priority = priority, .entries = PB_PLAYER_ENTRIES});
}

bool pb_player_destroy(struct pb_player *player, uint32_t q)
{
	struct pb_player_queue *queue = &player->queues[q];

	if (!queue->open || queue->asked)
		return false;
	queue->asked = pb_client_post(&player->client, PB_COMMAND_QUEUE_DESTROY, q, &queue->handle, 1);
	return queue->asked;
}

uint32_t pb_player_outstanding(const struct pb_player *player, uint32_t q)
{
	const struct pb_player_queue *queue = &player->queues[q];

	return queue->open ? queue->put - pb_shared_read32(&page_of(player, q)->fence.completed) : 0;
}

uint32_t pb_player_failed(const struct pb_player *player, uint32_t q)
{
	return player->queues[q].open ? pb_shared_read32(&page_of(player, q)->fence.errors) : 0;
}

uint64_t pb_player_reached(const struct pb_player *player, uint32_t q)
{
	const struct pb_fence_record *record = &page_of(player, q)->fence;

	return (uint64_t)pb_shared_read32(&record->timeline_high) << 32 |
	       pb_shared_read32(&record->timeline_low);
}

bool pb_player_check(struct pb_player *player)
{
	for (uint32_t q = 0; q < PB_PLAYER_QUEUES; q++) {
		struct pb_player_queue *queue = &player->queues[q];
		const uint64_t reached = queue->open ? pb_player_reached(player, q) : 0;

		if (!queue->open)
			continue;
		if (reached < queue->reached || reached > queue->timeline ||
		    pb_player_outstanding(player, q) > queue->entries)
			return false;
		queue->reached = reached;
	}
	return true;
}

bool pb_player_submit(struct pb_player *player, uint32_t q, const struct pb_player_submission *submission)
{
	struct pb_player_queue *queue = &player->queues[q];
	struct pb_queue_page *page = page_of(player, q);
	const uint32_t at = queue->put % (queue->open ? queue->entries : 1u);
	const uint32_t wait = (q * PB_PLAYER_ENTRIES + at) * (uint32_t)sizeof(struct pb_wait);
	const bool runs = submission->program != PB_PLAYER_EMPTY;
	const uint64_t timeline = queue->timeline + 1u;
	const struct pb_descriptor descriptor = {
		.context = submission->wrong ? UINT32_MAX : player->context,
		.fence_id = (uint32_t)timeline,
		.timeline_low = (uint32_t)timeline,
		.timeline_high = (uint32_t)(timeline >> 32),
		.dma_address_low = BUFFERS_AT + (uint32_t)submission->program * PB_PAGE_BYTES,
		.dma_size = PB_PAGE_BYTES,
		.dma_end = player->words[submission->program] * 4u,
		.allocation_count = runs && submission->patches != 0 ? 1u : 0u,
		.allocation_address_low = ALLOCATION_AT,
		.patch_address_low = PATCHES_AT,
		.patch_count = runs ? submission->patches : 0,
		.patch_length = runs ? submission->patches : 0,
		.wait_count = submission->awaited != 0 ? 1u : 0u,
		.wait_address_low = WAITS_AT + wait,
	};

	if (!queue->open || queue->asked || pb_player_outstanding(player, q) >= queue->entries)
		return false;
	*(struct pb_wait *)(void *)(player->memory + WAITS_AT + wait) =
		(struct pb_wait){.queue = submission->awaited,
				 .timeline_low = (uint32_t)submission->awaited_time,
				 .timeline_high = (uint32_t)(submission->awaited_time >> 32)};
	((struct pb_descriptor *)(void *)(page + 1))[at] = descriptor;
	queue->timeline = timeline;
	pb_shared_release();
	pb_shared_write32(&page->put, ++queue->put);
	pb_client_kick(&player->client, queue->handle);
	return true;
}

static void note_queue(struct pb_player *player, const struct pb_question *question,
		       const struct pb_reply *reply)
{
	struct pb_player_queue *queue = &player->queues[question->object % PB_PLAYER_QUEUES];

	if (question->code == PB_COMMAND_QUEUE_CREATE) {
		queue->asked = false;
		queue->open = reply->error == PB_ERROR_OK;
		queue->handle = reply->results[0];
	} else if (question->code == PB_COMMAND_QUEUE_DESTROY) {
		*queue = (struct pb_player_queue){.node = queue->node};
	}
}

void pb_player_read(struct pb_player *player,
		    void (*replied)(void *context, const struct pb_question *question,
				    const struct pb_reply *reply),
		    void *context)
{
	struct pb_question question;
	struct pb_reply reply;
	struct pb_event event;

	while (pb_client_event(&player->client, &event))
		continue;
	while (pb_client_reply(&player->client, &reply, &question)) {
		player->replies++;
		note_queue(player, &question, &reply);
		if (replied != NULL)
			replied(context, &question, &reply);
	}
}
