/* SPDX-License-Identifier: MIT */
/* When the judge accepts that a host gets no queue: while a hostile host holds all of them, and at no other time. */
#include <string.h>

#include "tests/sim/host.h"
#include "tests/sim/judge.h"
#include "tests/sim/schedule.h"
#include "tests/sim/setup.h"
#include "tests/sim/supervisor.h"
#include "tests/unit/unit.h"

/** Steps after which the firmware has answered everything. */
#define STEPS 400u

static int create(void **state)
{
	*state = pb_schedule_create();
	return *state == NULL ? -1 : 0;
}

static int destroy(void **state)
{
	pb_schedule_destroy(*state);
	return 0;
}

/** A card without faults, and one host that lacks its last queue. */
static void prepare(struct pb_run *run)
{
	struct pb_host *host = &run->hosts[0];

	run->options = (struct pb_options){.hosts = 1, .without = UINT32_MAX};
	pb_setup(run);
	while (host->queues[PB_QUEUES - 1u].life != PB_QUEUE_ABSENT) {
		pb_host_detach(run, host);
		while (host->detaching)
			pb_run_step(run);
		pb_host_attach(run, host);
	}
}

static uint32_t create_queue(struct pb_run *run, struct pb_client *client)
{
	struct pb_reply reply;

	pb_run_ask(run, client, PB_COMMAND_QUEUE_CREATE, (uint32_t[]){0, 4, 0, 0, PB_PRIORITY_LOW, 0}, 6,
		   &reply);
	return reply.error;
}

/** Another client takes all queues that are left. */
static void take_all_queues(struct pb_run *run)
{
	const uint32_t segment[] = {0, PB_SEGMENT_LINEAR, 0, 0, 0, 0, PB_PAGE_BYTES, 0, PB_PAGE_BYTES};
	struct pb_client *client = &run->hostile.client;
	struct pb_reply reply;
	uint32_t error;

	pb_client_ask(client, PB_ATTACH_OP_ATTACH);
	while (!pb_client_answered(client))
		pb_run_step(run);
	pb_run_ask(run, client, PB_COMMAND_SEGMENT_CREATE, segment, 9, &reply);
	assert_int_equal(reply.error, PB_ERROR_OK);
	do
		error = create_queue(run, client);
	while (error == PB_ERROR_OK);
	assert_int_equal(error, PB_ERROR_NO_SPACE);
}

/** The host wants one more queue, and the firmware has none. */
static void ask_for_one_more(struct pb_run *run)
{
	pb_host_create_queue(run, &run->hosts[0], PB_QUEUES - 1u);
	for (uint32_t i = 0; i < STEPS; i++)
		pb_run_step(run);
	assert_int_equal(run->hosts[0].queues[PB_QUEUES - 1u].life, PB_QUEUE_ABSENT);
}

static void refused_behind_the_close(struct pb_run *run)
{
	prepare(run);
	take_all_queues(run);
	pb_supervisor_close(run, run->hostile.client.channel);
	ask_for_one_more(run);
}

static void refused_for_no_reason(struct pb_run *run)
{
	prepare(run);
	take_all_queues(run);
	ask_for_one_more(run);
}

/** The command to close a channel frees nothing by itself: its queues are freed in slices, before the reply. */
static void a_queue_is_refused_while_the_channel_that_holds_all_is_being_closed(void **state)
{
	struct pb_run *run = *state;

	if (!pb_schedule_try(run, 1, refused_behind_the_close))
		fail_msg("%s", run->what);
}

static void a_queue_that_is_refused_for_no_reason_is_noticed(void **state)
{
	struct pb_run *run = *state;

	assert_false(pb_schedule_try(run, 1, refused_for_no_reason));
	assert_non_null(strstr(run->what, "command 7 about 4 fails with 6"));
}

UNIT_SUITE(test_refusals)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_queue_is_refused_while_the_channel_that_holds_all_is_being_closed),
		cmocka_unit_test(a_queue_that_is_refused_for_no_reason_is_noticed),
	};

	return cmocka_run_group_tests_name("refusals", tests, create, destroy);
}
