/* SPDX-License-Identifier: MIT */
/* `patchbay top`: what a card does now, from two looks at what it has counted. */
#include <math.h>
#include <string.h>

#include "host/tool/top_model.h"
#include "tests/unit/unit.h"

static struct pb_top_model model;
static struct pb_telemetry_snapshot look;

static uint64_t *value(uint32_t node, enum pb_node_tag tag)
{
	return &look.nodes[node].values[tag];
}

/* Two nodes that have counted a lot. */
static int start(void **state)
{
	(void)state;
	memset(&model, 0, sizeof(model));
	look = (struct pb_telemetry_snapshot){
		.card = {.incarnation = 3,
			 .heartbeat = UINT32_MAX - 99u,
			 .boot_stage = PB_BOOT_STAGE_RUNNING},
		.clock = UINT32_MAX - 499999u,
		.node_count = 2,
		.node_values = PB_NODE_TAG_COUNT,
		.card_values = PB_CARD_TAG_COUNT,
	};
	for (uint32_t n = 0; n < look.node_count; n++)
		for (uint32_t tag = 0; tag < PB_NODE_TAG_COUNT; tag++)
			look.nodes[n].values[tag] = (UINT64_C(1) << 40) + 100u * n + tag;
	pb_top_model_update(&model, &look);
	return 0;
}

/** Another look, `us` of the card's clock later. */
static void update(uint32_t us)
{
	look.clock += us;
	look.card.heartbeat += 200;
	pb_top_model_update(&model, &look);
}

static void assert_rate(uint32_t node, enum pb_node_tag tag, double expected)
{
	const double found = model.nodes[node].rates[tag];

	if (fabs(found - expected) > 1e-9 * expected)
		fail_msg("%s of node %u is %f a second, not %f", pb_node_meanings[tag].name, node, found,
			 expected);
}

static void assert_unknown(void)
{
	assert_true(isnan(model.beats));
	for (uint32_t n = 0; n < model.now.node_count; n++) {
		assert_true(isnan(model.nodes[n].busy));
		assert_true(isnan(model.nodes[n].rates[PB_NODE_TAG_SUBMISSIONS]));
		assert_false(model.nodes[n].latencies[0].any || model.nodes[n].latencies[1].any);
	}
}

static void the_first_look_tells_no_rate(void **state)
{
	(void)state;
	assert_unknown();
	assert_true(model.beating);
	assert_int_equal(model.now.nodes[1].values[PB_NODE_TAG_DEPTH], (UINT64_C(1) << 40) + 111u);
}

static void the_second_one_does(void **state)
{
	(void)state;
	*value(0, PB_NODE_TAG_BUSY) += 900000;
	*value(0, PB_NODE_TAG_SUBMISSIONS) += 50;
	*value(1, PB_NODE_TAG_BYTES) += UINT64_C(6000000000);
	*value(1, PB_NODE_TAG_DEPTH) = 5;
	/* The card's clock, and the heartbeat, go round meanwhile. */
	update(2000000);
	assert_true(fabs(model.nodes[0].busy - 0.45) < 1e-9);
	assert_true(model.nodes[1].busy == 0);
	assert_rate(0, PB_NODE_TAG_SUBMISSIONS, 25);
	assert_rate(1, PB_NODE_TAG_SUBMISSIONS, 0);
	assert_rate(1, PB_NODE_TAG_BYTES, 3e9);
	assert_int_equal(model.now.nodes[1].values[PB_NODE_TAG_DEPTH], 5);
	assert_true(model.beating && fabs(model.beats - 100) < 1e-9);
	/* And the next one by itself. */
	*value(0, PB_NODE_TAG_SUBMISSIONS) += 3;
	update(500000);
	assert_rate(0, PB_NODE_TAG_SUBMISSIONS, 6);
	assert_true(model.nodes[0].busy == 0);
}

static void no_more_than_all_of_the_time(void **state)
{
	(void)state;
	*value(0, PB_NODE_TAG_BUSY) += 120000;
	update(100000);
	assert_true(model.nodes[0].busy == 1);
}

