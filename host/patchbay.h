/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The host library: attach to a card, make segments, contexts and queues,
 * submit DMA buffers with their lists, wait for fences.
 *
 * All structs are the caller's and live at a fixed address while in use. No
 * heap, no operating system, no lock: one channel is used by one thread at a
 * time. What the firmware writes is foreign: it is read once and range-checked,
 * and PB_ERROR_PROTOCOL says that it made no sense.
 *
 * Every function that talks to the card may also return
 *   PB_ERROR_FIRMWARE_DEAD  it stopped or was restarted (pb_card_state says more)
 *   PB_ERROR_NO_CARD        the link is gone
 *   PB_ERROR_DETACHED       the channel was closed from the other side, or faulted
 *   PB_ERROR_PROTOCOL       see above
 */
#ifndef PB_HOST_PATCHBAY_H
#define PB_HOST_PATCHBAY_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/abi/boot.h"
#include "firmware/abi/channel.h"
#include "firmware/abi/crash.h"
#include "firmware/abi/errors.h"
#include "firmware/abi/patch.h"
#include "firmware/abi/submission.h"
#include "host/link.h"
#include "host/names.h"

/** Capabilities that the library keeps: keys below this. */
#define PB_CAPABILITY_KEYS 32u
/** How long a control command may take before it counts as lost, in microseconds. */
#define PB_COMMAND_TIMEOUT_US 5000000u

/* ---- card.c: what can be read with no command ---- */

/** Snapshot of a card's boot block, checked. */
struct pb_card_info {
	uint32_t abi_version;                      /**< PB_ABI_VERSION of the firmware */
	uint32_t memory_bytes;                     /**< card memory that the firmware uses */
	uint32_t channel_directory_offset;         /**< in card memory, in bytes */
	uint32_t channel_count;                    /**< its entries */
	char build[33];                            /**< zero-terminated, printable */
	uint32_t capabilities[PB_CAPABILITY_KEYS]; /**< by key; 0 where the card names none */
	uint32_t boot_stage;                       /**< enum pb_boot_stage */
	uint32_t waypoint;                         /**< enum pb_waypoint */
	uint32_t heartbeat;                        /**< passes of the main loop, modulo 2^32 */
	uint32_t incarnation;                      /**< counts boots; never 0 */
	uint32_t mcu_state;                        /**< enum pb_mcu_state */
	uint32_t mcu_deaths;                       /**< since the card started */
	uint32_t dead_stage;                       /**< boot_stage at the last death */
	uint32_t dead_waypoint;                    /**< waypoint at the last death */
	struct pb_fatal_record fatal;              /**< as read; valid is 0 if there is none */
};

/**
 * Reads the boot block.
 * @retval PB_ERROR_NO_CARD no firmware has ever come up in this memory
 * @retval PB_ERROR_BAD_VERSION of another major version; only abi_version is filled in
 * @retval PB_ERROR_PROTOCOL an offset or count in it is out of range
 */
enum pb_error pb_card_read(const struct pb_link *link, struct pb_card_info *info);

/* ---- crash.c: what dead firmware left behind ---- */

/**
 * Reads the record of the last crash, which is there until the next one, also after a restart. What it says of a CPU
 * and of a program is foreign: only its counts have been checked.
 * @param record all zeros if no firmware has crashed, or if there is no place for a record; else its magic is PB_CRASH_MAGIC
 * @retval PB_ERROR_NO_CARD no firmware has ever come up in this memory
 * @retval PB_ERROR_BAD_VERSION of another major version
 * @retval PB_ERROR_PROTOCOL the record lies out of range, is damaged, or changes all the time
 */
enum pb_error pb_crash_read(const struct pb_link *link, struct pb_crash_record *record);

/* ---- channel.c: attach, events, and whether the firmware lives ---- */

/** Commands of a channel that are not finished, at once; its control ring may have room for fewer. */
#define PB_COMMANDS_PENDING 16u

/** A command that was begun. */
struct pb_pending {
	enum {
		PB_PENDING_FREE = 0,
		PB_PENDING_ASKED = 1,    /**< its reply has not come */
		PB_PENDING_ANSWERED = 2, /**< its reply is here, for pb_channel_finish */
		PB_PENDING_GIVEN_UP = 3, /**< nobody wants its reply any more */
	} state;                         /**< where it stands */
	uint32_t code;                   /**< enum pb_command_code */
	uint32_t tag;                    /**< the library's, as in the reply */
	struct pb_reply reply;           /**< once ANSWERED */
};

