/* SPDX-License-Identifier: MIT */
/*
 * Every built-in format with values worked out by hand. The oracle and the
 * card must both come to them: alone and behind others of the same format,
 * which may go another way through the firmware, in either encoding.
 */
#include <string.h>

#include "tests/unit/patch_oracle.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define WRITE        PB_ALLOCATION_WRITE
#define ATTRIBUTE(a) ((uint32_t)(a) << PB_ALLOCATION_ATTRIBUTE_SHIFT)

/** AllocationIndex of formats that use none: no index is out of range. */
#define ANY 0xffffffffu

/** Allocations that the rows name. */
enum {
	LOW,       /* GPU address 0x5000, attribute 0 */
	VIDEO,     /* GPU address 0x180001234, attribute 1 */
	CROSSING,  /* GPU addresses 0xfffffff0 to 0x100000010, attribute 2 */
	NEAR_4G,   /* GPU address 0xffffff00, 256 bytes, attribute 3, id 0xffffffff */
	ALL,       /* GPU addresses 0 to 2^40 */
	TOP_40,    /* the last 16 bytes of those */
	SIGN,      /* GPU addresses 0x7ffffffffff0 to 0x800000000010: bit 47 turns on */
	BIT_40,    /* GPU address 0x10000000000 */
	BIT_48,    /* GPU address 0x1000000000100: bit 48 on, bit 47 off */
	TOP_64,    /* the last 256 bytes of the highest segment: 0xffffffffffffef00 and up */
	GART,      /* GPU address 0x30000010, in an aperture */
	READ_ONLY, /* GPU address 0x6000 */
	UNBOUND,   /* */
	ALLOCATIONS,
};

static const struct pb_allocation allocations[ALLOCATIONS] = {
	[LOW] = {0x5000, 0, 0x2000, 0, CARD_SEGMENT(3) | WRITE | ATTRIBUTE(0), 0x1d000001},
	[VIDEO] = {0x1234, 8, 0x1000, 0, CARD_SEGMENT(1) | WRITE | ATTRIBUTE(1), 7},
	[CROSSING] = {0x2000fff0, 0, 0x20, 0, CARD_SEGMENT(2) | WRITE | ATTRIBUTE(2), 0},
	[NEAR_4G] = {0xffffff00, 0, 0x100, 0, CARD_SEGMENT(3) | WRITE | ATTRIBUTE(3), 0xffffffff},
	[ALL] = {0, 0, 0, 0x100, CARD_SEGMENT(3) | WRITE, 0},
	[TOP_40] = {0xfffffff0, 0xff, 16, 0, CARD_SEGMENT(3) | WRITE, 0},
	[SIGN] = {0x0000fff0, 0x200, 0x20, 0, CARD_SEGMENT(4) | WRITE, 0},
	[BIT_40] = {0, 0x500, 0x1000, 0, CARD_SEGMENT(7) | WRITE, 0},
	[BIT_48] = {0x100, 0x300, 0x1000, 0, CARD_SEGMENT(5) | WRITE, 0},
	[TOP_64] = {0x1ef00, 0x400, 0x100, 0, CARD_SEGMENT(6) | WRITE, 0},
	[GART] = {0x10, 0x700, 0x1000, 0, CARD_SEGMENT(9) | WRITE, 0},
	[READ_ONLY] = {0x6000, 0, 0x100, 0, CARD_SEGMENT(3), 0},
	[UNBOUND] = {0, 0, 0, 0, PB_ALLOCATION_UNBIND, 5},
};

/* What stands at the place before. */
#define OLD_LOW  0xf1e2d3c5u
#define OLD_HIGH 0x12345678u
/** Of every submission here. */
#define FENCE_ID 0xfffffff0u

#define F(name)    PB_PATCH_FORMAT_##name
#define BAD(error) PB_ERROR_PATCH_##error, OLD_LOW, OLD_HIGH
#define OK(low)    PB_ERROR_OK, (low), OLD_HIGH
#define OK2        PB_ERROR_OK
#define NOTHING    PB_ERROR_OK, OLD_LOW, OLD_HIGH

