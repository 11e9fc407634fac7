/* SPDX-License-Identifier: MIT */
/* The reader of captured submissions: the samples, and everything that can be wrong with a file. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/tool/placement.h"
#include "host/tool/replay_oracle.h"
#include "host/tool/subm.h"
#include "tests/unit/subm_writer.h"
#include "tests/unit/unit.h"

#define MUTATIONS 5000u

/* ---- the samples ---- */

struct sample {
	const char *name;
	uint32_t chipset;
	uint32_t gen10;
	uint32_t reloc_bits;
	uint32_t submissions;
	uint64_t relocations;
	uint64_t objects;
	uint64_t contents_bytes;
};

/* Counted by a separate program when the samples were cut. */
static const struct sample samples[] = {
	{"hsw", 0x0412, 75, 32, 67, 10476, 1427, 804992}, {"snb", 0x0112, 60, 32, 56, 9252, 1257, 782840},
	{"bdw", 0x1616, 80, 64, 67, 7326, 1410, 826176},  {"hswvk", 0x0412, 75, 32, 4, 9163, 140, 1546008},
	{"nv40", 0x46, 0, 32, 40, 1481, 480, 16900},      {"nv50", 0x96, 0, 64, 20, 920, 140, 14400},
};

/* Applies the relocations to a copy and compares both CRCs with the row. */
static void check_row(const struct pb_subm_submission *submission, uint32_t reloc_bits, const char *row)
{
	uint64_t *addresses = calloc(submission->object_count, sizeof(*addresses));
	uint32_t *places = calloc((size_t)submission->contents_count + 1, sizeof(*places));
	uint8_t *bytes = malloc(submission->contents_bytes + 1);
	uint32_t next = 0;
	uint32_t before;
	char mine[64];

	assert_true(addresses != NULL && places != NULL && bytes != NULL);
	for (uint32_t i = 0; i < submission->contents_count; i++) {
		places[i] = next;
		memcpy(bytes + next, submission->contents[i].data, submission->contents[i].bytes);
		next += submission->contents[i].bytes;
	}
	assert_true(pb_placement_fixed(submission, reloc_bits, addresses));
	before = pb_oracle_crc(submission, places, bytes);
	pb_oracle_apply(submission, addresses, places, bytes);
	(void)snprintf(mine, sizeof(mine), "%" PRIu32 "\t%" PRIu32 "\t%08" PRIx32 "\t%08" PRIx32 "\n",
		       submission->index, submission->relocation_count, before,
		       pb_oracle_crc(submission, places, bytes));
	assert_string_equal(mine, row);
	free(addresses);
	free(places);
	free(bytes);
}

static void check_sample(const struct sample *sample)
{
	struct pb_subm_submission submission = {0};
	struct sample counted = {.name = sample->name};
	struct pb_subm_reader reader;
	char path[512];
	char row[128];
	FILE *expect;

	(void)snprintf(path, sizeof(path), "%s/%s.expect.tsv", PB_TEST_DATA, sample->name);
	expect = fopen(path, "r");
	assert_non_null(expect);
	assert_non_null(fgets(row, sizeof(row), expect));
	(void)snprintf(path, sizeof(path), "%s/%s.subm.zst", PB_TEST_DATA, sample->name);
	assert_true(pb_subm_open(&reader, path));
	while (pb_subm_next(&reader, &submission) == 1) {
		assert_non_null(fgets(row, sizeof(row), expect));
		check_row(&submission, reader.reloc_bits, row);
		counted.submissions++;
		counted.relocations += submission.relocation_count;
		counted.objects += submission.object_count;
		counted.contents_bytes += submission.contents_bytes;
	}
	assert_string_equal(reader.error, "");
	assert_null(fgets(row, sizeof(row), expect));
	assert_int_equal(reader.chipset, sample->chipset);
	assert_int_equal(reader.gen10, sample->gen10);
	assert_int_equal(reader.reloc_bits, sample->reloc_bits);
	assert_int_equal(counted.submissions, sample->submissions);
	assert_int_equal(counted.relocations, sample->relocations);
	assert_int_equal(counted.objects, sample->objects);
	assert_int_equal(counted.contents_bytes, sample->contents_bytes);
	pb_subm_submission_free(&submission);
	pb_subm_close(&reader);
	(void)fclose(expect);
}

static void test_samples(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		check_sample(&samples[i]);
}

/* ---- a small file, and what can be wrong with it ---- */

/* Offsets in the small file: header 32; submission 0 at 32 with 3 objects, 3 relocations and 2 contents. */
#define SUBMISSION    32u
#define OBJECT(i)     (SUBMISSION + 48u + 40u * (i))
#define RELOCATION(i) (OBJECT(3) + 40u * (i))
#define CONTENTS_0    RELOCATION(3)
#define CONTENTS_1    (CONTENTS_0 + 8u + 64u)
#define SECOND        (CONTENTS_1 + 8u + 16u)

