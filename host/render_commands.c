/* SPDX-License-Identifier: MIT */
/* The command set, and the check of a command buffer. */
#include "host/render_commands.h"

#include <stddef.h>

#include "hal/engine/packets.h"
#include "patchbay/abi/boot.h"

#define ONLY_3D    (1u << PB_NODE_3D)
#define EVERY_NODE (1u << PB_NODE_3D | 1u << PB_NODE_COPY)
#define NO_NODE    0u

static bool aligned(uint32_t value)
{
	return value % sizeof(uint32_t) == 0;
}

/** Returns the bytes from the first to the last byte of a rectangle. Cannot overflow for any operands. */
static uint64_t rectangle(uint32_t pitch, uint32_t row_bytes, uint32_t rows)
{
	return row_bytes == 0 || rows == 0 ? 0 : (uint64_t)pitch * (rows - 1u) + row_bytes;
}

static bool measure_fill(const uint32_t *words, uint64_t extents[PB_RENDER_OPERANDS])
{
	extents[0] = words[3];
	return aligned(words[3]);
}

static bool measure_copy(const uint32_t *words, uint64_t extents[PB_RENDER_OPERANDS])
{
	extents[0] = words[5];
	extents[1] = words[5];
	return aligned(words[5]);
}

static bool measure_copy_rect(const uint32_t *words, uint64_t extents[PB_RENDER_OPERANDS])
{
	extents[0] = rectangle(words[3], words[7], words[8]);
	extents[1] = rectangle(words[6], words[7], words[8]);
	return aligned(words[3] | words[6] | words[7]);
}

static bool measure_surface(const uint32_t *words, uint64_t extents[PB_RENDER_OPERANDS])
{
	const uint32_t width = words[3];
	const uint32_t height = words[4];
	const uint32_t pitch = words[5];

	if (width == 0 || width > PB_ENGINE_EXTENT_MAX || height == 0 || height > PB_ENGINE_EXTENT_MAX)
		return false;
	extents[0] = rectangle(pitch, 4u * width, height);
	return pitch >= 4u * width && aligned(pitch);
}

static bool measure_draw(const uint32_t *words, uint64_t extents[PB_RENDER_OPERANDS])
{
	extents[0] = (uint64_t)words[3] * sizeof(struct pb_vertex);
	return words[3] % 3u == 0;
}

#define SOURCE(word)      word, PB_RENDER_SLOT_SOURCE, false
#define DESTINATION(word) word, PB_RENDER_SLOT_DESTINATION, true

/* By opcode; the words are those of hal/engine/packets.h. FENCE belongs in the ring: no node accepts it in a buffer. */
static const struct pb_render_operation operations[] = {
	[PB_PACKET_NOP] = {0, EVERY_NODE, false, 0, {{0}}, NULL},
	[PB_PACKET_FILL] = {PB_PACKET_FILL_WORDS, EVERY_NODE, false, 1, {{DESTINATION(1)}}, measure_fill},
	[PB_PACKET_COPY] =
		{PB_PACKET_COPY_WORDS, EVERY_NODE, false, 2, {{SOURCE(1)}, {DESTINATION(3)}}, measure_copy},
	[PB_PACKET_COPY_RECT] = {PB_PACKET_COPY_RECT_WORDS,
				 EVERY_NODE,
				 false,
				 2,
				 {{SOURCE(1)}, {DESTINATION(4)}},
				 measure_copy_rect},
	[PB_PACKET_TARGET] = {PB_PACKET_TARGET_WORDS,
			      ONLY_3D,
			      false,
			      1,
			      {{1, PB_RENDER_SLOT_TARGET, true}},
			      measure_surface},
	[PB_PACKET_TEXTURE] = {PB_PACKET_TEXTURE_WORDS,
			       ONLY_3D,
			       false,
			       1,
			       {{1, PB_RENDER_SLOT_TEXTURE, false}},
			       measure_surface},
	[PB_PACKET_DRAW] = {PB_PACKET_DRAW_WORDS,
			    ONLY_3D,
			    false,
			    1,
			    {{1, PB_RENDER_SLOT_VERTICES, false}},
			    measure_draw},
	[PB_PACKET_INDIRECT] = {PB_PACKET_INDIRECT_WORDS, EVERY_NODE, true, 1, {{SOURCE(1)}}, measure_fill},
	[PB_PACKET_FENCE] = {PB_PACKET_FENCE_WORDS, NO_NODE, true, 0, {{0}}, NULL},
	[PB_PACKET_HANG] = {PB_PACKET_HANG_WORDS, EVERY_NODE, true, 0, {{0}}, NULL},
	[PB_PACKET_FAULT] = {PB_PACKET_FAULT_WORDS, EVERY_NODE, true, 0, {{0}}, NULL},
	[PB_PACKET_BUSY] = {PB_PACKET_BUSY_WORDS, EVERY_NODE, true, 0, {{0}}, NULL},
};

const struct pb_render_operation *pb_render_operation_of(uint32_t header)
{
	const uint32_t opcode = PB_PACKET_OPCODE(header);

	/* Unused opcodes have words == 0; of the used ones only NOP has, because its length is free. */
	if (opcode >= sizeof(operations) / sizeof(operations[0]) ||
	    (operations[opcode].words == 0 && opcode != PB_PACKET_NOP))
		return NULL;
	return &operations[opcode];
}