static const struct vector {
	const char *name;
	uint32_t format;
	uint32_t allocation;
	uint32_t offset;
	enum pb_error error;
	uint32_t low;  /* of the two words at PatchOffset */
	uint32_t high; /* */
} vectors[] = {
	{"ADDRESS32", F(ADDRESS32), LOW, 0x10, OK(0x5010)},
	{"ADDRESS32, last byte", F(ADDRESS32), LOW, 0x1fff, OK(0x6fff)},
	{"ADDRESS32, at the size", F(ADDRESS32), LOW, 0x2000, BAD(OFFSET)},
	{"ADDRESS32, 2^32 - 1", F(ADDRESS32), CROSSING, 0xf, OK(0xffffffff)},
	{"ADDRESS32, 2^32", F(ADDRESS32), CROSSING, 0x10, BAD(VALUE)},
	{"ADDRESS32, high address", F(ADDRESS32), VIDEO, 0, BAD(VALUE)},
	{"ADDRESS32, read-only", F(ADDRESS32), READ_ONLY, 4, OK(0x6004)},
	{"ADDRESS32, unbound", F(ADDRESS32), UNBOUND, 0xffffffff, NOTHING},

	/* 0x180001234 + 0x10 = 0x1_80001244 */
	{"ADDRESS64", F(ADDRESS64), VIDEO, 0x10, OK2, 0x80001244, 1},
	{"ADDRESS64, carry", F(ADDRESS64), CROSSING, 0x10, OK2, 0, 1},
	{"ADDRESS64, at the size", F(ADDRESS64), CROSSING, 0x20, BAD(OFFSET)},
	{"ADDRESS64, largest offset", F(ADDRESS64), ALL, 0xfffffffe, OK2, 0xfffffffe, 0},
	{"ADDRESS64, beyond offsets", F(ADDRESS64), ALL, 0xffffffff, BAD(OFFSET)},
	{"ADDRESS64, highest", F(ADDRESS64), TOP_64, 0xff, OK2, 0xffffefff, 0xffffffff},
	{"ADDRESS64, not canonical", F(ADDRESS64), SIGN, 0x10, OK2, 0, 0x8000},

	{"ADDRESS32_WRITE", F(ADDRESS32_WRITE), LOW, 4, OK(0x5004)},
	{"ADDRESS32_WRITE, read-only", F(ADDRESS32_WRITE), READ_ONLY, 4, BAD(WRITE)},
	{"ADDRESS32_WRITE, all wrong", F(ADDRESS32_WRITE), READ_ONLY, 0x100, BAD(WRITE)},
	{"ADDRESS32_WRITE, high address", F(ADDRESS32_WRITE), TOP_40, 0, BAD(VALUE)},
	{"ADDRESS64_WRITE", F(ADDRESS64_WRITE), TOP_40, 15, OK2, 0xffffffff, 0xff},
	{"ADDRESS64_WRITE, read-only", F(ADDRESS64_WRITE), READ_ONLY, 0, BAD(WRITE)},

	/* 0x1_80001234 + 0xffffffff = 0x2_80001233 */
	{"SUM32", F(SUM32), VIDEO, 0xffffffff, OK(0x80001233)},
	{"SUM32 at the size", F(SUM32), VIDEO, 0x1000, OK(0x80002234)},
	{"SUM32 that wraps", F(SUM32), NEAR_4G, 0x100, OK(0)},

	/* 0x1_80001234 - 0x80000000 = 0x1_00001234 */
	{"SUM64_SIGNED, most negative", F(SUM64_SIGNED), VIDEO, 0x80000000, OK2, 0x00001234, 1},
	/* 0x1_80001234 + 0x7fffffff = 0x2_00001233 */
	{"SUM64_SIGNED, largest", F(SUM64_SIGNED), VIDEO, 0x7fffffff, OK2, 0x00001233, 2},
	/* 0 - 1 = 2^64 - 1 modulo 2^64 */
	{"SUM64_SIGNED, below 0", F(SUM64_SIGNED), ALL, 0xffffffff, OK2, 0xffffffff, 0xffffffff},
	{"SUM64_SIGNED, not canonical", F(SUM64_SIGNED), SIGN, 0x10, OK2, 0, 0x8000},

	/* 0x7fff_fffffff0 + 0xf = 0x7fff_ffffffff: bit 47 is off */
	{"SUM64_CANONICAL, below bit 47", F(SUM64_CANONICAL), SIGN, 0xf, OK2, 0xffffffff, 0x7fff},
	{"SUM64_CANONICAL, bit 47", F(SUM64_CANONICAL), SIGN, 0x10, OK2, 0, 0xffff8000},
	/* 0x8000_00000000 needs 0x10; 0x7fff_fffffff0 - 1 stays below */
	{"SUM64_CANONICAL, minus 1", F(SUM64_CANONICAL), SIGN, 0xffffffff, OK2, 0xffffffef, 0x7fff},
	/* 0x5000 - 0x5001 = 0xffffffff_ffffffff */
	{"SUM64_CANONICAL, below 0", F(SUM64_CANONICAL), LOW, 0xffffafff, OK2, 0xffffffff, 0xffffffff},
	/* 0x10000_00000100: bit 48 gives way to bit 47, which is off */
	{"SUM64_CANONICAL, bit 48", F(SUM64_CANONICAL), BIT_48, 4, OK2, 0x104, 0},

	/* 0x1_80001234 + 0x80000000 = 0x2_00001234 */
	{"HIGH32", F(HIGH32), VIDEO, 0x80000000, OK(2)},
	{"HIGH32 below 2^32", F(HIGH32), CROSSING, 0xf, OK(0)},
	{"HIGH32 at 2^32", F(HIGH32), CROSSING, 0x10, OK(1)},
	{"HIGH32, all of it", F(HIGH32), TOP_64, 0, OK(0xffffffff)},

	{"NOUVEAU_DMA", F(NOUVEAU_DMA), VIDEO, 0, OK(0xbeef0201)},
	/* 0x12 | 0xbeef0201 */
	{"NOUVEAU_DMA, offset", F(NOUVEAU_DMA), LOW, 0x12, OK(0xbeef0213)},
	{"NOUVEAU_DMA, GART", F(NOUVEAU_DMA), GART, 0, OK(0xbeef0202)},
	{"NOUVEAU_DMA, unbound", F(NOUVEAU_DMA), UNBOUND, 0, NOTHING},
	{"NOUVEAU_OR", F(NOUVEAU_OR), VIDEO, 0x100, OK(0x101)},
	/* 0x1_80001234 + 0xc = 0x1_80001240, | 1 */
	{"NOUVEAU_OR, GART", F(NOUVEAU_OR), GART, 0x100, OK(0x102)},
	{"NOUVEAU_LOW_OR, GART", F(NOUVEAU_LOW_OR), GART, 4, OK(0x30000016)},
	{"NOUVEAU_LOW_OR", F(NOUVEAU_LOW_OR), VIDEO, 0xc, OK(0x80001241)},

	/* 0x1_80001236 / 2 = 0xc000091b */
	{"SHIFT1", F(SHIFT1), VIDEO, 2, OK(0xc000091b)},
	{"SHIFT1, odd", F(SHIFT1), VIDEO, 3, OK(0xc000091b)},
	/* 0xff_fffffff0 / 2 = 0x7f_fffffff8 */
	{"SHIFT1, cut", F(SHIFT1), TOP_40, 0, OK(0xfffffff8)},

	/* 0x1_80001234 / 256 = 0x01800012 */
	{"SHIFT8", F(SHIFT8), VIDEO, 0, OK(0x01800012)},
	{"SHIFT8, 40 bits", F(SHIFT8), TOP_40, 15, OK(0xffffffff)},
	{"SHIFT8, more than 40 bits", F(SHIFT8), SIGN, 0, BAD(VALUE)},
	{"SHIFT8, bit 40", F(SHIFT8), BIT_40, 0, BAD(VALUE)},
	{"SHIFT8, at the size", F(SHIFT8), TOP_40, 16, BAD(OFFSET)},
	/* (0x1_80001234 | 0x80_00000000) / 256 = 0x81800012 */
	{"SHIFT8_SECTOR", F(SHIFT8_SECTOR), VIDEO, 0, OK(0x81800012)},
	/* (0x100_00000000 | 0x80_00000000) / 256 = 0x1_80000000 */
	{"SHIFT8_SECTOR, cut", F(SHIFT8_SECTOR), BIT_40, 0, OK(0x80000000)},
	{"SHIFT8_SECTOR, set already", F(SHIFT8_SECTOR), TOP_40, 0, OK(0xffffffff)},

	/* Kept: bits 0 and 1 of 0x...c5 are 01, bits 8 up of the high word are 0x123456. */
	{"SPLIT40", F(SPLIT40), VIDEO, 0, OK2, 0x80001235, 0x12345601},
	{"SPLIT40, 40 bits", F(SPLIT40), TOP_40, 12, OK2, 0xfffffffd, 0x123456ff},
	{"SPLIT40, bit 0", F(SPLIT40), VIDEO, 1, BAD(VALUE)},
	{"SPLIT40, bit 1", F(SPLIT40), VIDEO, 2, BAD(VALUE)},
	{"SPLIT40, bit 40", F(SPLIT40), BIT_40, 0, BAD(VALUE)},
	{"SPLIT40, bit 40 up", F(SPLIT40), SIGN, 0, BAD(VALUE)},

	/* 0xf1e2d3c5 with 0xf00 taken out is 0xf1e2d0c5. */
	{"TILING 0", F(TILING), LOW, 0, OK(0xf1e2d0c5)},
	{"TILING 1", F(TILING), VIDEO, 0, OK(0xf1e2d1c5)},
	{"TILING 2", F(TILING), CROSSING, 0, OK(0xf1e2d2c5)},
	{"TILING 3", F(TILING), NEAR_4G, 0, OK(0xf1e2d4c5)},
	{"TILING 1 and an offset", F(TILING), VIDEO, 0xfffff8ff, OK(0xf1e2d9c5)},

	{"ID32", F(ID32), LOW, 0, OK(0x1d000001)},
	{"ID32, offset", F(ID32), VIDEO, 0xfffffff9, OK(0)},
	{"ID32, largest", F(ID32), NEAR_4G, 0, OK(0xffffffff)},
	{"ID32, unbound", F(ID32), UNBOUND, 0, NOTHING},

	{"FIELD28", F(FIELD28), LOW, 0x10, OK(0xa0005010)},
	{"FIELD28, 28 bits", F(FIELD28), ALL, 0x0fffffff, OK(0xafffffff)},
	{"FIELD28, 29 bits", F(FIELD28), ALL, 0x10000000, BAD(VALUE)},

	{"UNALIGNED32", F(UNALIGNED32), LOW, 1, OK(0x5001)},
	{"UNALIGNED32, 2^32 - 1", F(UNALIGNED32), NEAR_4G, 0xff, OK(0xffffffff)},
	{"UNALIGNED32, 2^32", F(UNALIGNED32), CROSSING, 0x10, BAD(VALUE)},

	/* 0xffffff00: low 24 bits 0xffff00; its top byte 0xff */
	{"LOW24", F(LOW24), NEAR_4G, 0, OK(0xf1ffff00)},
	{"LOW24 of a sum", F(LOW24), NEAR_4G, 0x100, OK(0xf1000000)},
	{"HIGH8_0", F(HIGH8_0), NEAR_4G, 0, OK(0xf1e2d3ff)},
	/* 0x1_80001234: bits 24 to 31 are 0x80 */
	{"HIGH8_0, high address", F(HIGH8_0), VIDEO, 0, OK(0xf1e2d380)},
	{"HIGH8_1", F(HIGH8_1), VIDEO, 0, OK(0xf1e280c5)},
	{"HIGH8_2", F(HIGH8_2), VIDEO, 0, OK(0xf180d3c5)},
	/* 0x1_80001234 + 0x01000000 */
	{"HIGH8_2 of a sum", F(HIGH8_2), VIDEO, 0x01000000, OK(0xf181d3c5)},

	{"FENCE_ID", F(FENCE_ID), ANY, 0, OK(FENCE_ID)},
	{"FENCE_ID, offset", F(FENCE_ID), ANY, 0x11, OK(1)},

	{"SELF32", F(SELF32), ANY, 0x10, OK(0x40101010)},
	{"SELF32, last byte", F(SELF32), ANY, 0xfff, OK(0x40101fff)},
	{"SELF32, at the size", F(SELF32), ANY, 0x1000, BAD(OFFSET)},
	{"SELF64", F(SELF64), ANY, 0x10, OK2, 0x40101010, 0},
	{"SELF64, at the size", F(SELF64), ANY, 0x1000, BAD(OFFSET)},
};

