/* SPDX-License-Identifier: MIT */
/*
 * RenderKm: the kernel's drawing commands become commands of include/patchbay/render.h, which pb_render_km() checks and
 * translates. A drawing is a run of parts: its sub-rectangles, or its whole rectangle. MultipassOffset counts the parts of
 * the command buffer that are done.
 *
 * Engines copy and fill rectangles of pixels of 4 bytes, and compute nothing. What that cannot do is refused before
 * anything is written.
 */
#include <string.h>

#include "host/render_blit.h"
#include "host/wddm/internal.h"

#define OPAQUE     255u
#define HEAD_BYTES ((uint32_t)offsetof(struct pb_dxgk_renderkm_command, Command))

/** A drawing that engines can do. */
struct drawing {
	bool fill;                   /**< a colour fill; else a copy */
	uint32_t color;              /**< of a colour fill */
	struct pb_rect source;       /**< of a copy: as large as the destination */
	struct pb_rect destination;  /**< all parts lie in it */
	uint32_t source_index;       /**< of a copy: entry of the allocation list */
	uint32_t destination_index;  /**< entry of the allocation list */
	uint32_t source_pitch;       /**< of a copy: bytes */
	uint32_t destination_pitch;  /**< bytes; 0: that of the allocation */
	uint32_t part_count;         /**< sub-rectangles */
	const struct pb_rect *parts; /**< sub-rectangles */
	bool nothing;                /**< a command without effect */
};

/* ---- one command ---- */

/** Returns the bytes of a command by its operation; 0: engines cannot do it, whatever its arguments are. */
static uint32_t command_bytes(uint32_t operation)
{
	switch ((enum pb_dxgk_gdiop)operation) {
	case PB_DXGK_GDIOP_BITBLT:
		return HEAD_BYTES + (uint32_t)sizeof(struct pb_dxgk_gdiarg_bitblt);
	case PB_DXGK_GDIOP_COLORFILL:
		return HEAD_BYTES + (uint32_t)sizeof(struct pb_dxgk_gdiarg_colorfill);
	case PB_DXGK_GDIOP_ALPHABLEND:
		return HEAD_BYTES + (uint32_t)sizeof(struct pb_dxgk_gdiarg_alphablend);
	case PB_DXGK_GDIOP_STRETCHBLT:
		return HEAD_BYTES + (uint32_t)sizeof(struct pb_dxgk_gdiarg_stretchblt);
	case PB_DXGK_GDIOP_ESCAPE:
		return HEAD_BYTES;
	case PB_DXGK_GDIOP_TRANSPARENTBLT:
	case PB_DXGK_GDIOP_CLEARTYPEBLEND:
		return 0;
	}
	return 0;
}

/** The copy that an operation with a source is. The operations' structs differ, their members have equal names. */
#define COPY_OF(from)                                                                                        \
	((struct drawing){                                                                                   \
		.source = (from)->SrcRect,                                                                   \
		.destination = (from)->DstRect,                                                              \
		.source_index = (from)->SrcAllocationIndex,                                                  \
		.destination_index = (from)->DstAllocationIndex,                                             \
		.source_pitch = (from)->SrcPitch,                                                            \
		.part_count = (from)->NumSubRects,                                                           \
		.parts = (from)->pSubRects,                                                                  \
	})

static bool convert_bit_blt(const struct pb_dxgk_gdiarg_bitblt *from, struct drawing *to)
{
	*to = COPY_OF(from);
	to->destination_pitch = from->DstPitch;
	return from->DstPitch != 0 &&
	       (from->Rop == PB_DXGK_GDIROP_SRCCOPY ||
		(from->Rop == PB_DXGK_GDIROP_ROP3 && from->Rop3 == PB_GDI_ROP3_SRCCOPY));
}

static bool convert_color_fill(const struct pb_dxgk_gdiarg_colorfill *from, struct drawing *to)
{
	*to = (struct drawing){
		.fill = true,
		.color = from->Color,
		.destination = from->DstRect,
		.destination_index = from->DstAllocationIndex,
		.part_count = from->NumSubRects,
		.parts = from->pSubRects,
	};
	return from->Rop == PB_DXGK_GDIROPCF_PATCOPY ||
	       (from->Rop == PB_DXGK_GDIROPCF_ROP3 && from->Rop3 == PB_GDI_ROP3_PATCOPY);
}

