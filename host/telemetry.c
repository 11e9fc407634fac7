/* SPDX-License-Identifier: MIT */
#include "patchbay/telemetry.h"

#include <string.h>

#include "host/internal.h"

/* Attempts in a row to read a consistent group of values; its writer needs a few hundred instructions. */
#define TRIES 1000u
/* Time for which a group may stay locked, in microseconds: the host may deschedule an emulated MCU. */
#define PATIENCE_US 100000u
#define SLICE_US    1000u
/* Attempts to read all values within one boot of the firmware. */
#define ATTEMPTS 3

#define VALUE_MEANING(name, number, kind, unit, meaning)                                                     \
	[number] = {#name, PB_TELEMETRY_##kind, PB_TELEMETRY_##unit, meaning},
#define LATENCY_MEANING(name, number, meaning) [number] = {#name, PB_NODE_TAG_##name##_TIME, meaning},

const struct pb_telemetry_meaning pb_node_meanings[PB_NODE_TAG_COUNT] = {PB_NODE_TAGS(VALUE_MEANING)};
const struct pb_telemetry_meaning pb_card_meanings[PB_CARD_TAG_COUNT] = {PB_CARD_TAGS(VALUE_MEANING)};
const struct pb_latency_meaning pb_latency_meanings[PB_LATENCY_COUNT] = {PB_LATENCIES(LATENCY_MEANING)};

/* A group of values behind one seqlock in card memory, and the room for their copy. */
struct values {
	const uint32_t *sequence;
	const struct pb_telemetry_value *shared;
	uint64_t *copy;
	uint32_t count; /* values that firmware and library both know */
};

static void copy_values(const struct values *values)
{
	for (uint32_t i = 0; i < values->count; i++) {
		const uint64_t low = pb_shared_read32(&values->shared[i].low);

		values->copy[i] = (uint64_t)pb_shared_read32(&values->shared[i].high) << 32 | low;
	}
}

/* Tries to copy a consistent group of values. @return false: every attempt met a write */
static bool try_values(const struct values *values)
{
	for (uint32_t i = 0; i < TRIES; i++) {
		const uint32_t sequence = pb_shared_read32(values->sequence);

		if (sequence % 2u != 0)
			continue;
		pb_shared_acquire();
		copy_values(values);
		pb_shared_acquire();
		if (pb_shared_read32(values->sequence) == sequence)
			return true;
	}
	return false;
}

static enum pb_error read_values(struct pb_link *link, const struct values *values)
{
	const uint64_t deadline = link->ops != NULL ? pb_deadline(link, PATIENCE_US) : 0;

	while (!try_values(values)) {
		/* Saved memory does not change: waiting is of no use. */
		const enum pb_error error =
			link->ops != NULL ? pb_pause(link, deadline, SLICE_US) : PB_ERROR_TIMEOUT;

		if (error != PB_ERROR_OK)
			return error == PB_ERROR_TIMEOUT ? PB_ERROR_PROTOCOL : error;
	}
	return PB_ERROR_OK;
}

static enum pb_error read_node(struct pb_link *link, const struct pb_node_telemetry *shared, uint32_t count,
			       struct pb_telemetry_node *node)
{
	pb_shared_copy_in(node->latencies, shared->latencies, sizeof(node->latencies));
	return read_values(link, &(struct values){&shared->sequence, shared->values, node->values, count});
}

static uint32_t at_most(uint32_t count, uint32_t most)
{
	return count < most ? count : most;
}

/* Reads and checks the head of the counters, which is constant during a boot. */
static enum pb_error read_head(struct pb_link *link, uint32_t offset, struct pb_telemetry_snapshot *snapshot)
{
	const struct pb_telemetry *shared;
	uint32_t node_values, card_values;

	if (!pb_inside(link, offset, sizeof(*shared)))
		return PB_ERROR_PROTOCOL;
	shared = pb_at(link, offset);
	if (pb_shared_read32(&shared->version) != PB_TELEMETRY_VERSION)
		return PB_ERROR_UNSUPPORTED;
	pb_shared_acquire();
	snapshot->node_count = pb_shared_read32(&shared->nodes);
	node_values = pb_shared_read32(&shared->node_values);
	card_values = pb_shared_read32(&shared->card_values);
	snapshot->channel_count = pb_shared_read32(&shared->channels);
	if (snapshot->node_count > PB_TELEMETRY_NODES || snapshot->channel_count > PB_TELEMETRY_CHANNELS ||
	    node_values > PB_NODE_VALUES || card_values > PB_CARD_VALUES ||
	    !pb_inside(link, offset,
		       sizeof(*shared) + snapshot->node_count * sizeof(struct pb_node_telemetry) +
			       snapshot->channel_count * sizeof(struct pb_channel_account)))
		return PB_ERROR_PROTOCOL;
	snapshot->node_values = at_most(node_values, PB_NODE_TAG_COUNT);
	snapshot->card_values = at_most(card_values, PB_CARD_TAG_COUNT);
	return PB_ERROR_OK;
}

static enum pb_error read_counters(struct pb_link *link, uint32_t offset,
				   struct pb_telemetry_snapshot *snapshot)
{
	const struct pb_telemetry *card;
	const struct pb_node_telemetry *nodes;
	enum pb_error error = read_head(link, offset, snapshot);

	if (error != PB_ERROR_OK)
		return error;
	card = pb_at(link, offset);
	nodes = pb_at(link, offset + (uint32_t)sizeof(*card));
	error = read_values(link, &(struct values){&card->sequence, card->values, snapshot->values,
						   snapshot->card_values});
	for (uint32_t n = 0; n < snapshot->node_count && error == PB_ERROR_OK; n++)
		error = read_node(link, &nodes[n], snapshot->node_values, &snapshot->nodes[n]);
	pb_shared_copy_in(snapshot->channels, &nodes[snapshot->node_count],
			  snapshot->channel_count * sizeof(struct pb_channel_account));
	return error;
}

/* Reads everything once. @param whole out: all of it belongs to one boot */
static enum pb_error read_once(struct pb_link *link, struct pb_telemetry_snapshot *snapshot, bool *whole)
{
	const struct pb_boot_block *boot = pb_at(link, PB_BOOT_OFFSET);
	enum pb_error error;
	uint32_t offset;

	memset(snapshot, 0, sizeof(*snapshot));
	*whole = true;
	error = pb_card_read(link, &snapshot->card);
	if (error != PB_ERROR_OK)
		return error;
	snapshot->clock = pb_shared_read32(&boot->clock);
	offset = pb_shared_read32(&boot->telemetry_offset);
	if (offset == 0)
		return PB_ERROR_UNSUPPORTED;
	error = read_counters(link, offset, snapshot);
	pb_shared_acquire();
	*whole = pb_shared_read32(&boot->incarnation) == snapshot->card.incarnation;
	return error;
}

/* Clears the counters and keeps card and clock. */
static void clear_counters(struct pb_telemetry_snapshot *snapshot)
{
	*snapshot = (struct pb_telemetry_snapshot){.card = snapshot->card, .clock = snapshot->clock};
}

enum pb_error pb_telemetry_read(struct pb_link *link, struct pb_telemetry_snapshot *snapshot)
{
	enum pb_error error = link->ops != NULL ? pb_refresh(link) : PB_ERROR_OK;
	bool whole = false;

	memset(snapshot, 0, sizeof(*snapshot));
	if (error != PB_ERROR_OK)
		return error;
	for (int i = 0; i < ATTEMPTS && !whole; i++)
		error = read_once(link, snapshot, &whole);
	if (!whole)
		error = PB_ERROR_PROTOCOL;
	if (error != PB_ERROR_OK)
		clear_counters(snapshot);
	return error;
}

/* ---- histograms ---- */

uint32_t pb_latency_bound(uint32_t bucket)
{
	return (uint32_t)((UINT64_C(1) << (PB_LATENCY_BUCKETS - 1u - bucket)) - 1u);
}

uint64_t pb_latency_count(const uint32_t buckets[PB_LATENCY_BUCKETS])
{
	uint64_t count = 0;

	for (uint32_t b = 0; b < PB_LATENCY_BUCKETS; b++)
		count += buckets[b];
	return count;
}

bool pb_latency_percentile(const uint32_t buckets[PB_LATENCY_BUCKETS], uint32_t permille, uint32_t *bound)
{
	const uint64_t count = pb_latency_count(buckets);
	const uint64_t rank = (count * permille + 999u) / 1000u;
	uint64_t seen = 0;

	/* The last bucket counts the shortest latencies. */
	for (uint32_t b = PB_LATENCY_BUCKETS; b-- > 0;) {
		seen += buckets[b];
		if (seen == 0 || seen < rank)
			continue;
		*bound = pb_latency_bound(b);
		return true;
	}
	return false;
}