/** Entries of the row's format ahead of it. */
static const uint32_t leads[] = {0, 1, 6};
#define LEADS_MAX 6u
/** Bytes that the leaders own. */
#define LEAD_BYTES (LEADS_MAX * 8u)
#define BYTES      96u

/** Any byte will do where the format takes any. */
static uint32_t place_of(const struct vector *vector)
{
	return vector->format == F(UNALIGNED32) ? LEAD_BYTES + 13 : LEAD_BYTES + 12;
}

static void old_words(const struct vector *vector, uint8_t *bytes)
{
	const uint32_t words[2] = {OLD_LOW, OLD_HIGH};

	for (uint32_t i = 0; i < BYTES; i++)
		bytes[i] = (uint8_t)(0x30 + i);
	memcpy(&bytes[place_of(vector)], words, sizeof(words));
}

static void expect_words(const struct vector *vector, const uint8_t *bytes)
{
	uint8_t expected[BYTES];

	old_words(vector, expected);
	memcpy(&expected[place_of(vector)], &vector->low, 4);
	memcpy(&expected[place_of(vector) + 4], &vector->high, 4);
	for (uint32_t i = LEAD_BYTES; i < BYTES; i++)
		card_equal(vector->name, bytes[i], expected[i]);
}

static uint32_t entries_of(const struct vector *vector, uint32_t lead, struct pb_patch_location *patches)
{
	for (uint32_t i = 0; i < lead; i++)
		patches[i] = (struct pb_patch_location){LOW, i, vector->format, 0, i * 8, i};
	patches[lead] = (struct pb_patch_location){
		.allocation_index = vector->allocation,
		.slot = 0x00ffffff,
		.driver_id = vector->format,
		.allocation_offset = vector->offset,
		.patch_offset = place_of(vector),
		.split_offset = 0xffffffff,
	};
	return lead + 1;
}