static void write_small(struct subm_writer *writer)
{
	*writer = (struct subm_writer){0};
	subm_file_header(writer, 64, 2);
	subm_begin(writer, 3, 3, 2);
	subm_object(writer, 11, 4096, 0);
	subm_object(writer, 12, 8192, 0x10000);
	subm_object(writer, 13, 4096, 0);
	subm_relocation(writer, 0, 1, 4, 0x11, 8);
	subm_relocation(writer, 0, 0, 60, 0x22, 4);
	subm_relocation(writer, 2, 1, 8, 0xfffffff0u, 8);
	subm_contents(writer, 0, 64);
	subm_contents(writer, 2, 16);
	subm_end(writer);
	assert_int_equal(writer->used, SECOND);
	subm_begin(writer, 1, 0, 0);
	subm_object(writer, 21, 4096, 0);
	subm_end(writer);
}

/* Reads a file to its end. @return what the last pb_subm_next said; -1 also if it could not be opened */
static int read_all(const char *path, char *error, size_t bytes)
{
	struct pb_subm_submission submission = {0};
	struct pb_subm_reader reader;
	int got = -1;

	if (pb_subm_open(&reader, path)) {
		do
			got = pb_subm_next(&reader, &submission);
		while (got == 1);
		pb_subm_submission_free(&submission);
		pb_subm_close(&reader);
	}
	(void)snprintf(error, bytes, "%s", reader.error);
	return got;
}

/* Saves the first `bytes` bytes and reads them. */
static int try_file(const struct subm_writer *writer, size_t bytes, bool compressed, char *error, size_t room)
{
	char path[SUBM_PATH_BYTES];
	int got;

	subm_save(writer, bytes, compressed, path);
	got = read_all(path, error, room);
	assert_int_equal(unlink(path), 0);
	if (got < 0)
		assert_memory_equal(error, path, strlen(path)); /* the message names the file */
	return got;
}

static void test_small(void **state)
{
	struct pb_subm_submission submission = {0};
	struct pb_subm_reader reader;
	struct subm_writer writer;
	char path[SUBM_PATH_BYTES];

	(void)state;
	write_small(&writer);
	subm_save(&writer, writer.used, false, path);
	assert_true(pb_subm_open(&reader, path));
	assert_int_equal(pb_subm_next(&reader, &submission), 1);
	assert_int_equal(submission.index, 0);
	assert_int_equal(submission.object_count, 3);
	assert_int_equal(submission.objects[1].handle, 12);
	assert_int_equal(submission.objects[1].size, 8192);
	assert_int_equal(submission.objects[1].alignment, 0x10000);
	assert_int_equal(submission.objects[1].contents, PB_SUBM_NONE);
	assert_true(submission.objects[1].written);
	assert_false(submission.objects[2].written);
	assert_int_equal(submission.objects[2].contents, 1);
	assert_int_equal(submission.relocations[2].object, 2);
	assert_int_equal(submission.relocations[2].target, 1);
	assert_int_equal(submission.relocations[2].offset, 8);
	assert_int_equal(submission.relocations[2].delta, 0xfffffff0u);
	assert_int_equal(submission.relocations[2].width, 8);
	assert_int_equal(submission.relocations[2].presumed_offset, UINT64_MAX);
	assert_int_equal(submission.contents_bytes, 80);
	assert_memory_equal(submission.contents[1].data, writer.bytes + CONTENTS_1 + 8, 16);
	assert_int_equal(pb_subm_next(&reader, &submission), 1);
	assert_int_equal(submission.index, 1);
	assert_int_equal(submission.contents_bytes, 0);
	assert_int_equal(pb_subm_next(&reader, &submission), 0);
	pb_subm_submission_free(&submission);
	pb_subm_close(&reader);
	assert_int_equal(unlink(path), 0);
	subm_free(&writer);
}

struct corruption {
	size_t at;           /**< a word there ... */
	uint32_t value;      /**< ... becomes this */
	const char *message; /**< and the error has this in it */
};

