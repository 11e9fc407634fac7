/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Allocation and patch lists out of the bytes of a case, carried out by the
 * firmware and by the oracle of patch_oracle.h: both must come to the same
 * bytes and the same error.
 */
#ifndef PB_TESTS_FUZZ_LISTS_H
#define PB_TESTS_FUZZ_LISTS_H

#include "tests/fuzz/card.h"

#define FUZZ_ALLOCATION_MAX 64u
#define FUZZ_PATCH_MAX      128u
#define FUZZ_WORD_MAX       (FUZZ_PATCH_MAX * PB_COMPACT_ESCAPE_WORDS)

struct fuzz_lists {
	struct oracle_list list;
	struct oracle_formats own;
	struct pb_allocation allocations[FUZZ_ALLOCATION_MAX];
	struct pb_presumed presumed[FUZZ_ALLOCATION_MAX];
	struct pb_patch_location patches[FUZZ_PATCH_MAX];
	uint32_t words[FUZZ_WORD_MAX];
	uint32_t cookie; /**< of the submission; 0: none */
};

/** No entries, no formats, all of the buffer. */
void fuzz_lists_init(struct fuzz_lists *lists);
/** An allocation that resolves; the others of a list are for the target of descriptors. */
void fuzz_lists_allocations(struct fuzz_input *input, struct fuzz_lists *lists, uint32_t count);
/** What the list presumes of its allocations: each where it is, or almost there. Only of lists that are not compact. */
void fuzz_lists_presume(struct fuzz_input *input, struct fuzz_lists *lists);
/** FORMAT_SET of a format that is good, or bad in any way: the firmware must say what the oracle says. */
void fuzz_lists_format(struct fuzz_input *input, struct fuzz_lists *lists);
/** Some of the buffer: where the range to patch begins and ends. */
void fuzz_lists_range(struct fuzz_input *input, struct fuzz_lists *lists);
/** Which part of `count` entries or words is submitted, by a byte of the case: as a rule all. */
void fuzz_lists_part(struct fuzz_lists *lists, uint32_t kind, uint32_t count);
/** An entry, which most often names what exists. */
struct pb_patch_location fuzz_lists_patch(struct fuzz_input *input, const struct fuzz_lists *lists);

/** The page before the buffer, the buffer and the page behind it get bytes that look like nothing else. */
void fuzz_lists_fill(void);
/** Has the card carry the lists out on those pages as they are. @return what came of it, which is what had to */
struct oracle_result fuzz_lists_check(const struct fuzz_lists *lists);

#endif
