/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Marks: what a later step of this pass, or the next pass, has to do. Modules
 * that complete something never call upward; they leave a mark here, and the
 * main loop drains the marks. Every function is called from the main loop.
 */
#ifndef PB_FIRMWARE_MARKS_H
#define PB_FIRMWARE_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "hal/bits.h"

/** Bits of pb_core_marks.infrequent: what few passes have to do. */
enum pb_core_mark {
	PB_CORE_MARK_SETTLE = 1, /**< `stops` or `drained` is not 0 */
	PB_CORE_MARK_WAKE = 2,   /**< queues that wait for another are to be checked, a slice in each pass */
	PB_CORE_MARK_DEFERRED = 4, /**< `deferred` is not 0 */
	PB_CORE_MARK_POWER = 8,    /**< the reply to a SUSPEND of the card is pending */
	PB_CORE_MARK_COSTLY =
		16, /**< a completion that failed, or an engine's answer, was retired: costs as much as a slice */
	PB_CORE_MARK_LATE =
		32, /**< completions of nodes whose lines were claimed are to be retired in a later pass */
	PB_CORE_MARK_TICK = 64, /**< what a tick has beside the nodes is to be done */
};

/** All marks. A bit of a mask is a node's or a channel's index. */
struct pb_core_marks {
	uint32_t nodes;       /**< nodes that may make progress: each is run once in a pass */
	uint32_t channels;    /**< channels that are polled in the next pass, without a doorbell */
	uint32_t infrequent;  /**< mask of enum pb_core_mark */
	uint32_t deferred;    /**< channels that have a deferred task: one slice of one of them in a pass */
	uint32_t stops;       /**< nodes at which a submission of a queue with a stop request is gone */
	uint32_t drained;     /**< channels of which queues have drained */
	uint8_t last_drained; /**< the channel of which something was settled last */
};

/** Has a node run in this pass, or in the next if this pass is past its nodes. @param bit the node's, or a mask of several */
static inline void pb_core_mark_node(struct pb_core_marks *marks, uint32_t bit)
{
	marks->nodes |= bit;
}

/** The loop runs this node now, or several. @param bit the node's, or a mask of theirs */
static inline void pb_core_unmark_node(struct pb_core_marks *marks, uint32_t bit)
{
	marks->nodes &= ~bit;
}

/** Has a channel polled in the next pass. */
static inline void pb_core_mark_channel(struct pb_core_marks *marks, uint32_t channel)
{
	marks->channels |= 1u << channel;
}

/** Has several channels polled in the next pass. @param mask of channels */
static inline void pb_core_mark_channels(struct pb_core_marks *marks, uint32_t mask)
{
	marks->channels |= mask;
}

/** The loop polls the only channel that is marked, or rang, now. */
static inline void pb_core_unmark_channels(struct pb_core_marks *marks)
{
	marks->channels = 0;
}

/** The loop polls this channel now. */
static inline void pb_core_unmark_channel(struct pb_core_marks *marks, uint32_t channel)
{
	marks->channels &= ~(1u << channel);
}

/** Whether any of some infrequent things is to be done. @param which mask of enum pb_core_mark */
static inline bool pb_core_is_marked(const struct pb_core_marks *marks, uint32_t which)
{
	return (marks->infrequent & which) != 0;
}

/** Marks an infrequent thing, or clears its mark. @param which enum pb_core_mark */
static inline void pb_core_mark(struct pb_core_marks *marks, uint32_t which, bool marked)
{
	marks->infrequent = (marks->infrequent & ~which) | (marked ? which : 0);
}

/** What was retired just now was as expensive as a slice of anything. */
static inline void pb_core_mark_costly(struct pb_core_marks *marks)
{
	pb_core_mark(marks, PB_CORE_MARK_COSTLY, true);
}

/** A channel has a deferred task from here on. */
static inline void pb_core_mark_deferred(struct pb_core_marks *marks, uint32_t channel)
{
	marks->deferred |= 1u << channel;
	pb_core_mark(marks, PB_CORE_MARK_DEFERRED, true);
}

/** The channel's deferred task is complete, or waits for something else. */
static inline void pb_core_unmark_deferred(struct pb_core_marks *marks, uint32_t channel)
{
	marks->deferred &= ~(1u << channel);
	pb_core_mark(marks, PB_CORE_MARK_DEFERRED, marks->deferred != 0);
}

/** A submission of a queue with a stop request has left the node: the request may have come to its end. */
static inline void pb_core_mark_stops(struct pb_core_marks *marks, uint32_t node_bit)
{
	marks->stops |= node_bit;
	pb_core_mark(marks, PB_CORE_MARK_SETTLE, true);
}

/** A closing queue of the channel has drained: maybe it was the last one with something in flight. */
static inline void pb_core_mark_channel_drained(struct pb_core_marks *marks, uint32_t channel)
{
	marks->drained |= 1u << channel;
	pb_core_mark(marks, PB_CORE_MARK_SETTLE, true);
}

/** No stop request of this node is to be settled any more. */
static inline void pb_core_unmark_stops(struct pb_core_marks *marks, uint32_t node_bit)
{
	marks->stops &= ~node_bit;
}

/** The next channel in rotation of which something has drained. Pre: there is one. */
static inline uint32_t pb_core_next_drained(struct pb_core_marks *marks)
{
	marks->last_drained = (uint8_t)pb_bits_next(marks->drained, marks->last_drained);
	return marks->last_drained;
}

/** The channel has no drained queue any more. */
static inline void pb_core_unmark_drained(struct pb_core_marks *marks, uint32_t channel)
{
	marks->drained &= ~(1u << channel);
}

#endif
