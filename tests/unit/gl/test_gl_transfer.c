/* SPDX-License-Identifier: MIT */
/* Transfers: which bytes of a client's memory they use, and that their pieces are just these bytes, once. */
#include <string.h>

#include "hal/engine/gl_packets.h"
#include "host/gl/formats.h"
#include "host/gl/transfer.h"
#include "tests/unit/unit.h"

enum { R8 = 64, RGBA8 = 67, RGBA32F = 31, DXT1 = 105, ASTC_10X5 = 287, NV12 = 166 };

static void blocks(void **state)
{
	static const struct {
		uint32_t format, bytes, width, height;
	} cases[] = {
		{0, 0, 1, 1},    {1, 4, 1, 1},   {5, 2, 1, 1},    {19, 4, 1, 1},         {23, 1, 1, 1},
		{24, 8, 1, 1},   {27, 32, 1, 1}, {30, 12, 1, 1},  {31, 16, 1, 1},        {50, 6, 1, 1},
		{66, 3, 1, 1},   {67, 4, 1, 1},  {94, 8, 1, 1},   {100, 4, 1, 1},        {105, 8, 4, 4},
		{108, 16, 4, 4}, {113, 8, 4, 4}, {116, 16, 4, 4}, {124, 4, 1, 1},        {126, 8, 1, 1},
		{166, 0, 1, 1},  {180, 4, 1, 1}, {188, 8, 1, 1},  {195, 12, 1, 1},       {226, 8, 4, 4},
		{255, 16, 4, 4}, {269, 8, 4, 4}, {273, 16, 4, 4}, {287, 16, 10, 5},      {306, 16, 12, 12},
		{14, 4, 2, 1},   {313, 2, 1, 1}, {481, 0, 1, 1},  {0xffffffff, 0, 1, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct pb_gl_block block = pb_gl_block_of(cases[i].format);

		if (block.bytes != cases[i].bytes || block.width != cases[i].width ||
		    block.height != cases[i].height)
			fail_msg("format %u", (unsigned)cases[i].format);
	}
}

/* Template: target, format, bind, width, height, depth, array size, last level, samples, flags. */
static void plans(void **state)
{
	static const struct {
		uint32_t format, width, height, level;
		uint32_t box[6];
		uint32_t stride, layer_stride;
		uint64_t offset, available;
		bool good;
	} cases[] = {
		/* A whole picture of 8 x 4, to the last byte. */
		{RGBA8, 8, 4, 0, {0, 0, 0, 8, 4, 1}, 0, 0, 0, 128, true},
		{RGBA8, 8, 4, 0, {0, 0, 0, 8, 4, 1}, 0, 0, 0, 127, false},
		{RGBA8, 8, 4, 0, {0, 0, 0, 8, 4, 1}, 0, 0, 1, 128, false},
		/* A column: the last row needs its own bytes only. */
		{RGBA8, 8, 4, 0, {2, 0, 0, 1, 4, 1}, 0, 0, 8, 108, true},
		{RGBA8, 8, 4, 0, {2, 0, 0, 1, 4, 1}, 0, 0, 8, 107, false},
		/* Level 1 is 4 x 2. */
		{RGBA8, 8, 4, 1, {0, 0, 0, 4, 2, 1}, 0, 0, 0, 32, true},
		{RGBA8, 8, 4, 1, {0, 0, 0, 4, 2, 1}, 0, 0, 0, 31, false},
		/* Strides of the request, layers of the level. */
		{RGBA8, 8, 4, 0, {0, 0, 0, 2, 2, 1}, 100, 0, 0, 108, true},
		{RGBA8, 8, 4, 0, {0, 0, 0, 2, 2, 1}, 100, 0, 0, 107, false},
		{RGBA8, 8, 4, 0, {0, 0, 0, 8, 4, 2}, 0, 0, 0, 256, true},
		{RGBA8, 8, 4, 0, {0, 0, 0, 8, 4, 2}, 0, 0, 0, 255, false},
		{RGBA8, 8, 4, 0, {0, 0, 0, 8, 4, 2}, 0, 1000, 0, 1128, true},
		{RGBA8, 8, 4, 0, {0, 0, 0, 8, 4, 2}, 0, 1000, 0, 1127, false},
		/* Rows that lie in each other. */
		{RGBA8, 8, 4, 0, {0, 0, 0, 8, 4, 1}, 31, 0, 0, 4096, false},
		{RGBA8, 8, 4, 0, {0, 0, 0, 8, 1, 1}, 31, 0, 0, 32, true},
		{RGBA8, 8, 4, 0, {0, 0, 0, 8, 4, 2}, 0, 31, 0, 4096, false},
		/* Blocks: 8 x 4 texels are two blocks in one row. */
		{DXT1, 8, 4, 0, {0, 0, 0, 8, 4, 1}, 0, 0, 0, 16, true},
		{DXT1, 8, 4, 0, {0, 0, 0, 8, 4, 1}, 0, 0, 0, 15, false},
		{DXT1, 8, 4, 2, {0, 0, 0, 2, 1, 1}, 0, 0, 0, 8, true},
		/* Buffers. */
		{R8, 100, 1, 0, {10, 0, 0, 90, 1, 1}, 0, 0, 10, 100, true},
		{R8, 100, 1, 0, {10, 0, 0, 90, 1, 1}, 0, 0, 11, 100, false},
		/* Numbers that overflow if they may. */
		{RGBA32F, 8, 4, 0, {0, 0, 0, 0x40000000, 1, 1}, 0, 0, 0, 0x40000000, false},
		{RGBA32F, 8, 4, 0, {0, 0, 0, 1, 0x40000000, 1}, 0xffffffff, 0, 0, 0x40000000, false},
		{RGBA32F,
		 8,
		 4,
		 0,
		 {0, 0, 0, 1, 0x40000000, 0x40000000},
		 16,
		 0xffffffff,
		 0,
		 0x40000000,
		 false},
		{RGBA32F, 0x40000000, 0x40000000, 0, {0, 0, 0, 1, 1, 2}, 0, 0, 0, 0x40000000, false},
		{RGBA32F, 0x40000001, 1, 0, {0, 0, 0, 1, 1, 1}, 0, 0, 0, 0x40000000, false},
		{RGBA8, 8, 4, 0, {0x40000001, 0, 0, 1, 1, 1}, 0, 0, 0, 4096, false},
		{RGBA8, 8, 4, 0, {0, 0, 0, 1, 1, 1}, 0, 0, UINT64_MAX, 4096, false},
		{RGBA8, 8, 4, 31, {0, 0, 0, 1, 1, 1}, 0, 0, 0, 4096, false},
		/* Nothing, and a format that is not known. */
		{RGBA8, 8, 4, 0, {0, 0, 0, 0, 1, 1}, 0, 0, 0, 4096, false},
		{RGBA8, 8, 4, 0, {0, 0, 0, 1, 0, 1}, 0, 0, 0, 4096, false},
		{RGBA8, 8, 4, 0, {0, 0, 0, 1, 1, 0}, 0, 0, 0, 4096, false},
		{NV12, 8, 4, 0, {0, 0, 0, 8, 4, 1}, 0, 0, 0, 4096, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint32_t words[PB_GL_TEMPLATE_WORDS] = {
			2, cases[i].format, 0, cases[i].width, cases[i].height, 1, 1, 5};
		struct pb_gl_transfer_request request = {
			.template_words = words,
			.level = cases[i].level,
			.stride = cases[i].stride,
			.layer_stride = cases[i].layer_stride,
			.offset = cases[i].offset,
			.available = cases[i].available,
		};
		struct pb_gl_transfer transfer;
		const char *why;

		memcpy(request.box, cases[i].box, sizeof(request.box));
		if (pb_gl_transfer_plan(&request, &transfer, &why) != cases[i].good)
			fail_msg("row %zu: %s", i, why);
	}
}

/*
 * Cuts a picture into pieces, and puts each into a second memory. Just the bytes of the box are there, whatever the room
 * is; boxes of the pieces add up.
 */
static void check_pieces(uint32_t format, const uint32_t *box, uint32_t room)
{
	enum { STRIDE = 48 * 16, LAYER = STRIDE * 24, BYTES = LAYER * 3 + 100 };
	static uint8_t from[BYTES], to[BYTES], packed[BYTES];
	const uint32_t words[PB_GL_TEMPLATE_WORDS] = {2, format, 0, 48, 24, 3, 1, 0};
	const struct pb_gl_block block = pb_gl_block_of(format);
	const uint32_t row = (box[3] + block.width - 1) / block.width * block.bytes;
	const uint32_t rows = (box[4] + block.height - 1) / block.height;
	struct pb_gl_transfer_request request = {.template_words = words,
						 .stride = STRIDE,
						 .layer_stride = LAYER,
						 .offset = 100,
						 .available = BYTES};
	struct pb_gl_transfer transfer;
	struct pb_gl_piece piece;
	uint64_t texels = 0;
	const char *why;

	for (uint32_t i = 0; i < BYTES; i++)
		from[i] = (uint8_t)(i * 7u + i / 251u + 1u);
	memset(to, 0, sizeof(to));
	memcpy(request.box, box, sizeof(request.box));
	assert_true(pb_gl_transfer_plan(&request, &transfer, &why));
	while (pb_gl_transfer_next(&transfer, room, &piece)) {
		assert_in_range(piece.bytes, 1, room);
		assert_int_equal(piece.bytes, piece.row_bytes * piece.rows * piece.layers);
		assert_true(piece.box[0] >= box[0] && piece.box[0] + piece.box[3] <= box[0] + box[3]);
		assert_true(piece.box[1] >= box[1] && piece.box[1] + piece.box[4] <= box[1] + box[4]);
		assert_true(piece.box[2] >= box[2] && piece.box[2] + piece.box[5] <= box[2] + box[5]);
		texels += (uint64_t)piece.box[3] * piece.box[4] * piece.box[5];
		pb_gl_piece_pack(&transfer, &piece, from, packed);
		pb_gl_piece_unpack(&transfer, &piece, packed, to);
	}
	assert_true(texels == (uint64_t)box[3] * box[4] * box[5]);
	for (uint32_t i = 0; i < BYTES; i++) {
		const uint32_t at = i - 100u, z = at / LAYER, y = at % LAYER / STRIDE, x = at % STRIDE;
		const bool inside = i >= 100 && z < box[5] && y < rows && x < row;

		if (to[i] != (inside ? from[i] : 0))
			fail_msg("format %u, room %u, byte %u", (unsigned)format, (unsigned)room,
				 (unsigned)i);
	}
}

static void pieces(void **state)
{
	static const uint32_t boxes[][6] = {
		{0, 0, 0, 48, 24, 3}, {3, 5, 1, 17, 9, 2}, {0, 0, 0, 1, 1, 1},   {47, 23, 2, 1, 1, 1},
		{0, 0, 0, 48, 1, 3},  {0, 3, 0, 1, 21, 1}, {8, 4, 0, 20, 20, 3},
	};
	static const uint32_t formats[] = {R8, RGBA8, RGBA32F, DXT1, ASTC_10X5, 66};
	static const uint32_t rooms[] = {64, 100, 128, 768, 1000, 5000, 20000, 0x100000};

	(void)state;
	for (size_t b = 0; b < sizeof(boxes) / sizeof(boxes[0]); b++) {
		for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); f++) {
			for (size_t r = 0; r < sizeof(rooms) / sizeof(rooms[0]); r++)
				check_pieces(formats[f], boxes[b], rooms[r]);
		}
	}
}

UNIT_SUITE(test_gl_transfer)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks),
		cmocka_unit_test(plans),
		cmocka_unit_test(pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
