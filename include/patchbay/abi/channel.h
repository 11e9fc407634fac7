/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A channel: one host client's control ring, kick ring and event ring.
 *
 * Indices are free-running 32-bit counters; entry = index modulo the ring's
 * power-of-two size. The producer publishes an entry, then a release barrier,
 * then the index. A producer never runs more than the ring's size ahead.
 */
#ifndef PB_FIRMWARE_ABI_CHANNEL_H
#define PB_FIRMWARE_ABI_CHANNEL_H

#include "patchbay/abi/base.h"

/** The channel of the card's supervisor; only this channel may close others. */
#define PB_CHANNEL_ADMIN 0u

/*
 * attach_request and attach_done:
 *
 *   31                    2 1   0
 *  +-----------------------+-----+
 *  |        counter        | op  |   op: 1 attach, 2 detach
 *  +-----------------------+-----+
 *
 * A request is a value other than attach_done; the firmware answers by
 * storing the same value there, after state and error.
 */
#define PB_ATTACH_OP_MASK     3u /**< of op */
#define PB_ATTACH_OP_ATTACH   1u /**< everything that the channel had is drained and freed first */
#define PB_ATTACH_OP_DETACH   2u /**< everything that the channel has is drained and freed */
#define PB_ATTACH_COUNTER_ONE 4u /**< added for each request, so that its value differs from the last one */

/** States of a channel. */
enum pb_channel_state {
	PB_CHANNEL_CLOSED = 0,  /**< its rings are ignored */
	PB_CHANNEL_OPEN = 1,    /**< its rings are served */
	PB_CHANNEL_CLOSING = 2, /**< its submissions are drained; ends as CLOSED */
	PB_CHANNEL_FAULTED = 3, /**< a ring index moved back or beyond the ring; attach again */
};

/**
 * Bit of pb_channel_entry.patches_high: the firmware is carrying into the high word, and the low word is old or new.
 * The firmware stores the new high word with this bit, then the low word, then the high word without the bit. A reader
 * reads patches_high, patches_low and patches_high, in this order. If both reads of patches_high are equal, and the
 * bit is clear, the value is patches_high << 32 | patches_low. Else it is the second one without the bit, << 32: a value
 * that the count has passed while it was read.
 */
#define PB_PATCHES_CARRY 0x80000000u

/** Directory entry of one channel, 256 bytes. The host may write its two lines at any time. */
struct pb_channel_entry {
	/* line 0: written by the host */
	uint32_t attach_request; /**< see above; stored last */
	uint32_t host_version;   /**< PB_ABI_VERSION of the host */
	uint32_t incarnation;    /**< the firmware's incarnation that the host saw: another one is refused */
	uint32_t line0_reserved[13];

	/* line 1: written by the host */
	uint32_t control_put; /**< commands written */
	uint32_t reply_get;   /**< replies read */
	uint32_t kick_put;    /**< kicks written */
	uint32_t rescan;      /**< incremented when the kick ring was full: poll every queue of the channel */
	uint32_t event_get;   /**< events read */
	uint32_t reset;       /**< reserved */
	uint32_t line1_reserved[10];

	/* line 2: written by the firmware */
	uint32_t attach_done;     /**< the last request answered */
	uint32_t state;           /**< enum pb_channel_state */
	uint32_t error;           /**< enum pb_error of the last attach, or of the fault of the channel */
	uint32_t epoch;           /**< incremented at each attach and close; events and records carry it */
	uint32_t control_offset;  /**< array of struct pb_command */
	uint32_t reply_offset;    /**< array of struct pb_reply */
	uint32_t kick_offset;     /**< array of uint32_t queue handles */
	uint32_t event_offset;    /**< array of struct pb_event */
	uint32_t control_entries; /**< of the control ring, and of the reply ring */
	uint32_t kick_entries;    /**< of the kick ring */
	uint32_t event_entries;   /**< of the event ring */
	uint32_t line2_reserved[5];

