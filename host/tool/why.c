/* SPDX-License-Identifier: MIT */
#include "host/tool/why.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/tool/json_number.h"

/* Larger than the number of channels of any card. */
#define CHANNELS_LIMIT 32u
/* Size of a queue's name, in bytes. */
#define NAME_BYTES 24u

/* Parses a number that the character `end` follows. @param rest out: points to `end` */
static bool read_number(const char *text, char end, uint64_t most, uint32_t *number, const char **rest)
{
	unsigned long long value;
	char *stop;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	value = strtoull(text, &stop, 0);
	if (errno != 0 || *stop != end || value > most)
		return false;
	*number = (uint32_t)value;
	*rest = stop;
	return true;
}

bool pb_why_parse(const char *text, struct pb_why_queue *queue)
{
	const char *rest = text;

	*queue = (struct pb_why_queue){0};
	if (read_number(text, '\0', UINT32_MAX, &queue->handle, &rest))
		return PB_HANDLE_GENERATION(queue->handle) != 0;
	return read_number(text, ':', CHANNELS_LIMIT - 1u, &queue->channel, &rest) && queue->channel != 0 &&
	       read_number(rest + 1, '\0', UINT16_MAX, &queue->handle, &rest);
}

enum pb_error pb_why_ask(struct pb_channel *channel, struct pb_why_queue *queue, struct pb_queue_state *state)
{
	const uint32_t count = channel->card.channel_count;
	enum pb_error error = PB_ERROR_BAD_HANDLE;

	if (queue->channel != 0)
		return pb_handle_query(channel, queue->channel, queue->handle, state);
	for (uint32_t c = 1; c < count && c < CHANNELS_LIMIT && error == PB_ERROR_BAD_HANDLE; c++) {
		error = pb_handle_query(channel, c, queue->handle, state);
		if (error == PB_ERROR_OK)
			queue->channel = c;
	}
	return error;
}

/* ---- words ---- */

/* Names a queue as the command takes it. */
static void name_queue(uint32_t channel, uint32_t handle, char *text)
{
	(void)snprintf(text, NAME_BYTES, "%" PRIu32 ":%" PRIu32, channel, PB_HANDLE_INDEX(handle));
}

void pb_why_sentence(const struct pb_why_queue *queue, const struct pb_queue_state *state, char *text)
{
	const bool runs = state->why == PB_WHY_RUNNING;
	char name[NAME_BYTES], other[NAME_BYTES], waits[64] = "";

	name_queue(queue->channel, queue->handle, name);
	/* A queue waits for queues of its own channel. */
	name_queue(queue->channel, state->waits_for_queue, other);
	if (state->why == PB_WHY_WAITING)
		(void)snprintf(waits, sizeof(waits), " (%s to reach %" PRIu64 ")", other,
			       state->waits_for_value);
	(void)snprintf(text, PB_WHY_BYTES,
		       "Queue %s (node %" PRIu32 ", priority %s) %s: %s%s; %" PRIu32 " submitted, %" PRIu32
		       " admitted, %" PRIu32 " completed, timeline %" PRIu64 "%s.",
		       name, state->node, pb_priority_name(state->priority), runs ? "runs" : "does not run",
		       pb_why_meaning(state->why), waits, state->put, state->admitted, state->completed,
		       state->timeline, state->failed ? "; a submission failed" : "");
}

static cJSON *waits_json(uint32_t channel, const struct pb_queue_state *state)
{
	char name[NAME_BYTES];
	cJSON *object;

	if (state->why != PB_WHY_WAITING)
		return cJSON_CreateNull();
	object = cJSON_CreateObject();
	name_queue(channel, state->waits_for_queue, name);
	cJSON_AddStringToObject(object, "name", name);
	cJSON_AddNumberToObject(object, "queue", state->waits_for_queue);
	pb_json_number(object, "timeline", state->waits_for_value);
	return object;
}

char *pb_why_json(const struct pb_why_queue *queue, const struct pb_queue_state *state)
{
	cJSON *object = cJSON_CreateObject();
	char name[NAME_BYTES];
	char *text;

	name_queue(queue->channel, queue->handle, name);
	cJSON_AddStringToObject(object, "name", name);
	cJSON_AddNumberToObject(object, "channel", queue->channel);
	cJSON_AddNumberToObject(object, "queue", queue->handle);
	cJSON_AddStringToObject(object, "why", pb_why_name(state->why));
	cJSON_AddStringToObject(object, "meaning", pb_why_meaning(state->why));
	cJSON_AddItemToObject(object, "waits_for", waits_json(queue->channel, state));
	cJSON_AddNumberToObject(object, "put", state->put);
	cJSON_AddNumberToObject(object, "admitted", state->admitted);
	cJSON_AddNumberToObject(object, "completed", state->completed);
	pb_json_number(object, "timeline", state->timeline);
	cJSON_AddBoolToObject(object, "failed", state->failed);
	cJSON_AddBoolToObject(object, "suspended", state->suspended);
	cJSON_AddNumberToObject(object, "node", state->node);
	cJSON_AddStringToObject(object, "priority", pb_priority_name(state->priority));
	text = cJSON_Print(object);
	cJSON_Delete(object);
	return text;
}
