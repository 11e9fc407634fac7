/* SPDX-License-Identifier: MIT */
/**
 * @file
 * One schedule: the card, its hosts, and what each of them knows from the contract alone. The judge compares this
 * with what the firmware writes; nothing in it was asked of the firmware.
 */
#ifndef PB_TESTS_SIM_RUN_H
#define PB_TESTS_SIM_RUN_H

#include <setjmp.h>

#include "firmware/abi/errors.h"
#include "firmware/abi/patch.h"
#include "firmware/abi/submission.h"
#include "tests/sim/client.h"
#include "tests/sim/mutate.h"

#define PB_HOSTS    3u
#define PB_QUEUES   5u  /**< of a host */
#define PB_RING_MAX 16u /**< descriptors of a ring, at most */
#define PB_CONTEXTS 2u  /**< of a host */
/** Places for a submission's buffer and lists, of a host. More than all its rings hold. */
#define PB_PLACES     96u
#define PB_MARKS      512u /**< submissions of a host in one schedule, at most */
#define PB_MARK_WORDS 4u   /**< three that it fills, one that nobody may */
/** What stands in a mark's word until its submission stores there. */
#define PB_UNMARKED 0x0ddba11du

/* What the firmware can do, found out once: bits of pb_run.features. */
#define PB_FEATURE_PREEMPT  0x01u
#define PB_FEATURE_SUSPEND  0x02u
#define PB_FEATURE_NODE_SET 0x04u
#define PB_FEATURE_QUERY    0x08u
#define PB_FEATURE_MODERATE 0x10u
#define PB_FEATURE_WAITS    0x20u
#define PB_FEATURE_RESET    0x40u /**< of a queue; comes with PREEMPT */

/* What a schedule has in it, bits of pb_run.rates. */
#define PB_RATE_BAD   1u /**< bad submissions, and such as fault */
#define PB_RATE_HANG  2u
#define PB_RATE_WAITS 4u
#define PB_RATE_STOPS 8u /**< preempt, suspend, reset */
#define PB_RATE_DEAF  16u
#define PB_RATE_ROOMS 32u /**< queues and channels come and go */
#define PB_RATE_CARD  64u /**< the card is suspended */

/** What a submission is, for what must become of it. */
enum pb_kind {
	PB_KIND_PLAIN = 0, /**< runs to its end */
	PB_KIND_NULL,      /**< patched, not run */
	PB_KIND_EMPTY,     /**< no buffer */
	PB_KIND_BAD,       /**< refused, as `bad` and `bad_index` say */
	PB_KIND_FAULT,     /**< ends in a FAULT packet */
	PB_KIND_HANG,      /**< ends in a HANG packet */
};

/** Where a submission's buffer and lists are, and what it must look like when it has been patched. */
struct pb_place {
	bool used;
	uint32_t words;     /**< of the program */
	uint32_t raw[64];   /**< as the host writes it */
	uint32_t image[64]; /**< as it must be when it runs */
	uint32_t patches;
	struct pb_patch_location patch[8];
	uint32_t allocations;
	struct pb_allocation allocation[8];
};

/** The words of card memory that one submission stores into. */
struct pb_mark {
	uint32_t value[3]; /**< what it stores; 0: it does not store there */
	uint32_t seen[3];  /**< with `settled`: what stands there, for ever */
	bool settled;      /**< its submission has ended, or is held: nothing may change */
};

struct pb_entry_wait {
	uint32_t queue; /**< of the host; PB_QUEUES: a handle that names nothing */
	uint32_t handle;
	uint64_t value;
	bool reached; /**< before its queue went */
};

/** One submission, as its host knows it. */
struct pb_entry {
	enum pb_kind kind;
	bool paging;
	bool resumed;   /**< PB_OPTION_RESUME */
	bool sure_lost; /**< its context is lost and stays so: it cannot succeed */
	uint32_t fence_id;
	uint64_t timeline;
	uint32_t context; /**< of the host */
	uint32_t place;
	uint32_t mark;
	uint32_t bad;        /**< enum pb_error */
	uint32_t bad_index;  /**< list entry */
	uint32_t wrong_word; /**< not 0: which word of the descriptor is wrong (work.c) */
	uint32_t cookie;
	uint32_t busy; /**< microseconds of engine time */
	uint32_t wait_count;
	struct pb_entry_wait waits[PB_WAITS_MAX];
	uint64_t step; /**< of the schedule, when it was submitted */
};

/** An error event of a queue, until its completion shows in the record. */
struct pb_told {
	uint32_t fence_id;
	uint32_t error;
	uint32_t index;
};

enum pb_queue_life {
	PB_QUEUE_ABSENT = 0,
	PB_QUEUE_CREATING,
	PB_QUEUE_OPEN,
	PB_QUEUE_DESTROYING,
};

/** What a host has asked that holds a queue up. */
enum pb_hold {
	PB_HOLD_NONE = 0,
	PB_HOLD_PREEMPTING,
	PB_HOLD_RESETTING,
	PB_HOLD_SUSPENDING,
	PB_HOLD_SUSPENDED, /**< the reply is there: nothing runs */
	PB_HOLD_RESUMING,
};