	/* line 3: written by the firmware */
	uint32_t control_get;    /**< commands read */
	uint32_t reply_put;      /**< replies written */
	uint32_t kick_get;       /**< kicks read */
	uint32_t event_put;      /**< events written */
	uint32_t events_dropped; /**< events dropped because the ring was full; records hold their contents */
	uint32_t patches_low;    /**< patch locations completed or recalled since the attach, low word */
	uint32_t patches_high;   /**< high word, and PB_PATCHES_CARRY; both precede the fence record */
	uint32_t line3_reserved[9];
};
PB_SIZE(pb_channel_entry, 256);
PB_AT(pb_channel_entry, attach_request, 0);
PB_AT(pb_channel_entry, host_version, 4);
PB_AT(pb_channel_entry, incarnation, 8);
PB_AT(pb_channel_entry, line0_reserved, 12);
PB_AT(pb_channel_entry, control_put, 64);
PB_AT(pb_channel_entry, reply_get, 68);
PB_AT(pb_channel_entry, kick_put, 72);
PB_AT(pb_channel_entry, rescan, 76);
PB_AT(pb_channel_entry, event_get, 80);
PB_AT(pb_channel_entry, reset, 84);
PB_AT(pb_channel_entry, line1_reserved, 88);
PB_AT(pb_channel_entry, attach_done, 128);
PB_AT(pb_channel_entry, state, 132);
PB_AT(pb_channel_entry, error, 136);
PB_AT(pb_channel_entry, epoch, 140);
PB_AT(pb_channel_entry, control_offset, 144);
PB_AT(pb_channel_entry, reply_offset, 148);
PB_AT(pb_channel_entry, kick_offset, 152);
PB_AT(pb_channel_entry, event_offset, 156);
PB_AT(pb_channel_entry, control_entries, 160);
PB_AT(pb_channel_entry, kick_entries, 164);
PB_AT(pb_channel_entry, event_entries, 168);
PB_AT(pb_channel_entry, line2_reserved, 172);
PB_AT(pb_channel_entry, control_get, 192);
PB_AT(pb_channel_entry, reply_put, 196);
PB_AT(pb_channel_entry, kick_get, 200);
PB_AT(pb_channel_entry, event_put, 204);
PB_AT(pb_channel_entry, events_dropped, 208);
PB_AT(pb_channel_entry, patches_low, 212);
PB_AT(pb_channel_entry, patches_high, 216);
PB_AT(pb_channel_entry, line3_reserved, 220);

