/* SPDX-License-Identifier: MIT */
/*
 * Presents and drawing commands of the kernel: a rectangle of one colour, or a copy of one, as a whole or in parts. A
 * driver may build one buffer for it or several.
 */
#include <string.h>

#include "tests/wddm/os/call.h"

/** A rectangle to draw, and its parts as the driver gets them. */
struct drawing {
	uint32_t words[OS_DRAWING_WORDS];
	struct pb_rect from;
	struct pb_rect to;
	struct pb_rect parts[OS_PARTS_MAX];
};

static struct pb_rect rect_of(uint32_t left, uint32_t top, uint32_t width, uint32_t height)
{
	return (struct pb_rect){(int32_t)left, (int32_t)top, (int32_t)(left + width),
				(int32_t)(top + height)};
}

/** Chooses parts: they may overlap. They may be empty; an empty one does not fault where an allocation is absent. */
static void choose_parts(struct os_machine *m, struct drawing *drawing)
{
	uint32_t *words = drawing->words;
	const uint32_t least = m->wrongness != 0 ? 1 : 0;

	words[OS_PARTS] = os_one_in(&m->chance, 3) ? 1 + os_below(&m->chance, OS_PARTS_MAX) : 0;
	for (uint32_t p = 0; p < words[OS_PARTS]; p++) {
		uint32_t *part = &words[OS_PART + 4u * p];

		part[0] = os_below(&m->chance, words[OS_WIDTH]);
		part[1] = os_below(&m->chance, words[OS_HEIGHT]);
		part[2] = least + os_below(&m->chance, words[OS_WIDTH] - part[0] + 1 - least);
		part[3] = least + os_below(&m->chance, words[OS_HEIGHT] - part[1] + 1 - least);
		drawing->parts[p] =
			rect_of(words[OS_TO_X] + part[0], words[OS_TO_Y] + part[1], part[2], part[3]);
	}
}

static void choose(struct os_machine *m, struct drawing *drawing)
{
	uint32_t *words = drawing->words;
	const uint32_t to = os_below(&m->chance, OS_ALLOCATIONS);

	words[OS_TO] = to;
	words[OS_FROM] = os_one_in(&m->chance, 2)
				 ? OS_ALLOCATIONS
				 : (to + 1 + os_below(&m->chance, OS_ALLOCATIONS - 1)) % OS_ALLOCATIONS;
	words[OS_FROM_X] = os_below(&m->chance, 8);
	words[OS_FROM_Y] = os_below(&m->chance, 32);
	words[OS_TO_X] = os_below(&m->chance, 8);
	words[OS_TO_Y] = os_below(&m->chance, 32);
	words[OS_WIDTH] = 1 + os_below(&m->chance, 8);
	words[OS_HEIGHT] = 1 + os_below(&m->chance, 32);
	words[OS_COLOR] = os_word(&m->chance);
	drawing->from = rect_of(words[OS_FROM_X], words[OS_FROM_Y], words[OS_WIDTH], words[OS_HEIGHT]);
	drawing->to = rect_of(words[OS_TO_X], words[OS_TO_Y], words[OS_WIDTH], words[OS_HEIGHT]);
	choose_parts(m, drawing);
}

/** One call of Present. */
static uint32_t call_present(struct os_machine *m, const struct drawing *drawing, struct os_buffer *buffer,
			     uint32_t *multipass, struct os_call *call)
{
	const uint32_t *words = drawing->words;
	const bool fill = words[OS_FROM] == OS_ALLOCATIONS;
	struct pb_dxgkarg_present present;
	struct pb_dxgk_allocationlist list[3] = {buffer->rendered[0],
						 buffer->rendered[fill ? 0 : words[OS_FROM] + 1],
						 buffer->rendered[words[OS_TO] + 1]};
	uint32_t status;

	os_garbage(&m->chance, &present, sizeof(present));
	present.pDmaBuffer = call->window->bytes;
	present.DmaSize = call->dma_size;
	present.pDmaBufferPrivateData = buffer->private_data;
	present.DmaBufferPrivateDataSize = buffer->private_size;
	present.pAllocationList = list;
	present.pPatchLocationListOut = buffer->patches;
	present.PatchLocationListOutSize = call->patch_room;
	present.MultipassOffset = *multipass;
	if (!fill)
		present.SrcRect = drawing->from;
	else
		present.Color = words[OS_COLOR];
	present.DstRect = drawing->to;
	present.SubRectCnt = words[OS_PARTS];
	present.pDstSubRects = drawing->parts;
	present.Flags = fill ? PB_DXGK_PRESENT_COLOR_FILL : PB_DXGK_PRESENT_BLT;
	status = m->ddi.present(m, &buffer->context->shim, &present);
	*multipass = present.MultipassOffset;
	call->dma_end = present.pDmaBuffer;
	call->private_end = present.pDmaBufferPrivateData;
	call->patch_end = present.pPatchLocationListOut;
	/* The list passed to Patch has all allocations. */
	for (struct pb_patch_location *patch = buffer->patches; patch < call->patch_end; patch++) {
		if (patch->allocation_index != 0)
			patch->allocation_index =
				patch->allocation_index == 1 ? words[OS_FROM] + 1 : words[OS_TO] + 1;
	}
	return status;
}

