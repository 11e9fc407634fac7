/* SPDX-License-Identifier: MIT */
/* A host: one session after another, each of a few actions. */
#include "tests/interleave/host.h"

#include <string.h>

#include "tests/interleave/link.h"

#define ACTIONS_MAX   8u
#define BURST         6u
#define ATTACH_MICROS 500000u
#define SYSTEM_BYTES  0x4000u
#define MARKS_BYTES   0x1000u
#define PAUSE_MICROS  2000u

static struct pb_host hosts[PB_WEAVE_HOSTS];
static uint32_t running;
static bool alone;

bool pb_host_is_alone(void)
{
	return alone;
}

uint32_t pb_host_choose(uint32_t n)
{
	return pb_random_below(pb_weave_random(), n);
}

bool pb_host_succeeded(const struct pb_host *host, enum pb_error error, const char *what)
{
	if (error == PB_ERROR_OK)
		return true;
	/* It attached before the supervisor allowed it: RESTARTING may be seen at any time until then, and is refused. */
	if (error == PB_ERROR_FIRMWARE_DEAD &&
	    (pb_weave_card_opened() != host->link->opened || !pb_weave_card_is_up()))
		return false;
	if (error != PB_ERROR_FIRMWARE_DEAD || !pb_weave_card_died(host->link->deaths))
		pb_weave_fail("host %u: when %s: %s", host->index, what, pb_error_name(error));
	return false;
}

bool pb_host_pause(struct pb_host *host)
{
	struct pb_link *link = &host->link->link;
	const enum pb_error error = link->ops->wait(link, PAUSE_MICROS);

	return error == PB_ERROR_OK || error == PB_ERROR_TIMEOUT;
}

/* ---- a session ---- */

static bool create_segment(struct pb_host *host, struct pb_segment *segment, uint32_t id, uint32_t bytes)
{
	const struct pb_segment_request request = {
		.id = id,
		.os_base = 0x10000u + id * 0x100000u,
		.gpu_base = 0x40000u + id * 0x100000u,
		.size = bytes,
		.backing_bytes = bytes,
	};

	return pb_host_succeeded(host, pb_segment_create(segment, &host->channel, &request),
				 "a segment is created");
}

/** An attach is refused only if the firmware has restarted meanwhile. */
static bool attach(struct pb_host *host)
{
	const uint32_t before = pb_weave_card_requests(host->index);
	const bool up = pb_weave_card_is_up();
	enum pb_error error;

	host->link->attaches = true;
	host->link->doing = "an attach";
	error = pb_channel_attach(&host->channel, &host->link->link, ATTACH_MICROS);
	host->link->attaches = false;
	host->link->opened = pb_weave_card_opened() + !pb_weave_card_is_up();
	if (!pb_host_succeeded(host, error, "attach"))
		return false;
	host->link->opened = pb_weave_card_opened();
	host->link->invited = pb_weave_card_is_up();
	if (up && pb_weave_card_requests(host->index) != before + 1u &&
	    !pb_weave_card_died(host->link->deaths))
		pb_weave_fail("host %u: its attach was refused", host->index);
	return true;
}

static bool begin(struct pb_host *host)
{
	memset(host->lanes, 0, sizeof(host->lanes));
	host->events = host->missing = host->dropped = 0;
	host->patches = 0;
	host->link->deaths = pb_weave_card_deaths();
	if (!attach(host))
		return false;
	host->link->doing = "what it needs";
	if (!create_segment(host, &host->system, PB_SEGMENT_SYSTEM, SYSTEM_BYTES) ||
	    !create_segment(host, &host->marks, 1, MARKS_BYTES) ||
	    !pb_host_succeeded(host, pb_context_create(&host->channel, &host->context),
			       "a context is created"))
		return false;
	for (uint32_t l = 0; l < PB_HOST_LANES; l++) {
		if (!pb_host_lane_create(host, l))
			return false;
	}
	return true;
}

/** Posts as many commands as there is room for. */
static bool burst(struct pb_host *host)
{
	static const uint32_t arguments[PB_COMMAND_ARGUMENTS];
	uint32_t tags[BURST];
	uint32_t count = 0;

	host->link->doing = "replies";
	while (count < BURST) {
		const enum pb_error error =
			pb_channel_begin(&host->channel, PB_COMMAND_PING, arguments, &tags[count]);

		if (error == PB_ERROR_NO_SPACE)
			break;
		if (!pb_host_succeeded(host, error, "a command is posted"))
			return false;
		count++;
	}
	while (count != 0) {
		const uint32_t at = pb_host_choose(count);
		const enum pb_error error = pb_channel_finish(&host->channel, tags[at], NULL);

		if (error == PB_ERROR_TIMEOUT) {
			(void)pb_host_pause(host);
			continue;
		}
		if (!pb_host_succeeded(host, error, "a command is finished"))
			return false;
		tags[at] = tags[--count];
	}
	return true;
}

