/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a contract of time gives one client: pure functions on a history, so that made-up histories can break each
 * claim. All times are virtual, in microseconds.
 */
#ifndef PB_TESTS_SIM_ACCOUNT_H
#define PB_TESTS_SIM_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

/** Engine time that a client has, on one node, beside what is due to it. Zero is an account without a window. */
struct pb_share {
	uint32_t permille; /**< of the engine's time that is due to it while it has submissions to run */
	uint64_t slack_us; /**< it may lack so much, in any window */
	uint64_t
		extra_us; /**< more of it, for what the window has had: each reset of the engine for a hang of others */
	int64_t lack; /**< the most that it lacks in a window that ends now, in microseconds times 1000 */
	int64_t most; /**< the largest `lack` so far */
};

/**
 * Adds an interval to the account. A window is any stretch of intervals in which the client was backlogged: the claim
 * is about the worst of all windows that end with this interval, not about the whole run alone.
 * @param backlogged it had submissions that could run, all the time
 * @param usable the engine was able to run something, all the time
 * @param used engine time that the client has had in the interval
 * @return false: the claim is broken
 */
bool pb_share_add(struct pb_share *share, uint32_t interval, bool backlogged, bool usable, uint32_t used);
/** A hang of another client costs the engine so much time. It counts in windows that have it, so until a window begins. */
void pb_share_reset(struct pb_share *share, uint32_t microseconds);

/** One thing that a client waits for. Zero is an account in which it waits for nothing. */
struct pb_patience {
	uint64_t since;    /**< when it began to wait */
	uint64_t bound_us; /**< how long it may */
	bool waiting;
	uint64_t most; /**< longest wait so far, ended or not */
	uint64_t ended;
};

/** The client begins to wait. Nothing changes if it waits already: what it gets meanwhile does not restart the time. */
void pb_patience_begin(struct pb_patience *patience, uint64_t now, uint64_t bound_us);
/** A hang of another client costs the engine so much time, for which the client must wait. */
void pb_patience_extend(struct pb_patience *patience, uint32_t microseconds);
/** What it waits for has come. @return false: too late */
bool pb_patience_end(struct pb_patience *patience, uint64_t now);
/** @return false: it has waited for too long */
bool pb_patience_check(struct pb_patience *patience, uint64_t now);

#endif
