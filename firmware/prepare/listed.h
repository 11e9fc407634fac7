/* SPDX-License-Identifier: MIT */
/**
 * @file
 * An entry of an allocation list, read into private memory. For the two loops of prepare/resolve.h; no state.
 */
#ifndef PB_FIRMWARE_PREPARE_LISTED_H
#define PB_FIRMWARE_PREPARE_LISTED_H

#include "firmware/compiler.h"
#include "hal/shared_burst.h"
#include "patchbay/abi/patch.h"

/** One allocation-list entry, each word of it read once. */
struct pb_core_listed {
	uint32_t address_low;
	uint32_t address_high;
	uint32_t size_low;
	uint32_t size_high;
	uint32_t flags;
	uint32_t id;
};

/** Reads one allocation, each word of it once. @return the address of the next one */
static PB_CORE_INLINE const uint32_t *pb_core_read_listed(const uint32_t *words,
							  struct pb_core_listed *listed)
{
	uint32_t six[sizeof(struct pb_allocation) / sizeof(uint32_t)];

	words = pb_shared_read_six(words, six);
	*listed = (struct pb_core_listed){
		.address_low = six[0],
		.address_high = six[1],
		.size_low = six[2],
		.size_high = six[3],
		.flags = six[4],
		.id = six[5],
	};
	return words;
}

#endif
