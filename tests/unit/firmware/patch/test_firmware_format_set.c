/* SPDX-License-Identifier: MIT */
/* A channel's own formats: what FORMAT_SET takes and refuses, whose they are, and how far offsets reach. */
#include <stdio.h>
#include <string.h>

#include "patchbay/format.h"
#include "tests/unit/patch_oracle.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define ONES         0xffffffffu
#define OWN          PB_FORMAT_OWN

/** Legal, and as little as possible. A row changes what it is about. */
static const struct pb_patch_format plain = {.bound = PB_FORMAT_NONE, .align = 4, .mask = ONES};

#define EDITS 7u
#define SET(field, number)                                                                                   \
	{                                                                                                    \
		offsetof(struct pb_patch_format, field), sizeof(((struct pb_patch_format *)0)->field),       \
			(number)                                                                             \
	}
#define SET_OR(i, number)                                                                                    \
	{                                                                                                    \
		offsetof(struct pb_patch_format, or_value) + 4u * (i), 4, (number)                           \
	}
#define WIDE      SET(flags, PB_FORMAT_WIDE), SET(high_mask, ONES)
#define R(reason) PB_FORMAT_REASON_##reason
#define TAKEN     PB_FORMAT_REASON_NONE

static const struct row {
	const char *name;
	enum pb_format_reason reason;
	struct {
		size_t offset;
		size_t size;
		uint32_t number;
	} edits[EDITS];
} rows[] = {
	{"plain", TAKEN, {{0}}},
	{"wide", TAKEN, {WIDE, SET(step, 1)}},

	{"last source", TAKEN, {SET(source, PB_FORMAT_SELF)}},
	{"source 5", R(SOURCE), {SET(source, 5)}},
	{"source 255", R(SOURCE), {SET(source, 255)}},

	{"address inside", TAKEN, {SET(bound, PB_FORMAT_INSIDE)}},
	{"address to the end", TAKEN, {SET(bound, PB_FORMAT_END)}},
	{"address of a page", TAKEN, {SET(bound, PB_FORMAT_PAGE)}},
	{"bound 4", R(BOUND), {SET(bound, 4)}},
	{"bound 255", R(BOUND), {SET(bound, 255)}},
	{"self inside", TAKEN, {SET(source, PB_FORMAT_SELF), SET(bound, PB_FORMAT_INSIDE)}},
	{"self to the end", TAKEN, {SET(source, PB_FORMAT_SELF), SET(bound, PB_FORMAT_END)}},
	{"self page", TAKEN, {SET(source, PB_FORMAT_SELF), SET(bound, PB_FORMAT_PAGE)}},
	{"self bound 4", R(BOUND), {SET(source, PB_FORMAT_SELF), SET(bound, 4)}},
	{"id", TAKEN, {SET(source, PB_FORMAT_ID)}},
	{"id inside", R(BOUND), {SET(source, PB_FORMAT_ID), SET(bound, PB_FORMAT_INSIDE)}},
	{"id to the end", R(BOUND), {SET(source, PB_FORMAT_ID), SET(bound, PB_FORMAT_END)}},
	{"constant", TAKEN, {SET(source, PB_FORMAT_CONSTANT)}},
	{"constant inside", R(BOUND), {SET(source, PB_FORMAT_CONSTANT), SET(bound, PB_FORMAT_INSIDE)}},
	{"constant page", R(BOUND), {SET(source, PB_FORMAT_CONSTANT), SET(bound, PB_FORMAT_PAGE)}},
	{"fence", TAKEN, {SET(source, PB_FORMAT_FENCE)}},
	{"fence inside", R(BOUND), {SET(source, PB_FORMAT_FENCE), SET(bound, PB_FORMAT_INSIDE)}},
	{"fence bound 4", R(BOUND), {SET(source, PB_FORMAT_FENCE), SET(bound, 4)}},

	{"every flag", TAKEN, {SET(high_mask, ONES), SET(step, 1), SET(flags, PB_FORMAT_FLAGS)}},
	{"flag 6", R(FLAGS), {SET(flags, 0x40)}},
	{"flag 7", R(FLAGS), {SET(flags, 0x80)}},
	{"write", TAKEN, {SET(flags, PB_FORMAT_WRITE)}},
	{"write of an id", R(FLAGS), {SET(source, PB_FORMAT_ID), SET(flags, PB_FORMAT_WRITE)}},
	{"write of a constant", R(FLAGS), {SET(source, PB_FORMAT_CONSTANT), SET(flags, PB_FORMAT_WRITE)}},
	{"write of a fence", R(FLAGS), {SET(source, PB_FORMAT_FENCE), SET(flags, PB_FORMAT_WRITE)}},
	{"write of the buffer", R(FLAGS), {SET(source, PB_FORMAT_SELF), SET(flags, PB_FORMAT_WRITE)}},

	{"align 0", R(ALIGN), {SET(align, 0)}},
	{"align 1", TAKEN, {SET(align, 1)}},
	{"align 2", R(ALIGN), {SET(align, 2)}},
	{"align 3", R(ALIGN), {SET(align, 3)}},
	{"align 5", R(ALIGN), {SET(align, 5)}},
	{"align 7", R(ALIGN), {SET(align, 7)}},
	{"align 8", TAKEN, {SET(align, 8)}},
	{"align 9", R(ALIGN), {SET(align, 9)}},
	{"align 16", R(ALIGN), {SET(align, 16)}},
	{"align 128", R(ALIGN), {SET(align, 128)}},

	{"right 63", TAKEN, {SET(shift_right, 63)}},
	{"right 64", R(SHIFT), {SET(shift_right, 64)}},
	{"right 255", R(SHIFT), {SET(shift_right, 255)}},
	{"left 31", TAKEN, {SET(shift_left, 31)}},
	{"left 32", R(SHIFT), {SET(shift_left, 32)}},
	{"left 255", R(SHIFT), {SET(shift_left, 255)}},
	{"both", TAKEN, {SET(shift_right, 63), SET(shift_left, 31)}},

	{"wide, step 0", R(STEP), {WIDE}},
	{"wide, step 4", TAKEN, {WIDE, SET(step, 4)}},
	{"wide, step 5", R(STEP), {WIDE, SET(step, 5)}},
	{"wide, step 255", R(STEP), {WIDE, SET(step, 255)}},
	{"a step without wide", R(STEP), {SET(step, 1)}},

	{"or", TAKEN, {SET_OR(0, ONES)}},
	{"second of one", R(OR), {SET_OR(1, 1)}},
	{"third of one", R(OR), {SET_OR(2, 1)}},
	{"fourth of one", R(OR), {SET_OR(3, 0x80000000)}},
	{"or by segment", TAKEN, {SET(or_by, PB_FORMAT_OR_SEGMENT), SET_OR(0, 1), SET_OR(1, ONES)}},
	{"third of two", R(OR), {SET(or_by, PB_FORMAT_OR_SEGMENT), SET_OR(2, 4)}},
	{"fourth of two", R(OR), {SET(or_by, PB_FORMAT_OR_SEGMENT), SET_OR(3, 1)}},
	{"or by attribute",
	 TAKEN,
	 {SET(or_by, PB_FORMAT_OR_ATTRIBUTE), SET_OR(0, 1), SET_OR(1, 2), SET_OR(2, 4), SET_OR(3, ONES)}},
	{"or by 3", R(OR), {SET(or_by, 3)}},
	{"or by 255", R(OR), {SET(or_by, 255)}},

	{"mask of one bit", TAKEN, {SET(mask, 0x80000000)}},
	{"no mask", R(MASK), {SET(mask, 0)}},
	{"high mask of one bit", TAKEN, {SET(flags, PB_FORMAT_WIDE), SET(step, 1), SET(high_mask, 1)}},
	{"no high mask", R(MASK), {SET(flags, PB_FORMAT_WIDE), SET(step, 1)}},
	{"no low mask", R(MASK), {WIDE, SET(step, 1), SET(mask, 0)}},
	{"high mask without wide", R(MASK), {SET(high_mask, 1)}},

	{"background", TAKEN, {SET(mask, 0x7fffffff), SET(background, 0x80000000)}},
	{"background under the mask", R(BACKGROUND), {SET(mask, 0x7fffffff), SET(background, 0xc0000000)}},
	{"background under all", R(BACKGROUND), {SET(background, 1)}},
	{"kept", TAKEN, {SET(flags, PB_FORMAT_KEEP), SET(mask, 1)}},
	{"kept, and a background",
	 R(BACKGROUND),
	 {SET(flags, PB_FORMAT_KEEP), SET(mask, 1), SET(background, 2)}},

	{"any pre_or", TAKEN, {SET(pre_or_low, ONES), SET(pre_or_high, ONES)}},
	{"reserved 1", R(RESERVED), {SET(reserved, 1)}},
	{"reserved bit 31", R(RESERVED), {SET(reserved, 0x80000000)}},
	{"background before reserved", R(BACKGROUND), {SET(background, 1), SET(reserved, 1)}},
	{"mask before background",
	 R(MASK),
	 {SET(mask, 0), SET(flags, PB_FORMAT_KEEP), SET(background, 1), SET(reserved, 1)}},
	{"or before mask", R(OR), {SET(or_by, 3), SET(high_mask, 1), SET(background, 1)}},
	{"step before or", R(STEP), {SET(step, 1), SET_OR(1, 1), SET(mask, 0)}},
	{"shift before step", R(SHIFT), {SET(shift_left, 32), SET(step, 1), SET_OR(1, 1)}},
	{"align before shift", R(ALIGN), {SET(align, 0), SET(shift_right, 64), SET(step, 1)}},
	{"flags before align", R(FLAGS), {SET(flags, 0x40), SET(align, 2), SET(shift_left, 32)}},
	{"bound before flags", R(BOUND), {SET(bound, 4), SET(flags, 0x80), SET(align, 0)}},
	{"source before bound", R(SOURCE), {SET(source, 5), SET(bound, 4), SET(flags, 0x40)}},
	{"all wrong",
	 R(SOURCE),
	 {SET(source, 255), SET(bound, 255), SET(flags, 255), SET(align, 255), SET(shift_left, 255),
	  SET(or_by, 255), SET(reserved, 1)}},
};

