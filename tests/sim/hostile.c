/* SPDX-License-Identifier: MIT */
#include "tests/sim/hostile.h"

#include <string.h>

#include "hal/engine/registers.h"
#include "tests/sim/actions.h"
#include "tests/sim/host.h"
#include "tests/sim/host_memory.h"
#include "tests/sim/submission.h"
#include "tests/sim/supervisor.h"

#define ENTRY_WORDS (sizeof(struct pb_channel_entry) / sizeof(uint32_t))
/** Words of the channel entry's two lines that the host writes. */
#define HOST_WORDS 32u
/** The kick ring follows the rings of commands, replies and events. */
#define RINGS_WORDS                                                                                          \
	((PB_LIMIT_CONTROL_ENTRIES * (sizeof(struct pb_command) + sizeof(struct pb_reply)) +                 \
	  PB_LIMIT_EVENT_ENTRIES * sizeof(struct pb_event)) /                                                \
		 sizeof(uint32_t) +                                                                          \
	 PB_LIMIT_KICK_ENTRIES)

uint32_t pb_hostile_range(const struct pb_world *world, uint32_t channel, uint32_t segment, uint32_t *offset)
{
	const struct pb_engine_range_entry *entry =
		(const struct pb_engine_range_entry *)(const void *)(world->memory + PB_CARD_RANGES_OFFSET) +
		channel * PB_ENGINE_RANGES + segment;

	*offset = pb_shared_read32(&entry->memory_offset);
	return (*offset & PB_ENGINE_RANGE_PAGED) == 0 ? pb_shared_read32(&entry->bytes) : 0;
}

/* ---- one garbage word ---- */

static uint32_t random_value(struct pb_run *run, const uint32_t *word)
{
	const uint32_t now = pb_shared_read32(word);

	switch (pb_random_below(&run->random, 6)) {
	case 0:
		return (uint32_t)pb_random_next(&run->random);
	case 1:
		return pb_random_below(&run->random, 40);
	case 2:
		return now + 1u + pb_random_below(&run->random, 3);
	case 3:
		return now ^ 1u << pb_random_below(&run->random, 32);
	case 4:
		return PB_HANDLE(pb_random_below(&run->random, 16), 1u + pb_random_below(&run->random, 4));
	default:
		return 0u - pb_random_below(&run->random, 40);
	}
}

/** A random word of the host's segments. @return NULL: it has no segment */
static uint32_t *random_memory(struct pb_run *run, uint32_t channel)
{
	const uint32_t first = pb_random_below(&run->random, PB_ENGINE_RANGES);
	uint32_t offset, bytes;

	for (uint32_t i = 0; i < PB_ENGINE_RANGES; i++) {
		/* Mostly the pages and rings of queues, which lie first in segment 0. */
		bytes = pb_hostile_range(&run->world, channel, i == 0 ? 0 : (first + i) % PB_ENGINE_RANGES,
					 &offset);
		if (bytes == 0 || (i == 0 && pb_random_one_in(&run->random, 4)))
			continue;
		if (i == 0 && bytes > 0x3000u && pb_random_one_in(&run->random, 2))
			bytes = 0x3000u;
		return (uint32_t *)(void *)(run->world.memory + offset) +
		       pb_random_below(&run->random, bytes / 4u);
	}
	return NULL;
}

static uint32_t *random_word(struct pb_run *run, struct pb_client *client, uint32_t entry_words)
{
	uint32_t *entry = (uint32_t *)(void *)client->entry;
	uint32_t *rings = (uint32_t *)(void *)(run->world.memory + client->control_offset);
	const uint32_t roll = pb_random_below(&run->random, 16);

	/* An invalid index ends all other traffic. Most schedules therefore write few of them, or none. */
	if (roll < 4u && (run->garbage & 3u) != 0 && !pb_random_one_in(&run->random, 16))
		return random_memory(run, client->channel);
	if (roll < 3u)
		return &client->entry->control_put + pb_random_below(&run->random, 6);
	if (roll == 3u && entry_words != 0)
		return entry + pb_random_below(&run->random,
					       pb_random_one_in(&run->random, 2) ? HOST_WORDS : entry_words);
	if (roll < 8u)
		return rings + pb_random_below(&run->random, roll < 6u ? 256u : RINGS_WORDS);
	return random_memory(run, client->channel);
}

