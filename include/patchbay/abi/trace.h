/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The trace: what the firmware did, in a ring of fixed-size records in card
 * memory. It is always on, overwrites its oldest records, and can be read at
 * any time without a command, also after a boot that failed and after a crash.
 *
 *   pb_boot_block.trace_offset -> struct pb_trace_ring -> records, schema
 */
#ifndef PB_FIRMWARE_ABI_TRACE_H
#define PB_FIRMWARE_ABI_TRACE_H

#include "patchbay/abi/base.h"

/** "PTRC", little-endian. */
#define PB_TRACE_MAGIC 0x43525450u
/** Version of the ring and of the schema. A reader accepts no later one. 1: clocks are the card's, in microseconds. */
#define PB_TRACE_VERSION 2u

/* X(NAME, number, meaning): each category has a level of its own. */
#define PB_TRACE_CATEGORIES(X)                                                                               \
	X(LIFE, 0, "boot, death, channels, the host's clock")                                                \
	X(PACKET, 1, "the path of a submission")                                                             \
	X(SCHEDULE, 2, "timeslices, and recalled submissions")                                               \
	X(NODE, 3, "engines that stop, fault, hang, are reset")                                              \
	X(CONTROL, 4, "commands")                                                                            \
	X(LINE, 5, "doorbells, interrupts, sleep")

/** Categories of events. */
enum pb_trace_category {
#define PB_TRACE_CATEGORY_ENUM(name, number, meaning) PB_TRACE_CATEGORY_##name = (number),
	PB_TRACE_CATEGORIES(PB_TRACE_CATEGORY_ENUM)
#undef PB_TRACE_CATEGORY_ENUM
		PB_TRACE_CATEGORY_COUNT /**< number of categories */
};

/** Levels of a category: 0 nothing, 1 what a timeline needs, 2 each step, 3 all. */
#define PB_TRACE_LEVEL_MAX 3u
/** Levels of all categories in a word, four bits each, category 0 lowest: nothing. */
#define PB_TRACE_LEVELS_NONE 0u
/** What a timeline needs: the levels at boot. */
#define PB_TRACE_LEVELS_DEFAULT 0x111111u
/** Everything. */
#define PB_TRACE_LEVELS_ALL 0x333333u

/*
 * X(NAME, number, category, level, arguments). Numbers are never used twice.
 * An argument is its name, a colon, and how it is written: u unsigned, x hexadecimal, e enum pb_error,
 * s enum pb_boot_stage, c enum pb_command_code, d PB_TRACE_DONE, f PB_FLAG, o PB_TRACE_OF. "-": it has none.
 */
#define PB_TRACE_EVENTS(X)                                                                                   \
	X(BOOT, 1, LIFE, 1, "stage:s incarnation:u")                                                         \
	X(TIME, 2, LIFE, 1, "ns_low:u ns_high:u")                                                            \
	X(CHANNEL, 3, LIFE, 1, "channel:u state:u")                                                          \
	X(QUEUE, 4, LIFE, 1, "channel:u node:u")                                                             \
	X(HANDLE, 5, LIFE, 1, "handle:x of:o")                                                               \
	X(FREE, 6, LIFE, 1, "handle:x of:o")                                                                 \
	X(LEVELS, 7, LIFE, 1, "levels:x before:x")                                                           \
	X(CLOCK, 8, LIFE, 1, "card:u -")                                                                     \
	X(SUBMIT, 16, PACKET, 2, "put:u completed:u")                                                        \
	X(REFUSE, 17, PACKET, 1, "fence:x error:e")                                                          \
	X(PATCH, 18, PACKET, 1, "fence:x patches:u")                                                         \
	X(PATCHED, 19, PACKET, 1, "fence:x error:e")                                                         \
	X(FEED, 20, PACKET, 1, "fence:x context:u")                                                          \
	X(COMPLETE, 21, PACKET, 1, "fence:x done:d")                                                         \
	X(RETURN, 22, PACKET, 1, "count:u completed:u")                                                      \
	X(KIND, 23, PACKET, 1, "fence:x flags:f")                                                            \
	X(STOP, 32, SCHEDULE, 1, "kind:u cutoff:u")                                                          \
	X(RESUME, 33, SCHEDULE, 1, "- -")                                                                    \
	X(WAIT, 34, SCHEDULE, 1, "for:u value:u")                                                            \
	X(WAKE, 35, SCHEDULE, 1, "for:u -")                                                                  \
	X(NODE, 48, NODE, 1, "state:u event:u")                                                              \
	X(BLAME, 49, NODE, 1, "fence:x error:e")                                                             \
	X(COMMAND, 64, CONTROL, 1, "code:c error:e")                                                         \
	X(INTERRUPT, 80, LINE, 1, "channel:u -")                                                             \
	X(TICK, 81, LINE, 3, "- -")                                                                          \
	X(IDLE, 82, LINE, 3, "- -")

