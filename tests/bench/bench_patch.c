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

/** The counter wraps after 655,360 instructions: no list may take as many. */
#define ENTRIES     2048u
#define ALLOCATIONS 200u
#define STRIDE      16u
#define POISON      0xdeadbeefu

/** The format of each entry. */
static uint8_t format_of[ENTRIES];

static void all_of(uint32_t format)
{
	for (uint32_t i = 0; i < ENTRIES; i++)
		format_of[i] = (uint8_t)format;
}

/** The four most common in practice: low word, both words, high word, address >> 8. */
static const uint8_t four[4] = {PB_PATCH_FORMAT_ADDRESS32, PB_PATCH_FORMAT_ADDRESS64, PB_PATCH_FORMAT_HIGH32,
				PB_PATCH_FORMAT_SHIFT8};

static void runs_of_32(void)
{
	for (uint32_t i = 0; i < ENTRIES; i++)
		format_of[i] = four[i / 32u % 4u];
}

/** Formats in random order, each as often as it is listed. */
static void any_of(const uint8_t *formats, uint32_t count)
{
	uint32_t random = 1;

	for (uint32_t i = 0; i < ENTRIES; i++) {
		random = random * 1664525u + 1013904223u;
		format_of[i] = formats[(random >> 16) % count];
	}
}

/** Formats in the order of a driver's submissions, over and over. */
static void in_order(const uint8_t *formats, uint32_t count)
{
	for (uint32_t i = 0; i < ENTRIES; i++)
		format_of[i] = formats[i % count];
}

static uint32_t allocation_of(uint32_t i)
{
	return i * 7u % ALLOCATIONS;
}

static uint32_t offset_of(uint32_t i)
{
	return i * 4u % 0x10000u;
}

static struct pb_allocation *allocations(void)
{
	return (void *)pb_bench.lists.bytes_host;
}

static void *list(void)
{
	return allocations() + ALLOCATIONS;
}

static void write_allocations(void)
{
	for (uint32_t i = 0; i < ALLOCATIONS; i++) {
		allocations()[i] = (struct pb_allocation){
			.address_low = PB_BENCH_LOCAL_OS + i * 0x10000u,
			.size_low = 0x10000u,
			.flags = 1u << PB_ALLOCATION_SEGMENT_SHIFT | PB_ALLOCATION_WRITE,
			.id = i,
		};
	}
}

static void write_list(void)
{
	struct pb_patch_location *patches = list();

	for (uint32_t i = 0; i < ENTRIES; i++) {
		patches[i] = (struct pb_patch_location){.allocation_index = allocation_of(i),
							.slot = i % ALLOCATIONS,
							.driver_id = format_of[i],
							.allocation_offset = offset_of(i),
							.patch_offset = i * STRIDE};
	}
}

/** A list whose entries all have one format. */
static void write_compact(void)
{
	uint32_t *words = list();

	*words++ = PB_COMPACT_ESCAPE | (uint32_t)format_of[0] << PB_COMPACT_FORMAT_SHIFT | allocation_of(0);
	*words++ = 0;
	*words++ = offset_of(0);
	for (uint32_t i = 1; i < ENTRIES; i++) {
		*words++ = i * STRIDE / 4u << PB_COMPACT_PLACE_SHIFT | allocation_of(i);
		*words++ = offset_of(i);
	}
}

static void poison(void)
{
	uint32_t *words = (void *)pb_bench.buffer.bytes_host;

	for (uint32_t i = 0; i < ENTRIES * STRIDE / 4u; i++)
		words[i] = POISON;
}

