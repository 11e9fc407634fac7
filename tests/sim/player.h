/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A client of a contest (contest.h): queues, submissions and commands by index, without the checks of a schedule's
 * hosts. No call waits.
 */
#ifndef PB_TESTS_SIM_PLAYER_H
#define PB_TESTS_SIM_PLAYER_H

#include "patchbay/abi/submission.h"
#include "tests/sim/client.h"

#define PB_PLAYER_QUEUES  544u  /**< of one player, at most */
#define PB_PLAYER_ENTRIES 4u    /**< of each ring, unless pb_player_create_with() names another number */
#define PB_PLAYER_PATCHES 2000u /**< entries of the longest patch list */

/** What a submission does. A player has one buffer for each of these. */
enum pb_player_program {
	PB_PLAYER_EMPTY = 0, /**< no buffer */
	PB_PLAYER_BRIEF,     /**< runs for one short packet */
	PB_PLAYER_WORK,      /**< runs for `work_us`, in packets of `packet_us` */
	PB_PLAYER_LONG,      /**< runs for many such packets, as many as a buffer has room for */
	PB_PLAYER_HANG,      /**< hangs the engine */
	PB_PLAYER_PROGRAMS
};

struct pb_player_queue {
	bool open;
	bool asked; /**< its creation or its end has been requested */
	uint32_t handle;
	uint32_t node;
	uint32_t entries; /**< of its ring */
	uint32_t put;
	uint64_t timeline; /**< of the last submission */
	uint64_t reached;  /**< at the last pb_player_check() */
};

struct pb_player {
	struct pb_client client;
	uint8_t *memory; /**< of its segment */
	uint32_t context;
	uint32_t work_us;
	uint32_t packet_us;
	uint32_t words[PB_PLAYER_PROGRAMS]; /**< of each program */
	uint32_t
		stop_us; /**< how long a stop of its submissions may take, in its queue pages; 0: as the node has it */
	struct pb_player_queue queues[PB_PLAYER_QUEUES];
	uint64_t replies; /**< read so far */
};

/** One submission. */
struct pb_player_submission {
	enum pb_player_program program;
	uint32_t patches;      /**< 0..PB_PLAYER_PATCHES */
	uint32_t awaited;      /**< handle of the queue that it waits for; 0: none */
	uint64_t awaited_time; /**< timeline value */
	bool wrong;            /**< names a context that does not exist */
};

/** Length of the program PB_PLAYER_HANG, which no other has, in bytes. */
uint32_t pb_player_hang_bytes(void);
/**
 * Attaches as a client of the channel, with a segment and a context. Runs the card meanwhile, so nothing is judged.
 * @param run advances the card by one step @return false: the card refuses
 */
bool pb_player_join(struct pb_player *player, struct pb_world *world, uint32_t channel, uint32_t work_us,
		    uint32_t packet_us, void (*run)(struct pb_world *world));
/** What pb_player_create_with() asks for. */
struct pb_player_wish {
	uint32_t node;
	uint32_t priority;
	uint32_t
		entries; /**< of the ring: a longer one lies in the places of the next queues, which must not be used */
	uint32_t quantum_us; /**< 0: the default */
};
/** Requests a queue. The reply opens it. @return false: no room for a command, or the queue exists */
bool pb_player_create_with(struct pb_player *player, uint32_t q, const struct pb_player_wish *wish);
/** Requests a queue with PB_PLAYER_ENTRIES and the default quantum. */
bool pb_player_create(struct pb_player *player, uint32_t q, uint32_t node, uint32_t priority);
/** Requests the end of a queue. The reply ends it. @return false: no room for a command, or no such queue */
bool pb_player_destroy(struct pb_player *player, uint32_t q);
/** Submits and rings. @return false: the ring is full, or the queue is not open */
bool pb_player_submit(struct pb_player *player, uint32_t q, const struct pb_player_submission *submission);
/** Submissions of the queue that have not ended. */
uint32_t pb_player_outstanding(const struct pb_player *player, uint32_t q);
/** Submissions of the queue that have failed. */
uint32_t pb_player_failed(const struct pb_player *player, uint32_t q);
/** Timeline value that the queue has reached, by its fence record. */
uint64_t pb_player_reached(const struct pb_player *player, uint32_t q);
/** Checks the fence records of its open queues. @return false: a timeline went back, or beyond what was submitted */
bool pb_player_check(struct pb_player *player);
/** Reads all replies and events. @param replied called for each reply; NULL: none */
void pb_player_read(struct pb_player *player,
		    void (*replied)(void *context, const struct pb_question *question,
				    const struct pb_reply *reply),
		    void *context);

#endif
