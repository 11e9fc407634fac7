/* SPDX-License-Identifier: MIT */
/*
 * What no built-in format does: every bound at its edges, fields far apart,
 * shifts both ways, fits and ors in wide values. The oracle must
 * come to what was worked out by hand, and the card to what the oracle says.
 */
#include <string.h>

#include "tests/unit/patch_oracle.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define ONES         0xffffffffu
#define OWN          PB_FORMAT_OWN
#define GIB_4        UINT64_C(0x100000000)

/* ---- bounds ---- */

#define IN  PB_ERROR_OK
#define OUT PB_ERROR_PATCH_OFFSET

static const struct {
	const char *name;
	uint32_t bound;
	uint64_t size;
	uint32_t offset;
	enum pb_error error;
} bounds[] = {
	{"inside 1", PB_FORMAT_INSIDE, 1, 0, IN},
	{"inside 1, at the end", PB_FORMAT_INSIDE, 1, 1, OUT},
	{"inside a page", PB_FORMAT_INSIDE, 0x1000, 0xfff, IN},
	{"inside a page, at the end", PB_FORMAT_INSIDE, 0x1000, 0x1000, OUT},
	{"inside, largest offset", PB_FORMAT_INSIDE, 0x1000, ONES, OUT},
	{"inside 2 GiB", PB_FORMAT_INSIDE, 0x80000000, 0x7fffffff, IN},
	{"inside 2 GiB, at the end", PB_FORMAT_INSIDE, 0x80000000, 0x80000000, OUT},
	{"inside 4 GiB - 1", PB_FORMAT_INSIDE, GIB_4 - 1, 0xfffffffe, IN},
	{"inside 4 GiB - 1, at the end", PB_FORMAT_INSIDE, GIB_4 - 1, ONES, OUT},
	{"inside 4 GiB", PB_FORMAT_INSIDE, GIB_4, 0xfffffffe, IN},
	{"inside 4 GiB, what an offset does not reach", PB_FORMAT_INSIDE, GIB_4, ONES, OUT},
	{"inside 8 GiB + 1", PB_FORMAT_INSIDE, 2 * GIB_4 + 1, 2, IN},
	{"inside 1 TiB, what an offset does not reach", PB_FORMAT_INSIDE, CARD_WIDE_BYTES, ONES, OUT},

	{"end of 1", PB_FORMAT_END, 1, 1, IN},
	{"end of 1, behind", PB_FORMAT_END, 1, 2, OUT},
	{"end of a page", PB_FORMAT_END, 0x1000, 0x1000, IN},
	{"end of a page, behind", PB_FORMAT_END, 0x1000, 0x1001, OUT},
	{"end of 4 GiB - 2", PB_FORMAT_END, GIB_4 - 2, 0xfffffffe, IN},
	{"end of 4 GiB - 2, behind", PB_FORMAT_END, GIB_4 - 2, ONES, OUT},
	{"end of 4 GiB - 1", PB_FORMAT_END, GIB_4 - 1, ONES, IN},
	{"end of 4 GiB, as far as an offset reaches", PB_FORMAT_END, GIB_4, ONES, IN},
	{"end of 4 GiB + 1", PB_FORMAT_END, GIB_4 + 1, 1, IN},
	{"end of 1 TiB, as far as an offset reaches", PB_FORMAT_END, CARD_WIDE_BYTES, ONES, IN},

	{"page of 1 byte", PB_FORMAT_PAGE, 1, 0xfff, IN},
	{"page of 1 byte, the next", PB_FORMAT_PAGE, 1, 0x1000, OUT},
	{"page", PB_FORMAT_PAGE, 0x1000, 0xfff, IN},
	{"page, the next", PB_FORMAT_PAGE, 0x1000, 0x1000, OUT},
	{"page and a byte", PB_FORMAT_PAGE, 0x1001, 0x1fff, IN},
	{"page and a byte, the next", PB_FORMAT_PAGE, 0x1001, 0x2000, OUT},
	{"last page", PB_FORMAT_PAGE, GIB_4 - 0x1000, 0xffffefff, IN},
	{"last page, the next", PB_FORMAT_PAGE, GIB_4 - 0x1000, 0xfffff000, OUT},
	{"last page and a byte", PB_FORMAT_PAGE, GIB_4 - 0xfff, ONES, IN},
	{"page of 4 GiB", PB_FORMAT_PAGE, GIB_4, ONES, IN},
	{"page of 1 TiB", PB_FORMAT_PAGE, CARD_WIDE_BYTES, ONES, IN},

	{"none of 1", PB_FORMAT_NONE, 1, ONES, IN},
};

