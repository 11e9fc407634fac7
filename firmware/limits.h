/* SPDX-License-Identifier: MIT */
/**
 * @file
 * How much the firmware holds and does at once. The sizes of its tables are
 * a board's to choose: its board.cmake names the header that has them, as
 * PB_BOARD_LIMITS_H. All of it is static; the capability table has these
 * numbers for hosts.
 */
#ifndef PB_FIRMWARE_LIMITS_H
#define PB_FIRMWARE_LIMITS_H

/** The sizes of the tables: the board's header of limits, or these. */
#ifndef PB_BOARD_LIMITS_H
#define PB_BOARD_LIMITS_H "firmware/limits_default.h"
#endif
#include PB_BOARD_LIMITS_H

/** Host clients, and the admin channel before them. */
#define PB_LIMIT_CHANNELS (PB_LIMIT_CLIENTS + 1u)
/** Submissions of a node that are fed and not retired, unless NODE_SET changes it: one runs, one waits behind it. */
#define PB_DEFAULT_IN_FLIGHT 2u

/** Steps between two checks of the pending lines: slots cleared or compared, allocations resolved, patches carried out. */
#define PB_SLICE_SLOTS       24u
#define PB_SLICE_ALLOCATIONS 20u
#define PB_SLICE_SHORT       32u /* of a compact list */
#define PB_SLICE_MIXED       20u
/** Entries of a list between two checks. A loop in assembly, which is unrolled for a slice, has its own number. */
#define PB_SLICE_PATCHES 16u
/** Steps between two checks where nothing is written: allocations kept, entries and groups skipped. */
#define PB_SLICE_KEPT    24u
#define PB_SLICE_SKIPPED 120u
#define PB_SLICE_GROUPS  32u
/** Entries that one counts for besides itself: of a format that is read from a table; on the slow path; there page by page. */
#define PB_COST_GENERAL 2u
#define PB_COST_SLOW    13u
#define PB_COST_PAGES   20u
/**
 * Most that lists may have which are resolved, patched and fed in the pass that admits them: allocations; and patches, or
 * words of a compact list. A part of what a job may do in a pass, with a check of the lines behind each slice.
 */
#define PB_BRIEF_ALLOCATIONS (12u * PB_SLICE_ALLOCATIONS)
#define PB_BRIEF_LENGTH      24u
/** Slices of one job in a pass of the main loop while no line is pending: then the other nodes run. */
#define PB_PASS_SLICES 48u
/** Entries of a list in such a pass, up to the end of a slice. */
#define PB_PASS_PATCHES 1152u
/** Passes within which each channel is served that has something to do, whatever the others ask for. */
#define PB_PASS_CHANNEL_WAIT 8u
/**
 * A pass that has fed an engine which has answered may end before it serves channels: one in so many. While a channel
 * waits, two may be such passes and one a tick's; the others serve channels.
 */
#define PB_PASS_END_EVERY PB_PASS_CHANNEL_WAIT
#define PB_PASS_SERVING   (PB_PASS_CHANNEL_WAIT - 3u)
/** Channels served in one pass: each has a slice of its kicks, of a rescan, or of its commands. */
#define PB_PASS_CHANNELS ((PB_LIMIT_CHANNELS + PB_PASS_SERVING - 1u) / PB_PASS_SERVING)
/** Queues of a channel polled in one pass, for kicks or for a rescan. Divides the number of queues. */
#define PB_SLICE_POLLS 2u
/** Slices in one pass for queues that wait: channels take turns. Each is of so many waiters checked, and steps along a chain of waits. */
#define PB_PASS_WAITS    2u
#define PB_SLICE_WAITERS 4u
#define PB_SLICE_CHAIN   12u
/** Queues that a search of the table passes in one pass. */
#define PB_SLICE_SEARCH 32u
/** Queues that one tick lists in the trace, after the command TRACE. */
#define PB_SLICE_LISTED 16u
/** In one pass, while a segment is created: segments compared, pieces of memory passed, page table entries cleared. */
#define PB_SLICE_SEGMENTS 8u
#define PB_SLICE_PIECES   8u
#define PB_SLICE_PAGES    64u
/** Bytes of the pool that are cleared in a slice, a part of the page; slices in a pass while nothing else is to be done. */
#define PB_SLICE_CLEAR 1024u
#define PB_PASS_CLEARS 16u
/** In one pass, while a channel closes: queues closed, contexts freed. Its segments are freed one in each pass. */
#define PB_SLICE_QUEUES   3u
#define PB_SLICE_CONTEXTS 16u

/** Engine time without progress, or of a closing channel's submission, after which a node is reset, in microseconds. */
#define PB_HANG_MICROSECONDS 100000u
/** Time on the card's clock for an engine's answer to a stop or reset, in microseconds, unless NODE_SET. */
#define PB_ANSWER_MICROSECONDS 100000u
/**
 * Time on the card's clock after which a submission that was asked to stop fails, whatever progress it makes: others
 * wait for it. As long as Windows gives a preemption (TdrDelay), in microseconds.
 */
#define PB_STOP_MICROSECONDS 2000000u
/**
 * Most that one submission is charged at a time, in microseconds: a clock or a runtime counter that leaps, forward or
 * back, costs the channel that it happens to meet no more. Only an engine that cannot stop runs longer for one while
 * others wait.
 */
#define PB_CHARGE_MICROSECONDS_MAX 60000000u
/** Time for which a free job is kept for the queue to which it was granted, in microseconds. */
#define PB_GRANT_MICROSECONDS 10000u
/** Engine time of a queue's timeslice, in microseconds, unless QUEUE_CREATE names another. */
#define PB_QUANTUM_MICROSECONDS 5000u
/** The longest timeslice that QUEUE_CREATE may name, in microseconds. */
#define PB_QUANTUM_MICROSECONDS_MAX 65280u
/** Submissions of higher priorities, after which one of a ready lower priority runs, protected from preemption. */
#define PB_LIMIT_STARVATION 32u
/**
 * After a protected submission has run for t, its priority waits until higher ones have run for so many times t; the other
 * priorities below the highest that waited meanwhile, for one time less.
 */
#define PB_REPAY_TIMES 16u
/** One part in so many of the card's queues, contexts, segments and formats is kept for the channels: each has its minimum. */
#define PB_QUOTA_SHARE 2u
/** One part in so many of the pool is kept for the channels. */
#define PB_QUOTA_SHARE_POOL 4u
/** Waiting queues of a channel that are checked in one slice, at least, whatever limit the admin sets. */
#define PB_QUOTA_WAKES_MIN 1u
/** The shortest time that a queue may ask for before it counts as hung, or for a stop, in microseconds: two ticks. */
#define PB_QUOTA_MICROSECONDS_MIN 10000u
/** The longest time that the admin may allow, in microseconds: half of what the card's clock counts. */
#define PB_QUOTA_MICROSECONDS_MAX 0x7fffffffu
/** Longest time between two ticks, in microseconds; the board's timer keeps it. */
#define PB_TICK_MICROSECONDS 5000u

#endif