/** A host's side of one channel. */
struct pb_channel {
	struct pb_link *link;           /**< the caller's, in use until the detach */
	struct pb_card_info card;       /**< as read when it attached */
	struct pb_channel_entry *entry; /**< in card memory */
	uint32_t epoch;                 /**< of this attachment */
	uint32_t control_offset;        /**< of the control ring in card memory, checked, as those below */
	uint32_t reply_offset;          /**< of the reply ring */
	uint32_t kick_offset;           /**< of the kick ring */
	uint32_t event_offset;          /**< of the event ring */
	uint32_t control_entries;       /**< of the control and of the reply ring */
	uint32_t kick_entries;          /**< of the kick ring */
	uint32_t event_entries;         /**< of the event ring */
	uint32_t control_put;           /**< commands asked */
	uint32_t reply_get;             /**< replies read */
	uint32_t kick_put;              /**< kicks written */
	uint32_t rescan;                /**< as stored in the entry last */
	uint32_t event_get;             /**< events read */
	uint32_t events_dropped;        /**< as pb_channel_dropped saw it last */
	uint32_t next_tag;              /**< of the next command */
	bool attached;                  /**< since the attach, until the detach */
	struct pb_pending pending[PB_COMMANDS_PENDING]; /**< commands that are not finished */
};

/**
 * Waits for the firmware to run, checks its version, and attaches. Whatever
 * this channel had before is drained and freed first. It also waits while the
 * card starts dead firmware again.
 * @param timeout_us for all of it
 * @retval PB_ERROR_FIRMWARE_DEAD it stopped: returned at once if nobody starts it again, else at the
 *   end of the time given
 * @retval PB_ERROR_BAD_VERSION firmware and library do not fit; card.abi_version has the firmware's
 * @retval PB_ERROR_TIMEOUT it does not answer; card.boot_stage has how far it came
 */
enum pb_error pb_channel_attach(struct pb_channel *channel, struct pb_link *link, uint64_t timeout_us);

/** Gives everything back. Does not close the link. */
enum pb_error pb_channel_detach(struct pb_channel *channel);

/**
 * Whether the firmware still is the one that the channel attached to.
 * @retval PB_ERROR_OK it is
 * @retval PB_ERROR_FIRMWARE_DEAD it is not; `now`, if not NULL, says what is known
 */
enum pb_error pb_channel_check(const struct pb_channel *channel, struct pb_card_info *now);

/**
 * Whether the firmware's main loop still turns. Never blocks; every function
 * that waits calls it at each look, so that a caller that polls is the only one
 * who needs it. Where nobody supervises the card its clock stands still, and
 * nothing is concluded from that.
 * @retval PB_ERROR_FIRMWARE_DEAD no pass of the main loop for PB_HEARTBEAT_US of the card's clock
 */
enum pb_error pb_channel_watch(const struct pb_channel *channel);

/** Takes the oldest unread event. @return false: there is none. */
bool pb_channel_event(struct pb_channel *channel, struct pb_event *event);
/**
 * How many events found the ring full since the last call. Not 0: what they
 * said is in the records; ask pb_queue_resync of every queue, and
 * pb_context_query of every context. Call it when pb_channel_event has no more.
 */
uint32_t pb_channel_dropped(struct pb_channel *channel);

/* ---- command.c: control commands ---- */

/**
 * Begins a control command; its reply may come much later, and in another
 * order than it was asked. Every tag must be given to pb_channel_finish until
 * that no longer returns TIMEOUT.
 * @param arguments PB_COMMAND_ARGUMENTS words
 * @retval PB_ERROR_NO_SPACE PB_COMMANDS_PENDING are not finished, or as many as the control ring holds not answered
 */
enum pb_error pb_channel_begin(struct pb_channel *channel, uint32_t code, const uint32_t *arguments,
			       uint32_t *tag);
