/* SPDX-License-Identifier: MIT */
/* The counters as they are shown: tables, short numbers, and what firmware does not have. tests/telemetry/ has the rest. */
#define _POSIX_C_SOURCE 200809L
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/tool/card_failure.h"
#include "host/tool/short_text.h"
#include "host/tool/stats.h"
#include "tests/unit/telemetry_sample.h"
#include "tests/unit/unit.h"

static struct pb_telemetry_snapshot snapshot;
static char text[131072];

static int start(void **state)
{
	static union {
		uint8_t bytes[SAMPLE_BYTES];
		uint32_t words[SAMPLE_BYTES / 4u];
	} memory;
	struct pb_link link = {.memory = memory.bytes, .memory_bytes = SAMPLE_BYTES};

	(void)state;
	sample_write(memory.bytes);
	return pb_telemetry_read(&link, &snapshot) == PB_ERROR_OK ? 0 : -1;
}

static FILE *open_text(void)
{
	FILE *file;

	memset(text, 0, sizeof(text));
	file = fmemopen(text, sizeof(text), "w");
	assert_non_null(file);
	return file;
}

static void print(void)
{
	FILE *file = open_text();

	pb_stats_print(file, &snapshot);
	assert_int_equal(fclose(file), 0);
}

static void prometheus(enum pb_error error)
{
	FILE *file = open_text();

	pb_stats_prometheus(file, &snapshot, error);
	assert_int_equal(fclose(file), 0);
}

static void expect(const char *line)
{
	if (strstr(text, line) == NULL)
		fail_msg("there is no \"%s\" in:\n%s", line, text);
}

static void expect_none(const char *part)
{
	if (strstr(text, part) != NULL)
		fail_msg("there is a \"%s\" in:\n%s", part, text);
}

/* ---- short numbers ---- */

static void short_counts(void **state)
{
	static const struct {
		double value;
		const char *count, *bytes, *time;
	} rows[] = {
		{0, "0", "0", "0us"},
		{1, "1", "1", "1us"},
		{0.25, "0.2", "0", "0us"},
		{99.94, "99.9", "100", "100us"},
		{99.96, "100", "100", "100us"},
		{999, "999", "999", "999us"},
		{1000, "1000", "1000", "1.00ms"},
		{1024, "1024", "1.00Ki", "1.02ms"},
		{59999, "59999", "58.6Ki", "60.0ms"},
		{99999, "99999", "97.7Ki", "100ms"},
		{100000, "100k", "97.7Ki", "100ms"},
		{1234567, "1.23M", "1.18Mi", "1.23s"},
		{9994999, "9.99M", "9.53Mi", "9.99s"},
		{9995001, "10.0M", "9.53Mi", "10.0s"},
		{60e6, "60.0M", "57.2Mi", "1.00m"},
		{3600e6, "3.60G", "3.35Gi", "1.00h"},
		{4294967295.0, "4.29G", "4.00Gi", "1.19h"},
		{18446744073709551615.0, "18446744T", "16777216Ti", "5124095576h"},
	};
	char short_text[PB_SHORT_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pb_short_count(short_text, rows[i].value);
		assert_string_equal(short_text, rows[i].count);
		pb_short_bytes(short_text, rows[i].value);
		assert_string_equal(short_text, rows[i].bytes);
		pb_short_time(short_text, rows[i].value);
		assert_string_equal(short_text, rows[i].time);
	}
	pb_short_count(short_text, (double)NAN);
	assert_string_equal(short_text, "-");
	pb_short_bytes(short_text, (double)NAN);
	assert_string_equal(short_text, "-");
}

/* ---- tables ---- */

static void as_tables(void **state)
{
	(void)state;
	print();
	expect("build           sample \"1\\0\"\n");
	expect("firmware        RUNNING, incarnation 3\n");
	expect("MCU             running, died 2 times\n");
	expect("DROPS           4294972297\n");
	expect("node                   0           1\n");
	expect("BUSY               1.19h       1.19h\n");
	expect("DEPTH                 78        1078\n");
	expect("STATE            RUNNING    STOPPING\n");
	expect("channel               QUEUES        CONTEXTS        SEGMENTS         FORMATS      "
	       "POOL_BYTES");
	expect("2                   200/6096        201/6097        202/6098        203/6099      "
	       "204/5.96Ki");
	/* 4,980 latencies: the half of them in the buckets from 0 to 255 us, all in those to 2^25 us. */
	expect("0 FEED            4980    255us    524ms    33.6s    33.6s  |");
	expect("1 FEED               0        -        -        -        -  |");
	expect("max   0us to 1.19h\n");
}

