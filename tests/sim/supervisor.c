/* SPDX-License-Identifier: MIT */
#include "tests/sim/supervisor.h"

#include <string.h>

#include "patchbay/abi/boot.h"
#include "tests/sim/host.h"
#include "tests/sim/host_memory.h"
#include "tests/sim/hostile.h"
#include "tests/sim/judge.h"
#include "tests/sim/setup.h"
#include "tests/sim/submission.h"

/* ---- commands ---- */

void pb_supervisor_close(struct pb_run *run, uint32_t channel)
{
	if ((run->closing & 1u << channel) != 0 ||
	    pb_client_open_questions(&run->admin) == PB_LIMIT_CONTROL_ENTRIES)
		return;
	run->closing |= 1u << channel;
	/* The end of a revocation may close the channel; then it is closed for good. */
	if (pb_host_memory_revoke(run, channel))
		return;
	pb_run_log(run, "the supervisor closes channel %u", channel);
	pb_client_post(&run->admin, PB_COMMAND_CHANNEL_CLOSE, channel, &channel, 1);
}

/** All channels are closed: no submission runs. */
static void card_suspended(struct pb_run *run)
{
	run->card = PB_HOLD_SUSPENDED;
	run->totals.suspensions++;
	for (uint32_t h = 0; h < run->host_count; h++) {
		for (uint32_t q = 0; run->hosts[h].attached && q < PB_QUEUES; q++) {
			struct pb_queue_view *queue = &run->hosts[h].queues[q];

			if (queue->life == PB_QUEUE_ABSENT)
				continue;
			for (uint32_t i = queue->completed; i != queue->put; i++)
				pb_judge_settle(&run->hosts[h], pb_entry_at(queue, i));
		}
	}
}

static struct pb_host *host_of(struct pb_run *run, uint32_t channel)
{
	return channel - 1u < run->host_count ? &run->hosts[channel - 1u] : NULL;
}

/** The channel's slots are free, and nothing of it runs. It gets its grants again. */
static void channel_closed(struct pb_run *run, uint32_t channel)
{
	const struct pb_grant *grant = &run->grants[channel];
	struct pb_host *host = host_of(run, channel);

	if (host != NULL && host->died)
		pb_host_closed(run, host);
	pb_host_memory_grant(run, channel);
	pb_client_post(&run->admin, PB_COMMAND_CHANNEL_GRANT, channel,
		       (uint32_t[]){channel, grant->privileges, grant->weight, grant->cap}, 4);
}

void pb_supervisor_poll(struct pb_run *run)
{
	struct pb_question question;
	struct pb_reply reply;

	while (run->supervising && pb_client_reply(&run->admin, &reply, &question)) {
		if (reply.error != PB_ERROR_OK || reply.code != question.code)
			pb_run_break(run, "the admin's command %u fails with %u", reply.code, reply.error);
		pb_run_log(run, "reply to the admin's command %u about %u", reply.code, question.object);
		if (reply.code == PB_COMMAND_SUSPEND)
			card_suspended(run);
		else if (reply.code == PB_COMMAND_RESUME)
			run->card = PB_HOLD_NONE;
		else if (reply.code == PB_COMMAND_CHANNEL_CLOSE)
			channel_closed(run, question.object);
		else if (reply.code == PB_COMMAND_HOST_REVOKE)
			pb_host_memory_revoked(run, &question);
		else if (reply.code == PB_COMMAND_HOST_GRANT)
			pb_host_memory_granted(run, &question);
		else
			run->closing &= ~(1u << question.object);
	}
}

/* ---- restart of the MCU ---- */

/** What hosts can read of a queue after the firmware has stopped. */
struct remains {
	uint32_t words[sizeof(struct pb_fence_record) / sizeof(uint32_t)];
};

/** @return true: the last pass was cut off */
static bool run_until_cut(struct pb_run *run)
{
	const uint32_t touch =
		pb_random_below(&run->random, 4) * pb_random_below(&run->random, pb_world_touches.often);

	for (uint32_t i = pb_random_below(&run->random, 40); i != 0; i--) {
		if (touch != 0 && pb_world_pass_cut(&run->world, touch))
			return true;
		if (touch != 0)
			pb_judge_check(run);
		else
			pb_run_step(run);
		if (i % 4u == 0)
			pb_world_engines(&run->world, 20);
	}
	return false;
}

static void keep_remnants(const struct pb_host *host, struct remains *remains)
{
	for (uint32_t q = 0; q < PB_QUEUES; q++) {
		if (host->queues[q].life >= PB_QUEUE_OPEN)
			memcpy(remains[q].words, &host->queues[q].page->fence, sizeof(*remains));
	}
}

static void compare_remnants(struct pb_run *run, const struct pb_host *host, const struct remains *remains)
{
	for (uint32_t q = 0; q < PB_QUEUES; q++) {
		if (host->queues[q].life >= PB_QUEUE_OPEN &&
		    memcmp(remains[q].words, &host->queues[q].page->fence, sizeof(*remains)) != 0)
			pb_run_break(run, "channel %u queue %08x: its fence record differs after a restart",
				     host->client.channel, host->queues[q].handle);
	}
}

