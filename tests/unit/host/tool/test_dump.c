/* SPDX-License-Identifier: MIT */
/* Saved cards: what readers find in a file is what they find on the card; no file makes a reader fail otherwise. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hal/shared.h"
#include "host/tool/crash_report.h"
#include "host/tool/dump.h"
#include "host/tool/screenshot.h"
#include "host/tool/stats.h"
#include "host/tool/top_card.h"
#include "host/tool/top_view.h"
#include "host/tool/trace_record.h"
#include "host/tool/why.h"
#include "patchbay/scanout.h"
#include "patchbay/trace.h"
#include "tests/unit/card_queues.h"

/* Files of the test: words that are changed at random, beside those of the tables. */
/* Trace records read at once. */
#define RECORDS 4096u
#ifndef CHANGES
#define CHANGES 300u
#endif

static struct card card;
static struct pb_queue waiter;
static FILE *file;
static struct pb_dump_figures figures;

/* A card with a queue that waits, and one that has run something; and what the readers look for beside. */
static int start(void **state)
{
	struct pb_descriptor work;
	struct pb_channel admin;

	(void)state;
	card_start(&card);
	work = card_nothing(&card, 1);
	card_submit(&card, 1, &work);
	(void)card_wait(&card, 1, 1);
	card_queue_make(&waiter, &card, &(struct card_queue_request){.place = 3, .level = PB_PRIORITY_HIGH});
	file = tmpfile();
	assert_non_null(file);
	card_join(&card, &admin, PB_CHANNEL_ADMIN);
	assert_true(pb_dump_write(file, card.link, &admin, &figures));
	card_leave(&admin);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	(void)fclose(file);
	assert_int_equal(card_queue_close(&waiter), PB_ERROR_OK);
	card_stop(&card);
	return 0;
}

static struct pb_dump read_back(void)
{
	struct pb_dump dump;

	assert_null(pb_dump_read(file, &dump));
	return dump;
}

static uint32_t word_at(const struct pb_dump *dump, uint32_t offset)
{
	uint32_t word;

	memcpy(&word, dump->memory + offset, sizeof(word));
	return word;
}

/* ---- equal to the card ---- */

static void a_file_has_all_of_card_memory(void **state)
{
	struct pb_dump dump = read_back();
	uint32_t end;

	(void)state;
	assert_int_equal(dump.memory_bytes, figures.memory_bytes);
	assert_int_equal(dump.memory_bytes, card.channel.card.memory_bytes);
	assert_int_equal(dump.count, figures.answers);
	/* But for what the admin's commands have changed since: its channel in front of this, the trace behind it. */
	end = word_at(&dump, offsetof(struct pb_boot_block, trace_offset));
	assert_in_range(end, 0x400000, dump.memory_bytes);
	assert_memory_equal(dump.memory + 0x20000u, card.link->memory + 0x20000u, end - 0x20000u);
	free(dump.memory);
}

static char *text_of(void (*print)(FILE *out, struct pb_link *link), struct pb_link *link)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	print(out, link);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void print_why(FILE *out, struct pb_link *link)
{
	char text[PB_WHY_BYTES];
	struct pb_channel channel;

	assert_int_equal(pb_channel_attach(&channel, link, 1000000), PB_ERROR_OK);
	for (uint32_t index = 0; index < 5; index++) {
		struct pb_why_queue queue = {.channel = 1, .handle = index};
		struct pb_queue_state queue_state;
		const enum pb_error error = pb_why_ask(&channel, &queue, &queue_state);

		if (error == PB_ERROR_OK) {
			char *json = pb_why_json(&queue, &queue_state);

			pb_why_sentence(&queue, &queue_state, text);
			fprintf(out, "%s\n%s\n", text, json);
			free(json);
		} else {
			fprintf(out, "%s\n", pb_error_name((uint32_t)error));
		}
	}
	assert_int_equal(pb_channel_detach(&channel), PB_ERROR_OK);
}

/* Queues and nodes, without the lines that show the time. */
static void print_top(FILE *out, struct pb_link *link)
{
	static struct pb_top_card top;
	static const struct pb_top_queue *list[PB_SURVEY_QUEUES];
	struct pb_top_picture picture = {.model = &top.model, .queues = list, .message = ""};

	memset(&top, 0, sizeof(top));
	top.link = link;
	pb_top_card_refresh(&top);
	while (pb_top_card_poll(&top))
		(void)link->ops->wait(link, 1000);
	for (uint32_t q = 0; q < PB_SURVEY_QUEUES; q++)
		top.survey.queues[q].rate = 0;
	top.model.now.card.heartbeat = 0;
	picture.queue_count = top.attached ? pb_survey_list(&top.survey, list) : 0;
	picture.message = top.message;
	pb_top_print(out, &picture, 0);
	if (top.attached)
		(void)pb_channel_detach(&top.channel);
}

