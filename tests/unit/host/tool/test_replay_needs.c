/* SPDX-License-Identifier: MIT */
/* What a replay needs of a card: how much of its memory, and firmware that lives. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/tool/replay.h"
#include "patchbay/patchbay.h"
#include "qemu/sim.h"
#include "tests/unit/subm_writer.h"
#include "tests/unit/unit.h"

/* ---- memory ---- */

static void expect_largest(struct subm_writer *writer, uint64_t expected)
{
	struct pb_replay_summary summary;
	char path[SUBM_PATH_BYTES];
	uint64_t largest = 1;

	subm_save(writer, writer->used, true, path);
	assert_int_equal(pb_replay_scan(&(struct pb_replay_options){.file = path}, &largest, &summary),
			 PB_REPLAY_OK);
	assert_string_equal(summary.message, "");
	assert_int_equal(largest, expected);
	assert_int_equal(unlink(path), 0);
	subm_free(writer);
}

/* Contents in steps of 64 bytes, 24 bytes for each object, 24 for each relocation. */
static void needs_are_the_largest_of_a_file(void **state)
{
	struct subm_writer writer = {0};

	(void)state;
	subm_file_header(&writer, 64, 3);
	subm_large(&writer, 2, 4, 256);
	subm_large(&writer, 3, 5, 1000);
	subm_large(&writer, 1, 1, 64);
	expect_largest(&writer, 1024 + 3 * 24 + 5 * 24);
	/* One with nothing in it still has an object. */
	subm_file_header(&writer, 64, 1);
	subm_begin(&writer, 1, 0, 0);
	subm_object(&writer, 1, 4096, 0);
	subm_end(&writer);
	expect_largest(&writer, 24);
	subm_file_header(&writer, 32, 0);
	expect_largest(&writer, 0);
}

/* Of the large submissions below: 1 MiB of contents and two short lists, in pages. */
#define LARGE_BYTES (1u << 20)
#define LARGE_NEEDS (LARGE_BYTES + 0x1000u)
/* Queue page and ring. */
#define QUEUE_NEEDS 0x1000u

static struct pb_link *neighbour_link;
static struct pb_channel neighbour_channel;

/* Attaches, and takes all that channels share of the pool, but some bytes. */
static void take_pool(struct pb_sim *sim, uint32_t left)
{
	struct pb_segment_request request = {.id = 1, .gpu_base = 1u << 30};
	struct pb_segment segment;

	assert_int_equal(pb_link_open_sim(sim, 2, &neighbour_link), PB_ERROR_OK);
	assert_int_equal(pb_channel_attach(&neighbour_channel, neighbour_link, 1000000), PB_ERROR_OK);
	request.backing_bytes = neighbour_channel.card.capabilities[PB_CAPABILITY_POOL_BYTES] / 4096 * 4096 -
				left - 9 * neighbour_channel.card.capabilities[PB_CAPABILITY_POOL_BYTES_MIN];
	request.size = request.backing_bytes;
	assert_int_equal(pb_segment_create(&segment, &neighbour_channel, &request), PB_ERROR_OK);
}

static int replay_beside_neighbour(uint32_t left, struct pb_replay_summary *summary)
{
	struct pb_sim *sim = pb_sim_create();
	struct subm_writer writer = {0};
	char path[SUBM_PATH_BYTES];
	struct pb_link *link;
	uint64_t largest;
	int result;

	subm_file_header(&writer, 64, 4);
	subm_large(&writer, 2, 4, 256);
	for (uint32_t i = 0; i < 3; i++)
		subm_large(&writer, 2, 4, LARGE_BYTES);
	subm_save(&writer, writer.used, true, path);
	subm_free(&writer);
	assert_int_equal(pb_replay_scan(&(struct pb_replay_options){.file = path}, &largest, summary),
			 PB_REPLAY_OK);
	assert_non_null(sim);
	take_pool(sim, left);
	assert_int_equal(pb_link_open_sim(sim, 1, &link), PB_ERROR_OK);
	result = pb_replay_run(link, &(struct pb_replay_options){.file = path}, largest, summary);
	assert_int_equal(unlink(path), 0);
	link->ops->close(link);
	neighbour_link->ops->close(neighbour_link);
	pb_sim_destroy(sim);
	return result;
}

