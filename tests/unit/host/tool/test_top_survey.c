/* SPDX-License-Identifier: MIT */
/* `patchbay top`: the queues of other channels, found and asked after by the real core, a few questions at a time. */
#include <math.h>
#include <string.h>

#include "host/tool/top_survey.h"
#include "tests/unit/card_queues.h"

static struct card card;
static struct pb_channel watcher;
static struct pb_survey survey;
static const struct pb_top_queue *list[PB_SURVEY_QUEUES];

#define WATCHER 5u

static int start(void **state)
{
	(void)state;
	card_start(&card);
	card_join(&card, &watcher, WATCHER);
	pb_survey_begin(&survey, &watcher);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	card_leave(&watcher);
	card_stop(&card);
	return 0;
}

/** One whole round. @return how many questions it took; one more than that were never under way */
static uint32_t go_round(uint64_t now)
{
	const uint32_t asked = watcher.control_put;
	uint32_t polls = 0;

	pb_survey_round(&survey);
	while (survey.phase != PB_SURVEY_DONE) {
		assert_int_equal(pb_survey_poll(&survey, now), PB_ERROR_OK);
		assert_in_range(watcher.control_put - watcher.reply_get, 0, PB_SURVEY_ASKED);
		(void)watcher.link->ops->wait(watcher.link, 1000);
		assert_true(++polls < 10000);
	}
	return watcher.control_put - asked;
}

static const struct pb_top_queue *find(uint32_t channel, uint32_t index)
{
	const struct pb_top_queue *queue = &survey.queues[index];

	assert_int_equal(queue->channel, channel);
	assert_int_equal(queue->index, index);
	return queue;
}

static uint32_t index_of(const struct pb_queue *queue)
{
	return PB_HANDLE_INDEX(queue->handle);
}

static void finds_those_of_others(void **state)
{
	struct card_client client;

	(void)state;
	card_join_client(&card, &client, 3);
	assert_int_equal(pb_survey_list(&survey, list), 0);
	go_round(1000);
	assert_int_equal(pb_survey_list(&survey, list), 3);
	assert_int_equal(find(1, index_of(&card.queues[0]))->node, 0);
	assert_int_equal(find(1, index_of(&card.queues[1]))->node, 1);
	assert_int_equal(find(3, index_of(&client.queue))->priority, PB_PRIORITY_NORMAL);
	assert_int_equal(find(3, index_of(&client.queue))->why, PB_WHY_EMPTY);
	assert_int_equal(survey.refused, PB_ERROR_OK);
	/* Seven other clients, and nothing to search for. */
	assert_int_equal(go_round(2000), 7 + 3);
	card_leave(&client.channel);
}

static void its_own_are_left_out(void **state)
{
	struct pb_segment segments[4];
	struct pb_queue own;

	(void)state;
	card_make_segments(&watcher, segments);
	assert_int_equal(pb_queue_create(&own, &watcher, &segments[0], 0, 8), PB_ERROR_OK);
	go_round(1000);
	assert_int_equal(pb_survey_list(&survey, list), 2);
	assert_int_equal(survey.queues[index_of(&own)].channel, 0);
}

static void they_come_and_go(void **state)
{
	struct pb_queue queues[3];

	(void)state;
	go_round(1000);
	for (uint32_t i = 0; i < 3; i++)
		card_queue_make(&queues[i], &card,
				&(struct card_queue_request){.place = i, .level = PB_PRIORITY_HIGH});
	go_round(2000);
	assert_int_equal(pb_survey_list(&survey, list), 5);
	assert_int_equal(find(1, index_of(&queues[2]))->priority, PB_PRIORITY_HIGH);
	assert_int_equal(card_queue_close(&queues[1]), PB_ERROR_OK);
	go_round(3000);
	assert_int_equal(pb_survey_list(&survey, list), 4);
	assert_int_equal(survey.queues[index_of(&queues[1])].channel, 0);
	/* Its place is taken again: where it was before, or at another index. */
	card_queue_make(&queues[1], &card, &(struct card_queue_request){.place = 1});
	go_round(4000);
	assert_int_equal(pb_survey_list(&survey, list), 5);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(card_queue_close(&queues[i]), PB_ERROR_OK);
	go_round(5000);
	assert_int_equal(pb_survey_list(&survey, list), 2);
}

static void a_place_may_get_another_owner(void **state)
{
	struct card_client client;
	uint32_t index;

	(void)state;
	card_join_client(&card, &client, 3);
	index = index_of(&client.queue);
	go_round(1000);
	find(3, index);
	/* As if it had been another channel's before. */
	survey.queues[index].channel = 4;
	survey.channels[3].known--;
	survey.channels[4].known++;
	go_round(2000); /* it is not */
	go_round(3000);
	find(3, index);
	assert_int_equal(survey.channels[3].known, 1);
	assert_int_equal(survey.channels[4].known, 0);
	card_leave(&client.channel);
}

/* ---- many of them ---- */

#define MANY 600u

