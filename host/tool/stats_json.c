/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <ctype.h>

#include "host/tool/card_failure.h"
#include "host/tool/json_number.h"
#include "host/tool/stats.h"
#include "patchbay/names.h"

#define NAME_BYTES 48u

static void lower_case(char name[NAME_BYTES], const char *from, const char *end)
{
	(void)snprintf(name, NAME_BYTES, "%s%s", from, end);
	for (char *letter = name; *letter != '\0'; letter++)
		*letter = (char)tolower(*letter);
}

static void add_values(cJSON *object, const struct pb_telemetry_meaning *meanings, const uint64_t *values,
		       uint32_t count)
{
	char name[NAME_BYTES];

	for (uint32_t tag = 0; tag < count; tag++) {
		lower_case(name, meanings[tag].name,
			   meanings[tag].unit == PB_TELEMETRY_MICROSECONDS ? "_us" : "");
		pb_json_number(object, name, values[tag]);
	}
}

static void add_percentiles(cJSON *object, const uint32_t *buckets)
{
	static const struct {
		const char *name;
		uint32_t permille;
	} rows[] = {{"p50_us", 500}, {"p90_us", 900}, {"p99_us", 990}, {"max_us", 1000}};

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t bound;

		if (pb_latency_percentile(buckets, rows[i].permille, &bound))
			pb_json_number(object, rows[i].name, bound);
		else
			cJSON_AddNullToObject(object, rows[i].name);
	}
}

static cJSON *latency_json(const uint32_t *buckets)
{
	cJSON *object = cJSON_CreateObject();
	cJSON *list = cJSON_CreateArray();

	pb_json_number(object, "count", pb_latency_count(buckets));
	add_percentiles(object, buckets);
	for (uint32_t b = PB_LATENCY_BUCKETS; b-- > 0;) {
		cJSON *bucket;

		if (buckets[b] == 0)
			continue;
		bucket = cJSON_CreateObject();
		pb_json_number(bucket, "le_us", pb_latency_bound(b));
		pb_json_number(bucket, "count", buckets[b]);
		cJSON_AddItemToArray(list, bucket);
	}
	cJSON_AddItemToObject(object, "buckets", list);
	return object;
}

static cJSON *node_json(const struct pb_telemetry_snapshot *snapshot, uint32_t n)
{
	const struct pb_telemetry_node *node = &snapshot->nodes[n];
	cJSON *object = cJSON_CreateObject();
	cJSON *latencies = cJSON_CreateObject();
	char name[NAME_BYTES];

	pb_json_number(object, "node", n);
	add_values(object, pb_node_meanings, node->values, snapshot->node_values);
	if (snapshot->node_values > PB_NODE_TAG_STATE)
		cJSON_AddStringToObject(object, "state_name",
					pb_node_state_name((uint32_t)node->values[PB_NODE_TAG_STATE]));
	for (uint32_t l = 0; l < PB_LATENCY_COUNT; l++) {
		lower_case(name, pb_latency_meanings[l].name, "");
		cJSON_AddItemToObject(latencies, name, latency_json(node->latencies[l]));
	}
	cJSON_AddItemToObject(object, "latencies", latencies);
	return object;
}

static cJSON *account_json(const struct pb_channel_account *account, uint32_t channel)
{
	cJSON *object = cJSON_CreateObject();
	char name[NAME_BYTES];

	pb_json_number(object, "channel", channel);
	for (uint32_t r = 0; r < PB_RESOURCE_COUNT; r++) {
		cJSON *resource = cJSON_CreateObject();

		if (r < PB_RESOURCES_USED)
			pb_json_number(resource, "used", account->used[r]);
		pb_json_number(resource, "limit", account->limit[r]);
		lower_case(name, pb_resource_name(r), "");
		cJSON_AddItemToObject(object, name, resource);
	}
	return object;
}

static void add_card(cJSON *object, const struct pb_telemetry_snapshot *snapshot)
{
	const struct pb_card_info *card = &snapshot->card;

	cJSON_AddStringToObject(object, "build", card->build);
	cJSON_AddStringToObject(object, "boot_stage", pb_boot_stage_name(card->boot_stage));
	cJSON_AddStringToObject(object, "mcu_state", pb_card_mcu_state(card->mcu_state));
	pb_json_number(object, "mcu_deaths", card->mcu_deaths);
	pb_json_number(object, "incarnation", card->incarnation);
	pb_json_number(object, "heartbeat", card->heartbeat);
	pb_json_number(object, "clock_us", snapshot->clock);
	add_values(object, pb_card_meanings, snapshot->values, snapshot->card_values);
}

char *pb_stats_json(const struct pb_telemetry_snapshot *snapshot, bool line)
{
	cJSON *object = cJSON_CreateObject();
	cJSON *nodes = cJSON_CreateArray();
	cJSON *channels = cJSON_CreateArray();
	char *text;

	add_card(object, snapshot);
	for (uint32_t n = 0; n < snapshot->node_count; n++)
		cJSON_AddItemToArray(nodes, node_json(snapshot, n));
	cJSON_AddItemToObject(object, "nodes", nodes);
	for (uint32_t c = 0; c < snapshot->channel_count; c++)
		cJSON_AddItemToArray(channels, account_json(&snapshot->channels[c], c));
	cJSON_AddItemToObject(object, "channels", channels);
	text = line ? cJSON_PrintUnformatted(object) : cJSON_Print(object);
	cJSON_Delete(object);
	return text;
}