static struct pb_patch_format edited(const struct row *row)
{
	struct pb_patch_format format = plain;

	for (uint32_t i = 0; i < EDITS && row->edits[i].size != 0; i++) {
		const uint8_t byte = (uint8_t)row->edits[i].number;
		uint8_t *field = (uint8_t *)&format + row->edits[i].offset;

		if (row->edits[i].size == 1)
			*field = byte;
		else
			memcpy(field, &row->edits[i].number, sizeof(row->edits[i].number));
	}
	return format;
}

static void expect_answer(struct pb_channel *channel, const char *row, uint32_t driver_id,
			  const struct pb_patch_format *format, enum pb_format_reason expected)
{
	uint32_t reason;

	card_equal(row, oracle_format_set(channel, driver_id, format, &reason),
		   expected == TAKEN ? PB_ERROR_OK : PB_ERROR_BAD_FORMAT);
	card_equal(row, reason, expected);
}

/** A list of one entry that names this format. */
static enum pb_error use(struct card *card, const struct oracle_formats *own, uint32_t driver_id)
{
	const struct pb_allocation allocation = oracle_allocation(0x345000, 0x1000, CARD_SEGMENT(3));
	const struct pb_patch_location patch = {.driver_id = driver_id, .allocation_offset = 0x678};
	const struct oracle_list list = {
		.allocations = &allocation,
		.patches = &patch,
		.own = own,
		.allocation_count = 1,
		.patch_count = 1,
		.patch_length = 1,
		.dma_end = 64,
	};
	char row[32];