/**
 * Takes the reply of a command that was begun. Never blocks.
 * @param results NULL or PB_REPLY_RESULTS words, filled in by any reply, one with an error too
 * @return the reply's error, or one of the library's; the command is over unless it is
 * @retval PB_ERROR_TIMEOUT the reply has not come yet: ask again
 * @retval PB_ERROR_BAD_ARGUMENT no such command is begun
 */
enum pb_error pb_channel_finish(struct pb_channel *channel, uint32_t tag, uint32_t *results);
/**
 * Carries out one control command and waits for its reply.
 * @param arguments PB_COMMAND_ARGUMENTS words
 * @param results as with pb_channel_finish
 * @return the reply's error, or one of the library's
 * @retval PB_ERROR_TIMEOUT no reply, or the firmware owes too many: the command may yet be carried out
 */
enum pb_error pb_channel_command(struct pb_channel *channel, uint32_t code, const uint32_t *arguments,
				 uint32_t *results);

/* ---- segment.c: segments and an allocator in each ---- */

/** What to ask for. */
struct pb_segment_request {
	uint32_t id;            /**< 0: contiguous system memory */
	uint64_t os_base;       /**< first address as the OS and the lists name it */
	uint64_t gpu_base;      /**< first address as the engine sees it */
	uint64_t size;          /**< bytes of address space, multiple of 4 KiB */
	uint32_t backing_bytes; /**< bytes of memory behind its start, multiple of 4 KiB; may be 0 */
	uint32_t kind;          /**< enum pb_segment_kind; an aperture has no backing of its own */
};

/** Extents that one segment's allocator can hold. */
#define PB_SEGMENT_EXTENTS 128u

/** A segment and its free list. */
struct pb_segment {
	struct pb_channel *channel;        /**< whose it is */
	struct pb_segment_request request; /**< as it was made */
	uint32_t memory_offset;            /**< where the backing lies in card memory */
	uint32_t extent_count;             /**< in use */
	struct {
		uint32_t offset;       /**< from the segment's start */
		uint32_t bytes;        /**< multiple of 64 */
	} extents[PB_SEGMENT_EXTENTS]; /**< allocated parts of the backing, sorted */
};

/** A piece of a segment's backing memory. */
struct pb_memory {
	struct pb_segment *segment; /**< that it is of */
	uint32_t offset;            /**< from the segment's start, multiple of 64 */
	uint32_t bytes;             /**< its size */
	uint64_t os_address;        /**< for lists and descriptors */
	uint8_t *bytes_host;        /**< where the host sees it; foreign: others may write here */
};

/** @retval PB_ERROR_BUSY the id is taken @retval PB_ERROR_NO_SPACE no slot or no backing is left */
enum pb_error pb_segment_create(struct pb_segment *segment, struct pb_channel *channel,
				const struct pb_segment_request *request);
/** @retval PB_ERROR_BUSY work or queues still use it */
enum pb_error pb_segment_destroy(struct pb_segment *segment);
/**
 * First fit. @param alignment power of two, at least 64
 * @retval PB_ERROR_NO_SPACE no free run is long enough, or all extents are taken
 */
enum pb_error pb_memory_allocate(struct pb_segment *segment, uint32_t bytes, uint32_t alignment,
				 struct pb_memory *memory);
/** The piece must come from pb_memory_allocate and be used by no submission. */
void pb_memory_free(struct pb_memory *memory);

/* ---- queue.c: contexts, queues, submissions, fences ---- */

/** @param context out: its handle */
enum pb_error pb_context_create(struct pb_channel *channel, uint32_t *context);
/** @retval PB_ERROR_BUSY admitted work names it */
enum pb_error pb_context_destroy(struct pb_channel *channel, uint32_t context);
/** Lets a context that an error lost work again. */
enum pb_error pb_context_clear(struct pb_channel *channel, uint32_t context);

/** What a preemption or a reset of a queue came to. */
struct pb_preempt {
	uint32_t count;         /**< preemptions of the queue that were reported; 0 for a reset */
	uint32_t preemption_id; /**< of the request; 0 for a reset */
	uint32_t
		fence_id; /**< of the last submission completed; for a reset of the last one aborted, if any */
	bool valid;       /**< fence_id says something */
	uint32_t completed; /**< consumer index behind the last submission completed or returned */
	uint32_t returned;  /**< submissions given back: the last ones before `completed` */
	bool started;       /**< the first of them had begun; PB_OPTION_RESUME goes on where it stopped */
};

