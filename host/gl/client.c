/* SPDX-License-Identifier: MIT */
/* Batches of a client: their memory, their submission, and the waits for them. */
#include "host/gl/client.h"

#include <string.h>

#include "hal/engine.h"
#include "hal/engine/gl_packets.h"
#include "hal/engine/packets.h"
#include "host/gl/client_internal.h"

#define PAGE_BYTES 4096u
/* Dropped resources that are kept before the account is searched for them. */
#define DROPPED_MAX 64u
/* A resource takes this part of the addresses at most, so that several have room at once. */
#define PART_MAX 16u

bool pb_gl_fail(struct pb_gl_client *client, const char *what, enum pb_error error)
{
	if (client->failure.what == NULL)
		client->failure =
			(struct pb_gl_failure){.what = what, .error = error, .command = PB_GL_COMMAND_COUNT};
	return false;
}

bool pb_gl_refuse(struct pb_gl_client *client, const char *what)
{
	(void)pb_gl_fail(client, what, PB_ERROR_OK);
	client->failure.program = true;
	return false;
}

void pb_gl_client_refuse(struct pb_gl_client *client, const char *what)
{
	(void)pb_gl_refuse(client, what);
}

/* ---- batches ---- */

static uint32_t staging_bytes(const struct pb_gl_client *client)
{
	return (uint32_t)client->setup.segments[PB_GL_SEGMENT_STAGING].bytes;
}

uint32_t pb_gl_staging_room(const struct pb_gl_client *client)
{
	return staging_bytes(client) / client->setup.slot_count / PAGE_BYTES * PAGE_BYTES;
}

static void begin_batch(struct pb_gl_client *client)
{
	uint8_t *bytes = client->setup.slots[client->slot].bytes_host;
	const struct pb_gl_batch_memory memory = {
		.words = (uint32_t *)(void *)bytes,
		.word_count = PB_GL_DMA_BYTES / sizeof(uint32_t),
		.allocations = (struct pb_allocation *)(void *)(bytes + PB_GL_ALLOCATIONS_AT),
		.allocation_count = PB_GL_ALLOCATIONS,
		.ids = client->setup.slot_ids[client->slot],
		.locations = (struct pb_patch_location *)(void *)(bytes + PB_GL_LOCATIONS_AT),
		.location_count = PB_GL_LOCATIONS,
		.unit_bytes = client->setup.segments[PB_GL_SEGMENT_RESOURCES].bytes / 2u,
	};

	client->number = client->number != UINT32_MAX ? client->number + 1u : 1u;
	client->staging_used = 0;
	pb_gl_batch_start(&client->batch, &memory, client->number);
}

/** Reads the fence record. A submission that failed ends the client: its context is lost. */
static bool read_fence(struct pb_gl_client *client, struct pb_fence *fence, enum pb_error error)
{
	if (error != PB_ERROR_OK)
		return pb_gl_fail(client, "the card does not complete what was submitted", error);
	if (fence->error != PB_ERROR_OK)
		return pb_gl_fail(client, "the context is lost", (enum pb_error)fence->error);
	client->reached = fence->timeline;
	return true;
}

bool pb_gl_wait_for(struct pb_gl_client *client, uint64_t timeline)
{
	struct pb_fence fence = {.timeline = 0};
	enum pb_error error;

	if (client->reached >= timeline)
		return true;
	error = pb_queue_wait(client->setup.queue, timeline, client->setup.timeout_us, &fence);
	return read_fence(client, &fence, error);
}

static struct pb_descriptor describe(const struct pb_gl_client *client)
{
	const struct pb_memory *slot = &client->setup.slots[client->slot];
	const struct pb_gl_batch *batch = &client->batch;
	const uint64_t allocations = slot->os_address + PB_GL_ALLOCATIONS_AT;
	const uint64_t locations = slot->os_address + PB_GL_LOCATIONS_AT;

