/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a relocated submission must look like, worked out from the captured
 * relocations alone: shares nothing with the firmware or its patch lists.
 */
#ifndef PB_HOST_TOOL_REPLAY_ORACLE_H
#define PB_HOST_TOOL_REPLAY_ORACLE_H

#include <stdint.h>

#include "host/tool/subm.h"

/**
 * Applies all relocations, in list order.
 * @param addresses of the objects
 * @param bytes the contents, one behind the other as `places` says, changed
 * @param places for each contents where it starts in `bytes`
 */
void pb_oracle_apply(const struct pb_subm_submission *submission, const uint64_t *addresses,
		     const uint32_t *places, uint8_t *bytes);

/** CRC-32 (zlib) over all contents in file order. */
uint32_t pb_oracle_crc(const struct pb_subm_submission *submission, const uint32_t *places,
		       const uint8_t *bytes);

#endif
