/* SPDX-License-Identifier: MIT */
/* Captured submissions through the real firmware core, on the simulated card. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "patchbay/abi/patch.h"
#include "patchbay/link.h"
#include "qemu/mcu/layout.h"
#include "qemu/sim.h"
#include "tests/unit/replay_card.h"
#include "tests/unit/subm_writer.h"
#include "tests/unit/unit.h"

static void read_text(const char *path, char *text, size_t bytes)
{
	FILE *file = fopen(path, "r");
	size_t got;

	assert_non_null(file);
	got = fread(text, 1, bytes - 1, file);
	assert_true(got < bytes - 1);
	text[got] = '\0';
	(void)fclose(file);
}

/* ---- the samples ---- */

struct sample {
	const char *name;
	uint64_t submissions;
	uint64_t relocations;
	uint64_t bytes;
	uint64_t list_bytes[2]; /* by encoding */
};

static const struct sample samples[] = {
	{"hsw", 67, 10476, 804992, {251424, 84076}}, {"snb", 56, 9252, 782840, {222048, 74240}},
	{"bdw", 67, 7326, 826176, {175824, 58876}},  {"hswvk", 4, 9163, 1546008, {219912, 73316}},
	{"nv40", 40, 1481, 16900, {35544, 15856}},   {"nv50", 20, 920, 14400, {22080, 10080}},
};

static void replay_sample(const struct sample *sample, struct pb_replay_options *options)
{
	struct pb_replay_summary summary;
	char file[512];
	int result;

	(void)snprintf(file, sizeof(file), "%s/%s.subm.zst", PB_TEST_DATA, sample->name);
	options->file = file;
	result = replay_on_card(options, &summary);
	assert_string_equal(summary.message, "");
	assert_int_equal(result, PB_REPLAY_OK);
	assert_int_equal(summary.submissions, sample->submissions);
	assert_int_equal(summary.relocations, sample->relocations);
	assert_int_equal(summary.bytes, sample->bytes);
	assert_int_equal(summary.list_bytes, sample->list_bytes[options->encoding]);
}

/* The firmware's results have the CRCs that a separate program worked out, however the lists get there. */
static void test_samples(void **state)
{
	static char expected[65536];
	static char found[65536];
	(void)state;
	for (size_t i = 0; i < 3 * sizeof(samples) / sizeof(samples[0]); i++) {
		const struct sample *sample = &samples[i / 3];
		char out[] = "/tmp/patchbay-test-XXXXXX";
		struct pb_replay_options options = {
			.crc_out = out,
			.encoding = i % 3 == 1 ? PB_PATCH_ENCODING_COMPACT : PB_PATCH_ENCODING_WDDM,
			.wddm = i % 3 == 2,
		};
		char path[512];
		int file = mkstemp(out);

		assert_true(file >= 0);
		assert_int_equal(close(file), 0);
		replay_sample(sample, &options);
		(void)snprintf(path, sizeof(path), "%s/%s.expect.tsv", PB_TEST_DATA, sample->name);
		read_text(path, expected, sizeof(expected));
		read_text(out, found, sizeof(found));
		assert_string_equal(found, expected);
		assert_int_equal(unlink(out), 0);
	}
}

static void test_samples_at_random_places(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 3; seed++) {
		for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
			replay_sample(&samples[i], &(struct pb_replay_options){
							   .random = true, .seed = seed, .wddm = seed == 2});
	}
}

/* ---- made files ---- */

/* Saves the file, replays it under both placements, as a WDDM kernel and after moves, and removes it. */
static int replay_made(struct subm_writer *writer, struct pb_replay_summary *summary)
{
	struct pb_replay_summary again;
	char path[SUBM_PATH_BYTES];
	int result;

	subm_save(writer, writer->used, true, path);
	result = replay_on_card(&(struct pb_replay_options){.file = path}, summary);
	assert_int_equal(
		replay_on_card(&(struct pb_replay_options){.file = path, .random = true, .seed = 5}, &again),
		result);
	assert_int_equal(again.submissions, summary->submissions);
	assert_int_equal(replay_on_card(&(struct pb_replay_options){.file = path, .wddm = true}, &again),
			 result);
	assert_int_equal(again.submissions, summary->submissions);
	assert_int_equal(replay_on_card(&(struct pb_replay_options){.file = path, .presumed = true}, &again),
			 result);
	assert_int_equal(again.submissions, summary->submissions);
	assert_int_equal(unlink(path), 0);
	subm_free(writer);
	return result;
}

