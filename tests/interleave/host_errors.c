/* SPDX-License-Identifier: MIT */
/* Submissions that fail, events, and the death of the firmware. */
#include "tests/interleave/host.h"

/** Reads a boot block while the firmware dies and restarts. */
#define ATTEND_MAX 150u

static struct pb_host_lane *lane_of(struct pb_host *host, uint32_t handle)
{
	for (uint32_t l = 0; l < PB_HOST_LANES; l++) {
		if (host->lanes[l].queue.handle == handle)
			return &host->lanes[l];
	}
	return NULL;
}

static void check_event(struct pb_host *host, const struct pb_event *event)
{
	const struct pb_host_lane *lane = lane_of(host, event->queue);
	const uint32_t index = lane != NULL ? pb_host_find(lane, event->fence_id) : PB_HOST_SUBMISSIONS;
	const uint32_t status = index != PB_HOST_SUBMISSIONS ? lane->submissions[index].status : PB_ERROR_OK;
	bool good = lane != NULL && event->number >= host->events;

	if (event->type == PB_EVENT_PREEMPTED)
		good = good && event->detail - 1u < lane->preemption && event->error == PB_ERROR_OK;
	else
		good = good && status != PB_ERROR_OK && event->error == status &&
		       event->index == (status == PB_ERROR_PATCH_INDEX ? 0 : PB_INDEX_NONE);
	if (!good)
		pb_weave_fail("host %u: event %u, number %u for %u, of fence 0x%x, error %u", host->index,
			      event->type, event->number, host->events, event->fence_id, event->error);
	host->missing += event->number - host->events;
	host->events = event->number + 1u;
}

uint32_t pb_host_events(struct pb_host *host)
{
	struct pb_event event;
	uint32_t seen = 0;

	while (pb_channel_event(&host->channel, &event)) {
		check_event(host, &event);
		seen |= 1u << event.type;
	}
	host->dropped += pb_channel_dropped(&host->channel);
	if (host->dropped < host->missing)
		pb_weave_fail("host %u: %u events are missing, %u were dropped", host->index, host->missing,
			      host->dropped);
	return seen;
}

/** Acknowledges the error while the host reads the fence record. */
bool pb_host_clear(struct pb_host *host, struct pb_host_lane *lane)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {lane->queue.handle};
	enum pb_error error;
	uint32_t tag;

	error = pb_channel_begin(&host->channel, PB_COMMAND_QUEUE_CLEAR, arguments, &tag);
	if (!pb_host_succeeded(host, error, "an error is acknowledged"))
		return false;
	host->link->doing = "an acknowledgement";
	while ((error = pb_channel_finish(&host->channel, tag, NULL)) == PB_ERROR_TIMEOUT) {
		if (!(pb_host_choose(3) != 0 ? pb_host_check_fence(host, lane) : pb_host_pause(host)))
			return false;
	}
	return pb_host_succeeded(host, error, "an error was acknowledged") &&
	       pb_host_succeeded(host, pb_context_clear(&host->channel, host->context),
				 "a context is cleared");
}

/** Reads events while new ones may come. */
static uint32_t watch_events(struct pb_host *host)
{
	uint32_t seen = 0;

	host->link->asks = false; /* all events may have come already */
	for (uint32_t i = pb_host_choose(4); i != 0; i--) {
		(void)pb_host_pause(host);
		seen |= pb_host_events(host);
	}
	host->link->asks = true;
	return seen;
}