/*
 * Control commands. X(NAME, number, arguments -> results). A command whose reply is pending ends with the channel that
 * asked: the next client of the channel gets no reply to it.
 *
 * PING            -> nothing
 * SEGMENT_CREATE  0 segment, 1 kind, 2,3 os_base, 4,5 gpu_base, 6,7 size, 8 backing bytes
 *                 -> 0 offset of the backing in card memory. The backing is 0: what another client or an earlier
 *                 boot left there was cleared.
 *                 APERTURE: no more pages than the capability says, backing 0, result 0. None of its pages is
 *                 mapped at first. While its page table is being cleared, its id is BUSY and names no segment.
 *                 HOST: 9,10 host address of its backing, which is that many bytes of host pages, one run that
 *                 the admin has granted to the channel, else NO_PERMISSION. The firmware does not clear them. Result 0 is
 *                 where the card sees them, from the start of card memory. UNSUPPORTED if the card reaches no host
 *                 memory
 *                 OUTER: all of it is backed, so 8 is its size. Allocations may lie there; a DMA buffer, a list or a
 *                 ring is refused there as in a segment without backing. Result 0 is where hosts see it. UNSUPPORTED
 *                 if the card has no such memory
 * SEGMENT_DESTROY 0 segment; the reply comes when its backing is clear and free. ENGINE_DEAD: an engine that was given
 *                 up, and cannot be cut off, may still reach it; an attach is refused with the same error then
 * CONTEXT_CREATE  -> 0 context handle
 * CONTEXT_DESTROY 0 context
 * CONTEXT_CLEAR   0 context: no longer lost
 * QUEUE_CREATE    0 node, 1 entries, 2,3 address of its struct pb_queue_page in segment 0, 4 enum pb_priority,
 *                 5 quantum in microseconds of engine time, 0: the default
 *                 -> 0 queue handle. NO_PERMISSION above the channel's cap; NO_SPACE for a second queue of a node
 *                 in host-ordered mode; ENGINE_DEAD on a node that is DEAD
 * QUEUE_DESTROY   0 queue; the reply comes when its last fed submission has left the node. A PREEMPT, SUSPEND or
 *                 RESET of the queue that is in progress is answered first, with CANCELLED
 * QUEUE_CLEAR     0 queue: forgets the first error in its fence record
 * CHANNEL_CLOSE   0 channel (admin only); the reply comes when its submissions are gone, its memory is clear and its
 *                 slots are free.
 *                 An unanswered attach that its host requested before is cancelled too
 * CHANNEL_GRANT   0 channel, 1 PB_PRIVILEGE_*, 2 weight 1..PB_WEIGHT_MAX, 3 highest enum pb_priority of its
 *                 queues (admin only): all its privileges from now on, for any client that attaches there, until
 *                 CHANNEL_CLOSE
 * FORMAT_SET      0 DriverId, PB_FORMAT_OWN and up, 1 to 12 struct pb_patch_format; BUSY while a submission is in
 *                 flight, NO_SPACE when the card's table for all channels is full
 *                 -> 0 enum pb_format_reason
 * PREEMPT         0 queue, 1 cutoff: its put when this was asked, 2 preemption id, 3 PB_STOP_*
 *                 -> as struct pb_preempt_record: 0 fence_id, 1 valid, 2 completed, 3 returned, 4 started.
 *                 Each submission before the cutoff completes or is returned; then the record is written, the event
 *                 and the reply are sent. Submissions behind the cutoff are accepted at any time and run afterwards.
 *                 BUSY while an earlier PREEMPT, SUSPEND or RESET of the queue is in progress. NO_SPACE, also for
 *                 SUSPEND and RESET of a queue, while the channel has its guaranteed minimum of these in progress
 *                 and other channels have the rest: it may be asked again when one of the channel's own has ended
 * SUSPEND         0 queue, or 0: the whole card (admin only), 1 cutoff, 2 PB_STOP_*.
 *                 A queue: each submission before the cutoff completes or, with RECALL, is recalled from the engine.
 *                 Then none of them runs, the reply comes, and the host may move their allocations. The card: as if
 *                 every queue were suspended, without a cutoff; BUSY while it is suspended. The card resumes when the
 *                 admin's channel closes: when the admin detaches, or when another attaches after its death
 * RESUME          0 queue, or 0: the whole card (admin only). Recalled submissions are read and patched again
 * RESET           0 node, 1 queue or 0, 2 cutoff. 0: ends the halt of the channel on that node by a bad
 *                 paging buffer. A queue: the engine is reset; the submissions of the queue that it ran fail with
 *                 ENGINE_HANG, the rest is returned
 *                 -> 0 fence id of the last submission aborted, or completed if none was, 1 valid, 2 completed,
 *                 3 returned, 4 started: the first one returned had begun. A PREEMPT or SUSPEND of the queue in progress
 *                 is forced, also one that waits for a wait: its reply comes first. BUSY while a RESET of the queue is
 *                 in progress
 * QUERY           0 enum pb_query, 1 handle, node or channel (another than its own: PB_PRIVILEGE_QUERY or the admin)
 *                 -> see enum pb_query. Of a queue: 2 the queue's channel, 0: the asker's; a handle of generation 0
 *                 names the present queue of that channel with the index
 * NODE_SET        0 node, 1 enum pb_node_mode, 2 depth 1..IN_FLIGHT, 3 microseconds without progress that count as a
 *                 hang, 4 microseconds for an engine's answer; 0 in 2..4: unchanged (admin only). A change of the
 *                 mode: BUSY while the node has a queue
 * MODERATE        0 completions, 1 microseconds: the host interrupt comes when that many completions have gathered, or
 *                 the first one is that old, rounded up to the next tick. 1 completion or less: at each one. Events
 *                 and replies are not moderated
 * CHANNEL_QUOTA   0 channel, 1 enum pb_resource, 2 limit, from the resource's guaranteed minimum up (admin only): for
 *                 any client that attaches there, until CHANNEL_CLOSE. More than the card has: no limit. What the
 *                 channel has already stays
 * HOST_GRANT      0 channel, 1 bytes, 2,3 host address, 4 offset in the card's window on host memory (admin only): the
 *                 channel may name these pages by these addresses from now on, for any client that attaches there, until
 *                 HOST_REVOKE or CHANNEL_CLOSE. Whole pages, with addresses below 2^44. BUSY if one of the addresses is granted to the channel
 *                 already, unless this very grant is there. One page may be granted to several channels
 * HOST_REVOKE   0 channel, 1 bytes, 2,3 host address (admin only): the channel may not name these pages any more. The
 *                 reply comes when neither the firmware nor an engine reaches them for it. A segment that had one of them
 *                 has no backing any more: what is submitted there fails with BAD_BUFFER, what runs there faults. If
 *                 it is segment 0 with queues, the channel is closed, as by CHANNEL_CLOSE. ENGINE_DEAD as for
 *                 SEGMENT_DESTROY. BUSY while another HOST_REVOKE, or the CHANNEL_CLOSE of the channel, is in progress.
 *                 NO_SPACE if a grant would fall in two and the table of grants is full
 * TRACE           0 levels of the categories, PB_TRACE_LEVELS_*; 1,2 the host's clock in nanoseconds, for a record
 *                 (the admin, or PB_PRIVILEGE_QUERY). UNSUPPORTED if the board has no room for a trace
 *
 * 64-bit values are low word, high word. Unused arguments are ignored.
 */
