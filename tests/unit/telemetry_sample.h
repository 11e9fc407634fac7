/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Card memory of firmware that has counted: what a reader of counters needs, and nothing else.
 */
#ifndef PB_TESTS_UNIT_TELEMETRY_SAMPLE_H
#define PB_TESTS_UNIT_TELEMETRY_SAMPLE_H

#include "patchbay/abi/boot.h"
#include "patchbay/abi/telemetry.h"

#define SAMPLE_BYTES       0x4000u
#define SAMPLE_DIRECTORY   0x1000u
#define SAMPLE_TELEMETRY   0x2000u
#define SAMPLE_NODES       2u
#define SAMPLE_CHANNELS    3u
#define SAMPLE_INCARNATION 3u

/** Writes all of it: each value another one, most above 2^32. @param memory SAMPLE_BYTES */
void sample_write(uint8_t *memory);
struct pb_boot_block *sample_boot(uint8_t *memory);
struct pb_telemetry *sample_card(uint8_t *memory);
struct pb_node_telemetry *sample_node(uint8_t *memory, uint32_t node);

/** What it says: of a node, of the card, and how often a latency of that bucket came. */
uint64_t sample_node_value(uint32_t node, uint32_t tag);
uint64_t sample_card_value(uint32_t tag);
uint32_t sample_latency(uint32_t node, uint32_t latency, uint32_t bucket);

#endif
