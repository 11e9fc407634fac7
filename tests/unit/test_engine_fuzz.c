/* SPDX-License-Identifier: MIT */
/*
 * Buffers, and then whole card memories, of noise that looks almost right. The
 * seeds are fixed, so that a failure is found again. Built with sanitizers, an
 * access outside card memory ends the test.
 */
#include <string.h>

#include "firmware/abi/boot.h"
#include "tests/unit/engine_bench.h"
#include "tests/unit/unit.h"

#define MEMORIES     4000u
#define STREAM_WORDS 64u
#define STREAM_STEPS 12u
#define ARRAY(a)     (sizeof(a) / sizeof((a)[0]))
/* Addresses of pages, where most MAPs find theirs. */
#define LISTS       0xe000u
#define LISTS_BYTES 0x400u
/* Pages of the aperture that are used most. */
#define PAGES 12u

static uint32_t below(uint32_t *seed, uint32_t limit)
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

	switch (below(seed, 32)) {
	case 0:
		return edges[below(seed, ARRAY(edges))] + 4 * (uint64_t)below(seed, 8) - 16;
	case 1:
		return (uint64_t)bench_random(seed) << 32 | bench_random(seed);
	case 2:
		return BENCH_GPU + BENCH_RANGE0 + below(seed, 0x13000);
	case 3:
		return BENCH_APERTURE + 4096 * (uint64_t)below(seed, BENCH_PAGES) - 4 * below(seed, 4);
	default:
		return below(seed, 3) == 0 ? BENCH_APERTURE + 4 * (uint64_t)below(seed, 1024 * PAGES)
					   : BENCH_GPU + BENCH_DATA + 4 * (uint64_t)below(seed, 0x3000);
	}
}

/* The page that MAP and UNMAP begin with. */
static uint64_t pick_page(uint32_t *seed)
{
	if (below(seed, 16) == 0)
		return pick_address(seed);
	return BENCH_APERTURE + 4096 * (uint64_t)below(seed, PAGES);
}

static uint64_t pick_list(uint32_t *seed)
{
	if (below(seed, 16) == 0)
		return pick_address(seed);
	return BENCH_GPU + LISTS + 8 * (uint64_t)below(seed, LISTS_BYTES / 8);
}

static uint32_t pick_size(uint32_t *seed)
{
	switch (below(seed, 32)) {
	case 0:
		return bench_random(seed);
	case 1:
		return below(seed, 300);
	case 2:
		return 4 * below(seed, 0x4000);
	default:
		return 4 * below(seed, 24);
	}
}