#define PB_COMMANDS(X)                                                                                       \
	X(PING, 1, "answers")                                                                                \
	X(SEGMENT_CREATE, 2, "creates a segment, with backing memory")                                       \
	X(SEGMENT_DESTROY, 3, "destroys a segment")                                                          \
	X(CONTEXT_CREATE, 4, "creates a context")                                                            \
	X(CONTEXT_DESTROY, 5, "destroys a context")                                                          \
	X(CONTEXT_CLEAR, 6, "clears the loss of a context")                                                  \
	X(QUEUE_CREATE, 7, "creates a queue")                                                                \
	X(QUEUE_DESTROY, 8, "destroys a queue")                                                              \
	X(QUEUE_CLEAR, 9, "acknowledges a queue's first error")                                              \
	X(CHANNEL_CLOSE, 10, "reclaims another channel")                                                     \
	X(FORMAT_SET, 11, "sets one of the channel's own patch formats")                                     \
	X(PREEMPT, 12, "returns what a queue has submitted")                                                 \
	X(SUSPEND, 13, "suspends a queue, or the card")                                                      \
	X(RESUME, 14, "ends a suspension")                                                                   \
	X(RESET, 15, "ends a halt, or resets the engine under a queue")                                      \
	X(QUERY, 16, "reports the state of one object")                                                      \
	X(TRACE, 17, "sets how much is traced")                                                              \
	X(CHANNEL_GRANT, 18, "gives another channel its privileges, weight and priority cap")                \
	X(NODE_SET, 19, "sets mode, depth and time limits of a node")                                        \
	X(MODERATE, 20, "sets how often completions interrupt the host")                                     \
	X(CHANNEL_QUOTA, 21, "limits what a channel may have of one resource")                               \
	X(HOST_GRANT, 22, "lets another channel name pages of host memory")                                  \
	X(HOST_REVOKE, 23, "ends that, when nothing reaches them any more")