bool pb_host_fail_one(struct pb_host *host, struct pb_host_lane *lane, enum pb_host_kind kind)
{
	const uint32_t wanted =
		1u << PB_EVENT_CONTEXT_LOST |
		1u << (kind == PB_HOST_BAD ? PB_EVENT_SUBMISSION_FAILED : PB_EVENT_ENGINE_FAULT);
	struct pb_fence fence;
	uint32_t seen, index, dropped;

	for (uint32_t l = 0; l < PB_HOST_LANES; l++) {
		if (!pb_host_settle(host, &host->lanes[l]))
			return false;
	}
	(void)pb_host_events(host);
	dropped = host->dropped;
	if (kind == PB_HOST_FAULT && !pb_host_submit(host, lane, PB_HOST_GOOD))
		return false;
	index = lane->queue.put;
	if (!pb_host_submit(host, lane, kind) ||
	    (pb_host_choose(2) == 0 && !pb_host_suspend(host, lane, false)))
		return false;
	seen = watch_events(host);
	if (!pb_host_settle(host, lane))
		return false;
	if (index == lane->queue.put)
		return true; /* the queue was full */
	seen |= pb_host_events(host);
	if ((seen & wanted) != wanted && host->dropped == dropped)
		pb_weave_fail("host %u: submission %u has failed, and no event reports it: 0x%x", host->index,
			      index, seen);
	if (!pb_host_succeeded(host, pb_queue_fence(&lane->queue, &fence), "a fence is read"))
		return false;
	if (fence.error_fence_id != lane->submissions[index].fence_id)
		pb_weave_fail("host %u: submission %u has failed, and the record names 0x%x", host->index,
			      index, fence.error_fence_id);
	return pb_host_clear(host, lane);
}

static void check_unfinished(const struct pb_host *host, struct pb_host_lane *lane)
{
	struct pb_descriptor descriptor;
	uint32_t next = lane->queue.completed;

	if (lane->queue.channel == NULL)
		return; /* it was not created */
	while (pb_queue_unfinished(&lane->queue, &descriptor) == PB_ERROR_FIRMWARE_DEAD) {
		if (next >= lane->queue.put || descriptor.fence_id != lane->submissions[next].fence_id)
			pb_weave_fail("host %u: submission %u is returned as fence 0x%x", host->index, next,
				      descriptor.fence_id);
		next++;
	}
	if (next != lane->queue.put)
		pb_weave_fail("host %u: submission %u is lost", host->index, next);
}

/** What a fatal record reports was true at the death, or the record is empty. */
static void check_death(const struct pb_host *host, const struct pb_card_info *info)
{
	const struct pb_fatal_record *fatal = &info->fatal;

	if (fatal->valid != 0 &&
	    (fatal->kind != PB_FATAL_CPU_FAULT || fatal->pc != PB_WEAVE_FATAL_PC ||
	     fatal->lr != PB_WEAVE_FATAL_PC + 1u || fatal->psr != PB_WEAVE_FATAL_PC + 2u))
		pb_weave_fail("host %u: fatal record: kind %u, pc 0x%x", host->index, fatal->kind, fatal->pc);
	if (host->link->invited && info->mcu_state == PB_MCU_RESTARTING &&
	    info->mcu_deaths == host->link->deaths)
		pb_weave_fail("host %u: it has restarted without a death", host->index);
}

static void check_boot_block(const struct pb_host *host)
{
	struct pb_card_info info;
	const enum pb_error error = pb_card_read(&host->link->link, &info);

	if (error == PB_ERROR_OK)
		check_death(host, &info);
	else if (error != PB_ERROR_NO_CARD)
		pb_weave_fail("host %u: the boot block of a dead firmware: error %u", host->index, error);
}

void pb_host_watch_restart(struct pb_host *host)
{
	const uint32_t opened = pb_weave_card_opened();
	struct pb_card_info info;

	for (uint32_t i = 0; i < ATTEND_MAX && pb_weave_card_opened() == opened; i++) {
		(void)pb_channel_check(&host->channel, &info);
		check_death(host, &info);
	}
}

void pb_host_read_death(struct pb_host *host)
{
	for (uint32_t i = pb_host_choose(6); i != 0; i--)
		check_boot_block(host);
	for (uint32_t l = 0; l < PB_HOST_LANES; l++)
		check_unfinished(host, &host->lanes[l]);
}
