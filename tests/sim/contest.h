/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Contests by seed: clients that are judged beside rivals that play well (strategy.h), on one card whose passes cost
 * time. Each judged client has accounts of its own: its share of each node, and how long each thing takes that it waits
 * for. The bounds follow from the terms of the contest alone, never from what others do.
 */
#ifndef PB_TESTS_SIM_CONTEST_H
#define PB_TESTS_SIM_CONTEST_H

#include "tests/sim/account.h"
#include "tests/sim/strategy.h"

#define PB_CONTEST_CLIENTS 3u /**< that are judged */
#define PB_CONTEST_RIVALS  3u

/** What a client waits for, each on an account of its own. */
enum pb_contest_wait {
	PB_CONTEST_WAKE,    /**< a queue waits for a value that is reached; until its submission completes */
	PB_CONTEST_URGENT,  /**< a submission of the highest priority, until it completes */
	PB_CONTEST_REPLY,   /**< a PING */
	PB_CONTEST_PREEMPT, /**< a PREEMPT of a queue that has submissions */
	PB_CONTEST_CLOSE,   /**< a QUEUE_DESTROY */
	PB_CONTEST_PROGRESS, /**< of a queue below the priority of rivals: the next completion; one account a node */
	PB_CONTEST_WAITS = PB_CONTEST_PROGRESS + PB_CARD_NODES
};

/** Planted on purpose, so that the claims can be seen to fail. */
enum pb_contest_fault {
	PB_CONTEST_NO_FAULT = 0,
	PB_CONTEST_FROZEN,  /**< the engine of node 0 gets no time after a while */
	PB_CONTEST_STOPPED, /**< the MCU gets no time after a while */
	PB_CONTEST_UNFAIR,  /**< the rivals have ten times the weight that the terms say */
};

/** What the seed decides. */
struct pb_contest_terms {
	uint32_t nodes;
	uint32_t clients;
	uint32_t rivals;
	uint32_t milliseconds;
	uint32_t packet_us; /**< longest packet of anybody */
	uint32_t work_us;   /**< longest submission of anybody */
	uint32_t patches;   /**< longest list of anybody */
	uint32_t hang_us;   /**< of each node, and for an engine's answer */
	bool outranked;     /**< the rivals' queues have a higher priority than the clients' */
	bool above;         /**< one rival has queues at all priorities below the clients' */
	bool quiet;         /**< no client has work on the last node, where its urgent queues are */
	bool lone;          /**< each client has one urgent queue, and none that waits */
	bool lengthy;       /**< the clients' work is of the longest buffers; they allow a stop `stop_us` */
	uint32_t stop_us;   /**< 0: as the node has it */
	uint32_t strategies[PB_CONTEST_RIVALS];
	uint32_t weights[PB_CONTEST_CLIENTS + PB_CONTEST_RIVALS];
};

struct pb_contest_client {
	struct pb_player player;
	struct pb_share shares[PB_CARD_NODES];
	struct pb_patience waits[PB_CONTEST_WAITS];
	uint64_t ends[PB_CARD_NODES]; /**< timeline value of its queue of the node, at the last check */
	uint64_t awaited;             /**< timeline value that its waiting queue waits for; 0: it does not */
	uint64_t next[PB_CONTEST_WAITS]; /**< when it does the next of these */
	bool stopping;                   /**< its queue of node 0 is being preempted */
};

struct pb_contest {
	struct pb_world world;
	struct pb_random random;
	struct pb_player admin;
	struct pb_contest_terms terms;
	struct pb_contest_client clients[PB_CONTEST_CLIENTS];
	struct pb_rival rivals[PB_CONTEST_RIVALS];
	uint32_t without;            /**< strategies that no rival plays: to shorten a failing contest */
	enum pb_contest_fault fault; /**< planted in each contest */
	/** Sequence of the hanging submission that runs on each node; 0: none does. */
	uint32_t hung[PB_CARD_NODES];
	uint32_t owner[PB_CARD_NODES]; /**< channel of the submission that has run on each node last */
	struct pb_share
		low[PB_CARD_NODES]; /**< of the rival below the clients: what it has beside what it may */
	uint32_t low_time[PB_CARD_NODES]; /**< of which it has not been given its part */
	uint64_t completed;               /**< submissions of the judged clients, all contests */
	uint64_t waited;                  /**< waits of theirs that ended */
	uint32_t
		lack_worst; /**< most engine time that a client lacked in a window, permille of what it may */
	uint32_t wait_worst[PB_CONTEST_WAITS]; /**< longest wait, permille of its bound */
	char what[200];                        /**< the claim that is broken */
};

/** @return NULL: out of memory */
struct pb_contest *pb_contest_create(void);
void pb_contest_destroy(struct pb_contest *contest);
/** Runs one contest. @return true: every claim held; false: `what` names the one that did not */
bool pb_contest_run(struct pb_contest *contest, uint64_t seed);
/** After a failure: leaves out strategies as long as the contest fails. */
void pb_contest_shrink(struct pb_contest *contest, uint64_t seed);

#endif