/** The control commands. */
enum pb_command_code {
#define PB_COMMAND_ENUM(name, number, meaning) PB_COMMAND_##name = (number),
	PB_COMMANDS(PB_COMMAND_ENUM)
#undef PB_COMMAND_ENUM
};

#define PB_COMMAND_ARGUMENTS 14u /**< words of arguments */

/** Written by the host. */
struct pb_command {
	uint32_t code;                            /**< enum pb_command_code */
	uint32_t tag;                             /**< chosen by the host; the reply repeats it */
	uint32_t arguments[PB_COMMAND_ARGUMENTS]; /**< the meaning depends on the command */
};
PB_SIZE(pb_command, 64);
PB_AT(pb_command, code, 0);
PB_AT(pb_command, tag, 4);
PB_AT(pb_command, arguments, 8);

#define PB_REPLY_RESULTS 13u /**< words of results */

/** Written by the firmware. A host writes a command only while the reply ring has room for its reply. */
struct pb_reply {
	uint32_t code;                      /**< the command's */
	uint32_t tag;                       /**< the command's; replies may come in another order */
	uint32_t error;                     /**< enum pb_error */
	uint32_t results[PB_REPLY_RESULTS]; /**< the meaning depends on the command; otherwise 0 */
};
PB_SIZE(pb_reply, 64);
PB_AT(pb_reply, code, 0);
PB_AT(pb_reply, tag, 4);
PB_AT(pb_reply, error, 8);
PB_AT(pb_reply, results, 12);

/* X(NAME, number, meaning) */
#define PB_EVENTS(X)                                                                                         \
	X(SUBMISSION_FAILED, 1, "refused before it ran: error and list entry")                               \
	X(ENGINE_FAULT, 2, "the engine faulted: detail is its fault code")                                   \
	X(ENGINE_HANG, 3, "the engine made no progress and was reset")                                       \
	X(CONTEXT_LOST, 4, "detail is the context; its later submissions are cancelled")                     \
	X(QUEUE_FAULT, 5,                                                                                    \
	  "RING_FAULT: the put index moved back or beyond the ring; submissions before the last put index "  \
	  "that was accepted continue, the queue admits no others; BAD_HANDLE: a kick names no queue")       \
	X(HALTED, 6, "a bad paging buffer halted the channel on the node, detail, until RESET")              \
	X(PREEMPTED, 7, "a PREEMPT ended: detail is its id, the preempt record has the result")              \
	X(NODE_DEAD, 8, "the engine of the node, detail, does not answer; its submissions fail")

/** Types of events. */
enum pb_event_type {
#define PB_EVENT_ENUM(name, number, meaning) PB_EVENT_##name = (number),
	PB_EVENTS(PB_EVENT_ENUM)
#undef PB_EVENT_ENUM
};

/** `index` of an event or record without a list entry. */
#define PB_INDEX_NONE 0xffffffffu

/** Written by the firmware. A hint to read the records again: the fence records hold the state. */
struct pb_event {
	uint32_t type;     /**< enum pb_event_type */
	uint32_t epoch;    /**< the channel's; older ones are stale */
	uint32_t queue;    /**< queue handle */
	uint32_t fence_id; /**< of the submission */
	uint32_t error;    /**< enum pb_error */
	uint32_t index;    /**< list entry, counted from the list's first; PB_INDEX_NONE if none */
	uint32_t detail;   /**< the meaning depends on the type; else 0 */
	uint32_t number;   /**< number of the event since the attach; dropped events count too */
};
PB_SIZE(pb_event, 32);
PB_AT(pb_event, type, 0);
PB_AT(pb_event, epoch, 4);
PB_AT(pb_event, queue, 8);
PB_AT(pb_event, fence_id, 12);
PB_AT(pb_event, error, 16);
PB_AT(pb_event, index, 20);
PB_AT(pb_event, detail, 24);
PB_AT(pb_event, number, 28);

