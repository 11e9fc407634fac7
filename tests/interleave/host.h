/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The hosts of an interleaving: each makes calls of the host library that the
 * seed chooses, and holds what it sees against the contract.
 */
#ifndef PB_TESTS_INTERLEAVE_HOST_H
#define PB_TESTS_INTERLEAVE_HOST_H

#include "host/patchbay.h"
#include "tests/interleave/card.h"

#define PB_HOST_LANES 2u
/** Submissions of a queue in one session. */
#define PB_HOST_WORKS 48u

/** What a submission does. */
enum pb_host_kind {
	PB_HOST_GOOD = 0,    /**< stores its value in its mark */
	PB_HOST_BAD = 1,     /**< its patch list has a bad entry */
	PB_HOST_FAULT = 2,   /**< stores its value, or does so after some time, then the engine faults */
	PB_HOST_LONG = 3,    /**< as GOOD, after some time */
	PB_HOST_ENDLESS = 4, /**< as GOOD, after more time than a heartbeat may take */
	PB_HOST_AIMED = 5,   /**< stores its value where a segment is being made, or faults */
};

/** A submission as its host remembers it. */
struct pb_host_work {
	uint64_t timeline;
	uint32_t fence_id;
	uint32_t value;
	uint32_t status; /**< what it ends with: enum pb_error */
	bool aimed;
	bool returned;
	bool started;    /**< before it was returned */
	uint32_t resets; /**< of its node, when it was submitted */
};

/** A queue with its memory. */
struct pb_host_lane {
	struct pb_queue queue;
	struct pb_descriptor history[PB_LIMIT_RING_MAX];
	struct pb_memory buffer; /**< a page, in places */
	struct pb_memory lists;
	uint32_t key;   /**< of its fence ids */
	uint32_t marks; /**< offset of its first mark in the segment of marks */
	struct pb_host_work works[PB_HOST_WORKS];
	uint32_t settled;    /**< before this all have completed or were returned */
	uint32_t failed;     /**< how many of them have failed */
	uint32_t preemption; /**< id of the last one asked for */
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
	uint32_t dropped; /**< as the card has counted them */
	uint64_t patches; /**< as the card has counted them */
};

/* ---- host.c ---- */

/** An agent that is a host. */
void pb_host_run(void);
/** Before any of them runs. */
void pb_host_reset(void);
/**
 * Whether a call went well. If not, the firmware must have died since the session began: then it is over.
 * Everything else breaks a rule.
 */
bool pb_host_went(const struct pb_host *host, enum pb_error error, const char *what);
/** Waits for the card, as a caller that polls does. */
bool pb_host_pause(struct pb_host *host);
/** Whether it is the only one in this schedule. */
bool pb_host_is_alone(void);
/** The next choice: 0 to n - 1. */
uint32_t pb_host_choose(uint32_t n);

/* ---- host_work.c ---- */

bool pb_host_lane_create(struct pb_host *host, uint32_t lane);
/** Submits, if there is room. */
bool pb_host_submit(struct pb_host *host, struct pb_host_lane *lane, enum pb_host_kind kind);
/** Reads the fence record and judges it. */
bool pb_host_look(struct pb_host *host, struct pb_host_lane *lane);
/** Waits until all that was submitted has completed. */
bool pb_host_settle(struct pb_host *host, struct pb_host_lane *lane);
/** By the consumer index alone. */
bool pb_host_count(struct pb_host *host, struct pb_host_lane *lane);
/** These were returned: the last of them before `end`. */
void pb_host_returned(struct pb_host_lane *lane, uint32_t end, uint32_t count, bool started);
/** Nothing of what was returned before it began has run since. */
void pb_host_check_returned(const struct pb_host *host, const struct pb_host_lane *lane);
/** The submission of a fence id; PB_HOST_WORKS: none of this queue */
uint32_t pb_host_find(const struct pb_host_lane *lane, uint32_t fence_id);

/* ---- host_stop.c ---- */

bool pb_host_preempt(struct pb_host *host, struct pb_host_lane *lane);
/** @param more it may submit meanwhile */
bool pb_host_suspend(struct pb_host *host, struct pb_host_lane *lane, bool more);
/** Resets the engine under a queue; the queue is not used any more. */
bool pb_host_reset_queue(struct pb_host *host, struct pb_host_lane *lane);

/* ---- host_aim.c ---- */

/** Makes a segment while work starts that aims at it. */
bool pb_host_aim(struct pb_host *host, struct pb_host_lane *lane);
/** Where it aims. */
#define PB_HOST_AIM 0x00240000u

/* ---- host_errors.c ---- */

/** Forgets the error of a queue and of the context. */
bool pb_host_clear(struct pb_host *host, struct pb_host_lane *lane);

/** Work that fails, what is said of it, and how it is forgotten. */
bool pb_host_fail_one(struct pb_host *host, struct pb_host_lane *lane, enum pb_host_kind kind);
/** Reads events and judges them. @return bit for each enum pb_event_type seen */
uint32_t pb_host_events(struct pb_host *host);
/** Looks on while the firmware dies and starts again. */
void pb_host_attend(struct pb_host *host);
/** After the firmware died: what it has left. */
void pb_host_mourn(struct pb_host *host);

#endif
