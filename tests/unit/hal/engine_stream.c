/* SPDX-License-Identifier: MIT */
#include "tests/unit/hal/engine_stream.h"

#define ARRAY(a) (sizeof(a) / sizeof((a)[0]))
/* Addresses of pages, where most MAPs find theirs. */
#define LISTS       0xe000u
#define LISTS_BYTES 0x400u
/* Pages of the aperture that are used most. */
#define PAGES 12u

uint32_t stream_below(uint32_t *seed, uint32_t limit)
{
	return bench_random(seed) % limit;
}

static uint64_t pick_address(uint32_t *seed)
{
	static const uint64_t edges[] = {
		BENCH_GPU + BENCH_RANGE0,
		BENCH_GPU + BENCH_RANGE1,
		BENCH_GPU + BENCH_RANGE1_END,
		BENCH_RANGE2_GPU,
		BENCH_RANGE2_GPU + 0x1000,
		0,
		UINT64_MAX - 7,
		BENCH_GPU,
		BENCH_APERTURE,
		BENCH_APERTURE + BENCH_PAGES * UINT64_C(4096),
	};

	switch (stream_below(seed, 32)) {
	case 0:
		return edges[stream_below(seed, ARRAY(edges))] + 4 * (uint64_t)stream_below(seed, 8) - 16;
	case 1:
		return (uint64_t)bench_random(seed) << 32 | bench_random(seed);
	case 2:
		return BENCH_GPU + BENCH_RANGE0 + stream_below(seed, 0x13000);
	case 3:
		return BENCH_APERTURE + 4096 * (uint64_t)stream_below(seed, BENCH_PAGES) -
		       4 * stream_below(seed, 4);
	default:
		return stream_below(seed, 3) == 0
			       ? BENCH_APERTURE + 4 * (uint64_t)stream_below(seed, 1024 * PAGES)
			       : BENCH_GPU + BENCH_DATA + 4 * (uint64_t)stream_below(seed, 0x3000);
	}
}

/* The page that MAP and UNMAP begin with. */
static uint64_t pick_page(uint32_t *seed)
{
	if (stream_below(seed, 16) == 0)
		return pick_address(seed);
	return BENCH_APERTURE + 4096 * (uint64_t)stream_below(seed, PAGES);
}

static uint64_t pick_list(uint32_t *seed)
{
	if (stream_below(seed, 16) == 0)
		return pick_address(seed);
	return BENCH_GPU + LISTS + 8 * (uint64_t)stream_below(seed, LISTS_BYTES / 8);
}

static uint32_t pick_size(uint32_t *seed)
{
	switch (stream_below(seed, 32)) {
	case 0:
		return bench_random(seed);
	case 1:
		return stream_below(seed, 300);
	case 2:
		return 4 * stream_below(seed, 0x4000);
	default:
		return 4 * stream_below(seed, 24);
	}
}

static uint32_t pick_extent(uint32_t *seed)
{
	switch (stream_below(seed, 32)) {
	case 0:
		return bench_random(seed);
	case 1:
		return stream_below(seed, PB_ENGINE_EXTENT_MAX + 2);
	default:
		return 1 + stream_below(seed, 32);
	}
}

enum {
	FORM_TARGET,
	FORM_TEXTURE,
	FORM_DRAW,
	FORM_NOP,
	FORM_FILL,
	FORM_COPY,
	FORM_COPY_RECT,
	FORM_DISCARD,
	FORM_MAP,
	FORM_UNMAP,
	FORM_INDIRECT,
	FORM_BUSY,
	FORM_HANG,
	FORM_FAULT,
	FORM_FENCE,
};

/*
 * Operands: 'a' an address, 'b' often that of the stream, 's' a size, 'e' an
 * extent, 'p' a pitch, 'v' a number of vertices, 'P' a page, 'l' a list of
 * pages, 'n' how many, 'x' anything.
 */
static const struct {
	uint32_t header;
	const char *operands;
} forms[] = {
	[FORM_TARGET] = {PB_PACKET(PB_PACKET_TARGET, 6), "aeep"},
	[FORM_TEXTURE] = {PB_PACKET(PB_PACKET_TEXTURE, 6), "aeep"},
	[FORM_DRAW] = {PB_PACKET(PB_PACKET_DRAW, 4), "av"},
	[FORM_NOP] = {NOP(3), "xx"},
	[FORM_FILL] = {PB_PACKET(PB_PACKET_FILL, 5), "ase"},
	[FORM_COPY] = {PB_PACKET(PB_PACKET_COPY, 6), "aas"},
	[FORM_COPY_RECT] = {PB_PACKET(PB_PACKET_COPY_RECT, 9), "apapse"},
	[FORM_DISCARD] = {PB_PACKET(PB_PACKET_DISCARD, 4), "as"},
	[FORM_MAP] = {PB_PACKET(PB_PACKET_MAP_APERTURE, 6), "Pnl"},
	[FORM_UNMAP] = {PB_PACKET(PB_PACKET_UNMAP_APERTURE, 4), "Pn"},
	[FORM_INDIRECT] = {PB_PACKET(PB_PACKET_INDIRECT, 4), "bs"},
	[FORM_BUSY] = {PB_PACKET(PB_PACKET_BUSY, 2), "s"},
	[FORM_HANG] = {PB_PACKET(PB_PACKET_HANG, 1), ""},
	[FORM_FAULT] = {PB_PACKET(PB_PACKET_FAULT, 1), ""},
	[FORM_FENCE] = {PB_PACKET(PB_PACKET_FENCE, 2), "x"},
};

