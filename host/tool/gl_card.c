/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/gl_card.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/tool/card_failure.h"
#include "patchbay/format.h"
#include "patchbay/query.h"

#define ATTACH_TIMEOUT_US 30000000u
/* For a wait of the client: longer than any limit of a submission, and its reset. */
#define WAIT_TIMEOUT_US 120000000u
#define RESOURCES       32768u
/* Segment 0: batches, a paging buffer, two queues. A card with many programs has room for fewer batches of each. */
#define SLOTS_MIN    3u
#define QUEUES_BYTES 0x20000u
/* More than the batches in turn: a full ring is waited for until it is empty. */
#define RING_ENTRIES  32u
#define STAGING_BYTES 0xc00000u
/* Least addresses with which a program is taken. */
#define MEMORY_BYTES_MIN 0x100000u
#define PAGE_BYTES       4096u
/* Segment ids, and where they lie for host and engine. */
#define ID_OF(part)   ((uint32_t)(part) + 1u)
#define SYSTEM_BASE   0x10000000u
#define RESOURCE_BASE 0x40000000u
#define STAGING_BASE  0xc0000000u

static bool fail(const struct pb_gl_card *card, char *message, const char *what, enum pb_error error)
{
	char failure[PB_CARD_FAILURE_BYTES];

	pb_card_failure(&card->channel, error, failure);
	(void)snprintf(message, PB_GL_MESSAGE_BYTES, "%s: %s", what, failure);
	return false;
}

/* ---- segments ---- */

static bool make_segment(struct pb_gl_card *card, uint32_t part, uint64_t base, uint64_t bytes, bool outer,
			 enum pb_error *error)
{
	const struct pb_segment_request request = {
		.id = ID_OF(part),
		.os_base = base,
		.gpu_base = base,
		.size = bytes,
		.backing_bytes = (uint32_t)bytes,
		.kind = outer ? PB_SEGMENT_OUTER : PB_SEGMENT_LINEAR,
	};

	*error = pb_segment_create(&card->segments[part], &card->channel, &request);
	if (*error != PB_ERROR_OK)
		return false;
	card->setup.segments[part] = (struct pb_residency_segment){
		.id = request.id, .kind = request.kind, .os_base = base, .gpu_base = base, .bytes = bytes};
	return true;
}

/* Both segments of what the card has: the staging memory first, half as much while there is not enough. */
static bool make_segments(struct pb_gl_card *card, const struct pb_gl_card_options *options, char *message)
{
	const bool outer = card->channel.card.capabilities[PB_CAPABILITY_OUTER_BYTES] != 0;
	const struct {
		uint64_t base, bytes, least;
	} parts[PB_GL_SEGMENTS] = {
		[PB_GL_SEGMENT_RESOURCES] = {RESOURCE_BASE, options->memory_bytes, MEMORY_BYTES_MIN},
		[PB_GL_SEGMENT_STAGING] = {STAGING_BASE, STAGING_BYTES,
					   PB_GL_CLIENT_SLOTS * PB_GL_STAGING_BYTES_MIN},
	};

	for (uint32_t i = PB_GL_SEGMENTS; i-- != 0;) {
		uint64_t bytes = parts[i].bytes;
		enum pb_error error = PB_ERROR_NO_SPACE;

		while (bytes >= parts[i].least && error == PB_ERROR_NO_SPACE) {
			if (!make_segment(card, i, parts[i].base, bytes, outer, &error))
				bytes = bytes / 2u / PAGE_BYTES * PAGE_BYTES;
		}
		if (error != PB_ERROR_OK)
			return fail(card, message, "video memory", error);
	}
	card->setup.staging = card->link->memory + card->segments[PB_GL_SEGMENT_STAGING].memory_offset;
	return true;
}

/* Segment 0, with room for so many batches. */
static enum pb_error make_system_for(struct pb_gl_card *card, uint32_t slots)
{
	const uint32_t bytes = slots * PB_GL_SLOT_BYTES + QUEUES_BYTES;
	const struct pb_segment_request request = {
		.id = PB_SEGMENT_SYSTEM,
		.os_base = SYSTEM_BASE,
		.gpu_base = SYSTEM_BASE,
		.size = bytes,
		.backing_bytes = bytes,
	};

