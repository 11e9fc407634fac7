/* SPDX-License-Identifier: MIT */
/* A client that takes all that it can get of the card's shared resources does not keep others from their own. */
#include <string.h>

#include "patchbay/abi/boot.h"
#include "patchbay/abi/errors.h"
#include "patchbay/abi/submission.h"
#include "tests/sim/client.h"
#include "tests/unit/unit.h"

#define QUEUES       (PB_LIMIT_STOPS + 2u)
#define QUEUE_STRIDE 0x400u
#define WAITS        0x10000u
#define SYSTEM_BYTES 0x18000u

static struct pb_world world;

static void run(uint32_t milliseconds)
{
	for (; milliseconds != 0; milliseconds--) {
		pb_world_advance(&world, 1000);
		for (uint32_t pass = 0; pass < 200u && pb_world_awake(&world); pass++)
			pb_world_pass(&world);
		pb_world_engines(&world, 1000);
	}
}

/** Posts a command and returns the first result. Bounded card time. */
static uint32_t ask(struct pb_client *client, uint32_t code, const uint32_t *arguments, uint32_t count)
{
	struct pb_question question;
	struct pb_reply reply;

	assert_true(pb_client_post(client, code, 0, arguments, count));
	for (uint32_t milliseconds = 0; milliseconds < 100u; milliseconds++) {
		run(1);
		if (!pb_client_reply(client, &reply, &question))
			continue;
		assert_int_equal(reply.code, code);
		assert_int_equal(reply.error, PB_ERROR_OK);
		return reply.results[0];
	}
	fail_msg("no answer to command %u", code);
	return 0;
}

/** Attaches, with one segment. @return the segment's offset */
static uint8_t *open_client(struct pb_client *client, uint32_t channel)
{
	const uint32_t segment[] = {0, PB_SEGMENT_LINEAR, 0, 0, 0, 0, SYSTEM_BYTES, 0, SYSTEM_BYTES};
	uint8_t *memory;

	pb_client_init(client, &world, channel);
	pb_client_ask(client, PB_ATTACH_OP_ATTACH);
	run(10);
	assert_true(pb_client_answered(client));
	memory = world.memory + ask(client, PB_COMMAND_SEGMENT_CREATE, segment, 9);
	memset(memory, 0, SYSTEM_BYTES);
	return memory;
}

static uint32_t create_queue(struct pb_client *client, uint32_t slot)
{
	return ask(client, PB_COMMAND_QUEUE_CREATE,
		   (uint32_t[]){0, 4, slot * QUEUE_STRIDE, 0, PB_PRIORITY_NORMAL, 0}, 6);
}

/** Submits to the queue at this index a submission that waits for a value that is never signalled. */
static void submit_waiting(struct pb_client *client, uint8_t *memory, uint32_t slot, uint32_t queue,
			   uint32_t awaited)
{
	struct pb_queue_page *page = (struct pb_queue_page *)(void *)(memory + slot * QUEUE_STRIDE);
	struct pb_wait *waits = (struct pb_wait *)(void *)(memory + WAITS);

	waits[slot] = (struct pb_wait){.queue = awaited, .timeline_low = 1000};
	*(struct pb_descriptor *)(void *)(page + 1) = (struct pb_descriptor){
		.flags = PB_FLAG_PAGING,
		.timeline_low = 1,
		.wait_count = 1,
		.wait_address_low = WAITS + slot * (uint32_t)sizeof(struct pb_wait),
	};
	pb_shared_release();
	pb_shared_write32(&page->put, 1);
	pb_client_kick(client, queue);
	run(1);
}

/** Requests a drain of each queue that cannot end. These take all records of stop requests. */
static void holds_stops(struct pb_client *client, uint8_t *memory)
{
	uint32_t queues[QUEUES];

	for (uint32_t i = 0; i < QUEUES; i++)
		queues[i] = create_queue(client, i);
	for (uint32_t i = 0; i + 1u < QUEUES; i++)
		submit_waiting(client, memory, i, queues[i], queues[QUEUES - 1u]);
	for (uint32_t i = 0; i < PB_LIMIT_CONTROL_ENTRIES; i++) {
		assert_true(pb_client_post(client, PB_COMMAND_SUSPEND, 0, (uint32_t[]){queues[i], 1, 0}, 3));
		run(1);
	}
}

static void draining_all_its_queues_leaves_stop_requests_to_other_clients(void **state)
{
	struct pb_client hoarder, others[2], admin;
	uint8_t *memory;

	(void)state;
	assert_true(pb_world_create(&world));
	pb_world_boot(&world, 1);
	run(20);
	pb_client_init(&admin, &world, PB_CHANNEL_ADMIN);
	pb_client_ask(&admin, PB_ATTACH_OP_ATTACH);
	run(10);
	ask(&admin, PB_COMMAND_CHANNEL_GRANT, (uint32_t[]){1, PB_PRIVILEGE_PAGING, 1, PB_PRIORITY_NORMAL}, 4);
	memory = open_client(&hoarder, 1);
	holds_stops(&hoarder, memory);
	for (uint32_t i = 0; i < 2u; i++) {
		uint32_t queue;

		open_client(&others[i], 2u + i);
		queue = create_queue(&others[i], 0);
		ask(&others[i], PB_COMMAND_PREEMPT, (uint32_t[]){queue, 0, 7, 0}, 4);
		ask(&others[i], PB_COMMAND_SUSPEND, (uint32_t[]){queue, 0, 0}, 3);
		ask(&others[i], PB_COMMAND_PING, NULL, 0);
	}
	/* What the client holds is free again after its close. */
	ask(&admin, PB_COMMAND_CHANNEL_CLOSE, (uint32_t[]){1}, 1);
	memory = open_client(&hoarder, 1);
	ask(&hoarder, PB_COMMAND_PREEMPT, (uint32_t[]){create_queue(&hoarder, 0), 0, 7, 0}, 4);
	assert_non_null(memory);
	pb_world_destroy(&world);
}

UNIT_SUITE(test_hoarder)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draining_all_its_queues_leaves_stop_requests_to_other_clients),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
