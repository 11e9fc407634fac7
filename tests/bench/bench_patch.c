/* SPDX-License-Identifier: MIT */
/*
 * The cost of an entry: a long list compared with one of half its length, so that everything that grows with
 * the list is counted, slices and passes of the main loop too.
 */
#include <stddef.h>
#include <string.h>

#include "hal/shared.h"
#include "tests/bench/bench.h"
#include "tests/bench/bench_board.h"
#include "tests/bench/bench_lists.h"

static struct pb_descriptor describe(uint32_t length, uint32_t encoding)
{
	struct pb_descriptor descriptor = pb_bench_descriptor();

	descriptor.allocation_count = length != 0 ? ALLOCATIONS : 0;
	descriptor.allocation_address_low = (uint32_t)pb_bench.lists.os_address;
	descriptor.patch_address_low =
		descriptor.allocation_address_low + ALLOCATIONS * (uint32_t)sizeof(struct pb_allocation);
	descriptor.patch_count = length;
	descriptor.patch_length = length;
	descriptor.patch_encoding = encoding;
	return descriptor;
}

static uint32_t submit(uint32_t length, uint32_t encoding)
{
	const struct pb_descriptor descriptor = describe(length, encoding);
	uint32_t span, unused;

	pb_bench_submit(&descriptor, &span, &unused);
	return span;
}

/**
 * The cost of an entry of a list. The first submission has a long list, so that no slot is left to be cleared.
 * @param entries a part of them, if all took longer than the counter counts
 */
static void measure_part(const char *key, uint32_t entries)
{
	uint32_t full, half;

	bench_write_list();
	bench_poison();
	half = submit(entries / 2u, PB_PATCH_ENCODING_WDDM);
	bench_check(entries / 2u);
	bench_poison();
	full = submit(entries, PB_PATCH_ENCODING_WDDM);
	bench_check(entries);
	pb_bench_print_milli(key, (full - half) / (entries / 2u));
}

static void measure(const char *key)
{
	measure_part(key, ENTRIES);
}

static void measure_compact(const char *key)
{
	const uint32_t half_words = ENTRIES / 2u * PB_COMPACT_SHORT_WORDS + 1u;
	uint32_t full, half;

	bench_write_compact();
	bench_poison();
	half = submit(half_words, PB_PATCH_ENCODING_COMPACT);
	bench_check(ENTRIES / 2u);
	bench_poison();
	full = submit(ENTRIES * PB_COMPACT_SHORT_WORDS + 1u, PB_PATCH_ENCODING_COMPACT);
	bench_check(ENTRIES);
	pb_bench_print_milli(key, (full - half) / (ENTRIES / 2u));
}

/** The cost of an allocation, with one patch after all of them, and with a buffer that is patched already. */
static void measure_allocations(void)
{
	struct pb_descriptor descriptor;
	uint32_t empty, one, unused;

	bench_all_of(PB_PATCH_FORMAT_ADDRESS32);
	bench_write_list();
	empty = submit(0, PB_PATCH_ENCODING_WDDM);
	one = submit(1, PB_PATCH_ENCODING_WDDM);
	pb_bench_print_milli("resolve_instr_per_allocation", (one - empty) / ALLOCATIONS);
	bench_poison();
	for (uint32_t i = 0; i < 2u; i++) {
		descriptor = describe(ENTRIES, PB_PATCH_ENCODING_WDDM);
		descriptor.cookie = 1;
		pb_bench_submit(&descriptor, &one, &unused);
	}
	bench_check(ENTRIES);
	pb_bench_print_milli("unmoved_instr_per_allocation", (one - empty) / ALLOCATIONS);
}

/* ---- one allocation moved ---- */

#define MOVED 77u
/** Where it lies then, beside all others. */
#define MOVED_OS  (PB_BENCH_LOCAL_OS + ALLOCATIONS * 0x10000u)
#define MOVED_GPU (PB_BENCH_LOCAL_GPU + ALLOCATIONS * 0x10000u)

static struct pb_presumed *presumed(void)
{
	return (void *)(bench_allocations() + ALLOCATIONS);
}