/** Kinds of segment (argument 1 of SEGMENT_CREATE). */
enum pb_segment_kind {
	PB_SEGMENT_LINEAR = 0,   /**< a range of card memory */
	PB_SEGMENT_APERTURE = 1, /**< pages of other segments, mapped by paging buffers */
	PB_SEGMENT_HOST = 2,     /**< a range of host memory, which the card's admin has granted */
	PB_SEGMENT_OUTER = 3,    /**< a range of card memory outside of the MCU's window */
};

/* X(NAME, number, meaning): a higher priority runs first and preempts a lower one. */
#define PB_PRIORITY_LEVELS(X)                                                                                \
	X(IDLE, 0, "when no other queue is ready")                                                           \
	X(LOW, 1, "in the background")                                                                       \
	X(NORMAL, 2, "the default")                                                                          \
	X(HIGH, 3, "before NORMAL")                                                                          \
	X(REALTIME, 4, "before every other")

/** A higher priority runs first and preempts a lower one. */
enum pb_priority {
#define PB_PRIORITY_ENUM(name, number, meaning) PB_PRIORITY_##name = (number),
	PB_PRIORITY_LEVELS(PB_PRIORITY_ENUM)
#undef PB_PRIORITY_ENUM
};
#define PB_PRIORITIES 5u /**< priorities */

/** Greatest weight of a channel: its share of a node's engine time beside other channels of one priority. */
#define PB_WEIGHT_MAX 64u

/** What decides the order on a node. */
enum pb_node_mode {
	PB_NODE_SCHEDULED = 0,    /**< the firmware, by priority, weight and quantum */
	PB_NODE_HOST_ORDERED = 1, /**< the host: one queue, strictly first in, first out (WDDM 1.x) */
};

/** Flags of PREEMPT and SUSPEND. */
#define PB_STOP_INSIDE 0x1u /**< the engine may stop inside a buffer, if it can; else at its end */
#define PB_STOP_RECALL                                                                                       \
	0x2u /**< of SUSPEND: recall submissions that have not begun, instead of waiting for them */

/** What QUERY reports. */
enum pb_query {
	/**
	 * 0 enum pb_why, 1 queue that it waits for, 2,3 value that it waits for, 4 put, 5 admitted, 6 completed,
	 * 7,8 timeline reached, 9 1: an error is not acknowledged, 10 1: suspended, 11 node, 12 enum pb_priority
	 */
	PB_QUERY_QUEUE = 1,
	/**
	 * 0 enum pb_node_state, 1 enum pb_node_mode, 2 depth, 3 in flight, 4 progress, 5 microseconds of engine time,
	 * 6 times it went idle, 7 microseconds that it was idle because nothing was patched yet, 8 stops, 9 resets,
	 * 10 handle of the queue at the head of the engine ring, if it is the asker's, 11 completed
	 */
	PB_QUERY_NODE = 2,
	/** 0 1: lost */
	PB_QUERY_CONTEXT = 3,
	/** 0 PB_PRIVILEGE_*, 1 weight, 2 highest enum pb_priority, 3 queues, 4 contexts, 5 segments, 6 admitted, 7 events dropped */
	PB_QUERY_CHANNEL = 4,
	/** 2 enum pb_resource -> 0 used by the channel, 1 its limit, 2 guaranteed minimum of each channel, 3 the card's total, or the default limit */
	PB_QUERY_QUOTA = 5,
	/**
	 * 1 channel, 2 index -> 0 grants of host memory that the channel has; of the one with the index: 1,2 host address,
	 * 3 bytes, 4 where the card sees it, from the start of card memory
	 */
	PB_QUERY_HOST = 6,
};

