/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The queues of a card, for `patchbay top`: asked of the firmware a few at a time, without ever waiting for an answer.
 */
#ifndef PB_HOST_TOOL_TOP_SURVEY_H
#define PB_HOST_TOOL_TOP_SURVEY_H

#include "host/patchbay.h"

/** Queues and channels that it knows, at most. */
#define PB_SURVEY_QUEUES   4096u
#define PB_SURVEY_CHANNELS 32u
/** Questions of one round, at most; half of them to look for queues that are not known. */
#define PB_SURVEY_QUESTIONS 256u
/** Questions under way at once. */
#define PB_SURVEY_ASKED 8u

/** A queue of some channel, as it was when it was asked after last. */
struct pb_top_queue {
	uint32_t channel;         /**< whose it is; 0: none has this index */
	uint32_t index;           /**< of its handle, the same for all channels */
	uint32_t node;            /**< that it runs on */
	uint32_t priority;        /**< enum pb_priority */
	uint32_t why;             /**< enum pb_why: what it is doing */
	uint32_t waits_for_queue; /**< handle; only WAITING */
	uint64_t waits_for_value; /**< of that queue's timeline */
	uint32_t pending;         /**< submissions that have not completed */
	uint32_t completed;       /**< submissions completed, modulo 2^32 */
	bool failed;              /**< it has an error that is not acknowledged */
	double rate;              /**< submissions completed in a second; NaN: not known yet */
	uint64_t moment;          /**< when that was, in microseconds */
};

/** A question that has not been answered. */
struct pb_survey_question {
	bool asked;       /**< there is one */
	uint32_t tag;     /**< of its command */
	uint32_t what;    /**< enum pb_query */
	uint32_t channel; /**< the one that it is about */
	uint32_t index;   /**< the queue's */
};

/** What a round is at. */
enum pb_survey_phase {
	PB_SURVEY_CHANNEL, /**< how many queues each channel has */
	PB_SURVEY_SEARCH,  /**< where those are that are not known */
	PB_SURVEY_QUEUE,   /**< what those do that are */
	PB_SURVEY_DONE,    /**< nothing until the next round */
};

/** A survey of one channel's card. */
struct pb_survey {
	struct pb_channel *channel; /**< that asks; what it has itself is left out */
	enum pb_survey_phase phase; /**< of the round */
	uint32_t left;              /**< questions of the round */
	uint32_t next_channel;      /**< to ask after, or to search for */
	uint32_t next_queue;        /**< to ask after: goes round, from one round to the next */
	uint32_t visited;           /**< indices that the round has been through */
	uint32_t limit;             /**< indices below this there may be */
	enum pb_error refused;      /**< why the firmware does not tell; OK: it does */
	struct {
		uint32_t queues; /**< it has, as the firmware says */
		uint32_t known;  /**< of those are known */
		uint32_t cursor; /**< where to search on */
	} channels[PB_SURVEY_CHANNELS];
	struct pb_top_queue queues[PB_SURVEY_QUEUES]; /**< by index */
	struct pb_survey_question questions[PB_SURVEY_ASKED];
};

/** Begins, with nothing known. @param channel attached, the caller's for as long as it lasts */
void pb_survey_begin(struct pb_survey *survey, struct pb_channel *channel);
/** Begins a round. If the last one is not over it goes on instead. */
void pb_survey_round(struct pb_survey *survey);
/**
 * Takes the answers that are there, and asks on. Never blocks.
 * @param now microseconds on the clock by which rates are counted
 * @return why there will be no more answers
 */
enum pb_error pb_survey_poll(struct pb_survey *survey, uint64_t now);
/** Lists the queues, the busiest first. @param list PB_SURVEY_QUEUES places @return how many there are */
uint32_t pb_survey_list(const struct pb_survey *survey, const struct pb_top_queue **list);

#endif