/** Alone, behind another of the format, and as a compact list. */
static void check(struct card *card, const char *name, struct oracle_list *list, enum pb_error error)
{
	const struct pb_patch_location patches[] = {
		{0, 0, list->patches->driver_id, 0, 0x100, 0},
		*list->patches,
	};

	list->patch_count = list->patch_length = 1;
	card_equal(name, oracle_check_both(card, name, list, 3), error);
	list->patches = patches;
	list->patch_count = list->patch_length = 2;
	card_equal(name, oracle_check_both(card, name, list, 4), error);
}

static void every_bound(void **state)
{
	struct oracle_formats own = {0};
	struct card card;

	(void)state;
	oracle_start(&card);
	for (uint32_t bound = 0; bound < PB_FORMAT_BOUNDS; bound++) {
		struct pb_patch_format format = {
			.bound = (uint8_t)bound,
			.flags = PB_FORMAT_WIDE,
			.align = 4,
			.step = 1,
			.mask = ONES,
			.high_mask = ONES,
		};

		oracle_own(&card, &own, OWN + bound, &format);
		format.flags |= PB_FORMAT_WRITE;
		oracle_own(&card, &own, OWN + 4u + bound, &format);
	}
	for (uint32_t i = 0; i < COUNT(bounds) * 2; i++) {
		const struct pb_allocation allocation =
			oracle_allocation(0, bounds[i / 2].size, CARD_SEGMENT(3) | PB_ALLOCATION_WRITE);
		const struct pb_patch_location patch = {
			.driver_id = OWN + bounds[i / 2].bound + i % 2 * 4,
			.allocation_offset = bounds[i / 2].offset,
			.patch_offset = 0x20,
		};
		struct oracle_list list = {
			.allocations = &allocation,
			.patches = &patch,
			.own = &own,
			.allocation_count = 1,
			.dma_end = ORACLE_BUFFER_BYTES,
		};

		check(&card, bounds[i / 2].name, &list, bounds[i / 2].error);
	}
	card_stop(&card);
}

/** Offsets into the DMA buffer go by DmaBufferSize, whatever part of it is submitted. */
static void bounds_of_the_buffer(void **state)
{
	static const struct {
		const char *name;
		uint32_t bound;
		uint32_t offset;
		enum pb_error error;
	} edges[] = {
		{"inside", PB_FORMAT_INSIDE, 0x1ffb, IN},
		{"inside, at the end", PB_FORMAT_INSIDE, 0x1ffc, OUT},
		{"end", PB_FORMAT_END, 0x1ffc, IN},
		{"end, behind", PB_FORMAT_END, 0x1ffd, OUT},
		{"page", PB_FORMAT_PAGE, 0x1fff, IN},
		{"page, the next", PB_FORMAT_PAGE, 0x2000, OUT},
		{"none", PB_FORMAT_NONE, 0xffffffff, IN},
	};
	struct oracle_formats own = {0};
	struct card card;

	(void)state;
	oracle_start(&card);
	for (uint32_t i = 0; i < COUNT(edges); i++) {
		const struct pb_patch_format format = {
			.source = PB_FORMAT_SELF,
			.bound = (uint8_t)edges[i].bound,
			.align = 4,
			.mask = ONES,
		};
		const struct pb_patch_location patch = {ONES, 0, OWN, edges[i].offset, 0x104, 0};
		struct oracle_list list = {
			.patches = &patch,
			.own = &own,
			.dma_start = 0x100,
			.dma_end = 0x200,
			.buffer_bytes = 0x1ffc,
		};

		oracle_own(&card, &own, OWN, &format);
		check(&card, edges[i].name, &list, edges[i].error);
	}
	card_stop(&card);
}

/* ---- values ---- */

