/* SPDX-License-Identifier: MIT */
/*
 * Mistakes that relocation engines of other drivers made, or make: each is
 * tried here, and must be refused, or come out right, with no byte changed that
 * an entry does not own.
 *
 *   range: the field's width is not counted      VirtualBox, psb; qxl and host1x look at nothing
 *   range: offset + width wraps 32 bits          nouveau, 2010 to 2026
 *   range: the second word is not looked at      amdgpu VCE and UVD until 2026
 *   range: a word index is shifted and wraps     psb
 *   range: skipped entries are not checked       i915
 *   alignment: low bits are dropped              nouveau; radeon and psb by unit
 *   index: > for >=                              nouveau until 2011, vc4, psb
 *   index: an assertion only                     VirtualBox GA
 *   offset against the allocation's size         i915, nouveau, msm, tegra, host1x, qxl
 *   offset: size - width below 0                 etnaviv, with buffers below 4 bytes
 *   offset: signed where it was meant unsigned   i915
 *   start added twice, the list's tail dropped   VirtualBox GA
 *   order: ascending places only                 etnaviv, msm
 *   value cut to 32 bits, sum that wraps         all
 *   shifts beyond the width                      msm, host1x
 *   reserved bits, unknown kinds                 all but etnaviv; VirtualBox, qxl
 *   an error leaves work that still runs         i915, nouveau, VirtualBox
 */
#include <string.h>

#include "tests/unit/patch_oracle.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define ONES         0xffffffffu
/** An own format: two words, five apart from first to last byte. */
#define FAR PB_FORMAT_OWN

enum {
	PLAIN,     /* GPU address 0x10000, 0x1000 bytes */
	HIGH,      /* GPU address 0x1_80001234 */
	TINY,      /* GPU address 0x5000, one byte */
	CROSSING,  /* GPU address 0xfffffff0, 32 bytes */
	READ_ONLY, /* */
	COUNTED,   /* their number */
};
static const struct pb_allocation allocations[COUNTED] = {
	[PLAIN] = {0x10000, 0, 0x1000, 0, CARD_SEGMENT(3) | PB_ALLOCATION_WRITE, 0},
	[HIGH] = {0x1234, 8, 0x1000, 0, CARD_SEGMENT(1) | PB_ALLOCATION_WRITE, 0},
	[TINY] = {0x5000, 0, 1, 0, CARD_SEGMENT(3), 0},
	[CROSSING] = {0x2000fff0, 0, 0x20, 0, CARD_SEGMENT(2), 0},
	[READ_ONLY] = {0x6000, 0, 0x1000, 0, CARD_SEGMENT(3), 0},
};

#define F(name) PB_PATCH_FORMAT_##name
#define E(name) PB_ERROR_PATCH_##name

