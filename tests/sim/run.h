/* SPDX-License-Identifier: MIT */
/**
 * @file
 * One schedule: the card, its hosts, and what each host knows from the contract alone. The judge compares this
 * state with what the firmware writes. No part of the state is read from the firmware.
 */
#ifndef PB_TESTS_SIM_RUN_H
#define PB_TESTS_SIM_RUN_H

#include <setjmp.h>

#include "patchbay/abi/errors.h"
#include "patchbay/abi/patch.h"
#include "patchbay/abi/submission.h"
#include "tests/sim/client.h"
#include "tests/sim/mutate.h"
#include "tests/sim/options.h"

#define PB_HOSTS    3u
#define PB_QUEUES   5u  /**< of one host */
#define PB_RING_MAX 16u /**< descriptors of one ring, at most */
#define PB_CONTEXTS 2u  /**< of one host */
#define PB_SEGMENTS 3u  /**< of one host: one for buffers and lists, two for marks */
/** Slots for the buffer and lists of submissions, of one host. More than all its rings hold. */
#define PB_SLOTS      96u
#define PB_MARKS      512u /**< submissions of one host in one schedule, at most */
#define PB_MARK_WORDS 4u   /**< three that a submission stores, one that none may store */
/** Bytes of a host's segment 0. */
#define PB_SUBMISSION_SYSTEM_BYTES 0x12000u
/** Value of a mark's word until its submission stores there. */
#define PB_UNMARKED 0x0ddba11du

/* What the firmware supports, queried once: bits of pb_run.features. */
#define PB_FEATURE_PREEMPT  0x01u
#define PB_FEATURE_SUSPEND  0x02u
#define PB_FEATURE_NODE_SET 0x04u
#define PB_FEATURE_QUERY    0x08u
#define PB_FEATURE_MODERATE 0x10u
#define PB_FEATURE_WAITS    0x20u
#define PB_FEATURE_RESET    0x40u /**< of a queue; comes with PREEMPT */

/** What a submission is, which decides how it may end. */
enum pb_kind {
	PB_KIND_PLAIN = 0, /**< runs to its end */
	PB_KIND_NULL,      /**< patched, not run */
	PB_KIND_EMPTY,     /**< no buffer */
	PB_KIND_BAD,       /**< refused with the error in `bad` at entry `bad_index` */
	PB_KIND_FAULT,     /**< ends in a FAULT packet */
	PB_KIND_HANG,      /**< ends in a HANG packet */
};

/** A submission's buffer and lists, and the words that patching must produce. */
struct pb_slot {
	bool used;
	uint32_t words;     /**< of the program */
	uint32_t raw[64];   /**< as the host writes it */
	uint32_t image[64]; /**< as it must be when it runs */
	uint32_t patches;
	struct pb_patch_location patch[8];
	uint32_t allocations;
	struct pb_allocation allocation[8];
	bool presumes; /**< PB_PATCH_PRESUMED: `presumed` stands behind the allocation list */
	struct pb_presumed presumed[8];
};

/** The words of memory that one submission stores into. */
struct pb_mark {
	uint32_t value[3]; /**< value that it stores; 0: it does not store there */
	uint32_t seen[3];  /**< with `settled` or `gone`: the word's last value */
	bool settled;      /**< the submission has ended, or is held: no word may change */
	bool gone;         /**< its page was revoked: nothing can be stored there */
};

struct pb_entry_wait {
	uint32_t queue; /**< index in the host; PB_QUEUES: a handle that names nothing */
	uint32_t handle;
	uint64_t value;
	bool reached; /**< before its queue was destroyed */
};

/** One submission, as its host knows it. */
struct pb_entry {
	enum pb_kind kind;
	bool paging;
	bool resumed;   /**< PB_OPTION_RESUME */
	bool sure_lost; /**< its context is lost and stays lost: it cannot succeed */
	uint32_t fence_id;
	uint64_t timeline;
	uint32_t context; /**< index in the host */
	uint32_t slot;
	uint32_t mark;
	uint32_t bad;        /**< enum pb_error */
	uint32_t bad_index;  /**< list entry */
	uint32_t wrong_word; /**< not 0: the word of the descriptor that is wrong (submission.c) */
	uint32_t cookie;
	uint32_t busy; /**< microseconds of engine time */
	uint32_t wait_count;
	struct pb_entry_wait waits[PB_WAITS_MAX];
	uint64_t step; /**< step of the schedule in which it was submitted */
};

/** An error event of a queue, until the fence record shows its completion. */
struct pb_reported {
	uint32_t fence_id;
	uint32_t error;
	uint32_t index;
};

/**
 * How long something may take that has begun: what others had to do first then, and what came since. Each queue, each
 * command and the card have their own, so that progress of others restarts nothing (judge_patience.c).
 */