static void *list_behind_presumed(void)
{
	return presumed() + ALLOCATIONS;
}

/** All allocations are presumed where they were; one lies elsewhere now. */
static void move_one(void)
{
	bench_write_allocations();
	for (uint32_t i = 0; i < ALLOCATIONS; i++)
		presumed()[i] = (struct pb_presumed){.address_low = bench_allocations()[i].address_low,
						     .flags = bench_allocations()[i].flags};
	bench_allocations()[MOVED].address_low = MOVED_OS;
}

/** Groups of the first entries, one for each allocation. @return words */
static uint32_t write_groups(uint32_t count)
{
	uint32_t *const first = list_behind_presumed();
	uint32_t *words = first;

	for (uint32_t a = 0; a < ALLOCATIONS; a++) {
		uint32_t *head = words;

		words += PB_GROUP_HEAD_WORDS;
		for (uint32_t i = 0; i < count; i++) {
			if (bench_allocation_of(i) != a)
				continue;
			*words++ = i * STRIDE / 4u << PB_COMPACT_PLACE_SHIFT | a;
			*words++ = bench_offset_of(i);
		}
		head[0] = PB_PATCH_FORMAT_ADDRESS64 << PB_GROUP_FORMAT_SHIFT | a;
		head[1] = (uint32_t)(words - head) - PB_GROUP_HEAD_WORDS;
	}
	return (uint32_t)(words - first);
}

/** Only the entries of the allocation that has moved are written. */
static void check_moved(uint32_t count)
{
	const uint32_t *words = (const void *)pb_bench.buffer.bytes_host;

	for (uint32_t i = 0; i < ENTRIES; i++, words += STRIDE / 4u) {
		const bool written = i < count && bench_allocation_of(i) == MOVED;

		pb_bench_require(words[0] == (written ? MOVED_GPU + bench_offset_of(i) : POISON),
				 "a word of a moved allocation is wrong");
		pb_bench_require(words[1] == (written ? 0 : POISON), "a high word is wrong");
	}
}

/** The cost of an entry while one of 200 allocations has moved: all that the submission costs beyond one without lists. */
static void measure_moved(const char *key, uint32_t encoding)
{
	const uint32_t empty = submit(0, PB_PATCH_ENCODING_WDDM);
	struct pb_descriptor descriptor;
	uint32_t words = ENTRIES;
	uint32_t span, unused;

	bench_all_of(PB_PATCH_FORMAT_ADDRESS64);
	bench_write_list();
	memmove(list_behind_presumed(), bench_list(), ENTRIES * sizeof(struct pb_patch_location));
	move_one();
	if (encoding == PB_PATCH_ENCODING_GROUPED)
		words = write_groups(ENTRIES);
	descriptor = describe(words, encoding | PB_PATCH_PRESUMED);
	descriptor.patch_address_low += ALLOCATIONS * (uint32_t)sizeof(struct pb_presumed);
	bench_poison();
	pb_bench_submit(&descriptor, &span, &unused);
	check_moved(ENTRIES);
	pb_bench_print_milli(key, (span - empty) / ENTRIES);
	bench_write_allocations();
}