static void make_command(struct os_machine *m, const struct drawing *drawing,
			 struct pb_dxgk_renderkm_command *command)
{
	const uint32_t *words = drawing->words;
	struct pb_dxgk_gdiarg_colorfill *fill = &command->Command.ColorFill;
	struct pb_dxgk_gdiarg_bitblt *blt = &command->Command.BitBlt;

	os_garbage(&m->chance, command, sizeof(*command));
	command->CommandSize = sizeof(*command);
	if (words[OS_FROM] == OS_ALLOCATIONS) {
		command->OpCode = PB_DXGK_GDIOP_COLORFILL;
		fill->DstRect = drawing->to;
		fill->DstAllocationIndex = words[OS_TO] + 1;
		fill->NumSubRects = words[OS_PARTS];
		fill->pSubRects = (struct pb_rect *)(uintptr_t)drawing->parts;
		fill->Color = words[OS_COLOR];
		fill->Rop = PB_DXGK_GDIROPCF_PATCOPY;
		return;
	}
	command->OpCode = PB_DXGK_GDIOP_BITBLT;
	blt->SrcRect = drawing->from;
	blt->DstRect = drawing->to;
	blt->SrcAllocationIndex = words[OS_FROM] + 1;
	blt->DstAllocationIndex = words[OS_TO] + 1;
	blt->NumSubRects = words[OS_PARTS];
	blt->pSubRects = (struct pb_rect *)(uintptr_t)drawing->parts;
	blt->Rop = PB_DXGK_GDIROP_SRCCOPY;
	blt->SrcPitch = blt->DstPitch = OS_PITCH;
}

/** One call of RenderKm. */
static uint32_t call_render_km(struct os_machine *m, const struct drawing *drawing, struct os_buffer *buffer,
			       uint32_t *multipass, struct os_call *call)
{
	struct pb_dxgk_renderkm_command command;
	struct pb_dxgkarg_render arguments;
	uint32_t status;

	make_command(m, drawing, &command);
	os_garbage(&m->chance, &arguments, sizeof(arguments));
	arguments.pCommand = &command;
	arguments.CommandLength = sizeof(command);
	os_call_fill_in(&arguments, buffer, call);
	arguments.MultipassOffset = *multipass;
	status = m->ddi.render_km(m, &buffer->context->shim, &arguments);
	*multipass = arguments.MultipassOffset;
	os_call_take_out(&arguments, call);
	return status;
}

/** Calls until the drawing is built, and queues each buffer. All of it renders, or nothing. */
static void draw(struct os_machine *m, struct os_context *context, uint32_t flags,
		 uint32_t (*build)(struct os_machine *m, const struct drawing *drawing,
				   struct os_buffer *buffer, uint32_t *multipass, struct os_call *call))
{
	struct drawing drawing;
	uint32_t status = PB_STATUS_INSUFFICIENT_DMA_BUFFER;
	uint32_t multipass = 0;

	choose(m, &drawing);
	for (uint32_t pass = 0; pass < OS_PASSES_MAX && status == PB_STATUS_INSUFFICIENT_DMA_BUFFER; pass++) {
		struct os_buffer *buffer = os_buffer_take(m, context);
		struct os_call call;

		if (buffer == NULL)
			return;
		os_call_begin(m, buffer, pass, &call);
		m->quiet = true;
		status = build(m, &drawing, buffer, &multipass, &call);
		m->quiet = false;
		if (!os_call_end(m, buffer, &call, status)) {
			os_buffer_free(m, buffer);
			if (status != PB_STATUS_INSUFFICIENT_DMA_BUFFER)
				return;
			continue;
		}
		os_call_remember(m, buffer, drawing.words, OS_DRAWING_WORDS, true, flags);
		buffer->unfinished = status == PB_STATUS_INSUFFICIENT_DMA_BUFFER;
		os_call_queue(m, buffer, flags);
	}
	if (status == PB_STATUS_INSUFFICIENT_DMA_BUFFER)
		os_break(&m->os, OS_RULE_RENDER_LOOPS, multipass);
}

void os_drawing_present(struct os_machine *m, struct os_context *context)
{
	draw(m, context, os_call_flags(m, PB_FLAG_PRESENT), call_present);
	m->counts.presents++;
}

void os_drawing_of_kernel(struct os_machine *m, struct os_context *context)
{
	draw(m, context, 0, call_render_km);
}
