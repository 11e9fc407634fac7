/* SPDX-License-Identifier: MIT */
/* The picture of `patchbay top`, in windows of all sizes, read back from a terminal without a screen. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/tool/top_view.h"
#include "tests/unit/unit.h"

#define COLUMNS_MAX 200
#define QUEUES      30u

static SCREEN *screen;
static struct pb_top_model model;
static struct pb_top_queue queues[QUEUES];
static const struct pb_top_queue *list[QUEUES];
static struct pb_top_picture picture;
static WINDOW *window;

static int open_terminal(void **state)
{
	FILE *nowhere = fopen("/dev/null", "r+");

	(void)state;
	assert_non_null(nowhere);
	assert_int_equal(setenv("TERM", "vt100", 1), 0);
	screen = newterm("vt100", nowhere, nowhere);
	return screen != NULL ? 0 : -1;
}

static int close_terminal(void **state)
{
	(void)state;
	(void)endwin();
	delscreen(screen);
	return 0;
}

static int start(void **state)
{
	static const struct pb_top_latency some = {true, 63, 4194303};

	(void)state;
	model = (struct pb_top_model){
		.now = {.card = {.build = "sample",
				 .boot_stage = PB_BOOT_STAGE_RUNNING,
				 .incarnation = 4,
				 .mcu_state = PB_MCU_RUNNING,
				 .mcu_deaths = 3},
			.node_count = 2,
			.node_values = PB_NODE_TAG_COUNT,
			.card_values = PB_CARD_TAG_COUNT},
		.beating = true,
		.beats = 417.4,
	};
	model.now.values[PB_CARD_TAG_DROPS] = 17;
	model.now.nodes[1].values[PB_NODE_TAG_STATE] = PB_NODE_STATE_RESETTING;
	model.now.nodes[1].values[PB_NODE_TAG_DEPTH] = 4321;
	model.now.nodes[1].values[PB_NODE_TAG_FAULTS] = 9;
	model.nodes[0].busy = (double)NAN;
	for (uint32_t tag = 0; tag < PB_NODE_TAG_COUNT; tag++)
		model.nodes[0].rates[tag] = (double)NAN;
	model.nodes[1].busy = 0.734;
	model.nodes[1].rates[PB_NODE_TAG_SUBMISSIONS] = 0.5;
	model.nodes[1].rates[PB_NODE_TAG_PATCHES] = 123456;
	model.nodes[1].rates[PB_NODE_TAG_BYTES] = 1536;
	model.nodes[1].latencies[PB_LATENCY_FEED] = some;
	for (uint32_t i = 0; i < QUEUES; i++) {
		queues[i] = (struct pb_top_queue){.channel = 2,
						  .index = 100 + i,
						  .node = i % 2u,
						  .priority = PB_PRIORITY_HIGH,
						  .why = PB_WHY_RUNNING,
						  .pending = i,
						  .completed = 7000 + i,
						  .rate = i};
		list[i] = &queues[i];
	}
	picture = (struct pb_top_picture){
		.model = &model, .uptime = 61000000, .queues = list, .queue_count = QUEUES, .message = ""};
	window = NULL;
	return 0;
}

static int stop(void **state)
{
	(void)state;
	if (window != NULL)
		(void)delwin(window);
	return 0;
}

static uint32_t draw(int rows, int columns)
{
	if (window != NULL)
		(void)delwin(window);
	window = newwin(rows, columns, 0, 0);
	assert_non_null(window);
	return pb_top_draw(window, &picture);
}

/** A line without the spaces at its end. */
static const char *line(int row)
{
	static char text[COLUMNS_MAX + 1];
	size_t length;

	assert_true(mvwinnstr(window, row, 0, text, COLUMNS_MAX) != ERR);
	for (length = strlen(text); length != 0 && text[length - 1u] == ' '; length--)
		;
	text[length] = '\0';
	return text;
}