/** @param entry_words number of words of the channel entry that may become garbage, too */
static void write_garbage(struct pb_run *run, struct pb_client *client, uint32_t entry_words)
{
	uint32_t *word = random_word(run, client, entry_words);

	if (word == NULL)
		return;
	pb_shared_write32(word, random_value(run, word));
	run->totals.hostile++;
	if (pb_random_one_in(&run->random, 3))
		run->world.host_lines.pending |= 1u << PB_LINE_CHANNEL(client->channel);
}

/** Writes garbage as one of the hosts that do so. The supervisor owns the entry of a channel that it closes. */
static void write_garbage_as_one(struct pb_run *run)
{
	const uint32_t first = pb_random_below(&run->random, PB_HOSTS);

	if ((run->rates & PB_RATE_HOSTILE) != 0 && pb_random_one_in(&run->random, 2)) {
		write_garbage(run, &run->hostile.client, ENTRY_WORDS);
		return;
	}
	for (uint32_t i = 0; i < run->host_count; i++) {
		struct pb_host *host = &run->hosts[(first + i) % run->host_count];

		if (!host->died)
			continue;
		write_garbage(run, &host->client,
			      (run->closing >> host->client.channel & 1u) == 0 ? HOST_WORDS : 0);
		return;
	}
	if ((run->rates & PB_RATE_HOSTILE) != 0)
		write_garbage(run, &run->hostile.client, ENTRY_WORDS);
}

static void strike(void *context)
{
	struct pb_run *run = context;

	for (uint32_t i = 1u + pb_random_below(&run->random, 3); i != 0; i--)
		write_garbage_as_one(run);
}

bool pb_hostile_present(const struct pb_run *run)
{
	bool present = (run->rates & PB_RATE_HOSTILE) != 0;

	for (uint32_t h = 0; h < run->host_count; h++)
		present = present || run->hosts[h].died;
	return present;
}

void pb_hostile_plan(struct pb_run *run)
{
	if (!run->supervising || !pb_hostile_present(run) ||
	    !pb_random_one_in(&run->random, (run->garbage & 4u) != 0 ? 16u : 3u))
		return;
	run->world.strike_at = 1u + pb_random_below(&run->random, pb_world_touches.often);
	run->world.strike = strike;
	run->world.strike_context = run;
}

/* ---- valid commands, so that there is something to spoil ---- */

/** The replies may be garbage, so the range table shows which segments exist. */
static bool has_memory(struct pb_run *run, struct pb_host *host)
{
	bool has = true;

	for (uint32_t segment = 0; segment < PB_SEGMENTS; segment++) {
		const uint32_t wanted = segment == 0 ? PB_SUBMISSION_SYSTEM_BYTES : PB_SUBMISSION_VIDEO_BYTES;
		uint32_t offset;

		has = pb_hostile_range(&run->world, host->client.channel, segment, &offset) >= wanted && has;
		host->memory[segment] = run->world.memory + offset;
	}
	for (uint32_t q = 0; q < PB_QUEUES; q++)
		host->queues[q].page = (void *)(host->memory[0] + pb_submission_queue_offset(q));
	return has;
}

