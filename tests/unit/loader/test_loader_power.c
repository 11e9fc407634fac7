/* SPDX-License-Identifier: MIT */
/*
 * A power cut in each write of an update, of the loader and of a confirmation: afterwards the card starts an image that is
 * whole, the former one or the new one. What the interrupted write left of its bits is varied.
 */
#include <string.h>

#include "qemu/mcu/flash.h"
#include "tests/unit/loader/loader_bench.h"
#include "tests/unit/unit.h"

#define OLD_VERSION 3u
#define NEW_VERSION 6u

static struct bench bench;
static struct bench_file old_file, new_file;
static uint8_t before[PB_CARD_FLASH_BYTES];
/** Whether a slot holds an image that is bad without any power cut. */
static bool may_be_bad;

/** What has power: the update, the trial boot, and the confirmation of what it started. @return what was started */
static uint32_t whole_way(void)
{
	uint32_t slot;

	if (bench_write(&bench, &new_file, PB_SLOT_NONE) != PB_UPDATE_DONE)
		return PB_SLOT_NONE;
	slot = bench_boot(&bench);
	if (slot != PB_SLOT_NONE)
		(void)pb_update_confirm(&bench.updater, slot);
	return slot;
}

/** Boots with power, twice, and requires one of the two images, whole, that the counter allows. */
static void check_boots(const char *step, uint32_t cut, uint32_t how)
{
	const uint32_t counter = bench_counter(&bench);
	struct pb_slot_state updated;

	/* The counter rises only when the new image is confirmed. */
	assert_true(pb_slot_read(&bench.model.slots, 1, &updated));
	if (counter > OLD_VERSION && !updated.confirmed)
		fail_msg("%s, cut in write %u, left %u: the counter is %u before the confirmation", step, cut,
			 how, counter);
	pb_flash_model_power_on(&bench.model);
	for (int boot = 0; boot < 2; boot++) {
		const uint32_t slot = bench_boot(&bench);
		const uint32_t *words = bench.staged_words;
		const bool is_old = memcmp(words, old_file.words, sizeof(old_file.words)) == 0;

		if (slot == PB_SLOT_NONE ||
		    (!is_old && memcmp(words, new_file.words, sizeof(new_file.words)) != 0))
			fail_msg("%s, cut in write %u, left %u: slot %u, reasons %d %d", step, cut, how, slot,
				 bench.reported[0], bench.reported[1]);
		assert_true(bench.staged.header.security_version >= counter);
		/* The counter is at most the version of an image that has come up. */
		assert_true(counter <= OLD_VERSION || !is_old);
		/* What is half written is empty, and never taken for an update. */
		for (uint32_t other = 0; other < PB_SLOTS; other++) {
			if (bench.reported[other] > PB_LOADER_EMPTY && !may_be_bad)
				fail_msg("%s, cut in write %u, left %u: slot %u is refused: %d", step, cut,
					 how, other, bench.reported[other]);
		}
	}
}

/** Cuts the power in one write. @return whether the way ended before that write */
static bool cut_once(uint32_t cut, uint32_t how)
{
	memcpy(bench.model.bytes, before, sizeof(before));
	bench.model.power = cut;
	bench.model.tear = how < 2u ? (enum pb_flash_tear)how : PB_FLASH_TEAR_SOME;
	bench.model.seed = 0x1234567u * (how + 1u) + cut;
	(void)whole_way();
	return bench.model.power != UINT32_MAX - 1u;
}

/** Every write of the way. @return how many there were */
static uint32_t cut_every_write(const char *step)
{
	uint32_t cut = 0;

	for (bool over = false; !over; cut++) {
		for (uint32_t how = 0; how < POWER_TEARS; how++) {
			over = cut_once(cut, how);
			check_boots(step, cut, how);
		}
	}
	return cut - 1u;
}