struct pb_first_error {
	uint32_t error; /**< PB_ERROR_OK: none since it was cleared */
	uint32_t fence_id;
	uint32_t index;
	uint64_t timeline;
};

struct pb_queue_view {
	enum pb_queue_life life;
	struct pb_queue_page *page;
	uint64_t address; /**< of the page */
	uint32_t handle;
	uint32_t node;
	uint32_t entries;
	uint32_t put;
	uint32_t completed;
	uint64_t timeline; /**< of the last one submitted */
	uint64_t reached;  /**< by the last one completed */
	uint32_t next_fence;
	uint32_t last_fence; /**< of the last one completed */
	bool valid;          /**< one has completed */
	uint32_t errors;     /**< that failed */
	struct pb_first_error first;
	uint64_t worst; /**< least timeline value that failed and was not cleared in time; UINT64_MAX: none */
	uint64_t worst_step; /**< when that was last so */
	struct pb_entry ring[PB_RING_MAX];
	struct pb_told told[PB_RING_MAX];
	uint32_t told_count;
	enum pb_hold hold;
	uint32_t cutoff;   /**< of what holds it */
	uint32_t stop_id;  /**< preemption id */
	uint32_t returned; /**< given back since it was asked */
	uint32_t reports;  /**< of preemptions */
	bool may_resume;   /**< nothing was submitted since the last report, whose first one had begun */
	struct pb_entry back[PB_RING_MAX]; /**< returned, to be submitted again */
	uint32_t back_count;
	uint64_t reset_step;             /**< when it was last reset */
	uint64_t waited_step[PB_QUEUES]; /**< by queue: when work that waited for it last ended */
	uint64_t gone_step;              /**< when its handle last named nothing */
};

struct pb_context_view {
	uint32_t handle;
	bool maybe_lost;     /**< something may have lost it since it was cleared */
	bool sure_lost;      /**< something has, and nothing has cleared it */
	uint64_t clear_step; /**< when it was cleared last */
	uint64_t maybe_step; /**< when it may have been lost last */
};

struct pb_host {
	struct pb_client client;
	bool attached;
	bool leaving;        /**< it has asked to detach */
	bool paging;         /**< it has the privilege */
	uint64_t os_base[2]; /**< of segment 0 and segment 1 */
	uint64_t gpu_base[2];
	uint8_t *memory[2];
	struct pb_context_view contexts[PB_CONTEXTS];
	struct pb_queue_view queues[PB_QUEUES];
	struct pb_place places[PB_PLACES];
	struct pb_mark marks[PB_MARKS];
	uint32_t mark_count;
	uint32_t cookies;                    /**< given so far */
	uint32_t events;                     /**< read since the attach */
	bool halted[PB_CARD_NODES];          /**< its work there waits for RESET */
	uint64_t halted_step[PB_CARD_NODES]; /**< when it was last so */
};

struct pb_node_view {
	uint64_t trouble_step; /**< when it last was reset in the middle of anything, or deaf */
	uint64_t deaf_step;    /**< when it last was deaf */
	uint32_t hang_us;      /**< without progress */
	uint32_t answer_us;
	bool may_die; /**< its engine did not hear POWER */
	bool dead;
};

struct pb_totals {
	uint64_t schedules;
	uint64_t submissions;
	uint64_t completed;
	uint64_t failed;
	uint64_t returned;
	uint64_t cancelled; /**< gone with their queue or channel */
	uint64_t preemptions;
	uint64_t suspensions;
	uint64_t resets;
	uint64_t faults; /**< injected */
};

struct pb_run {
	struct pb_world world;
	struct pb_random random;
	uint64_t seed;
	uint64_t step;
	bool verbose;
	uint32_t features;
	struct pb_client admin;
	uint32_t host_count;
	struct pb_host hosts[PB_HOSTS];
	struct pb_node_view nodes[PB_CARD_NODES];
	uint64_t moved;    /**< virtual time: when anything last ended, came or was let go */
	enum pb_hold card; /**< NONE, SUSPENDING, SUSPENDED or RESUMING, as for a queue */
	struct pb_mutation mutation;
	struct pb_totals totals;
	jmp_buf broken;
	uint32_t rates; /**< of what hosts do wrong: bits of PB_RATE_* */
	bool quiet;     /**< nothing moved in the last step */
	char what[320]; /**< what broke */
};

/** An invariant is broken: the schedule ends here. */
_Noreturn void pb_run_break(struct pb_run *run, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/** A line of what happens, with --verbose. */
void pb_run_say(const struct pb_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** A step: time moves, the firmware and the engines do something, and the judge looks. */
void pb_run_step(struct pb_run *run);
/** Steps until a host has all its answers. */
void pb_run_until_answered(struct pb_run *run, struct pb_host *host);
/** Asks on a channel that the judge does not look at, and steps until the reply is there. */
void pb_run_ask(struct pb_run *run, struct pb_client *client, uint32_t code, const uint32_t *arguments,
		uint32_t count, struct pb_reply *reply);

static inline uint32_t pb_outstanding(const struct pb_queue_view *queue)
{
	return queue->put - queue->completed;
}

static inline struct pb_entry *pb_entry_at(struct pb_queue_view *queue, uint32_t index)
{
	return &queue->ring[index % queue->entries];
}

#endif
