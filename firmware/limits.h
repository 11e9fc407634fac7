/* SPDX-License-Identifier: MIT */
/**
 * @file
 * How much the firmware holds at once. All of it is static; the capability
 * table tells hosts the same numbers.
 */
#ifndef PB_FIRMWARE_LIMITS_H
#define PB_FIRMWARE_LIMITS_H

/** Nodes that a board may wire. */
#define PB_LIMIT_NODES 4u
/** Host clients, and the admin channel before them. */
#define PB_LIMIT_CLIENTS  8u
#define PB_LIMIT_CHANNELS (PB_LIMIT_CLIENTS + 1u)
/** Queues, all channels together, that a board may have memory for; a power of two. */
#define PB_LIMIT_QUEUES   4096u
#define PB_LIMIT_CONTEXTS 64u
/** Segments of one channel, segment 0 included: all that five bits can name. */
#define PB_LIMIT_SEGMENTS 32u
/** All channels together; at most 255. */
#define PB_LIMIT_SEGMENTS_TOTAL 96u
/** Pages of an aperture: its page table takes a word for each. */
#define PB_LIMIT_APERTURE_PAGES 16384u
/** A channel's own patch formats. */
#define PB_LIMIT_FORMATS_OWN 16u
/** All channels together; at most 255. */
#define PB_LIMIT_FORMATS_TOTAL 64u
/** Entries of an allocation list; 16 bytes of private memory each, for each node. */
#define PB_LIMIT_ALLOCATIONS 1024u
/** Patch locations of one submission. */
#define PB_LIMIT_PATCHES 65536u
/** Descriptors in a submission ring. */
#define PB_LIMIT_RING_MIN 4u
#define PB_LIMIT_RING_MAX 256u
/** Submissions that are resolved and patched at once, on all nodes together; each takes private memory. */
#define PB_LIMIT_JOBS 2u
/** Queues whose waiters wait to be looked at; if there are more, all queues are looked through. A power of two. */
#define PB_LIMIT_WAKES 32u
/** Preemptions, suspensions and resets of queues that are under way at once. */
#define PB_LIMIT_STOPS 16u
/** Submissions of a node that are fed and not retired, at most; one less than a power of two. */
#define PB_LIMIT_IN_FLIGHT 3u
/** The same unless NODE_SET says otherwise: one runs, one waits behind it. */
#define PB_DEFAULT_IN_FLIGHT 2u

/** Entries of a channel's rings, powers of two. */
#define PB_LIMIT_CONTROL_ENTRIES 16u
#define PB_LIMIT_KICK_ENTRIES    256u
#define PB_LIMIT_EVENT_ENTRIES   64u

/** Buffers that are known to be patched. A power of two. */
#define PB_LIMIT_PATCHED 16u

/** What is done between two looks at the lines: slots cleared or compared, allocations resolved, patches carried out. */
#define PB_SLICE_SLOTS       24u
#define PB_SLICE_ALLOCATIONS 16u
#define PB_SLICE_PATCHES     24u
#define PB_SLICE_WIDE        16u /* of two words, one format after another */
#define PB_SLICE_MIXED       20u
/** The same for patches that take no fast loop, in instructions of a Cortex-M7, and what they cost about. */
#define PB_SLICE_INSTRUCTIONS 280u
#define PB_COST_FAST          28u
#define PB_COST_PLAIN         50u
#define PB_COST_RICH          100u
#define PB_COST_EXACT         180u
#define PB_COST_PLAN          150u
#define PB_COST_CHANGE        80u
#define PB_COST_PAGES         180u
/** Slices in one pass of the main loop while no line is raised: then the other nodes have a turn. */
#define PB_PASS_SLICES 48u
/** Queues looked at, for kicks or because the host asked for all, in one pass. Divides their number. */
#define PB_SLICE_LOOKS 2u
/** Waiters of a queue looked at, steps along a chain of waits, queues looked through, in one pass. */
#define PB_SLICE_WAITERS 8u
#define PB_SLICE_CHAIN   24u
#define PB_SLICE_SEARCH  32u
/** Segments compared, pieces of memory passed by, page table entries cleared while a segment is made: in one pass. */
#define PB_SLICE_SEGMENTS 8u
#define PB_SLICE_PIECES   8u
#define PB_SLICE_PAGES    64u
/** Queues closed, contexts freed while a channel closes: in one pass. Its segments go one in a pass. */
#define PB_SLICE_QUEUES   3u
#define PB_SLICE_CONTEXTS 16u

/** Engine time without progress, or of a closing channel's work, after which a node is reset, in microseconds. */
#define PB_HANG_MICROSECONDS 100000u
/** Time on the card's clock for an engine's answer to a stop or reset, in microseconds, unless NODE_SET. */
#define PB_ANSWER_MICROSECONDS 100000u
/** Engine time of a queue's turn, in microseconds, unless it asks for another. */
#define PB_QUANTUM_MICROSECONDS 5000u
/** The longest that a queue may ask for. */
#define PB_QUANTUM_MICROSECONDS_MAX 65280u
/** Submissions of a more urgent level in a row, after which a ready less urgent one gets one that is not stopped. */
#define PB_LIMIT_BYPASSES 32u
/** It has one part in so many, and one, of the time that they want, however long it takes. */
#define PB_BYPASS_TIMES 16u
/** Longest time between two ticks, in microseconds; the board's timer keeps it. */
#define PB_TICK_MICROSECONDS 5000u

#endif
