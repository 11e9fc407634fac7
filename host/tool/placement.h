/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Addresses of the objects of a captured submission.
 */
#ifndef PB_HOST_TOOL_PLACEMENT_H
#define PB_HOST_TOOL_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "host/tool/subm.h"

/** All addresses are below this. */
#define PB_PLACEMENT_TOP (UINT64_C(1) << 40)

/**
 * Places objects as the .expect.tsv files assume: in order from 0x00100000 (32-bit files) or 0x100000000 (64-bit
 * files), each rounded up to max(4096, alignment), the next one from address + size.
 * @param addresses out: one for each object
 * @return false: they do not fit below PB_PLACEMENT_TOP
 */
bool pb_placement_fixed(const struct pb_subm_submission *submission, uint32_t reloc_bits,
			uint64_t *addresses);

/**
 * Places objects at random without overlaps, in random order, aligned to max(4096, alignment); below 4 GiB in 32-bit
 * files.
 * @param random state of the generator: any value at first; advances
 * @param order room for one number for each object; overwritten
 * @param addresses out: one for each object
 * @return false: they do not fit
 */
bool pb_placement_random(const struct pb_subm_submission *submission, uint32_t reloc_bits, uint64_t *random,
			 uint32_t *order, uint64_t *addresses);

#endif
