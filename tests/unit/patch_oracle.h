/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a patch list must do, written from the documents with wide arithmetic
 * and byte stores, and a check of the simulated card against it.
 */
#ifndef PB_TESTS_UNIT_PATCH_ORACLE_H
#define PB_TESTS_UNIT_PATCH_ORACLE_H

#include "tests/unit/card_fixture.h"

/** Buffer that the oracle submits: the middle one of three pages that are compared. */
#define ORACLE_BUFFER_BYTES CARD_DMA_STRIDE

/** One submission for patching. Everything is read before the card runs. */
struct oracle_list {
	const struct pb_allocation *allocations;
	const struct pb_patch_location *patches;
	uint32_t allocation_count;
	uint32_t patch_count;
	uint32_t patch_start;
	uint32_t patch_length;
	uint32_t dma_start;
	uint32_t dma_end;
};

/** Bit of a patch error in a set of them. */
#define ORACLE_ERROR(error) (1u << ((uint32_t)(error)-PB_ERROR_PATCH_RESERVED))

/** An allocation entry. */
struct pb_allocation oracle_allocation(uint64_t os_address, uint64_t size, uint32_t flags);
/** Every rule that the entry breaks. 0: it is good. */
uint32_t oracle_errors(const struct oracle_list *list, const struct pb_patch_location *patch);
/**
 * Carries the list out, up to the first bad entry, in `buffer` of ORACLE_BUFFER_BYTES.
 * @param errors set to the rules which that entry breaks, 0 if there is none
 * @return entries carried out
 */
uint32_t oracle_run(const struct oracle_list *list, uint8_t *buffer, uint32_t *errors);
/**
 * Fills the pages with bytes made from `seed`, lets the card patch them without
 * running them, and compares memory, fence record and events with the oracle.
 * @return the submission's status
 */
enum pb_error oracle_check(struct card *card, const char *row, const struct oracle_list *list, uint32_t seed);

/** A generator of numbers for tests: the same ones every time. */
uint32_t oracle_random(uint32_t *seed);

#endif
