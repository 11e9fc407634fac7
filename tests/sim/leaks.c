/* SPDX-License-Identifier: MIT */
#include "tests/sim/leaks.h"

/** One schedule in so many is checked. The check costs more than the schedule. */
#define ONE_IN 16u

static struct pb_reply ask(struct pb_run *run, struct pb_client *client, uint32_t code,
			   const uint32_t *arguments, uint32_t count)
{
	struct pb_reply reply;

	pb_run_ask(run, client, code, arguments, count, &reply);
	return reply;
}

/** What one channel can have of a table: half of it is kept for all channels, an equal part for each. */
static uint32_t most_of(uint32_t total)
{
	const uint32_t own = total / 2u / PB_LIMIT_CHANNELS;

	return total - (PB_LIMIT_CHANNELS - 1u) * (own != 0 ? own : 1u);
}

/** Takes `most` objects, then expects a refusal. */
static void create_all(struct pb_run *run, struct pb_client *client, uint32_t code, const uint32_t *arguments,
		       uint32_t count, uint32_t most)
{
	struct pb_reply reply;

	for (uint32_t i = 0; i < most; i++) {
		reply = ask(run, client, code, arguments, count);
		if (reply.error != PB_ERROR_OK)
			pb_run_break(run,
				     "after the last host has gone, command %u fails with %u at %u of %u",
				     code, reply.error, i, most);
	}
	reply = ask(run, client, code, arguments, count);
	if (reply.error != PB_ERROR_NO_SPACE)
		pb_run_break(run, "more than %u of command %u, or error %u", most, code, reply.error);
}

static void wait_answer(struct pb_run *run, struct pb_client *client)
{
	for (uint32_t i = 0; !pb_client_answered(client); i++) {
		if (i == 100000u)
			pb_run_break(run, "channel %u: does not attach or detach any more", client->channel);
		pb_run_step(run);
	}
}

/** A node that takes any number of queues, and is not dead. @return PB_CARD_NODES: there is none */
static uint32_t scheduled_node(const struct pb_run *run)
{
	uint32_t n = 0;

	while (n < PB_CARD_NODES && (run->nodes[n].mode != PB_NODE_SCHEDULED || run->nodes[n].may_die))
		n++;
	return n;
}

void pb_leaks_check(struct pb_run *run)
{
	/* A quarter of the pool is kept for the channels, an equal part for each. */
	const uint32_t own = PB_WORLD_POOL_PAGES / 4u / PB_LIMIT_CHANNELS * PB_PAGE_BYTES;
	const uint32_t all = PB_WORLD_POOL_PAGES * PB_PAGE_BYTES - PB_LIMIT_CHANNELS * own;
	const uint32_t segment[] = {0, PB_SEGMENT_LINEAR, 0, 0, 0, 0, all, 0, all};
	const uint32_t home[] = {1, PB_SEGMENT_LINEAR, 0, 0, 1u << 30, 0, own, 0, own};
	const uint32_t queue[] = {scheduled_node(run), 4, 0, 0, PB_PRIORITY_NORMAL, 0};
	struct pb_client client;

	if (run->seed % ONE_IN != 0)
		return;
	pb_client_init(&client, &run->world, 1);
	pb_client_ask(&client, PB_ATTACH_OP_ATTACH);
	wait_answer(run, &client);
	if (ask(run, &client, PB_COMMAND_SEGMENT_CREATE, segment, 9).error != PB_ERROR_OK ||
	    ask(run, &client, PB_COMMAND_SEGMENT_CREATE, home, 9).error != PB_ERROR_OK)
		pb_run_break(run, "after the last host has gone, not all memory is free");
	create_all(run, &client, PB_COMMAND_CONTEXT_CREATE, NULL, 0, most_of(PB_LIMIT_CONTEXTS));
	if (queue[0] != PB_CARD_NODES)
		create_all(run, &client, PB_COMMAND_QUEUE_CREATE, queue, 6, most_of(PB_WORLD_QUEUES));
	pb_client_ask(&client, PB_ATTACH_OP_DETACH);
	wait_answer(run, &client);
}