/** What happened. */
enum pb_trace_event {
#define PB_TRACE_EVENT_ENUM(name, number, category, level, arguments) PB_TRACE_##name = (number),
	PB_TRACE_EVENTS(PB_TRACE_EVENT_ENUM)
#undef PB_TRACE_EVENT_ENUM
};

/*
 * SUBMIT: the queue or its node has other submissions; otherwise PATCH or FEED follows, at once if there is room.
 * COMPLETE: the fence; the host interrupt comes with it, unless it is moderated. INTERRUPT: the
 * host interrupt for completions that moderation held back; those for replies and events are not recorded.
 * KIND: at each admission of a submission with such flags, before FEED and behind what the admission has written of
 * PATCH and PATCHED; again if the submission was recalled. PATCH: again if it was recalled before it was patched, or was
 * suspended. FEED: again if the engine was stopped meanwhile. RETURN: `count` of the oldest submissions returned to the host.
 */

/*
 * QUEUE: a queue was created; its slot had none before. HANDLE: the queue of a slot: behind each QUEUE, and after the
 * command TRACE for every queue of the card, some at each tick. FREE: the queue is gone; its slot may be given out
 * again. All other records about a queue have its slot only. LEVELS: the command TRACE has set the levels; written if
 * LIFE is enabled before or after. While LIFE is not enabled, queues come and go without a record.
 */

/*
 * CLOCK: the card's clock (pb_boot_block.clock, microseconds) at this record: behind the first BOOT of each boot, which
 * begins the records' clock anew, at the command TRACE, and at each PB_TRACE_CLOCK_TICKS-th tick, so that a reader can
 * count how often the records' clock has gone round. TIME: the host's clock, of the command TRACE.
 */
/** Ticks of the firmware, 5 ms each, between two CLOCK records: 10 s, less than a quarter of what the clock counts. */
#define PB_TRACE_CLOCK_TICKS 2048u

/** `object` of a record without an object. */
#define PB_TRACE_NONE 0xffffu

/*
 * `what` of a record:
 *
 *   31          16 15    8 7         0
 *  +--------------+-------+-----------+
 *  |    object    |   0   |   event   |   object: the index of a queue's handle (its slot); of NODE events the node
 *  +--------------+-------+-----------+
 */
/** Makes the word `what`. */
#define PB_TRACE_WHAT(event, object) ((uint32_t)(object) << 16 | (uint32_t)(event))
/** Event of the word `what`, enum pb_trace_event. */
#define PB_TRACE_WHAT_EVENT(what) ((what)&0xffu)
/** Object of the word `what`, or PB_TRACE_NONE. */
#define PB_TRACE_WHAT_OBJECT(what) ((what) >> 16)

/** The second argument of COMPLETE: how a submission ended, and on which node. */
#define PB_TRACE_DONE(node, error) ((uint32_t)(node) << 16 | (uint32_t)(error))
/** Node of PB_TRACE_DONE, from 0. */
#define PB_TRACE_DONE_NODE(value) ((value) >> 16)
/** Error of PB_TRACE_DONE, enum pb_error. */
#define PB_TRACE_DONE_ERROR(value) ((value)&0xffffu)