	card->setup.slot_count = slots;
	return pb_segment_create(&card->system, &card->channel, &request);
}

static bool make_system(struct pb_gl_card *card, char *message)
{
	uint32_t slots = PB_GL_CLIENT_SLOTS;
	enum pb_error error = make_system_for(card, slots);

	while (error == PB_ERROR_NO_SPACE && slots > SLOTS_MIN)
		error = make_system_for(card, --slots);
	for (uint32_t i = 0; error == PB_ERROR_OK && i < slots; i++)
		error = pb_memory_allocate(&card->system, PB_GL_SLOT_BYTES, PAGE_BYTES,
					   &card->setup.slots[i]);
	if (error == PB_ERROR_OK)
		error = pb_memory_allocate(&card->system, PAGE_BYTES, PAGE_BYTES, &card->setup.buffer);
	return error == PB_ERROR_OK || fail(card, message, "system memory", error);
}

/* ---- queues ---- */

/* The first 3D node; the number of nodes if there is none. */
static uint32_t find_node(const struct pb_card_info *card)
{
	const uint32_t nodes = card->capabilities[PB_CAPABILITY_NODES];
	const uint32_t kinds = card->capabilities[PB_CAPABILITY_NODE_KINDS];
	uint32_t node = 0;

	while (node < nodes && node < 8 && (kinds >> 4 * node & 0xfu) != PB_NODE_3D)
		node++;
	return node;
}

static bool make_queues(struct pb_gl_card *card, const struct pb_gl_card_options *options, char *message)
{
	const struct pb_queue_request request = {
		.node = find_node(&card->channel.card),
		.entries = RING_ENTRIES,
		.priority = options->priority,
	};
	enum pb_error error = pb_queue_create_with(&card->queue, &card->channel, &card->system, &request);

	if (error == PB_ERROR_OK)
		error = pb_queue_create_with(&card->paging, &card->channel, &card->system, &request);
	if (error != PB_ERROR_OK)
		return fail(card, message, "queue", error);
	/* The card with a GL engine sets the node's limits: a channel may only ask for shorter ones. */
	if (options->hang_us != 0)
		pb_queue_set_limits(&card->queue, options->hang_us, options->hang_us);
	error = pb_context_create(&card->channel, &card->setup.context);
	for (uint32_t i = 0; error == PB_ERROR_OK && i < 2; i++)
		error = pb_format_set(&card->channel, PB_GL_FORMAT_PAGE + i, &pb_gl_formats[i], NULL);
	card->setup.queue = &card->queue;
	card->setup.paging = &card->paging;
	return error == PB_ERROR_OK || fail(card, message, "context", error);
}

/* ---- memory ---- */

static bool make_memory(struct pb_gl_card *card, char *message)
{
	struct pb_gl_client_setup *setup = &card->setup;
	bool good;

	setup->timeout_us = WAIT_TIMEOUT_US;
	setup->resource_count = RESOURCES;
	setup->resources = calloc(RESOURCES, sizeof(*setup->resources));
	setup->chains = calloc(RESOURCES, sizeof(*setup->chains));
	setup->ids = calloc(RESOURCES + 1u, sizeof(*setup->ids));
	setup->allocations = calloc(RESOURCES + 1u, sizeof(*setup->allocations));
	setup->objects = calloc(PB_GL_OBJECTS, sizeof(*setup->objects));
	setup->sub_contexts = calloc(PB_GL_SUB_CONTEXTS, sizeof(*setup->sub_contexts));
	card->client = calloc(1, sizeof(*card->client));
	good = setup->resources != NULL && setup->chains != NULL && setup->ids != NULL &&
	       setup->allocations != NULL && setup->objects != NULL && setup->sub_contexts != NULL &&
	       card->client != NULL;
	for (uint32_t i = 0; i < PB_GL_CLIENT_SLOTS; i++) {
		setup->slot_ids[i] = calloc(PB_GL_ALLOCATIONS, sizeof(*setup->slot_ids[i]));
		good = good && setup->slot_ids[i] != NULL;
	}
	if (!good)
		(void)snprintf(message, PB_GL_MESSAGE_BYTES, "out of memory");
	return good;
}