static const struct row {
	const char *name;
	enum pb_error error;
	uint32_t word; /* afterwards at PatchOffset, if it is legal */
	uint32_t start;
	uint32_t end;
	struct pb_patch_location patch;
} rows[] = {
	{"VirtualBox: last byte", E(RANGE), 0, 0, 256, {PLAIN, 0, F(UNALIGNED32), 0, 255, 0}},
	{"VirtualBox: last three bytes", E(RANGE), 0, 0, 256, {PLAIN, 0, F(UNALIGNED32), 0, 253, 0}},
	{"VirtualBox: last four bytes", PB_ERROR_OK, 0x10000, 0, 256, {PLAIN, 0, F(UNALIGNED32), 0, 252, 0}},
	{"VirtualBox DX: 64 bits in 4 bytes", E(RANGE), 0, 0, 256, {PLAIN, 0, F(ADDRESS64), 0, 252, 0}},
	{"VirtualBox DX: a type never defined", E(FORMAT), 0, 0, 256, {PLAIN, 0, 99, 0, 0, 0}},
	{"VirtualBox: dummy", E(RANGE), 0, 0, 256, {PLAIN, 0, F(UNALIGNED32), 0, ONES, 0}},
	{"VirtualBox: start added twice", PB_ERROR_OK, 0x10000, 64, 256, {PLAIN, 0, 0, 0, 64, 0}},
	{"VirtualBox: start added twice, far", PB_ERROR_OK, 0x10004, 128, 256, {PLAIN, 0, 0, 4, 252, 0}},
	{"VirtualBox: start taken off", E(RANGE), 0, 64, 256, {PLAIN, 0, 0, 0, 0, 0}},
	{"VirtualBox: AllocationIndex", E(INDEX), 0, 0, 256, {COUNTED, 0, 0, 0, 0, 0}},
	{"VirtualBox: AllocationIndex - 1", E(INDEX), 0, 0, 256, {ONES, 0, 0, 0, 0, 0}},

	{"qxl: 64 bits at the end", E(RANGE), 0, 0, 256, {PLAIN, 0, F(ADDRESS64), 0, 252, 0}},
	{"qxl: anywhere", E(RANGE), 0, 0, 256, {PLAIN, 0, F(ADDRESS64), 0, 0x10000, 0}},
	{"qxl: far away", E(RANGE), 0, 0, 256, {PLAIN, 0, F(ADDRESS64), 0, 0x80000000, 0}},
	{"host1x: right behind", E(RANGE), 0, 0, 256, {PLAIN, 0, F(SHIFT8), 0, 256, 0}},
	{"host1x: in the buffer, not in the part", E(RANGE), 0, 64, 128, {PLAIN, 0, F(SHIFT8), 0, 128, 0}},
	{"host1x: before the part", E(RANGE), 0, 64, 128, {PLAIN, 0, F(SHIFT8), 0, 60, 0}},
	{"tegra: target offset", E(OFFSET), 0, 0, 256, {PLAIN, 0, F(SHIFT8), 0x1000, 0, 0}},

	{"nouveau: 2^32 - 4 + 4", E(RANGE), 0, 0, 256, {PLAIN, 0, 0, 0, 0xfffffffc, 0}},
	{"nouveau: 2^32 - 8 + 8", E(RANGE), 0, 0, 256, {PLAIN, 0, F(ADDRESS64), 0, 0xfffffff8, 0}},
	{"nouveau: 2^32 - 4 + 8", E(RANGE), 0, 0, 256, {PLAIN, 0, F(ADDRESS64), 0, 0xfffffffc, 0}},
	{"nouveau: 2^32 - 20 + 20", E(RANGE), 0, 0, 256, {PLAIN, 0, FAR, 0, 0xffffffec, 0}},
	{"nouveau: 2^32 - 4 + 20", E(RANGE), 0, 0, 256, {PLAIN, 0, FAR, 0, 0xfffffffc, 0}},
	{"nouveau: 2^32 - 1 + 4", E(RANGE), 0, 0, 256, {PLAIN, 0, F(UNALIGNED32), 0, ONES, 0}},
	{"nouveau: off by 2", E(ALIGNMENT), 0, 0, 256, {PLAIN, 0, 0, 0, 6, 0}},
	{"nouveau: off by 1, 64 bits", E(ALIGNMENT), 0, 0, 256, {PLAIN, 0, F(ADDRESS64), 0, 1, 0}},
	{"nouveau: index > count", E(INDEX), 0, 0, 256, {COUNTED, 0, F(NOUVEAU_LOW_OR), 0, 0, 0}},
	{"nouveau: last index", PB_ERROR_OK, 0x6000, 0, 256, {COUNTED - 1, 0, F(SUM32), 0, 0, 0}},
	{"vc4: index > count", E(INDEX), 0, 0, 256, {COUNTED, 0, F(UNALIGNED32), 0, 0, 0}},
	{"msm: offset", E(OFFSET), 0, 0, 256, {PLAIN, 0, F(ADDRESS64), 0x1001, 0, 0}},

	{"amdgpu: second word behind the end", E(RANGE), 0, 0, 256, {PLAIN, 0, F(SPLIT40), 0, 252, 0}},
	{"amdgpu: second word far behind", E(RANGE), 0, 0, 256, {PLAIN, 0, FAR, 0, 240, 0}},
	{"amdgpu: second word at the end", PB_ERROR_OK, 0x10000, 0, 256, {PLAIN, 0, FAR, 0, 236, 0}},
	{"psb: word 2^30", E(RANGE), 0, 0, 256, {PLAIN, 0, F(FIELD28), 0, 0x40000000, 0}},
	{"psb: offset > size", E(OFFSET), 0, 0, 256, {PLAIN, 0, F(FIELD28), 0x1000, 0, 0}},
	{"psb: last offset", PB_ERROR_OK, 0xa0010fff, 0, 256, {PLAIN, 0, F(FIELD28), 0xfff, 0, 0}},
	{"etnaviv: 1 - 4 bytes", E(OFFSET), 0, 0, 256, {TINY, 0, 0, 1, 0, 0}},
	{"etnaviv: 1 - 4 bytes, far", E(OFFSET), 0, 0, 256, {TINY, 0, 0, 0x7ffffffc, 0, 0}},
	{"etnaviv: the only byte", PB_ERROR_OK, 0x5000, 0, 256, {TINY, 0, 0, 0, 0, 0}},

	{"i915: minus 4", E(OFFSET), 0, 0, 256, {PLAIN, 0, F(ADDRESS64), 0xfffffffc, 0, 0}},
	{"i915: delta at the size", E(OFFSET), 0, 0, 256, {PLAIN, 0, F(ADDRESS64), 0x1000, 0, 0}},
	{"i915: minus 4 where it is meant",
	 PB_ERROR_OK,
	 0xfffc,
	 0,
	 256,
	 {PLAIN, 0, F(SUM64_SIGNED), 0xfffffffc, 0, 0}},
	{"i915: write domain of a read-only one",
	 E(WRITE),
	 0,
	 0,
	 256,
	 {READ_ONLY, 0, F(ADDRESS64_WRITE), 0, 0, 0}},
	{"all: address of 33 bits", E(VALUE), 0, 0, 256, {HIGH, 0, 0, 0, 0, 0}},
	{"all: carry into bit 32", E(VALUE), 0, 0, 256, {CROSSING, 0, 0, 0x10, 0, 0}},
	{"all: no carry yet", PB_ERROR_OK, ONES, 0, 256, {CROSSING, 0, 0, 0xf, 0, 0}},
	{"psb: address of 29 bits", E(VALUE), 0, 0, 256, {CROSSING, 0, F(FIELD28), 0, 0, 0}},
	{"all: reserved bit 24", E(RESERVED), 0, 0, 256, {PLAIN, 0x01000000, 0, 0, 0, 0}},
	{"all: reserved bit 31", E(RESERVED), 0, 0, 256, {PLAIN, 0x80000000, 0, 0, 0, 0}},
	{"all: SlotId and SplitOffset are the host's",
	 PB_ERROR_OK,
	 0x10000,
	 0,
	 256,
	 {PLAIN, 0x00ffffff, 0, 0, 0, ONES}},
};

