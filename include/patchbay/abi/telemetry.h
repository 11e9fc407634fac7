/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Counters of the firmware, for tools that watch a card: readable at any time
 * without a command, also after a crash. A boot starts them at 0.
 *
 *   pb_boot_block.telemetry_offset -> struct pb_telemetry -> struct pb_node_telemetry for each node
 */
#ifndef PB_FIRMWARE_ABI_TELEMETRY_H
#define PB_FIRMWARE_ABI_TELEMETRY_H

#include "patchbay/abi/channel.h"

/** Version of this layout. A reader accepts no other. */
#define PB_TELEMETRY_VERSION 1u

/** Slots for values of a node: more than have names now. */
#define PB_NODE_VALUES 24u
/** Slots for values of the card. */
#define PB_CARD_VALUES 5u

/*
 * X(NAME, number, kind, unit, meaning): of one node. Numbers never change: a value's number is its
 * index. Older firmware has fewer values.
 */
#define PB_NODE_TAGS(X)                                                                                      \
	X(BUSY, 0, COUNTER, MICROSECONDS, "engine time in which it ran something")                           \
	X(SUBMISSIONS, 1, COUNTER, NONE, "submissions completed, failed ones included")                      \
	X(PATCHES, 2, COUNTER, NONE, "patch locations in submissions that completed or were recalled")       \
	X(BYTES, 3, COUNTER, BYTES, "bytes that the engine was given to run in completed submissions")       \
	X(PREEMPTIONS, 4, COUNTER, NONE, "times that the engine was asked to stop")                          \
	X(FAULTS, 5, COUNTER, NONE, "submissions that faulted or hung the engine")                           \
	X(RESETS, 6, COUNTER, NONE, "resets of the engine")                                                  \
	X(IDLES, 7, COUNTER, NONE, "times that the engine ran out of submissions")                           \
	X(STARVED, 8, COUNTER, MICROSECONDS, "engine idle while a submission was being patched")             \
	X(FEED_TIME, 9, COUNTER, MICROSECONDS, "sum of the latencies in the histogram FEED")                 \
	X(FENCE_TIME, 10, COUNTER, MICROSECONDS, "sum of the latencies in the histogram FENCE")              \
	X(DEPTH, 11, GAUGE, NONE, "descriptors in its queues that have not completed")                       \
	X(IN_FLIGHT, 12, GAUGE, NONE, "submissions at the engine")                                           \
	X(QUEUES, 13, GAUGE, NONE, "queues of the node")                                                     \
	X(STATE, 14, GAUGE, NONE, "enum pb_node_state")

/** Indices of pb_node_telemetry.values. */
enum pb_node_tag {
#define PB_NODE_TAG_ENUM(name, number, kind, unit, meaning) PB_NODE_TAG_##name = (number),
	PB_NODE_TAGS(PB_NODE_TAG_ENUM)
#undef PB_NODE_TAG_ENUM
		PB_NODE_TAG_COUNT /**< how many there are */
};

/* X(NAME, number, kind, unit, meaning): of the card. The rules are those of PB_NODE_TAGS. */
#define PB_CARD_TAGS(X)                                                                                      \
	X(TICKS, 0, COUNTER, NONE, "ticks of the firmware; each one publishes one node")                     \
	X(DROPS, 1, COUNTER, NONE, "events that found their ring full")                                      \
	X(CHANNEL_FAULTS, 2, COUNTER, NONE,                                                                  \
	  "channels that faulted because a ring index moved back or beyond the ring")

/** Indices of pb_telemetry.values. */
enum pb_card_tag {
#define PB_CARD_TAG_ENUM(name, number, kind, unit, meaning) PB_CARD_TAG_##name = (number),
	PB_CARD_TAGS(PB_CARD_TAG_ENUM)
#undef PB_CARD_TAG_ENUM
		PB_CARD_TAG_COUNT /**< how many there are */
};

/*
 * X(NAME, number, meaning): histograms of a node. Each counts microseconds of the card's clock. Numbers never
 * change.
 */
