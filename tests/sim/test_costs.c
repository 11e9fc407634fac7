/* SPDX-License-Identifier: MIT */
/* What passes cost on virtual time: as many microseconds as the accesses that the firmware makes. */
#include "tests/sim/player.h"
#include "tests/unit/unit.h"

static struct pb_world world;
static struct pb_player player;

static void step(struct pb_world *card)
{
	if (pb_world_awake(card))
		pb_world_pass(card);
	else
		pb_world_advance(card, 100);
	pb_world_engines(card, 100);
}

static int boot(void **state)
{
	(void)state;
	assert_true(pb_world_create_sized(&world, 0x100000, 64));
	pb_world_boot(&world, 1);
	for (uint32_t i = 0; i < 1000u; i++)
		step(&world);
	assert_true(pb_player_join(&player, &world, 1, 50, 50, step));
	assert_true(pb_player_create(&player, 0, 0, PB_PRIORITY_NORMAL));
	for (uint32_t i = 0; i < 1000u; i++)
		step(&world);
	pb_player_read(&player, NULL, NULL);
	assert_true(player.queues[0].open);
	return 0;
}

static int destroy(void **state)
{
	(void)state;
	pb_world_destroy(&world);
	return 0;
}

struct cost {
	uint32_t passes;
	uint32_t accesses;
	uint32_t microseconds;
};

/** Passes for one submission, from its doorbell until the MCU sleeps, without the tick. */
static struct cost cost_of(uint32_t patches)
{
	const struct pb_player_submission submission = {.program = PB_PLAYER_BRIEF, .patches = patches};
	struct cost cost = {0};

	while (pb_world_awake(&world) || world.next_tick - world.now < 4000u)
		step(&world);
	assert_true(pb_player_submit(&player, 0, &submission));
	while (pb_world_awake(&world)) {
		const uint64_t before = world.now;

		pb_world_pass(&world);
		cost.passes++;
		cost.accesses += world.accesses;
		cost.microseconds += (uint32_t)(world.now - before);
	}
	for (uint32_t i = 0; i < 100u && pb_player_outstanding(&player, 0) != 0; i++)
		step(&world);
	assert_int_equal(pb_player_outstanding(&player, 0), 0);
	return cost;
}

static void a_submission_costs_what_it_costs_at_25_mhz(void **state)
{
	const struct cost cost = cost_of(0);

	(void)state;
	print_message("%u passes, %u accesses, %u us\n", cost.passes, cost.accesses, cost.microseconds);
	assert_int_equal(cost.passes, 1);
	assert_in_range(cost.microseconds, 13, 15);
}

static void each_entry_of_a_patch_list_costs_seven_accesses(void **state)
{
	const struct cost few = cost_of(200), many = cost_of(1200);

	(void)state;
	/* The rest are those of the passes and slices. */
	assert_in_range(many.accesses - few.accesses, 7000, 7100);
	assert_in_range(many.microseconds - few.microseconds, 950, 1100);
}

/** The cost follows from accesses alone, whatever the compiler and its options. */
static void time_is_the_sum_of_passes_and_accesses(void **state)
{
	const struct cost cost = cost_of(300);

	(void)state;
	assert_in_range((uint64_t)cost.microseconds * 1000u,
			cost.passes * PB_WORLD_PASS_NS + cost.accesses * PB_WORLD_ACCESS_NS - 1000u,
			cost.passes * PB_WORLD_PASS_NS + cost.accesses * PB_WORLD_ACCESS_NS + 1000u);
}

UNIT_SUITE(test_costs)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_submission_costs_what_it_costs_at_25_mhz),
		cmocka_unit_test(each_entry_of_a_patch_list_costs_seven_accesses),
		cmocka_unit_test(time_is_the_sum_of_passes_and_accesses),
	};

	return cmocka_run_group_tests(tests, boot, destroy);
}
