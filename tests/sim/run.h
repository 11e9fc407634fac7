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
#include "tests/sim/options.h"

#define PB_HOSTS    3u
#define PB_QUEUES   5u  /**< of a host */
#define PB_RING_MAX 16u /**< descriptors of a ring, at most */
#define PB_CONTEXTS 2u  /**< of a host */
#define PB_SEGMENTS 3u  /**< of a host: one for buffers and lists, two for what they store into */
/** Places for a submission's buffer and lists, of a host. More than all its rings hold. */
#define PB_PLACES     96u
#define PB_MARKS      512u /**< submissions of a host in one schedule, at most */
#define PB_MARK_WORDS 4u   /**< three that it fills, one that nobody may */
/** Bytes of segment 0 of a host. */
#define PB_WORK_SYSTEM_BYTES 0x12000u
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
	uint32_t level; /**< enum pb_priority */
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
	uint32_t seen;       /**< completed, before the last look */
	bool was_held;       /**< something has held it since it was made */
	bool unsure;         /**< how some of it ended was not told: its events found no room */
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
	uint64_t sure_step;  /**< when it was lost for sure */
};

struct pb_host {
	struct pb_client client;
	bool attached;
	bool leaving; /**< it has asked to detach */
	bool paging;  /**< it has the privilege */
	uint64_t os_base[PB_SEGMENTS];
	uint64_t gpu_base[PB_SEGMENTS];
	uint8_t *memory[PB_SEGMENTS];
	uint32_t bytes[PB_SEGMENTS]; /**< 0: the segment is not there */
	struct pb_context_view contexts[PB_CONTEXTS];
	struct pb_queue_view queues[PB_QUEUES];
	struct pb_place places[PB_PLACES];
	struct pb_mark marks[PB_MARKS];
	uint32_t mark_count;
	uint32_t cookies;        /**< given so far */
	uint32_t events;         /**< read since the attach */
	bool died;               /**< without a word: its entry is the supervisor's to close */
	bool interrupted;        /**< since it was looked at last */
	uint32_t moderate_count; /**< as the last MODERATE that was answered has it */
	uint32_t moderate_us;
	uint32_t unreported;                 /**< completions since the last interrupt, at least */
	uint64_t unreported_since;           /**< virtual time */
	uint32_t dropped;                    /**< events, as its entry says */
	uint32_t was_dropped;                /**< at the last look */
	bool was_full;                       /**< its event ring, at the last look */
	bool opened;                         /**< `written` is what it has written */
	bool moving;                         /**< segment 2 is being made anew */
	bool refused;                        /**< something that it needs is all taken, by a hostile host */
	uint8_t *written;                    /**< what it has written into segment 0; PB_WORK_SYSTEM_BYTES */
	bool halted[PB_CARD_NODES];          /**< its work there waits for RESET */
	uint64_t halted_step[PB_CARD_NODES]; /**< when it was last so */
};

struct pb_node_view {
	uint64_t trouble_step; /**< when it last was reset in the middle of anything, or deaf */
	uint64_t deaf_step;    /**< when it last was deaf */
	uint32_t mode;         /**< enum pb_node_mode */
	uint32_t depth;
	uint32_t hang_us; /**< without progress */
	uint32_t answer_us;
	bool may_die; /**< its engine did not hear POWER */
	bool dead;
	uint64_t dead_step; /**< when the firmware said so */
	uint32_t slow;      /**< its engine's speed: one part in so many; 0: full */
};

/** What the admin gives a channel. */
struct pb_grant {
	uint32_t privileges;
	uint32_t weight;
	uint32_t cap;
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
	uint64_t faults;              /**< injected */
	uint64_t deaths;              /**< hosts that went without a word */
	uint64_t restarts;            /**< of the firmware */
	uint64_t hostile;             /**< words of garbage */
	uint64_t hostile_submissions; /**< of the hostile host, or what it takes for such */
	uint64_t moves;               /**< segments made anew elsewhere */
	uint64_t queries;
	uint64_t dropped;     /**< schedules in which an event ring was full */
	uint32_t touches_max; /**< in one pass: see pb_world_touches */
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
	uint8_t written[PB_HOSTS + 1u][PB_WORK_SYSTEM_BYTES]; /**< pb_host.written, by channel */
	struct pb_host hostile; /**< its channel is the one behind theirs; the judge does not look at it */
	uint32_t
		garbage; /**< how much: bits 0 and 1, if any: indices of rings seldom; bit 2: all of it seldom */
	struct pb_grant grants[PB_HOSTS + 2u]; /**< by channel */
	struct pb_node_view nodes[PB_CARD_NODES];
	uint64_t moved;    /**< virtual time: when anything last ended, came or was let go */
	enum pb_hold card; /**< NONE, SUSPENDING, SUSPENDED or RESUMING, as for a queue */
	struct pb_mutation mutation;
	struct pb_totals totals;
	jmp_buf broken;
	struct pb_options options;
	uint32_t rates;   /**< what is in this schedule: bits of PB_RATE_* */
	uint32_t action;  /**< the one that is under way, from 0 */
	uint32_t actions; /**< of this schedule */
	const char *
		broke; /**< the format of what broke: the same invariant, the same address; NULL: the firmware stopped */
	bool supervising; /**< replies of the admin are the supervisor's (supervisor.h) */
	bool lenient;     /**< the firmware was cut off in the middle of a pass */
	uint64_t pool_sums[PB_WORLD_POOL_PAGES]; /**< of pages that were nobody's, at the last look at them */
	bool pool_known[PB_WORLD_POOL_PAGES];
	uint32_t boot_words[16]; /**< the boot block's first line, as it must stand */
	uint32_t closing;        /**< mask of channels that the supervisor closes */
	bool quiet;              /**< nothing moved in the last step */
	char what[320];          /**< what broke */
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