enum {
	LOW,   /* GPU address 0x00345678, attribute 2 */
	VIDEO, /* GPU address 0x1_80001234, attribute 3 */
	SIGN,  /* GPU address 0x7fff_fffffff0 */
	TOP,   /* GPU address 0xffffffff_ffffe000 */
	ALLOCATIONS,
};
static const struct pb_allocation allocations[ALLOCATIONS] = {
	[LOW] = {0x345678, 0, 0x10000, 0, CARD_SEGMENT(3) | 0x400u, 0x11},
	[VIDEO] = {0x1234, 8, 0x1000, 0, CARD_SEGMENT(1) | 0x600u, 0x80000000},
	[SIGN] = {0xfff0, 0x200, 0x20, 0, CARD_SEGMENT(4), 0},
	[TOP] = {0x1e000, 0x400, 0x1000, 0, CARD_SEGMENT(6), 0},
};

/** Words before: each tells its place, and has ones and zeroes under any mask. */
#define OLD(word) (0xa5a5a500u + (word))
#define WORDS     5u
#define OLD_0     OLD(0)
#define OLD_1     OLD(1)
#define OLD_2     OLD(2)
#define OLD_3     OLD(3)
#define OLD_4     OLD(4)
#define ALL_OLD                                                                                              \
	{                                                                                                    \
		OLD_0, OLD_1, OLD_2, OLD_3, OLD_4                                                            \
	}