static const struct corruption corruptions[] = {
	{0, 0x4d425554, "not a SUBM file"},
	{4, 0, "version 0 is unknown"},
	{4, 2, "version 2 is unknown"},
	{8, 0, "driver 0 is unknown"},
	{8, 2, "relocation 0 (object 0, target 1, offset 0x4, kind 0x8): kind is no width"},
	{8, 3, "driver 3 is unknown"},
	{20, 0, "relocations of 0 bits"},
	{20, 16, "relocations of 16 bits"},
	{20, 32, "kind is no width"},
	{24, 0, "bytes left over behind the last of 0"},
	{24, 1, "bytes left over behind the last of 1"},
	{24, 3, "submission 2: the file is cut off"},
	{24, UINT32_MAX, "submission 2: the file is cut off"},
	{SUBMISSION, 0, "submission 0: its counts need"},
	{SUBMISSION, 47, "submission 0: its counts need"},
	{SUBMISSION, SECOND - SUBMISSION - 1, "contents 1 (object 2, 16 bytes): they leave the submission"},
	{SUBMISSION, SECOND - SUBMISSION + 1, "1 bytes left over"},
	{SUBMISSION, PB_SUBM_TOTAL_BYTES_MAX, "the file is cut off"},
	{SUBMISSION, PB_SUBM_TOTAL_BYTES_MAX + 1, "this tool takes"},
	{SUBMISSION, UINT32_MAX, "this tool takes"},
	{SUBMISSION + 4, 0, "batch object 0 of 0"},
	{SUBMISSION + 4, UINT32_MAX, "its counts need"},
	{SUBMISSION + 4, 0x66666667, "its counts need"}, /* 40 times this is 24 modulo 2^32 */
	{SUBMISSION + 8, UINT32_MAX, "its counts need"},
	{SUBMISSION + 8, 0x66666667, "its counts need"},
	{SUBMISSION + 8, 2, "they leave the submission"},
	{SUBMISSION + 12, 0x20000000, "its counts need"}, /* 8 times this is 0 modulo 2^32 */
	{SUBMISSION + 12, UINT32_MAX, "its counts need"},
	{SUBMISSION + 12, 0, "bytes left over"},
	{SUBMISSION + 12, 1, "24 bytes left over"},
	{SUBMISSION + 12, 3, "contents 2 leave the submission"},
	{SUBMISSION + 16, 3, "batch object 3 of 3"},
	{SUBMISSION + 16, UINT32_MAX, "batch object 4294967295 of 3"},
	{SUBMISSION + 20, 4097, "leaves its object of 4096"},
	{SUBMISSION + 24, 4097, "leaves its object of 4096"},
	{SUBMISSION + 24, UINT32_MAX, "leaves its object of 4096"},
	{OBJECT(1) + 8, 0, "object 1 has size 0"},
	{OBJECT(1) + 16, 3, "alignment 3 is no power of two"},
	{OBJECT(1) + 20, 0x80000000, "no power of two"},
	{OBJECT(0) + 8, 63, "contents 0 (object 0, 64 bytes): they are longer than the object"},
	{RELOCATION(0), 3, "relocation 0 (object 3, target 1, offset 0x4, kind 0x8): the patched object"},
	{RELOCATION(1), UINT32_MAX, "the patched object does not exist"},
	{RELOCATION(1), 1, "the patched object has no contents"},
	{RELOCATION(1) + 4, 3, "the target object does not exist"},
	{RELOCATION(2) + 4, UINT32_MAX, "the target object does not exist"},
	{RELOCATION(0) + 8, 1, "the offset is no multiple of 4"},
	{RELOCATION(0) + 8, 60, "the offset lies outside the contents"},
	{RELOCATION(0) + 8, 64, "the offset lies outside the contents"},
	{RELOCATION(1) + 8, 64, "the offset lies outside the contents"},
	{RELOCATION(1) + 8, 0xfffffffc, "the offset lies outside the contents"},
	{RELOCATION(1) + 12, 1, "offset 0x10000003c, kind 0x4): the offset lies outside the contents"},
	{RELOCATION(1) + 12, UINT32_MAX, "the offset lies outside the contents"},
	{RELOCATION(0) + 28, 0, "kind is no width"},
	{RELOCATION(0) + 28, 2, "kind is no width"},
	{RELOCATION(0) + 28, 5, "kind is no width"},
	{RELOCATION(0) + 28, 0x104, "kind is no width"},
	{RELOCATION(0) + 28, 0x80000008, "kind is no width"},
	{CONTENTS_0, 3, "contents 0 (object 3, 64 bytes): the object does not exist"},
	{CONTENTS_0, UINT32_MAX, "the object does not exist"},
	{CONTENTS_1, 0, "contents 1 (object 0, 16 bytes): the object has contents already"},
	{CONTENTS_0 + 4, 4096, "they leave the submission"},
	{CONTENTS_0 + 4, UINT32_MAX, "they leave the submission"},
	{CONTENTS_1 + 4, 12, "submission 0: 4 bytes left over"},
	{SECOND, 87, "submission 1: its counts need 88 bytes, it has 87"},
	{SECOND + 4, 2, "submission 1: its counts need 128 bytes, it has 88"},
};

