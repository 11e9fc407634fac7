/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/trace_anchor.h"

#include <time.h>

#include "hal/shared.h"
#include "patchbay/abi/boot.h"
#include "patchbay/card.h"

/** Ticks of the firmware that the first and the last anchor take, the best of which counts, and one in between. */
#define TICKS         3u
#define TICKS_BETWEEN 1u
/** How long the first and the last anchor wait for an MCU whose emulator gets no processor, on the clock of the link. */
#define END_PATIENCE_US 2000000u
/** Between two anchors of a recording. */
#define PERIOD_US 250000u
/** Anchors that are less apart tell no drift: their errors are larger. */
#define DRIFT_US 100000u
/** An anchor that was seen late is corrected by the next one, if that is as near as this. */
#define NEAR_US 1000000u

/** The clock of day when the link's clock had a value, in nanoseconds. */
static uint64_t day_at(struct pb_link *link, uint64_t host_us)
{
	struct timespec now;
	uint64_t ago;

	clock_gettime(CLOCK_REALTIME, &now);
	ago = link->ops->now(link) - host_us;
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec - ago * 1000u;
}

/** A trace whose records have the card's clock, which is published at all times. */
static bool write_former(FILE *file, struct pb_link *link)
{
	const struct pb_boot_block *boot = (const void *)(link->memory + PB_BOOT_OFFSET);
	const uint64_t host_us = link->ops->now(link);
	const struct pb_trace_anchor anchor = {.nanoseconds = day_at(link, host_us), .host_us = host_us};

	return pb_trace_file_anchor(file, &anchor, pb_shared_read32(&boot->clock));
}

/** Whether firmware may still publish its clock: the card's supervisor has not reported its death. */
static bool may_tick(const struct pb_link *link)
{
	struct pb_card_info info;

	return pb_card_read(link, &info) == PB_ERROR_OK && info.mcu_state != PB_MCU_DEAD;
}

/**
 * Measures an anchor and writes it. @param ticks of the firmware that it takes
 * @param patience_us how long it tries again while none comes
 */
static bool write_anchor(struct pb_trace_anchoring *anchoring, FILE *file, const struct pb_trace *trace,
			 struct pb_link *link, uint32_t ticks, uint64_t patience_us)
{
	struct pb_trace_anchor anchor = {0};
	struct pb_trace_stamp stamp;
	enum pb_error error;

	if (link->ops == NULL)
		return true;
	anchoring->last_us = link->ops->now(link);
	if (trace->version < 2u)
		return write_former(file, link);
	do
		error = pb_trace_stamp(trace, link, ticks, &stamp);
	while (error == PB_ERROR_TIMEOUT && link->ops->now(link) - anchoring->last_us < patience_us &&
	       may_tick(link));
	if (error != PB_ERROR_OK)
		return true;
	anchor.nanoseconds = day_at(link, stamp.host_us);
	anchor.host_us = stamp.host_us;
	anchor.error_us = stamp.error_us;
	return pb_trace_file_anchor(file, &anchor, stamp.clock);
}

bool pb_trace_anchor_end(struct pb_trace_anchoring *anchoring, FILE *file, const struct pb_trace *trace,
			 struct pb_link *link)
{
	return write_anchor(anchoring, file, trace, link, TICKS, END_PATIENCE_US);
}

bool pb_trace_anchor_between(struct pb_trace_anchoring *anchoring, FILE *file, const struct pb_trace *trace,
			     struct pb_link *link)
{
	if (link->ops == NULL || link->ops->now(link) - anchoring->last_us < PERIOD_US)
		return true;
	return write_anchor(anchoring, file, trace, link, TICKS_BETWEEN, 0);
}

/** The next anchor that has the clock of a link, from one on; `anchor_count`: there is none. */
static size_t next_of(const struct pb_trace_data *data, size_t i)
{
	while (i < data->anchor_count && data->anchors[i].host_us == 0)
		i++;
	return i;
}

/** By how much the host's clock is ahead of the trace's time at an anchor, in microseconds. */
static int64_t ahead(const struct pb_trace_anchor *anchor)
{
	return (int64_t)(anchor->host_us - anchor->time);
}

/** As ahead(); an anchor that was seen late is ahead too much, for a moment. */
static int64_t corrected(const struct pb_trace_data *data, size_t i)
{
	const int64_t here = ahead(&data->anchors[i]);
	const size_t next = next_of(data, i + 1u);

	if (next < data->anchor_count && data->anchors[next].time - data->anchors[i].time < NEAR_US &&
	    ahead(&data->anchors[next]) < here)
		return ahead(&data->anchors[next]);
	return here;
}

bool pb_trace_drift(const struct pb_trace_data *data, int64_t *drift)
{
	const size_t first = next_of(data, 0);
	size_t last = first;

	*drift = 0;
	for (size_t i = first; i < data->anchor_count; i = next_of(data, i + 1u))
		last = i;
	if (first == data->anchor_count || data->anchors[last].time - data->anchors[first].time < DRIFT_US)
		return false;
	*drift = (corrected(data, last) - corrected(data, first)) * 1000000000 /
		 (int64_t)(data->anchors[last].time - data->anchors[first].time);
	return true;
}

bool pb_trace_time_of(const struct pb_trace_data *data, uint64_t host_us, int64_t *time)
{
	size_t i = next_of(data, 0), next;
	int64_t since, span, host_span;

	if (i == data->anchor_count)
		return false;
	for (next = next_of(data, i + 1u);
	     next < data->anchor_count && data->anchors[next].host_us <= host_us;
	     next = next_of(data, next + 1u))
		i = next;
	since = (int64_t)(host_us - data->anchors[i].time) - corrected(data, i);
	*time = (int64_t)data->anchors[i].time + since;
	if (next == data->anchor_count || since <= 0)
		return true;
	/* Between two anchors the clocks differ evenly. */
	span = (int64_t)(data->anchors[next].time - data->anchors[i].time);
	host_span = span + corrected(data, next) - corrected(data, i);
	if (host_span > 0)
		*time = (int64_t)data->anchors[i].time + since * span / host_span;
	return true;
}
