/* SPDX-License-Identifier: MIT */
/*
 * SUBM files: what the reader hands out keeps every promise of its header,
 * whatever the file says; else it refuses the file and says why.
 *
 * Aims at: host/tool/subm.c host/tool/subm_source.c
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/tool/subm.h"
#include "tests/fuzz/fuzz.h"

#define FILE_BYTES_MAX 16384u
#define OBJECTS_MAX    8u

static uint8_t file[FILE_BYTES_MAX];
static size_t bytes;

static void put32(uint32_t value)
{
	for (uint32_t i = 0; i < 4 && bytes < sizeof(file); i++)
		file[bytes++] = (uint8_t)(value >> 8u * i);
}

static void put64(uint64_t value)
{
	put32((uint32_t)value);
	put32((uint32_t)(value >> 32));
}

/** A number that is right, or one time in many any other. */
static uint32_t nearly(struct fuzz_input *input, uint32_t right)
{
	return fuzz_byte(input) < 0xf8 ? right : fuzz_number(input);
}

static void put_object(struct fuzz_input *input)
{
	put32(fuzz_byte(input));
	put32(fuzz_number(input));
	put64(nearly(input, 64));
	put64(nearly(input, fuzz_below(input, 2) * 4096u));
	put64((uint64_t)fuzz_number(input) << 12);
	put64((uint64_t)fuzz_number(input) << 32 | fuzz_number(input));
}

static void put_relocation(struct fuzz_input *input, uint32_t objects)
{
	static const uint32_t kinds[] = {4, 8, 0x104, 0x204, 0x404, 0x304, 0x504, 0x604};

	put32(nearly(input, fuzz_below(input, objects + (objects == 0))));
	put32(nearly(input, fuzz_below(input, objects + (objects == 0))));
	put64(nearly(input, 4u * fuzz_below(input, 16)));
	put32(fuzz_number(input));
	put32(fuzz_byte(input));
	put32(fuzz_byte(input) % 2u);
	put32(nearly(input, kinds[fuzz_below(input, 8)]));
	put64(fuzz_number(input));
}

static void put_submission(struct fuzz_input *input)
{
	const uint32_t objects = fuzz_below(input, OBJECTS_MAX);
	const uint32_t relocations = fuzz_below(input, 6);
	const uint32_t contents = fuzz_below(input, objects + 1u);
	const size_t begin = bytes;
	size_t end;

	put32(0);
	put32(nearly(input, objects));
	put32(nearly(input, relocations));
	put32(nearly(input, contents));
	put32(nearly(input, 0));
	put32(nearly(input, 0));
	put32(nearly(input, 64));
	for (uint32_t i = 0; i < 5; i++)
		put32(fuzz_byte(input));
	for (uint32_t i = 0; i < objects; i++)
		put_object(input);
	for (uint32_t i = 0; i < relocations; i++)
		put_relocation(input, objects);
	for (uint32_t i = 0; i < contents; i++) {
		const uint32_t length = nearly(input, 4u * fuzz_below(input, 17));

		put32(nearly(input, i));
		put32(length);
		for (uint32_t word = 0; word < length / 4u && word < 16; word++)
			put32(word);
	}
	end = bytes;
	bytes = begin;
	put32(nearly(input, (uint32_t)(end - begin)));
	bytes = end;
}

static void make_file(struct fuzz_input *input)
{
	const uint32_t kind = fuzz_byte(input);
	uint32_t count;

	bytes = 0;
	if (kind < 0x20) {
		bytes = input->left < sizeof(file) ? input->left : sizeof(file);
		fuzz_bytes(input, file, bytes);
		return;
	}
	count = kind % 4u;
	memcpy(file, "SUBM", 4);
	bytes = 4;
	put32(nearly(input, 1));
	put32(nearly(input, kind / 4u % 2u + 1u));
	put32(0x1234);
	put32(60);
	put32(nearly(input, kind / 8u % 2u * 32u + 32u));
	put32(nearly(input, count));
	put32(0);
	for (; count != 0; count--)
		put_submission(input);
	if (fuzz_byte(input) >= 0xf0)
		bytes = fuzz_word(input) % (bytes + 1u);
}

static void check_relocation(const struct pb_subm_submission *submission,
			     const struct pb_subm_relocation *relocation)
{
	uint32_t contents;

	FUZZ_CHECK(relocation->object < submission->object_count &&
		   relocation->target < submission->object_count);
	FUZZ_CHECK(relocation->offset % 4u == 0 && (relocation->width == 4u || relocation->width == 8u));
	contents = submission->objects[relocation->object].contents;
	FUZZ_CHECK(contents < submission->contents_count);
	FUZZ_CHECK(relocation->offset + relocation->width <= submission->contents[contents].bytes);
	FUZZ_CHECK(submission->driver == PB_SUBM_NOUVEAU || relocation->flags == 0);
}

static void check_submission(const struct pb_subm_submission *submission)
{
	uint64_t sum = 0;

	FUZZ_CHECK(submission->object_count != 0 &&
		   submission->batch_object_index < submission->object_count);
	for (uint32_t i = 0; i < submission->object_count; i++) {
		const struct pb_subm_object *object = &submission->objects[i];

		FUZZ_CHECK(object->size != 0 && (object->alignment & (object->alignment - 1u)) == 0);
		FUZZ_CHECK(object->contents == PB_SUBM_NONE ||
			   submission->contents[object->contents].object == i);
	}
	FUZZ_CHECK((uint64_t)submission->batch_start + submission->batch_length <=
		   submission->objects[submission->batch_object_index].size);
	for (uint32_t i = 0; i < submission->contents_count; i++) {
		const struct pb_subm_contents *contents = &submission->contents[i];

		FUZZ_CHECK(contents->bytes <= submission->objects[contents->object].size);
		FUZZ_CHECK(contents->data >= submission->raw &&
			   contents->data + contents->bytes <= submission->raw + submission->raw_bytes);
		sum += contents->bytes;
	}
	FUZZ_CHECK(sum == submission->contents_bytes);
	for (uint32_t i = 0; i < submission->relocation_count; i++)
		check_relocation(submission, &submission->relocations[i]);
}

/** A path to the bytes, in memory. */
static const char *path_of(void)
{
	static char path[64];
	static int descriptor = -1;

	if (descriptor < 0) {
		descriptor = memfd_create("subm", MFD_CLOEXEC);
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
	}
	FUZZ_CHECK(ftruncate(descriptor, 0) == 0);
	FUZZ_CHECK(pwrite(descriptor, file, bytes, 0) == (ssize_t)bytes);
	return path;
}

void fuzz_one(struct fuzz_input *input)
{
	struct pb_subm_submission submission = {0};
	struct pb_subm_reader reader;
	uint32_t read = 0;
	int result;

	make_file(input);
	if (!pb_subm_open(&reader, path_of())) {
		FUZZ_CHECK(strlen(reader.error) != 0);
		return;
	}
	while ((result = pb_subm_next(&reader, &submission)) == 1) {
		check_submission(&submission);
		read++;
	}
	FUZZ_CHECK(result == 0 ? read == reader.count : strlen(reader.error) != 0);
	pb_subm_submission_free(&submission);
	pb_subm_close(&reader);
}