static void the_oracle(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(vectors); i++) {
		struct pb_patch_location patch;
		const struct oracle_list list = {
			.allocations = allocations,
			.patches = &patch,
			.allocation_count = ALLOCATIONS,
			.patch_count = entries_of(&vectors[i], 0, &patch),
			.patch_length = 1,
			.dma_end = BYTES,
		};
		uint8_t bytes[BYTES];

		old_words(&vectors[i], bytes);
		card_equal(vectors[i].name, oracle_run(&list, FENCE_ID, bytes).error, vectors[i].error);
		expect_words(&vectors[i], bytes);
	}
}

/** Writes the list as compact words where the card looks for it. */
static void make_compact(const struct card *card, const struct pb_patch_location *patches, uint32_t count,
			 struct pb_descriptor *descriptor)
{
	uint32_t words[(LEADS_MAX + 1) * PB_COMPACT_ESCAPE_WORDS];

	descriptor->patch_count = oracle_compact(patches, count, 0, words);
	descriptor->patch_length = descriptor->patch_count;
	descriptor->patch_encoding = PB_PATCH_ENCODING_COMPACT;
	memcpy(card_bytes(card, 0, CARD_PATCHES), words, descriptor->patch_count * sizeof(*words));
}

/** The list as the row has it, or with plain ones for those it does not name: then the firmware has short ways. */
static void put_allocations(const struct card *card, const struct vector *vector, bool all)
{
	struct pb_allocation *shared = (struct pb_allocation *)(void *)card_bytes(card, 0, CARD_ALLOCATIONS);

	for (uint32_t a = 0; a < ALLOCATIONS; a++)
		shared[a] = allocations[all || a == vector->allocation ? a : LOW];
}