	snprintf(row, sizeof(row), "DriverId %u", driver_id);
	return oracle_check_both(card, row, &list, 1 + driver_id);
}

static void every_reason(void **state)
{
	bool met[PB_FORMAT_REASON_RESERVED + 1u] = {false};
	struct card card;

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		const struct pb_patch_format format = edited(&rows[i]);

		card_equal(rows[i].name, format_reason(&format), rows[i].reason);
		expect_answer(&card.channel, rows[i].name, OWN, &format, rows[i].reason);
		met[rows[i].reason] = true;
	}
	for (uint32_t reason = 0; reason < COUNT(met); reason++)
		card_equal("reason", met[reason] || reason == PB_FORMAT_REASON_NUMBER, true);
	card_stop(&card);
}

static void numbers(void **state)
{
	static const uint32_t none[] = {0,   25,  26,         127,        OWN + ORACLE_OWN_FORMATS,
					255, 256, 0x80000080, 0x00000180, ONES};
	const struct pb_patch_format bad = {.source = 77};
	struct card card;

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < COUNT(none); i++) {
		expect_answer(&card.channel, "number", none[i], &plain, PB_FORMAT_REASON_NUMBER);
		expect_answer(&card.channel, "number first", none[i], &bad, PB_FORMAT_REASON_NUMBER);
	}
	expect_answer(&card.channel, "first", OWN, &plain, PB_FORMAT_REASON_NONE);
	expect_answer(&card.channel, "last", OWN + ORACLE_OWN_FORMATS - 1u, &plain, PB_FORMAT_REASON_NONE);
	card_stop(&card);
}