/** An opaque blend is a copy. */
static bool convert_alpha_blend(const struct pb_dxgk_gdiarg_alphablend *from, struct drawing *to)
{
	*to = COPY_OF(from);
	return from->SourceConstantAlpha == OPAQUE && from->SourceHasAlpha == 0;
}

/** A stretch to the same size is a copy, whatever its mode. */
static bool convert_stretch_blt(const struct pb_dxgk_gdiarg_stretchblt *from, struct drawing *to)
{
	*to = COPY_OF(from);
	return (from->Flags & PB_DXGK_STRETCH_MIRROR) == 0;
}

/** Converts a command. @return false: engines cannot do it */
static bool convert(const struct pb_dxgk_renderkm_command *command, struct drawing *drawing)
{
	switch ((enum pb_dxgk_gdiop)command->OpCode) {
	case PB_DXGK_GDIOP_BITBLT:
		return convert_bit_blt(&command->Command.BitBlt, drawing);
	case PB_DXGK_GDIOP_COLORFILL:
		return convert_color_fill(&command->Command.ColorFill, drawing);
	case PB_DXGK_GDIOP_ALPHABLEND:
		return convert_alpha_blend(&command->Command.AlphaBlend, drawing);
	case PB_DXGK_GDIOP_STRETCHBLT:
		return convert_stretch_blt(&command->Command.StretchBlt, drawing);
	case PB_DXGK_GDIOP_ESCAPE:
		*drawing = (struct drawing){.nothing = true};
		return true;
	case PB_DXGK_GDIOP_TRANSPARENTBLT:
	case PB_DXGK_GDIOP_CLEARTYPEBLEND:
		return false;
	}
	return false;
}

/**
 * Reads the command at an offset of the buffer. @param next out: offset of the next command
 * @retval PB_RENDER_INVALID_USER_BUFFER the command does not end in the buffer, or is shorter than its operation needs
 * @retval PB_RENDER_INVALID_PARAMETER engines cannot do it
 */
static enum pb_render_status read_command(const struct pb_dxgkarg_render *render, uint32_t offset,
					  struct drawing *drawing, uint32_t *next)
{
	const uint8_t *bytes = (const uint8_t *)render->pCommand + offset;
	const uint32_t left = render->CommandLength - offset;
	struct pb_dxgk_renderkm_command command;
	uint32_t needed;

	memset(&command, 0, sizeof(command));
	if (left < HEAD_BYTES)
		return PB_RENDER_INVALID_USER_BUFFER;
	memcpy(&command, bytes, HEAD_BYTES);
	needed = command_bytes(command.OpCode);
	if (needed == 0)
		return PB_RENDER_INVALID_PARAMETER;
	if (command.CommandSize < needed || command.CommandSize > left)
		return PB_RENDER_INVALID_USER_BUFFER;
	memcpy(&command, bytes, needed);
	if (!convert(&command, drawing))
		return PB_RENDER_INVALID_PARAMETER;
	*next = offset + command.CommandSize;
	return PB_RENDER_SUCCESS;
}

/* ---- parts ---- */

static uint32_t parts_of(const struct drawing *drawing)
{
	if (drawing->nothing)
		return 0;
	return drawing->part_count != 0 ? drawing->part_count : 1;
}

static const struct pb_rect *part_of(const struct drawing *drawing, uint32_t part)
{
	return drawing->part_count != 0 ? &drawing->parts[part] : &drawing->destination;
}

static bool is_empty(const struct pb_rect *rect)
{
	return rect->left == rect->right || rect->top == rect->bottom;
}

/**
 * Converts a part that is not empty. Pre: the part lies in the destination, and the source of a copy is as large.
 * @return false: a row extends beyond its pitch, a pitch is no multiple of 4, or a first byte lies beyond 4 GiB
 */
