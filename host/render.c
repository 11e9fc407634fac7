/* SPDX-License-Identifier: MIT */
/*
 * Render in three steps: copy the user's input, once; check all of it (host/render_commands.c); write the outputs. The
 * last step cannot fail, it can only run out of room.
 */
#include "patchbay/render.h"

#include <stddef.h>

#include "hal/engine/packets.h"
#include "host/internal.h"
#include "host/render_blit.h"
#include "host/render_commands.h"

#define WORD_BYTES ((uint32_t)sizeof(uint32_t))
/** Largest number of packets that one command becomes. */
#define GROUP_PACKETS_MAX 3u
/** Entries of a present's allocation list: NULL, source, destination. */
#define PRESENT_ENTRIES 3u

_Static_assert((PB_PACKET_TARGET_WORDS + PB_PACKET_TEXTURE_WORDS + PB_PACKET_DRAW_WORDS) * sizeof(uint32_t) ==
		       PB_RENDER_DMA_BYTES_MIN,
	       "the largest group");

#define STATUS_UNSUCCESSFUL 0xc0000001u

const char *pb_render_status_name(enum pb_render_status status)
{
	switch (status) {
#define NAME(name, number, ntstatus, meaning)                                                                \
	case PB_RENDER_##name:                                                                               \
		return #name;
		PB_RENDER_STATUSES(NAME)
#undef NAME
	}
	return "?";
}

uint32_t pb_render_ntstatus(enum pb_render_status status)
{
	switch (status) {
#define NTSTATUS(name, number, ntstatus, meaning)                                                            \
	case PB_RENDER_##name:                                                                               \
		return ntstatus;
		PB_RENDER_STATUSES(NTSTATUS)
#undef NTSTATUS
	}
	return STATUS_UNSUCCESSFUL;
}

/* ---- step 1: private copies ---- */

uint64_t pb_render_staging_bytes(uint32_t command_length, uint32_t allocation_count, uint32_t location_count)
{
	return (uint64_t)allocation_count * sizeof(struct pb_render_entry) +
	       (uint64_t)location_count * sizeof(struct pb_patch_location) + command_length;
}

/** Returns whether an input that is used is NULL or not word-aligned. */
static bool misplaced(const void *input, uint32_t count)
{
	return count != 0 && (input == NULL || (uintptr_t)input % WORD_BYTES != 0);
}

static bool inputs_misplaced(const struct pb_render_arguments *arguments)
{
	return arguments->command_length % WORD_BYTES != 0 ||
	       misplaced(arguments->command, arguments->command_length) ||
	       misplaced(arguments->user_allocations, arguments->user_allocation_count) ||
	       misplaced(arguments->user_locations, arguments->user_location_count);
}

static enum pb_render_status look_up(const struct pb_render_device *device, uint32_t handle, uint32_t flags,
				     struct pb_render_entry *entry)
{
	*entry = (struct pb_render_entry){.handle = handle, .flags = flags};
	if ((flags & ~PB_RENDER_USER_WRITE) != 0)
		return PB_RENDER_INVALID_PARAMETER;
	if (handle != 0 && !device->find(device->context, handle, &entry->known))
		return PB_RENDER_INVALID_HANDLE;
	return PB_RENDER_SUCCESS;
}

static enum pb_render_status look_up_all(const struct pb_render_arguments *arguments,
					 struct pb_render_entry *entries)
{
	for (uint32_t i = 0; i < arguments->user_allocation_count; i++) {
		const struct pb_render_user_allocation *user = &arguments->user_allocations[i];
		const uint32_t handle = pb_shared_read32(&user->handle);
		const uint32_t flags = pb_shared_read32(&user->flags);
		const enum pb_render_status status = look_up(arguments->device, handle, flags, &entries[i]);

		if (status != PB_RENDER_SUCCESS)
			return status;
	}
	return PB_RENDER_SUCCESS;
}

/** Copies the user's patch locations and commands to the staging memory, behind the entries. */
static void stage(const struct pb_render_arguments *arguments, struct pb_render_input *input)
{
	struct pb_render_entry *entries = arguments->staging;
	struct pb_patch_location *locations = (void *)(entries + input->entry_count);
	uint32_t *commands = (void *)(locations + input->location_count);

	pb_shared_copy_in(locations, arguments->user_locations,
			  input->location_count * (uint32_t)sizeof(*locations));
	pb_shared_copy_in(commands, arguments->command, input->bytes);
	input->locations = locations;
	input->commands = commands;
}

/* ---- step 3: the outputs ---- */

/** Progress of the output. */
struct writer {
	const struct pb_render_input *input;
	struct pb_render_output *output;
	uint32_t dma_bytes;
	uint32_t locations;
	uint32_t unresolved;
	uint32_t bound; /**< bit n: the last group has bound slot n */
};

