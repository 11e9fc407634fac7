/* SPDX-License-Identifier: MIT */
#include "host/tool/top_survey.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEARCHES (PB_SURVEY_QUESTIONS / 2u)

static uint32_t at_most(uint32_t value, uint32_t most)
{
	return value < most ? value : most;
}

void pb_survey_begin(struct pb_survey *survey, struct pb_channel *channel)
{
	memset(survey, 0, sizeof(*survey));
	survey->channel = channel;
	survey->phase = PB_SURVEY_DONE;
	survey->limit = at_most(channel->card.capabilities[PB_CAPABILITY_QUEUES], PB_SURVEY_QUEUES);
}

void pb_survey_round(struct pb_survey *survey)
{
	if (survey->phase != PB_SURVEY_DONE)
		return;
	survey->phase = PB_SURVEY_CHANNEL;
	survey->left = PB_SURVEY_QUESTIONS;
	survey->next_channel = 1;
	survey->visited = 0;
}

static uint32_t channel_count(const struct pb_survey *survey)
{
	return at_most(survey->channel->card.channel_count, PB_SURVEY_CHANNELS);
}

/* ---- replies ---- */

/** Forgets the queue of an index. The search for its channel's queues restarts there at the latest. */
static void forget(struct pb_survey *survey, struct pb_top_queue *queue)
{
	const uint32_t index = (uint32_t)(queue - survey->queues);

	if (queue->channel == 0)
		return;
	survey->channels[queue->channel].known--;
	for (uint32_t c = 0; c < PB_SURVEY_CHANNELS; c++)
		survey->channels[c].cursor = at_most(survey->channels[c].cursor, index);
	*queue = (struct pb_top_queue){.channel = 0};
}

/** Returns submissions completed in a second since the last query. A queue with fewer completions than then is new. */
static double rate(const struct pb_top_queue *before, uint32_t channel, uint32_t completed, uint64_t now)
{
	const uint32_t more = completed - before->completed;

	if (before->channel != channel || more > INT32_MAX)
		return (double)NAN;
	/* The card's clock may have stopped. */
	return now > before->moment ? more * 1e6 / (double)(now - before->moment) : before->rate;
}

static void take_queue(struct pb_survey *survey, const struct pb_survey_question *question,
		       const uint32_t *results, uint64_t now)
{
	struct pb_top_queue *queue = &survey->queues[question->index];
	const struct pb_top_queue fresh = {
		.channel = question->channel,
		.index = question->index,
		.node = results[11],
		.priority = results[12],
		.why = results[0],
		.waits_for_queue = results[1],
		.waits_for_value = (uint64_t)results[3] << 32 | results[2],
		.pending = results[4] - results[6],
		.completed = results[6],
		.failed = results[9] != 0,
		.rate = rate(queue, question->channel, results[6], now),
		.moment = now,
	};

	if (queue->channel != question->channel) {
		forget(survey, queue);
		survey->channels[question->channel].known++;
	}
	*queue = fresh;
}

static void take(struct pb_survey *survey, const struct pb_survey_question *question, enum pb_error error,
		 const uint32_t *results, uint64_t now)
{
	struct pb_top_queue *queue = &survey->queues[question->index];

	if (question->what == PB_QUERY_CHANNEL) {
		survey->refused = error;
		survey->channels[question->channel].queues = error == PB_ERROR_OK ? results[3] : 0;
	} else if (error == PB_ERROR_OK) {
		take_queue(survey, question, results, now);
	} else if (queue->channel == question->channel) {
		forget(survey, queue);
	}
}

/** Forgets a queue that does not exist any more. @return true: the queue does not exist */
static enum pb_error take_answer(struct pb_survey *survey, struct pb_survey_question *question, uint64_t now)
{
	uint32_t results[PB_REPLY_RESULTS] = {0};
	const enum pb_error error = pb_channel_finish(survey->channel, question->tag, results);

	if (error == PB_ERROR_TIMEOUT)
		return PB_ERROR_OK;
	question->asked = false;
	/* Errors of the library have higher numbers than those of replies. */
	if (error > PB_ERROR_TIMEOUT)
		return error;
	take(survey, question, error, results, now);
	return PB_ERROR_OK;
}

/* ---- queries ---- */

static bool next_channel(struct pb_survey *survey, struct pb_survey_question *question)
{
	if (survey->next_channel == survey->channel->link->channel)
		survey->next_channel++;
	if (survey->next_channel >= channel_count(survey))
		return false;
	question->what = PB_QUERY_CHANNEL;
	question->channel = survey->next_channel++;
	return true;
}

