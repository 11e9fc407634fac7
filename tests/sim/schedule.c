/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/sim/schedule.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/abi/boot.h"
#include "tests/sim/actions.h"
#include "tests/sim/host.h"
#include "tests/sim/judge.h"
#include "tests/sim/leaks.h"

/** Steps between two looks at memory that must not change, and at what stands still. */
#define LOOK_STEPS 16u
/** More steps than any schedule can need to come to its end. */
#define END_STEPS 100000u

void pb_run_break(struct pb_run *run, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(run->what, sizeof(run->what), format, arguments);
	va_end(arguments);
	longjmp(run->broken, 1);
}

void pb_run_say(const struct pb_run *run, const char *format, ...)
{
	va_list arguments;

	if (!run->verbose)
		return;
	printf("%6llu %8llu us  ", (unsigned long long)run->step, (unsigned long long)run->world.now);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
}

/* ---- one step ---- */

/** With nothing to do before the next tick, time leaps there. */
static uint32_t step_time(struct pb_run *run)
{
	static const uint32_t times[] = {1, 10, 10, 40, 40, 150, 150, 1000};

	if (run->quiet && !pb_world_awake(&run->world) && run->world.next_tick > run->world.now)
		return (uint32_t)(run->world.next_tick - run->world.now);
	return times[pb_random_below(&run->random, 8)];
}

void pb_run_step(struct pb_run *run)
{
	const uint32_t microseconds = step_time(run);
	uint32_t passes = 1u + pb_random_below(&run->random, 10);

	run->step++;
	pb_world_advance(&run->world, microseconds);
	for (; passes != 0 && pb_world_awake(&run->world); passes--) {
		pb_world_pass(&run->world);
		pb_judge_look(run);
	}
	run->quiet = !pb_world_engines(&run->world, microseconds) && !pb_world_awake(&run->world);
	if (pb_mutate(run))
		pb_judge_look(run); /* before the firmware writes over it */
	if (run->step % LOOK_STEPS != 0)
		return;
	for (uint32_t h = 0; h < run->host_count; h++) {
		if (run->hosts[h].attached)
			pb_judge_marks(run, &run->hosts[h]);
	}
	pb_judge_patience(run);
}

void pb_run_until_answered(struct pb_run *run, struct pb_host *host)
{
	while (pb_client_open_questions(&host->client) != 0)
		pb_run_step(run);
}

void pb_run_ask(struct pb_run *run, struct pb_client *client, uint32_t code, const uint32_t *arguments,
		uint32_t count, struct pb_reply *reply)
{
	struct pb_question question;
	uint32_t steps = 0;

	pb_client_post(client, code, 0, arguments, count);
	while (!pb_client_reply(client, reply, &question)) {
		if (++steps == END_STEPS)
			pb_run_break(run, "channel %u: no answer to command %u", client->channel, code);
		pb_run_step(run);
	}
}

/* ---- the beginning ---- */

static void attach_admin(struct pb_run *run)
{
	while (pb_shared_read32(&pb_world_boot_block(&run->world)->boot_stage) != PB_BOOT_STAGE_RUNNING)
		pb_run_step(run);
	pb_client_init(&run->admin, &run->world, PB_CHANNEL_ADMIN);
	pb_client_ask(&run->admin, PB_ATTACH_OP_ATTACH);
	while (!pb_client_answered(&run->admin))
		pb_run_step(run);
}

static bool does(struct pb_run *run, uint32_t code, uint32_t argument)
{
	struct pb_reply reply;

	pb_run_ask(run, &run->admin, code, &argument, 1, &reply);
	return reply.error != PB_ERROR_UNSUPPORTED;
}

static uint32_t capability(const struct pb_run *run, uint32_t key)
{
	const struct pb_boot_block *boot =
		(const struct pb_boot_block *)(const void *)(run->world.memory + PB_BOOT_OFFSET);
	const struct pb_capability *table =
		(const struct pb_capability *)(const void *)(run->world.memory + boot->capability_offset);

	for (uint32_t i = 0; i < boot->capability_count; i++) {
		if (table[i].key == key)
			return table[i].value;
	}
	return 0;
}

/** Asks with handles that name nothing: what is supported says so. */
static void find_features(struct pb_run *run)
{
	const uint32_t bad_handle = PB_HANDLE(1, 1);

	run->features = 0;
	if (does(run, PB_COMMAND_PREEMPT, bad_handle))
		run->features |= PB_FEATURE_PREEMPT | PB_FEATURE_RESET;
	if (does(run, PB_COMMAND_SUSPEND, bad_handle))
		run->features |= PB_FEATURE_SUSPEND;
	if (does(run, PB_COMMAND_NODE_SET, PB_CARD_NODES))
		run->features |= PB_FEATURE_NODE_SET;
	if (does(run, PB_COMMAND_QUERY, 0))
		run->features |= PB_FEATURE_QUERY;
	if (does(run, PB_COMMAND_MODERATE, 0))
		run->features |= PB_FEATURE_MODERATE;
	if (capability(run, PB_CAPABILITY_WAITS_MAX) != 0)
		run->features |= PB_FEATURE_WAITS;
}

