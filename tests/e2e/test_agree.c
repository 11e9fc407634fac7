/* SPDX-License-Identifier: MIT */
/*
 * The board of the tests against the default one, on equal inputs: fences, events, every patched byte and
 * every picture agree. Random lists are compared with the oracle as well.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_board.h"
#include "tests/unit/patch_random.h"

#define BOARDS     2u
#define FIRST_SEED 20240301u
/** Random lists; most have up to 160 entries, the others up to 40,000. */
#define LISTS 500u
/** A list continues after so many bad entries. */
#define FAULTS_MAX 4u
#define FRAMES     5u

static const char *boards[BOARDS];

/* ---- random lists ---- */

static void start_card(struct card *card, struct e2e_card *process, const char *board)
{
	struct pb_card_options options = e2e_card_options_of(board);
	struct pb_link *link;

	e2e_path(process->socket, board);
	options.socket = process->socket;
	options.restarts = 0;
	options.quiet = true;
	assert_int_equal(pb_card_start(&options, &process->pid), 0);
	assert_int_equal(pb_link_open_socket(process->socket, &link), PB_ERROR_OK);
	oracle_start_on(card, link);
}

/* All that the firmware has written for the host of this one queue: rings, records and patched pages. */
static void compare(const struct card cards[BOARDS], const char *row, uint32_t buffer_bytes)
{
	const struct pb_channel *channels[BOARDS] = {&cards[0].channel, &cards[1].channel};
	const struct pb_queue_page *pages[BOARDS];

	for (uint32_t b = 0; b < BOARDS; b++)
		pages[b] = (const void *)cards[b].queues[0].memory.bytes_host;
	card_equal(row, memcmp(&pages[0]->fence, &pages[1]->fence, sizeof(pages[0]->fence)), 0);
	card_equal(row, channels[1]->event_offset, channels[0]->event_offset);
	card_equal(row, channels[1]->event_get, channels[0]->event_get);
	card_equal(row,
		   memcmp(cards[0].link->memory + channels[0]->event_offset,
			  cards[1].link->memory + channels[1]->event_offset,
			  channels[0]->event_entries * sizeof(struct pb_event)),
		   0);
	card_equal(
		row,
		memcmp(oracle_pages(&cards[0]), oracle_pages(&cards[1]), buffer_bytes + 2u * CARD_DMA_STRIDE),
		0);
}

static void run_list(struct card cards[BOARDS], struct random_world *world, const char *row,
		     uint32_t errors[PB_ERROR_PATCH_ENCODING + 1u])
{
	struct oracle_list *list = &world->list;

	random_start(world);
	for (uint32_t parts = 0; parts < FAULTS_MAX; parts++) {
		struct oracle_result result;

		random_length(world);
		for (uint32_t b = 0; b < BOARDS; b++)
			result = oracle_check(&cards[b], row, list, world->seed);
		compare(cards, row, list->buffer_bytes);
		errors[result.error]++;
		list->patch_start = result.next;
		if (list->patch_start == list->patch_count)
			break;
	}
}

/* The random lists must contain both good ones and many kinds of failure. */
static void expect_variety(const uint32_t errors[PB_ERROR_PATCH_ENCODING + 1u])
{
	assert_true(errors[PB_ERROR_OK] >= 10);
	for (uint32_t error = PB_ERROR_PATCH_RESERVED; error <= PB_ERROR_PATCH_ENCODING; error++)
		card_equal(pb_error_name(error), errors[error] >= 5, true);
}

static void random_lists_agree(void **state)
{
	static struct random_world world;
	static uint32_t errors[PB_ERROR_PATCH_ENCODING + 1u];
	struct e2e_card processes[BOARDS];
	struct card cards[BOARDS];
	char row[32];

	(void)state;
	for (uint32_t b = 0; b < BOARDS; b++)
		start_card(&cards[b], &processes[b], boards[b]);
	for (uint32_t seed = FIRST_SEED; seed < FIRST_SEED + LISTS; seed++) {
		snprintf(row, sizeof(row), "seed %u", seed);
		random_list(&world, seed);
		for (uint32_t b = 0; b < BOARDS; b++) {
			struct oracle_formats set = {0};

			for (uint32_t i = 0; i < RANDOM_FORMATS; i++)
				oracle_own(&cards[b], &set, PB_FORMAT_OWN + i, &world.own.format[i]);
		}
		run_list(cards, &world, row, errors);
	}
	for (uint32_t b = 0; b < BOARDS; b++) {
		card_stop(&cards[b]);
		e2e_card_stop(&processes[b]);
	}
	expect_variety(errors);
}

/* ---- the command ---- */

static void compare_files(const char *const folders[BOARDS], const char *name)
{
	char path[3 * E2E_PATH_BYTES];
	uint8_t *bytes[BOARDS];
	size_t sizes[BOARDS];

	for (uint32_t b = 0; b < BOARDS; b++) {
		snprintf(path, sizeof(path), "%s%s", folders[b], name);
		bytes[b] = e2e_read_file(path, &sizes[b]);
	}
	assert_true(sizes[0] > 100);
	assert_int_equal(sizes[1], sizes[0]);
	assert_memory_equal(bytes[1], bytes[0], sizes[0]);
	for (uint32_t b = 0; b < BOARDS; b++)
		free(bytes[b]);
}

static void pictures_agree(void **state)
{
	static struct e2e_output outputs[BOARDS];
	char folders[BOARDS][E2E_PATH_BYTES], name[32];

	(void)state;
	for (uint32_t b = 0; b < BOARDS; b++) {
		e2e_path(folders[b], boards[b]);
		e2e_patchbay(&outputs[b], "demo", "--board", boards[b], "--frames", "5", "--output",
			     folders[b]);
		assert_string_equal(outputs[b].err, "");
		assert_int_equal(outputs[b].code, 0);
	}
	assert_string_equal(e2e_last_line(outputs[1].out), e2e_last_line(outputs[0].out));
	for (uint32_t frame = 0; frame < FRAMES; frame++) {
		snprintf(name, sizeof(name), "/frame-%04u.png", frame);
		compare_files((const char *const[]){folders[0], folders[1]}, name);
	}
}

/* The CRCs of all contents before and after each submission, wherever the objects lie. */
static void check_replay(const char *file, const char *option, const char *value)
{
	static struct e2e_output output;
	char found[BOARDS][E2E_PATH_BYTES];

	for (uint32_t b = 0; b < BOARDS; b++) {
		e2e_path(found[b], boards[b]);
		e2e_patchbay(&output, "replay", file, "--board", boards[b], "--crc-out", found[b], option,
			     value);
		assert_string_equal(output.err, "");
		assert_int_equal(output.code, 0);
	}
	compare_files((const char *const[]){found[0], found[1]}, "");
}

static void replayed_contents_agree(void **state)
{
	static const char *const files[] = {E2E_DATA "/snb.subm.zst",  E2E_DATA "/hsw.subm.zst",
					    E2E_DATA "/bdw.subm.zst",  E2E_DATA "/hswvk.subm.zst",
					    E2E_DATA "/nv40.subm.zst", E2E_DATA "/nv50.subm.zst"};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		check_replay(files[i], "--seed", "11");
		check_replay(files[i], "--encoding", "compact");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(random_lists_agree),
		e2e_test(pictures_agree),
		e2e_test(replayed_contents_agree),
	};

	boards[0] = PB_CARD_OPTIONS_DEFAULT.board;
	boards[1] = e2e_board();
	return e2e_run_tests(tests);
}