static void many_take_many_rounds(void **state)
{
	static struct pb_queue queues[MANY];
	uint32_t rounds = 0;

	(void)state;
	for (uint32_t i = 0; i < MANY; i++)
		card_queue_make(&queues[i], &card, &(struct card_queue_request){.place = i});
	while (pb_survey_list(&survey, list) < MANY + 2u) {
		assert_in_range(go_round(1000u * rounds), 1, PB_SURVEY_QUESTIONS);
		assert_true(++rounds < 8);
	}
	/* Half of a round is there for the search. */
	assert_true(rounds >= MANY / (PB_SURVEY_QUESTIONS / 2u));
	for (uint32_t i = 0; i < MANY; i++)
		find(1, index_of(&queues[i]));
	/* All are asked after, although no round has room for all. */
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(go_round(1000000), PB_SURVEY_QUESTIONS);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(find(1, index_of(&queues[i]))->moment, 1000000);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(card_queue_close(&queues[i]), PB_ERROR_OK);
}

/* ---- what they do ---- */

static void complete(uint32_t queue, uint32_t count)
{
	const uint32_t timeline = (uint32_t)card.queues[queue].timeline;

	for (uint32_t i = 1; i <= count; i++) {
		const struct pb_descriptor work = card_nothing(&card, i);

		card_submit(&card, queue, &work);
		(void)card_wait(&card, queue, timeline + i);
	}
}

static void rates_and_order(void **state)
{
	const uint32_t first = index_of(&card.queues[0]), second = index_of(&card.queues[1]);

	(void)state;
	complete(0, 10);
	go_round(1000000);
	assert_true(isnan(find(1, first)->rate));
	complete(0, 6);
	complete(1, 8);
	go_round(3000000);
	assert_int_equal(pb_survey_list(&survey, list), 2);
	assert_true(list[0]->index == second && fabs(list[0]->rate - 4) < 1e-9);
	assert_true(list[1]->index == first && fabs(list[1]->rate - 3) < 1e-9);
	assert_int_equal(list[1]->completed, 16);
	complete(0, 1);
	go_round(4000000);
	assert_true(pb_survey_list(&survey, list) == 2 && list[0]->index == first);
	/* A clock that stands tells nothing new. */
	complete(0, 1);
	go_round(4000000);
	assert_true(fabs(find(1, first)->rate - 1) < 1e-9);
	/* Fewer than before: another queue with the same index. */
	survey.queues[first].completed += 100;
	go_round(5000000);
	assert_true(isnan(find(1, first)->rate));
	go_round(6000000);
	assert_true(find(1, first)->rate == 0);
}

static void what_waits(void **state)
{
	struct pb_descriptor work;

	(void)state;
	work = card_waiting_for(&card, 0, &card.queues[1], 1);
	card_submit(&card, 0, &work);
	go_round(1000);
	assert_int_equal(pb_survey_list(&survey, list), 2);
	assert_int_equal(list[0]->index, index_of(&card.queues[0])); /* more is pending */
	assert_int_equal(list[0]->why, PB_WHY_WAITING);
	assert_int_equal(list[0]->pending, 1);
	assert_int_equal(list[0]->waits_for_queue, card.queues[1].handle);
	assert_int_equal(list[0]->waits_for_value, 1);
	assert_false(list[0]->failed);
}

/* ---- what goes wrong ---- */

static void an_index_that_is_nowhere(void **state)
{
	(void)state;
	go_round(1000);
	/* As if the firmware told of more than there are. */
	survey.limit = 2;
	for (uint32_t i = 0; i < 3; i++) {
		pb_survey_round(&survey);
		survey.channels[1].queues = 9;
		assert_in_range(go_round(2000), 1, PB_SURVEY_QUESTIONS);
	}
	assert_int_equal(pb_survey_list(&survey, list), 2);
	survey.limit = 0;
	assert_in_range(go_round(3000), 1, 8);
}

static void the_firmware_is_gone(void **state)
{
	struct pb_boot_block *boot = (void *)(watcher.link->memory + PB_BOOT_OFFSET);

	(void)state;
	pb_survey_round(&survey);
	assert_int_equal(pb_survey_poll(&survey, 0), PB_ERROR_OK);
	boot->mcu_state = PB_MCU_DEAD;
	assert_int_equal(pb_survey_poll(&survey, 0), PB_ERROR_FIRMWARE_DEAD);
	boot->mcu_state = PB_MCU_RUNNING;
}

static void without_the_privilege(void **state)
{
	struct pb_channel admin;

	(void)state;
	card_join(&card, &admin, PB_CHANNEL_ADMIN);
	assert_int_equal(card_command(&admin, PB_COMMAND_CHANNEL_GRANT, WATCHER, 0, 1, PB_PRIORITY_HIGH, 0),
			 PB_ERROR_OK);
	assert_int_equal(go_round(1000), 7);
	assert_int_equal(survey.refused, PB_ERROR_NO_PERMISSION);
	assert_int_equal(pb_survey_list(&survey, list), 0);
	card_leave(&admin);
}

#define test(function) cmocka_unit_test_setup_teardown(function, start, stop)

UNIT_SUITE(test_top_survey)
{
	const struct CMUnitTest tests[] = {
		test(finds_those_of_others),
		test(its_own_are_left_out),
		test(they_come_and_go),
		test(a_place_may_get_another_owner),
		test(many_take_many_rounds),
		test(rates_and_order),
		test(what_waits),
		test(an_index_that_is_nowhere),
		test(the_firmware_is_gone),
		test(without_the_privilege),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