static void admin_does(struct pb_run *run, uint32_t code, const uint32_t *arguments, uint32_t count)
{
	struct pb_reply reply;

	pb_run_ask(run, &run->admin, code, arguments, count, &reply);
	if (reply.error != PB_ERROR_OK)
		pb_run_break(run, "the admin's command %u fails with %u", code, reply.error);
}

static void set_up_nodes(struct pb_run *run)
{
	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		struct pb_node_view *node = &run->nodes[n];

		*node = (struct pb_node_view){.hang_us = PB_HANG_MICROSECONDS,
					      .answer_us = PB_ANSWER_MICROSECONDS};
		if ((run->features & PB_FEATURE_NODE_SET) == 0 || pb_random_one_in(&run->random, 3))
			continue;
		node->hang_us = 6000u + pb_random_below(&run->random, 20000);
		node->answer_us = 3000u + pb_random_below(&run->random, 20000);
		admin_does(run, PB_COMMAND_NODE_SET,
			   (uint32_t[]){n, PB_NODE_SCHEDULED,
					1u + pb_random_below(&run->random,
							     capability(run, PB_CAPABILITY_IN_FLIGHT)),
					node->hang_us, node->answer_us},
			   5);
	}
}

static void choose_rates(struct pb_run *run)
{
	run->rates = (uint32_t)pb_random_next(&run->random) & (uint32_t)pb_random_next(&run->random);
	if ((run->features & PB_FEATURE_WAITS) == 0)
		run->rates &= ~PB_RATE_WAITS;
	if ((run->features & PB_FEATURE_SUSPEND) == 0)
		run->rates &= ~PB_RATE_CARD;
	if (pb_random_one_in(&run->random, 2))
		return;
	run->world.rates = (struct pb_world_rates){
		.interrupt_lost = pb_random_below(&run->random, 3) * 10u,
		.interrupt_late = pb_random_below(&run->random, 3) * 6u,
		.interrupt_spurious = pb_random_below(&run->random, 3) * 20u,
		.doorbell_lost = pb_random_below(&run->random, 3) * 10u,
		.doorbell_twice = pb_random_below(&run->random, 3) * 6u,
	};
}

static void begin(struct pb_run *run)
{
	pb_world_boot(&run->world, pb_random_next(&run->random));
	attach_admin(run);
	set_up_nodes(run);
	run->host_count = 0;
	for (uint32_t h = 0; h < 2u + pb_random_below(&run->random, PB_HOSTS - 1u); h++) {
		struct pb_host *host = &run->hosts[h];

		admin_does(run, PB_COMMAND_CHANNEL_GRANT,
			   (uint32_t[]){1u + h, PB_PRIVILEGE_PAGING,
					1u + pb_random_below(&run->random, PB_WEIGHT_MAX),
					PB_PRIORITY_REALTIME},
			   4);
		*host = (struct pb_host){.attached = false};
		pb_client_init(&host->client, &run->world, 1u + h);
		run->host_count = h + 1u;
		pb_host_open(run, host);
	}
	choose_rates(run);
}

/* ---- the end ---- */

/** What a host must do so that its work can end. @return true: nothing of it is left */
static bool finish_host(struct pb_run *run, struct pb_host *host)
{
	bool done = pb_client_open_questions(&host->client) == 0;

	for (uint32_t q = 0; q < PB_QUEUES; q++) {
		struct pb_queue_view *queue = &host->queues[q];

		if (queue->life == PB_QUEUE_ABSENT)
			continue;
		if (queue->hold == PB_HOLD_SUSPENDED)
			pb_act_resume(run, host, queue);
		if (host->halted[queue->node])
			pb_act_release(run, host, queue->node);
		pb_act_resubmit(run, host, queue);
		done = done && pb_outstanding(queue) == 0 && queue->back_count == 0;
	}
	return done;
}

/** Work that waits for what nobody submits gets it now. */
static void signal_all(struct pb_run *run, struct pb_host *host)
{
	for (uint32_t q = 0; q < PB_QUEUES; q++) {
		struct pb_queue_view *queue = &host->queues[q];

		if (queue->life != PB_QUEUE_OPEN || pb_outstanding(queue) == 0)
			continue;
		for (uint32_t w = 0; w < pb_entry_at(queue, queue->completed)->wait_count; w++) {
			const struct pb_entry_wait *wait = &pb_entry_at(queue, queue->completed)->waits[w];

			if (wait->queue != PB_QUEUES && host->queues[wait->queue].handle == wait->handle &&
			    !pb_judge_is_reached(host, wait))
				pb_act_signal(run, host, &host->queues[wait->queue], wait->value);
		}
	}
}