/** The words of an entry that is patched, computed independently of the firmware's code. @param high POISON unless patched */
static uint32_t expect(uint32_t i, uint32_t *high)
{
	const uint32_t offset = offset_of(i),
		       address = PB_BENCH_LOCAL_GPU + allocation_of(i) * 0x10000u + offset;

	switch (format_of[i]) {
	case PB_PATCH_FORMAT_ADDRESS64:
	case PB_PATCH_FORMAT_ADDRESS64_WRITE:
	case PB_PATCH_FORMAT_SUM64_SIGNED:
	case PB_PATCH_FORMAT_SUM64_CANONICAL:
		*high = 0;
		return address;
	case PB_PATCH_FORMAT_HIGH32:
		return 0;
	case PB_PATCH_FORMAT_SHIFT1:
		return address >> 1;
	case PB_PATCH_FORMAT_SHIFT8:
		return address >> 8;
	case PB_PATCH_FORMAT_SHIFT8_SECTOR:
		return address >> 8 | 1u << 31;
	case PB_PATCH_FORMAT_SPLIT40:
		*high = POISON & ~0xffu;
		return address | (POISON & 3u);
	case PB_PATCH_FORMAT_NOUVEAU_DMA:
		return offset | 0xbeef0201u;
	case PB_PATCH_FORMAT_NOUVEAU_OR:
		return offset | 1u;
	case PB_PATCH_FORMAT_NOUVEAU_LOW_OR:
		return address | 1u;
	case PB_PATCH_FORMAT_TILING:
		return (POISON & ~0xf00u) | (offset & 0xf00u);
	case PB_PATCH_FORMAT_ID32:
		return allocation_of(i) + offset;
	default:
		return address;
	}
}

static void check(uint32_t count)
{
	const uint32_t *words = (const void *)pb_bench.buffer.bytes_host;

	for (uint32_t i = 0; i < ENTRIES; i++, words += STRIDE / 4u) {
		uint32_t high = POISON;
		const uint32_t low = expect(i, &high);

		pb_bench_require(words[0] == (i < count ? low : POISON), "a patched word is wrong");
		pb_bench_require(words[1] == (i < count ? high : POISON), "a patched high word is wrong");
	}
}

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

	write_list();
	poison();
	half = submit(entries / 2u, PB_PATCH_ENCODING_WDDM);
	check(entries / 2u);
	poison();
	full = submit(entries, PB_PATCH_ENCODING_WDDM);
	check(entries);
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

	write_compact();
	poison();
	half = submit(half_words, PB_PATCH_ENCODING_COMPACT);
	check(ENTRIES / 2u);
	poison();
	full = submit(ENTRIES * PB_COMPACT_SHORT_WORDS + 1u, PB_PATCH_ENCODING_COMPACT);
	check(ENTRIES);
	pb_bench_print_milli(key, (full - half) / (ENTRIES / 2u));
}

/** The cost of an allocation, with one patch after all of them, and with a buffer that is patched already. */
static void measure_allocations(void)
{
	struct pb_descriptor descriptor;
	uint32_t empty, one, unused;

	all_of(PB_PATCH_FORMAT_ADDRESS32);
	write_list();
	empty = submit(0, PB_PATCH_ENCODING_WDDM);
	one = submit(1, PB_PATCH_ENCODING_WDDM);
	pb_bench_print_milli("resolve_instr_per_allocation", (one - empty) / ALLOCATIONS);
	poison();
	for (uint32_t i = 0; i < 2u; i++) {
		descriptor = describe(ENTRIES, PB_PATCH_ENCODING_WDDM);
		descriptor.cookie = 1;
		pb_bench_submit(&descriptor, &one, &unused);
	}
	check(ENTRIES);
	pb_bench_print_milli("unmoved_instr_per_allocation", (one - empty) / ALLOCATIONS);
}

/* ---- one allocation moved ---- */

#define MOVED 77u
/** Where it lies then, beside all others. */
#define MOVED_OS  (PB_BENCH_LOCAL_OS + ALLOCATIONS * 0x10000u)
#define MOVED_GPU (PB_BENCH_LOCAL_GPU + ALLOCATIONS * 0x10000u)

static struct pb_presumed *presumed(void)
{
	return (void *)(allocations() + ALLOCATIONS);
}

static void *list_behind_presumed(void)
{
	return presumed() + ALLOCATIONS;
}