static uint32_t pick_extent(uint32_t *seed)
{
	switch (below(seed, 32)) {
	case 0:
		return bench_random(seed);
	case 1:
		return below(seed, PB_ENGINE_EXTENT_MAX + 2);
	default:
		return 1 + below(seed, 32);
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
		return put_address(words,
				   below(seed, 2) == 0 ? BENCH_GPU + BENCH_BUFFER : pick_address(seed));
	case 'P':
		return put_address(words, pick_page(seed));
	case 'l':
		return put_address(words, pick_list(seed));
	case 'n':
		words[0] = below(seed, 32) == 0 ? pick_extent(seed) : below(seed, 4);
		return 1;
	case 's':
		words[0] = pick_size(seed);
		return 1;
	case 'e':
		words[0] = pick_extent(seed);
		return 1;
	case 'p':
		words[0] = 4 * below(seed, 64) + 96;
		return 1;
	case 'v':
		words[0] = 3 * below(seed, 20);
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

static uint32_t generate(uint32_t *seed, uint32_t words[STREAM_WORDS])
{
	uint32_t count = 0;

	if (below(seed, 4) != 0) {
		count += append_packet(seed, FORM_TARGET, &words[count]);
		count += append_packet(seed, FORM_TEXTURE, &words[count]);
	}
	while (count + PB_PACKET_COPY_RECT_WORDS <= STREAM_WORDS) {
		/* The forms from HANG on end a stream: seldom. */
		uint32_t limit = below(seed, 16) == 0 ? ARRAY(forms) : FORM_HANG;

		count += append_packet(seed, below(seed, limit), &words[count]);
	}
	return count;
}

static void mutate(uint32_t *seed, uint32_t *words, uint32_t count)
{
	uint32_t mutations = below(seed, 3) == 0 ? 1 + below(seed, 4) : 0;

	for (uint32_t i = 0; i < mutations; i++) {
		uint32_t *word = &words[below(seed, count)];

		if (below(seed, 2) == 0)
			*word ^= 1u << below(seed, 32);
		else
			*word = bench_random(seed);
	}
}

/* The vertices that most DRAWs find: any word of data is one now and then. */
static void scatter_vertices(struct bench *bench, uint32_t *seed)
{
	for (uint32_t at = BENCH_DATA; at < BENCH_RANGE1; at += 4)
		*bench_at(bench, at) = below(seed, 2000) - 500;
}

/* A word of a register, range, slot or page table: small, near the size of memory, or anything. */
static uint32_t pick_word(uint32_t *seed)
{
	switch (below(seed, 6)) {
	case 0:
		return bench_random(seed);
	case 1:
		return 1u << below(seed, 32);
	case 2:
		return BENCH_BYTES - 4 * below(seed, 64);
	case 3:
		return UINT32_MAX - below(seed, 8);
	default:
		return 4 * below(seed, BENCH_BYTES / 4);
	}
}

/* Lists of pages, and a page table: some words of them are wrong, some not mapped. */
static void scatter_pages(struct bench *bench, uint32_t *seed)
{
	for (uint32_t at = LISTS; at < LISTS + LISTS_BYTES; at += 8) {
		uint64_t page = BENCH_GPU + BENCH_DATA + 4096 * (uint64_t)below(seed, 17);

		put_address(bench_at(bench, at), below(seed, 32) == 0 ? pick_address(seed) : page);
	}
	for (uint32_t page = 0; page < BENCH_PAGES; page++) {
		*bench_at(bench, BENCH_TABLE + 4 * page) = 0;
		if (page < PAGES && below(seed, 16) != 0)
			bench_map(bench, page, BENCH_DATA + 4096 * below(seed, 17));
		if (below(seed, 16) == 0)
			*bench_at(bench, BENCH_TABLE + 4 * page) = pick_word(seed) | below(seed, 2);
	}
}

/* What channel 1 must leave alone: all but its ranges, their page tables, the dummy page and what is the engine's. */
static const struct {
	uint32_t first;
	uint32_t end;
} outside[] = {
	{0, BENCH_REGISTERS + 64},
	{BENCH_REGISTERS + 128, BENCH_TRANSLATION + 64},
	{BENCH_TRANSLATION + 68, BENCH_RANGE0},
	{BENCH_RANGE2 + 0x1000, BENCH_DUMMY},
	{BENCH_TABLE + 4 * BENCH_PAGES, BENCH_BYTES},
};

static void save_outside(const struct bench *bench, uint8_t *before)
{
	for (size_t i = 0; i < ARRAY(outside); i++)
		memcpy(before + outside[i].first, bench->memory + outside[i].first,
		       outside[i].end - outside[i].first);
}

static void expect_outside(const struct bench *bench, const uint8_t *before)
{
	for (size_t i = 0; i < ARRAY(outside); i++)
		assert_int_equal(memcmp(before + outside[i].first, bench->memory + outside[i].first,
					outside[i].end - outside[i].first),
				 0);
}

static void run_a_while(struct bench *bench)
{
	for (uint32_t step = 0; step < STREAM_STEPS; step++) {
		if (!pb_engine_model_step(bench->model, 1 + 16 * step))
			return;
	}
}

static void streams_stay_in_their_ranges(void **state)
{
	static uint8_t before[BENCH_BYTES];
	struct pb_engine_model_statistics statistics;
	uint32_t codes[PB_ENGINE_FAULT_PRIVILEGE + 1] = {0};
	struct bench bench;
	uint32_t seed = 4711;
	uint32_t changed;

	(void)state;
	bench_start(&bench, PB_NODE_3D);
	changed = *bench_at(&bench, BENCH_TRANSLATION + 64);
	for (uint32_t i = 0; i < STREAMS; i++) {
		uint32_t words[STREAM_WORDS];
		uint32_t count = generate(&seed, words);

		mutate(&seed, words, count);
		if (i % 8 == 0) {
			scatter_vertices(&bench, &seed);
			scatter_pages(&bench, &seed);
		}
		bench_store(&bench, BENCH_BUFFER, words, count);
		bench_feed(&bench, below(&seed, 4) == 0 ? 1 : BENCH_PAGING, BENCH_GPU + BENCH_BUFFER,
			   4 * count);
		save_outside(&bench, before);
		run_a_while(&bench);
		expect_outside(&bench, before);
		assert_in_range(bench.registers->fault_code, 0, PB_ENGINE_FAULT_PRIVILEGE);
		codes[bench.registers->fault_code]++;
		bench_reset(&bench);
	}
	/* The noise was no mere noise: everything that this node has was reached, often. */
	for (uint32_t code = 0; code <= PB_ENGINE_FAULT_PRIVILEGE; code++)
		assert_true(code == PB_ENGINE_FAULT_NODE ? codes[code] == 0 : codes[code] > 20);
	assert_true(*bench_at(&bench, BENCH_TRANSLATION + 64) - changed > STREAMS / 8);
	pb_engine_model_statistics(bench.model, &statistics);
	assert_true(statistics.packets > 2 * STREAMS);
	assert_true(statistics.bytes_moved > STREAMS);
	assert_true(statistics.pixels > STREAMS);
	bench_stop(&bench);
}

static void spoil(struct bench *bench, uint32_t *seed)
{
	uint32_t *registers = bench_at(bench, BENCH_REGISTERS);

	for (uint32_t i = 0; i < 8; i++) {
		if (below(seed, 4) == 0)
			registers[i] = pick_word(seed);
	}
	for (uint32_t i = 0; i < BENCH_CHANNELS * BENCH_ROW_BYTES / 4; i++) {
		if (below(seed, 4) == 0)
			*bench_at(bench, BENCH_RANGES + 4 * i) = pick_word(seed);
	}
	for (uint32_t i = 0; i < BENCH_PAGES; i++) {
		if (below(seed, 2) == 0)
			*bench_at(bench, BENCH_TABLE + 4 * i) = pick_word(seed) | below(seed, 2);
	}
	for (uint32_t i = 0; i < 8 * BENCH_SLOTS; i++) {
		if (below(seed, 16) == 0)
			*bench_at(bench, BENCH_RING + 4 * i) = pick_word(seed);
	}
}

static void no_memory_brings_the_model_down(void **state)
{
	uint32_t seed = 1234567;
	uint32_t ran = 0;

	(void)state;
	for (uint32_t i = 0; i < MEMORIES; i++) {
		struct pb_engine_model_statistics statistics;
		uint32_t words[STREAM_WORDS];
		struct bench bench;

		bench_start(&bench, i % 2 == 0 ? PB_NODE_3D : PB_NODE_COPY);
		for (uint32_t slot = 0; slot < BENCH_SLOTS; slot++) {
			uint32_t at = BENCH_BUFFER + 0x200 * slot;
			uint32_t count = generate(&seed, words);

			mutate(&seed, words, count);
			bench_store(&bench, at, words, count);
			bench_feed(&bench,
				   below(&seed, BENCH_CHANNELS + 1) | (slot % 2 * PB_ENGINE_OWNER_PRIVILEGED),
				   BENCH_GPU + at, 4 * count);
		}
		spoil(&bench, &seed);
		run_a_while(&bench);
		bench.registers->command ^= PB_ENGINE_COMMAND_ONE | PB_ENGINE_COMMAND_CONTINUE;
		run_a_while(&bench);
		pb_engine_model_statistics(bench.model, &statistics);
		ran += statistics.packets != 0;
		bench_stop(&bench);
	}
	assert_true(ran > MEMORIES / 50);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams_stay_in_their_ranges),
		cmocka_unit_test(no_memory_brings_the_model_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
