/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Expected result of relocating a submission, computed from the captured
 * relocations alone, independent of the firmware and of patch lists.
 */
#ifndef PB_HOST_TOOL_REPLAY_ORACLE_H
#define PB_HOST_TOOL_REPLAY_ORACLE_H

#include <stdint.h>

#include "host/tool/subm.h"

/**
 * Applies all relocations, in list order.
 * @param addresses of the objects
 * @param offsets offset of each contents in `bytes`
 * @param bytes the contents; changed
 */
void pb_oracle_apply(const struct pb_subm_submission *submission, const uint64_t *addresses,
		     const uint32_t *offsets, uint8_t *bytes);

/** Returns the CRC-32 (zlib) of all contents in file order. */
uint32_t pb_oracle_crc(const struct pb_subm_submission *submission, const uint32_t *offsets,
		       const uint8_t *bytes);

#endif
