/* SPDX-License-Identifier: MIT */
/* Which slot is tried first: every pair of states that two slots can have. */
#include <stdlib.h>
#include <string.h>

#include "loader/slot.h"
#include "qemu/flash_model.h"
#include "qemu/mcu/flash.h"
#include "tests/unit/unit.h"

enum kind { EMPTY, TRIAL, CONFIRMED, FAILED, KINDS };

static const struct pb_slot_state states[KINDS] = {
	[EMPTY] = {.sequence = 9},
	[TRIAL] = {.written = true},
	[CONFIRMED] = {.written = true, .tried = true, .confirmed = true},
	[FAILED] = {.written = true, .tried = true},
};

#define N PB_SLOT_NONE

/* By the states of A and B: the order if A's update is the later one, and if B's is. */
static const struct {
	enum kind a, b;
	uint32_t a_later[2], b_later[2];
} orders[] = {
	{EMPTY, EMPTY, {N, N}, {N, N}},         {EMPTY, TRIAL, {1, N}, {1, N}},
	{EMPTY, CONFIRMED, {1, N}, {1, N}},     {EMPTY, FAILED, {1, N}, {1, N}},
	{TRIAL, EMPTY, {0, N}, {0, N}},         {TRIAL, TRIAL, {0, 1}, {1, 0}},
	{TRIAL, CONFIRMED, {0, 1}, {0, 1}},     {TRIAL, FAILED, {0, 1}, {0, 1}},
	{CONFIRMED, EMPTY, {0, N}, {0, N}},     {CONFIRMED, TRIAL, {1, 0}, {1, 0}},
	{CONFIRMED, CONFIRMED, {0, 1}, {1, 0}}, {CONFIRMED, FAILED, {0, 1}, {0, 1}},
	{FAILED, EMPTY, {0, N}, {0, N}},        {FAILED, TRIAL, {1, 0}, {1, 0}},
	{FAILED, CONFIRMED, {1, 0}, {1, 0}},    {FAILED, FAILED, {0, 1}, {1, 0}},
};

static void check_order(enum kind a, enum kind b, uint32_t sequence_a, uint32_t sequence_b,
			const uint32_t expected[2])
{
	struct pb_slot_state pair[PB_SLOTS] = {states[a], states[b]};
	uint32_t order[PB_SLOTS];

	pair[0].sequence = sequence_a;
	pair[1].sequence = sequence_b;
	pb_slot_order(pair, order);
	if (order[0] != expected[0] || (order[0] != N && order[1] != expected[1]))
		fail_msg("states %d %d, updates %u %u: order %u %u", a, b, sequence_a, sequence_b, order[0],
			 order[1]);
}

static void an_image_on_trial_comes_before_confirmed_ones_and_these_before_failed_ones(void **state)
{
	(void)state;
	assert_int_equal(sizeof(orders) / sizeof(orders[0]), KINDS * KINDS);
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		check_order(orders[i].a, orders[i].b, 8, 7, orders[i].a_later);
		check_order(orders[i].a, orders[i].b, 7, 8, orders[i].b_later);
		/* The number of updates may wrap around. */
		check_order(orders[i].a, orders[i].b, 1, UINT32_MAX, orders[i].a_later);
		check_order(orders[i].a, orders[i].b, UINT32_MAX, 1, orders[i].b_later);
	}
}

static struct pb_flash_model model;

static int start(void **state)
{
	(void)state;
	pb_flash_model_init(&model, malloc(PB_CARD_FLASH_BYTES));
	assert_non_null(model.bytes);
	memset(model.bytes, 0xff, PB_CARD_FLASH_BYTES);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	free(model.bytes);
	return 0;
}

static void marks_are_read_back_as_they_are_written(void **state)
{
	struct pb_slot_state found;

	(void)state;
	assert_true(pb_slot_read(&model.slots, 1, &found));
	assert_false(found.written || found.tried || found.confirmed);
	assert_true(pb_slot_mark_written(&model.slots, 1, 77));
	assert_true(pb_slot_read(&model.slots, 1, &found));
	assert_true(found.written && pb_slot_on_trial(&found));
	assert_int_equal(found.sequence, 77);
	assert_true(pb_slot_mark_tried(&model.slots, 1));
	assert_true(pb_slot_read(&model.slots, 1, &found));
	assert_true(found.tried && !found.confirmed && !pb_slot_on_trial(&found));
	assert_true(pb_slot_mark_confirmed(&model.slots, 1));
	assert_true(pb_slot_read(&model.slots, 1, &found));
	assert_true(found.confirmed && !pb_slot_on_trial(&found));
	assert_true(pb_slot_read(&model.slots, 0, &found));
	assert_false(found.written);
}