static void answers_are_those_of_the_card(void **state)
{
	static void (*const prints[])(FILE * out, struct pb_link * link) = {print_why, print_top};
	struct pb_link *live;

	(void)state;
	assert_int_equal(pb_link_open_sim(card.sim, PB_CHANNEL_ADMIN, &live), PB_ERROR_OK);
	for (uint32_t i = 0; i < 2; i++) {
		struct pb_dump dump = read_back();
		struct pb_link *saved = pb_dump_link(&dump);
		char *expected = text_of(prints[i], live), *got = text_of(prints[i], saved);

		assert_string_equal(got, expected);
		assert_non_null(
			strstr(got, i == 0 ? "Queue 1:2 (node 0, priority HIGH) does not run" : "\n1:2 "));
		free(expected);
		free(got);
		saved->ops->close(saved);
	}
	live->ops->close(live);
}

/* ---- files that lie ---- */

/* What a command reads that takes a file: all of it, as far as it goes. */
static void read_all(struct pb_dump *dump)
{
	static struct pb_telemetry_snapshot snapshot;
	static char schema_text[PB_TRACE_SCHEMA_BYTES_MAX + 1u];
	static struct pb_trace_schema schema;
	static struct pb_trace_record records[RECORDS];
	struct pb_link link = {.memory = dump->memory, .memory_bytes = dump->memory_bytes};
	struct pb_crash_record crash;
	struct pb_card_info info;
	struct pb_scanout scanout;
	struct pb_image image;
	struct pb_trace trace;
	FILE *out = fopen("/dev/null", "w");
	char *json;

	assert_non_null(out);
	(void)pb_card_read(&link, &info);
	if (pb_telemetry_read(&link, &snapshot) == PB_ERROR_OK) {
		pb_stats_print(out, &snapshot);
		pb_stats_prometheus(out, &snapshot, PB_ERROR_OK);
		json = pb_stats_json(&snapshot, true);
		free(json);
	}
	if (pb_crash_read(&link, &crash) == PB_ERROR_OK && crash.magic != 0) {
		const struct pb_crash_view view = {.record = &crash};

		pb_crash_print(out, &view);
		assert_true(pb_crash_print_json(out, &view));
	}
	if (pb_trace_open(&trace, &link) == PB_ERROR_OK) {
		pb_trace_schema(&trace, schema_text);
		(void)pb_trace_schema_parse(schema_text, &schema);
		for (uint32_t left = pb_trace_read(&trace, records, RECORDS); left != 0 && left < 64; left--)
			pb_trace_print(out, &schema, &records[left - 1u], 0);
		/* A ring of more records than the file has memory for shows before this many have been read. */
		for (uint32_t reads = 0; reads < 300 && pb_trace_read(&trace, records, RECORDS) != 0; reads++)
			continue;
	}
	if (pb_screenshot_find(&link, 1, &scanout) && pb_screenshot_copy(&link, &scanout, &image))
		free(image.pixels);
	(void)fclose(out);
}

static void ask_all(struct pb_dump *dump)
{
	struct pb_link *link = pb_dump_link(dump);
	struct pb_why_queue queue = {.channel = 1};
	struct pb_queue_state answer;
	struct pb_channel channel;
	char text[PB_WHY_BYTES];
	char *shown;

	assert_non_null(link);
	if (pb_channel_attach(&channel, link, 1000000) == PB_ERROR_OK &&
	    pb_why_ask(&channel, &queue, &answer) == PB_ERROR_OK) {
		pb_why_sentence(&queue, &answer, text);
		free(pb_why_json(&queue, &answer));
	}
	shown = text_of(print_top, link);
	free(shown);
	/* The memory is the test's. */
	link->memory = NULL;
	link->ops->close(link);
}

static const uint32_t lies[] = {0, 1, 3, 0xffffff, 0x100000, 0x7fffffff, 0x80000000, 0xfffffffc, 0xffffffff};

/* Changes a word to everything that lies say, and lets all readers read. */
static void change(struct pb_dump *dump, uint32_t offset, bool asks)
{
	uint32_t *word = (uint32_t *)(void *)(dump->memory + offset);
	const uint32_t before = *word;

	for (uint32_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		*word = lies[i];
		read_all(dump);
		if (asks)
			ask_all(dump);
	}
	*word = before;
}