static bool finish(struct pb_run *run)
{
	bool done = run->card == PB_HOLD_NONE;

	pb_act_resume_card(run);
	for (uint32_t h = 0; h < run->host_count; h++) {
		struct pb_host *host = &run->hosts[h];

		if (host->attached)
			done = finish_host(run, host) && done;
		done = done && !host->leaving;
	}
	return done;
}

/** What is left, for people. */
static void say_what_is_left(struct pb_run *run)
{
	for (uint32_t h = 0; h < run->host_count; h++) {
		for (uint32_t q = 0; q < PB_QUEUES; q++) {
			struct pb_queue_view *queue = &run->hosts[h].queues[q];
			const struct pb_entry *entry;

			if (queue->life == PB_QUEUE_ABSENT || pb_outstanding(queue) == 0)
				continue;
			entry = pb_entry_at(queue, queue->completed);
			pb_run_say(run, "channel %u queue %08x hold %d: fence %08x timeline %llx is left",
				   h + 1u, queue->handle, (int)queue->hold, entry->fence_id,
				   (unsigned long long)entry->timeline);
			for (uint32_t w = 0; w < entry->wait_count; w++)
				pb_run_say(run, "  waits for queue %08x timeline %llx",
					   entry->waits[w].handle, (unsigned long long)entry->waits[w].value);
		}
	}
}

static void end(struct pb_run *run)
{
	const uint64_t start = run->step;

	run->totals.faults += run->world.injected;
	pb_world_heal(&run->world);
	run->moved = run->world.now;
	while (!finish(run)) {
		if (run->step - start > END_STEPS) {
			say_what_is_left(run);
			pb_run_break(run, "the schedule does not come to its end");
		}
		for (uint32_t h = 0; run->quiet && h < run->host_count; h++) {
			if (run->hosts[h].attached)
				signal_all(run, &run->hosts[h]);
		}
		pb_run_step(run);
	}
	for (uint32_t h = 0; h < run->host_count; h++) {
		if (!run->hosts[h].attached)
			continue;
		pb_judge_marks(run, &run->hosts[h]);
		pb_host_leave(run, &run->hosts[h]);
	}
	while (!finish(run)) {
		if (run->step - start > 2u * END_STEPS)
			pb_run_break(run, "a channel does not close");
		pb_run_step(run);
	}
}

static void run_all(struct pb_run *run)
{
	uint32_t actions, still; /* the fewer steps between two actions, the more is outstanding */

	begin(run);
	actions = 16u + pb_random_below(&run->random, 200);
	still = pb_random_below(&run->random, 5);
	for (; actions != 0; actions--) {
		pb_act(run);
		for (uint32_t i = pb_random_below(&run->random, 6); i > still; i--)
			pb_run_step(run);
	}
	end(run);
	pb_leaks_check(run);
}

/* ---- a firmware that gives up ---- */

static struct pb_run *aborting;

static void on_abort(int signal)
{
	(void)signal;
	longjmp(aborting->broken, 2);
}

static void say_fatal(struct pb_run *run)
{
	const struct pb_fatal_record *fatal = &pb_world_boot_block(&run->world)->fatal;

	snprintf(run->what, sizeof(run->what), "the firmware stopped: kind %u, line %u, waypoint %u",
		 fatal->kind, fatal->status, fatal->waypoint);
}

/** Runs something that may break, or stop the firmware. @return true: it came to its end */
static bool try(struct pb_run *run, uint64_t seed, void (*what)(struct pb_run *run))
{
	struct sigaction old, action = {.sa_handler = on_abort, .sa_flags = SA_NODEFER};
	bool held = false;

	run->seed = seed;
	run->random.state = seed;
	run->step = 0;
	run->moved = 0;
	run->quiet = false;
	run->host_count = 0;
	run->rates = 0;
	run->card = PB_HOLD_NONE;
	aborting = run;
	sigaction(SIGABRT, &action, &old);
	switch (setjmp(run->broken)) {
	case 0:
		what(run);
		held = true;
		break;
	case 2:
		say_fatal(run);
		break;
	default:
		break;
	}
	sigaction(SIGABRT, &old, NULL);
	return held;
}

bool pb_schedule_run(struct pb_run *run, uint64_t seed, enum pb_mutation_kind mutation)
{
	run->mutation = (struct pb_mutation){.kind = mutation};
	run->totals.schedules++;
	return try(run, seed, run_all);
}

static void boot_and_ask(struct pb_run *run)
{
	pb_world_boot(&run->world, 0);
	attach_admin(run);
	find_features(run);
}

struct pb_run *pb_schedule_create(void)
{
	struct pb_run *run = calloc(1, sizeof(*run));

	/* Before the first schedule, so that each of them depends on its seed only. */
	if (run != NULL && pb_world_create(&run->world) && try(run, 0, boot_and_ask))
		return run;
	free(run);
	return NULL;
}

void pb_schedule_destroy(struct pb_run *run)
{
	pb_world_destroy(&run->world);
	free(run);
}