/** A format that tells its number: in bits 24 up, and in a mask and a step of its own. */
static struct pb_patch_format numbered(uint32_t slot, uint32_t version)
{
	return (struct pb_patch_format){
		.source = PB_FORMAT_ADDRESS,
		.bound = PB_FORMAT_END,
		.flags = slot % 2 != 0 ? PB_FORMAT_WIDE : 0,
		.align = slot % 3 == 0   ? 1
			 : slot % 3 == 1 ? 4
					 : 8,
		.step = (uint8_t)(slot % 2 != 0 ? slot / 2 % 4 + 1 : 0),
		.shift_right = (uint8_t)(slot / 4),
		.mask = 0x00ffffff >> version,
		.high_mask = slot % 2 != 0 ? 0x0000ffff : 0,
		.background = (0x10u * version + slot) << 24,
	};
}

#define ENTRIES (3u * ORACLE_OWN_FORMATS)

/** Formats side by side with built-in ones, in turn. */
static void use_all(struct card *card, const struct oracle_formats *own, const char *row)
{
	const struct pb_allocation allocation =
		oracle_allocation(0x12345600, 0x1000, CARD_SEGMENT(3) | PB_ALLOCATION_WRITE);
	struct pb_patch_location patches[ENTRIES];
	const struct oracle_list list = {
		.allocations = &allocation,
		.patches = patches,
		.own = own,
		.allocation_count = 1,
		.patch_count = ENTRIES,
		.patch_length = ENTRIES,
		.dma_end = ORACLE_BUFFER_BYTES,
	};

	for (uint32_t i = 0; i < ENTRIES; i++)
		patches[i] = (struct pb_patch_location){
			.driver_id = i % 3 == 2 ? i / 3 % 8 : OWN + i / 3,
			.allocation_offset = i,
			.patch_offset = i * 32,
		};
	card_equal(row, oracle_check_both(card, row, &list, 31), PB_ERROR_OK);
}

static void sixteen_at_once(void **state)
{
	struct oracle_formats own = {0};
	struct card card;

	(void)state;
	oracle_start(&card);
	for (uint32_t slot = 0; slot < ORACLE_OWN_FORMATS; slot++) {
		const struct pb_patch_format format = numbered(slot, 0);

		card_equal("not yet", use(&card, &own, OWN + slot), PB_ERROR_PATCH_FORMAT);
		oracle_own(&card, &own, OWN + slot, &format);
		card_equal("now", use(&card, &own, OWN + slot), PB_ERROR_OK);
	}
	use_all(&card, &own, "first ones");
	for (uint32_t slot = 0; slot < ORACLE_OWN_FORMATS; slot += 5) {
		const struct pb_patch_format format = numbered(15 - slot, 3);

		oracle_own(&card, &own, OWN + slot, &format);
	}
	use_all(&card, &own, "some replaced");
	card_stop(&card);
}

/** One that is refused leaves what was there; so does one that comes while work is admitted. */
static void refused_formats_change_nothing(void **state)
{
	const struct pb_patch_format first = numbered(3, 0);
	const struct pb_patch_format other = numbered(4, 2);
	struct oracle_formats own = {0};
	struct card card;

	(void)state;
	card_start(&card);
	oracle_own(&card, &own, OWN + 1, &first);
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		const struct pb_patch_format format = edited(&rows[i]);

		if (rows[i].reason == TAKEN)
			continue;
		expect_answer(&card.channel, rows[i].name, OWN, &format, rows[i].reason);
		expect_answer(&card.channel, rows[i].name, OWN + 1, &format, rows[i].reason);
	}
	expect_answer(&card.channel, "number 17", OWN + 16, &other, PB_FORMAT_REASON_NUMBER);
	card_equal("never set", use(&card, &own, OWN), PB_ERROR_PATCH_FORMAT);
	card_equal("set before", use(&card, &own, OWN + 1), PB_ERROR_OK);
	card_stop(&card);
}