/* X(NAME, number, meaning): why a queue does not run. */
#define PB_WHYS(X)                                                                                           \
	X(RUNNING, 0, "a submission of it is at the engine")                                                 \
	X(EMPTY, 1, "nothing is submitted")                                                                  \
	X(PREPARING, 2, "its next submission is being resolved and patched")                                 \
	X(READY, 3, "other queues run on the node")                                                          \
	X(WAITING, 4, "its next submission waits for another queue")                                         \
	X(SUSPENDED, 5, "it is suspended")                                                                   \
	X(PREEMPTED, 6, "a PREEMPT, SUSPEND or RESET of it is in progress")                                  \
	X(HALTED, 7, "a bad paging buffer halted its channel on the node")                                   \
	X(FAULTED, 8, "its put index moved back or beyond the ring")                                         \
	X(NODE_BUSY, 9, "the node's engine is being stopped or reset")                                       \
	X(NODE_DEAD, 10, "the node's engine does not answer")                                                \
	X(CARD_SUSPENDED, 11, "the card is suspended")                                                       \
	X(WAITS_FOR_JOB, 12, "all jobs of the card prepare other submissions with patch lists")

/** Why a queue does not run. */
enum pb_why {
#define PB_WHY_ENUM(name, number, meaning) PB_WHY_##name = (number),
	PB_WHYS(PB_WHY_ENUM)
#undef PB_WHY_ENUM
};

/* X(NAME, number, meaning): what the firmware has asked a node's engine. */
#define PB_NODE_STATES(X)                                                                                    \
	X(RUNNING, 0, "it runs what it is fed")                                                              \
	X(STOPPING, 1, "it was asked to stop, so that submissions can be recalled")                          \
	X(RESETTING, 2, "it was asked to reset itself")                                                      \
	X(CYCLING, 3, "it did not answer; the node is power-cycled")                                         \
	X(DEAD, 4, "it did not answer the power cycle either")

/** What the firmware has asked a node's engine. */
enum pb_node_state {
#define PB_NODE_STATE_ENUM(name, number, meaning) PB_NODE_STATE_##name = (number),
	PB_NODE_STATES(PB_NODE_STATE_ENUM)
#undef PB_NODE_STATE_ENUM
};

/*
 * X(NAME, number, meaning): what a channel may have, each with a limit that the admin sets. Those before WAKES are used
 * up: a command that would exceed the limit fails with NO_QUOTA. Each channel has a guaranteed minimum of them, which
 * no other channel can take; NO_SPACE means that what the card has beyond these minima is used up.
 */
#define PB_RESOURCES(X)                                                                                      \
	X(QUEUES, 0, "queues")                                                                               \
	X(CONTEXTS, 1, "contexts")                                                                           \
	X(SEGMENTS, 2, "segments")                                                                           \
	X(FORMATS, 3, "the channel's own patch formats")                                                     \
	X(POOL_BYTES, 4, "bytes of the pool: backing of segments, page tables of apertures")                 \
	X(STOPS, 5, "PREEMPT, SUSPEND and RESET of queues in progress at once")                              \
	X(WAKES, 6, "waiting queues that the firmware checks for the channel in one slice")                  \
	X(HANG_MICROSECONDS, 7, "time without progress that a queue may ask for before it counts as a hang") \
	X(STOP_MICROSECONDS, 8, "time for a stop that a queue may ask for")

/** What a channel may have. */
enum pb_resource {
#define PB_RESOURCE_ENUM(name, number, meaning) PB_RESOURCE_##name = (number),
	PB_RESOURCES(PB_RESOURCE_ENUM)
#undef PB_RESOURCE_ENUM
};
#define PB_RESOURCE_COUNT 9u /**< resources */
#define PB_RESOURCES_USED 6u /**< those that are used up: the first ones */

/** Privileges of a channel. The admin channel gives them. */
#define PB_PRIVILEGE_PAGING 0x1u /**< paging buffers */
#define PB_PRIVILEGE_QUERY  0x2u /**< QUERY about other channels and their queues */

/** Contiguous system memory: DMA buffers, lists, queue pages. */
#define PB_SEGMENT_SYSTEM 0u

#endif
