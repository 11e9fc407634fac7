/* SPDX-License-Identifier: MIT */
/*
 * The cost of an entry: a long list compared with one of half its length, so that everything that grows with
 * the list is counted, slices and passes of the main loop too.
 */
#include <stddef.h>

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

static void any_of_four(void)
{
	uint32_t random = 1;

	for (uint32_t i = 0; i < ENTRIES; i++) {
		random = random * 1664525u + 1013904223u;
		format_of[i] = four[(random >> 16) % 4u];
	}
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

/** Words that the patches must have written, computed independently of the firmware's code. */
static void check(uint32_t count)
{
	const uint32_t *words = (const void *)pb_bench.buffer.bytes_host;

	for (uint32_t i = 0; i < ENTRIES; i++, words += STRIDE / 4u) {
		const uint32_t address = PB_BENCH_LOCAL_GPU + allocation_of(i) * 0x10000u + offset_of(i);
		const uint32_t id = format_of[i];
		uint32_t low = address, high = POISON;

		if (id == PB_PATCH_FORMAT_ADDRESS64 || id == PB_PATCH_FORMAT_ADDRESS64_WRITE ||
		    id == PB_PATCH_FORMAT_SUM64_SIGNED)
			high = 0;
		else if (id == PB_PATCH_FORMAT_HIGH32)
			low = 0;
		else if (id == PB_PATCH_FORMAT_SHIFT8)
			low = address >> 8;
		else if (id == PB_PATCH_FORMAT_SHIFT8_SECTOR)
			low = address >> 8 | 1u << 31;
		else if (id == PB_PATCH_FORMAT_SPLIT40)
			low = address | (POISON & 3u), high = POISON & ~0xffu;
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

/** The first submission has a long list, so that no slot is left to be cleared. */
static void measure(const char *key)
{
	uint32_t full, half;

	write_list();
	poison();
	half = submit(ENTRIES / 2u, PB_PATCH_ENCODING_WDDM);
	check(ENTRIES / 2u);
	poison();
	full = submit(ENTRIES, PB_PATCH_ENCODING_WDDM);
	check(ENTRIES);
	pb_bench_print_milli(key, (full - half) / (ENTRIES / 2u));
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
	any_of_four();
	measure("patch_random_formats_instr_per_entry");
	measure_in_host_memory();
}
