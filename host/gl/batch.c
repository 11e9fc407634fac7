/* SPDX-License-Identifier: MIT */
#include "host/gl/batch.h"

#include <string.h>

#include "hal/engine/gl_packets.h"
#include "hal/engine/packets.h"

#define WORD_BYTES ((uint32_t)sizeof(uint32_t))
#define WRITES     ((uint32_t)PB_GL_WRITE)

const struct pb_patch_format pb_gl_formats[2] = {
	{.source = PB_FORMAT_ADDRESS,
	 .bound = PB_FORMAT_INSIDE,
	 .flags = PB_FORMAT_FITS,
	 .align = WORD_BYTES,
	 .shift_right = 12,
	 .mask = PB_FORMAT_ONES},
	{.source = PB_FORMAT_ADDRESS,
	 .bound = PB_FORMAT_INSIDE,
	 .flags = PB_FORMAT_FITS | PB_FORMAT_WRITE,
	 .align = WORD_BYTES,
	 .shift_right = 12,
	 .mask = PB_FORMAT_ONES},
};

void pb_gl_batch_start(struct pb_gl_batch *batch, const struct pb_gl_batch_memory *memory, uint32_t number)
{
	batch->memory = *memory;
	batch->number = number;
	batch->words = 0;
	batch->allocations = 0;
	batch->locations = 0;
	batch->staging = 0;
	batch->unit = 0;
	batch->open = false;
	batch->reach_count = 0;
}

/* ---- lists ---- */

/** Returns the index of a new entry. Pre: there is room. */
static uint32_t list_entry(struct pb_gl_batch *batch, uint32_t id, uint32_t handle, uint64_t bytes)
{
	struct pb_allocation *entry = &batch->memory.allocations[batch->allocations];

	*entry = (struct pb_allocation){
		.size_low = (uint32_t)bytes, .size_high = (uint32_t)(bytes >> 32), .id = handle};
	batch->memory.ids[batch->allocations] = id;
	return batch->allocations++;
}

/** Returns a resource's entry in the allocation list. Pre: there is room. */
static uint32_t entry_of(struct pb_gl_batch *batch, struct pb_gl_resource *resource)
{
	if (resource->batch != batch->number) {
		resource->index = list_entry(batch, resource->id, resource->residency, resource->bytes);
		resource->batch = batch->number;
	}
	return resource->index;
}

/** Appends a patch location for a word of the open unit. Pre: there is room. */
static void locate(struct pb_gl_batch *batch, uint32_t entry, uint32_t format, uint32_t offset, uint32_t word)
{
	batch->memory.locations[batch->locations++] = (struct pb_patch_location){
		.allocation_index = entry,
		.driver_id = format,
		.allocation_offset = offset,
		.patch_offset = word * WORD_BYTES,
		.split_offset = batch->unit * WORD_BYTES,
	};
}

/** Appends a patch location for the page of a resource. @param access enum pb_gl_access */
static void locate_page(struct pb_gl_batch *batch, struct pb_gl_resource *resource, uint32_t access,
			uint32_t word)
{
	const uint32_t entry = entry_of(batch, resource);
	const bool writes = (access & WRITES) != 0;

	if (writes)
		batch->memory.allocations[entry].flags |= PB_ALLOCATION_WRITE;
	resource->written = resource->written || writes;
	locate(batch, entry, writes ? PB_GL_FORMAT_PAGE_WRITE : PB_GL_FORMAT_PAGE, 0, word);
}

/* ---- GL packets ---- */

/** Counts the bits of a word. Not by the compiler's function: a kernel has no library for it. */
static uint32_t bits(uint32_t word)
{
	uint32_t count = 0;

	for (; word != 0; word &= word - 1u)
		count++;
	return count;
}

/** Returns how many resources one command can reach by state at most. */
static uint32_t reach_of(const struct pb_gl_account *account)
{
	const struct pb_gl_bindings *now = &account->sub_contexts[account->current_sub].bindings;
	/* A query has a resource, too. */
	uint32_t count = 4;

	for (uint32_t i = 0; i < PB_GL_GROUPS; i++)
		count += bits(now->groups[i].bound);
	for (uint32_t stage = 0; stage < PB_GL_STAGES; stage++) {
		for (uint32_t i = 0; i < PB_GL_STAGE_GROUPS; i++)
			count += bits(now->stages[stage][i].bound);
	}
	return count;
}