/** Finds the next index without a known queue, each index once. */
static bool search_channel(struct pb_survey *survey, uint32_t c, struct pb_survey_question *question)
{
	uint32_t *cursor = &survey->channels[c].cursor;

	for (; survey->visited < survey->limit; survey->visited++) {
		const uint32_t index = (*cursor)++ % survey->limit;

		*cursor %= survey->limit;
		if (survey->queues[index].channel != 0)
			continue;
		survey->visited++;
		*question = (struct pb_survey_question){.what = PB_QUERY_QUEUE, .channel = c, .index = index};
		return true;
	}
	return false;
}

static bool next_search(struct pb_survey *survey, struct pb_survey_question *question)
{
	for (; survey->next_channel < channel_count(survey); survey->next_channel++) {
		const uint32_t c = survey->next_channel;

		if (survey->left <= PB_SURVEY_QUESTIONS - SEARCHES)
			return false;
		if (survey->channels[c].known < survey->channels[c].queues &&
		    search_channel(survey, c, question))
			return true;
		/* The firmware assigns low indices first: the next search starts there. */
		if (survey->channels[c].known >= survey->channels[c].queues)
			survey->channels[c].cursor = 0;
		survey->visited = 0;
	}
	return false;
}

static bool next_queue(struct pb_survey *survey, struct pb_survey_question *question)
{
	for (; survey->visited < survey->limit; survey->visited++) {
		const struct pb_top_queue *queue = &survey->queues[survey->next_queue];

		survey->next_queue = (survey->next_queue + 1u) % survey->limit;
		if (queue->channel == 0)
			continue;
		survey->visited++;
		*question = (struct pb_survey_question){
			.what = PB_QUERY_QUEUE, .channel = queue->channel, .index = queue->index};
		return true;
	}
	return false;
}

static bool next_question(struct pb_survey *survey, struct pb_survey_question *question)
{
	static bool (*const nexts[])(struct pb_survey * survey, struct pb_survey_question * question) = {
		[PB_SURVEY_CHANNEL] = next_channel,
		[PB_SURVEY_SEARCH] = next_search,
		[PB_SURVEY_QUEUE] = next_queue,
	};

	return survey->phase != PB_SURVEY_DONE && survey->left != 0 && nexts[survey->phase](survey, question);
}

/** Each part of a round goes by the answers of the one before it. */
static void end_phase(struct pb_survey *survey)
{
	for (uint32_t i = 0; i < PB_SURVEY_ASKED; i++)
		if (survey->questions[i].asked)
			return;
	if (survey->phase != PB_SURVEY_DONE)
		survey->phase++;
	survey->next_channel = 1;
	survey->visited = 0;
}

static enum pb_error ask(struct pb_survey *survey, struct pb_survey_question *question)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {
		question->what, question->what == PB_QUERY_CHANNEL ? question->channel : question->index,
		question->channel};
	const enum pb_error error =
		pb_channel_begin(survey->channel, PB_COMMAND_QUERY, arguments, &question->tag);

	survey->left--;
	question->asked = error == PB_ERROR_OK;
	/* A query without room in the ring is left to a later round. */
	return error == PB_ERROR_NO_SPACE ? PB_ERROR_OK : error;
}

enum pb_error pb_survey_poll(struct pb_survey *survey, uint64_t now)
{
	enum pb_error error = PB_ERROR_OK;
	bool more = true;

	for (uint32_t i = 0; i < PB_SURVEY_ASKED && error == PB_ERROR_OK; i++) {
		struct pb_survey_question *question = &survey->questions[i];

		if (question->asked)
			error = take_answer(survey, question, now);
		if (error == PB_ERROR_OK && !question->asked) {
			more = next_question(survey, question);
			if (more)
				error = ask(survey, question);
		}
	}
	if (!more)
		end_phase(survey);
	return error;
}

bool pb_survey_complete(const struct pb_survey *survey)
{
	for (uint32_t c = 1; c < channel_count(survey); c++)
		if (survey->channels[c].known < survey->channels[c].queues)
			return false;
	return true;
}

/* ---- the list ---- */

static double busyness(const struct pb_top_queue *queue)
{
	return isnan(queue->rate) ? 0 : queue->rate;
}

static int compare(const void *left, const void *right)
{
	const struct pb_top_queue *a = *(const struct pb_top_queue *const *)left;
	const struct pb_top_queue *b = *(const struct pb_top_queue *const *)right;

	if (busyness(a) < busyness(b) || busyness(a) > busyness(b))
		return busyness(a) > busyness(b) ? -1 : 1;
	if (a->pending != b->pending)
		return a->pending > b->pending ? -1 : 1;
	return a->index < b->index ? -1 : 1;
}

uint32_t pb_survey_list(const struct pb_survey *survey, const struct pb_top_queue **list)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < survey->limit; i++)
		if (survey->queues[i].channel != 0)
			list[count++] = &survey->queues[i];
	qsort(list, count, sizeof(void *), compare);
	return count;
}
