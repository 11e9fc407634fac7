/* SPDX-License-Identifier: MIT */
/* The text format of Prometheus, version 0.0.4 (Prometheus documentation, "Exposition formats"). */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "host/tool/stats.h"
#include "patchbay/names.h"

#define NAME_BYTES 64u
/** Prints microseconds as exact seconds. */
#define SECONDS        "%" PRIu64 ".%06" PRIu64
#define IN_SECONDS(us) (uint64_t)(us) / 1000000u, (uint64_t)(us) % 1000000u

static void begin(FILE *file, const char *name, const char *type, const char *help)
{
	fprintf(file, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put(FILE *file, const char *name, const char *type, uint64_t value, const char *help)
{
	begin(file, name, type, help);
	fprintf(file, "%s %" PRIu64 "\n", name, value);
}

static bool ends_with(const char *name, const char *end)
{
	const size_t length = strlen(name), end_length = strlen(end);

	return length >= end_length && strcmp(name + length - end_length, end) == 0;
}

/** Builds a name such as "patchbay_node_busy_seconds_total": object, value, unit, and _total for a counter. */
static void metric_name(char name[NAME_BYTES], const char *who, const struct pb_telemetry_meaning *meaning)
{
	static const char *const units[] = {
		[PB_TELEMETRY_NONE] = "",
		[PB_TELEMETRY_MICROSECONDS] = "_seconds",
		[PB_TELEMETRY_BYTES] = "_bytes",
	};
	char what[NAME_BYTES / 2];
	const char *unit = units[meaning->unit];

	(void)snprintf(what, sizeof(what), "_%s", meaning->name);
	for (char *letter = what; *letter != '\0'; letter++)
		*letter = (char)tolower(*letter);
	(void)snprintf(name, NAME_BYTES, "patchbay_%s%s%s%s", who, what, ends_with(what, unit) ? "" : unit,
		       meaning->kind == PB_TELEMETRY_COUNTER ? "_total" : "");
}

static const char *type_of(const struct pb_telemetry_meaning *meaning)
{
	return meaning->kind == PB_TELEMETRY_COUNTER ? "counter" : "gauge";
}

static void put_value(FILE *file, const struct pb_telemetry_meaning *meaning, uint64_t value)
{
	if (meaning->unit == PB_TELEMETRY_MICROSECONDS)
		fprintf(file, " " SECONDS "\n", IN_SECONDS(value));
	else
		fprintf(file, " %" PRIu64 "\n", value);
}

/* ---- the card ---- */

/** Prints the value of a label, escaped for quotation marks. */
static void put_label(FILE *file, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', file);
		fputc(*text, file);
	}
}

static void put_card(FILE *file, const struct pb_card_info *card)
{
	const bool runs = card->boot_stage == PB_BOOT_STAGE_RUNNING &&
			  (card->mcu_state == PB_MCU_UNKNOWN || card->mcu_state == PB_MCU_RUNNING);

	begin(file, "patchbay_build_info", "gauge", "build of the firmware; always 1");
	fputs("patchbay_build_info{build=\"", file);
	put_label(file, card->build);
	fprintf(file, "\",abi=\"%" PRIu32 ".%" PRIu32 "\"} 1\n", card->abi_version >> 16,
		card->abi_version & 0xffffu);
	put(file, "patchbay_firmware_running", "gauge", runs, "1: the boot is over, and no death is known");
	put(file, "patchbay_firmware_boot_stage", "gauge", card->boot_stage, "enum pb_boot_stage");
	put(file, "patchbay_firmware_incarnation", "gauge", card->incarnation,
	    "boots since the memory was cleared");
	put(file, "patchbay_firmware_heartbeats_total", "counter", card->heartbeat,
	    "passes of the main loop, modulo 2^32");
	put(file, "patchbay_mcu_state", "gauge", card->mcu_state, "enum pb_mcu_state");
	put(file, "patchbay_mcu_deaths_total", "counter", card->mcu_deaths,
	    "times that the MCU stopped since the card started");
}

static void put_card_values(FILE *file, const struct pb_telemetry_snapshot *snapshot)
{
	char name[NAME_BYTES];

	for (uint32_t tag = 0; tag < snapshot->card_values; tag++) {
		const struct pb_telemetry_meaning *meaning = &pb_card_meanings[tag];

		metric_name(name, "card", meaning);
		begin(file, name, type_of(meaning), meaning->meaning);
		fputs(name, file);
		put_value(file, meaning, snapshot->values[tag]);
	}
}

/* ---- nodes ---- */

/** Returns whether a value is the sum of a histogram, which is printed with the histogram. */
static bool is_sum(uint32_t tag)
{
	for (uint32_t l = 0; l < PB_LATENCY_COUNT; l++)
		if ((uint32_t)pb_latency_meanings[l].sum == tag)
			return true;
	return false;
}

static void put_node_values(FILE *file, const struct pb_telemetry_snapshot *snapshot)
{
	char name[NAME_BYTES];

	for (uint32_t tag = 0; tag < snapshot->node_values; tag++) {
		const struct pb_telemetry_meaning *meaning = &pb_node_meanings[tag];

		if (is_sum(tag))
			continue;
		metric_name(name, "node", meaning);
		begin(file, name, type_of(meaning), meaning->meaning);
		for (uint32_t n = 0; n < snapshot->node_count; n++) {
			fprintf(file, "%s{node=\"%" PRIu32 "\"}", name, n);
			put_value(file, meaning, snapshot->nodes[n].values[tag]);
		}
	}
}

/** Prints cumulative buckets. @return number of latencies */
static uint64_t put_buckets(FILE *file, const char *name, uint32_t n, const uint32_t *buckets)
{
	uint64_t count = 0;

	for (uint32_t b = PB_LATENCY_BUCKETS; b-- > 0;) {
		count += buckets[b];
		fprintf(file, "%s_bucket{node=\"%" PRIu32 "\",le=\"" SECONDS "\"} %" PRIu64 "\n", name, n,
			IN_SECONDS(pb_latency_bound(b)), count);
	}
	fprintf(file, "%s_bucket{node=\"%" PRIu32 "\",le=\"+Inf\"} %" PRIu64 "\n", name, n, count);
	return count;
}

static void put_histogram(FILE *file, const struct pb_telemetry_snapshot *snapshot, uint32_t l)
{
	const struct pb_latency_meaning *meaning = &pb_latency_meanings[l];
	const struct pb_telemetry_meaning what = {meaning->name, PB_TELEMETRY_GAUGE,
						  PB_TELEMETRY_MICROSECONDS, meaning->meaning};
	char name[NAME_BYTES];

	metric_name(name, "node", &what);
	begin(file, name, "histogram", meaning->meaning);
	for (uint32_t n = 0; n < snapshot->node_count; n++) {
		const struct pb_telemetry_node *node = &snapshot->nodes[n];
		const uint64_t count = put_buckets(file, name, n, node->latencies[l]);

		if ((uint32_t)meaning->sum < snapshot->node_values)
			fprintf(file, "%s_sum{node=\"%" PRIu32 "\"} " SECONDS "\n", name, n,
				IN_SECONDS(node->values[meaning->sum]));
		fprintf(file, "%s_count{node=\"%" PRIu32 "\"} %" PRIu64 "\n", name, n, count);
	}
}

/* ---- channels ---- */

static void put_accounts(FILE *file, const struct pb_telemetry_snapshot *snapshot, const char *name,
			 bool limits, const char *help)
{
	begin(file, name, "gauge", help);
	for (uint32_t c = 0; c < snapshot->channel_count; c++) {
		const struct pb_channel_account *account = &snapshot->channels[c];

		for (uint32_t r = 0; r < (limits ? PB_RESOURCE_COUNT : PB_RESOURCES_USED); r++)
			fprintf(file, "%s{channel=\"%" PRIu32 "\",resource=\"%s\"} %" PRIu32 "\n", name, c,
				pb_resource_name(r), limits ? account->limit[r] : account->used[r]);
	}
}

void pb_stats_prometheus(FILE *file, const struct pb_telemetry_snapshot *snapshot, enum pb_error error)
{
	const bool up = error == PB_ERROR_OK || error == PB_ERROR_UNSUPPORTED;

	put(file, "patchbay_up", "gauge", up, "1: the card could be read");
	if (!up)
		return;
	put_card(file, &snapshot->card);
	put_card_values(file, snapshot);
	put_node_values(file, snapshot);
	for (uint32_t l = 0; l < PB_LATENCY_COUNT && snapshot->node_count != 0; l++)
		put_histogram(file, snapshot, l);
	if (snapshot->channel_count == 0)
		return;
	put_accounts(file, snapshot, "patchbay_channel_used", false, "what a channel has of a resource");
	put_accounts(file, snapshot, "patchbay_channel_limit", true, "what a channel may have of a resource");
}