static void free_memory(struct pb_gl_card *card)
{
	struct pb_gl_client_setup *setup = &card->setup;

	for (uint32_t i = 0; i < PB_GL_CLIENT_SLOTS; i++)
		free(setup->slot_ids[i]);
	free(setup->resources);
	free(setup->chains);
	free(setup->ids);
	free(setup->allocations);
	free(setup->objects);
	free(setup->sub_contexts);
	free(card->client);
}

/* ---- open and close ---- */

static bool attach(struct pb_gl_card *card, const struct pb_gl_card_options *options, char *message)
{
	enum pb_error error = pb_link_open_socket(options->socket, &card->link);

	if (error != PB_ERROR_OK) {
		(void)snprintf(message, PB_GL_MESSAGE_BYTES, "%s: %s: %s%s%s", options->socket,
			       pb_error_name(error), pb_error_meaning(error),
			       error == PB_ERROR_SYSTEM ? ": " : "",
			       error == PB_ERROR_SYSTEM ? strerror(errno) : "");
		return false;
	}
	error = pb_channel_attach(&card->channel, card->link, ATTACH_TIMEOUT_US);
	return error == PB_ERROR_OK || fail(card, message, "attach", error);
}

/* Asks for a weight, and waits until the channel has it: the card's administrator gives it. */
static bool weigh(struct pb_gl_card *card, uint32_t weight, char *message)
{
	const uint64_t start = card->link->ops->now(card->link);
	struct pb_channel_status status = {.weight = 1};
	enum pb_error error = PB_ERROR_OK;

	if (weight == 1)
		return true;
	error = pb_link_ask_weight(card->link, weight);
	while (error == PB_ERROR_OK && status.weight != weight) {
		error = pb_channel_query(&card->channel, &status);
		if (error == PB_ERROR_OK && card->link->ops->now(card->link) - start > ATTACH_TIMEOUT_US)
			error = PB_ERROR_TIMEOUT;
	}
	return error == PB_ERROR_OK || fail(card, message, "weight", error);
}

bool pb_gl_card_open(struct pb_gl_card *card, const struct pb_gl_card_options *options, char *message)
{
	*card = PB_GL_CARD_CLOSED;
	if (!attach(card, options, message) || !weigh(card, options->weight, message) ||
	    !make_system(card, message) || !make_queues(card, options, message) ||
	    !make_segments(card, options, message) || !make_memory(card, message))
		return false;
	card->started = true;
	if (pb_gl_client_start(card->client, &card->setup))
		return true;
	pb_gl_card_failure(card, message);
	return false;
}

void pb_gl_card_close(struct pb_gl_card *card)
{
	if (card->started)
		(void)pb_gl_client_end(card->client);
	if (card->channel.attached)
		(void)pb_channel_detach(&card->channel);
	if (card->link != NULL)
		card->link->ops->close(card->link);
	free_memory(card);
}

void pb_gl_card_failure(const struct pb_gl_card *card, char *text)
{
	const struct pb_gl_failure *failure = &card->client->failure;
	char reason[PB_CARD_FAILURE_BYTES];

	if (failure->command < PB_GL_COMMAND_COUNT || (failure->program && failure->word != 0)) {
		(void)snprintf(text, PB_GL_MESSAGE_BYTES, "command %u (%s) at word %u: %s",
			       (unsigned)failure->command, pb_gl_command_name(failure->command),
			       (unsigned)failure->word, failure->what);
	} else if (failure->error != PB_ERROR_OK) {
		pb_card_failure(&card->channel, failure->error, reason);
		(void)snprintf(text, PB_GL_MESSAGE_BYTES, "%s: %s", failure->what, reason);
	} else {
		(void)snprintf(text, PB_GL_MESSAGE_BYTES, "%s",
			       failure->what != NULL ? failure->what : "no failure");
	}
}