#define PB_LATENCIES(X)                                                                                      \
	X(FEED, 0, "from when the firmware saw a doorbell until the first new submission was fed")           \
	X(FENCE, 1, "from when a submission that did not fail was last fed until its fence")

/** Indices of pb_node_telemetry.latencies. */
enum pb_latency {
#define PB_LATENCY_ENUM(name, number, meaning) PB_LATENCY_##name = (number),
	PB_LATENCIES(PB_LATENCY_ENUM)
#undef PB_LATENCY_ENUM
		PB_LATENCY_COUNT /**< how many there are */
};

/**
 * Buckets of a histogram. Bucket b counts latencies whose word begins with b zeros: 2^(31-b) up to 2^(32-b) - 1;
 * the last one, 0.
 */
#define PB_LATENCY_BUCKETS 33u

/** A counter, which only grows, or a gauge; written by the firmware. */
struct pb_telemetry_value {
	uint32_t low;  /**< low word */
	uint32_t high; /**< high word; of a GAUGE 0 */
};
PB_SIZE(pb_telemetry_value, 8);
PB_AT(pb_telemetry_value, low, 0);
PB_AT(pb_telemetry_value, high, 4);

/**
 * Of one node, written by the firmware. `sequence` is a seqlock of the values: odd while they change.
 * The histograms are outside it: each of their words grows by itself, modulo 2^32.
 */
struct pb_node_telemetry {
	uint32_t sequence; /**< odd while the values change */
	uint32_t reserved;
	struct pb_telemetry_value values[PB_NODE_VALUES];         /**< by enum pb_node_tag */
	uint32_t latencies[PB_LATENCY_COUNT][PB_LATENCY_BUCKETS]; /**< by enum pb_latency */
	uint32_t reserved_end[12];
};
PB_SIZE(pb_node_telemetry, 512);
PB_AT(pb_node_telemetry, sequence, 0);
PB_AT(pb_node_telemetry, reserved, 4);
PB_AT(pb_node_telemetry, values, 8);
PB_AT(pb_node_telemetry, latencies, 200);
PB_AT(pb_node_telemetry, reserved_end, 464);

/** What a channel has, and may have, written by the firmware: each tick writes one channel's. Each word stands for itself. */
struct pb_channel_account {
	uint32_t used[PB_RESOURCES_USED];  /**< by enum pb_resource: what the channel has */
	uint32_t limit[PB_RESOURCE_COUNT]; /**< by enum pb_resource: what it may have */
	uint32_t reserved;
};
PB_SIZE(pb_channel_account, 64);
PB_AT(pb_channel_account, used, 0);
PB_AT(pb_channel_account, limit, 24);
PB_AT(pb_channel_account, reserved, 60);

/**
 * Of the card, written by the firmware; `sequence` is a seqlock of the values, as in struct pb_node_telemetry.
 * Node n is at pb_boot_block.telemetry_offset + sizeof(struct pb_telemetry) + n * sizeof(struct pb_node_telemetry).
 * The accounts of the channels follow behind the last node.
 */
struct pb_telemetry {
	uint32_t version;     /**< PB_TELEMETRY_VERSION, stored last at boot; 0 while the rest is set up */
	uint32_t nodes;       /**< how many there are */
	uint32_t node_values; /**< PB_NODE_TAG_COUNT of the firmware */
	uint32_t card_values; /**< PB_CARD_TAG_COUNT of the firmware */
	uint32_t sequence;    /**< odd while the values change */
	uint32_t channels;    /**< how many struct pb_channel_account there are; 0: older firmware */
	struct pb_telemetry_value values[PB_CARD_VALUES]; /**< by enum pb_card_tag */
};
PB_SIZE(pb_telemetry, 64);
PB_AT(pb_telemetry, version, 0);
PB_AT(pb_telemetry, nodes, 4);
PB_AT(pb_telemetry, node_values, 8);
PB_AT(pb_telemetry, card_values, 12);
PB_AT(pb_telemetry, sequence, 16);
PB_AT(pb_telemetry, channels, 20);
PB_AT(pb_telemetry, values, 24);

#endif
