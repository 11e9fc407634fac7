/* SPDX-License-Identifier: MIT */
#include "tests/sim/actions.h"

#include "tests/sim/host.h"
#include "tests/sim/host_memory.h"
#include "tests/sim/hostile.h"
#include "tests/sim/judge.h"
#include "tests/sim/submission.h"
#include "tests/sim/supervisor.h"

static bool has_room(const struct pb_host *host)
{
	return pb_client_open_questions(&host->client) < 12u;
}

static void clear_context(struct pb_run *run, struct pb_host *host, uint32_t c)
{
	if (!has_room(host) || pb_client_asks(&host->client, PB_COMMAND_CONTEXT_CLEAR, c))
		return;
	host->contexts[c].sure_lost = false;
	for (uint32_t q = 0; q < PB_QUEUES; q++) {
		for (uint32_t i = 0; i < PB_RING_MAX; i++) {
			if (host->queues[q].ring[i].context == c)
				host->queues[q].ring[i].sure_lost = false;
		}
	}
	pb_run_log(run, "channel %u: clears context %u", host->client.channel, c);
	pb_client_post(&host->client, PB_COMMAND_CONTEXT_CLEAR, c, &host->contexts[c].handle, 1);
}

static void clear_queue(struct pb_host *host, struct pb_queue_view *queue)
{
	const uint32_t q = (uint32_t)(queue - host->queues);

	if (queue->life == PB_QUEUE_OPEN && has_room(host) &&
	    !pb_client_asks(&host->client, PB_COMMAND_QUEUE_CLEAR, q))
		pb_client_post(&host->client, PB_COMMAND_QUEUE_CLEAR, q, &queue->handle, 1);
}

/** Destroys the queue with its submissions, or creates it. */
static void change_queue(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue)
{
	const uint32_t q = (uint32_t)(queue - host->queues);

	if (!has_room(host) || (run->rates & PB_RATE_ROOMS) == 0)
		return;
	if (queue->life == PB_QUEUE_ABSENT) {
		pb_host_create_queue(run, host, q);
	} else if (queue->life == PB_QUEUE_OPEN &&
		   (queue->hold == PB_HOLD_NONE || queue->hold == PB_HOLD_SUSPENDED) &&
		   !pb_client_asks(&host->client, PB_COMMAND_QUEUE_CLEAR, q)) {
		pb_run_log(run, "channel %u queue %08x: is destroyed", host->client.channel, queue->handle);
		queue->life = PB_QUEUE_DESTROYING;
		pb_client_post(&host->client, PB_COMMAND_QUEUE_DESTROY, q, &queue->handle, 1);
	}
}

/** Whether a host has all that its channel was granted. One that leaves finds it when it comes again. */
static bool has_its_pages(const struct pb_host *host)
{
	return host->revocation == PB_REVOCATION_NONE || host->revocation == PB_REVOCATION_GRANTED;
}

static void detach(struct pb_run *run, struct pb_host *host)
{
	if ((run->rates & PB_RATE_ROOMS) == 0 || !pb_random_one_in(&run->random, 8) || !has_its_pages(host))
		return;
	pb_host_detach(run, host);
}

/** Queries an object of the host whose state the judge knows. */
static void query(struct pb_run *run, struct pb_host *host, const struct pb_queue_view *queue)
{
	const uint32_t what = PB_QUERY_QUEUE + pb_random_below(&run->random, 4);
	const uint32_t c = pb_random_below(&run->random, PB_CONTEXTS);
	uint32_t object = 0, argument = 0;

	if (!has_room(host) || (run->rates & PB_RATE_QUERY) == 0 ||
	    (what == PB_QUERY_QUEUE && queue->life != PB_QUEUE_OPEN))
		return;
	if (what == PB_QUERY_QUEUE) {
		object = (uint32_t)(queue - host->queues);
		argument = queue->handle;
	} else if (what == PB_QUERY_NODE) {
		argument = queue->node;
	} else if (what == PB_QUERY_CONTEXT) {
		object = c;
		argument = host->contexts[c].handle;
	} else {
		argument = host->client.channel;
	}
	pb_client_query(&host->client, object, run->step, (uint32_t[]){what, argument, 0});
}

/** Sends commands that change nothing for the submissions. */
static void send_harmless_command(struct pb_run *run, struct pb_host *host, const struct pb_queue_view *queue)
{
	if (!has_room(host))
		return;
	pb_host_ask_too_much(run, host, queue);
	if ((run->rates & PB_RATE_MODERATE) != 0 && pb_random_one_in(&run->random, 2))
		pb_client_post(
			&host->client, PB_COMMAND_MODERATE, 0,
			(uint32_t[]){pb_random_below(&run->random, 6), pb_random_below(&run->random, 9000)},
			2);
	else
		pb_client_post(&host->client, PB_COMMAND_PING, 0, NULL, 0);
}

static void stop_something(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue)
{
	const uint32_t roll = pb_random_below(&run->random, 6);

	if ((run->rates & PB_RATE_STOPS) == 0 || queue->life != PB_QUEUE_OPEN)
		return;
	if (roll < 3u && (run->features & PB_FEATURE_PREEMPT) != 0)
		pb_act_preempt(run, host, queue);
	else if (roll < 5u && (run->features & PB_FEATURE_SUSPEND) != 0)
		pb_act_suspend(run, host, queue);
	else if ((run->features & PB_FEATURE_RESET) != 0)
		pb_act_reset(run, host, queue);
}

