/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The sizes of the firmware's tables on a board that names no others. A board
 * that does defines each of these in a header of its own.
 */
#ifndef PB_FIRMWARE_LIMITS_DEFAULT_H
#define PB_FIRMWARE_LIMITS_DEFAULT_H

/** Nodes that a board may wire. */
#define PB_LIMIT_NODES 4u
/** Host clients, beside the admin channel; at most 15. */
#define PB_LIMIT_CLIENTS 8u
/** Queues, all channels together, that a board may have memory for; a power of two. */
#define PB_LIMIT_QUEUES 4096u
/** Contexts, all channels together, of four bytes each: a power of two, from PB_SLICE_CONTEXTS to 16384. */
#define PB_LIMIT_CONTEXTS 512u
/** Segments of one channel, segment 0 included: all that five bits can name. */
#define PB_LIMIT_SEGMENTS 32u
/** All channels together; a multiple of 32, at most 224. */
#define PB_LIMIT_SEGMENTS_TOTAL 96u
/** Runs of host pages that are granted, all channels together. */
#define PB_LIMIT_HOST_GRANTS 10u
/** Pages of an aperture: its page table takes a word for each. */
#define PB_LIMIT_APERTURE_PAGES 16384u
/** A channel's own patch formats. */
#define PB_LIMIT_FORMATS_OWN 16u
/** All channels together; at most 255. */
#define PB_LIMIT_FORMATS_TOTAL 64u
/** Entries of an allocation list; 21 bytes of private memory each, for each job. A power of two, at most 1024. */
#define PB_LIMIT_ALLOCATIONS 1024u
/** Patch locations of one submission. */
#define PB_LIMIT_PATCHES 65536u
/** Descriptors in a submission ring; powers of two, the greater one at most 256. */
#define PB_LIMIT_RING_MIN 4u
#define PB_LIMIT_RING_MAX 256u
/** Submissions that are resolved and patched at once, on all nodes together; each takes private memory. */
#define PB_LIMIT_JOBS 2u
/** Preemptions, suspensions and resets of queues that are in progress at once; at least one for each channel. */
#define PB_LIMIT_STOPS 16u
/** Submissions of a node that are fed and not retired, at most; one less than a power of two. */
#define PB_LIMIT_IN_FLIGHT 3u

/** Entries of a channel's rings, powers of two. */
#define PB_LIMIT_CONTROL_ENTRIES 16u
#define PB_LIMIT_KICK_ENTRIES    256u
#define PB_LIMIT_EVENT_ENTRIES   64u

/** Buffers that are known to be patched. A power of two. */
#define PB_LIMIT_PATCHED 16u

#endif