struct pb_delay {
	bool on;
	uint32_t what;       /**< a change of it begins another delay */
	uint64_t since;      /**< virtual time */
	uint64_t allowed_us; /**< for what was outstanding then */
	uint64_t work_us;    /**< pb_node_view.work_us then, of the node or of all */
};

enum pb_queue_life {
	PB_QUEUE_ABSENT = 0,
	PB_QUEUE_CREATING,
	PB_QUEUE_OPEN,
	PB_QUEUE_DESTROYING,
};

/** A stop request of the host in progress. */
enum pb_hold {
	PB_HOLD_NONE = 0,
	PB_HOLD_PREEMPTING,
	PB_HOLD_RESETTING,
	PB_HOLD_SUSPENDING,
	PB_HOLD_SUSPENDED, /**< the reply has come: nothing runs */
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
	uint32_t priority; /**< enum pb_priority */
	uint32_t entries;
	uint32_t put;
	uint32_t completed;
	uint64_t timeline; /**< timeline value of the last submission */
	uint64_t reached;  /**< timeline value of the last completion */
	uint32_t next_fence;
	uint32_t last_fence; /**< fence id of the last completion */
	bool valid;          /**< at least one submission has completed */
	uint32_t errors;     /**< number of failures */
	struct pb_first_error first;
	uint64_t worst; /**< least timeline value that failed and was not cleared in time; UINT64_MAX: none */
	uint64_t worst_step; /**< last step in which `worst` was so */
	uint32_t seen;       /**< completed, at the last check */
	bool was_held;       /**< a stop request has held it since it was created */
	bool unsure;         /**< events found no room, so some ends were not reported */
	struct pb_entry ring[PB_RING_MAX];
	struct pb_reported reported[PB_RING_MAX];
	uint32_t reported_count;
	enum pb_hold hold;
	uint32_t cutoff;   /**< of the stop request */
	uint32_t stop_id;  /**< preemption id */
	uint32_t returned; /**< since the stop request */
	uint32_t reports;  /**< number of preemption reports */
	bool may_resume;   /**< nothing was submitted since the last report, whose first entry had begun */
	struct pb_entry back[PB_RING_MAX]; /**< returned, to be submitted again */
	uint32_t back_count;
	uint64_t reset_step;             /**< step of the last reset */
	uint64_t waited_step[PB_QUEUES]; /**< by queue: step in which its last waiter ended */
	uint64_t gone_step;              /**< last step in which its handle named nothing */
	struct pb_delay delay;           /**< of the ring head, since it could run */
};

struct pb_context_view {
	uint32_t handle;
	bool maybe_lost;     /**< something may have lost it since it was cleared */
	bool sure_lost;      /**< something has lost it, and nothing has cleared it */
	uint64_t clear_step; /**< step of the last clear */
	uint64_t maybe_step; /**< last step in which it may have been lost */
	uint64_t sure_step;  /**< step in which it was surely lost */
};

/** Segment of a live host whose pages the supervisor revokes at times: the last one. The others stay as they are. */
#define PB_REVOKED_SEGMENT (PB_SEGMENTS - 1u)

/** What has become of these pages. */
enum pb_revocation {
	PB_REVOCATION_NONE = 0, /**< they are the host's, and its segment is there */
	PB_REVOCATION_ASKED,    /**< a revocation is in progress */
	PB_REVOCATION_DONE,     /**< they are another's */
	PB_REVOCATION_GRANTING, /**< a grant is in progress */
	PB_REVOCATION_GRANTED,  /**< they are the host's; it must create its segment again */
};

struct pb_host {
	struct pb_client client;
	bool attached;
	bool detaching; /**< it has requested a detach */
	bool paging;    /**< it has the paging privilege */
	uint64_t os_base[PB_SEGMENTS];
	uint64_t gpu_base[PB_SEGMENTS];
	uint8_t *memory[PB_SEGMENTS];
	uint32_t bytes[PB_SEGMENTS]; /**< 0: the segment does not exist */
	struct pb_context_view contexts[PB_CONTEXTS];
	struct pb_queue_view queues[PB_QUEUES];
	struct pb_slot slots[PB_SLOTS];
	struct pb_mark marks[PB_MARKS];
	uint32_t mark_count;
	uint32_t cookies;        /**< given so far */
	uint32_t events;         /**< read since the attach */
	bool died;               /**< without a detach: the supervisor must close its channel */
	bool interrupted;        /**< since the last check */
	uint32_t moderate_count; /**< of the last MODERATE that was answered */
	uint32_t moderate_us;
	uint32_t unreported;       /**< completions since the last interrupt, at least */
	uint64_t unreported_since; /**< virtual time */
	uint32_t dropped;          /**< events, as its channel entry counts them */
	uint32_t was_dropped;      /**< `dropped` at the last check */
	bool was_full;             /**< its event ring was full at the last check */
	bool opened;               /**< `written` holds what it has written */
	bool moving;               /**< segment 2 is being created again */
	bool refused;              /**< a hostile host has taken something that it needs */
	enum pb_revocation revocation;
	uint64_t asked_at; /**< with PB_REVOCATION_ASKED: virtual time */
	uint8_t *written;  /**< what it has written into segment 0; PB_SUBMISSION_SYSTEM_BYTES */
	struct pb_delay delays[PB_LIMIT_CONTROL_ENTRIES]; /**< of its open commands */
	bool halted[PB_CARD_NODES];                       /**< its submissions on that node wait for RESET */
	uint64_t halted_step[PB_CARD_NODES];              /**< last step in which it was halted */
};