/** One command as the packets that it becomes; they are written together or not at all. */
struct group {
	const uint32_t *packets[GROUP_PACKETS_MAX]; /**< each as words of the command buffer */
	uint32_t packet_count;
	uint32_t bytes;
	uint32_t locations;
};

static void group_add(struct group *group, const uint32_t *words)
{
	group->packets[group->packet_count++] = words;
	group->bytes += PB_PACKET_WORDS(words[0]) * WORD_BYTES;
	group->locations += pb_render_operation_of(words[0])->operand_count;
}

/** The slots that a group binds: bit n is slot n. */
static uint32_t slots_of(const struct group *group)
{
	uint32_t slots = 0;

	for (uint32_t p = 0; p < group->packet_count; p++) {
		const struct pb_render_operation *operation = pb_render_operation_of(group->packets[p][0]);

		for (uint32_t i = 0; i < operation->operand_count; i++)
			slots |= 1u << operation->operands[i].slot;
	}
	return slots;
}

/*
 * Returns the packets of a command. The engine loses its state at the end of each submission, and a DMA buffer may be
 * split at any SplitOffset; a DRAW therefore repeats its TARGET and its TEXTURE.
 */
static struct group group_of(const struct pb_render_walk *walk, const uint32_t *words)
{
	const uint32_t opcode = PB_PACKET_OPCODE(words[0]);
	struct group group = {.packet_count = 0};

	if (opcode == PB_PACKET_NOP || opcode == PB_PACKET_TARGET || opcode == PB_PACKET_TEXTURE)
		return group;
	if (opcode == PB_PACKET_DRAW) {
		group_add(&group, walk->target);
		group_add(&group, walk->texture);
	}
	group_add(&group, words);
	return group;
}

/** Returns the slots that the group before has bound and this one does not; 0 if nothing is to be unbound. */
static uint32_t leftover_slots(const struct writer *writer, const struct group *group)
{
	return writer->bound != 0 && group->packet_count != 0 ? writer->bound & ~slots_of(group) : 0;
}

static bool group_fits(const struct writer *writer, const struct group *group)
{
	const struct pb_render_output *output = writer->output;
	uint32_t locations = group->locations;

	for (uint32_t slots = leftover_slots(writer, group); slots != 0; slots &= slots - 1)
		locations++;
	return group->bytes <= output->dma_size - writer->dma_bytes &&
	       locations <= output->locations_size - writer->locations;
}

/**
 * Unbinds what the group before has bound and this one does not: a part that begins here needs nothing else.
 * Pre: the output has a NULL allocation (output->unbind).
 */
static void unbind_leftovers(struct writer *writer, const struct group *group)
{
	const uint32_t slots = leftover_slots(writer, group);

	for (uint32_t slot = 0; slots >> slot != 0; slot++) {
		const struct pb_patch_location location = {
			.allocation_index = writer->output->unbind - 1u,
			.slot = slot,
			.driver_id = PB_PATCH_FORMAT_ADDRESS32,
			.patch_offset = writer->dma_bytes,
			.split_offset = writer->dma_bytes,
		};

		if ((slots >> slot & 1u) == 0)
			continue;
		pb_shared_copy_out(&writer->output->locations[writer->locations], &location,
				   sizeof(location));
		writer->locations++;
	}
	if (group->packet_count != 0)
		writer->bound = slots_of(group);
}

/** Writes an operand's address and its patch location. @param split offset of the group's first byte */
static void write_operand(struct writer *writer, const struct pb_render_operand *operand,
			  const uint32_t *packet, uint32_t split)
{
	const uint32_t index = packet[operand->word];
	const uint32_t offset = packet[operand->word + 1u];
	const struct pb_render_allocation *known = &writer->input->entries[index].known;
	const struct pb_patch_location location = {
		.allocation_index = index,
		.slot = operand->slot,
		.driver_id = operand->write ? PB_PATCH_FORMAT_ADDRESS64_WRITE : PB_PATCH_FORMAT_ADDRESS64,
		.allocation_offset = offset,
		.patch_offset = writer->dma_bytes + operand->word * WORD_BYTES,
		.split_offset = split,
	};
	const uint64_t poison = (uint64_t)PB_RENDER_POISON << 32 | PB_RENDER_POISON;
	const uint64_t address = known->segment != 0 ? known->gpu_address + offset : poison;
	uint32_t *at = &writer->output->dma_buffer[location.patch_offset / WORD_BYTES];

	pb_shared_write32(at, (uint32_t)address);
	pb_shared_write32(at + 1, (uint32_t)(address >> 32));
	pb_shared_copy_out(&writer->output->locations[writer->locations], &location, sizeof(location));
	writer->locations++;
	writer->unresolved += known->segment == 0;
}

