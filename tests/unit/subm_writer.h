/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Writes SUBM files for tests, right or wrong ones. tests/data/README.txt has
 * the format.
 */
#ifndef PB_TESTS_UNIT_SUBM_WRITER_H
#define PB_TESTS_UNIT_SUBM_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A file in the making. Zero it first. */
struct subm_writer {
	uint8_t *bytes;
	size_t used;
	size_t room;
	size_t submission; /**< where the one in the making starts */
};

/** For a path; see subm_save. */
#define SUBM_PATH_BYTES 64u

void subm_put32(struct subm_writer *writer, uint32_t value);
/** Overwrites a word that was written. */
void subm_set32(struct subm_writer *writer, size_t at, uint32_t value);
void subm_file_header(struct subm_writer *writer, uint32_t reloc_bits, uint32_t count);
/** The batch object is object 0, all of it. */
void subm_begin(struct subm_writer *writer, uint32_t objects, uint32_t relocations, uint32_t contents);
void subm_object(struct subm_writer *writer, uint32_t handle, uint64_t size, uint64_t alignment);
void subm_relocation(struct subm_writer *writer, uint32_t object, uint32_t target, uint64_t offset,
		     uint32_t delta, uint32_t width);
/** Makes the file one of nouveau; its header is written. */
void subm_nouveau(struct subm_writer *writer);
/** The bits of the relocation just written: for a target in video memory, and for one in GART. */
void subm_bits(struct subm_writer *writer, uint32_t vram, uint32_t gart);
/** Contents whose bytes differ from place to place. */
void subm_contents(struct subm_writer *writer, uint32_t object, uint32_t bytes);
/** Fills in the total. */
void subm_end(struct subm_writer *writer);
/** A whole submission: relocations into the contents of one object, `bytes` long; every object is a target. */
void subm_large(struct subm_writer *writer, uint32_t objects, uint32_t relocations, uint32_t bytes);
/** Saves the first `bytes` bytes under a new name, compressed or not. Asserts that it works. */
void subm_save(const struct subm_writer *writer, size_t bytes, bool compressed, char *path);
void subm_free(struct subm_writer *writer);

#endif
