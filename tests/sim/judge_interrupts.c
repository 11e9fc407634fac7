/* SPDX-License-Identifier: MIT */
/*
 * Whether hosts are interrupted: for whatever they can find, at once, or as MODERATE sets it. Events that find
 * no room are counted.
 */
#include "tests/sim/judge.h"

/** Time for the tick that ends a wait, and for the firmware to reach the host, in microseconds. */
#define LATE_US (5u * PB_TICK_MICROSECONDS)

static void count_completions(struct pb_run *run, struct pb_host *host, uint32_t completions)
{
	if (host->interrupted || pb_client_asks(&host->client, PB_COMMAND_MODERATE, 0)) {
		host->unreported = 0;
		return;
	}
	if (host->unreported == 0)
		host->unreported_since = run->world.now;
	host->unreported += completions;
}

void pb_judge_interrupts(struct pb_run *run, struct pb_host *host, uint32_t completions, bool reported)
{
	const uint32_t most = host->moderate_count > 1u ? host->moderate_count : 1u;

	if (run->mutation.kind == PB_MUTATION_SILENT && (completions != 0 || reported) && host->interrupted) {
		host->interrupted = false;
		run->mutation.done = true;
	}
	if (reported && !host->interrupted)
		pb_run_break(run, "channel %u: a reply or event without an interrupt", host->client.channel);
	count_completions(run, host, completions);
	if (host->unreported >= most)
		pb_run_break(run, "channel %u: %u completions without an interrupt", host->client.channel,
			     host->unreported);
	if (host->unreported != 0 &&
	    run->world.now - host->unreported_since > (uint64_t)host->moderate_us + LATE_US)
		pb_run_break(run, "channel %u: %u completions wait %llu us for an interrupt",
			     host->client.channel, host->unreported,
			     (unsigned long long)(run->world.now - host->unreported_since));
}

void pb_judge_dropped(struct pb_run *run, struct pb_host *host, bool failed)
{
	const uint32_t put = pb_shared_read32(&host->client.entry->event_put);
	const uint32_t dropped = pb_shared_read32(&host->client.entry->events_dropped);

	if (dropped != 0 && !host->client.unread)
		pb_run_break(run, "channel %u: %u events dropped, and its host reads them",
			     host->client.channel, dropped);
	if (put > PB_LIMIT_EVENT_ENTRIES && host->client.unread)
		pb_run_break(run, "channel %u: event %u stands where another was not read",
			     host->client.channel, put);
	if (dropped != 0 && put != PB_LIMIT_EVENT_ENTRIES)
		pb_run_break(run, "channel %u: events dropped with %u of %u in the ring",
			     host->client.channel, put, PB_LIMIT_EVENT_ENTRIES);
	if (failed && host->was_full && dropped == host->was_dropped)
		pb_run_break(run, "channel %u: a submission failed, and no event was dropped or sent",
			     host->client.channel);
	host->was_full = host->client.unread && put == PB_LIMIT_EVENT_ENTRIES;
	host->was_dropped = dropped;
	host->dropped = dropped;
}