/* Each word of a slot's record, each of its bits: a mark that lacks a bit is none, but `tried`, which any bit sets. */
static void a_mark_that_is_not_complete_counts_only_as_tried(void **state)
{
	const uint32_t at = model.slots.offset[0];
	struct pb_slot_state found;

	(void)state;
	for (uint32_t bit = 0; bit < 32u * 8u; bit++) {
		uint8_t *byte = model.bytes + at + bit / 8u;
		const uint32_t word = bit / 32u;

		memset(model.bytes + at, 0xff, 32);
		assert_true(pb_slot_mark_written(&model.slots, 0, 5));
		assert_true(pb_slot_mark_confirmed(&model.slots, 0));
		*byte ^= (uint8_t)(1u << bit % 8u);
		assert_true(pb_slot_read(&model.slots, 0, &found));
		assert_int_equal(found.sequence, word < 2 ? 0 : 5);
		assert_int_equal(found.written, word != 2 && word != 3);
		assert_int_equal(found.tried, word == 4 || word == 5);
		assert_int_equal(found.confirmed, found.written && word < 6);
	}
}

static void the_flash_clears_bits_and_erases_sectors_and_leaves_the_fuses(void **state)
{
	const struct pb_flash *flash = &model.flash;
	uint32_t word = 0;

	(void)state;
	assert_true(flash->ops->program(flash->context, 0x2000, 0xffff00ffu));
	assert_true(flash->ops->program(flash->context, 0x2000, 0xff0fffffu));
	assert_true(flash->ops->read(flash->context, 0x2000, &word, 1));
	assert_int_equal(word, 0xff0f00ffu);
	assert_true(flash->ops->erase(flash->context, 0x2000));
	assert_true(flash->ops->read(flash->context, 0x2000, &word, 1));
	assert_int_equal(word, 0xffffffffu);
	assert_false(flash->ops->program(flash->context, 0xffc, 0));
	assert_false(flash->ops->program(flash->context, PB_CARD_FLASH_BYTES, 0));
	assert_false(flash->ops->program(flash->context, 0x2001, 0));
	assert_false(flash->ops->erase(flash->context, 0));
	assert_false(flash->ops->erase(flash->context, 0x2004));
	assert_false(flash->ops->erase(flash->context, PB_CARD_FLASH_BYTES));
	assert_false(flash->ops->read(flash->context, PB_CARD_FLASH_BYTES - 4u, &word, 2));
}

static void the_counter_rises_and_never_falls(void **state)
{
	const struct pb_fuses *fuses = &model.fuses;
	uint32_t value = 1;

	(void)state;
	assert_true(fuses->ops->counter(fuses->context, &value));
	assert_int_equal(value, 0);
	assert_true(fuses->ops->raise(fuses->context, 33));
	assert_true(fuses->ops->raise(fuses->context, 12));
	assert_true(fuses->ops->counter(fuses->context, &value));
	assert_int_equal(value, 33);
	assert_false(fuses->ops->raise(fuses->context, PB_FUSES_COUNTER_MAX + 1u));
	assert_true(fuses->ops->raise(fuses->context, PB_FUSES_COUNTER_MAX));
	assert_true(fuses->ops->counter(fuses->context, &value));
	assert_int_equal(value, PB_FUSES_COUNTER_MAX);
}

/* A bit of the counter that is clear although lower ones are set: the value still rises to what was asked. */
static void the_counter_rises_also_over_a_bit_that_is_clear_already(void **state)
{
	static const struct {
		uint32_t word, bit, raised;
	} rows[] = {{0, 5, 6}, {0, 1, 2}, {0, 31, 40}, {1, 0, 33}, {31, 31, PB_FUSES_COUNTER_MAX}, {2, 7, 1}};
	const struct pb_fuses *fuses = &model.fuses;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t *counter = model.bytes + 64;
		uint32_t value = 0;

		memset(counter, 0xff, 128);
		counter[rows[i].word * 4u + rows[i].bit / 8u] ^= (uint8_t)(1u << rows[i].bit % 8u);
		assert_true(fuses->ops->raise(fuses->context, rows[i].raised));
		assert_true(fuses->ops->counter(fuses->context, &value));
		assert_int_equal(value, rows[i].raised);
	}
}

UNIT_SUITE(test_loader_slots)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_image_on_trial_comes_before_confirmed_ones_and_these_before_failed_ones),
		cmocka_unit_test_setup_teardown(marks_are_read_back_as_they_are_written, start, stop),
		cmocka_unit_test_setup_teardown(a_mark_that_is_not_complete_counts_only_as_tried, start,
						stop),
		cmocka_unit_test_setup_teardown(the_flash_clears_bits_and_erases_sectors_and_leaves_the_fuses,
						start, stop),
		cmocka_unit_test_setup_teardown(the_counter_rises_and_never_falls, start, stop),
		cmocka_unit_test_setup_teardown(the_counter_rises_also_over_a_bit_that_is_clear_already,
						start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