static void expect_right(struct subm_writer *writer, uint64_t submissions, uint64_t relocations)
{
	struct pb_replay_summary summary;
	int result = replay_made(writer, &summary);

	assert_string_equal(summary.message, "");
	assert_int_equal(result, PB_REPLAY_OK);
	assert_int_equal(summary.submissions, submissions);
	assert_int_equal(summary.relocations, relocations);
}

static void expect_refused(struct subm_writer *writer, uint64_t submissions, const char *message)
{
	struct pb_replay_summary summary;

	assert_int_equal(replay_made(writer, &summary), PB_REPLAY_REFUSED);
	assert_int_equal(summary.submissions, submissions);
	if (strstr(summary.message, message) == NULL)
		fail_msg("\"%s\" lacks \"%s\"", summary.message, message);
}

/* Objects that are their own targets, as gen 4 and 5 have them. */
static void objects_may_be_their_own_targets(void **state)
{
	struct subm_writer writer = {0};

	(void)state;
	subm_file_header(&writer, 32, 1);
	subm_begin(&writer, 2, 3, 2);
	subm_object(&writer, 1, 4096, 0);
	subm_object(&writer, 2, 8192, 0x20000);
	subm_relocation(&writer, 0, 0, 0, 0x101, 4);
	subm_relocation(&writer, 1, 1, 4092, 0x7c0, 4);
	subm_relocation(&writer, 1, 0, 8, 0, 4);
	subm_contents(&writer, 0, 64);
	subm_contents(&writer, 1, 4096);
	subm_end(&writer);
	expect_right(&writer, 1, 3);
}

/* Deltas beyond the target, negative ones, both widths in one file, and pairs that overlap. */
static void deltas_may_leave_the_target(void **state)
{
	static const uint32_t deltas[] = {0,          1,          0xfff,      0x1000,     0x1001,
					  0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff, 0xdeadbeef};
	const uint32_t count = sizeof(deltas) / sizeof(deltas[0]);

	(void)state;
	for (uint32_t bits = 32; bits <= 64; bits += 32) {
		struct subm_writer writer = {0};

		subm_file_header(&writer, bits, 1);
		subm_begin(&writer, 2, 2 * count + 4, 1);
		subm_object(&writer, 1, 4096, 0);
		subm_object(&writer, 2, 4096, 0);
		for (uint32_t i = 0; i < count; i++)
			subm_relocation(&writer, 0, 1, 4 + 12 * i, deltas[i], bits / 8);
		for (uint32_t i = 0; i < count; i++)
			subm_relocation(&writer, 0, 1, 12 + 12 * i, deltas[i], 4);
		subm_relocation(&writer, 0, 1, 400, 0x11, bits / 8);
		subm_relocation(&writer, 0, 0, 404, 0x22, 4);
		/* Of the other object first. */
		subm_relocation(&writer, 0, 0, 420, 0x33, bits / 8);
		subm_relocation(&writer, 0, 1, 420 + bits / 8 - 4, 0x44, 4);
		subm_contents(&writer, 0, 512);
		subm_end(&writer);
		expect_right(&writer, 1, 2 * count + 4);
	}
}