static const struct pb_patch_format far_format = {
	.bound = PB_FORMAT_INSIDE,
	.flags = PB_FORMAT_WIDE,
	.align = 4,
	.step = 4,
	.mask = ONES,
	.high_mask = ONES,
};

/** Where an allocation stands that no entry names, a plain one does: then the firmware has short ways. */
static struct oracle_list list_of(const struct pb_patch_location *patches, uint32_t count)
{
	static struct pb_allocation named[COUNTED];

	for (uint32_t a = 0; a < COUNTED; a++)
		named[a] = allocations[a == COUNTED - 1 ? a : PLAIN];
	for (uint32_t i = 0; i < count; i++) {
		if (patches[i].allocation_index < COUNTED)
			named[patches[i].allocation_index] = allocations[patches[i].allocation_index];
	}
	return (struct oracle_list){
		.allocations = named,
		.patches = patches,
		.allocation_count = COUNTED,
		.patch_count = count,
		.patch_length = count,
		.dma_end = 256,
	};
}

static uint32_t word_at(const struct card *card, uint32_t place)
{
	uint32_t word;

	memcpy(&word, oracle_pages(card) + CARD_DMA_STRIDE + place, sizeof(word));
	return word;
}

/** Alone, and as the last of a list whose other entries are good, so that each loop meets it. */
static void every_row(void **state)
{
	struct oracle_formats own = {0};
	struct card card;

	(void)state;
	oracle_start(&card);
	oracle_own(&card, &own, FAR, &far_format);
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		const struct row *row = &rows[i];
		struct pb_patch_location patches[8];
		struct oracle_list list = list_of(&row->patch, 1);

		list.own = &own;
		list.dma_start = row->start;
		list.dma_end = row->end;
		for (uint32_t ahead = 0; ahead <= 7; ahead += 7) {
			for (uint32_t p = 0; p < ahead; p++)
				patches[p] = (struct pb_patch_location){
					PLAIN, 0,          row->error == E(FORMAT) ? 0 : row->patch.driver_id,
					0,     row->start, 0};
			patches[ahead] = row->patch;
			list.patches = patches;
			list.patch_count = list.patch_length = ahead + 1;
			card_equal(row->name, oracle_check_both(&card, row->name, &list, 1 + i), row->error);
			if (row->error == PB_ERROR_OK)
				card_equal(row->name, word_at(&card, row->patch.patch_offset), row->word);
		}
	}
	card_stop(&card);
}