static void only_known_numbers(void **state)
{
	static const uint32_t unknown[] = {
		PB_PATCH_FORMAT_COUNT,
		64,
		127,
		129,
		OWN + 15,
		OWN + 16,
		255,
		256,
		256 + 128,
		0x80000080,
		ONES,
	};
	struct oracle_formats own = {0};
	struct card card;

	(void)state;
	card_start(&card);
	oracle_own(&card, &own, OWN, &plain);
	for (uint32_t i = 0; i < COUNT(unknown); i++)
		card_equal("unknown", use(&card, &own, unknown[i]), PB_ERROR_PATCH_FORMAT);
	card_equal("own", use(&card, &own, OWN), PB_ERROR_OK);
	card_stop(&card);
}

/* ---- busy, and other channels ---- */

/** The fixture's things once more, in channel 2 of the same card. */
static void neighbour_start(struct card *neighbour, const struct card *card)
{
	*neighbour = (struct card){.sim = card->sim};
	card_join(card, &neighbour->channel, 2);
	neighbour->link = neighbour->channel.link;
}

static void neighbour_make(struct card *neighbour)
{
	card_make_segments(&neighbour->channel, neighbour->segments);
	assert_int_equal(pb_context_create(&neighbour->channel, &neighbour->context), PB_ERROR_OK);
	assert_int_equal(
		pb_queue_create(&neighbour->queues[0], &neighbour->channel, &neighbour->segments[0], 0, 16),
		PB_ERROR_OK);
}

static void busy_while_work_is_admitted(void **state)
{
	const struct pb_patch_format changed = numbered(4, 2);
	struct oracle_formats own = {0};
	struct card card, neighbour;
	struct pb_descriptor descriptor;
	uint32_t reason;

	(void)state;
	card_start(&card);
	neighbour_start(&neighbour, &card);
	oracle_own(&card, &own, OWN, &plain);
	card_dma(&card, 3)[0] = PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS);
	card_dma(&card, 3)[1] = 20000;
	descriptor = card_descriptor(&card, 3, PB_PACKET_BUSY_WORDS * 4u, 0, 0);
	card_submit(&card, 1, &descriptor);
	card_run(&card, 1000);
	for (uint32_t slot = 0; slot < ORACLE_OWN_FORMATS; slot++)
		card_equal("busy", oracle_format_set(&card.channel, OWN + slot, &changed, &reason),
			   PB_ERROR_BUSY);
	/* Work of one channel is nothing to another. */
	expect_answer(&neighbour.channel, "neighbour", OWN, &changed, PB_FORMAT_REASON_NONE);
	assert_int_equal(card_wait(&card, 1, 0).completed, 0);
	card_wait(&card, 1, 1);
	card_equal("as it was", use(&card, &own, OWN), PB_ERROR_OK);
	card_equal("not made", use(&card, &own, OWN + 1), PB_ERROR_PATCH_FORMAT);
	oracle_own(&card, &own, OWN, &changed);
	card_equal("changed", use(&card, &own, OWN), PB_ERROR_OK);
	card_leave(&neighbour.channel);
	card_stop(&card);
}

/** What was patched with another format was not patched with this one, whatever the cookie says. */
static void a_cookie_does_not_outlive_a_format(void **state)
{
	const struct pb_patch_format formats[] = {numbered(4, 0), numbered(4, 2), numbered(4, 0)};
	const struct pb_patch_location patch = {.driver_id = OWN};
	struct oracle_formats own = {0};
	struct card card;

	(void)state;
	card_start(&card);
	card_allocation(&card, 0, 0x5600, 0x1000, CARD_SEGMENT(3));
	card_patch(&card, 0, &patch);
	for (uint32_t i = 0; i < COUNT(formats); i++) {
		struct pb_descriptor descriptor = card_descriptor(&card, 1, 64, 1, 1);

		oracle_own(&card, &own, OWN, &formats[i]);
		descriptor.flags = PB_FLAG_NULL_RENDERING;
		descriptor.cookie = 0x1234;
		assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
		/* 0x5600 / 2 below the number in bits 24 up */
		assert_int_equal(*card_dma(&card, 1), (i == 1 ? 0x24000000 : 0x04000000) | 0x2b00);
	}
	card_stop(&card);
}