void pb_render_step(const struct pb_render_input *input, struct pb_render_walk *walk)
{
	const uint32_t *words = &input->commands[walk->offset / sizeof(uint32_t)];
	const uint32_t opcode = PB_PACKET_OPCODE(words[0]);

	if (opcode == PB_PACKET_TARGET)
		walk->target = words;
	else if (opcode == PB_PACKET_TEXTURE)
		walk->texture = words;
	walk->offset += PB_PACKET_WORDS(words[0]) * (uint32_t)sizeof(uint32_t);
}

/** Checks that the command may be used here and is complete. */
static enum pb_render_status check_header(const struct pb_render_input *input,
					  const struct pb_render_operation *operation, uint32_t header,
					  uint32_t words_left)
{
	const uint32_t words = PB_PACKET_WORDS(header);

	if (operation != NULL && operation->privileged && !input->kernel)
		return PB_RENDER_PRIVILEGED_INSTRUCTION;
	if (operation == NULL || (operation->nodes & 1u << input->node) == 0)
		return input->kernel ? PB_RENDER_INVALID_PARAMETER : PB_RENDER_ILLEGAL_INSTRUCTION;
	if (words == 0 || (operation->words != 0 && operation->words != words))
		return PB_RENDER_INVALID_PARAMETER;
	return words > words_left ? PB_RENDER_INVALID_USER_BUFFER : PB_RENDER_SUCCESS;
}

/** Returns whether an operand's bytes lie in its allocation and the list entry allows the access. */
static bool operand_good(const struct pb_render_input *input, const struct pb_render_operand *operand,
			 const uint32_t *words, uint64_t extent)
{
	const uint32_t index = words[operand->word];
	const uint32_t offset = words[operand->word + 1u];
	const struct pb_render_entry *entry;

	if (index >= input->entry_count || !aligned(offset))
		return false;
	entry = &input->entries[index];
	/* The first byte must exist even for an empty range: the patch format requires it. */
	if (offset >= entry->known.size || extent > entry->known.size - offset)
		return false;
	return !operand->write || (entry->flags & PB_RENDER_USER_WRITE) != 0;
}

/** Returns whether the user's patch location agrees with an operand of the command. */
static bool location_agrees(const struct pb_patch_location *location, const struct pb_render_operand *operand,
			    const uint32_t *words)
{
	const uint32_t format = operand->write ? PB_PATCH_FORMAT_ADDRESS64_WRITE : PB_PATCH_FORMAT_ADDRESS64;

	return (location->slot & PB_PATCH_RESERVED_MASK) == 0 && location->driver_id == format &&
	       location->allocation_index == words[operand->word] &&
	       location->allocation_offset == words[operand->word + 1u] &&
	       location->split_offset <= location->patch_offset;
}

/** Checks the operands of a command. @param location next of the user's patch locations; advances behind those used */
static bool operands_good(const struct pb_render_input *input, const struct pb_render_walk *walk,
			  const struct pb_render_operation *operation, uint32_t *location)
{
	const uint32_t *words = &input->commands[walk->offset / sizeof(uint32_t)];
	uint64_t extents[PB_RENDER_OPERANDS] = {0};

	if (operation->measure != NULL && !operation->measure(words, extents))
		return false;
	for (uint32_t i = 0; i < operation->operand_count; i++) {
		const struct pb_render_operand *operand = &operation->operands[i];
		const uint32_t offset = walk->offset + operand->word * (uint32_t)sizeof(uint32_t);

		if (!operand_good(input, operand, words, extents[i]))
			return false;
		if (*location == input->location_count || input->locations[*location].patch_offset != offset)
			continue;
		if (!location_agrees(&input->locations[*location], operand, words))
			return false;
		(*location)++;
	}
	return true;
}

static bool state_good(const struct pb_render_walk *walk, uint32_t header)
{
	return PB_PACKET_OPCODE(header) != PB_PACKET_DRAW || (walk->target != NULL && walk->texture != NULL);
}

enum pb_render_status pb_render_check(const struct pb_render_input *input, uint32_t multipass_offset)
{
	struct pb_render_walk walk = {0};
	bool between = multipass_offset == 0;
	uint32_t location = 0;

	while (walk.offset != input->bytes) {
		const uint32_t header = input->commands[walk.offset / sizeof(uint32_t)];
		const struct pb_render_operation *operation = pb_render_operation_of(header);
		const enum pb_render_status status = check_header(
			input, operation, header, (input->bytes - walk.offset) / (uint32_t)sizeof(uint32_t));

		if (status != PB_RENDER_SUCCESS)
			return status;
		if (!state_good(&walk, header) || !operands_good(input, &walk, operation, &location))
			return PB_RENDER_INVALID_PARAMETER;
		pb_render_step(input, &walk);
		between = between || walk.offset == multipass_offset;
	}
	/* A patch location left over belongs to no address, or is out of order. */
	return between && location == input->location_count ? PB_RENDER_SUCCESS : PB_RENDER_INVALID_PARAMETER;
}