static void every_corruption_is_named(void **state)
{
	struct subm_writer writer;
	char error[400];

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(corruptions) / sizeof(corruptions[0]); i++) {
		const struct corruption *corruption = &corruptions[i / 2];

		write_small(&writer);
		subm_set32(&writer, corruption->at, corruption->value);
		assert_int_equal(try_file(&writer, writer.used, i % 2 == 1, error, sizeof(error)), -1);
		if (strstr(error, corruption->message) == NULL)
			fail_msg("word at %zu = 0x%" PRIx32 ": \"%s\" lacks \"%s\"", corruption->at,
				 corruption->value, error, corruption->message);
		subm_free(&writer);
	}
}

/* The small file as a zstd frame, byte by byte. */
static void pack_small(struct subm_writer *packed)
{
	struct subm_writer whole;
	char path[SUBM_PATH_BYTES];
	FILE *file;
	int byte;

	*packed = (struct subm_writer){0};
	write_small(&whole);
	subm_save(&whole, whole.used, true, path);
	file = fopen(path, "rb");
	assert_non_null(file);
	for (byte = fgetc(file); byte != EOF; byte = fgetc(file)) {
		subm_put32(packed, (uint32_t)byte);
		packed->used -= 3;
	}
	(void)fclose(file);
	assert_int_equal(unlink(path), 0);
	subm_free(&whole);
}

/* A file cut anywhere, and a zstd frame cut anywhere. */
static void a_file_cut_anywhere_is_refused(void **state)
{
	struct subm_writer whole;
	struct subm_writer packed;
	char error[400];

	(void)state;
	write_small(&whole);
	assert_int_equal(try_file(&whole, whole.used, false, error, sizeof(error)), 0);
	for (size_t bytes = 0; bytes < whole.used; bytes++) {
		assert_int_equal(try_file(&whole, bytes, false, error, sizeof(error)), -1);
		assert_non_null(strstr(error, "cut off"));
		assert_int_equal(try_file(&whole, bytes, true, error, sizeof(error)), -1);
		assert_non_null(strstr(error, "cut off"));
	}
	pack_small(&packed);
	assert_int_equal(try_file(&packed, packed.used, false, error, sizeof(error)), 0);
	for (size_t bytes = 0; bytes < packed.used; bytes++)
		assert_int_equal(try_file(&packed, bytes, false, error, sizeof(error)), -1);
	subm_free(&whole);
	subm_free(&packed);
}

static void test_no_files(void **state)
{
	struct subm_writer writer = {0};
	char error[400];

	(void)state;
	assert_int_equal(read_all("/nonexistent.subm", error, sizeof(error)), -1);
	assert_string_equal(error, "/nonexistent.subm: No such file or directory");
	assert_int_equal(read_all("/tmp", error, sizeof(error)), -1);
	assert_string_equal(error, "/tmp: Is a directory");
	subm_put32(&writer, 0xfd2fb528); /* zstd's magic, and nonsense behind it */
	for (uint32_t i = 0; i < 64; i++)
		subm_put32(&writer, i * 0x9e3779b9u);
	assert_int_equal(try_file(&writer, writer.used, false, error, sizeof(error)), -1);
	assert_non_null(strstr(error, "file header: "));
	subm_free(&writer);
	write_small(&writer);
	subm_put32(&writer, 0);
	assert_int_equal(try_file(&writer, writer.used - 3, false, error, sizeof(error)), -1);
	assert_non_null(strstr(error, "bytes left over behind the last of 2 submissions"));
	subm_free(&writer);
}

/* A few bits of the file change; whatever the reader hands out must stay inside its bounds. */
static uint32_t accepted_mutations(void (*write)(struct subm_writer *), uint32_t count)
{
	uint32_t random = 12345;
	uint32_t accepted = 0;
	struct subm_writer writer;
	char error[400];

	for (uint32_t i = 0; i < count; i++) {
		write(&writer);
		for (uint32_t change = 0; change <= i % 4; change++) {
			random = random * 1664525u + 1013904223u;
			writer.bytes[(random >> 8) % writer.used] ^= (uint8_t)(1u << (random >> 28) % 8);
		}
		accepted += try_file(&writer, writer.used, false, error, sizeof(error)) == 0;
		subm_free(&writer);
	}
	return accepted;
}

static void mutated_files_are_read_or_refused(void **state)
{
	(void)state;
	/* Most bits matter; those of handles, deltas and contents may be anything. */
	assert_in_range(accepted_mutations(write_small, MUTATIONS), MUTATIONS / 10, MUTATIONS * 9 / 10);
	assert_in_range(accepted_mutations(pack_small, MUTATIONS / 5), 0, MUTATIONS / 5 / 2);
}

UNIT_SUITE(test_subm)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_small),
		cmocka_unit_test(every_corruption_is_named),
		cmocka_unit_test(a_file_cut_anywhere_is_refused),
		cmocka_unit_test(test_no_files),
		cmocka_unit_test(mutated_files_are_read_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