static void formats_belong_to_their_channel(void **state)
{
	const struct pb_patch_format ours = numbered(4, 0);
	const struct pb_patch_format theirs = numbered(7, 1);
	struct oracle_formats own = {0}, other = {0};
	struct card card, neighbour;

	(void)state;
	card_start(&card);
	neighbour_start(&neighbour, &card);
	neighbour_make(&neighbour);
	oracle_own(&card, &own, OWN + 2, &ours);
	card_equal("not theirs", use(&neighbour, &other, OWN + 2), PB_ERROR_PATCH_FORMAT);
	oracle_own(&neighbour, &other, OWN + 2, &theirs);
	oracle_own(&neighbour, &other, OWN + 3, &theirs);
	card_equal("not ours", use(&card, &own, OWN + 3), PB_ERROR_PATCH_FORMAT);
	/* Numbers do not run on into the formats of the next channel. */
	oracle_own(&neighbour, &other, OWN, &theirs);
	card_equal("behind ours", use(&card, &own, OWN + ORACLE_OWN_FORMATS), PB_ERROR_PATCH_FORMAT);
	for (uint32_t i = 0; i < 3; i++) {
		card_equal("ours", use(&card, &own, OWN + 2), PB_ERROR_OK);
		card_equal("theirs", use(&neighbour, &other, OWN + 2), PB_ERROR_OK);
	}

	/* A channel that attaches anew begins with none. */
	assert_int_equal(pb_channel_detach(&neighbour.channel), PB_ERROR_OK);
	assert_int_equal(pb_channel_attach(&neighbour.channel, neighbour.link, 1000000), PB_ERROR_OK);
	neighbour_make(&neighbour);
	memset(&other, 0, sizeof(other));
	card_equal("gone", use(&neighbour, &other, OWN + 2), PB_ERROR_PATCH_FORMAT);
	card_equal("gone too", use(&neighbour, &other, OWN + 3), PB_ERROR_PATCH_FORMAT);
	card_equal("still ours", use(&card, &own, OWN + 2), PB_ERROR_OK);
	card_leave(&neighbour.channel);
	card_stop(&card);
}

/** The card holds 64, three of them for each channel that has none. A channel that leaves makes room. */
static void all_places_taken(void **state)
{
	struct pb_channel channels[5];
	struct card card;

	(void)state;
	card_start(&card);
	for (uint32_t c = 0; c < 5; c++) {
		card_join(&card, &channels[c], c + 2u);
		for (uint32_t own = 0, most = c < 2 ? 16 : c == 2 ? 14 : 3; own < 16; own++)
			assert_int_equal(pb_format_set(&channels[c], OWN + own, &plain, NULL),
					 own < most ? PB_ERROR_OK : PB_ERROR_NO_SPACE);
	}
	assert_int_equal(pb_format_set(&channels[3], PB_FORMAT_OWN, &plain, NULL), PB_ERROR_OK);
	assert_int_equal(pb_channel_detach(&channels[0]), PB_ERROR_OK);
	assert_int_equal(pb_format_set(&channels[4], PB_FORMAT_OWN, &plain, NULL), PB_ERROR_OK);
	for (uint32_t c = 0; c < 5; c++)
		card_leave(&channels[c]);
	card_stop(&card);
}

UNIT_SUITE(test_firmware_format_set)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reason),
		cmocka_unit_test(numbers),
		cmocka_unit_test(sixteen_at_once),
		cmocka_unit_test(refused_formats_change_nothing),
		cmocka_unit_test(only_known_numbers),
		cmocka_unit_test(busy_while_work_is_admitted),
		cmocka_unit_test(a_cookie_does_not_outlive_a_format),
		cmocka_unit_test(formats_belong_to_their_channel),
		cmocka_unit_test(all_places_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
