/* SPDX-License-Identifier: MIT */
/* A host whose stop requests are all in use: the next one is refused, and the commands behind it are carried out. */
#include "tests/unit/card_queues.h"

/** Stop requests that one channel can have while others have none: 16, less one that each of 8 others is guaranteed. */
#define STOPS 8u

static struct card card;
static struct pb_queue signalling, draining[STOPS], other;

/** Drains that end when a queue goes on that is suspended. They take all stop requests that the channel can have. */
static void use_all_stops(void)
{
	card_queue_make(&signalling, &card, &(struct card_queue_request){.place = 0, .level = 2});
	card_queue_make(&other, &card, &(struct card_queue_request){.place = 1, .level = 2});
	assert_int_equal(pb_queue_suspend(&signalling, 0), PB_ERROR_OK);
	for (uint32_t i = 0; i < STOPS; i++) {
		struct pb_descriptor descriptor;
		uint32_t tag;

		card_queue_make(&draining[i], &card,
				&(struct card_queue_request){.place = 2u + i, .node = 1, .level = 2});
		descriptor = card_waiting_for(&card, i, &signalling, 1);
		card_queue_submit(&draining[i], &descriptor);
		assert_int_equal(pb_queue_suspend_begin(&draining[i], 0, &tag), PB_ERROR_OK);
		card_run(&card, 1000);
		/* Its slot of the command ring is wanted for what follows; the reply is expected below. */
		assert_int_equal(pb_channel_finish(&card.channel, tag, NULL), PB_ERROR_TIMEOUT);
	}
}

/** The replies to the drains come when the queue goes on. */
static void expect_drained(void)
{
	const struct pb_descriptor descriptor = card_nothing(&card, 1);

	card_queue_submit(&signalling, &descriptor);
	card_run(&card, 20000);
	for (uint32_t i = 0; i < STOPS; i++)
		card_equal("drained", card_queue_completed(&draining[i]), 1);
}

static void a_resume_behind_a_refused_stop_is_carried_out(void **state)
{
	static const struct {
		const char *name;
		uint32_t code;
	} cases[] = {
		{"PREEMPT", PB_COMMAND_PREEMPT},
		{"SUSPEND", PB_COMMAND_SUSPEND},
		{"RESET", PB_COMMAND_RESET},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t stop[PB_COMMAND_ARGUMENTS] = {0}, resume[PB_COMMAND_ARGUMENTS] = {0};
		uint32_t stop_tag, resume_tag;

		card_start(&card);
		use_all_stops();
		stop[cases[i].code == PB_COMMAND_RESET] = other.handle;
		resume[0] = signalling.handle;
		assert_int_equal(pb_channel_begin(&card.channel, cases[i].code, stop, &stop_tag),
				 PB_ERROR_OK);
		assert_int_equal(pb_channel_begin(&card.channel, PB_COMMAND_RESUME, resume, &resume_tag),
				 PB_ERROR_OK);
		card_run(&card, 1000);
		card_equal(cases[i].name, pb_channel_finish(&card.channel, stop_tag, NULL),
			   PB_ERROR_NO_SPACE);
		card_equal(cases[i].name, pb_channel_finish(&card.channel, resume_tag, NULL), PB_ERROR_OK);
		expect_drained();
		/* Asked again, it is carried out. */
		card_equal(cases[i].name,
			   card_command(&card.channel, cases[i].code, stop[0], stop[1], 0, 0, 0),
			   PB_ERROR_OK);
		card_stop(&card);
	}
}

/** What others need from a host without a free stop request: its queues close, its channel closes, the card is suspended. */
static void no_close_and_no_suspension_of_the_card_needs_a_stop_request(void **state)
{
	struct pb_channel admin;

	(void)state;
	card_start(&card);
	card_join(&card, &admin, PB_CHANNEL_ADMIN);
	use_all_stops();
	assert_int_equal(pb_card_suspend(&admin, 0), PB_ERROR_OK);
	assert_int_equal(pb_card_resume(&admin), PB_ERROR_OK);
	assert_int_equal(card_queue_close(&draining[0]), PB_ERROR_OK);
	assert_int_equal(card_queue_close(&other), PB_ERROR_OK);
	assert_int_equal(card_command(&admin, PB_COMMAND_CHANNEL_CLOSE, 1, 0, 0, 0, 0), PB_ERROR_OK);
	card_leave(&admin);
	card_stop(&card);
}

UNIT_SUITE(test_firmware_stops)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_resume_behind_a_refused_stop_is_carried_out),
		cmocka_unit_test(no_close_and_no_suspension_of_the_card_needs_a_stop_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