static bool submit_random(struct pb_host *host, struct pb_host_lane *lane)
{
	for (uint32_t i = 1u + pb_host_choose(3); i != 0; i--) {
		if (!pb_host_submit(host, lane, pb_host_choose(3) == 0 ? PB_HOST_LONG : PB_HOST_GOOD))
			return false;
	}
	return true;
}

/** Looks at the heartbeat right behind a sleep in which several came. */
static bool watch_after_sleep(struct pb_host *host)
{
	host->link->asks = false; /* nothing but time ends the sleep */
	(void)host->link->link.ops->wait(&host->link->link, 2u * PB_HEARTBEAT_US);
	host->link->asks = true;
	return pb_host_succeeded(host, pb_channel_watch(&host->channel), "the heartbeat is watched");
}

/** One action. @return false: the session has ended */
static bool act(struct pb_host *host)
{
	struct pb_host_lane *lane = &host->lanes[pb_host_choose(PB_HOST_LANES)];

	switch (pb_host_choose(19)) {
	case 0:
		return burst(host);
	case 1:
		return pb_host_preempt(host, lane);
	case 2:
		return pb_host_suspend(host, lane, true);
	case 3:
		return pb_host_fail_one(host, lane, PB_HOST_BAD);
	case 4:
		return pb_host_fail_one(host, lane, PB_HOST_FAULT);
	case 5:
	case 6:
		return pb_host_check_fence(host, lane);
	case 7:
	case 8:
		return pb_host_count(host, lane);
	case 9:
	case 10:
		return pb_host_settle(host, lane);
	case 11:
		(void)pb_host_events(host);
		return true;
	case 12:
		return pb_host_aim(host, lane);
	case 13:
		return watch_after_sleep(host);
	default:
		return submit_random(host, lane);
	}
}

static bool settle_all(struct pb_host *host)
{
	for (uint32_t l = 0; l < PB_HOST_LANES; l++) {
		if (!pb_host_settle(host, &host->lanes[l]))
			return false;
		pb_host_check_returned(host, &host->lanes[l]);
	}
	return true;
}

/** @param by_itself the host also detaches */
static void leave_to_supervisor(struct pb_host *host, bool by_itself)
{
	pb_weave_card_close(host->index);
	host->link->doing = "its end";
	/* A host whose channel is being closed counts as gone, and gets no more interrupts. */
	host->link->asks = false;
	if (by_itself)
		(void)pb_host_succeeded(host, pb_channel_detach(&host->channel), "detach during a close");
	while (!host->link->closed)
		(void)pb_host_pause(host);
	host->link->asks = true;
}

static void leave(struct pb_host *host)
{
	switch (pb_host_choose(6)) {
	case 0:
		return; /* the next session starts from a fresh state */
	case 1:
		(void)pb_host_submit(host, &host->lanes[0], PB_HOST_ENDLESS);
		return; /* the next session waits for the end of the close */
	case 2:
		leave_to_supervisor(host, false);
		return;
	case 3:
		leave_to_supervisor(host, true);
		return;
	default:
		host->link->doing = "a detach";
		(void)pb_host_succeeded(host, pb_channel_detach(&host->channel), "detach");
	}
}

static void session(struct pb_host *host)
{
	bool goes_on = begin(host);

	for (uint32_t i = 1u + pb_host_choose(ACTIONS_MAX); i != 0 && goes_on; i--)
		goes_on = act(host);
	if (goes_on && pb_host_choose(pb_host_is_alone() ? 5 : 12) == 0)
		goes_on = pb_host_reset_queue(host, &host->lanes[0]);
	else if (goes_on)
		goes_on = settle_all(host);
	if (goes_on && pb_host_choose(12) == 0) {
		pb_weave_card_break(pb_host_choose(2) == 0);
		pb_host_watch_restart(host);
	}
	if (goes_on)
		leave(host);
	else
		pb_host_read_death(host);
}

void pb_host_reset(void)
{
	memset(hosts, 0, sizeof(hosts));
	running = 0;
	for (uint32_t h = 0; h < PB_WEAVE_HOSTS; h++) {
		hosts[h].index = h;
		hosts[h].link = (struct pb_weave_link *)(void *)pb_weave_link_open(h);
	}
	running = 1u + pb_host_choose(PB_WEAVE_HOSTS);
	alone = running == 1u;
	for (uint32_t h = 0; h < running; h++)
		pb_weave_start(PB_WEAVE_HOST(h), pb_host_run);
}

void pb_host_run(void)
{
	struct pb_host *host = &hosts[pb_weave_self() - PB_WEAVE_HOST(0)];

	host->link->asks = true;
	for (uint32_t i = 1u + pb_host_choose(2); i != 0; i--)
		session(host);
	if (--running == 0)
		pb_weave_end();
	pb_weave_kill(pb_weave_self());
}