static bool blit_of(const struct drawing *drawing, const struct pb_rect *part, struct pb_render_blit *blit)
{
	const uint32_t width = (uint32_t)(part->right - part->left);
	const int32_t left = drawing->source.left + (part->left - drawing->destination.left);
	const int32_t top = drawing->source.top + (part->top - drawing->destination.top);

	*blit = (struct pb_render_blit){
		.fill = drawing->fill,
		.color = drawing->color,
		.source = {.index = drawing->source_index, .pitch = drawing->source_pitch},
		.destination = {.index = drawing->destination_index, .pitch = drawing->destination_pitch},
		.row_bytes = PB_RENDER_PIXEL_BYTES * width,
		.rows = (uint32_t)(part->bottom - part->top),
	};
	/* The source of a fill is all 0. */
	return (drawing->source_pitch | drawing->destination_pitch) % PB_RENDER_PIXEL_BYTES == 0 &&
	       pb_render_blit_locate(&blit->destination, (uint32_t)part->left, (uint32_t)part->top, width) &&
	       (drawing->fill || pb_render_blit_locate(&blit->source, (uint32_t)left, (uint32_t)top, width));
}

/* ---- checks ---- */

static const struct pb_wddm_allocation *object_of(const struct pb_dxgkarg_render *render, uint32_t index)
{
	return index < render->AllocationListSize ? render->pAllocationList[index].hDeviceSpecificAllocation
						  : NULL;
}

/** Whether a side of a blit lies in its allocation. */
static bool side_fits(const struct pb_dxgkarg_render *render, const struct pb_render_blit_side *side,
		      const struct pb_render_blit *blit)
{
	const uint64_t extent = (uint64_t)side->pitch * (blit->rows - 1u) + blit->row_bytes;
	const struct pb_wddm_allocation *object = object_of(render, side->index);

	return object != NULL && side->offset < object->size && extent <= object->size - side->offset;
}

static bool part_is_good(const struct pb_dxgkarg_render *render, const struct drawing *drawing,
			 const struct pb_rect *part)
{
	uint32_t words[PB_RENDER_BLIT_WORDS];
	struct pb_render_blit blit;

	if (!pb_wddm_rect_inside(part, &drawing->destination))
		return false;
	return is_empty(part) ||
	       (blit_of(drawing, part, &blit) && side_fits(render, &blit.destination, &blit) &&
		(drawing->fill || side_fits(render, &blit.source, &blit)) &&
		pb_render_blit_commands(&blit, words) != 0);
}

/** Checks allocations and rectangles of a drawing, and completes its pitch. */
static bool complete(const struct pb_dxgkarg_render *render, struct drawing *drawing)
{
	const struct pb_wddm_allocation *to = object_of(render, drawing->destination_index);
	const struct pb_wddm_allocation *from =
		drawing->fill ? NULL : object_of(render, drawing->source_index);

	if (drawing->nothing)
		return true;
	if (to == NULL || (!drawing->fill && from == NULL) ||
	    (render->pAllocationList[drawing->destination_index].Value & PB_DXGK_ALLOCATION_WRITE) == 0 ||
	    (drawing->part_count != 0 && drawing->parts == NULL) ||
	    !pb_wddm_rect_valid(&drawing->destination))
		return false;
	if (drawing->destination_pitch == 0)
		drawing->destination_pitch = to->pitch;
	return drawing->fill ||
	       (pb_wddm_rect_valid(&drawing->source) &&
		pb_wddm_rects_match(&drawing->source, &drawing->destination) &&
		(from != to || (drawing->source_pitch == drawing->destination_pitch &&
				!pb_wddm_rects_overlap(&drawing->source, &drawing->destination))));
}

/** Reads a command and checks the drawing. */
static enum pb_render_status read_drawing(const struct pb_dxgkarg_render *render, uint32_t offset,
					  struct drawing *drawing, uint32_t *next)
{
	const enum pb_render_status status = read_command(render, offset, drawing, next);

	if (status == PB_RENDER_SUCCESS && !complete(render, drawing))
		return PB_RENDER_INVALID_PARAMETER;
	return status;
}

/** Checks the whole command buffer. @param parts out: number of its parts */
static enum pb_render_status check(const struct pb_dxgkarg_render *render, uint32_t *parts)
{
	uint64_t count = 0;
	uint32_t offset = 0;