/** Stores of submissions in flight may land until the engines were reset. */
static void settle_lost(struct pb_run *run, struct pb_host *host)
{
	for (uint32_t q = 0; q < PB_QUEUES; q++) {
		struct pb_queue_view *queue = &host->queues[q];

		for (uint32_t i = queue->completed; queue->life >= PB_QUEUE_OPEN && i != queue->put; i++) {
			pb_judge_values(run, host, queue, pb_entry_at(queue, i));
			pb_judge_cancelled(run, host, pb_entry_at(queue, i));
		}
	}
}

static void check_detached(struct pb_run *run, struct pb_host *host)
{
	if (pb_shared_read32(&host->client.entry->state) != PB_CHANNEL_CLOSED)
		pb_run_break(run, "channel %u: its state is %u after a restart", host->client.channel,
			     pb_shared_read32(&host->client.entry->state));
	if (host->attached)
		settle_lost(run, host);
}

/** A host that has not seen the restart must be refused. */
static void try_stale(struct pb_run *run, struct pb_host *host, uint32_t incarnation)
{
	pb_client_attach(&host->client, incarnation);
	for (uint32_t i = 0; !pb_client_answered(&host->client); i++) {
		if (i == 10000u)
			pb_run_break(run, "channel %u: no answer to an attach", host->client.channel);
		pb_run_step(run);
	}
	if (pb_shared_read32(&host->client.entry->state) != PB_CHANNEL_CLOSED ||
	    pb_shared_read32(&host->client.entry->error) != PB_ERROR_BAD_ARGUMENT)
		pb_run_break(run, "channel %u: attached to an incarnation that is gone",
			     host->client.channel);
}

/** No host has attached yet: all must stand as before the restart. */
static void read_remnants(struct pb_run *run, const bool attached[PB_HOSTS],
			  struct remains remains[][PB_QUEUES])
{
	for (uint32_t i = pb_random_below(&run->random, 20); i != 0; i--)
		pb_run_step(run);
	if (run->mutation.kind == PB_MUTATION_FORGOTTEN && attached[0]) {
		run->hosts[0].queues[0].page->fence.completed--;
		run->mutation.done = run->hosts[0].queues[0].life >= PB_QUEUE_OPEN;
	}
	for (uint32_t h = 0; h < run->host_count; h++) {
		if (!attached[h])
			continue;
		pb_judge_marks(run, &run->hosts[h]);
		compare_remnants(run, &run->hosts[h], remains[h]);
	}
}

static void forget(struct pb_run *run, struct pb_host *host)
{
	pb_client_init(&host->client, &run->world, host->client.channel);
	host->detaching = false;
	host->died = false;
	host->revocation = PB_REVOCATION_NONE;
	for (uint32_t q = 0; q < PB_QUEUES; q++)
		host->queues[q].life = PB_QUEUE_ABSENT;
}

/** The supervisor resets engines with the MCU: all but dead ones answer again, and the firmware uses them again. */
static void end_engine_faults(struct pb_run *run)
{
	const struct pb_world_rates rates = run->world.rates;

	pb_world_end_faults(&run->world);
	run->world.rates = rates;
	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		run->nodes[n].may_die = run->world.nodes[n].dead;
		run->nodes[n].dead = run->world.nodes[n].dead;
		run->nodes[n].dead_step = run->step;
	}
}

void pb_supervisor_restart(struct pb_run *run)
{
	const uint32_t incarnation = pb_shared_read32(&pb_world_boot_block(&run->world)->incarnation);
	struct remains remains[PB_HOSTS][PB_QUEUES];
	bool attached[PB_HOSTS];

	run->lenient = run_until_cut(run);
	pb_judge_check(run);
	run->lenient = false;
	pb_run_log(run, "the MCU restarts");
	for (uint32_t h = 0; h < run->host_count; h++)
		keep_remnants(&run->hosts[h], remains[h]);
	end_engine_faults(run);
	pb_world_restart(&run->world);
	run->totals.restarts++;
	run->card = PB_HOLD_NONE;
	run->closing = 0;
	for (uint32_t h = 0; h < run->host_count; h++) {
		attached[h] = run->hosts[h].attached;
		run->hosts[h].attached = false;
	}
	pb_setup_card(run);
	pb_judge_no_ranges(run);
	pb_judge_pool_forget(run);
	if (pb_shared_read32(&pb_world_boot_block(&run->world)->incarnation) != incarnation + 1u)
		pb_run_break(run, "the incarnation after %u is wrong", incarnation);
	for (uint32_t h = 0; h < run->host_count; h++) {
		run->hosts[h].attached = attached[h];
		check_detached(run, &run->hosts[h]);
		run->hosts[h].attached = false;
	}
	read_remnants(run, attached, remains);
	for (uint32_t h = 0; h < run->host_count; h++) {
		/* Garbage of a host that has died may happen to name the new incarnation. */
		if (pb_random_one_in(&run->random, 4) && !run->hosts[h].died)
			try_stale(run, &run->hosts[h], incarnation);
		forget(run, &run->hosts[h]);
	}
}