static const struct {
	const char *name;
	struct pb_patch_format format;
	uint32_t allocation;
	uint32_t offset;
	enum pb_error error;
	uint32_t words[WORDS];
} vectors[] = {
	{"two words apart",
	 {.bound = 3, .flags = PB_FORMAT_WIDE, .align = 4, .step = 2, .mask = ONES, .high_mask = ONES},
	 VIDEO,
	 0,
	 PB_ERROR_OK,
	 {0x80001234, OLD_1, 1, OLD_3, OLD_4}},
	{"four words apart, parts of each, zero around",
	 {.bound = 3,
	  .flags = PB_FORMAT_WIDE,
	  .align = 8,
	  .step = 4,
	  .mask = 0x0000ffff,
	  .high_mask = 0x0f,
	  .background = 0xabcd0000},
	 VIDEO,
	 0,
	 PB_ERROR_OK,
	 {0xabcd1234, OLD_1, OLD_2, OLD_3, 1}},
	{"three words apart, parts of each, old around",
	 {.bound = 3,
	  .flags = PB_FORMAT_WIDE | PB_FORMAT_KEEP,
	  .align = 4,
	  .step = 3,
	  .mask = 0x0000fff0,
	  .high_mask = 0xff},
	 /* 0xa5a5a500 with 0x123 in bits 4 to 15; 0xa5a5a503 with 1 in bits 0 to 7 */
	 VIDEO,
	 0,
	 PB_ERROR_OK,
	 {0xa5a51230, OLD_1, OLD_2, 0xa5a5a501, OLD_4}},
	{"wide at any byte",
	 {.bound = 3,
	  .flags = PB_FORMAT_WIDE | PB_FORMAT_KEEP,
	  .align = 1,
	  .step = 1,
	  .mask = 0x00ffff00,
	  .high_mask = 0xff000000},
	 /* 0xffffffff_ffffe000: 0xa5 ffe0 00; 0xff a5a501 */
	 TOP,
	 0,
	 PB_ERROR_OK,
	 {0xa5ffe000, 0xffa5a501, OLD_2, OLD_3, OLD_4}},

	/* 0x1_80001234 >> 12 << 4 = 0x180001 << 4 */
	{"right and left",
	 {.bound = 3, .align = 4, .shift_right = 12, .shift_left = 4, .mask = ONES},
	 VIDEO,
	 0,
	 PB_ERROR_OK,
	 {0x01800010, OLD_1, OLD_2, OLD_3, OLD_4}},
	/* 0x345678 << 31 = 0x1a2b3c_00000000 */
	{"left 31, both words",
	 {.bound = 3,
	  .flags = PB_FORMAT_WIDE,
	  .align = 4,
	  .shift_left = 31,
	  .step = 1,
	  .mask = ONES,
	  .high_mask = ONES},
	 LOW,
	 0,
	 PB_ERROR_OK,
	 {0, 0x001a2b3c, OLD_2, OLD_3, OLD_4}},
	/* 0xffffffff_ffffe000 << 31 modulo 2^64 = 0xfffff000_00000000 */
	{"left out of the top",
	 {.bound = 3,
	  .flags = PB_FORMAT_WIDE | PB_FORMAT_FITS,
	  .align = 4,
	  .shift_left = 31,
	  .step = 1,
	  .mask = ONES,
	  .high_mask = ONES},
	 TOP,
	 0,
	 PB_ERROR_OK,
	 {0, 0xfffff000, OLD_2, OLD_3, OLD_4}},
	{"right 63",
	 {.bound = 3, .align = 4, .shift_right = 63, .mask = ONES},
	 TOP,
	 0,
	 PB_ERROR_OK,
	 {1, OLD_1, OLD_2, OLD_3, OLD_4}},
	{"right 63 of less",
	 {.bound = 3, .align = 4, .shift_right = 63, .mask = ONES},
	 SIGN,
	 0,
	 PB_ERROR_OK,
	 {0, OLD_1, OLD_2, OLD_3, OLD_4}},
	/* bit 47 of 0x8000_00000000 repeated is 0xffff8000_00000000, >> 32 without a sign = 0xffff8000 */
	{"canonical, then right",
	 {.bound = 3, .flags = PB_FORMAT_CANONICAL, .align = 4, .shift_right = 32, .mask = ONES},
	 SIGN,
	 0x10,
	 PB_ERROR_OK,
	 {0xffff8000, OLD_1, OLD_2, OLD_3, OLD_4}},
	/* 0x345678 | 0x8000_00000000 is made canonical: 0xffff8000_00345678 */
	{"pre_or, then canonical",
	 {.bound = 3,
	  .flags = PB_FORMAT_CANONICAL | PB_FORMAT_WIDE,
	  .align = 4,
	  .step = 1,
	  .mask = ONES,
	  .high_mask = ONES,
	  .pre_or_high = 0x8000},
	 LOW,
	 0,
	 PB_ERROR_OK,
	 {0x00345678, 0xffff8000, OLD_2, OLD_3, OLD_4}},

	/* 0x345678 fits 22 bits and not 21: its bit 21 is the highest. */
	{"fits 22 bits",
	 {.bound = 3, .flags = PB_FORMAT_FITS, .align = 4, .mask = 0x003fffff},
	 LOW,
	 0,
	 PB_ERROR_OK,
	 {0x00345678, OLD_1, OLD_2, OLD_3, OLD_4}},
	{"does not fit 21 bits",
	 {.bound = 3, .flags = PB_FORMAT_FITS, .align = 4, .mask = 0x001fffff},
	 LOW,
	 0,
	 PB_ERROR_PATCH_VALUE,
	 ALL_OLD},
	{"low bits do not fit",
	 {.bound = 3, .flags = PB_FORMAT_FITS, .align = 4, .mask = 0xfffffff0},
	 LOW,
	 0,
	 PB_ERROR_PATCH_VALUE,
	 ALL_OLD},
	{"low bits shifted out are not missed",
	 {.bound = 3,
	  .flags = PB_FORMAT_FITS,
	  .align = 4,
	  .shift_right = 4,
	  .shift_left = 4,
	  .mask = 0xfffffff0},
	 LOW,
	 0,
	 PB_ERROR_OK,
	 {0x00345670, OLD_1, OLD_2, OLD_3, OLD_4}},
	{"high word does not fit",
	 {.bound = 3,
	  .flags = PB_FORMAT_FITS | PB_FORMAT_WIDE,
	  .align = 4,
	  .step = 1,
	  .mask = ONES,
	  .high_mask = 2},
	 VIDEO,
	 0,
	 PB_ERROR_PATCH_VALUE,
	 ALL_OLD},
	{"pre_or must fit",
	 {.bound = 3, .flags = PB_FORMAT_FITS, .align = 4, .mask = ONES, .pre_or_high = 1},
	 LOW,
	 0,
	 PB_ERROR_PATCH_VALUE,
	 ALL_OLD},
	{"or need not fit",
	 {.bound = 3, .flags = PB_FORMAT_FITS, .align = 4, .mask = 0x003fffff, .or_value = {0xffc00007}},
	 LOW,
	 0,
	 PB_ERROR_OK,
	 {0x0034567f, OLD_1, OLD_2, OLD_3, OLD_4}},

	/* 0x11 | 0x40 */
	{"id or by attribute",
	 {.source = PB_FORMAT_ID,
	  .bound = 3,
	  .align = 4,
	  .or_by = PB_FORMAT_OR_ATTRIBUTE,
	  .mask = ONES,
	  .or_value = {0x10, 0x20, 0x40, 0x80}},
	 LOW,
	 0,
	 PB_ERROR_OK,
	 {0x51, OLD_1, OLD_2, OLD_3, OLD_4}},
	/* 0x80000000 + 0xffffffff = 0x1_7fffffff, minus 2^32 as it is signed */
	{"signed offset of an id",
	 {.source = PB_FORMAT_ID,
	  .bound = 3,
	  .flags = PB_FORMAT_SIGNED | PB_FORMAT_WIDE,
	  .align = 4,
	  .step = 1,
	  .mask = ONES,
	  .high_mask = ONES},
	 VIDEO,
	 ONES,
	 PB_ERROR_OK,
	 {0x7fffffff, 0, OLD_2, OLD_3, OLD_4}},
	{"signed constant",
	 {.source = PB_FORMAT_CONSTANT,
	  .bound = 3,
	  .flags = PB_FORMAT_SIGNED | PB_FORMAT_WIDE,
	  .align = 4,
	  .step = 1,
	  .mask = ONES,
	  .high_mask = ONES},
	 VIDEO,
	 0xfffffff0,
	 PB_ERROR_OK,
	 {0xfffffff0, 0xffffffff, OLD_2, OLD_3, OLD_4}},
	/* 0xffffffff_ffffe000 + 0x2001 = 1 modulo 2^64 */
	{"unbounded sum that wraps",
	 {.bound = 3, .flags = PB_FORMAT_WIDE, .align = 4, .step = 1, .mask = ONES, .high_mask = ONES},
	 TOP,
	 0x2001,
	 PB_ERROR_OK,
	 {1, 0, OLD_2, OLD_3, OLD_4}},
};