static void the_card(void **state)
{
	struct card card;

	(void)state;
	oracle_start(&card);
	for (uint32_t i = 0; i < COUNT(vectors) * COUNT(leads) * 4; i++) {
		const struct vector *vector = &vectors[i / 4 / COUNT(leads)];
		struct pb_patch_location patches[LEADS_MAX + 1];
		const uint32_t count = entries_of(vector, leads[i / 4 % COUNT(leads)], patches);
		struct pb_descriptor descriptor = card_descriptor(&card, 1, BYTES, ALLOCATIONS, count);

		put_allocations(&card, vector, i / 2 % 2 != 0);
		old_words(vector, (uint8_t *)card_dma(&card, 1));
		memcpy(card_bytes(&card, 0, CARD_PATCHES), patches, sizeof(patches));
		if (i % 2 != 0)
			make_compact(&card, patches, count, &descriptor);
		descriptor.flags = PB_FLAG_NULL_RENDERING;
		descriptor.fence_id = FENCE_ID;
		card_equal(vector->name, card_execute(&card, 0, &descriptor).status, vector->error);
		expect_words(vector, (uint8_t *)card_dma(&card, 1));
		assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	}
	card_stop(&card);
}

static void every_format_has_a_vector(void **state)
{
	(void)state;
	for (uint32_t format = 0; format < PB_PATCH_FORMAT_COUNT; format++) {
		bool found = false;

		for (uint32_t i = 0; i < COUNT(vectors); i++)
			found = found || (vectors[i].format == format && vectors[i].error == PB_ERROR_OK);
		card_equal("format", found ? format : COUNT(vectors), format);
	}
}

UNIT_SUITE(test_firmware_formats)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_oracle),
		cmocka_unit_test(the_card),
		cmocka_unit_test(every_format_has_a_vector),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