/* It takes what two of its submissions need, makes do with what one needs, and says so if not even that is there. */
static void replay_shares_a_pool_with_a_neighbour(void **state)
{
	static const uint32_t enough[] = {
		QUEUE_NEEDS + 2 * LARGE_NEEDS,
		QUEUE_NEEDS + 2 * LARGE_NEEDS - 0x1000,
		QUEUE_NEEDS + LARGE_NEEDS,
	};
	struct pb_replay_summary summary;

	(void)state;
	for (size_t i = 0; i < sizeof(enough) / sizeof(enough[0]); i++) {
		int result = replay_beside_neighbour(enough[i], &summary);

		assert_string_equal(summary.message, "");
		assert_int_equal(result, PB_REPLAY_OK);
		assert_int_equal(summary.submissions, 4);
	}
	assert_int_equal(replay_beside_neighbour(QUEUE_NEEDS + LARGE_NEEDS - 0x1000, &summary),
			 PB_REPLAY_FAILED);
	assert_int_equal(summary.submissions, 0);
	assert_string_equal(summary.message,
			    "cannot create the segments: NO_SPACE: 1056768 contiguous bytes are needed, and "
			    "other clients hold too much of the card's POOL_BYTES = 16510976; try again when "
			    "they have ended");
}

/* ---- a death ---- */

static const struct pb_link_ops *real_ops;
static uint32_t doorbells_to_death;

/* What a fatal handler writes, when the submissions have begun. */
static void deadly_doorbell(struct pb_link *link)
{
	struct pb_boot_block *block = (void *)(link->memory + PB_BOOT_OFFSET);

	real_ops->doorbell(link);
	if (--doorbells_to_death != 0)
		return;
	block->fatal = (struct pb_fatal_record){.valid = 1,
						.kind = PB_FATAL_CPU_FAULT,
						.pc = 0x1234,
						.lr = 0x5679,
						.status = 0x82,
						.address = 0xdead0000,
						.waypoint = PB_WAYPOINT_PATCH};
	block->boot_stage = PB_BOOT_STAGE_FATAL;
}

static void a_dead_card_is_reported(void **state)
{
	struct pb_sim *sim = pb_sim_create();
	struct pb_replay_summary summary;
	struct pb_link_ops ops;
	struct pb_link *link;
	uint64_t largest;
	char file[512];
	int result;

	(void)state;
	(void)snprintf(file, sizeof(file), "%s/snb.subm.zst", PB_TEST_DATA);
	/* Attach, two segments, a context, a queue, two submissions, and then. */
	doorbells_to_death = 8;
	assert_int_equal(pb_replay_scan(&(struct pb_replay_options){.file = file}, &largest, &summary),
			 PB_REPLAY_OK);
	assert_non_null(sim);
	assert_int_equal(pb_link_open_sim(sim, 1, &link), PB_ERROR_OK);
	real_ops = link->ops;
	ops = *real_ops;
	ops.doorbell = deadly_doorbell;
	link->ops = &ops;
	result = pb_replay_run(link, &(struct pb_replay_options){.file = file}, largest, &summary);
	link->ops->close(link);
	pb_sim_destroy(sim);
	assert_int_equal(result, PB_REPLAY_FAILED);
	if (strstr(summary.message,
		   "/snb.subm.zst: submission 2: FIRMWARE_DEAD: the firmware stopped, or ") == NULL ||
	    strstr(summary.message, "; it died at stage FATAL, waypoint PATCH: CPU fault, pc 0x00001234, "
				    "lr 0x00005679, status 0x00000082, address 0xdead0000") == NULL)
		fail_msg("\"%s\"", summary.message);
}

UNIT_SUITE(test_replay_needs)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(needs_are_the_largest_of_a_file),
		cmocka_unit_test(replay_shares_a_pool_with_a_neighbour),
		cmocka_unit_test(a_dead_card_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
