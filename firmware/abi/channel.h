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

#include "firmware/abi/base.h"

/** The card's supervisor; it alone may close other channels. */
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
#define PB_ATTACH_OP_ATTACH   1u /**< what the channel had before is drained and freed first */
#define PB_ATTACH_OP_DETACH   2u /**< all that the channel has is drained and freed */
#define PB_ATTACH_COUNTER_ONE 4u /**< what makes the next request another value */

/** What the firmware does with a channel. */
enum pb_channel_state {
	PB_CHANNEL_CLOSED = 0,  /**< its rings are ignored */
	PB_CHANNEL_OPEN = 1,    /**< its rings are served */
	PB_CHANNEL_CLOSING = 2, /**< its work is being drained; ends as CLOSED */
	PB_CHANNEL_FAULTED = 3, /**< a ring index broke its rule; attach again */
};

/** Directory entry of one channel, 256 bytes. The host may write its two lines at any time. */
struct pb_channel_entry {
	/* line 0: written by the host */
	uint32_t attach_request; /**< see above; stored last */
	uint32_t host_version;   /**< PB_ABI_VERSION of the host */
	uint32_t incarnation;    /**< the firmware's incarnation that the host saw: another one is refused */
	uint32_t line0_reserved[13];

	/* line 1: written by the host */
	uint32_t control_put; /**< commands asked */
	uint32_t reply_get;   /**< replies read */
	uint32_t kick_put;    /**< kicks written */
	uint32_t rescan;      /**< bumped when the kick ring was full: look at every queue of the channel */
	uint32_t event_get;   /**< events read */
	uint32_t reset;       /**< reserved */
	uint32_t line1_reserved[10];

	/* line 2: written by the firmware */
	uint32_t attach_done;     /**< the last request answered */
	uint32_t state;           /**< enum pb_channel_state */
	uint32_t error;           /**< enum pb_error of the last attach, or why the channel faulted */
	uint32_t epoch;           /**< bumped at every attach and close; carried by events and records */
	uint32_t control_offset;  /**< array of struct pb_command */
	uint32_t reply_offset;    /**< array of struct pb_reply */
	uint32_t kick_offset;     /**< array of uint32_t queue handles */
	uint32_t event_offset;    /**< array of struct pb_event */
	uint32_t control_entries; /**< of the control ring, and of the reply ring */
	uint32_t kick_entries;    /**< of the kick ring */
	uint32_t event_entries;   /**< of the event ring */
	uint32_t line2_reserved[5];