static void all_of_it(void **state)
{
	(void)state;
	assert_int_equal(draw(16, 130), 0);
	assert_string_equal(line(0), "patchbay top: sample");
	assert_string_equal(line(1), "firmware RUNNING, incarnation 4, up 1.02m, heart beating (417/s)");
	assert_string_equal(line(2), "MCU running, died 3 times; events dropped: 17, channels faulted: 0");
	assert_string_equal(line(3), "");
	assert_string_equal(line(4),
			    "NODE STATE      BUSY  SUBM/S PATCH/S BYTES/S DEPTH FEED50 FEED99 FENCE50 "
			    "FENCE99 FLIGHT QUEUES STOP/S FAULTS RESETS");
	assert_string_equal(line(5),
			    "   0 RUNNING       -       -       -       -     0      -      -       - "
			    "      -      0      0      -      0      0");
	assert_string_equal(line(6),
			    "   1 RESETTING   73%     0.5    123k  1.50Ki  4321   63us  4.19s       - "
			    "      -      0      0      0      9      0");
	assert_string_equal(line(7), "");
	assert_string_equal(line(8), "QUEUE   NODE PRIORITY STATE          PENDING  COMPLETED DONE/S REMARK");
	assert_string_equal(line(9), "2:100      0 HIGH     RUNNING              0       7000      0");
	assert_string_equal(line(14), "2:105      1 HIGH     RUNNING              5       7005      5");
	assert_string_equal(line(15), "q quit  p pause  arrows scroll   queues 1-6 of 30");
}

static void what_is_remarkable(void **state)
{
	(void)state;
	queues[0].why = PB_WHY_WAITING;
	queues[0].waits_for_queue = 0x00030007;
	queues[0].waits_for_value = UINT64_MAX;
	queues[0].rate = (double)NAN;
	queues[1].failed = true;
	queues[2].why = 99;
	model.beating = false;
	model.beats = 0;
	picture.message = "The firmware makes no progress";
	picture.paused = true;
	draw(20, 130);
	assert_string_equal(line(0), "patchbay top: sample   (paused)");
	assert_string_equal(line(1), "firmware RUNNING, incarnation 4, up 1.02m, heart STOPPED (0/s)");
	assert_string_equal(line(3), "The firmware makes no progress");
	assert_string_equal(line(9), "2:100      0 HIGH     WAITING              0       7000      - 2:7 >= "
				     "18446744073709551615");
	assert_string_equal(line(10),
			    "2:101      1 HIGH     RUNNING              1       7001      1 failed");
	assert_string_equal(line(11), "2:102      0 HIGH     ?                    2       7002      2");
	assert_string_equal(line(19), "q quit  p resume  arrows scroll   queues 1-10 of 30");
}

static void older_firmware(void **state)
{
	(void)state;
	model.now.node_values = PB_NODE_TAG_PATCHES;
	model.now.card_values = 0;
	draw(16, 130);
	assert_string_equal(line(2), "MCU running, died 3 times");
	assert_string_equal(line(6),
			    "   1 -           73%     0.5       -       -     -   63us  4.19s       - "
			    "      -      -      -      -      -      -");
	model.now.node_count = 0;
	picture.queue_count = 0;
	draw(16, 130);
	assert_string_equal(line(5), "");
	assert_string_equal(line(7), "");
	assert_string_equal(line(15), "q quit  p pause  arrows scroll   queues 0-0 of 0");
}

/* What has no room is left out whole, and the rest is there: no number loses a digit. */
static void the_usual_terminal_has_room(void **state)
{
	static const struct {
		int columns;
		const char *head, *node, *value;
	} rows[] = {
		{80, "NODE STATE      BUSY  SUBM/S PATCH/S DEPTH FEED99 FENCE99 FLIGHT QUEUES FAULTS",
		 "   1 RESETTING   73%     0.5    123k  4321  4.19s       -      0      0      9", "123M"},
		{85, "NODE STATE      BUSY  SUBM/S PATCH/S DEPTH FEED99 FENCE99 FLIGHT QUEUES FAULTS RESETS",
		 "   1 RESETTING   73%     0.5    123k  4321  4.19s       -      0      0      9      0",
		 "123456789"},
	};
	char queue[100];

	(void)state;
	queues[0] = (struct pb_top_queue){.channel = 31,
					  .index = 4095,
					  .node = 7,
					  .priority = PB_PRIORITY_REALTIME,
					  .why = PB_WHY_WAITING,
					  .waits_for_queue = 0x00011000,
					  .waits_for_value = 123456789,
					  .pending = 256,
					  .completed = UINT32_MAX,
					  .rate = 99999.4};
	picture.message =
		"No counters: this firmware does not do that; its capability table says what it does";
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const int more = rows[i].columns < 84 ? 1 : 0;

		draw(16, rows[i].columns);
		assert_string_equal(line(5 + more - 1), rows[i].head);
		assert_string_equal(line(6 + more), rows[i].node);
		(void)snprintf(queue, sizeof(queue), "%s%s",
			       "31:4095    7 REALTIME WAITING            256 4294967295  99999 31:4096 >= ",
			       rows[i].value);
		assert_string_equal(line(9 + more), queue);
	}
	draw(16, 80);
	assert_string_equal(line(3),
			    "No counters: this firmware does not do that; its capability table says what it");
	assert_string_equal(line(4), "does");
}

