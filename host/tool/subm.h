/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Reader of SUBM files: captured GPU submissions with their relocation lists.
 * tests/data/README.txt describes the format. Files are not trusted: all values
 * are checked as the comments here describe.
 */
#ifndef PB_HOST_TOOL_SUBM_H
#define PB_HOST_TOOL_SUBM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/tool/subm_source.h"

/** Largest submission accepted, in bytes: bounds the memory. */
#define PB_SUBM_TOTAL_BYTES_MAX (64u << 20)
/** `contents` of an object that has none. */
#define PB_SUBM_NONE 0xffffffffu

/** Driver whose submissions a file holds. */
enum pb_subm_driver {
	PB_SUBM_I915 = 1,
	PB_SUBM_NOUVEAU = 2,
};

/* Relocation.flags of nouveau: the value stored. 0: the delta alone. */
#define PB_SUBM_LOW  0x1u /**< the low word of address + delta */
#define PB_SUBM_HIGH 0x2u /**< the high word of address + delta; LOW has precedence */
#define PB_SUBM_OR   0x4u /**< OR the bits for the target's memory */

/** A buffer object that the submission refers to. */
struct pb_subm_object {
	uint32_t handle;
	uint32_t flags;           /**< EXEC_OBJECT_*, or nouveau's domains */
	uint64_t size;            /**< bytes, not 0 */
	uint64_t alignment;       /**< 0 or a power of two; 0 in all files of nouveau */
	uint64_t presumed_offset; /**< address that the driver presumed */
	uint64_t placed;          /**< address at capture; 0: none */
	uint32_t contents;        /**< index of its contents, or PB_SUBM_NONE */
	bool written;             /**< by its flags, or by the write domain of a relocation that names it */
	bool gart;                /**< nouveau: the object was in GART memory, not in video memory */
};

/** One relocation. Its target words lie in the contents of its object and are 4-byte aligned. */
struct pb_subm_relocation {
	uint32_t object; /**< index of the patched object; it has contents */
	uint32_t target; /**< index of the object whose address goes there */
	uint64_t offset; /**< bytes from the start of the patched object */
	uint32_t delta;
	uint32_t read_domains; /**< nouveau: bits to set if the target is in video memory */
	uint32_t write_domain; /**< nouveau: bits to set if it is in GART */
	uint32_t width;        /**< bytes: 4, or 8 in an i915 file of 64-bit relocations */
	uint32_t flags;        /**< PB_SUBM_*; 0 for i915 */
	uint64_t presumed_offset;
};

/** Memory of one object, from its start; no longer than the object. */
struct pb_subm_contents {
	uint32_t object;
	uint32_t bytes;
	const uint8_t *data; /**< inside the submission */
};

/** One submission. Zero it before the first use; it may be reused for the next one. */
struct pb_subm_submission {
	enum pb_subm_driver driver; /**< of the file */
	uint32_t index;             /**< position in the file, from 0 */
	uint32_t object_count;      /**< not 0 */
	uint32_t relocation_count;
	uint32_t contents_count;
	uint32_t batch_object_index; /**< below object_count */
	uint32_t batch_start;        /**< start + length lies inside the object */
	uint32_t batch_length;       /**< 0: to the end of the object */
	uint32_t context;
	uint64_t exec_flags;
	uint32_t sequence;
	uint32_t source;
	uint64_t contents_bytes; /**< all contents together */
	struct pb_subm_object *objects;
	struct pb_subm_relocation *relocations;
	struct pb_subm_contents *contents; /**< at most one for each object */

	uint8_t *raw; /**< the reader's: bytes behind the submission header */
	size_t raw_bytes;
};

/** An open file. */
struct pb_subm_reader {
	struct pb_subm_source *source;
	const char *path; /**< the caller's string */
	enum pb_subm_driver driver;
	uint32_t chipset;    /**< PCI device id; nouveau: its chipset id */
	uint32_t gen10;      /**< 10 x generation; nouveau: 0 */
	uint32_t reloc_bits; /**< 32 or 64: width of addresses */
	uint32_t count;      /**< submissions in the file */
	uint32_t next;       /**< submissions read */
	char error[320];     /**< after a failure: file, submission, and what is wrong */
};

/** Opens a file. @param reader out @return false: see reader->error; the reader is closed */
bool pb_subm_open(struct pb_subm_reader *reader, const char *path);
/**
 * Reads the next submission.
 * @retval 1 `submission` was read
 * @retval 0 the file has no more submissions, and ends there
 * @retval -1 see reader->error; the reader can only be closed
 */
int pb_subm_next(struct pb_subm_reader *reader, struct pb_subm_submission *submission);
/** Closes the file. */
void pb_subm_close(struct pb_subm_reader *reader);
/** Frees what the reader allocated for a submission. */
void pb_subm_submission_free(struct pb_subm_submission *submission);

#endif
