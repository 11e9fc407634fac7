/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Grants of host memory: which pages of the board's window on host memory
 * (hal/host_window.h) each channel may name, and by which addresses. Only the
 * admin changes them. The owner of struct pb_core_host; main loop only.
 */
#ifndef PB_FIRMWARE_MEMORY_HOST_H
#define PB_FIRMWARE_MEMORY_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/limits.h"
#include "patchbay/abi/errors.h"

struct pb_firmware;

/** Host addresses are below 2^44, so that the number of a page has 32 bits. */
#define PB_CORE_HOST_PAGES UINT64_C(0x100000000)

/**
 * A run of pages that a channel may name. pages 0: the entry is free. One channel's runs do not overlap. A page's
 * number is its address, or its offset from the start of card memory, divided by the page.
 */
struct pb_core_host_grant {
	uint32_t page;        /**< the first one, as the channel's host names it */
	uint32_t pages;       /**< how many */
	uint32_t window_page; /**< the first one, counted from the start of card memory */
};

/** The state of this module. */
struct pb_core_host {
	struct pb_core_host_grant grants[PB_LIMIT_HOST_GRANTS]; /**< of all channels, in no order */
	uint8_t channels[PB_LIMIT_HOST_GRANTS];                 /**< whose each grant is */
};

/** Checks at boot that the board's window lies behind card memory and can be addressed. */
void pb_core_host_boot(const struct pb_firmware *firmware);
/**
 * Grants a run of pages.
 * @param arguments of HOST_GRANT behind the channel: bytes, address, offset in the window
 * @return OK, UNSUPPORTED (no window), BAD_ARGUMENT, BUSY (an address is granted already) or NO_SPACE
 */
enum pb_error pb_core_host_grant(struct pb_firmware *firmware, uint32_t channel, const uint32_t *arguments);
/**
 * Ends the grants of a channel for a range of addresses.
 * @param arguments of HOST_REVOKE behind the channel: bytes, address
 * @return OK, BAD_ARGUMENT (nothing there is granted), or NO_SPACE (a grant would fall in two, and no entry is free)
 */
enum pb_error pb_core_host_revoke(struct pb_core_host *host, uint32_t channel, const uint32_t *arguments);
/** Ends all grants of a channel. */
void pb_core_host_forget(struct pb_core_host *host, uint32_t channel);
/**
 * Finds where pages lie that a channel names.
 * @param arguments bytes, address @return from the start of card memory; 0: not granted as one run
 */
uint32_t pb_core_host_find(const struct pb_core_host *host, uint32_t channel, const uint32_t *arguments);
/** Whether a range of the window is granted to a channel, as one run. @param offset from the start of card memory */
bool pb_core_host_holds(const struct pb_core_host *host, uint32_t channel, uint32_t offset, uint32_t bytes);
/** QUERY of a grant. @param index of it among the channel's @param results as PB_QUERY_HOST has them */
void pb_core_host_query(const struct pb_core_host *host, uint32_t channel, uint32_t index, uint32_t *results);

#endif
