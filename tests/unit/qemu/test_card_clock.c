/* SPDX-License-Identifier: MIT */
/* The card's clock turn by turn, and the proofs that it asks the emulator for, byte by byte. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "qemu/card_clock.h"
#include "qemu/card_monitor.h"
#include "tests/unit/unit.h"

/* ---- the clock ---- */

/* One turn: how much wall time before it, whether the heartbeat moved, whether there is a proof. */
struct turn {
	uint32_t gone;
	bool beat;
	bool proven;
	uint32_t step; /* what the clock must have added */
	uint32_t still;
	bool doubts;
};

static const struct turn turns[] = {
	/* As the wall goes, but no turn adds more than 1,200 us. */
	{0, true, false, 0, 0, false},
	{1, true, false, 1, 0, false},
	{1199, true, false, 1199, 0, false},
	{1200, true, false, 1200, 0, false},
	{1201, true, false, 1200, 0, false},
	{5000000, true, false, 1200, 0, false},
	/* The heartbeat stands: up to 6,000 us. */
	{1000, false, false, 1000, 1000, false},
	{0, false, false, 0, 1000, false},
	{1200, false, false, 1200, 2200, false},
	{9000, false, false, 1200, 3400, false},
	{1200, false, false, 1200, 4600, false},
	{1200, false, false, 1200, 5800, false},
	/* A proof before there is a doubt is worth nothing. */
	{199, false, true, 199, 5999, false},
	{1200, false, false, 1, 6000, true},
	{1200, false, false, 0, 6000, true},
	{900000, false, false, 0, 6000, true},
	/* A proof is a quarter of a millisecond, however long it took. */
	{3, false, true, 250, 6250, true},
	{900000, false, false, 0, 6250, true},
	{900000, false, true, 250, 6500, true},
	{1000, false, true, 250, 6750, true},
	{1000, false, true, 250, 7000, true},
	{1000, false, true, 250, 7250, true},
	{1000, false, true, 250, 7500, true},
	{1000, false, true, 250, 7750, true},
	{1000, false, true, 250, 8000, true},
	/* Once hosts have given it up it is a whole one. */
	{1000, false, true, 1000, 9000, true},
	{900000, false, false, 0, 9000, true},
	{5, false, true, 1000, 10000, true},
	/* It moves: as the wall goes again. */
	{700, true, false, 700, 0, false},
	{700, false, false, 700, 700, false},
	{1200, true, true, 1200, 0, false},
};

static void run_turns(uint32_t first)
{
	struct pb_boot_block block = {.heartbeat = 77};
	struct pb_card_clock clock;
	uint64_t now = 1000000;
	uint32_t time = first;
	uint32_t beat = first;

	pb_card_clock_init(&clock, &block, now);
	pb_card_clock_start(&clock, now);
	clock.time = first;
	block.clock = first;
	for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
		now += turns[i].gone;
		block.heartbeat += turns[i].beat ? 1 : 0;
		time += turns[i].step;
		beat = turns[i].still == 0 ? time : beat;
		pb_card_clock_turn(&clock, now, turns[i].proven);
		if (block.clock != time || clock.still != turns[i].still)
			fail_msg("turn %zu: clock %u, not %u; still %u", i, block.clock, time, clock.still);
		assert_int_equal(block.heartbeat_clock, beat);
		assert_int_equal(pb_card_clock_doubts(&clock), turns[i].doubts);
	}
}

static void card_time_follows_the_wall_while_the_heart_beats(void **unused)
{
	(void)unused;
	run_turns(0);
	/* It wraps in the middle. */
	run_turns(UINT32_MAX - 5000u);
}

/* A new MCU is not blamed for the time before it, and the clock does not go back. */
static void a_new_mcu_is_not_blamed_for_the_time_before_it(void **unused)
{
	struct pb_boot_block block = {.heartbeat = 5};
	struct pb_card_clock clock;
	uint64_t now = 50;

	(void)unused;
	pb_card_clock_init(&clock, &block, now);
	pb_card_clock_start(&clock, now);
	for (uint32_t i = 0; i < 10; i++)
		pb_card_clock_turn(&clock, now += 1000, false);
	assert_true(pb_card_clock_doubts(&clock));
	assert_int_equal(block.clock, 6000);
	block.heartbeat = 9; /* the dead one's last */
	pb_card_clock_start(&clock, now += 1000000);
	assert_false(pb_card_clock_doubts(&clock));
	assert_int_equal(block.heartbeat_clock, 6000);
	pb_card_clock_turn(&clock, now += 400, false);
	assert_int_equal(clock.still, 400);
	assert_int_equal(block.clock, 6400);
}

/* ---- the monitor ---- */

struct bench {
	struct pb_card_monitor monitor;
	int emulator; /* its end */
};

static int start(void **state)
{
	static struct bench bench;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		return -1;
	pb_card_monitor_init(&bench.monitor);
	bench.emulator = ends[0];
	pb_card_monitor_connect(&bench.monitor, ends[1]);
	*state = &bench;
	return 0;
}