/* No relocations; contents of no bytes; no contents at all; no submissions. */
static void empty_files_and_contents_are_right(void **state)
{
	struct subm_writer writer = {0};

	(void)state;
	subm_file_header(&writer, 64, 3);
	subm_begin(&writer, 1, 0, 1);
	subm_object(&writer, 1, 4096, 0);
	subm_contents(&writer, 0, 6);
	subm_end(&writer);
	subm_begin(&writer, 1, 0, 1);
	subm_object(&writer, 1, 4096, 0);
	subm_contents(&writer, 0, 0);
	subm_end(&writer);
	subm_begin(&writer, 1, 0, 0);
	subm_object(&writer, 1, 4096, 0);
	subm_end(&writer);
	expect_right(&writer, 3, 0);
	subm_file_header(&writer, 32, 0);
	expect_right(&writer, 0, 0);
}

/* As large as the largest captures may be, several in a row. */
static void the_largest_captures_are_right(void **state)
{
	struct subm_writer writer = {0};

	(void)state;
	subm_file_header(&writer, 64, 4);
	subm_large(&writer, 1024, 40000, 640000);
	subm_large(&writer, 1024, 1024, 8u << 20);
	subm_large(&writer, 3, 40000, 8u << 20);
	subm_large(&writer, 1, 1, 16);
	expect_right(&writer, 4, 40000 + 1024 + 40000 + 1);
}