static void read_replies(struct pb_host *host)
{
	struct pb_question question;
	struct pb_reply reply;

	for (uint32_t i = 0;
	     i < PB_LIMIT_CONTROL_ENTRIES && pb_client_reply(&host->client, &reply, &question); i++) {
		if (reply.error == PB_ERROR_OK && question.code == PB_COMMAND_CONTEXT_CREATE)
			host->contexts[question.object % PB_CONTEXTS].handle = reply.results[0];
		if (question.code != PB_COMMAND_QUEUE_CREATE)
			continue;
		host->queues[question.object % PB_QUEUES].handle = reply.results[0];
		host->queues[question.object % PB_QUEUES].life =
			reply.error == PB_ERROR_OK ? PB_QUEUE_OPEN : PB_QUEUE_ABSENT;
	}
	if (pb_client_open_questions(&host->client) >= 8u)
		pb_client_forget(&host->client);
}

/** Assumes now and then that its rings are drained, whatever the records say. */
static void forget_submissions(struct pb_host *host)
{
	for (uint32_t q = 0; q < PB_QUEUES; q++) {
		struct pb_queue_view *queue = &host->queues[q];

		queue->completed = queue->put;
		queue->back_count = 0;
		if (queue->life != PB_QUEUE_OPEN)
			queue->life = PB_QUEUE_ABSENT;
	}
	for (uint32_t p = 0; p < PB_SLOTS; p++)
		host->slots[p].used = false;
	host->mark_count = 0;
}

static void post_random_command(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue)
{
	const uint32_t arguments[] = {queue->handle, queue->put, pb_random_below(&run->random, 4),
				      pb_random_below(&run->random, 4)};

	if (queue->life == PB_QUEUE_ABSENT)
		pb_host_create_queue(run, host, (uint32_t)(queue - host->queues));
	else
		pb_client_post(&host->client, 8u + pb_random_below(&run->random, 13), 0, arguments, 4);
}

static void act_validly(struct pb_run *run, struct pb_host *host)
{
	const uint32_t state = pb_shared_read32(&host->client.entry->state);
	struct pb_queue_view *queue = &host->queues[pb_random_below(&run->random, 3)];

	read_replies(host);
	if (state != PB_CHANNEL_OPEN || pb_random_one_in(&run->random, 64)) {
		pb_host_begin(run, host);
		pb_client_ask(&host->client, PB_ATTACH_OP_ATTACH);
	} else if (!has_memory(run, host)) {
		pb_client_forget(&host->client);
		pb_host_create_segments(run, host);
		for (uint32_t c = 0; c < PB_CONTEXTS; c++)
			pb_client_post(&host->client, PB_COMMAND_CONTEXT_CREATE, c, NULL, 0);
	} else if (queue->life == PB_QUEUE_ABSENT || pb_random_one_in(&run->random, 6)) {
		post_random_command(run, host, queue);
	} else {
		if (pb_random_one_in(&run->random, 8) || host->mark_count > PB_MARKS / 2u)
			forget_submissions(host);
		for (uint32_t i = pb_random_below(&run->random, 4); i != 0 && has_memory(run, host); i--)
			pb_act_submit(run, host, queue);
	}
}

void pb_hostile_act(struct pb_run *run)
{
	/* The hostile host counts neither for the patience of others nor in the totals. */
	const struct pb_totals totals = run->totals;
	uint64_t submissions;

	if ((run->rates & PB_RATE_HOSTILE) != 0 && (run->closing >> run->hostile.client.channel & 1u) == 0)
		act_validly(run, &run->hostile);
	submissions = run->totals.submissions - totals.submissions;
	run->totals = totals;
	run->totals.hostile_submissions += submissions;
	if ((run->rates & PB_RATE_HOSTILE) != 0)
		pb_host_memory_act(run);
	if ((run->garbage & 4u) != 0 && !pb_random_one_in(&run->random, 4))
		return;
	for (uint32_t i = pb_random_below(&run->random, 6); i != 0; i--)
		write_garbage_as_one(run);
}

void pb_hostile_end(struct pb_run *run)
{
	run->world.strike_at = 0;
	if ((run->rates & PB_RATE_HOSTILE) == 0)
		return;
	run->rates &= ~(uint32_t)PB_RATE_HOSTILE;
	pb_supervisor_close(run, run->hostile.client.channel);
}
