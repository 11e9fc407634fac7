/* SPDX-License-Identifier: MIT */
#include "tests/sim/finish.h"

#include "tests/sim/actions.h"
#include "tests/sim/host.h"
#include "tests/sim/hostile.h"
#include "tests/sim/judge.h"
#include "tests/sim/supervisor.h"

/** More steps than any schedule needs to end. */
#define END_STEPS 100000u

/** Does what a host must do so that its submissions can end. @return true: none is left */
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

/** Signals timeline values that submissions wait for and that no submission will reach. */
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
	bool done = run->card == PB_HOLD_NONE && run->closing == 0;

	pb_act_resume_card(run);
	for (uint32_t h = 0; h < run->host_count; h++) {
		struct pb_host *host = &run->hosts[h];

		if (host->died)
			pb_supervisor_close(run, host->client.channel);
		if (host->attached)
			done = finish_host(run, host) && done;
		done = done && !host->detaching && !host->died && host->revocation != PB_REVOCATION_ASKED &&
		       host->revocation != PB_REVOCATION_GRANTING;
	}
	return done;
}

/** Prints the submissions that are left, with --verbose. */
static void log_outstanding(struct pb_run *run)
{
	for (uint32_t h = 0; h < run->host_count; h++) {
		for (uint32_t q = 0; q < PB_QUEUES; q++) {
			struct pb_queue_view *queue = &run->hosts[h].queues[q];
			const struct pb_entry *entry;

			if (queue->life == PB_QUEUE_ABSENT || pb_outstanding(queue) == 0)
				continue;
			entry = pb_entry_at(queue, queue->completed);
			pb_run_log(run, "channel %u queue %08x hold %d: fence %08x timeline %llx is left",
				   h + 1u, queue->handle, (int)queue->hold, entry->fence_id,
				   (unsigned long long)entry->timeline);
			for (uint32_t w = 0; w < entry->wait_count; w++)
				pb_run_log(run, "  waits for queue %08x timeline %llx",
					   entry->waits[w].handle, (unsigned long long)entry->waits[w].value);
		}
	}
}

void pb_finish(struct pb_run *run)
{
	const uint64_t start = run->step;

	run->totals.faults += run->world.injected;
	pb_world_end_faults(&run->world);
	pb_hostile_end(run);
	while (!finish(run)) {
		if (run->step - start > END_STEPS) {
			log_outstanding(run);
			pb_run_break(run, "the schedule does not end");
		}
		for (uint32_t h = 0; run->quiet && h < run->host_count; h++) {
			if (run->hosts[h].attached)
				signal_all(run, &run->hosts[h]);
		}
		pb_run_step(run);
	}
	pb_judge_pool(run);
	for (uint32_t h = 0; h < run->host_count; h++) {
		if (!run->hosts[h].attached)
			continue;
		run->totals.dropped += run->hosts[h].dropped != 0;
		pb_host_detach(run, &run->hosts[h]);
	}
	while (!finish(run)) {
		if (run->step - start > 2u * END_STEPS)
			pb_run_break(run, "a channel does not close");
		pb_run_step(run);
	}
}