/** Lists of one format. */
static const struct {
	const char *key;
	uint32_t format;
	bool compact;
} rows[] = {
	{"patch32_instr_per_entry", PB_PATCH_FORMAT_ADDRESS32, false},
	{"patch64_instr_per_entry", PB_PATCH_FORMAT_ADDRESS64, false},
	{"patch64_write_instr_per_entry", PB_PATCH_FORMAT_ADDRESS64_WRITE, false},
	{"sum32_instr_per_entry", PB_PATCH_FORMAT_SUM32, false},
	{"sum64_instr_per_entry", PB_PATCH_FORMAT_SUM64_SIGNED, false},
	/* A format without a loop of its own: one word of the address, with a bit ORed in, shifted. */
	{"patch_generic_instr_per_entry", PB_PATCH_FORMAT_SHIFT8_SECTOR, false},
	/* The most expensive format: two words whose other bits stay. */
	{"patch_split_instr_per_entry", PB_PATCH_FORMAT_SPLIT40, false},
	{"sum64_canonical_instr_per_entry", PB_PATCH_FORMAT_SUM64_CANONICAL, false},
	{"high32_instr_per_entry", PB_PATCH_FORMAT_HIGH32, false},
	{"nouveau_dma_instr_per_entry", PB_PATCH_FORMAT_NOUVEAU_DMA, false},
	{"nouveau_or_instr_per_entry", PB_PATCH_FORMAT_NOUVEAU_OR, false},
	{"nouveau_low_or_instr_per_entry", PB_PATCH_FORMAT_NOUVEAU_LOW_OR, false},
	{"shift1_instr_per_entry", PB_PATCH_FORMAT_SHIFT1, false},
	{"shift8_instr_per_entry", PB_PATCH_FORMAT_SHIFT8, false},
	{"tiling_instr_per_entry", PB_PATCH_FORMAT_TILING, false},
	{"id32_instr_per_entry", PB_PATCH_FORMAT_ID32, false},
	/* Formats whose descriptors are read with each entry, as a channel's own are; and one that takes the slow path. */
	{"low24_instr_per_entry", PB_PATCH_FORMAT_LOW24, false},
	{"unaligned32_instr_per_entry", PB_PATCH_FORMAT_UNALIGNED32, false},
	{"patch_compact_instr_per_entry", PB_PATCH_FORMAT_ADDRESS64, true},
	{"patch_compact32_instr_per_entry", PB_PATCH_FORMAT_ADDRESS32, true},
};

/** As patch64_instr_per_entry, where buffer, allocation list and patch list lie in host memory. */
static void measure_in_host_memory(void)
{
	if (!pb_bench_host_begin())
		return;
	bench_write_allocations();
	bench_all_of(PB_PATCH_FORMAT_ADDRESS64);
	measure("hostmem_patch64_instr_per_entry");
	pb_bench_host_end();
}

#define O PB_PATCH_FORMAT_NOUVEAU_DMA
#define A PB_PATCH_FORMAT_NOUVEAU_LOW_OR
#define L PB_PATCH_FORMAT_SUM32
#define H PB_PATCH_FORMAT_HIGH32
#define R PB_PATCH_FORMAT_NOUVEAU_OR
/* The first submissions of tests/data/nv40.subm.zst and nv50.subm.zst; of these, without four entries of own formats. */
static const uint8_t nv40[] = {O, O, O, L, L, L, O, L, O, L, O, L, O, L, O, L, O, L, O, L, O, L,
			       O, L, O, A, A, A, A, A, A, A, A, A, A, A, A, A, L, O, O, O, L, L};
static const uint8_t nv50[] = {H, L, H, L, H, L, H, L, H, L, L, H, L, L, H, L, L, H, L, L, R, R};
#undef O
#undef A
#undef L
#undef H
#undef R

/* No captures: each format that the driver's relocations need, as often as the others. */
static const uint8_t radeon[] = {PB_PATCH_FORMAT_SHIFT8, PB_PATCH_FORMAT_SPLIT40, PB_PATCH_FORMAT_TILING};
static const uint8_t guest[] = {PB_PATCH_FORMAT_ID32, PB_PATCH_FORMAT_ADDRESS32};
static const uint8_t msm[] = {PB_PATCH_FORMAT_SUM32, PB_PATCH_FORMAT_SHIFT1};

/** The formats of other drivers' relocations, mixed as these drivers mix them. */
static const struct mix {
	const char *key, *figure;
	const uint8_t *formats;
	uint32_t count;
	bool ordered; /* else random */
} mixes[] = {
	{"mix_nv40", "mix_nv40_instr_per_entry", nv40, sizeof(nv40), true},
	{"mix_nv50", "mix_nv50_instr_per_entry", nv50, sizeof(nv50), true},
	{"mix_radeon", "mix_radeon_instr_per_entry", radeon, sizeof(radeon), false},
	{"mix_guest", "mix_guest_instr_per_entry", guest, sizeof(guest), false},
	{"mix_msm", "mix_msm_instr_per_entry", msm, sizeof(msm), false},
};