	while (offset != render->CommandLength) {
		struct drawing drawing;
		const enum pb_render_status status = read_drawing(render, offset, &drawing, &offset);

		if (status != PB_RENDER_SUCCESS)
			return status;
		for (uint32_t i = 0; i < parts_of(&drawing); i++) {
			if (!part_is_good(render, &drawing, part_of(&drawing, i)))
				return PB_RENDER_INVALID_PARAMETER;
		}
		count += parts_of(&drawing);
	}
	*parts = (uint32_t)count;
	return count <= UINT32_MAX && render->MultipassOffset <= count ? PB_RENDER_SUCCESS
								       : PB_RENDER_INVALID_PARAMETER;
}

/* ---- translation ---- */

/** Commands of pb_render_km() that are being made. */
struct output {
	uint32_t *words;  /**< room for `room` words */
	uint32_t room;    /**< words */
	uint32_t count;   /**< words made */
	uint32_t skipped; /**< parts that are still to be left out */
	uint32_t done;    /**< parts left out or made */
};

/** Makes the commands of a part. @return false: there is no room for them */
static bool make_part(struct output *output, const struct drawing *drawing, const struct pb_rect *part)
{
	uint32_t words[PB_RENDER_BLIT_WORDS];
	struct pb_render_blit blit;
	uint32_t count = 0;

	if (output->skipped != 0) {
		output->skipped--;
	} else if (!is_empty(part) && blit_of(drawing, part, &blit)) {
		count = pb_render_blit_commands(&blit, words);
		if (count > output->room - output->count)
			return false;
		memcpy(&output->words[output->count], words, count * sizeof(*words));
		output->count += count;
	}
	output->done++;
	return true;
}

/** Makes the commands of all parts from number `first` on, as far as there is room. Pre: check() has succeeded. */
static struct output make(const struct pb_dxgkarg_render *render, uint32_t first, uint32_t *words,
			  uint32_t room)
{
	struct output output = {.words = words, .room = room, .skipped = first};
	uint32_t offset = 0;

	while (offset != render->CommandLength) {
		struct drawing drawing;

		if (read_drawing(render, offset, &drawing, &offset) != PB_RENDER_SUCCESS)
			break;
		for (uint32_t i = 0; i < parts_of(&drawing); i++) {
			if (!make_part(&output, &drawing, part_of(&drawing, i)))
				return output;
		}
	}
	return output;
}

/** Whether the outputs have room for any part. */
static bool has_room(const struct pb_render_output *output)
{
	return output->dma_size >= PB_RENDER_DMA_BYTES_MIN && output->locations_size >= PB_RENDER_PATCHES_MIN;
}

enum pb_render_status pb_wddm_translate_gdi(struct pb_render_arguments *arguments,
					    const struct pb_dxgkarg_render *render)
{
	const uint64_t taken = pb_render_staging_bytes(0, arguments->user_allocation_count, 0);
	uint32_t *words = (void *)((uint8_t *)arguments->staging + taken);
	struct output made;
	uint32_t parts = 0;
	enum pb_render_status status = check(render, &parts);

	if (status != PB_RENDER_SUCCESS)
		return status;
	if (arguments->staging_size < taken + PB_RENDER_BLIT_WORDS * sizeof(*words))
		return PB_RENDER_NO_MEMORY;
	made = make(render, render->MultipassOffset, words,
		    (uint32_t)((arguments->staging_size - taken) / sizeof(*words)));
	if (made.count != 0 && !has_room(&arguments->output))
		return PB_RENDER_INSUFFICIENT_DMA_BUFFER;
	arguments->command = words;
	arguments->command_length = made.count * (uint32_t)sizeof(*words);
	arguments->user_location_count = 0;
	arguments->multipass_offset = 0;
	status = pb_render_km(arguments);
	/* A part whose FILL fits without its COPY_RECT is not done: the next call writes both. */
	if (status == PB_RENDER_INSUFFICIENT_DMA_BUFFER)
		made = make(render, render->MultipassOffset, words,
			    arguments->multipass_offset / (uint32_t)sizeof(*words));
	arguments->multipass_offset = made.done;
	return status == PB_RENDER_SUCCESS && made.done != parts ? PB_RENDER_INSUFFICIENT_DMA_BUFFER : status;
}