/** VirtualBox GA ran from start up to length: with start 2 and length 3 that is one entry of three. */
static void the_tail_is_not_dropped(void **state)
{
	struct pb_patch_location patches[8];
	struct oracle_list list;
	struct oracle_result result;
	struct card card;

	(void)state;
	oracle_start(&card);
	for (uint32_t i = 0; i < 8; i++)
		patches[i] = (struct pb_patch_location){PLAIN, 0, 0, i, i * 4, 0};
	list = list_of(patches, 8);
	list.patch_start = 2;
	list.patch_length = 3;
	result = oracle_check(&card, "2 to 4", &list, 1);
	assert_int_equal(result.error, PB_ERROR_OK);
	assert_int_equal(result.done, 3);
	for (uint32_t i = 0; i < 8; i++)
		card_equal("word", word_at(&card, i * 4) == 0x10000 + i, i >= 2 && i < 5);
	list.patch_start = 5;
	assert_int_equal(oracle_check(&card, "5 to 7", &list, 2).done, 3);
	card_stop(&card);
}

/** etnaviv and msm want ascending places; here the list's order says what comes last. */
static void any_order_and_overlaps(void **state)
{
	const struct pb_patch_location patches[] = {
		{PLAIN, 0, F(ADDRESS64), 0x8, 16, 0}, {PLAIN, 0, 0, 4, 8, 0},
		{HIGH, 0, F(ADDRESS64), 0, 4, 0},     {PLAIN, 0, 0, 12, 0, 0},
		{TINY, 0, F(UNALIGNED32), 0, 6, 0},   {PLAIN, 0, F(HIGH8_0), 0, 16, 0},
	};
	const struct oracle_list list = list_of(patches, COUNT(patches));
	struct card card;

	(void)state;
	oracle_start(&card);
	assert_int_equal(oracle_check_both(&card, "overlaps", &list, 9), PB_ERROR_OK);
	assert_int_equal(word_at(&card, 0), 0x1000c);
	/* 0x1_80001234 with 0x00005000 laid over its middle */
	assert_int_equal(word_at(&card, 4), 0x50001234);
	assert_int_equal(word_at(&card, 8), 0);
	/* 0x10008 with bits 24 to 31 of 0x10000 in its low byte */
	assert_int_equal(word_at(&card, 16), 0x10000);
	assert_int_equal(word_at(&card, 20), 0);
	card_stop(&card);
}

