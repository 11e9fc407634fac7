/* SPDX-License-Identifier: MIT */
#include "host/render_blit.h"

#include "hal/engine/packets.h"
#include "patchbay/abi/base.h"

PB_STATIC_ASSERT(PB_PACKET_FILL_WORDS + PB_PACKET_COPY_RECT_WORDS == PB_RENDER_BLIT_WORDS,
		 "the longest blit");

bool pb_render_blit_locate(struct pb_render_blit_side *side, uint32_t left, uint32_t top, uint32_t width)
{
	const uint64_t right = PB_RENDER_PIXEL_BYTES * ((uint64_t)left + width);
	const uint64_t offset = (uint64_t)top * side->pitch + PB_RENDER_PIXEL_BYTES * (uint64_t)left;

	side->offset = (uint32_t)offset;
	return right <= side->pitch && offset <= UINT32_MAX;
}

static uint32_t put_copy(uint32_t *words, const struct pb_render_blit_side *from,
			 const struct pb_render_blit_side *to, uint32_t row_bytes, uint32_t rows)
{
	words[0] = PB_PACKET(PB_PACKET_COPY_RECT, PB_PACKET_COPY_RECT_WORDS);
	words[1] = from->index;
	words[2] = from->offset;
	words[3] = from->pitch;
	words[4] = to->index;
	words[5] = to->offset;
	words[6] = to->pitch;
	words[7] = row_bytes;
	words[8] = rows;
	return PB_PACKET_COPY_RECT_WORDS;
}

static uint32_t put_fill(uint32_t *words, const struct pb_render_blit *blit, uint32_t bytes)
{
	words[0] = PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS);
	words[1] = blit->destination.index;
	words[2] = blit->destination.offset;
	words[3] = bytes;
	words[4] = blit->color;
	return PB_PACKET_FILL_WORDS;
}

uint32_t pb_render_blit_commands(const struct pb_render_blit *blit, uint32_t words[PB_RENDER_BLIT_WORDS])
{
	const struct pb_render_blit_side *to = &blit->destination;
	const uint64_t bytes = (uint64_t)blit->row_bytes * blit->rows;
	/* A pitch of 0 reads the first row for each of the others. */
	const struct pb_render_blit_side first = {.index = to->index, .offset = to->offset};
	struct pb_render_blit_side second = *to;
	uint32_t count;

	if (!blit->fill)
		return put_copy(words, &blit->source, to, blit->row_bytes, blit->rows);
	if (bytes <= UINT32_MAX && (blit->rows <= 1 || to->pitch == blit->row_bytes))
		return put_fill(words, blit, (uint32_t)bytes);
	second.offset += to->pitch;
	if (second.offset < to->offset)
		return 0;
	count = put_fill(words, blit, blit->row_bytes);
	return count + put_copy(words + count, &first, &second, blit->row_bytes, blit->rows - 1);
}