static void latencies_are_of_the_interval(void **state)
{
	uint32_t *buckets = look.nodes[1].latencies[PB_LATENCY_FENCE];

	(void)state;
	buckets[10] = 1000; /* before it: none of these counts */
	buckets[20] = UINT32_MAX - 9u;
	update(1000000);
	buckets[20] += 98; /* goes round */
	buckets[16] += 2;
	update(1000000);
	assert_true(model.nodes[1].latencies[PB_LATENCY_FENCE].any);
	assert_int_equal(model.nodes[1].latencies[PB_LATENCY_FENCE].p50, 4095);
	assert_int_equal(model.nodes[1].latencies[PB_LATENCY_FENCE].p99, 65535);
	assert_false(model.nodes[1].latencies[PB_LATENCY_FEED].any);
	update(1000000);
	assert_false(model.nodes[1].latencies[PB_LATENCY_FENCE].any);
}

/* ---- what makes it begin anew ---- */

static void boot_again(void)
{
	look.card.incarnation++;
}

static void go_back(void)
{
	*value(1, PB_NODE_TAG_FENCE_TIME) -= 1;
}

static void lose_a_node(void)
{
	look.node_count = 1;
}

static void know_more(void)
{
	look.node_values--;
}

static void turn_the_clock_back(void)
{
	look.clock -= 3000000;
}

static void restart(void)
{
	pb_top_model_restart(&model);
}

static void it_begins_anew(void **state)
{
	static void (*const causes[])(void) = {boot_again,          go_back, lose_a_node, know_more,
					       turn_the_clock_back, restart};

	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		print_message("cause %zu\n", i);
		start(state);
		*value(0, PB_NODE_TAG_SUBMISSIONS) += 10;
		look.nodes[0].latencies[0][5] += 7;
		causes[i]();
		update(1000000);
		assert_unknown();
		assert_true(model.beating);
		*value(0, PB_NODE_TAG_SUBMISSIONS) += 10;
		update(1000000);
		assert_rate(0, PB_NODE_TAG_SUBMISSIONS, 10);
	}
}

static void a_gauge_may_go_back(void **state)
{
	(void)state;
	*value(0, PB_NODE_TAG_DEPTH) = 0;
	*value(0, PB_NODE_TAG_STATE) = 0;
	*value(0, PB_NODE_TAG_SUBMISSIONS) += 10;
	update(1000000);
	assert_rate(0, PB_NODE_TAG_SUBMISSIONS, 10);
}

/* ---- what is missing ---- */

static void a_clock_that_stands_tells_no_rate(void **state)
{
	(void)state;
	update(0);
	assert_unknown();
	assert_true(model.beating);
}

static void a_heart_that_stands(void **state)
{
	(void)state;
	look.clock += 1000000;
	pb_top_model_update(&model, &look);
	assert_false(model.beating);
	assert_true(model.beats == 0);
}

static void firmware_without_counters_has_a_heart(void **state)
{
	(void)state;
	look.node_count = look.node_values = look.card_values = 0;
	update(1000000);
	update(1000000);
	assert_true(model.beating && fabs(model.beats - 200) < 1e-9);
	assert_false(pb_top_model_has(&model, PB_NODE_TAG_BUSY));
}

static void which_values_there_are(void **state)
{
	(void)state;
	look.node_values = PB_NODE_TAG_DEPTH;
	update(1);
	assert_true(pb_top_model_has(&model, PB_NODE_TAG_FENCE_TIME));
	assert_false(pb_top_model_has(&model, PB_NODE_TAG_DEPTH));
}

#define test(function) cmocka_unit_test_setup(function, start)

UNIT_SUITE(test_top_model)
{
	const struct CMUnitTest tests[] = {
		test(the_first_look_tells_no_rate),
		test(the_second_one_does),
		test(no_more_than_all_of_the_time),
		test(latencies_are_of_the_interval),
		test(it_begins_anew),
		test(a_gauge_may_go_back),
		test(a_clock_that_stands_tells_no_rate),
		test(a_heart_that_stands),
		test(firmware_without_counters_has_a_heart),
		test(which_values_there_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