static void set_old(uint8_t *place)
{
	for (uint32_t w = 0; w < WORDS; w++) {
		const uint32_t old = OLD(w);

		memcpy(place + w * 4, &old, sizeof(old));
	}
}

static void expect_words(const char *name, const uint8_t *place, const uint32_t *words)
{
	for (uint32_t w = 0; w < WORDS; w++) {
		uint32_t word;

		memcpy(&word, place + w * 4, sizeof(word));
		card_equal(name, word, words[w]);
	}
}

static void every_value(void **state)
{
	struct oracle_formats own = {0};
	struct card card;

	(void)state;
	oracle_start(&card);
	for (uint32_t i = 0; i < COUNT(vectors); i++) {
		const uint32_t place = vectors[i].format.align == 1 ? 0x203 : 0x208;
		const struct pb_patch_location patch = {vectors[i].allocation, 0,     OWN,
							vectors[i].offset,     place, 0};
		struct oracle_list list = {
			.allocations = allocations,
			.patches = &patch,
			.own = &own,
			.allocation_count = ALLOCATIONS,
			.patch_count = 1,
			.patch_length = 1,
			.dma_end = ORACLE_BUFFER_BYTES,
		};
		uint8_t bytes[ORACLE_BUFFER_BYTES];

		oracle_own(&card, &own, OWN, &vectors[i].format);
		set_old(&bytes[place]);
		card_equal(vectors[i].name, oracle_run(&list, 0, bytes).error, vectors[i].error);
		expect_words(vectors[i].name, &bytes[place], vectors[i].words);
		check(&card, vectors[i].name, &list, vectors[i].error);
	}
	card_stop(&card);
}

UNIT_SUITE(test_firmware_format_edges)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_bound),
		cmocka_unit_test(bounds_of_the_buffer),
		cmocka_unit_test(every_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