/** i915 skipped an entry whose target had not moved before it looked at the place. */
static void unmoved_targets_are_checked_again(void **state)
{
	static const struct {
		enum pb_error error;
		struct pb_patch_location patch;
	} spoilt[] = {
		{E(RANGE), {PLAIN, 0, F(ADDRESS64), 0, 4096, 0}},
		{E(ALIGNMENT), {PLAIN, 0, F(ADDRESS64), 0, 2, 0}},
		{E(INDEX), {COUNTED, 0, F(ADDRESS64), 0, 0, 0}},
		{E(OFFSET), {PLAIN, 0, F(ADDRESS64), 0x1000, 0, 0}},
		{E(RESERVED), {PLAIN, 0x40000000, F(ADDRESS64), 0, 0, 0}},
	};
	const struct pb_patch_location good = {PLAIN, 0, F(ADDRESS64), 0, 0, 0};
	struct card card;

	(void)state;
	oracle_start(&card);
	for (uint32_t i = 0; i < COUNT(spoilt); i++) {
		struct oracle_list list = list_of(&good, 1);

		for (uint32_t again = 0; again < 2; again++)
			card_equal("good", oracle_check_both(&card, "good", &list, 5), PB_ERROR_OK);
		list.patches = &spoilt[i].patch;
		card_equal("spoilt", oracle_check_both(&card, "spoilt", &list, 5), spoilt[i].error);
	}
	card_stop(&card);
}

/** msm and host1x shift by what the list says. Here a format says it once, and is refused. */
static void shifts_are_bounded(void **state)
{
	static const uint8_t shifts[][2] = {{64, 0}, {255, 0}, {0, 32}, {0, 64}, {0, 255}, {64, 32}};
	struct card card;
	uint32_t reason;

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < COUNT(shifts); i++) {
		struct pb_patch_format format = far_format;

		format.shift_right = shifts[i][0];
		format.shift_left = shifts[i][1];
		assert_int_equal(oracle_format_set(&card.channel, FAR, &format, &reason),
				 PB_ERROR_BAD_FORMAT);
		assert_int_equal(reason, PB_FORMAT_REASON_SHIFT);
	}
	card_stop(&card);
}

/** A packet that was patched before the entry that fails must not run. */
static void nothing_runs_after_an_error(void **state)
{
	const struct pb_patch_location address = {HIGH, 0, F(ADDRESS64_WRITE), 0, 4, 0};
	struct card card;

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct pb_descriptor descriptor = card_mark(&card, 1, 0x77);

		if (rows[i].error == PB_ERROR_OK || rows[i].start != 0 || rows[i].patch.driver_id == FAR)
			continue;
		memcpy(card_bytes(&card, 0, CARD_ALLOCATIONS), allocations, sizeof(allocations));
		card_patch(&card, 1, &address);
		card_patch(&card, 2, &rows[i].patch);
		descriptor.allocation_count = COUNTED;
		descriptor.patch_count = descriptor.patch_length = 2;
		card_equal(rows[i].name, card_execute(&card, 0, &descriptor).status, rows[i].error);
		card_equal(rows[i].name, card_dma(&card, 1)[2], 1);
		card_run(&card, 500);
		card_equal(rows[i].name, card_word(&card, 1, 0x1234), 0);
		assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	}
	card_stop(&card);
}

UNIT_SUITE(test_firmware_peer_bugs)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row),
		cmocka_unit_test(the_tail_is_not_dropped),
		cmocka_unit_test(any_order_and_overlaps),
		cmocka_unit_test(unmoved_targets_are_checked_again),
		cmocka_unit_test(shifts_are_bounded),
		cmocka_unit_test(nothing_runs_after_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