	return (struct pb_descriptor){
		.context = client->setup.context,
		.fence_id = client->fence_id,
		.dma_address_low = (uint32_t)slot->os_address,
		.dma_address_high = (uint32_t)(slot->os_address >> 32),
		.dma_segment = PB_SEGMENT_SYSTEM,
		.dma_size = PB_GL_DMA_BYTES,
		.dma_end = batch->words * (uint32_t)sizeof(uint32_t),
		.allocation_count = batch->allocations,
		.allocation_address_low = (uint32_t)allocations,
		.allocation_address_high = (uint32_t)(allocations >> 32),
		.patch_address_low = (uint32_t)locations,
		.patch_address_high = (uint32_t)(locations >> 32),
		.patch_count = batch->locations,
		.patch_length = batch->locations,
	};
}

/** Notes that the batch's resources are in use until the queue's last value. */
static void mark_resources(struct pb_gl_client *client)
{
	const uint64_t timeline = client->setup.queue->timeline;

	for (uint32_t i = 0; i < client->batch.allocations; i++) {
		struct pb_gl_resource *resource =
			pb_gl_resources_at(&client->resources, client->batch.memory.ids[i]);

		if (resource != NULL)
			resource->timeline = timeline;
	}
	for (uint32_t i = 0; i < client->created_count; i++) {
		struct pb_gl_resource *resource = pb_gl_resources_at(&client->resources, client->created[i]);

		if (resource != NULL)
			resource->timeline = timeline;
	}
	client->created_count = 0;
	client->slots[client->slot].timeline = timeline;
}

static bool submit_batch(struct pb_gl_client *client)
{
	struct pb_gl_batch *batch = &client->batch;
	struct pb_residency_submission submission = {
		.descriptor = describe(client),
		.allocations = batch->memory.allocations,
		.locations = batch->memory.locations,
	};
	const enum pb_error error = pb_residency_submit(&client->manager, 0, &submission);

	client->fence_id += submission.parts;
	client->figures.submissions += submission.parts;
	client->figures.words += batch->words;
	client->figures.patches += batch->locations;
	if (error == PB_ERROR_NO_SPACE)
		return pb_gl_fail(client, "one command needs more video memory than there is", error);
	if (error != PB_ERROR_OK)
		return pb_gl_fail(client, "the card takes no submission", error);
	mark_resources(client);
	return true;
}

/* ---- dropped resources ---- */

static bool note_reached(void *context, uint32_t id, uint32_t access)
{
	struct pb_gl_resource *resource = pb_gl_resources_at(context, id);

	(void)access;
	if (resource != NULL)
		resource->reached = true;
	return true;
}

/** Removes a dropped resource that nothing reaches and no submission uses. */
static bool remove_dropped(struct pb_gl_client *client, struct pb_gl_resource *resource)
{
	const uint32_t handle = resource->residency;
	enum pb_error error = PB_ERROR_OK;

	/* Its packets name it by its handle's id, which is not used again before they are written. */
	if (handle != 0)
		error = pb_residency_remove(&client->manager, handle);
	if (error != PB_ERROR_OK)
		return pb_gl_fail(client, "a resource cannot be removed", error);
	if (handle != 0)
		client->setup.ids[handle - 1] = 0;
	pb_gl_resources_remove(&client->resources, resource);
	return true;
}

/** Searches for dropped resources that can be removed. Pre: the batch is empty. */
static bool collect(struct pb_gl_client *client)
{
	struct pb_gl_resources *table = &client->resources;

	for (uint32_t i = 0; i < table->count; i++)
		table->records[i].reached = false;
	(void)pb_gl_account_each(&client->account, note_reached, table);
	for (uint32_t i = 0; i < table->count && table->dropped != 0; i++) {
		struct pb_gl_resource *resource = &table->records[i];

		if (resource->id == 0 || resource->handle != 0 || resource->reached ||
		    resource->timeline > client->reached)
			continue;
		if (!remove_dropped(client, resource))
			return false;
	}
	client->kept = table->dropped;
	return true;
}