static void of_a_node_that_has_done_nothing(void **state)
{
	(void)state;
	memset(snapshot.nodes, 0, sizeof(snapshot.nodes));
	print();
	expect("no latencies yet\n");
	expect("BUSY                 0us         0us\n");
}

static void shades_by_share(void **state)
{
	uint32_t *buckets = snapshot.nodes[0].latencies[PB_LATENCY_FEED];

	(void)state;
	memset(snapshot.nodes, 0, sizeof(snapshot.nodes));
	buckets[30] = 1000; /* to 3 us */
	buckets[29] = 499;
	buckets[27] = 1;
	buckets[26] = UINT32_MAX;
	print();
	expect("3us to 63us\n");
	expect("|.. .@|\n");
	buckets[26] = 1000;
	print();
	expect("|@= .@|\n");
}

/* Nothing that firmware may write is too long. */
static void the_largest_of_all(void **state)
{
	char *json;

	(void)state;
	memset(snapshot.nodes, 0xff, sizeof(snapshot.nodes));
	memset(snapshot.values, 0xff, sizeof(snapshot.values));
	memset(&snapshot.card.boot_stage, 0xff,
	       sizeof(snapshot.card) - offsetof(struct pb_card_info, boot_stage));
	snapshot.node_count = PB_TELEMETRY_NODES;
	snapshot.channel_count = PB_TELEMETRY_CHANNELS;
	memset(snapshot.channels, 0xff, sizeof(snapshot.channels));
	print();
	expect("\n15               4.29G/4.29G     4.29G/4.29G     4.29G/4.29G     4.29G/4.29G   "
	       "4.00Gi/4.00Gi");
	expect("DROPS           18446744073709551615\n");
	expect("firmware        ?, incarnation 4294967295\n");
	expect("7 FENCE           142G   65.5ms");
	prometheus(PB_ERROR_OK);
	expect("patchbay_node_busy_seconds_total{node=\"7\"} 18446744073709.551615\n");
	expect("patchbay_node_fence_seconds_count{node=\"7\"} 141733920735\n");
	expect("patchbay_channel_used{channel=\"15\",resource=\"STOPS\"} 4294967295\n");
	expect("patchbay_channel_limit{channel=\"15\",resource=\"STOP_MICROSECONDS\"} 4294967295\n");
	expect_none("patchbay_channel_used{channel=\"15\",resource=\"WAKES\"}");
	expect("patchbay_node_feed_seconds_bucket{node=\"0\",le=\"4294.967295\"} 141733920735\n");
	json = pb_stats_json(&snapshot, false);
	assert_non_null(strstr(json, "18446744073709551615"));
	cJSON_free(json);
}

/* ---- what is not there ---- */

static void older_firmware_has_fewer(void **state)
{
	cJSON *object;
	const cJSON *node;
	char *json;

	(void)state;
	snapshot.node_values = PB_NODE_TAG_FEED_TIME;
	snapshot.card_values = 1;
	snapshot.channel_count = 0;
	print();
	expect_none("CONTEXTS");
	expect("STARVED");
	expect_none("FEED_TIME");
	expect_none("DROPS");
	prometheus(PB_ERROR_OK);
	expect("patchbay_node_starved_seconds_total{node=\"1\"} 38654.706721\n");
	expect("patchbay_node_feed_seconds_count{node=\"0\"} 4980\n");
	expect_none("patchbay_node_feed_seconds_sum");
	expect_none("patchbay_node_depth");
	expect_none("patchbay_card_drops");
	expect_none("patchbay_channel");
	json = pb_stats_json(&snapshot, true);
	object = cJSON_Parse(json);
	assert_non_null(object);
	assert_null(strchr(json, '\n'));
	assert_null(cJSON_GetObjectItemCaseSensitive(object, "drops"));
	node = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(object, "nodes"), 0);
	assert_non_null(cJSON_GetObjectItemCaseSensitive(node, "starved_us"));
	assert_null(cJSON_GetObjectItemCaseSensitive(node, "depth"));
	assert_null(cJSON_GetObjectItemCaseSensitive(node, "state_name"));
	cJSON_Delete(object);
	cJSON_free(json);
}

