/* SPDX-License-Identifier: MIT */
/*
 * What an entry costs: a long list against one of half its length, so that all
 * that grows with the list is counted, slices and passes of the main loop too.
 */
#include <stddef.h>

#include "tests/bench/bench.h"

/** The counter goes round after 655,360 instructions: no list may take as many. */
#define ENTRIES     2048u
#define ALLOCATIONS 200u
#define STRIDE      16u
#define POISON      0xdeadbeefu

/** Picks the format of entry i. */
typedef uint32_t formats(uint32_t i);

static uint32_t random_state;

static uint32_t random_number(void)
{
	random_state = random_state * 1664525u + 1013904223u;
	return random_state >> 16;
}

/** The four that practice needs most: low word, both words, high word, address >> 8. */
static const uint32_t four[4] = {PB_PATCH_FORMAT_ADDRESS32, PB_PATCH_FORMAT_ADDRESS64, PB_PATCH_FORMAT_HIGH32,
				 PB_PATCH_FORMAT_SHIFT8};

static uint32_t all_address32(uint32_t i)
{
	(void)i;
	return PB_PATCH_FORMAT_ADDRESS32;
}

static uint32_t all_address64(uint32_t i)
{
	(void)i;
	return PB_PATCH_FORMAT_ADDRESS64;
}

static uint32_t all_write64(uint32_t i)
{
	(void)i;
	return PB_PATCH_FORMAT_ADDRESS64_WRITE;
}

static uint32_t all_sum32(uint32_t i)
{
	(void)i;
	return PB_PATCH_FORMAT_SUM32;
}

static uint32_t all_sum64(uint32_t i)
{
	(void)i;
	return PB_PATCH_FORMAT_SUM64_SIGNED;
}

/** A format without a loop of its own: two words, bits ORed in before a shift. */
static uint32_t all_general(uint32_t i)
{
	(void)i;
	return PB_PATCH_FORMAT_SHIFT8_SECTOR;
}

/** The dearest: two words whose other bits stay. */
static uint32_t all_split(uint32_t i)
{
	(void)i;
	return PB_PATCH_FORMAT_SPLIT40;
}

static uint32_t runs_of_32(uint32_t i)
{
	return four[i / 32u % 4u];
}

static uint32_t any_of_four(uint32_t i)
{
	(void)i;
	return four[random_number() % 4u];
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

static void write_list(formats *format)
{
	struct pb_patch_location *patches = list();

	random_state = 1;
	for (uint32_t i = 0; i < ENTRIES; i++) {
		patches[i] = (struct pb_patch_location){.allocation_index = allocation_of(i),
							.slot = i % ALLOCATIONS,
							.driver_id = format(i),
							.allocation_offset = offset_of(i),
							.patch_offset = i * STRIDE};
	}
}

/** The same entries, all of one format. */
static void write_compact(uint32_t format)
{
	uint32_t *words = list();

	*words++ = PB_COMPACT_ESCAPE | format << PB_COMPACT_FORMAT_SHIFT | allocation_of(0);
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

/** Words that the patches must have written, counted independently of the firmware's code. */
static void check(formats *format, uint32_t count)
{
	const uint32_t *words = (const void *)pb_bench.buffer.bytes_host;

	random_state = 1;
	for (uint32_t i = 0; i < ENTRIES; i++, words += STRIDE / 4u) {
		const uint32_t address = PB_BENCH_LOCAL_GPU + allocation_of(i) * 0x10000u + offset_of(i);
		const uint32_t id = format(i);
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

/** The first submission is a long one, so that no slot is left to be cleared. */
static void measure(const char *key, formats *format)
{
	uint32_t full, half;

	write_list(format);
	poison();
	half = submit(ENTRIES / 2u, PB_PATCH_ENCODING_WDDM);
	check(format, ENTRIES / 2u);
	poison();
	full = submit(ENTRIES, PB_PATCH_ENCODING_WDDM);
	check(format, ENTRIES);
	pb_bench_print_milli(key, (full - half) / (ENTRIES / 2u));
}

static void measure_compact(const char *key, formats *format)
{
	const uint32_t half_words = ENTRIES / 2u * PB_COMPACT_SHORT_WORDS + 1u;
	uint32_t full, half;

	write_compact(format(0));
	poison();
	half = submit(half_words, PB_PATCH_ENCODING_COMPACT);
	check(format, ENTRIES / 2u);
	poison();
	full = submit(ENTRIES * PB_COMPACT_SHORT_WORDS + 1u, PB_PATCH_ENCODING_COMPACT);
	check(format, ENTRIES);
	pb_bench_print_milli(key, (full - half) / (ENTRIES / 2u));
}

/** An allocation, with one patch behind them all; and with a buffer that is patched already. */
static void measure_allocations(void)
{
	struct pb_descriptor descriptor;
	uint32_t empty, one, unused;

	write_list(all_address32);
	empty = submit(0, PB_PATCH_ENCODING_WDDM);
	one = submit(1, PB_PATCH_ENCODING_WDDM);
	pb_bench_print_milli("resolve_instr_per_allocation", (one - empty) / ALLOCATIONS);
	poison();
	for (uint32_t i = 0; i < 2u; i++) {
		descriptor = describe(ENTRIES, PB_PATCH_ENCODING_WDDM);
		descriptor.cookie = 1;
		pb_bench_submit(&descriptor, &one, &unused);
	}
	check(all_address32, ENTRIES);
	pb_bench_print_milli("unmoved_instr_per_allocation", (one - empty) / ALLOCATIONS);
}

void pb_bench_patches(void)
{
	write_allocations();
	measure_allocations();
	measure("patch32_instr_per_entry", all_address32);
	measure("patch64_instr_per_entry", all_address64);
	measure("patch64_write_instr_per_entry", all_write64);
	measure("sum32_instr_per_entry", all_sum32);
	measure("sum64_instr_per_entry", all_sum64);
	measure("patch_runs32_instr_per_entry", runs_of_32);
	measure("patch_random_formats_instr_per_entry", any_of_four);
	measure("patch_generic_instr_per_entry", all_general);
	measure("patch_split_instr_per_entry", all_split);
	measure_compact("patch_compact_instr_per_entry", all_address64);
	measure_compact("patch_compact32_instr_per_entry", all_address32);
}
