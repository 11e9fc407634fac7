/* SPDX-License-Identifier: MIT */
/* A host's link: a wait lets the other agents run. */
#include "tests/interleave/link.h"

#include "hal/lines.h"

/** Accesses that others may make while a host is slow. */
#define SLOW_ACCESSES 600u
/** Microseconds after which a wait may end without an event. */
#define WAKE_MICROS 30u

static struct pb_weave_link *link_of(struct pb_link *link)
{
	return (struct pb_weave_link *)(void *)link;
}

/**
 * As include/patchbay/link.h requires, the caller has put a barrier before it. The caller may be slow
 * afterwards.
 */
static void doorbell(struct pb_link *link)
{
	pb_weave_ring(PB_LINE_CHANNEL(link->channel));
	if (pb_random_one_in(pb_weave_random(), 4))
		pb_weave_yield(1u + pb_random_below(pb_weave_random(), SLOW_ACCESSES));
}

static enum pb_error wait_for_card(struct pb_link *link, uint64_t timeout_us)
{
	struct pb_weave_link *host = link_of(link);

	const bool for_nothing = pb_random_one_in(pb_weave_random(), 4);
	const uint64_t wait_us = for_nothing ? pb_random_below(pb_weave_random(), WAKE_MICROS) : timeout_us;

	pb_weave_point();
	if (!host->interrupted) {
		host->waits = true;
		(void)pb_weave_wait(pb_weave_now() + wait_us * PB_WEAVE_MOMENTS);
		host->waits = false;
	}
	if (!host->interrupted)
		return for_nothing ? PB_ERROR_OK : PB_ERROR_TIMEOUT;
	host->interrupted = false;
	pb_weave_see(host->seen);
	return PB_ERROR_OK;
}

static uint64_t now(struct pb_link *link)
{
	(void)link;
	return pb_weave_now() / PB_WEAVE_MOMENTS;
}

static void close_link(struct pb_link *link)
{
	(void)link;
}

static const struct pb_link_ops ops = {
	.doorbell = doorbell,
	.wait = wait_for_card,
	.now = now,
	.close = close_link,
};

struct pb_link *pb_weave_link_open(uint32_t host)
{
	struct pb_weave_link *link = pb_weave_card_link(host);

	*link = (struct pb_weave_link){.host = host};
	link->link = (struct pb_link){
		.ops = &ops,
		.memory = (uint8_t *)pb_weave_card_memory(),
		.memory_bytes = PB_WEAVE_WORDS * 4u,
		.channel = host + 1u,
	};
	return &link->link;
}
