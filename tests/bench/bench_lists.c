/* SPDX-License-Identifier: MIT */
#include "tests/bench/bench_lists.h"

#include <stddef.h>

const uint8_t bench_four[4] = {PB_PATCH_FORMAT_ADDRESS32, PB_PATCH_FORMAT_ADDRESS64, PB_PATCH_FORMAT_HIGH32,
			       PB_PATCH_FORMAT_SHIFT8};

/** The format of each entry. */
static uint8_t format_of[ENTRIES];

void bench_all_of(uint32_t format)
{
	for (uint32_t i = 0; i < ENTRIES; i++)
		format_of[i] = (uint8_t)format;
}

void bench_runs_of_32(void)
{
	for (uint32_t i = 0; i < ENTRIES; i++)
		format_of[i] = bench_four[i / 32u % 4u];
}

/** Formats in random order, each as often as it is listed. */
void bench_any_of(const uint8_t *formats, uint32_t count)
{
	uint32_t random = 1;

	for (uint32_t i = 0; i < ENTRIES; i++) {
		random = random * 1664525u + 1013904223u;
		format_of[i] = formats[(random >> 16) % count];
	}
}

/** Formats in the order of a driver's submissions, over and over. */
void bench_in_order(const uint8_t *formats, uint32_t count)
{
	for (uint32_t i = 0; i < ENTRIES; i++)
		format_of[i] = formats[i % count];
}

uint32_t bench_allocation_of(uint32_t i)
{
	return i * 7u % ALLOCATIONS;
}

uint32_t bench_offset_of(uint32_t i)
{
	return i * 4u % 0x10000u;
}

struct pb_allocation *bench_allocations(void)
{
	return (void *)pb_bench.lists.bytes_host;
}

void *bench_list(void)
{
	return bench_allocations() + ALLOCATIONS;
}

void bench_write_allocations(void)
{
	for (uint32_t i = 0; i < ALLOCATIONS; i++) {
		bench_allocations()[i] = (struct pb_allocation){
			.address_low = PB_BENCH_LOCAL_OS + i * 0x10000u,
			.size_low = 0x10000u,
			.flags = 1u << PB_ALLOCATION_SEGMENT_SHIFT | PB_ALLOCATION_WRITE,
			.id = i,
		};
	}
}

void bench_write_list(void)
{
	struct pb_patch_location *patches = bench_list();

	for (uint32_t i = 0; i < ENTRIES; i++) {
		patches[i] = (struct pb_patch_location){.allocation_index = bench_allocation_of(i),
							.slot = i % ALLOCATIONS,
							.driver_id = format_of[i],
							.allocation_offset = bench_offset_of(i),
							.patch_offset = i * STRIDE};
	}
}

/** A list whose entries all have one format. */
void bench_write_compact(void)
{
	uint32_t *words = bench_list();

	*words++ = PB_COMPACT_ESCAPE | (uint32_t)format_of[0] << PB_COMPACT_FORMAT_SHIFT |
		   bench_allocation_of(0);
	*words++ = 0;
	*words++ = bench_offset_of(0);
	for (uint32_t i = 1; i < ENTRIES; i++) {
		*words++ = i * STRIDE / 4u << PB_COMPACT_PLACE_SHIFT | bench_allocation_of(i);
		*words++ = bench_offset_of(i);
	}
}

void bench_poison(void)
{
	uint32_t *words = (void *)pb_bench.buffer.bytes_host;

	for (uint32_t i = 0; i < ENTRIES * STRIDE / 4u; i++)
		words[i] = POISON;
}

/** The words of an entry that is patched, computed independently of the firmware's code. @param high POISON unless patched */
static uint32_t expect(uint32_t i, uint32_t *high)
{
	const uint32_t offset = bench_offset_of(i),
		       address = PB_BENCH_LOCAL_GPU + bench_allocation_of(i) * 0x10000u + offset;

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
	case PB_PATCH_FORMAT_LOW24:
		return (POISON & 0xff000000u) | (address & 0x00ffffffu);
	case PB_PATCH_FORMAT_ID32:
		return bench_allocation_of(i) + offset;
	default:
		return address;
	}
}

void bench_check(uint32_t count)
{
	const uint32_t *words = (const void *)pb_bench.buffer.bytes_host;

	for (uint32_t i = 0; i < ENTRIES; i++, words += STRIDE / 4u) {
		uint32_t high = POISON;
		const uint32_t low = expect(i, &high);

		pb_bench_require(words[0] == (i < count ? low : POISON), "a patched word is wrong");
		pb_bench_require(words[1] == (i < count ? high : POISON), "a patched high word is wrong");
	}
}