static void mix(const struct mix *row)
{
	if (row->ordered)
		bench_in_order(row->formats, row->count);
	else
		bench_any_of(row->formats, row->count);
}

static void measure_mixes(void)
{
	for (uint32_t i = 0; i < sizeof(mixes) / sizeof(mixes[0]); i++) {
		mix(&mixes[i]);
		measure_part(mixes[i].figure, MIXED_ENTRIES);
	}
}

uint32_t pb_bench_mark[2];

/** A submission whose instructions and accesses the emulator follows. */
static void submit_marked(uint32_t length, uint32_t encoding)
{
	const struct pb_descriptor descriptor = describe(length, encoding);

	bench_poison();
	pb_shared_write32(&pb_bench_mark[0], 1);
	pb_bench_submit_uncounted(&descriptor, true);
	pb_shared_write32(&pb_bench_mark[1], 1);
}

static void print_kind(const char *key, uint32_t entries)
{
	pb_bench_print_text(key);
	pb_bench_print_text(" ");
	pb_bench_print_number(entries);
	pb_bench_print_text("\n");
}

static void follow_list(const char *key, uint32_t entries)
{
	bench_write_list();
	print_kind(key, entries);
	submit_marked(entries / 2u, PB_PATCH_ENCODING_WDDM);
	submit_marked(entries, PB_PATCH_ENCODING_WDDM);
	bench_check(entries);
}

static void follow_compact(const char *key)
{
	bench_write_compact();
	print_kind(key, ENTRIES);
	submit_marked(ENTRIES / 2u * PB_COMPACT_SHORT_WORDS + 1u, PB_PATCH_ENCODING_COMPACT);
	submit_marked(ENTRIES * PB_COMPACT_SHORT_WORDS + 1u, PB_PATCH_ENCODING_COMPACT);
	bench_check(ENTRIES);
}

void pb_bench_patches_marked(void)
{
	static const struct {
		const char *key;
		uint32_t format;
	} formats[] = {
		{"patch64", PB_PATCH_FORMAT_ADDRESS64},
		{"patch32", PB_PATCH_FORMAT_ADDRESS32},
		{"sum32", PB_PATCH_FORMAT_SUM32},
		{"sum64", PB_PATCH_FORMAT_SUM64_SIGNED},
		{"shift8", PB_PATCH_FORMAT_SHIFT8},
		{"id32", PB_PATCH_FORMAT_ID32},
		{"patch_split", PB_PATCH_FORMAT_SPLIT40},
		{"patch_generic", PB_PATCH_FORMAT_SHIFT8_SECTOR},
		{"nouveau_dma", PB_PATCH_FORMAT_NOUVEAU_DMA},
	};

	bench_write_allocations();
	for (uint32_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		bench_all_of(formats[i].format);
		follow_list(formats[i].key, ENTRIES);
	}
	bench_all_of(PB_PATCH_FORMAT_ADDRESS64);
	follow_compact("patch_compact");
	for (uint32_t i = 0; i < sizeof(mixes) / sizeof(mixes[0]); i++) {
		mix(&mixes[i]);
		follow_list(mixes[i].key, MIXED_ENTRIES);
	}
}

void pb_bench_patches(void)
{
	bench_write_allocations();
	measure_allocations();
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bench_all_of(rows[i].format);
		if (rows[i].compact)
			measure_compact(rows[i].key);
		else
			measure(rows[i].key);
	}
	bench_runs_of_32();
	measure("patch_runs32_instr_per_entry");
	bench_any_of(bench_four, sizeof(bench_four));
	measure("patch_random_formats_instr_per_entry");
	measure_moved("moved_1_of_200_instr_per_entry", PB_PATCH_ENCODING_GROUPED);
	measure_moved("moved_1_of_200_list_instr_per_entry", PB_PATCH_ENCODING_WDDM);
	measure_mixes();
	measure_in_host_memory();
}