static uint32_t put_address(uint32_t *words, uint64_t address)
{
	words[0] = (uint32_t)address;
	words[1] = (uint32_t)(address >> 32);
	return 2;
}

static uint32_t append_operand(uint32_t *seed, char kind, uint32_t *words)
{
	switch (kind) {
	case 'a':
		return put_address(words, pick_address(seed));
	case 'b':
		return put_address(words, stream_below(seed, 2) == 0 ? BENCH_GPU + BENCH_BUFFER
								     : pick_address(seed));
	case 'P':
		return put_address(words, pick_page(seed));
	case 'l':
		return put_address(words, pick_list(seed));
	case 'n':
		words[0] = stream_below(seed, 32) == 0 ? pick_extent(seed) : stream_below(seed, 4);
		return 1;
	case 's':
		words[0] = pick_size(seed);
		return 1;
	case 'e':
		words[0] = pick_extent(seed);
		return 1;
	case 'p':
		words[0] = 4 * stream_below(seed, 64) + 96;
		return 1;
	case 'v':
		words[0] = 3 * stream_below(seed, 20);
		return 1;
	default:
		words[0] = bench_random(seed);
		return 1;
	}
}

static uint32_t append_packet(uint32_t *seed, uint32_t form, uint32_t *words)
{
	uint32_t count = 1;

	words[0] = forms[form].header;
	for (const char *kind = forms[form].operands; *kind != '\0'; kind++)
		count += append_operand(seed, *kind, &words[count]);
	return count;
}

void stream_surface(uint32_t *seed, uint32_t operands[PB_ENGINE_SURFACE_WORDS])
{
	uint32_t words[1 + PB_ENGINE_SURFACE_WORDS];

	append_packet(seed, FORM_TARGET, words);
	for (uint32_t i = 0; i < PB_ENGINE_SURFACE_WORDS; i++)
		operands[i] = words[1 + i];
}

uint32_t stream_generate(uint32_t *seed, uint32_t words[STREAM_WORDS])
{
	uint32_t count = 0;

	if (stream_below(seed, 4) != 0) {
		count += append_packet(seed, FORM_TARGET, &words[count]);
		count += append_packet(seed, FORM_TEXTURE, &words[count]);
	}
	while (count + PB_PACKET_COPY_RECT_WORDS <= STREAM_WORDS) {
		/* The forms from HANG on end a stream: seldom. */
		uint32_t limit = stream_below(seed, 16) == 0 ? ARRAY(forms) : FORM_HANG;

		count += append_packet(seed, stream_below(seed, limit), &words[count]);
	}
	return count;
}

void stream_mutate(uint32_t *seed, uint32_t *words, uint32_t count)
{
	uint32_t mutations = stream_below(seed, 3) == 0 ? 1 + stream_below(seed, 4) : 0;

	for (uint32_t i = 0; i < mutations; i++) {
		uint32_t *word = &words[stream_below(seed, count)];

		if (stream_below(seed, 2) == 0)
			*word ^= 1u << stream_below(seed, 32);
		else
			*word = bench_random(seed);
	}
}

void stream_scatter_vertices(const struct bench *bench, uint32_t *seed)
{
	for (uint32_t at = BENCH_DATA; at < BENCH_RANGE1; at += 4)
		*bench_at(bench, at) = stream_below(seed, 2000) - 500;
}

uint32_t stream_word(uint32_t *seed)
{
	switch (stream_below(seed, 6)) {
	case 0:
		return bench_random(seed);
	case 1:
		return 1u << stream_below(seed, 32);
	case 2:
		return BENCH_BYTES - 4 * stream_below(seed, 64);
	case 3:
		return UINT32_MAX - stream_below(seed, 8);
	default:
		return 4 * stream_below(seed, BENCH_BYTES / 4);
	}
}

void stream_scatter_pages(const struct bench *bench, uint32_t *seed)
{
	for (uint32_t at = LISTS; at < LISTS + LISTS_BYTES; at += 8) {
		uint64_t page = BENCH_GPU + BENCH_DATA + 4096 * (uint64_t)stream_below(seed, 17);

		put_address(bench_at(bench, at), stream_below(seed, 32) == 0 ? pick_address(seed) : page);
	}
	for (uint32_t page = 0; page < BENCH_PAGES; page++) {
		*bench_at(bench, BENCH_TABLE + 4 * page) = 0;
		if (page < PAGES && stream_below(seed, 16) != 0)
			bench_map(bench, page, BENCH_DATA + 4096 * stream_below(seed, 17));
		if (stream_below(seed, 16) == 0)
			*bench_at(bench, BENCH_TABLE + 4 * page) = stream_word(seed) | stream_below(seed, 2);
	}
}