/** A host's side of one queue. */
struct pb_queue {
	struct pb_channel *channel;    /**< whose it is */
	struct pb_memory memory;       /**< queue page and ring */
	uint32_t handle;               /**< PB_HANDLE */
	uint32_t node;                 /**< that it runs on */
	uint32_t entries;              /**< of its ring */
	uint32_t put;                  /**< descriptors written */
	uint32_t completed;            /**< the last that was read */
	uint64_t timeline;             /**< of the last descriptor submitted that was not returned */
	struct pb_descriptor *history; /**< the request's */
	/** A preemption. */
	struct pb_stop {
		bool pending;           /**< a preemption is begun, and its reply not taken */
		uint32_t tag;           /**< of its command */
		uint32_t id;            /**< its own */
		uint32_t cutoff;        /**< put when it was asked */
		uint32_t earliest;      /**< consumer index known then: what is before cannot be returned */
		struct pb_preempt last; /**< what the last one came to */
	} stop;                         /**< the last one */
};

/** What to ask for. */
struct pb_queue_request {
	uint32_t node;       /**< 0 up */
	uint32_t entries;    /**< power of two, within the card's capabilities */
	uint32_t priority;   /**< enum pb_priority */
	uint32_t quantum_us; /**< engine time of its turn, in microseconds; 0: the card's default */
	/** NULL, or `entries` descriptors of the caller's, in private memory, for pb_queue_unfinished. */
	struct pb_descriptor *history;
};

/** A fence record, read whole. */
struct pb_fence {
	uint32_t completed;      /**< submissions done since the queue was made */
	uint64_t timeline;       /**< value of the last one done */
	uint32_t fence_id;       /**< SubmissionFenceId of the last one done */
	uint32_t status;         /**< enum pb_error of the last completed submission */
	bool valid;              /**< anything has completed */
	uint64_t patches;        /**< carried out in completed work of the whole channel since it attached */
	uint32_t error;          /**< first one since made or cleared */
	uint32_t error_fence_id; /**< the submission it befell */
	uint32_t error_index;    /**< the list entry, or PB_INDEX_NONE */
	uint32_t errors;         /**< submissions that failed or were cancelled */
};

/** @param system segment 0 of the channel @retval PB_ERROR_NO_PERMISSION a level above the channel's cap */
enum pb_error pb_queue_create_with(struct pb_queue *queue, struct pb_channel *channel,
				   struct pb_segment *system, const struct pb_queue_request *request);
/** The same at level NORMAL, with the default quantum and no history. */
enum pb_error pb_queue_create(struct pb_queue *queue, struct pb_channel *channel, struct pb_segment *system,
			      uint32_t node, uint32_t entries);
/** Returns when the queue's last work has left its node. Frees its memory. */
enum pb_error pb_queue_destroy(struct pb_queue *queue);
/**
 * Fills in one wait, for a submission of any queue of the same channel: it runs
 * when `queue` has reached the timeline value, which need not have been
 * submitted yet. The array, of up to PB_WAITS_MAX, lies in memory of segment 0
 * that is the card's until the submission has completed; the descriptor's
 * wait_address and wait_count name it.
 */
void pb_wait_on(struct pb_wait *wait, const struct pb_queue *queue, uint64_t timeline);
/**
 * Writes one descriptor, kicks, and rings. Never blocks.
 * descriptor->timeline_* 0 means "the next": one more than the last one's.
 * @retval PB_ERROR_NO_SPACE the ring is full: wait for a fence first
 */
enum pb_error pb_queue_submit(struct pb_queue *queue, const struct pb_descriptor *descriptor);
/**
 * How many submissions are done, without waiting: for an interrupt routine.
 * What they did to memory, and the events that they raised, are visible.
 */
enum pb_error pb_queue_completed(struct pb_queue *queue, uint32_t *completed);
/** Reads the fence record. */
enum pb_error pb_queue_fence(struct pb_queue *queue, struct pb_fence *fence);
/**
 * Waits until the queue's timeline has reached a value.
 * @param fence NULL, or the record as it was then
 * @retval PB_ERROR_TIMEOUT it has not
 */