	/* line 3: written by the firmware */
	uint32_t control_get;    /**< commands taken */
	uint32_t reply_put;      /**< replies written */
	uint32_t kick_get;       /**< kicks taken */
	uint32_t event_put;      /**< events written */
	uint32_t events_dropped; /**< events that found the ring full; the records hold what they said */
	uint32_t patches_low; /**< patch locations carried out in completed work since the attach, low word */
	uint32_t patches_high; /**< high word; stored before the fence record that they belong to */
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
 * Control commands. X(NAME, number, arguments -> results)
 *
 * PING            -> nothing
 * SEGMENT_CREATE  0 segment, 1 kind, 2,3 os_base, 4,5 gpu_base, 6,7 size, 8 backing bytes
 *                 -> 0 offset of the backing in card memory.
 *                 APERTURE: no more pages than the capability says, backing 0, result 0. None of its pages is
 *                 mapped at first. While its page table is being cleared, its id is BUSY and names no segment
 * SEGMENT_DESTROY 0 segment
 * CONTEXT_CREATE  -> 0 context handle
 * CONTEXT_DESTROY 0 context
 * CONTEXT_CLEAR   0 context: no longer lost
 * QUEUE_CREATE    0 node, 1 entries, 2,3 address of its struct pb_queue_page in segment 0, 4 enum pb_priority,
 *                 5 quantum in microseconds of engine time, 0: the default
 *                 -> 0 queue handle. NO_PERMISSION above the channel's cap; NO_SPACE for a second queue of a node
 *                 in host-ordered mode
 * QUEUE_DESTROY   0 queue; the reply comes when its last fed work has left the node. Before that a PREEMPT, SUSPEND
 *                 or RESET of it that is under way is answered with CANCELLED
 * QUEUE_CLEAR     0 queue: forgets the first error in its fence record
 * CHANNEL_CLOSE   0 channel (admin only); the reply comes when its work is gone and its slots are free.
 *                 An attach that its host asked for before that, and that was not answered, is over too
 * CHANNEL_GRANT   0 channel, 1 PB_PRIVILEGE_*, 2 weight 1..PB_WEIGHT_MAX, 3 highest enum pb_priority of its
 *                 queues (admin only): all its privileges from now on, whoever attaches there, until CHANNEL_CLOSE
 * FORMAT_SET      0 DriverId, PB_FORMAT_OWN and up, 1 to 12 struct pb_patch_format; BUSY while work is admitted,
 *                 NO_SPACE when the card holds as many of all channels as it can
 *                 -> 0 enum pb_format_reason
 * PREEMPT         0 queue, 1 cutoff: its put when this was asked, 2 preemption id, 3 PB_STOP_*
 *                 -> as struct pb_preempt_record: 0 fence_id, 1 valid, 2 completed, 3 returned, 4 started.
 *                 What was submitted before the cutoff completes or is returned; then the record is written, the
 *                 event and the reply are sent. What is behind it may be submitted at any time and runs afterwards.
 *                 BUSY while an earlier PREEMPT, SUSPEND or RESET of the queue is under way
 * SUSPEND         0 queue, or 0: the whole card (admin only), 1 cutoff, 2 PB_STOP_*.
 *                 A queue: what is before the cutoff completes or, with WITHDRAW, is withdrawn from the engine; then
 *                 nothing of it runs, the reply comes, and its host may move what it names. A card: the same of all
 *                 queues, without a cutoff
 * RESUME          0 queue, or 0: the whole card (admin only). Withdrawn work is read and patched anew
 * RESET           0 node, 1 queue or 0, 2 cutoff. 0: the channel's work there, halted by a bad paging buffer, goes on.
 *                 A queue: the engine is reset; what it ran of the queue fails with ENGINE_HANG, the rest is returned
 *                 -> 0 fence id of the last one aborted, or completed if none was, 1 valid, 2 completed, 3 returned.
 *                 While a PREEMPT of the queue is under way it forces that: the report of the PREEMPT comes first.
 *                 BUSY while a SUSPEND or RESET is under way
 * QUERY           0 enum pb_query, 1 handle, node or channel (another than its own: PB_PRIVILEGE_QUERY or the admin)
 *                 -> as pb_query says. Of a queue: 2 channel whose it is, 0: the asker's; a handle of generation 0
 *                 means whatever queue of that channel has the index
 * NODE_SET        0 node, 1 enum pb_node_mode, 2 depth 1..IN_FLIGHT, 3 microseconds without progress that count as a
 *                 hang, 4 microseconds for an engine's answer; 0 in 2..4: as it is (admin only). Another mode: BUSY
 *                 while the node has a queue
 * MODERATE        0 completions, 1 microseconds: the host interrupt comes when so many have gathered, or the first
 *                 one is so old, to the next tick; 1 or less: at each one. Events and replies are not moderated
 * TRACE           0 levels of the categories, PB_TRACE_LEVELS_*; 1,2 the host's clock in nanoseconds, for a record
 *                 (the admin, or PB_PRIVILEGE_QUERY). UNSUPPORTED if the board has no room for a trace
 *
 * 64-bit values are low word, high word. Unused arguments are ignored.
 */
#define PB_COMMANDS(X)                                                                                       \
	X(PING, 1, "answers")                                                                                \
	X(SEGMENT_CREATE, 2, "makes a segment, with backing memory")                                         \
	X(SEGMENT_DESTROY, 3, "removes a segment")                                                           \
	X(CONTEXT_CREATE, 4, "makes a context")                                                              \
	X(CONTEXT_DESTROY, 5, "removes a context")                                                           \
	X(CONTEXT_CLEAR, 6, "lets a lost context work again")                                                \
	X(QUEUE_CREATE, 7, "makes a queue")                                                                  \
	X(QUEUE_DESTROY, 8, "removes a queue")                                                               \
	X(QUEUE_CLEAR, 9, "acknowledges a queue's first error")                                              \
	X(CHANNEL_CLOSE, 10, "reclaims another channel")                                                     \
	X(FORMAT_SET, 11, "sets one of the channel's own patch formats")                                     \
	X(PREEMPT, 12, "takes back what a queue has submitted")                                              \
	X(SUSPEND, 13, "stops a queue, or the card")                                                         \
	X(RESUME, 14, "starts it again")                                                                     \
	X(RESET, 15, "lets halted work go on, or resets the engine under a queue")                           \
	X(QUERY, 16, "one object's state")                                                                   \
	X(TRACE, 17, "sets how much is traced")                                                              \
	X(CHANNEL_GRANT, 18, "gives another channel its privileges, weight and priority cap")                \
	X(NODE_SET, 19, "mode, depth and times of a node")                                                   \
	X(MODERATE, 20, "how often completions interrupt the host")

/** What a host may ask. */
enum pb_command_code {
#define PB_COMMAND_ENUM(name, number, meaning) PB_COMMAND_##name = (number),
	PB_COMMANDS(PB_COMMAND_ENUM)
#undef PB_COMMAND_ENUM
};

#define PB_COMMAND_ARGUMENTS 14u /**< words of arguments */

/** Written by the host. */
struct pb_command {
	uint32_t code;                            /**< enum pb_command_code */
	uint32_t tag;                             /**< the host's; comes back in the reply */
	uint32_t arguments[PB_COMMAND_ARGUMENTS]; /**< as the command says */
};
PB_SIZE(pb_command, 64);
PB_AT(pb_command, code, 0);
PB_AT(pb_command, tag, 4);
PB_AT(pb_command, arguments, 8);

#define PB_REPLY_RESULTS 13u /**< words of results */

/** Written by the firmware. The host asks only while it has room for the reply. */
struct pb_reply {
	uint32_t code;                      /**< the command's */
	uint32_t tag;                       /**< the command's; replies may come in another order */
	uint32_t error;                     /**< enum pb_error */
	uint32_t results[PB_REPLY_RESULTS]; /**< as the command says; 0 elsewhere */
};
PB_SIZE(pb_reply, 64);
PB_AT(pb_reply, code, 0);
PB_AT(pb_reply, tag, 4);
PB_AT(pb_reply, error, 8);
PB_AT(pb_reply, results, 12);

/* X(NAME, number, meaning) */
#define PB_EVENTS(X)                                                                                         \
	X(SUBMISSION_FAILED, 1, "refused before it ran: error, and the entry it failed at")                  \
	X(ENGINE_FAULT, 2, "the engine refused it: detail is the engine's fault code")                       \
	X(ENGINE_HANG, 3, "the engine was reset under it")                                                   \
	X(CONTEXT_LOST, 4, "detail is the context; its later work is cancelled")                             \
	X(QUEUE_FAULT, 5, "the queue's put index broke its rule; it takes no more work")                     \
	X(HALTED, 6, "a bad paging buffer: the channel's work on the node, detail, waits for RESET")         \
	X(PREEMPTED, 7, "a PREEMPT is done: detail is its id; the preempt record says what it came to")      \
	X(NODE_DEAD, 8, "the engine of the node, detail, does not answer; its work fails from now on")

/** What an event says. */
enum pb_event_type {
#define PB_EVENT_ENUM(name, number, meaning) PB_EVENT_##name = (number),
	PB_EVENTS(PB_EVENT_ENUM)
#undef PB_EVENT_ENUM
};

/** `index` of an event or record that speaks of no list entry. */
#define PB_INDEX_NONE 0xffffffffu

/** Written by the firmware. Says "look again"; the fence records hold the state. */
struct pb_event {
	uint32_t type;     /**< enum pb_event_type */
	uint32_t epoch;    /**< the channel's; older ones are stale */
	uint32_t queue;    /**< queue handle */
	uint32_t fence_id; /**< of the submission meant */
	uint32_t error;    /**< enum pb_error */
	uint32_t index;    /**< list entry, counted from the list's first; PB_INDEX_NONE if none */
	uint32_t detail;   /**< as the type says, else 0 */
	uint32_t number;   /**< counts events of the channel since attach, dropped ones too */
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
	PB_SEGMENT_APERTURE = 1, /**< pages of linear segments, mapped by paging buffers */
};

/* X(NAME, number, meaning): work of a higher level goes first, and stops work of a lower one. */
#define PB_PRIORITY_LEVELS(X)                                                                                \
	X(IDLE, 0, "when nothing else is there")                                                             \
	X(LOW, 1, "in the background")                                                                       \
	X(NORMAL, 2, "what a queue has that asks for nothing")                                               \
	X(HIGH, 3, "before normal work")                                                                     \
	X(REALTIME, 4, "before all else")

/** Work of a higher level goes first, and stops work of a lower one. */
enum pb_priority {
#define PB_PRIORITY_ENUM(name, number, meaning) PB_PRIORITY_##name = (number),
	PB_PRIORITY_LEVELS(PB_PRIORITY_ENUM)
#undef PB_PRIORITY_ENUM
};
#define PB_PRIORITIES 5u /**< levels */

/** Greatest weight of a channel: its share of a node's engine time beside others of the same level. */
#define PB_WEIGHT_MAX 64u

/** Who decides what a node runs next. */
enum pb_node_mode {
	PB_NODE_SCHEDULED = 0,    /**< the firmware, by level, weight and quantum */
	PB_NODE_HOST_ORDERED = 1, /**< the host: one queue, strictly first in, first out (WDDM 1.x) */
};

/** Flags of PREEMPT and SUSPEND. */
#define PB_STOP_INSIDE   0x1u /**< the engine may stop inside a buffer, if it can; else at its end */
#define PB_STOP_WITHDRAW 0x2u /**< of SUSPEND: withdraw what has not begun, instead of waiting for it */

/** What QUERY tells. */
enum pb_query {
	/**
	 * 0 enum pb_why, 1 queue that it waits for, 2,3 value that it waits for, 4 put, 5 admitted, 6 completed,
	 * 7,8 timeline reached, 9 1: an error is not acknowledged, 10 1: suspended, 11 node, 12 enum pb_priority
	 */
	PB_QUERY_QUEUE = 1,
	/**
	 * 0 enum pb_node_state, 1 enum pb_node_mode, 2 depth, 3 in flight, 4 progress, 5 microseconds of engine time,
	 * 6 times it went idle, 7 microseconds that it was idle because nothing was patched yet, 8 stops, 9 resets,
	 * 10 handle of the queue whose work is first in the ring, if it is the asker's, 11 completed
	 */
	PB_QUERY_NODE = 2,
	/** 0 1: lost */
	PB_QUERY_CONTEXT = 3,
	/** 0 PB_PRIVILEGE_*, 1 weight, 2 highest enum pb_priority, 3 queues, 4 contexts, 5 segments, 6 admitted, 7 events dropped */
	PB_QUERY_CHANNEL = 4,
};

/* X(NAME, number, meaning): why a queue has nothing running. */
#define PB_WHYS(X)                                                                                           \
	X(RUNNING, 0, "it has work at the engine")                                                           \
	X(EMPTY, 1, "nothing is submitted")                                                                  \
	X(PREPARING, 2, "its next submission is being resolved and patched")                                 \
	X(READY, 3, "its turn has not come: others run on the node")                                         \
	X(WAITING, 4, "its next submission waits for another queue")                                         \
	X(SUSPENDED, 5, "it is suspended")                                                                   \
	X(PREEMPTED, 6, "a preemption or reset of it is under way")                                          \
	X(HALTED, 7, "a bad paging buffer halted its channel on the node")                                   \
	X(FAULTED, 8, "its put index broke its rule")                                                        \
	X(NODE_BUSY, 9, "the node's engine is being stopped or reset")                                       \
	X(NODE_DEAD, 10, "the node's engine does not answer any more")                                       \
	X(CARD_SUSPENDED, 11, "the card is suspended")

/** Why a queue has nothing running. */
enum pb_why {
#define PB_WHY_ENUM(name, number, meaning) PB_WHY_##name = (number),
	PB_WHYS(PB_WHY_ENUM)
#undef PB_WHY_ENUM
};

/* X(NAME, number, meaning): what the firmware has asked a node's engine. */
#define PB_NODE_STATES(X)                                                                                    \
	X(RUNNING, 0, "it runs what it is fed")                                                              \
	X(STOPPING, 1, "it was asked to stop, so that work can be withdrawn")                                \
	X(RESETTING, 2, "it was asked to reset itself")                                                      \
	X(CYCLING, 3, "it did not answer; the node is reset as a whole")                                     \
	X(DEAD, 4, "it did not answer that either")

/** What the firmware has asked a node's engine. */
enum pb_node_state {
#define PB_NODE_STATE_ENUM(name, number, meaning) PB_NODE_STATE_##name = (number),
	PB_NODE_STATES(PB_NODE_STATE_ENUM)
#undef PB_NODE_STATE_ENUM
};

/** Privileges of a channel. The admin channel gives them. */
#define PB_PRIVILEGE_PAGING 0x1u /**< paging buffers */
#define PB_PRIVILEGE_QUERY  0x2u /**< QUERY about other channels and their queues */

/** Contiguous system memory: DMA buffers, lists, queue pages. */
#define PB_SEGMENT_SYSTEM 0u

#endif