/** The second argument of HANDLE and FREE: whose a queue is, and where it runs. */
#define PB_TRACE_OF(channel, node, priority)                                                                 \
	((uint32_t)(priority) << 16 | (uint32_t)(node) << 8 | (uint32_t)(channel))
/** Channel of PB_TRACE_OF, from 0. */
#define PB_TRACE_OF_CHANNEL(value) ((value)&0xffu)
/** Node of PB_TRACE_OF, from 0. */
#define PB_TRACE_OF_NODE(value) ((value) >> 8 & 0xffu)
/** Priority of PB_TRACE_OF, enum pb_priority. */
#define PB_TRACE_OF_PRIORITY(value) ((value) >> 16 & 0xffu)
/** Level of the category LIFE in a word of levels. */
#define PB_TRACE_LEVELS_LIFE(levels) ((levels)&0xfu)

/** Written by the firmware. */
struct pb_trace_record {
	uint32_t clock;        /**< a counter of the MCU, modulo 2^32: pb_trace_ring.clock_hertz */
	uint32_t what;         /**< PB_TRACE_WHAT */
	uint32_t arguments[2]; /**< as the schema defines them */
};
PB_SIZE(pb_trace_record, 16);
PB_AT(pb_trace_record, clock, 0);
PB_AT(pb_trace_record, what, 4);
PB_AT(pb_trace_record, arguments, 8);

/**
 * Written by the firmware. Record i, counted from 0, lies at i modulo `entries`.
 * A reader reads `put`, copies, and reads `put` again: of what it copied, records
 * below put - entries + PB_TRACE_MARGIN may have been overwritten meanwhile.
 */
struct pb_trace_ring {
	/* line 0: written at boot, magic last */
	uint32_t magic;          /**< PB_TRACE_MAGIC */
	uint32_t version;        /**< PB_TRACE_VERSION */
	uint32_t record_bytes;   /**< sizeof(struct pb_trace_record) */
	uint32_t entries;        /**< a power of two */
	uint32_t records_offset; /**< from the start of card memory, in bytes: behind the ring */
	uint32_t schema_offset;  /**< text, see PB_TRACE_SCHEMA */
	uint32_t schema_bytes;   /**< without a zero at its end */
	uint32_t clock_hertz;    /**< rate of the records' clock, 1 to 100 MHz; 0: it is the card's clock */
	uint32_t line0_reserved[8];

	/* line 1: written while running */
	uint32_t put;    /**< bytes of records written so far, modulo 2^32; a boot continues the count */
	uint32_t levels; /**< of the categories, as the command TRACE sets them */
	uint32_t clock;  /**< the records' clock at the last tick */
	uint32_t line1_reserved[13];
};
PB_SIZE(pb_trace_ring, 128);
PB_AT(pb_trace_ring, magic, 0);
PB_AT(pb_trace_ring, version, 4);
PB_AT(pb_trace_ring, record_bytes, 8);
PB_AT(pb_trace_ring, entries, 12);
PB_AT(pb_trace_ring, records_offset, 16);
PB_AT(pb_trace_ring, schema_offset, 20);
PB_AT(pb_trace_ring, schema_bytes, 24);
PB_AT(pb_trace_ring, clock_hertz, 28);
PB_AT(pb_trace_ring, line0_reserved, 32);
PB_AT(pb_trace_ring, put, 64);
PB_AT(pb_trace_ring, levels, 68);
PB_AT(pb_trace_ring, clock, 72);
PB_AT(pb_trace_ring, line1_reserved, 76);

/** Records that the firmware may be overwriting, beyond those that `put` covers. */
#define PB_TRACE_MARGIN 2u

/**
 * The schema that an image carries: a line for each event, "number NAME category level arguments", so that a tool
 * can decode what a firmware of another version wrote.
 */
#define PB_TRACE_SCHEMA_LINE(name, number, category, level, arguments)                                       \
#number " " #name " " #category " " #level " " arguments "\n"
/** All lines of the schema. */
#define PB_TRACE_SCHEMA PB_TRACE_EVENTS(PB_TRACE_SCHEMA_LINE)

#endif