static bool is_address(const struct pb_render_operation *operation, uint32_t word)
{
	bool found = false;

	for (uint32_t i = 0; i < operation->operand_count; i++)
		found = found || word - operation->operands[i].word < 2u;
	return found;
}

static void write_packet(struct writer *writer, const uint32_t *packet, uint32_t split)
{
	const struct pb_render_operation *operation = pb_render_operation_of(packet[0]);
	uint32_t *to = &writer->output->dma_buffer[writer->dma_bytes / WORD_BYTES];

	for (uint32_t i = 0; i < operation->words; i++) {
		if (!is_address(operation, i))
			pb_shared_write32(&to[i], packet[i]);
	}
	for (uint32_t i = 0; i < operation->operand_count; i++)
		write_operand(writer, &operation->operands[i], packet, split);
	writer->dma_bytes += operation->words * WORD_BYTES;
}

/** Translates commands from walk->offset on. @return offset of the first command without room */
static uint32_t write_groups(struct writer *writer, struct pb_render_walk *walk)
{
	while (walk->offset != writer->input->bytes) {
		const struct group group =
			group_of(walk, &writer->input->commands[walk->offset / WORD_BYTES]);
		const uint32_t split = writer->dma_bytes;

		if (!group_fits(writer, &group))
			break;
		if (writer->output->unbind != 0)
			unbind_leftovers(writer, &group);
		for (uint32_t i = 0; i < group.packet_count; i++)
			write_packet(writer, group.packets[i], split);
		pb_render_step(writer->input, walk);
	}
	return walk->offset;
}

static void write_allocation(struct pb_allocation *to, const struct pb_render_entry *entry)
{
	const struct pb_render_allocation *known = &entry->known;
	const bool resident = known->segment != 0;
	struct pb_allocation allocation = {
		.address_low = resident ? (uint32_t)known->os_address : 0,
		.address_high = resident ? (uint32_t)(known->os_address >> 32) : 0,
		.size_low = (uint32_t)known->size,
		.size_high = (uint32_t)(known->size >> 32),
		.flags = known->segment << PB_ALLOCATION_SEGMENT_SHIFT,
		.id = entry->handle,
	};

	if ((entry->flags & PB_RENDER_USER_WRITE) != 0)
		allocation.flags |= PB_ALLOCATION_WRITE;
	if (entry->handle == 0)
		allocation.flags |= PB_ALLOCATION_UNBIND;
	pb_shared_copy_out(to, &allocation, sizeof(allocation));
}

/** Writes allocation list and private data, and advances the four pointers. */
static void finish(const struct writer *writer, const struct pb_render_record *record)
{
	const struct pb_render_input *input = writer->input;
	struct pb_render_output *output = writer->output;

	for (uint32_t i = 0; i < input->entry_count; i++)
		write_allocation(&output->allocations[i], &input->entries[i]);
	pb_shared_copy_out(output->private_data, record, sizeof(*record));
	output->record = *record;
	if (record->dma_bytes != 0)
		output->dma_buffer += record->dma_bytes / WORD_BYTES;
	if (record->patch_count != 0)
		output->locations += record->patch_count;
	if (record->allocation_count != 0)
		output->allocations += record->allocation_count;
	output->private_data += sizeof(*record) / sizeof(*output->private_data);
}

/**
 * Writes all outputs.
 * @param flags for the record
 * @param multipass_offset in: offset of the first command; out: offset of the first command not translated
 */
static enum pb_render_status write_outputs(const struct pb_render_input *input,
					   struct pb_render_output *output, uint32_t flags,
					   uint32_t *multipass_offset)
{
	struct writer writer = {.input = input, .output = output};
	struct pb_render_walk walk = {0};
	uint32_t end;

	if (output->private_data_size < sizeof(struct pb_render_record) ||
	    output->allocations_size < input->entry_count)
		return PB_RENDER_INSUFFICIENT_DMA_BUFFER;
	while (walk.offset != *multipass_offset)
		pb_render_step(input, &walk);
	end = write_groups(&writer, &walk);
	if (end != input->bytes && writer.dma_bytes == 0)
		return PB_RENDER_INSUFFICIENT_DMA_BUFFER; /* a part without packets is not worth a submission */
	finish(&writer, &(const struct pb_render_record){
				.magic = PB_RENDER_MAGIC,
				.version = PB_RENDER_VERSION,
				.flags = flags,
				.command_start = *multipass_offset,
				.command_end = end,
				.dma_bytes = writer.dma_bytes,
				.allocation_count = input->entry_count,
				.patch_count = writer.locations,
				.unresolved_count = writer.unresolved,
			});
	*multipass_offset = end;
	return end == input->bytes ? PB_RENDER_SUCCESS : PB_RENDER_INSUFFICIENT_DMA_BUFFER;
}

