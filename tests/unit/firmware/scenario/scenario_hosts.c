/* SPDX-License-Identifier: MIT */
/* What wakes the firmware and what wakes a host: words without a doorbell, kicks, waypoints, moderated interrupts. */
#include "tests/unit/firmware/scenario/scenario.h"

/* A submission that completes, and whether that interrupts its channel. */
#define QUIET      "submit A; until A; interrupt no;"
#define LOUD       "submit A; until A; interrupt yes;"
#define QUIET_AT_D "submit D; until D; interrupt no;"
#define LOUD_AT_D  "submit D; until D; interrupt yes;"
/* The first of the interrupts that comes with the age of a completion, once. */
#define BY_AGE "submit A; until A; interrupt no; timer; interrupt wait; took $2 $3; run 15000; interrupt no;"

static const struct CMUnitTest tests[] = {
	/* ---- words of the channel entry ---- */
	PUPPET(a_word_stored_while_the_firmware_falls_asleep_keeps_it_awake,
	       "asleep alone 1; asleep kick_put 0; add kick_put -1; asleep rescan 0; add rescan -1;"
	       "asleep control_put 0; add control_put -1; asleep attach_request 0; add attach_request -1;"
	       "asleep alone 1"),
	PUPPET(of_a_channel_that_is_not_attached_only_the_attach_request_counts,
	       "asleep kick_put 1 of=2; asleep rescan 1 of=2; asleep control_put 1 of=2;"
	       "asleep attach_request 0 of=2"),
	PUPPET(what_is_found_while_falling_asleep_is_done_without_an_interrupt,
	       "silent; submit A; irq; engine fed=0; asleep alone 0; irq; engine fed=1"),
	PUPPET(a_rescan_polls_every_queue_of_the_channel,
	       "each B..H queue %; silent; submit B..H; add kick_put -7; add rescan 1; irq ring; loop 7;"
	       "finish; end; each B..H expect %=1"),
	PUPPET(a_kick_for_a_destroyed_queue_is_reported,
	       "queue B; destroy B; noevent; kick B; irq ring; event QUEUE_FAULT B 0 BAD_HANDLE; noevent"),
	PUPPET(the_waypoint_is_the_step_that_the_main_loop_entered_last,
	       "irq node; waypoint RETIRE; irq ring; waypoint DOORBELL; silent; begin p PING; pass ring;"
	       "waypoint CONTROL; irq; submit A; engine fed=0; irq ring; engine fed=1; waypoint FEED"),

	/* ---- moderated interrupts ---- */
	CARD(every_completion_interrupts_unless_the_host_moderates, "interrupt any;" LOUD),
	CARD(every_completion_interrupts_with_a_count_of_0_or_1,
	     "for 0 | 1; do MODERATE $1 1000000; interrupt any; loop 3;" LOUD "end"),
	CARD(two_completions_of_all_queues_gather,
	     "queue D node=1; do MODERATE 2 1000000; interrupt any; loop 3;" QUIET_AT_D LOUD
	     "end; run 20000; interrupt no"),
	CARD(three_completions_of_all_queues_gather,
	     "queue D node=1; do MODERATE 3 1000000; interrupt any; loop 3;" QUIET_AT_D QUIET LOUD_AT_D
	     "end; run 20000; interrupt no"),
	CARD(seven_completions_of_all_queues_gather,
	     "queue D node=1; do MODERATE 7 1000000; interrupt any; loop 3;" QUIET_AT_D QUIET QUIET_AT_D QUIET
		     QUIET_AT_D QUIET LOUD_AT_D "end; run 20000; interrupt no"),
	CARD(a_completion_old_enough_interrupts_at_the_next_tick,
	     "for 2 0 6002 | 5000 4000 11000 | 20000 19000 26000 | 50001 49001 56001; do MODERATE 100 $1;"
	     "interrupt any;" BY_AGE "run 1230;" BY_AGE "run 2460;" BY_AGE),
	CARD(the_age_counts_from_the_first_completion,
	     "do MODERATE 100 30000; interrupt any; timer; loop 4;" QUIET
	     "run 3000; end; interrupt wait; took 30000 37000"),
	CARD(failures_and_replies_interrupt_at_once,
	     "do MODERATE 100 1000000; interrupt any;" QUIET
	     "submit A options=2; until A=2:BAD_OPTIONS; interrupt yes; forgive c0; run 10000;"
	     "interrupt any;" QUIET "do PING"),
	CARD(moderation_is_of_one_channel_until_the_next_attach,
	     "queue B client=2; do 2 MODERATE 100 1000000; interrupt any client=2;" LOUD
	     "submit B; until B; interrupt no client=2; do MODERATE 100 1000000; attach; queue A;"
	     "interrupt any;" LOUD),
};

UNIT_SUITE(test_scenario_hosts)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