/** Returns whether a command fits in the batch behind what is open. @param reach what it can reach at most */
static bool has_room(const struct pb_gl_batch *batch, uint32_t words, uint32_t uses, uint32_t reach)
{
	const struct pb_gl_batch_memory *memory = &batch->memory;
	/* The open packet's own NOP, a header of a new packet, and another NOP. */
	const uint32_t nops = batch->reach_count + reach + 3u;

	return words + nops <= memory->word_count - batch->words &&
	       uses + reach <= memory->allocation_count - batch->allocations &&
	       uses + reach + batch->reach_count <= memory->location_count - batch->locations;
}

/** Returns whether a command may join the open packet. */
static bool may_join(const struct pb_gl_batch *batch, uint32_t words, uint32_t reach)
{
	return batch->open && batch->unit_bytes <= batch->memory.unit_bytes && words <= PB_GL_RUN_WORDS_MAX &&
	       batch->words - batch->unit - 1u <= PB_GL_RUN_WORDS_MAX - words &&
	       reach <= PB_GL_REACH_MAX - batch->reach_count;
}

void pb_gl_batch_close(struct pb_gl_batch *batch, const struct pb_gl_batch_context *context)
{
	uint32_t *words = batch->memory.words;

	if (!batch->open)
		return;
	words[batch->unit] = PB_PACKET(PB_PACKET_GL, batch->words - batch->unit);
	if (batch->reach_count != 0)
		words[batch->words++] = PB_PACKET(PB_PACKET_NOP, batch->reach_count + 1u);
	for (uint32_t i = 0; i < batch->reach_count; i++) {
		words[batch->words] = 0;
		locate_page(batch, pb_gl_resources_at(context->resources, batch->reach[i].id),
			    batch->reach[i].access, batch->words);
		batch->words++;
	}
	batch->open = false;
	batch->reach_count = 0;
}

static void open_packet(struct pb_gl_batch *batch, const struct pb_gl_batch_context *context)
{
	batch->unit = batch->words++;
	batch->open = true;
	batch->unit_number++;
	batch->unit_bytes = 0;
	pb_gl_account_begin(context->account);
}

/** Counts a resource of the open packet, once. */
static void count_bytes(struct pb_gl_batch *batch, struct pb_gl_resource *resource)
{
	if (resource->unit == batch->unit_number)
		return;
	resource->unit = batch->unit_number;
	batch->unit_bytes += resource->bytes;
}

/** For pb_gl_account_follow(). */
struct reaching {
	struct pb_gl_batch *batch;
	const struct pb_gl_batch_context *context;
};

static bool note_reach(void *context, uint32_t id, uint32_t access)
{
	const struct reaching *reaching = context;
	struct pb_gl_batch *batch = reaching->batch;
	struct pb_gl_resource *resource = pb_gl_resources_at(reaching->context->resources, id);

	if (batch->reach_count == PB_GL_REACH_MAX || resource == NULL)
		return false;
	count_bytes(batch, resource);
	batch->reach[batch->reach_count].id = id;
	batch->reach[batch->reach_count++].access = access;
	return true;
}

/** Appends the words of a command and the locations of those that name resources. Pre: there is room. */
static void append(struct pb_gl_batch *batch, const struct pb_gl_batch_context *context,
		   const struct pb_gl_command *command, const struct pb_gl_batch_use *uses,
		   uint32_t use_count)
{
	memcpy(&batch->memory.words[batch->words], command->words, command->count * sizeof(uint32_t));
	for (uint32_t i = 0; i < use_count; i++) {
		struct pb_gl_resource *resource =
			pb_gl_resources_at(context->resources, command->words[uses[i].word]);

		count_bytes(batch, resource);
		locate_page(batch, resource, uses[i].access, batch->words + uses[i].word);
	}
	batch->words += command->count;
}

enum pb_gl_batch_result pb_gl_batch_command(struct pb_gl_batch *batch,
					    const struct pb_gl_batch_context *context,
					    const struct pb_gl_command *command,
					    const struct pb_gl_batch_use *uses, uint32_t use_count,
					    enum pb_gl_status *status)
{
	const uint32_t reach = reach_of(context->account);
	struct reaching reaching = {batch, context};

	if (!has_room(batch, command->count, use_count, reach)) {
		*status = PB_GL_STATUS_FULL;
		return batch->words != 0 ? PB_GL_BATCH_FULL : PB_GL_BATCH_REFUSED;
	}
	if (!may_join(batch, command->count, reach)) {
		pb_gl_batch_close(batch, context);
		open_packet(batch, context);
	}
	*status = pb_gl_account_follow(context->account, command, note_reach, &reaching);
	if (*status != PB_GL_STATUS_OK)
		return PB_GL_BATCH_REFUSED;
	append(batch, context, command, uses, use_count);
	return PB_GL_BATCH_OK;
}