static void scrolling(void **state)
{
	static const struct {
		uint32_t scroll, expected;
		const char *first;
	} rows[] = {{0, 0, "2:100 "},
		    {1, 1, "2:101 "},
		    {24, 24, "2:124 "},
		    {25, 24, "2:124 "},
		    {UINT32_MAX, 24, "2:124 "}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		picture.scroll = rows[i].scroll;
		assert_int_equal(draw(16, 80), rows[i].expected);
		assert_memory_equal(line(9), rows[i].first, 6);
	}
	assert_string_equal(line(15), "q quit  p pause  arrows scroll   queues 25-30 of 30");
}

static void any_size_will_do(void **state)
{
	(void)state;
	picture.message = "something is wrong";
	for (int rows = 1; rows < 24; rows++)
		for (int columns = 1; columns < 140; columns += columns < 6 ? 1 : 13) {
			(void)draw(rows, columns);
			/* The keys are on the last line, always. */
			assert_memory_equal(line(rows - 1), "q quit  p pause", columns < 7 ? 1 : 7);
		}
	(void)draw(3, 20);
	assert_string_equal(line(0), "patchbay top: sample");
	assert_string_equal(line(1), "firmware RUNNING, in");
}

static void what_was_is_dim(void **state)
{
	(void)state;
	draw(16, 80);
	assert_int_equal(mvwinch(window, 9, 0) & (A_DIM | A_REVERSE), 0);
	picture.old = true;
	draw(16, 80);
	for (int row = 0; row < 16; row++)
		assert_true((mvwinch(window, row, 0) & A_DIM) != 0);
}

/* A picture with less in it leaves nothing of the one before. */
static void nothing_is_left_over(void **state)
{
	(void)state;
	picture.message = "something is wrong";
	draw(20, 100);
	picture.message = "";
	picture.queue_count = 0;
	(void)pb_top_draw(window, &picture);
	for (int row = 9; row < 19; row++)
		assert_string_equal(line(row), "");
	assert_string_equal(line(3), "");
}

/* Prints the picture. @return the length of its longest line */
static size_t print(uint32_t width, char *text, size_t bytes)
{
	FILE *file = fmemopen(text, bytes, "w");
	size_t longest = 0;

	pb_top_print(file, &picture, width);
	assert_int_equal(fclose(file), 0);
	for (const char *from = text; *from != '\0'; from += strcspn(from, "\n") + 1u)
		longest = strcspn(from, "\n") > longest ? strcspn(from, "\n") : longest;
	return longest;
}

static void one_reading_fits_a_terminal(void **state)
{
	static char text[8192];

	(void)state;
	picture.message = "something is wrong, and what that is takes so many words that they do not fit one "
			  "line of it";
	assert_true(print(80, text, sizeof(text)) <= 80);
	assert_non_null(strstr(text, "SUBM/S"));
	assert_null(strstr(text, "BYTES/S"));
	assert_non_null(strstr(text, "of it\n"));
	assert_true(print(1, text, sizeof(text)) <= 1);
	/* A file has all columns. */
	assert_true(print(0, text, sizeof(text)) > 80);
	assert_non_null(strstr(text, "BYTES/S"));
}

#define test(function) cmocka_unit_test_setup_teardown(function, start, stop)

UNIT_SUITE(test_top_view)
{
	const struct CMUnitTest tests[] = {
		test(all_of_it),       test(what_is_remarkable),          test(older_firmware),
		test(scrolling),       test(the_usual_terminal_has_room), test(any_size_will_do),
		test(what_was_is_dim), test(nothing_is_left_over),        test(one_reading_fits_a_terminal),
	};

	return cmocka_run_group_tests(tests, open_terminal, close_terminal);
}
