/* SPDX-License-Identifier: MIT */
/* A client's commands: handles become ids, transfers leave the stream, everything else goes to the batch. */
#include "hal/gl/stream.h"
#include "host/gl/client_internal.h"

/* Words of TRANSFER3D and COPY_TRANSFER3D, with the header. */
enum {
	TRANSFER_RESOURCE = 1,
	TRANSFER_LEVEL = 2,
	TRANSFER_STRIDE = 4,
	TRANSFER_LAYER_STRIDE = 5,
	TRANSFER_BOX = 6,
	TRANSFER_OFFSET = 12,
	TRANSFER_DIRECTION = 13,
	COPY_SOURCE = 12,
	COPY_OFFSET = 13,
	COPY_FLAGS = 14,
};
/* Direction of a TRANSFER3D: to the resource, from the resource. */
#define DIRECTION_TO   1u
#define DIRECTION_FROM 2u
/* Flag of a COPY_TRANSFER3D: from the resource to the memory. */
#define COPY_FROM 2u

/** A walk through one message. */
struct walk {
	struct pb_gl_client *client;
	uint32_t use_count; /**< of the present command, in client->uses */
};

static bool note_resource(void *context, const struct pb_gl_use *use, uint32_t *value)
{
	struct walk *walk = context;
	struct pb_gl_resource *resource = pb_gl_resources_find(&walk->client->resources, *value);
	const bool data = use->number == PB_GL_TRANSFER3D || use->number == PB_GL_COPY_TRANSFER3D;

	if (resource == NULL)
		return pb_gl_refuse(walk->client, "a command that names a resource that does not exist");
	if (walk->use_count == PB_GL_USES_MAX)
		return pb_gl_refuse(walk->client, "a command that names too many resources");
	if (!data && !pb_gl_touch(walk->client, resource))
		return false;
	walk->client->uses[walk->use_count++] =
		(struct pb_gl_batch_use){.word = use->word - use->command, .access = use->access};
	*value = resource->id;
	return true;
}

/** Runs a TRANSFER3D or a COPY_TRANSFER3D: the client's memory is not the engine's. */
static bool run_transfer(struct pb_gl_client *client, const struct pb_gl_command *command)
{
	const uint32_t *words = command->words;
	const bool copy = command->number == PB_GL_COPY_TRANSFER3D;
	struct pb_gl_resource *resource = pb_gl_resources_at(&client->resources, words[TRANSFER_RESOURCE]);
	const struct pb_gl_resource *source =
		copy ? pb_gl_resources_at(&client->resources, words[COPY_SOURCE]) : resource;
	const bool to_resource =
		copy ? (words[COPY_FLAGS] & COPY_FROM) == 0 : words[TRANSFER_DIRECTION] == DIRECTION_TO;
	struct pb_gl_transfer_request request = {
		.level = words[TRANSFER_LEVEL],
		.stride = words[TRANSFER_STRIDE],
		.layer_stride = words[TRANSFER_LAYER_STRIDE],
		.offset = words[copy ? COPY_OFFSET : TRANSFER_OFFSET],
	};

	if (resource == NULL || source == NULL || source->memory == NULL)
		return pb_gl_refuse(client, "a transfer of a resource without memory");
	if (!copy && !to_resource && words[TRANSFER_DIRECTION] != DIRECTION_FROM)
		return pb_gl_refuse(client, "a transfer without a direction");
	for (uint32_t i = 0; i < PB_GL_BOX_WORDS; i++)
		request.box[i] = words[TRANSFER_BOX + i];
	request.template_words = resource->template_words;
	request.available = source->memory_bytes;
	return pb_gl_run_transfer(client, resource, &request, to_resource, source->memory);
}

/** Appends a command; submits the batch first if it is full. */
static enum pb_gl_status append(struct walk *walk, const struct pb_gl_command *command)
{
	struct pb_gl_client *client = walk->client;
	enum pb_gl_status status = PB_GL_STATUS_OK;
	enum pb_gl_batch_result result = pb_gl_batch_command(&client->batch, &client->context, command,
							     client->uses, walk->use_count, &status);

	if (result == PB_GL_BATCH_FULL) {
		if (!pb_gl_client_flush(client))
			return PB_GL_STATUS_STOPPED;
		result = pb_gl_batch_command(&client->batch, &client->context, command, client->uses,
					     walk->use_count, &status);
	}
	return result == PB_GL_BATCH_OK ? PB_GL_STATUS_OK : status;
}

static enum pb_gl_status note_command(void *context, const struct pb_gl_command *command)
{
	struct walk *walk = context;
	enum pb_gl_status status = PB_GL_STATUS_OK;

	walk->client->figures.commands++;
	if (command->number == PB_GL_TRANSFER3D || command->number == PB_GL_COPY_TRANSFER3D) {
		if (!run_transfer(walk->client, command))
			status = PB_GL_STATUS_STOPPED;
	} else if (command->number != PB_GL_END_TRANSFERS) {
		status = append(walk, command);
	}
	walk->use_count = 0;
	return status;
}

bool pb_gl_client_submit(struct pb_gl_client *client, uint32_t *words, uint32_t count)
{
	static const struct pb_gl_walk_ops ops = {.resource = note_resource, .command = note_command};
	struct walk walk = {.client = client};
	struct pb_gl_error error;

	pb_gl_ahead_forget(client);
	if (pb_gl_walk(words, count, &ops, &walk, &error) == PB_GL_STATUS_OK)
		return true;
	(void)pb_gl_refuse(client, pb_gl_status_text(error.status));
	client->failure.command = pb_gl_number_of(error.header);
	client->failure.word = error.word;
	return false;
}