bool pb_gl_client_flush(struct pb_gl_client *client)
{
	struct pb_gl_batch *batch = &client->batch;

	if (pb_gl_batch_is_empty(batch))
		return true;
	pb_gl_batch_close(batch, &client->context);
	if (!submit_batch(client))
		return false;
	client->slot = (client->slot + 1u) % client->setup.slot_count;
	if (!pb_gl_wait_for(client, client->slots[client->slot].timeline))
		return false;
	begin_batch(client);
	return client->resources.dropped < client->kept + DROPPED_MAX || collect(client);
}

bool pb_gl_client_wait(struct pb_gl_client *client)
{
	return pb_gl_client_flush(client) && pb_gl_wait_for(client, client->setup.queue->timeline);
}

bool pb_gl_stage(struct pb_gl_client *client, uint32_t bytes, uint32_t *offset)
{
	const uint32_t rounded = (bytes + 63u) / 64u * 64u;

	if (rounded > pb_gl_staging_room(client) - client->staging_used && !pb_gl_client_flush(client))
		return false;
	*offset = client->slot * pb_gl_staging_room(client) + client->staging_used;
	client->staging_used += rounded;
	return true;
}

/* ---- resources ---- */

bool pb_gl_touch(struct pb_gl_client *client, struct pb_gl_resource *resource)
{
	const struct pb_residency_segment *segment = &client->setup.segments[PB_GL_SEGMENT_RESOURCES];
	struct pb_residency_request request = {.alignment = PAGE_BYTES, .segments = {segment->id}};
	enum pb_error error;

	if (resource->residency != 0)
		return true;
	resource->bytes = pb_gl_resource_bytes(resource->template_words,
					       segment->bytes / PART_MAX / PAGE_BYTES * PAGE_BYTES);
	request.bytes = resource->bytes;
	error = pb_residency_add(&client->manager, &request, &resource->residency);
	if (error != PB_ERROR_OK)
		return pb_gl_fail(client, "no room for another resource", error);
	client->setup.ids[resource->residency - 1] = resource->id;
	return true;
}

/**
 * Programs take a new resource for a fence: it is busy until everything before it has completed, also what is collected
 * and not submitted.
 */
static bool note_created(struct pb_gl_client *client, struct pb_gl_resource *resource)
{
	resource->timeline = client->setup.queue->timeline;
	if (pb_gl_batch_is_empty(&client->batch))
		return true;
	client->created[client->created_count++] = resource->id;
	return client->created_count != PB_GL_CREATED_MAX || pb_gl_client_flush(client);
}

struct pb_gl_resource *pb_gl_client_create(struct pb_gl_client *client, uint32_t handle,
					   const uint32_t *template_words)
{
	struct pb_gl_resource *resource = pb_gl_resources_add(&client->resources, handle, template_words);

	if (resource == NULL) {
		(void)pb_gl_refuse(client, client->resources.free == 0 ? "too many resources"
								       : "a resource's handle is in use");
		return NULL;
	}
	return note_created(client, resource) ? resource : NULL;
}

bool pb_gl_client_drop(struct pb_gl_client *client, uint32_t handle)
{
	struct pb_gl_resource *resource = pb_gl_resources_find(&client->resources, handle);

	if (resource == NULL)
		return pb_gl_refuse(client, "a resource that does not exist");
	resource->memory = NULL;
	resource->memory_bytes = 0;
	pb_gl_resources_drop(&client->resources, resource);
	/* What no command has named is reached by none. */
	if (resource->residency == 0)
		pb_gl_resources_remove(&client->resources, resource);
	return true;
}

bool pb_gl_busy(struct pb_gl_client *client, const struct pb_gl_resource *resource, bool wait, bool *busy)
{
	struct pb_fence fence = {.timeline = 0};

	*busy = false;
	if (!pb_gl_client_flush(client))
		return false;
	if (wait)
		return pb_gl_wait_for(client, resource->timeline);
	if (client->reached < resource->timeline &&
	    !read_fence(client, &fence, pb_queue_fence(client->setup.queue, &fence)))
		return false;
	*busy = client->reached < resource->timeline;
	return true;
}

/* ---- start and end ---- */