enum pb_error pb_queue_wait(struct pb_queue *queue, uint64_t timeline, uint64_t timeout_us,
			    struct pb_fence *fence);
/** Acknowledges the record's first error. */
enum pb_error pb_queue_clear(struct pb_queue *queue);

/* ---- stop.c: taking work back, stopping and going on ---- */

/**
 * Takes back what the queue has submitted: each of it has completed, or is
 * returned, when this comes back. Returned work does not advance the timeline,
 * and its timeline values may be given again; if nothing was submitted
 * meanwhile, "the next" is again the value behind the last one completed.
 * @param flags PB_STOP_INSIDE or 0
 * @param result NULL, or what it came to
 * @retval PB_ERROR_BUSY an earlier preemption, suspension or reset of the queue is under way
 * @retval PB_ERROR_TIMEOUT it is still under way: call pb_queue_preempt_finish again
 */
enum pb_error pb_queue_preempt(struct pb_queue *queue, uint32_t preemption_id, uint32_t flags,
			       struct pb_preempt *result);
/** Asks for it and does not wait. Submitting stays allowed; that work is not taken back. */
enum pb_error pb_queue_preempt_begin(struct pb_queue *queue, uint32_t preemption_id, uint32_t flags);
/**
 * Whether it is done. Never blocks.
 * @retval PB_ERROR_TIMEOUT not yet
 * @retval PB_ERROR_BAD_ARGUMENT none was begun, or it has been finished
 */
enum pb_error pb_queue_preempt_finish(struct pb_queue *queue, struct pb_preempt *result);
/**
 * Reads the record of the last preemption that was reported, as for an
 * interrupt routine after PB_EVENT_PREEMPTED; the reply comes right behind it,
 * and is to be finished all the same. All is 0 if there was none.
 */
enum pb_error pb_queue_preempted(struct pb_queue *queue, struct pb_preempt *last);

/**
 * Waits until what was submitted has completed or, with PB_STOP_WITHDRAW, has
 * been withdrawn from the engine. Then nothing of the queue runs until
 * pb_queue_resume, its memory may be moved, and submitting stays allowed.
 * @param flags PB_STOP_*
 */
enum pb_error pb_queue_suspend(struct pb_queue *queue, uint32_t flags);
/** Asks for it and does not wait; for pb_channel_finish. */
enum pb_error pb_queue_suspend_begin(struct pb_queue *queue, uint32_t flags, uint32_t *tag);
/** Lets a suspended queue run again; withdrawn work is read and patched anew. */
enum pb_error pb_queue_resume(struct pb_queue *queue);
/** The same of all queues of all channels. @param channel the admin's */
enum pb_error pb_card_suspend(struct pb_channel *channel, uint32_t flags);
/** Ends it. @param channel the admin's */
enum pb_error pb_card_resume(struct pb_channel *channel);

/**
 * Resets the engine under a queue: what it ran of it fails with ENGINE_HANG,
 * the rest is returned. Other queues' work is done again.
 * @param result NULL, or what it came to
 */
enum pb_error pb_queue_reset(struct pb_queue *queue, struct pb_preempt *result);
/** Lets the channel's work on a node go on that a bad paging buffer halted. */
enum pb_error pb_node_release(struct pb_channel *channel, uint32_t node);

/**
 * Work that will never complete because the firmware died or the channel was
 * closed: each call hands out one submission, oldest first, each of them once.
 * The request of the queue must have had a history. It may have run in part, or
 * even whole, unseen. From the first one on the queue is good for nothing else;
 * all this is done before the channel attaches again.
 * @param descriptor as it was submitted, its timeline value filled in
 * @retval PB_ERROR_OK there is none: all of it completed, was returned before or handed out, or may yet complete
 * @retval PB_ERROR_FIRMWARE_DEAD here is one, lost with the firmware
 * @retval PB_ERROR_RETURNED here is one; the channel was closed or faulted, or left
 * @retval PB_ERROR_BAD_ARGUMENT the queue has no history
 */
enum pb_error pb_queue_unfinished(struct pb_queue *queue, struct pb_descriptor *descriptor);

/* ---- query.c: what the firmware says of its objects, and settings ---- */