/** An engine ignores commands for a while, or for good. */
static void deafen(struct pb_run *run)
{
	const uint32_t node = pb_random_below(&run->random, PB_CARD_NODES);
	const uint32_t deaf = pb_random_one_in(&run->random, 8) ? 7u : 1u + pb_random_below(&run->random, 3);
	const bool for_good = (run->features & PB_FEATURE_PREEMPT) != 0 && pb_random_one_in(&run->random, 2);

	if ((run->rates & PB_RATE_DEAF) == 0 || !pb_random_one_in(&run->random, 4))
		return;
	run->nodes[node].may_die = run->nodes[node].may_die || (deaf & PB_WORLD_DEAF_POWER) != 0;
	for (uint32_t h = 0; h < run->host_count; h++) {
		for (uint32_t c = 0; c < PB_CONTEXTS; c++)
			run->hosts[h].contexts[c].maybe_lost = true;
	}
	pb_run_log(run, "node %u: ignores commands, mask %x", node, deaf);
	pb_world_deafen(&run->world, node, deaf, for_good ? 10000000u : pb_random_below(&run->random, 20000));
}

/** Kills an engine: its submissions, and all that follow, must fail within bounded time. */
static void kill_engine(struct pb_run *run)
{
	const uint32_t node = pb_random_below(&run->random, PB_CARD_NODES);

	if ((run->rates & PB_RATE_DEAD) == 0 || !pb_random_one_in(&run->random, 2))
		return;
	run->nodes[node].may_die = true;
	pb_run_log(run, "node %u: dies", node);
	pb_world_kill(&run->world, node);
}

/** A host dies, or the firmware restarts: also beside an engine that is dead, and stays so. */
static void kill_host_or_restart(struct pb_run *run, struct pb_host *host)
{
	const bool restarts = pb_random_one_in(&run->random, 2);

	if (restarts && (run->rates & PB_RATE_RESTART) != 0)
		pb_supervisor_restart(run);
	else if (!restarts && (run->rates & PB_RATE_DIES) != 0 && !host->moving && has_its_pages(host))
		pb_host_die(run, host);
}

/** Erases marks that a running submission has stored. If a word is stored again, the submission restarted. */
static void erase_marks(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue)
{
	struct pb_entry *entry;
	struct pb_mark *mark;
	uint32_t *words;

	if (queue->life != PB_QUEUE_OPEN || pb_outstanding(queue) == 0)
		return;
	entry = pb_entry_at(queue, queue->completed);
	mark = &host->marks[entry->mark];
	words = pb_submission_mark(host, entry->mark);
	if (entry->kind != PB_KIND_PLAIN || mark->settled || mark->gone)
		return;
	for (uint32_t i = 0; i < 3u; i++) {
		if (mark->value[i] == 0 || pb_shared_read32(&words[i]) != mark->value[i])
			continue;
		pb_run_log(run, "channel %u: erases word %u of fence %08x", host->client.channel, i,
			   entry->fence_id);
		pb_shared_write32(&words[i], PB_UNMARKED);
		mark->value[i] = 0;
	}
}

static void hold_card(struct pb_run *run)
{
	if (run->card == PB_HOLD_SUSPENDED)
		pb_act_resume_card(run);
	else if ((run->rates & PB_RATE_CARD) != 0 && pb_random_one_in(&run->random, 4))
		pb_act_suspend_card(run);
}

static void act_as(struct pb_run *run, struct pb_host *host, struct pb_queue_view *queue)
{
	const uint32_t roll = pb_random_below(&run->random, 70);

	if (roll < 35u)
		pb_act_submit(run, host, queue);
	else if (roll < 43u)
		pb_act_resubmit(run, host, queue);
	else if (roll < 47u)
		stop_something(run, host, queue);
	else if (roll < 50u)
		pb_act_resume(run, host, queue);
	else if (roll < 53u)
		clear_context(run, host, pb_random_below(&run->random, PB_CONTEXTS));
	else if (roll < 55u)
		clear_queue(host, queue);
	else if (roll < 57u)
		change_queue(run, host, queue);
	else if (roll < 58u)
		detach(run, host);
	else if (roll < 59u)
		pb_act_release(run, host, queue->node);
	else if (roll < 60u)
		deafen(run);
	else if (roll < 62u)
		erase_marks(run, host, queue);
	else if (roll < 63u)
		hold_card(run);
	else if (roll < 65u)
		send_harmless_command(run, host, queue);
	else if (roll < 67u)
		query(run, host, queue);
	else if (roll < 68u)
		kill_engine(run);
	else if (roll < 69u)
		kill_host_or_restart(run, host);
	else if ((run->rates & PB_RATE_MOVES) != 0 && !host->moving && has_room(host))
		pb_host_move(run, host);
}

/** Whether the host has no channel and may attach again. */
static bool may_attach(const struct pb_run *run, const struct pb_host *host)
{
	return !host->attached && !host->detaching && !host->died &&
	       (run->closing >> host->client.channel & 1u) == 0;
}

void pb_act(struct pb_run *run)
{
	struct pb_host *host = &run->hosts[pb_random_below(&run->random, run->host_count)];
	struct pb_queue_view *queue = &host->queues[pb_random_below(&run->random, PB_QUEUES)];

	if (pb_hostile_present(run))
		pb_hostile_act(run);
	pb_host_memory_revoke_part(run);
	if (host->attached)
		act_as(run, host, queue);
	else if (host->died && pb_random_one_in(&run->random, 3))
		pb_supervisor_close(run, host->client.channel);
	else if (may_attach(run, host))
		pb_host_attach(run, host);
}
