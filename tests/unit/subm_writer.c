/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/unit/subm_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "tests/unit/unit.h"

static uint8_t *grow(struct subm_writer *writer, size_t bytes)
{
	uint8_t *here;

	if (writer->used + bytes > writer->room) {
		writer->room = (writer->used + bytes) * 2;
		writer->bytes = realloc(writer->bytes, writer->room);
		assert_non_null(writer->bytes);
	}
	here = writer->bytes + writer->used;
	writer->used += bytes;
	return here;
}

void subm_put32(struct subm_writer *writer, uint32_t value)
{
	(void)grow(writer, 4);
	subm_set32(writer, writer->used - 4, value);
}

static void put64(struct subm_writer *writer, uint64_t value)
{
	subm_put32(writer, (uint32_t)value);
	subm_put32(writer, (uint32_t)(value >> 32));
}

void subm_set32(struct subm_writer *writer, size_t at, uint32_t value)
{
	for (size_t b = 0; b < 4; b++)
		writer->bytes[at + b] = (uint8_t)(value >> (8 * b));
}

void subm_file_header(struct subm_writer *writer, uint32_t reloc_bits, uint32_t count)
{
	memcpy(grow(writer, 4), "SUBM", 4);
	subm_put32(writer, 1);
	subm_put32(writer, 1);
	subm_put32(writer, 0x29a2);
	subm_put32(writer, reloc_bits == 64 ? 80 : 40);
	subm_put32(writer, reloc_bits);
	subm_put32(writer, count);
	subm_put32(writer, 0);
}

void subm_begin(struct subm_writer *writer, uint32_t objects, uint32_t relocations, uint32_t contents)
{
	writer->submission = writer->used;
	subm_put32(writer, 0);
	subm_put32(writer, objects);
	subm_put32(writer, relocations);
	subm_put32(writer, contents);
	for (uint32_t i = 0; i < 8; i++)
		subm_put32(writer, 0);
}

void subm_object(struct subm_writer *writer, uint32_t handle, uint64_t size, uint64_t alignment)
{
	subm_put32(writer, handle);
	subm_put32(writer, 0);
	put64(writer, size);
	put64(writer, alignment);
	put64(writer, 0);
	put64(writer, 0);
}

void subm_relocation(struct subm_writer *writer, uint32_t object, uint32_t target, uint64_t offset,
		     uint32_t delta, uint32_t width)
{
	subm_put32(writer, object);
	subm_put32(writer, target);
	put64(writer, offset);
	subm_put32(writer, delta);
	subm_put32(writer, 0);
	subm_put32(writer, target % 2);
	subm_put32(writer, width);
	put64(writer, UINT64_MAX);
}

void subm_nouveau(struct subm_writer *writer)
{
	subm_set32(writer, 8, 2);
}

void subm_bits(struct subm_writer *writer, uint32_t vram, uint32_t gart)
{
	subm_set32(writer, writer->used - 20, vram);
	subm_set32(writer, writer->used - 16, gart);
}

void subm_contents(struct subm_writer *writer, uint32_t object, uint32_t bytes)
{
	uint8_t *data;

	subm_put32(writer, object);
	subm_put32(writer, bytes);
	data = grow(writer, bytes);
	for (uint32_t i = 0; i < bytes; i++)
		data[i] = (uint8_t)(i * 7u + (i >> 8) * 13u + object + 1u);
}

void subm_end(struct subm_writer *writer)
{
	subm_set32(writer, writer->submission, (uint32_t)(writer->used - writer->submission));
}

void subm_large(struct subm_writer *writer, uint32_t objects, uint32_t relocations, uint32_t bytes)
{
	subm_begin(writer, objects, relocations, 1);
	for (uint32_t i = 0; i < objects; i++)
		subm_object(writer, i + 1, i == 0 ? 64u << 20 : 4096, 0);
	for (uint32_t i = 0; i < relocations; i++)
		subm_relocation(writer, 0, i % objects, (uint64_t)i * (bytes / relocations / 8 * 8) + 4, i,
				8);
	subm_contents(writer, 0, bytes);
	subm_end(writer);
}

void subm_save(const struct subm_writer *writer, size_t bytes, bool compressed, char *path)
{
	size_t room = ZSTD_compressBound(bytes);
	void *packed = malloc(room);
	const void *from = writer->bytes;
	int file;

	assert_non_null(packed);
	if (compressed) {
		bytes = ZSTD_compress(packed, room, writer->bytes, bytes, 1);
		assert_false(ZSTD_isError(bytes));
		from = packed;
	}
	(void)snprintf(path, SUBM_PATH_BYTES, "/tmp/patchbay-test-XXXXXX");
	file = mkstemp(path);
	assert_true(file >= 0);
	assert_true(write(file, from, bytes) == (ssize_t)bytes);
	assert_int_equal(close(file), 0);
	free(packed);
}

void subm_free(struct subm_writer *writer)
{
	free(writer->bytes);
	*writer = (struct subm_writer){0};
}