/* One right submission, then one that is too much; the limit is named. */
static void a_submission_that_is_too_large_is_named(void **state)
{
	static const struct {
		uint32_t objects;
		uint32_t relocations;
		uint32_t bytes;
		const char *message;
	} cases[] = {
		{1025, 1, 64, "submission 1: 1025 objects; this board's limit is ALLOCATIONS_MAX = 1024"},
		{2, 65537, 1u << 20, "65537 relocations; this board's limit is PATCHES_MAX = 65536"},
		{1, 1, 16u << 20, "this board's limit is BUFFER_BYTES_MAX = 12419072"},
		{1, 1, 12419072, "12419120 bytes of buffer and lists; this board's limit is POOL_BYTES"},
		{1, 1, 12419072 - 64, "12419056 bytes of card memory"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct subm_writer writer = {0};

		subm_file_header(&writer, 64, 2);
		subm_large(&writer, 2, 4, 256);
		subm_large(&writer, cases[i].objects, cases[i].relocations, cases[i].bytes);
		expect_refused(&writer, 1, cases[i].message);
	}
}

/* Relocations of as many formats as asked for, in one submission after one that needs none. */
static void write_formats(struct subm_writer *writer, uint32_t formats)
{
	subm_file_header(writer, 64, 2);
	subm_nouveau(writer);
	subm_begin(writer, 1, 1, 1);
	subm_object(writer, 1, 4096, 0);
	subm_relocation(writer, 0, 0, 4, 0x100, 0x104);
	subm_contents(writer, 0, 64);
	subm_end(writer);
	subm_begin(writer, 1, formats, 1);
	subm_object(writer, 1, 4096, 0);
	for (uint32_t i = 0; i < formats; i++) {
		subm_relocation(writer, 0, 0, 4 * i, 0x100, 0x504);
		subm_bits(writer, 0, i + 1);
	}
	subm_contents(writer, 0, 128);
	subm_end(writer);
}

static void test_own_formats(void **state)
{
	struct subm_writer writer = {0};

	(void)state;
	write_formats(&writer, 16);
	expect_right(&writer, 2, 17);
	write_formats(&writer, 17);
	expect_refused(&writer, 1,
		       "submission 1: too many patch formats are needed; this board's limit is "
		       "FORMATS_OWN = 16");
}

static void bad_files_are_refused(void **state)
{
	struct pb_replay_summary summary;
	struct subm_writer writer = {0};

	(void)state;
	subm_file_header(&writer, 64, 2);
	subm_large(&writer, 2, 4, 256);
	/* Before the first one is replayed. */
	expect_refused(&writer, 0, "submission 1: the file is cut off");
	subm_file_header(&writer, 32, 0);
	subm_set32(&writer, 8, 3);
	expect_refused(&writer, 0, "driver 3 is unknown");
	assert_int_equal(replay_on_card(&(struct pb_replay_options){.file = "/nonexistent"}, &summary),
			 PB_REPLAY_REFUSED);
	assert_string_equal(summary.message, "/nonexistent: No such file or directory");
}

static void test_bad_output(void **state)
{
	char file[512];
	struct pb_replay_options options = {.file = file, .crc_out = "/nonexistent/crc.tsv"};
	struct pb_replay_summary summary;

	(void)state;
	(void)snprintf(file, sizeof(file), "%s/hswvk.subm.zst", PB_TEST_DATA);
	assert_int_equal(replay_on_card(&options, &summary), PB_REPLAY_REFUSED);
	assert_string_equal(summary.message, "/nonexistent/crc.tsv: No such file or directory");
	options.crc_out = "/dev/full";
	assert_int_equal(replay_on_card(&options, &summary), PB_REPLAY_REFUSED);
	assert_string_equal(summary.message, "/dev/full: No space left on device");
}

/* ---- a card that does not do what it should ---- */

/*
 * Where things lie in the pool for the first submission: behind the queue, a
 * DMA buffer of 256 bytes, two allocations, the patch list.
 */
#define BUFFER      0x1000u
#define ALLOCATIONS (BUFFER + 256u)
#define PATCHES     (ALLOCATIONS + 48u)

static void change_word(uint8_t *at, uint32_t from, uint32_t to)
{
	if (memcmp(at, &from, sizeof(from)) == 0)
		memcpy(at, &to, sizeof(to));
}

static void spoil_format(uint8_t *pool)
{
	change_word(pool + PATCHES + 24 + 8, PB_PATCH_FORMAT_SUM64_SIGNED, PB_PATCH_FORMAT_COUNT);
}

static void spoil_allocation(uint8_t *pool)
{
	change_word(pool + ALLOCATIONS + 24 + 16, 3u << 1 | PB_ALLOCATION_WRITE, 2u << 1);
}

static void spoil_address(uint8_t *pool)
{
	change_word(pool + ALLOCATIONS + 24, 0x04000000, 0x04001000);
}

static void spoil_contents(uint8_t *pool)
{
	pool[BUFFER + 100] = 0;
}

/* The second entry of the compact list, which is the short one that patches 68. */
static void spoil_word(uint8_t *pool)
{
	change_word(pool + PATCHES + 12, 17u << 10 | 1u, 17u << 10 | 1023u);
}

/* A command to set a format, in the control ring: its places would be multiples of 3. */
static void spoil_command(uint8_t *pool)
{
	static const uint32_t wanted[] = {PB_FORMAT_OWN, 4u << 24 | PB_FORMAT_NONE << 8 | PB_FORMAT_CONSTANT};

	for (uint8_t *at = pool - PB_CARD_POOL_OFFSET; at + sizeof(wanted) <= pool; at += 4) {
		if (memcmp(at, wanted, sizeof(wanted)) == 0)
			at[7] = 3;
	}
}

/* As a WDDM kernel: lists of four packets, each three allocations and five locations; the DMA buffer lies as above. */
#define LISTS        4u
#define LIST_BYTES   (3u * 24u + 5u * 24u)
#define LIST_PATCHES (3u * 24u)

static void spoil_kernel_format(uint8_t *pool)
{
	for (uint32_t i = 0; i < LISTS; i++)
		change_word(pool + i * LIST_BYTES + LIST_PATCHES + 24 + 8, PB_PATCH_FORMAT_SUM64_SIGNED,
			    PB_PATCH_FORMAT_COUNT);
}

/* Where the submission ran first, its objects lay elsewhere. */
static void spoil_kernel_address(uint8_t *pool)
{
	for (uint32_t i = 0; i < LISTS; i++)
		change_word(pool + i * LIST_BYTES + 24, 0x04000000, 0x04001000);
}

static int replay_spoiled(struct subm_writer *writer, bool wddm, enum pb_patch_encoding encoding,
			  void (*spoil)(uint8_t *pool), struct pb_replay_summary *summary)
{
	char path[SUBM_PATH_BYTES];
	int result;

	subm_save(writer, writer->used, true, path);
	replay_sabotage = spoil;
	result = replay_on_card(&(struct pb_replay_options){.file = path, .encoding = encoding, .wddm = wddm},
				summary);
	replay_sabotage = NULL;
	assert_int_equal(unlink(path), 0);
	subm_free(writer);
	return result;
}

static void test_wrong_card(void **state)
{
	static const struct {
		void (*sabotage)(uint8_t *pool);
		enum pb_patch_encoding encoding;
		const char *message;
		bool wddm;
	} cases[] = {
		{spoil_format, PB_PATCH_ENCODING_WDDM,
		 "submission 0: refused by the firmware: relocation 1: PATCH_FORMAT (", false},
		{spoil_allocation, PB_PATCH_ENCODING_WDDM,
		 "submission 0: refused by the firmware: object 1: ALLOCATION_SEGMENT (", false},
		{spoil_address, PB_PATCH_ENCODING_WDDM,
		 "submission 0: relocation 1 (object 0, offset 0x44, target 1 at 0x104000000, delta "
		 "0x1): expected 0x104000001, found 0x104001001",
		 false},
		{spoil_contents, PB_PATCH_ENCODING_WDDM, "submission 0: byte 0x64 of the DMA buffer changed",
		 false},
		{spoil_word, PB_PATCH_ENCODING_COMPACT,
		 "submission 0: refused by the firmware: relocation 1: PATCH_INDEX (", false},
		{spoil_kernel_format, PB_PATCH_ENCODING_WDDM,
		 "submission 0: refused by the firmware: relocation 1: PATCH_FORMAT (", true},
		{spoil_kernel_address, PB_PATCH_ENCODING_WDDM,
		 "submission 0: relocation 1 (object 0, offset 0x44, target 1 at 0x104000000, delta "
		 "0x1): expected 0x104000001, found 0x104001001",
		 true},
		{spoil_contents, PB_PATCH_ENCODING_WDDM, "submission 0: byte 0x64 of the DMA buffer changed",
		 true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pb_replay_summary summary;
		struct subm_writer writer = {0};

		subm_file_header(&writer, 64, 2);
		subm_large(&writer, 2, 4, 256);
		subm_large(&writer, 2, 4, 256);
		assert_int_equal(replay_spoiled(&writer, cases[i].wddm, cases[i].encoding, cases[i].sabotage,
						&summary),
				 PB_REPLAY_FAILED);
		assert_int_equal(summary.submissions, 0);
		if (strstr(summary.message, cases[i].message) == NULL)
			fail_msg("\"%s\" lacks \"%s\"", summary.message, cases[i].message);
	}
}

static void test_wrong_format(void **state)
{
	struct pb_replay_summary summary;
	struct subm_writer writer = {0};

	(void)state;
	subm_file_header(&writer, 64, 1);
	subm_nouveau(&writer);
	subm_begin(&writer, 1, 1, 1);
	subm_object(&writer, 1, 4096, 0);
	subm_relocation(&writer, 0, 0, 4, 0x100, 4);
	subm_contents(&writer, 0, 64);
	subm_end(&writer);
	assert_int_equal(replay_spoiled(&writer, false, PB_PATCH_ENCODING_WDDM, spoil_command, &summary),
			 PB_REPLAY_FAILED);
	if (strstr(summary.message,
		   "submission 0: the firmware refused patch format 128: ALIGN (not 1, 4 or 8)") == NULL)
		fail_msg("\"%s\"", summary.message);
}

UNIT_SUITE(test_replay_sim)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_samples_at_random_places),
		cmocka_unit_test(objects_may_be_their_own_targets),
		cmocka_unit_test(deltas_may_leave_the_target),
		cmocka_unit_test(empty_files_and_contents_are_right),
		cmocka_unit_test(the_largest_captures_are_right),
		cmocka_unit_test(a_submission_that_is_too_large_is_named),
		cmocka_unit_test(test_own_formats),
		cmocka_unit_test(bad_files_are_refused),
		cmocka_unit_test(test_bad_output),
		cmocka_unit_test(test_wrong_card),
		cmocka_unit_test(test_wrong_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