/** A queue as the firmware sees it. */
struct pb_queue_state {
	uint32_t why;             /**< enum pb_why: why nothing of it runs */
	uint32_t waits_for_queue; /**< handle; only WAITING */
	uint64_t waits_for_value; /**< of that queue's timeline */
	uint32_t put;             /**< submissions seen since creation */
	uint32_t admitted;        /**< read and checked */
	uint32_t completed;       /**< completed or returned */
	uint64_t timeline;        /**< reached */
	bool failed;              /**< the fence record has an error that is not acknowledged */
	bool suspended;           /**< by its host, or with the card */
	uint32_t node;            /**< that it runs on */
	uint32_t priority;        /**< enum pb_priority */
};

/** A node as the firmware sees it. */
struct pb_node_status {
	uint32_t state;        /**< enum pb_node_state */
	uint32_t mode;         /**< enum pb_node_mode */
	uint32_t depth;        /**< submissions fed at once, at most */
	uint32_t in_flight;    /**< fed and not retired */
	uint32_t progress;     /**< the engine's counter of progress */
	uint32_t engine_us;    /**< engine time, modulo 2^32 */
	uint32_t idle_times;   /**< times it went idle */
	uint32_t unpatched_us; /**< time that it was idle because nothing was patched yet */
	uint32_t stops;        /**< times its engine was stopped */
	uint32_t resets;       /**< times it was reset */
	uint32_t head;      /**< handle of the queue whose work is first in its ring, if it is the asker's */
	uint32_t completed; /**< submissions, modulo 2^32 */
};

/** A channel as the firmware sees it. */
struct pb_channel_status {
	uint32_t privileges;     /**< PB_PRIVILEGE_* */
	uint32_t weight;         /**< 1 to PB_WEIGHT_MAX */
	uint32_t priority_cap;   /**< enum pb_priority */
	uint32_t queues;         /**< it has */
	uint32_t contexts;       /**< it has */
	uint32_t segments;       /**< it has */
	uint32_t admitted;       /**< submissions read and not completed */
	uint32_t events_dropped; /**< since it attached */
};

/** Asks about a queue of the caller's own. */
enum pb_error pb_queue_query(struct pb_queue *queue, struct pb_queue_state *state);
/**
 * The same of any queue. @param owner its channel; another than the asker's needs PB_PRIVILEGE_QUERY
 * @param handle generation 0: whatever queue has that index
 */
enum pb_error pb_handle_query(struct pb_channel *channel, uint32_t owner, uint32_t handle,
			      struct pb_queue_state *state);
/** Asks about a node. */
enum pb_error pb_node_query(struct pb_channel *channel, uint32_t node, struct pb_node_status *status);
/** @param lost whether its work is cancelled until pb_context_clear */
enum pb_error pb_context_query(struct pb_channel *channel, uint32_t context, bool *lost);
/** Asks about the channel itself. */
enum pb_error pb_channel_query(struct pb_channel *channel, struct pb_channel_status *status);

/** All that events say of a queue, without them. */
struct pb_queue_resync {
	struct pb_fence fence;       /**< failed, faulted, hung: error and errors */
	struct pb_preempt preempt;   /**< preempted: another count */
	struct pb_queue_state state; /**< queue fault, halted, node dead: why */
};

/** After pb_channel_dropped. */
enum pb_error pb_queue_resync(struct pb_queue *queue, struct pb_queue_resync *now);

/** How a node works. */
struct pb_node_request {
	uint32_t mode;      /**< enum pb_node_mode; another one only while the node has no queue */
	uint32_t depth;     /**< 1 to what the card can; 0: as it is */
	uint32_t hang_us;   /**< engine time without progress that counts as a hang; 0: as it is */
	uint32_t answer_us; /**< time for the engine to answer a stop or a reset; 0: as it is */
};

/** @param channel the admin's */
enum pb_error pb_node_set(struct pb_channel *channel, uint32_t node, const struct pb_node_request *request);
/**
 * Lets completions gather: the card interrupts when `count` are there, or the
 * first is `microseconds` old. A wait on a fence then takes up to so much longer.
 */
enum pb_error pb_channel_moderate(struct pb_channel *channel, uint32_t count, uint32_t microseconds);

#endif