/* Starts with a card whose slot A has the former image, confirmed, and with the new image to be written. */
static void start_card(void)
{
	bench_start(&bench);
	bench_sign(&old_file, OLD_VERSION, 1);
	bench_sign(&new_file, NEW_VERSION, 2);
	bench_place(&bench, 0, &old_file, true, true);
	assert_true(pb_update_confirm(&bench.updater, 0));
}

static void a_power_cut_in_any_write_leaves_a_card_that_boots(void **state)
{
	uint32_t operations, cuts;

	(void)state;
	start_card();
	memcpy(before, bench.model.bytes, sizeof(before));
	operations = bench.model.operations;
	assert_int_equal(whole_way(), 1);
	operations = bench.model.operations - operations;
	cuts = cut_every_write("update");
	/* Two sectors, the words that are not erased, four words that mark, two of the trial, two of the confirmation, three fuses. */
	assert_int_equal(cuts, operations);
	assert_true(cuts >= 2u + (sizeof(new_file) / 4u - BENCH_IMAGE_WORDS / 8u) + 4u + 2u + 2u + 3u - 8u);
	bench_stop(&bench);
}

/* The former update failed its trial: the slot that is erased has marks. */
static void an_update_over_a_failed_one_survives_a_power_cut_in_any_write(void **state)
{
	struct bench_file failed;

	(void)state;
	start_card();
	bench_sign(&failed, NEW_VERSION - 1u, 3);
	failed.words[0]++;
	bench_place(&bench, 1, &failed, true, false);
	may_be_bad = true;
	memcpy(before, bench.model.bytes, sizeof(before));
	assert_true(cut_every_write("over a failed one") > 40u);
	may_be_bad = false;
	bench_stop(&bench);
}

/* Confirmed images in both slots, the usual state after two updates. */
static void an_update_over_a_confirmed_one_survives_a_power_cut_in_any_write(void **state)
{
	struct bench_file older;

	(void)state;
	bench_start(&bench);
	bench_sign(&older, OLD_VERSION, 4);
	bench_sign(&old_file, OLD_VERSION, 1);
	bench_sign(&new_file, NEW_VERSION, 2);
	bench_place(&bench, 1, &older, true, true);
	bench_place(&bench, 0, &old_file, true, true);
	/* A's update is the later one. */
	memset(bench.model.bytes + bench.model.slots.offset[0], 0xff, 8);
	assert_true(pb_slot_mark_written(&bench.model.slots, 0, 3));
	assert_true(pb_update_confirm(&bench.updater, 0));
	memcpy(before, bench.model.bytes, sizeof(before));
	assert_true(cut_every_write("over a confirmed one") > 40u);
	bench_stop(&bench);
}

/* The power is cut, and cut again in each write of the boot that follows. */
static void a_second_power_cut_in_the_next_boot_leaves_a_card_that_boots(void **state)
{
	static uint8_t after[PB_CARD_FLASH_BYTES];
	uint32_t cut = 0;

	(void)state;
	start_card();
	memcpy(before, bench.model.bytes, sizeof(before));
	for (bool over = false; !over; cut += POWER_STRIDE) {
		over = cut_once(cut, 2);
		memcpy(after, bench.model.bytes, sizeof(after));
		for (uint32_t again = 0; again < 2u; again++) {
			for (uint32_t how = 0; how < 3u; how++) {
				memcpy(bench.model.bytes, after, sizeof(after));
				bench.model.power = again;
				bench.model.tear = (enum pb_flash_tear)how;
				(void)bench_boot(&bench);
				check_boots("cut twice", cut, how);
			}
		}
	}
	bench_stop(&bench);
}

UNIT_SUITE(test_loader_power)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_power_cut_in_any_write_leaves_a_card_that_boots),
		cmocka_unit_test(an_update_over_a_failed_one_survives_a_power_cut_in_any_write),
		cmocka_unit_test(an_update_over_a_confirmed_one_survives_a_power_cut_in_any_write),
		cmocka_unit_test(a_second_power_cut_in_the_next_boot_leaves_a_card_that_boots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