/** All allocations are presumed where they were; one lies elsewhere now. */
static void move_one(void)
{
	write_allocations();
	for (uint32_t i = 0; i < ALLOCATIONS; i++)
		presumed()[i] = (struct pb_presumed){.address_low = allocations()[i].address_low,
						     .flags = allocations()[i].flags};
	allocations()[MOVED].address_low = MOVED_OS;
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
			if (allocation_of(i) != a)
				continue;
			*words++ = i * STRIDE / 4u << PB_COMPACT_PLACE_SHIFT | a;
			*words++ = offset_of(i);
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
		const bool written = i < count && allocation_of(i) == MOVED;

		pb_bench_require(words[0] == (written ? MOVED_GPU + offset_of(i) : POISON),
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

	all_of(PB_PATCH_FORMAT_ADDRESS64);
	write_list();
	memmove(list_behind_presumed(), list(), ENTRIES * sizeof(struct pb_patch_location));
	move_one();
	if (encoding == PB_PATCH_ENCODING_GROUPED)
		words = write_groups(ENTRIES);
	descriptor = describe(words, encoding | PB_PATCH_PRESUMED);
	descriptor.patch_address_low += ALLOCATIONS * (uint32_t)sizeof(struct pb_presumed);
	poison();
	pb_bench_submit(&descriptor, &span, &unused);
	check_moved(ENTRIES);
	pb_bench_print_milli(key, (span - empty) / ENTRIES);
	write_allocations();
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
	{"patch_compact_instr_per_entry", PB_PATCH_FORMAT_ADDRESS64, true},
	{"patch_compact32_instr_per_entry", PB_PATCH_FORMAT_ADDRESS32, true},
};

/** As patch64_instr_per_entry, where buffer, allocation list and patch list lie in host memory. */
static void measure_in_host_memory(void)
{
	if (!pb_bench_host_begin())
		return;
	write_allocations();
	all_of(PB_PATCH_FORMAT_ADDRESS64);
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
static void measure_mixes(void)
{
	in_order(nv40, sizeof(nv40));
	measure_part("mix_nv40_instr_per_entry", ENTRIES / 4u);
	in_order(nv50, sizeof(nv50));
	measure_part("mix_nv50_instr_per_entry", ENTRIES / 4u);
	any_of(radeon, sizeof(radeon));
	measure_part("mix_radeon_instr_per_entry", ENTRIES / 4u);
	any_of(guest, sizeof(guest));
	measure_part("mix_guest_instr_per_entry", ENTRIES / 4u);
	any_of(msm, sizeof(msm));
	measure_part("mix_msm_instr_per_entry", ENTRIES / 4u);
}

uint32_t pb_bench_mark[2];

/** A submission whose instructions and accesses the emulator follows. */
static void submit_marked(uint32_t length, uint32_t encoding)
{
	const struct pb_descriptor descriptor = describe(length, encoding);

	poison();
	pb_shared_write32(&pb_bench_mark[0], 1);
	pb_bench_submit_uncounted(&descriptor, true);
	pb_shared_write32(&pb_bench_mark[1], 1);
}

static void follow(const char *key, uint32_t format, bool compact)
{
	const uint32_t encoding = compact ? PB_PATCH_ENCODING_COMPACT : PB_PATCH_ENCODING_WDDM;
	const uint32_t words = compact ? PB_COMPACT_SHORT_WORDS : 1u;

	all_of(format);
	if (compact)
		write_compact();
	else
		write_list();
	pb_bench_print_text(key);
	pb_bench_print_text("\n");
	submit_marked(ENTRIES / 2u * words + compact, encoding);
	submit_marked(ENTRIES * words + compact, encoding);
	check(ENTRIES);
}

void pb_bench_patches_marked(void)
{
	write_allocations();
	follow("patch64", PB_PATCH_FORMAT_ADDRESS64, false);
	follow("patch32", PB_PATCH_FORMAT_ADDRESS32, false);
	follow("patch_compact", PB_PATCH_FORMAT_ADDRESS64, true);
	follow("patch_generic", PB_PATCH_FORMAT_SHIFT8_SECTOR, false);
	follow("patch_split", PB_PATCH_FORMAT_SPLIT40, false);
}

void pb_bench_patches(void)
{
	write_allocations();
	measure_allocations();
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		all_of(rows[i].format);
		if (rows[i].compact)
			measure_compact(rows[i].key);
		else
			measure(rows[i].key);
	}
	runs_of_32();
	measure("patch_runs32_instr_per_entry");
	any_of(four, sizeof(four));
	measure("patch_random_formats_instr_per_entry");
	measure_moved("moved_1_of_200_instr_per_entry", PB_PATCH_ENCODING_GROUPED);
	measure_moved("moved_1_of_200_list_instr_per_entry", PB_PATCH_ENCODING_WDDM);
	measure_mixes();
	measure_in_host_memory();
}