/* A crash record and a display, which the card does not have. */
static void add_records(struct pb_dump *dump)
{
	const uint32_t crash_offset = word_at(dump, offsetof(struct pb_boot_block, crash_offset));
	struct pb_crash_record *crash = (void *)(dump->memory + crash_offset);
	struct pb_scanout *scanout = (void *)(dump->memory + 0x300000u);

	assert_int_not_equal(crash_offset, 0);
	*crash = (struct pb_crash_record){.magic = PB_CRASH_MAGIC,
					  .bytes = sizeof(*crash),
					  .kind = PB_FATAL_CPU_FAULT,
					  .cpu = PB_CRASH_CPU_ARM_M,
					  .stack_bottom = 0x20000000,
					  .stack_top = 0x20001000,
					  .stack_address = 0x20000100,
					  .stack_words = PB_CRASH_STACK_WORDS,
					  .note_count = 40};
	*scanout = (struct pb_scanout){.magic = PB_SCANOUT_MAGIC,
				       .version = PB_SCANOUT_VERSION,
				       .width = 64,
				       .height = 16,
				       .pitch = 256,
				       .offset = 0x301000};
	scanout->check = pb_scanout_check(scanout);
}

/* Each word of every table that tells a reader where to read, or how much. */
static void no_word_of_a_file_misleads_a_reader(void **state)
{
	struct pb_dump dump = read_back();
	uint32_t offsets[4];

	(void)state;
	add_records(&dump);
	offsets[0] = word_at(&dump, offsetof(struct pb_boot_block, trace_offset));
	offsets[1] = word_at(&dump, offsetof(struct pb_boot_block, telemetry_offset));
	offsets[2] = word_at(&dump, offsetof(struct pb_boot_block, crash_offset));
	offsets[3] = 0x300000;
	read_all(&dump);
	for (uint32_t at = 0; at < sizeof(struct pb_boot_block); at += 4)
		change(&dump, at, at < 64);
	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t at = 0; at < 64; at += 4)
			change(&dump, offsets[i] + at, false);
	for (uint32_t at = 64; at < 128; at += 4)
		change(&dump, offsets[2] + at, false);
	free(dump.memory);
}

static uint64_t seed = 1;

static uint32_t below(uint32_t limit)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % limit;
}

/* Files that end anywhere, and whose end is another. The memory has the size of the file: a sanitizer sees what is beyond. */
static void no_length_of_a_file_misleads_a_reader(void **state)
{
	uint32_t bytes;
	uint8_t *whole;

	(void)state;
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	bytes = (uint32_t)ftell(file);
	whole = malloc(bytes);
	assert_non_null(whole);
	rewind(file);
	assert_int_equal(fread(whole, 1, bytes, file), bytes);
	for (uint32_t i = 0; i < CHANGES; i++) {
		/* Mostly short, so that it is quick; all lengths about the boot block. */
		const uint32_t length = i < 200 ? 1u + 3u * i : i % 10u == 5u ? bytes : below(0x40000);
		const uint32_t footer[4] = {PB_DUMP_MAGIC_LOW, PB_DUMP_MAGIC_HIGH,
					    length == bytes ? figures.memory_bytes
					    : below(2) != 0 ? length - 16u
							    : below(length),
					    below(4) == 0 ? 0 : lies[below(sizeof(lies) / sizeof(lies[0]))]};
		uint8_t *part = malloc(length);
		struct pb_dump dump;
		FILE *cut;

		assert_non_null(part);
		memcpy(part, whole, length);
		if (length > 16u && i % 2u != 0)
			memcpy(part + length - 16u, footer, 16);
		cut = fmemopen(part, length, "rb");
		assert_non_null(cut);
		assert_null(pb_dump_read(cut, &dump));
		assert_true(dump.memory_bytes <= length);
		read_all(&dump);
		ask_all(&dump);
		free(dump.memory);
		(void)fclose(cut);
		free(part);
	}
	free(whole);
}

static void what_is_no_saved_card_is_refused(void **state)
{
	struct pb_dump dump;
	FILE *empty = tmpfile(), *large = tmpfile();

	(void)state;
	assert_string_equal(pb_dump_read(empty, &dump), "the file is empty");
	assert_null(dump.memory);
	assert_int_equal(ftruncate(fileno(large), (off_t)1 << 32), 0);
	assert_string_equal(pb_dump_read(large, &dump), "the file is larger than any card's memory");
	assert_null(dump.memory);
	(void)fclose(empty);
	(void)fclose(large);
}

#define test(function) cmocka_unit_test_setup_teardown(function, start, stop)

UNIT_SUITE(test_dump)
{
	const struct CMUnitTest tests[] = {
		test(a_file_has_all_of_card_memory),
		test(answers_are_those_of_the_card),
		test(no_word_of_a_file_misleads_a_reader),
		test(no_length_of_a_file_misleads_a_reader),
		cmocka_unit_test(what_is_no_saved_card_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