static enum pb_render_status translate(const struct pb_render_input *input, struct pb_render_output *output,
				       uint32_t flags, uint32_t *multipass_offset)
{
	const enum pb_render_status status = pb_render_check(input, *multipass_offset);

	return status == PB_RENDER_SUCCESS ? write_outputs(input, output, flags, multipass_offset) : status;
}

/* ---- the public functions ---- */

static enum pb_render_status render(struct pb_render_arguments *arguments, bool kernel)
{
	struct pb_render_input input = {
		.commands = arguments->command,
		.bytes = arguments->command_length,
		.locations = arguments->user_locations,
		.location_count = arguments->user_location_count,
		.entries = arguments->staging,
		.entry_count = arguments->user_allocation_count,
		.node = arguments->device->node,
		.kernel = kernel,
	};
	enum pb_render_status status;

	if (inputs_misplaced(arguments))
		return PB_RENDER_INVALID_USER_BUFFER;
	if (arguments->staging_size < pb_render_staging_bytes(kernel ? 0 : input.bytes, input.entry_count,
							      kernel ? 0 : input.location_count))
		return PB_RENDER_NO_MEMORY;
	status = look_up_all(arguments, arguments->staging);
	if (status != PB_RENDER_SUCCESS)
		return status;
	if (!kernel)
		stage(arguments, &input);
	return translate(&input, &arguments->output, 0, &arguments->multipass_offset);
}

enum pb_render_status pb_render(struct pb_render_arguments *arguments)
{
	return render(arguments, false);
}

enum pb_render_status pb_render_km(struct pb_render_arguments *arguments)
{
	return render(arguments, true);
}

/** Translates a blit from allocation 1 to allocation 2, as commands of the kernel. */
static enum pb_render_status translate_blit(struct pb_render_present *present,
					    const struct pb_render_entry entries[PRESENT_ENTRIES],
					    const struct pb_render_blit *blit)
{
	uint32_t commands[PB_RENDER_BLIT_WORDS];
	const uint32_t words = pb_render_blit_commands(blit, commands);
	const struct pb_render_input input = {
		.commands = commands,
		.bytes = words * WORD_BYTES,
		.entries = entries,
		.entry_count = PRESENT_ENTRIES,
		.node = present->device->node,
		.kernel = true,
	};
	const struct pb_render_output before = present->output;
	uint32_t multipass_offset = 0;
	enum pb_render_status status = PB_RENDER_INVALID_PARAMETER;

	if (words != 0)
		status = translate(&input, &present->output, PB_FLAG_PRESENT, &multipass_offset);
	/* A present is not divided: a FILL whose COPY_RECT has no room is dropped. */
	if (status == PB_RENDER_INSUFFICIENT_DMA_BUFFER)
		present->output = before;
	return status;
}

enum pb_render_status pb_render_present(struct pb_render_present *present)
{
	const struct pb_render_surface *from = &present->source;
	const struct pb_render_surface *to = &present->destination;
	struct pb_render_entry entries[PRESENT_ENTRIES] = {{.handle = 0}};
	struct pb_render_blit blit = {
		.fill = present->fill,
		.color = present->color,
		.source = {.index = 1, .pitch = from->pitch},
		.destination = {.index = 2, .pitch = to->pitch},
		.row_bytes = PB_RENDER_PIXEL_BYTES * present->width,
		.rows = present->height,
	};
	enum pb_render_status status = PB_RENDER_SUCCESS;

	if ((!blit.fill && !pb_render_blit_locate(&blit.source, from->left, from->top, present->width)) ||
	    !pb_render_blit_locate(&blit.destination, to->left, to->top, present->width))
		return PB_RENDER_INVALID_PARAMETER;
	if (!blit.fill)
		status = look_up(present->device, from->handle, 0, &entries[1]);
	if (status == PB_RENDER_SUCCESS)
		status = look_up(present->device, to->handle, PB_RENDER_USER_WRITE, &entries[2]);
	return status == PB_RENDER_SUCCESS ? translate_blit(present, entries, &blit) : status;
}

void pb_render_describe(const struct pb_render_record *record, struct pb_descriptor *descriptor)
{
	descriptor->flags |= record->flags;
	descriptor->dma_start = 0;
	descriptor->dma_end = record->dma_bytes;
	descriptor->private_start = 0;
	descriptor->private_end = (uint32_t)sizeof(*record);
	descriptor->allocation_count = record->allocation_count;
	descriptor->patch_count = record->patch_count;
	descriptor->patch_start = 0;
	descriptor->patch_length = record->patch_count;
	descriptor->patch_encoding = PB_PATCH_ENCODING_WDDM;
}