static int stop(void **state)
{
	struct bench *bench = *state;

	pb_card_monitor_restart(&bench->monitor);
	if (bench->emulator >= 0)
		close(bench->emulator);
	return 0;
}

/* What the card has sent since. */
static void expect_sent(const struct bench *bench, const char *expected)
{
	char sent[256] = "";

	if (recv(bench->emulator, sent, sizeof(sent) - 1, MSG_DONTWAIT) < 0)
		sent[0] = '\0';
	assert_string_equal(sent, expected);
}

static void answer(struct bench *bench, const char *text, uint64_t now)
{
	assert_int_equal(write(bench->emulator, text, strlen(text)), strlen(text));
	assert_true(pb_card_monitor_receive(&bench->monitor, now));
}

#define RETURN "{\"return\": {}}\r\n"
#define EVENT  "{\"timestamp\": {\"seconds\": 1, \"microseconds\": 2}, \"event\": \"{\\\"return\\\"\"}\r\n"

static void get_ready(struct bench *bench)
{
	expect_sent(bench, "{\"execute\":\"qmp_capabilities\"}\n");
	answer(bench, "{\"QMP\": {\"version\": {}, \"capabilities\": [\"oob\"]}}\r\n", 1);
	assert_int_equal(bench->monitor.state, PB_CARD_MONITOR_GREETING);
	pb_card_monitor_probe(&bench->monitor, 100000);
	expect_sent(bench, "");
	answer(bench, RETURN, 2);
	assert_int_equal(bench->monitor.state, PB_CARD_MONITOR_READY);
}

static void test_probe(void **state)
{
	struct bench *bench = *state;
	struct pb_card_monitor *monitor = &bench->monitor;

	get_ready(bench);
	pb_card_monitor_probe(monitor, 1000);
	expect_sent(bench, "{\"execute\":\"stop\"}\n");
	/* One at a time; an event is no answer, nor is half of one. */
	pb_card_monitor_probe(monitor, 900000);
	answer(bench, EVENT, 1100);
	answer(bench, "{\"ret", 1100);
	expect_sent(bench, "");
	answer(bench, "urn\": {}}\r\n", 1200);
	expect_sent(bench, "{\"execute\":\"cont\"}\n");
	assert_false(pb_card_monitor_proof(monitor));
	answer(bench, EVENT RETURN, 1300);
	assert_true(pb_card_monitor_proof(monitor));
	assert_false(pb_card_monitor_proof(monitor));
	/* It took 300 us: a millisecond to run. */
	pb_card_monitor_probe(monitor, 2299);
	expect_sent(bench, "");
	pb_card_monitor_probe(monitor, 2300);
	expect_sent(bench, "{\"execute\":\"stop\"}\n");
	answer(bench, RETURN, 12300);
	expect_sent(bench, "{\"execute\":\"cont\"}\n");
	answer(bench, RETURN, 12300);
	/* It took 10 ms: twice that. */
	pb_card_monitor_probe(monitor, 32299);
	expect_sent(bench, "");
	pb_card_monitor_probe(monitor, 32300);
	expect_sent(bench, "{\"execute\":\"stop\"}\n");
	assert_true(pb_card_monitor_proof(monitor));
}

/* An error proves nothing, and neither does an answer that was not requested. */
static void errors_and_stray_answers_prove_nothing(void **state)
{
	struct bench *bench = *state;

	get_ready(bench);
	answer(bench, RETURN, 3);
	assert_false(pb_card_monitor_proof(&bench->monitor));
	pb_card_monitor_probe(&bench->monitor, 1000);
	answer(bench, "{\"error\": {\"class\": \"GenericError\", \"desc\": \"{\\\"return\\\"\"}}\r\n", 1001);
	assert_int_equal(bench->monitor.state, PB_CARD_MONITOR_STOPPING);
	assert_false(pb_card_monitor_proof(&bench->monitor));
}

static void test_end(void **state)
{
	struct bench *bench = *state;

	get_ready(bench);
	assert_true(pb_card_monitor_receive(&bench->monitor, 5)); /* nothing has come */
	close(bench->emulator);
	bench->emulator = -1;
	assert_false(pb_card_monitor_receive(&bench->monitor, 5));
	pb_card_monitor_restart(&bench->monitor);
	assert_int_equal(bench->monitor.state, PB_CARD_MONITOR_OFF);
	pb_card_monitor_probe(&bench->monitor, 1000000);
	assert_int_equal(bench->monitor.state, PB_CARD_MONITOR_OFF);
}

UNIT_SUITE(test_card_clock)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(card_time_follows_the_wall_while_the_heart_beats),
		cmocka_unit_test(a_new_mcu_is_not_blamed_for_the_time_before_it),
		cmocka_unit_test_setup_teardown(test_probe, start, stop),
		cmocka_unit_test_setup_teardown(errors_and_stray_answers_prove_nothing, start, stop),
		cmocka_unit_test_setup_teardown(test_end, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