/* ---- other packets ---- */

/** Allocations and locations of one such packet. */
#define PACKET_USES 2u

bool pb_gl_batch_has_room(const struct pb_gl_batch *batch, uint32_t words)
{
	return has_room(batch, words, PACKET_USES, 0);
}

/** Returns the entry of the staging memory. Pre: there is room. */
static uint32_t staging_entry(struct pb_gl_batch *batch, uint32_t handle, uint64_t bytes)
{
	if (batch->staging == 0)
		batch->staging = list_entry(batch, 0, handle, bytes) + 1u;
	return batch->staging - 1u;
}

/** Ends what is open, and begins a unit of one packet. @return its words; NULL: the batch is full */
static uint32_t *begin_packet(struct pb_gl_batch *batch, const struct pb_gl_batch_context *context,
			      uint32_t opcode, uint32_t words)
{
	uint32_t *packet;

	if (!pb_gl_batch_has_room(batch, words))
		return NULL;
	pb_gl_batch_close(batch, context);
	batch->unit = batch->words;
	packet = &batch->memory.words[batch->words];
	memset(packet, 0, words * sizeof(*packet));
	packet[0] = PB_PACKET(opcode, words);
	batch->words += words;
	return packet;
}

/** Appends the location of a staging address. @param word of the packet @param writes the engine writes there */
static void locate_staging(struct pb_gl_batch *batch, uint32_t word, uint32_t offset, uint64_t bytes,
			   bool writes)
{
	const uint32_t entry = staging_entry(batch, PB_GL_STAGING_HANDLE, bytes);

	if (writes)
		batch->memory.allocations[entry].flags |= PB_ALLOCATION_WRITE;
	locate(batch, entry, writes ? PB_PATCH_FORMAT_ADDRESS64_WRITE : PB_PATCH_FORMAT_ADDRESS64, offset,
	       batch->unit + word);
}

enum pb_gl_batch_result pb_gl_batch_transfer(struct pb_gl_batch *batch,
					     const struct pb_gl_batch_context *context,
					     const struct pb_gl_batch_transfer *transfer)
{
	struct pb_gl_resource *resource = pb_gl_resources_at(context->resources, transfer->id);
	uint32_t *packet = begin_packet(batch, context, PB_PACKET_GL_TRANSFER, PB_PACKET_GL_TRANSFER_WORDS);

	if (packet == NULL)
		return PB_GL_BATCH_FULL;
	packet[PB_GL_TRANSFER_FLAGS] = transfer->to_resource ? PB_GL_TRANSFER_TO_RESOURCE : 0;
	packet[PB_GL_TRANSFER_BYTES] = (transfer->bytes + WORD_BYTES - 1u) / WORD_BYTES * WORD_BYTES;
	packet[PB_GL_TRANSFER_LEVEL] = transfer->level;
	memcpy(&packet[PB_GL_TRANSFER_BOX], transfer->box, 6u * sizeof(*packet));
	packet[PB_GL_TRANSFER_STRIDE] = transfer->stride;
	packet[PB_GL_TRANSFER_LAYER_STRIDE] = transfer->layer_stride;
	locate_staging(batch, PB_GL_TRANSFER_ADDRESS, transfer->offset, transfer->staging_bytes,
		       !transfer->to_resource);
	locate_page(batch, resource, transfer->to_resource ? PB_GL_WRITE : PB_GL_READ,
		    batch->unit + PB_GL_TRANSFER_PAGE);
	return PB_GL_BATCH_OK;
}

enum pb_gl_batch_result pb_gl_batch_caps(struct pb_gl_batch *batch, const struct pb_gl_batch_context *context,
					 uint32_t set, uint32_t offset, uint32_t bytes,
					 uint32_t staging_bytes)
{
	uint32_t *packet = begin_packet(batch, context, PB_PACKET_GL_CAPS, PB_PACKET_GL_CAPS_WORDS);

	if (packet == NULL)
		return PB_GL_BATCH_FULL;
	packet[PB_GL_CAPS_SET] = set;
	packet[PB_GL_CAPS_VERSION] = 1;
	packet[PB_GL_CAPS_BYTES] = bytes;
	locate_staging(batch, PB_GL_CAPS_ADDRESS, offset, staging_bytes, true);
	return PB_GL_BATCH_OK;
}
