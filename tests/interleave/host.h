/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The hosts of an interleaving: each makes calls of the host library that the seed chooses, and compares what
 * it sees with the contract.
 */
#ifndef PB_TESTS_INTERLEAVE_HOST_H
#define PB_TESTS_INTERLEAVE_HOST_H

#include "patchbay/patchbay.h"
#include "tests/interleave/card.h"

#define PB_HOST_LANES 2u
/** Submissions of a queue in one session. */
#define PB_HOST_SUBMISSIONS 48u

/** What a submission does. */
enum pb_host_kind {
	PB_HOST_GOOD = 0,    /**< stores its value in its mark */
	PB_HOST_BAD = 1,     /**< its patch list has a bad entry */
	PB_HOST_FAULT = 2,   /**< stores its value at once or after some time, then the engine faults */
	PB_HOST_LONG = 3,    /**< as GOOD, after some time */
	PB_HOST_ENDLESS = 4, /**< as GOOD, after more time than a heartbeat may take */
	PB_HOST_AIMED = 5,   /**< stores its value where a segment is being created, or faults */
};

/** A submission as its host remembers it. */
struct pb_host_submission {
	uint64_t timeline;
	uint32_t fence_id;
	uint32_t value;
	uint32_t status; /**< final status: enum pb_error */
	bool aimed;
	bool returned;
	bool started;    /**< it had begun before it was returned */
	uint32_t resets; /**< resets of its node at the time of the submission */
};

/** A queue with its memory. */
struct pb_host_lane {
	struct pb_queue queue;
	struct pb_descriptor history[PB_LIMIT_RING_MAX];
	struct pb_memory buffer; /**< one page, divided into slots */
	struct pb_memory lists;
	uint32_t key;   /**< base of its fence ids */
	uint32_t marks; /**< offset of its first mark in the segment of marks */
	struct pb_host_submission submissions[PB_HOST_SUBMISSIONS];
	uint32_t settled;    /**< all before this index have completed or were returned */
	uint32_t failed;     /**< number of failed ones before `settled` */
	uint32_t preemption; /**< id of the last preempt request */
};

struct pb_host {
	uint32_t index;
	struct pb_weave_link *link;
	struct pb_channel channel;
	struct pb_segment system;
	struct pb_segment marks;
	uint32_t context;
	struct pb_host_lane lanes[PB_HOST_LANES];
	uint32_t serial;  /**< makes values differ */
	uint32_t events;  /**< number of the next event */
	uint32_t missing; /**< events that did not come */
	uint32_t dropped; /**< as the card counts them */
	uint64_t patches; /**< as the card counts them */
};

/* ---- host.c ---- */

/** An agent that is a host. */
void pb_host_run(void);
/** Initialises all hosts. Pre: no host runs. */
void pb_host_reset(void);
/**
 * Whether a call succeeded. If not, the firmware must have died since the session began, which ends the
 * session. Any other failure breaks a rule.
 */
bool pb_host_succeeded(const struct pb_host *host, enum pb_error error, const char *what);
/** Waits for the card, as a caller that polls does. */
bool pb_host_pause(struct pb_host *host);
/** Whether it is the only host in this schedule. */
bool pb_host_is_alone(void);
/** The next random choice: 0 to n - 1. */
uint32_t pb_host_choose(uint32_t n);

/* ---- host_submit.c ---- */

bool pb_host_lane_create(struct pb_host *host, uint32_t lane);
/** Submits, if there is room. */
bool pb_host_submit(struct pb_host *host, struct pb_host_lane *lane, enum pb_host_kind kind);
/** Reads the fence record and checks it. */
bool pb_host_check_fence(struct pb_host *host, struct pb_host_lane *lane);
/** Waits until all submissions have completed. */
bool pb_host_settle(struct pb_host *host, struct pb_host_lane *lane);
/** Checks completions by the consumer index alone. */
bool pb_host_count(struct pb_host *host, struct pb_host_lane *lane);
/** Notes the submissions before `end` as returned. */
void pb_host_returned(struct pb_host_lane *lane, uint32_t end, uint32_t count, bool started);
/** Checks that no returned submission has run since the call began. */
void pb_host_check_returned(const struct pb_host *host, const struct pb_host_lane *lane);
/** Finds the submission of a fence id. @return PB_HOST_WORKS: none in this queue */
uint32_t pb_host_find(const struct pb_host_lane *lane, uint32_t fence_id);

/* ---- host_stop.c ---- */

bool pb_host_preempt(struct pb_host *host, struct pb_host_lane *lane);
/** @param more submissions are allowed during the preemption */
bool pb_host_suspend(struct pb_host *host, struct pb_host_lane *lane, bool more);
/** Resets the engine under a queue. The queue is not used afterwards. */
bool pb_host_reset_queue(struct pb_host *host, struct pb_host_lane *lane);

/* ---- host_aim.c ---- */

/** Creates a segment while a submission starts that stores into it. */
bool pb_host_aim(struct pb_host *host, struct pb_host_lane *lane);
/** The address that such a submission stores to. */
#define PB_HOST_AIM 0x00240000u

/* ---- host_errors.c ---- */

/** Clears the error of a queue and of the context. */
bool pb_host_clear(struct pb_host *host, struct pb_host_lane *lane);

/** Submits a bad submission, checks its report, and clears the error. */
bool pb_host_fail_one(struct pb_host *host, struct pb_host_lane *lane, enum pb_host_kind kind);
/** Reads events and checks them. @return a bit for each enum pb_event_type seen */
uint32_t pb_host_events(struct pb_host *host);
/** Reads the boot block while the firmware dies and restarts. */
void pb_host_watch_restart(struct pb_host *host);
/** Checks what a dead firmware has left in memory. */
void pb_host_read_death(struct pb_host *host);

#endif