static void no_counters_and_no_card(void **state)
{
	(void)state;
	snapshot = (struct pb_telemetry_snapshot){.card = snapshot.card};
	prometheus(PB_ERROR_UNSUPPORTED);
	expect("patchbay_up 1\n");
	expect("patchbay_firmware_incarnation 3\n");
	expect_none("patchbay_node");
	expect_none("patchbay_card");
	for (uint32_t error = PB_ERROR_TIMEOUT; error <= PB_ERROR_SYSTEM; error++) {
		prometheus((enum pb_error)error);
		assert_string_equal(text, "# HELP patchbay_up 1: the card could be read\n"
					  "# TYPE patchbay_up gauge\n"
					  "patchbay_up 0\n");
	}
}

static void whether_it_runs(void **state)
{
	static const struct {
		uint32_t stage, mcu;
		const char *line, *words;
	} rows[] = {
		{PB_BOOT_STAGE_RUNNING, PB_MCU_RUNNING, "patchbay_firmware_running 1\n", "running"},
		{PB_BOOT_STAGE_RUNNING, PB_MCU_UNKNOWN, "patchbay_firmware_running 1\n", "not supervised"},
		{PB_BOOT_STAGE_RUNNING, PB_MCU_DEAD, "patchbay_firmware_running 0\n", "dead"},
		{PB_BOOT_STAGE_RUNNING, PB_MCU_RESTARTING, "patchbay_firmware_running 0\n", "restarting"},
		{PB_BOOT_STAGE_FATAL, PB_MCU_RUNNING, "patchbay_firmware_running 0\n", "running"},
		{PB_BOOT_STAGE_STARTED, PB_MCU_UNKNOWN, "patchbay_firmware_running 0\n", "not supervised"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snapshot.card.boot_stage = rows[i].stage;
		snapshot.card.mcu_state = rows[i].mcu;
		prometheus(PB_ERROR_OK);
		expect(rows[i].line);
		assert_string_equal(pb_card_mcu_state(rows[i].mcu), rows[i].words);
	}
}

#define test(function) cmocka_unit_test_setup(function, start)

/* The keys of a DRM driver's fdinfo: engine times of both nodes of a kind together, above 2^32 microseconds. */
static void the_keys_of_fdinfo(void **state)
{
	static struct pb_telemetry_snapshot card;
	FILE *file = open_text();

	(void)state;
	card.card.capabilities[PB_CAPABILITY_NODE_KINDS] = 0x0121;
	card.node_count = 3;
	card.node_values = PB_NODE_TAG_COUNT;
	card.nodes[0].values[PB_NODE_TAG_BUSY] = 5;
	card.nodes[1].values[PB_NODE_TAG_BUSY] = 70000;
	card.nodes[2].values[PB_NODE_TAG_BUSY] = UINT64_C(0x100000000);
	card.channel_count = 3;
	card.channels[1].used[PB_RESOURCE_POOL_BYTES] = 3u << 20;
	card.channels[2].used[PB_RESOURCE_POOL_BYTES] = 4096;
	pb_stats_fdinfo(file, &card);
	assert_int_equal(fclose(file), 0);
	assert_string_equal(text, "drm-driver:\tpatchbay\n"
				  "drm-client-id:\t0\n"
				  "drm-engine-render:\t4294967301000 ns\n"
				  "drm-engine-capacity-render:\t2\n"
				  "drm-engine-copy:\t70000000 ns\n"
				  "\n"
				  "drm-driver:\tpatchbay\n"
				  "drm-client-id:\t1\n"
				  "drm-total-card:\t3072 KiB\n"
				  "\n"
				  "drm-driver:\tpatchbay\n"
				  "drm-client-id:\t2\n"
				  "drm-total-card:\t4 KiB\n");
	/* Firmware that does not count engine time has no keys of engines. */
	card.node_values = 0;
	card.channel_count = 0;
	file = open_text();
	pb_stats_fdinfo(file, &card);
	assert_int_equal(fclose(file), 0);
	assert_string_equal(text, "drm-driver:\tpatchbay\ndrm-client-id:\t0\n");
}

UNIT_SUITE(test_stats)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_counts),
		test(as_tables),
		test(of_a_node_that_has_done_nothing),
		test(shades_by_share),
		test(the_largest_of_all),
		test(older_firmware_has_fewer),
		test(no_counters_and_no_card),
		test(whether_it_runs),
		cmocka_unit_test(the_keys_of_fdinfo),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
