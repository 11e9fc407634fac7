/* SPDX-License-Identifier: MIT */
/**
 * @file
 * How much the firmware holds and does at once. The sizes of its tables are
 * a board's to choose: its board.cmake names the header that has them, as
 * PB_BOARD_LIMITS_H. All of it is static; the capability table tells hosts the
 * same numbers.
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
/** The same unless NODE_SET says otherwise: one runs, one waits behind it. */
#define PB_DEFAULT_IN_FLIGHT 2u

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
/**
 * Time on the card's clock after which work that is to stop has had enough, however well it gets on: others wait for it.
 * As much as Windows gives a preemption (TdrDelay).
 */
#define PB_STOP_MICROSECONDS 2000000u
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
