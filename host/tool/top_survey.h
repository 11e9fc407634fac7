/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The queues of a card, for `patchbay top`: queried a few at a time, without blocking.
 */
#ifndef PB_HOST_TOOL_TOP_SURVEY_H
#define PB_HOST_TOOL_TOP_SURVEY_H

#include "patchbay/patchbay.h"

/** Largest number of queues. */
#define PB_SURVEY_QUEUES 4096u
/** Largest number of channels. */
#define PB_SURVEY_CHANNELS 32u
/** Largest number of queries in one round; up to half of them search for unknown queues. */
#define PB_SURVEY_QUESTIONS 256u
/** Queries that can be unanswered at once. */
#define PB_SURVEY_ASKED 8u

/** A queue as last queried. */
struct pb_top_queue {
	uint32_t channel;         /**< owner; 0: no queue has this index */
	uint32_t index;           /**< index of its handle; unique on the card */
	uint32_t node;            /**< node that the queue runs on */
	uint32_t priority;        /**< enum pb_priority */
	uint32_t why;             /**< enum pb_why */
	uint32_t waits_for_queue; /**< handle of the awaited queue; only with why WAITING */
	uint64_t waits_for_value; /**< timeline value awaited; only with why WAITING */
	uint32_t pending;         /**< submissions that have not completed */
	uint32_t completed;       /**< submissions completed, modulo 2^32 */
	bool failed;              /**< the fence record holds an error that was not acknowledged */
	double rate;              /**< submissions completed in a second; NaN: unknown */
	uint64_t moment;          /**< time of the query, in microseconds */
};

/** A query without a reply. */
struct pb_survey_question {
	bool asked;       /**< the slot is in use */
	uint32_t tag;     /**< tag of its command */
	uint32_t what;    /**< enum pb_query */
	uint32_t channel; /**< channel queried */
	uint32_t index;   /**< index of the queue queried */
};

/** Phase of a round. */
enum pb_survey_phase {
	PB_SURVEY_CHANNEL, /**< query the number of queues of each channel */
	PB_SURVEY_SEARCH,  /**< search the indices of unknown queues */
	PB_SURVEY_QUEUE,   /**< query known queues */
	PB_SURVEY_DONE,    /**< idle until the next round */
};

/** A survey of all queues, by queries of one channel. */
struct pb_survey {
	struct pb_channel *channel; /**< sends the queries; its own queues are left out */
	enum pb_survey_phase phase; /**< phase of the present round */
	uint32_t left;              /**< queries left in the round */
	uint32_t next_channel;      /**< next channel to query, or to search for queues */
	uint32_t next_queue;        /**< next queue to query; continues across rounds */
	uint32_t visited;           /**< queues that the round has visited */
	uint32_t limit;             /**< all queues have indices below this */
	enum pb_error refused;      /**< why the firmware refuses queries; PB_ERROR_OK: it answers */
	struct {
		uint32_t queues;                              /**< queues that the channel has */
		uint32_t known;                               /**< queues whose index is known */
		uint32_t cursor;                              /**< next index to search */
	} channels[PB_SURVEY_CHANNELS];                       /**< by channel */
	struct pb_top_queue queues[PB_SURVEY_QUEUES];         /**< by index */
	struct pb_survey_question questions[PB_SURVEY_ASKED]; /**< queries without a reply */
};

/** Starts a survey without known queues. @param channel attached; must stay so while the survey is used */
void pb_survey_begin(struct pb_survey *survey, struct pb_channel *channel);
/** Starts a round, unless the last one is still in progress. */
void pb_survey_round(struct pb_survey *survey);
/**
 * Reads the replies that have come and sends further queries. Never blocks.
 * @param now microseconds on the clock used for rates
 * @return PB_ERROR_OK, or why no further query is possible
 */
enum pb_error pb_survey_poll(struct pb_survey *survey, uint64_t now);
/** Returns whether every queue that the channels have had at their last query is known. */
bool pb_survey_complete(const struct pb_survey *survey);
/** Lists the queues, the busiest first. @param list out: room for PB_SURVEY_QUEUES pointers @return number of queues */
uint32_t pb_survey_list(const struct pb_survey *survey, const struct pb_top_queue **list);

#endif