struct pb_node_view {
	uint64_t trouble_step; /**< last step in which it was reset in the middle of a submission, or deaf */
	uint64_t deaf_step;    /**< last step in which it was deaf */
	uint32_t mode;         /**< enum pb_node_mode */
	uint32_t depth;
	uint32_t hang_us; /**< without progress */
	uint32_t answer_us;
	bool may_die; /**< its engine ignored POWER */
	bool dead;
	uint64_t dead_step; /**< step in which the firmware reported it */
	uint32_t slow;      /**< its engine's speed: one part in so many; 0: full */
	uint64_t work_us;   /**< what all submissions and stop requests for it may take, so far */
};

/** What the admin grants a channel. */
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
	uint64_t cancelled; /**< with their queue or channel */
	uint64_t preemptions;
	uint64_t suspensions;
	uint64_t revocations; /**< of host memory */
	uint64_t parts;       /**< of these, of pages of a client that goes on */
	uint64_t beside;      /**< submissions that ran beside revoked pages of their client */
	uint64_t resets;
	uint64_t faults;              /**< injected */
	uint64_t deaths;              /**< hosts that died without a detach */
	uint64_t restarts;            /**< of the firmware */
	uint64_t hostile;             /**< garbage words */
	uint64_t hostile_submissions; /**< of the hostile host, or what the firmware accepts as submissions */
	uint64_t moves;               /**< segments created again elsewhere */
	uint64_t queries;
	uint64_t dropped;     /**< schedules in which an event ring was full */
	uint32_t touches_max; /**< in one pass: see pb_world_touches */
};

/** Host memory that the supervisor has revoked from a channel. bytes 0: none. */
struct pb_revoked {
	uint32_t address; /**< host address */
	uint32_t bytes;
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
	uint8_t written[PB_HOSTS + 1u][PB_SUBMISSION_SYSTEM_BYTES]; /**< pb_host.written, by channel */
	struct pb_host hostile; /**< its channel follows those of the others; the judge does not check it */
	uint32_t garbage;       /**< bits 0, 1: ring indices seldom garbage; bit 2: all words seldom */
	struct pb_grant grants[PB_HOSTS + 2u]; /**< by channel */
	struct pb_node_view nodes[PB_CARD_NODES];
	struct pb_delay card_delay;       /**< while the card is being suspended or resumed */
	struct pb_delay revocation_delay; /**< while pages of a live host are being revoked */
	enum pb_hold card;                /**< NONE, SUSPENDING, SUSPENDED or RESUMING, as for a queue */
	struct pb_mutation mutation;
	struct pb_totals totals;
	jmp_buf broken;
	struct pb_options options;
	uint32_t rates;    /**< what is in this schedule: bits of PB_RATE_* */
	uint32_t action;   /**< the current one, from 0 */
	uint32_t actions;  /**< of this schedule */
	const char *broke; /**< format of the message that names the invariant; NULL: the firmware stopped */
	bool supervising;  /**< replies on the admin channel belong to the supervisor (supervisor.h) */
	bool lenient;      /**< the firmware was cut off in the middle of a pass */
	uint64_t pool_sums[PB_WORLD_POOL_PAGES]; /**< of pages without an owner, at their last check */
	bool pool_known[PB_WORLD_POOL_PAGES];
	uint32_t boot_words[16];                  /**< first line of the boot block, as it must stay */
	uint32_t closing;                         /**< mask of channels that the supervisor closes */
	bool revoking;                            /**< a revocation of host memory waits for its reply */
	struct pb_revoked revoked[PB_HOSTS + 2u]; /**< by channel */
	bool quiet;                               /**< no engine and no pass did anything in the last step */
	char what[320];                           /**< what broke */
};

/** Ends the schedule: an invariant is broken. */
_Noreturn void pb_run_break(struct pb_run *run, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/** Prints a line about an event of the schedule, with --verbose. */
void pb_run_log(const struct pb_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** One step: time advances, the firmware and the engines run, and the judge checks. */
void pb_run_step(struct pb_run *run);
/** Steps until a host has all its replies. */
void pb_run_until_answered(struct pb_run *run, struct pb_host *host);
/** Posts a command on a channel that the judge does not check, and steps until the reply comes. */
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