static bool start_manager(struct pb_gl_client *client)
{
	struct pb_gl_client_setup *setup = &client->setup;
	const struct pb_residency_segment *staging = &setup->segments[PB_GL_SEGMENT_STAGING];
	const struct pb_residency_setup manager = {
		.segments = setup->segments,
		.segment_count = PB_GL_SEGMENTS,
		.allocations = setup->allocations,
		.allocation_count = setup->resource_count + 1u,
		.queues = {setup->queue},
		.paging = setup->paging,
		.buffer = setup->buffer,
		.timeout_us = setup->timeout_us,
	};
	const struct pb_residency_request request = {
		.bytes = staging->bytes, .alignment = PAGE_BYTES, .segments = {staging->id}};
	uint32_t handle = 0;
	enum pb_error error;

	client->bindings[PB_GL_SEGMENT_RESOURCES] = pb_gl_bindings(&client->binding);
	client->bindings[PB_GL_SEGMENT_STAGING] = pb_gl_no_bindings();
	for (uint32_t i = 0; i < PB_GL_SEGMENTS; i++)
		setup->segments[i].bindings = &client->bindings[i];
	error = pb_residency_start(&client->manager, &manager);
	if (error == PB_ERROR_OK)
		error = pb_residency_add(&client->manager, &request, &handle);
	if (error != PB_ERROR_OK || handle != PB_GL_STAGING_HANDLE)
		return pb_gl_fail(client, "the manager of video memory", error);
	return true;
}

bool pb_gl_client_start(struct pb_gl_client *client, const struct pb_gl_client_setup *setup)
{
	*client = (struct pb_gl_client){
		.setup = *setup,
		.resources = {.records = setup->resources,
			      .count = setup->resource_count,
			      .chains = setup->chains},
		.account = {.sub_contexts = setup->sub_contexts,
			    .sub_context_count = PB_GL_SUB_CONTEXTS,
			    .objects = {.records = setup->objects, .count = PB_GL_OBJECTS}},
		.fence_id = 1,
	};
	client->context =
		(struct pb_gl_batch_context){.resources = &client->resources, .account = &client->account};
	client->binding = (struct pb_gl_binding){
		.resources = &client->resources,
		.ids = client->setup.ids,
		.owner = PB_ENGINE_OWNER(setup->queue->channel->link->channel,
					 PB_HANDLE_INDEX(setup->context)),
	};
	if (staging_bytes(client) < setup->slot_count * PB_GL_STAGING_BYTES_MIN)
		return pb_gl_fail(client, "too little staging memory", PB_ERROR_BAD_ARGUMENT);
	pb_gl_resources_start(&client->resources);
	pb_gl_account_start(&client->account);
	begin_batch(client);
	return start_manager(client);
}

bool pb_gl_client_end(struct pb_gl_client *client)
{
	const struct pb_memory *memory = &client->setup.buffer;
	const struct pb_descriptor descriptor = {
		.flags = PB_FLAG_PAGING,
		.dma_address_low = (uint32_t)memory->os_address,
		.dma_address_high = (uint32_t)(memory->os_address >> 32),
		.dma_segment = PB_SEGMENT_SYSTEM,
		.dma_size = memory->bytes,
		.dma_end = PB_PACKET_GL_END_WORDS * (uint32_t)sizeof(uint32_t),
	};
	const uint32_t packet[PB_PACKET_GL_END_WORDS] = {
		[0] = PB_PACKET(PB_PACKET_GL_END, PB_PACKET_GL_END_WORDS),
		[PB_GL_END_OWNER] = client->binding.owner,
	};
	struct pb_queue *paging = client->setup.paging;
	enum pb_error error;

	if (client->failure.what == NULL)
		(void)pb_gl_client_wait(client);
	/* No paging buffer is in flight: the manager waits for each. */
	memcpy(memory->bytes_host, packet, sizeof(packet));
	error = pb_queue_submit(paging, &descriptor);
	if (error == PB_ERROR_OK)
		error = pb_queue_wait(paging, paging->timeline, client->setup.timeout_us, NULL);
	return error == PB_ERROR_OK;
}
