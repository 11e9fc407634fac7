/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "host/tool/card_failure.h"
#include "host/tool/short_text.h"
#include "host/tool/stats.h"
#include "patchbay/names.h"

/** Shades by frequency of a latency, relative to the most frequent one of its row. */
static const char shades[] = ".:-=+*#%@";

static void print_card(FILE *file, const struct pb_telemetry_snapshot *snapshot)
{
	const struct pb_card_info *card = &snapshot->card;

	fprintf(file, "%-16s%s\n", "build", card->build);
	fprintf(file, "%-16s%s, incarnation %" PRIu32 "\n", "firmware", pb_boot_stage_name(card->boot_stage),
		card->incarnation);
	fprintf(file, "%-16s%s, died %" PRIu32 " times\n", "MCU", pb_card_mcu_state(card->mcu_state),
		card->mcu_deaths);
	fprintf(file, "%-16s%" PRIu32 "\n", "heartbeat", card->heartbeat);
	for (uint32_t tag = 0; tag < snapshot->card_values; tag++)
		fprintf(file, "%-16s%" PRIu64 "\n", pb_card_meanings[tag].name, snapshot->values[tag]);
}

static void print_value(FILE *file, uint32_t tag, uint64_t value)
{
	char text[PB_SHORT_BYTES];

	if (tag == PB_NODE_TAG_STATE)
		(void)snprintf(text, sizeof(text), "%s", pb_node_state_name((uint32_t)value));
	else if (pb_node_meanings[tag].unit == PB_TELEMETRY_MICROSECONDS)
		pb_short_time(text, (double)value);
	else if (pb_node_meanings[tag].unit == PB_TELEMETRY_BYTES)
		pb_short_bytes(text, (double)value);
	else
		pb_short_count(text, (double)value);
	fprintf(file, " %11s", text);
}

static void print_nodes(FILE *file, const struct pb_telemetry_snapshot *snapshot)
{
	fprintf(file, "\n%-12s", "node");
	for (uint32_t n = 0; n < snapshot->node_count; n++)
		fprintf(file, " %11" PRIu32, n);
	fputc('\n', file);
	for (uint32_t tag = 0; tag < snapshot->node_values; tag++) {
		fprintf(file, "%-12s", pb_node_meanings[tag].name);
		for (uint32_t n = 0; n < snapshot->node_count; n++)
			print_value(file, tag, snapshot->nodes[n].values[tag]);
		fputc('\n', file);
	}
}

/* ---- channels ---- */

static void print_account(FILE *file, const struct pb_channel_account *account, uint32_t resource)
{
	char used[PB_SHORT_BYTES], limit[PB_SHORT_BYTES], both[2 * PB_SHORT_BYTES];

	if (resource == PB_RESOURCE_POOL_BYTES) {
		pb_short_bytes(used, account->used[resource]);
		pb_short_bytes(limit, account->limit[resource]);
	} else {
		pb_short_count(used, account->used[resource]);
		pb_short_count(limit, account->limit[resource]);
	}
	(void)snprintf(both, sizeof(both), "%s/%s", used, limit);
	fprintf(file, " %15s", both);
}

/** Prints what each channel has, and may have, of what is used up. */
static void print_accounts(FILE *file, const struct pb_telemetry_snapshot *snapshot)
{
	if (snapshot->channel_count == 0)
		return;
	fprintf(file, "\n%-12s", "channel");
	for (uint32_t r = 0; r < PB_RESOURCES_USED; r++)
		fprintf(file, " %15s", pb_resource_name(r));
	fputc('\n', file);
	for (uint32_t c = 0; c < snapshot->channel_count; c++) {
		fprintf(file, "%-12" PRIu32, c);
		for (uint32_t r = 0; r < PB_RESOURCES_USED; r++)
			print_account(file, &snapshot->channels[c], r);
		fputc('\n', file);
	}
}

/* ---- latencies ---- */

/** Range of buckets in use. The last bucket counts the shortest latencies. */
struct range {
	uint32_t shortest, longest;
};

static struct range used_buckets(const struct pb_telemetry_snapshot *snapshot)
{
	struct range range = {0, PB_LATENCY_BUCKETS};

	for (uint32_t n = 0; n < snapshot->node_count; n++)
		for (uint32_t l = 0; l < PB_LATENCY_COUNT; l++)
			for (uint32_t b = 0; b < PB_LATENCY_BUCKETS; b++) {
				if (snapshot->nodes[n].latencies[l][b] == 0)
					continue;
				range.shortest = b > range.shortest ? b : range.shortest;
				range.longest = b < range.longest ? b : range.longest;
			}
	return range;
}

static void print_shades(FILE *file, const uint32_t *buckets, struct range range)
{
	const uint32_t darkest = (uint32_t)strlen(shades) - 1u;
	uint32_t most = 1;

	for (uint32_t b = range.longest; b <= range.shortest; b++)
		most = buckets[b] > most ? buckets[b] : most;
	fputs("  |", file);
	for (uint32_t b = range.shortest + 1u; b-- > range.longest;)
		fputc(buckets[b] == 0 ? ' ' : shades[(uint64_t)buckets[b] * darkest / most], file);
	fputs("|\n", file);
}

static void print_latency(FILE *file, uint32_t n, uint32_t l, const uint32_t *buckets, struct range range)
{
	static const uint32_t permilles[] = {500, 900, 990, 1000};
	char text[PB_SHORT_BYTES];

	pb_short_count(text, (double)pb_latency_count(buckets));
	fprintf(file, "%" PRIu32 " %-8s %11s", n, pb_latency_meanings[l].name, text);
	for (uint32_t p = 0; p < sizeof(permilles) / sizeof(permilles[0]); p++) {
		uint32_t bound;

		if (pb_latency_percentile(buckets, permilles[p], &bound))
			pb_short_time(text, bound);
		else
			(void)snprintf(text, sizeof(text), "-");
		fprintf(file, " %8s", text);
	}
	print_shades(file, buckets, range);
}

static void print_latencies(FILE *file, const struct pb_telemetry_snapshot *snapshot)
{
	const struct range range = used_buckets(snapshot);
	char from[PB_SHORT_BYTES], to[PB_SHORT_BYTES];

	if (range.longest == PB_LATENCY_BUCKETS) {
		fputs("\nno latencies yet\n", file);
		return;
	}
	pb_short_time(from, pb_latency_bound(range.shortest));
	pb_short_time(to, pb_latency_bound(range.longest));
	fprintf(file, "\n%-10s %11s %8s %8s %8s %8s   %s to %s\n", "latency", "count", "p50", "p90", "p99",
		"max", from, to);
	for (uint32_t l = 0; l < PB_LATENCY_COUNT; l++)
		for (uint32_t n = 0; n < snapshot->node_count; n++)
			print_latency(file, n, l, snapshot->nodes[n].latencies[l], range);
	fputs("\nA latency is at most the time given, and longer than half of it.\n", file);
	for (uint32_t l = 0; l < PB_LATENCY_COUNT; l++)
		fprintf(file, "%-6s %s\n", pb_latency_meanings[l].name, pb_latency_meanings[l].meaning);
}

void pb_stats_print(FILE *file, const struct pb_telemetry_snapshot *snapshot)
{
	print_card(file, snapshot);
	print_nodes(file, snapshot);
	print_accounts(file, snapshot);
	print_latencies(file, snapshot);
}
