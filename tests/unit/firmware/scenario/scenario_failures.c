/* SPDX-License-Identifier: MIT */
/* Submissions that fault or hang, engines that answer late, never or wrong, and what becomes of the others. */
#include "tests/unit/firmware/scenario/scenario.h"

/* Four of three contexts, and a hang: 100 ms on the card's clock for each step of recovery. */
#define HANG_UNANSWERED                                                                                      \
	"submit A; submit A*2 ctx=1; submit A ctx=2; stall 100; engine resets=1; stall 5; engine resets=2;"  \
	"stall 100; engine cycles=0; stall 5; engine cycles=1 fed=2; expect A=0; noevent;"
/* Behind a while of engine time, so that what is submitted after it has been fed when it faults. */
#define FAULT_LATER "submit A run=busy:2000,fault;"
/* $1 how the paging buffer fails, $2 as which error, $3 with which detail. */
#define FAILURES "for fault ENGINE_FAULT 7 | hang ENGINE_HANG 0;"
/* A paging buffer is accepted; or it is refused, and halts. */
#define MAY_PAGE     "submit A run=nop paging=1; until A; skip-events;"
#define MAY_NOT_PAGE "submit A run=nop paging=1; until A:NO_PERMISSION; do RESET 0; skip-events;"
#define ATTACH_AGAIN "attach; queue A;"

/* B has a buffer at the engine, and $1 behind it, which fails as $2. */
#define FAILS_BEHIND_B                                                                                       \
	"for options=2 BAD_OPTIONS | context=7 BAD_CONTEXT | ctx=2 CONTEXT_LOST; submit A options=2 ctx=2;"  \
	"finish; expect A=1:BAD_OPTIONS; queue B prio=low; submit B; submit B $1;"

static const struct CMUnitTest tests[] = {
	/* ---- an engine that does as it is told ---- */
	PUPPET(an_engine_is_fed_in_order_and_two_at_a_time,
	       "submit A*5; engine fed=2; finish 1; expect A=1; engine fed=3; finish 3; expect A=3;"
	       "fed A1 A2 A3 A4 A5; finish 5; expect A=5; engine resets=1"),
	PUPPET(the_tick_makes_up_for_a_lost_interrupt,
	       "submit A; add sequence 1; irq; expect A=0; irq tick; expect A=1"),
	PUPPET(a_submission_of_no_context_has_its_channel_as_owner_alone,
	       "loop 16; submit A ctx=1; finish; end;"
	       "fed A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12 A13 A14 A15 A16; submit A context=-1;"
	       "engine fed=17 owner=1 bytes=0"),

	/* ---- submissions that fail before they run ---- */
	PUPPET(what_is_before_a_failed_submission_is_recalled_for_a_higher_priority,
	       FAILS_BEHIND_B "submit A; engine stops=1 inside=1; stopped 1 2; fed A2 B1; finish 1; finish 2;"
			      "finish 3; expect A=2; expect B=2:$2"),
	PUPPET(what_is_before_a_failed_submission_is_recalled_at_the_end_of_a_timeslice,
	       FAILS_BEHIND_B "queue C prio=low; submit C; stall 10; engine stops=1 inside=1; stopped 1 2;"
			      "fed C1 B1; finish 1; finish 2; finish 3; expect C=1; expect B=2:$2"),
	PUPPET(what_is_before_a_failed_submission_is_recalled_for_its_host,
	       FAILS_BEHIND_B "begin p PREEMPT B 2 77 inside; stopped 1 2; reply p = OK _ _ 2 2 1;"
			      "submit B ctx=1; finish 1; expect B=3; record B errors=0"),
	PUPPET(what_is_before_a_failed_submission_is_recalled_when_the_card_is_suspended,
	       FAILS_BEHIND_B "begin s 0 SUSPEND 0 0 recall+inside; stopped 1 2; reply s; release; fed B1;"
			      "finish 1; finish 2; expect B=2:$2"),
	PUPPET(a_submission_that_fails_behind_others_loses_its_context_when_they_are_complete,
	       "queue C; submit A; submit A ctx=1 options=2; submit C ctx=1; fed A1; finish 1; finish 2;"
	       "finish 3; expect A=2:BAD_OPTIONS; expect C=1:CONTEXT_LOST"),

	/* ---- faults ---- */
	CARD(each_fault_is_reported_and_loses_the_context,
	     "for A | D; for fault 7 | word:0xff000001 1 | word:0x01000005,word:0 1 "
	     "| word:0x21000002,word:9 1 | fill:0:0:4 2  | fill:0:8:4 2 | fill:0x80010000:1:4 2 "
	     "| fill:0x8000fffc:1:8 2 | fill:0x20000:0:4 2; queue D node=1; submit $1 fence=0x100 run=$2;"
	     "until $1=1:ENGINE_FAULT;"
	     "record $1 error=ENGINE_FAULT error_fence=0x100 error_index=0xffffffff errors=1;"
	     "event ENGINE_FAULT $1 0x100 ENGINE_FAULT $3; event CONTEXT_LOST $1 0x100 ENGINE_FAULT c0;"
	     "forgive c0; submit $1 run=mark:1; until $1=2; word 1 1; noevent"),
	CARD(a_fault_cancels_its_context_and_no_other,
	     "queue B;" FAULT_LATER
	     "each 1..3 submit A run=mark:%; submit B ctx=1 run=mark:4; submit B ctx=1 run=mark:5;"
	     "until A=4:CONTEXT_LOST; record A error=ENGINE_FAULT error_fence=1 errors=4; until B=2;"
	     "record B errors=0; each 1..3 word % 0; word 4 4; word 5 5"),
	CARD(fed_prepared_and_unread_submissions_of_a_lost_context_are_cancelled, FAULT_LATER
	     "each 1..5 submit A run=mark:%; until A=6:CONTEXT_LOST; record A errors=6; each 1..5 word % 0"),
	CARD(a_submission_prepared_for_another_node_is_cancelled_with_its_context,
	     "queue D node=1; submit D*2 ctx=1 run=busy:10000; submit D run=mark:2;" FAULT_LATER
	     "until A=1:ENGINE_FAULT; until D=3:CONTEXT_LOST; word 2 0"),
	CARD(a_submission_before_a_fault_runs_once,
	     "submit A run=mark:1:7; submit A run=fault; until-word 1 7; poke 1 0; until A=2:ENGINE_FAULT;"
	     "record A errors=1 error_fence=2; word 1 0"),
	CARD(a_submission_whose_context_is_lost_while_it_is_patched_does_not_run,
	     "submit A run=busy:50,fault; submit A run=mark:1:7 patches=8000; until A=2:CONTEXT_LOST;"
	     "record A errors=2 error=ENGINE_FAULT; word 1 0"),
	PUPPET(a_fault_with_nothing_to_run_blames_nothing,
	       "fault; engine resets=2; noevent; submit A; engine fed=0; answer; engine fed=1; finish 1;"
	       "expect A=1"),
	PUPPET(a_fault_behind_a_finished_submission_is_of_the_next,
	       "submit A; submit A ctx=1; fault 1; expect A=1; answer; fed -; finish 1;"
	       "expect A=2:ENGINE_FAULT; event ENGINE_FAULT A 2 ENGINE_FAULT 0x77"),
	PUPPET(a_sequence_that_the_engine_was_not_fed_completes_nothing,
	       "for 4 | 0 | 0x80000001 | -1; submit A; finish 1; submit A; submit A ctx=1; engine resets=1;"
	       "finish $1; engine resets=2; expect A=1; answer; fed - A3; finish 1;"
	       "expect A=2:ENGINE_FAULT; finish 2; expect A=3"),

	/* ---- hangs ---- */
	CARD(a_hang_is_ended_after_100_ms,
	     "queue B; submit A run=hang; submit B ctx=1 run=mark:1; timer; until A=1:ENGINE_HANG;"
	     "took 100000 115000; record A error=ENGINE_HANG error_fence=1 errors=1; until B=1;"
	     "took 100000 115000; word 1 1; event ENGINE_HANG A 1 ENGINE_HANG;"
	     "event CONTEXT_LOST A 1 ENGINE_HANG c0; noevent"),
	CARD(each_hang_of_a_row_has_its_own_time,
	     "queue D node=1; submit D ctx=1 run=hang; submit D ctx=2 run=mark:1; submit D ctx=3 run=hang;"
	     "submit D ctx=4 run=mark:3; submit D ctx=5 run=hang; submit D ctx=6 run=mark:5; timer;"
	     "until D=2; took 95000 115000; word 1 1; event ENGINE_HANG D 1 ENGINE_HANG;"
	     "event CONTEXT_LOST D 1 ENGINE_HANG c1; timer; until D=4; took 95000 115000; word 3 3;"
	     "event ENGINE_HANG D 3 ENGINE_HANG; event CONTEXT_LOST D 3 ENGINE_HANG c3; timer; until D=6;"
	     "took 95000 115000; word 5 5; event ENGINE_HANG D 5 ENGINE_HANG;"
	     "event CONTEXT_LOST D 5 ENGINE_HANG c5; noevent"),
	CARD(a_hang_does_not_hold_up_the_other_node,
	     "queue D node=1; submit A run=hang; run 1000; timer; loop 9; submit D run=mark:1; until D;"
	     "end; took 0 10000; word 1 1; until A=1:ENGINE_HANG"),
	CARD(a_long_submission_that_makes_progress_is_no_hang,
	     "timer; submit A*4 run=busy:90000; submit A run=busy:350000; until A=5; took 710000 2000000;"
	     "record A errors=0; noevent"),
	CARD(time_of_an_idle_node_is_no_hang,
	     "loop 4; submit A run=busy:60000; until A; run 300000; end; noevent"),
	CARD(every_submission_fails_on_an_engine_that_runs_nothing,
	     "stuck 1; submit A ctx=1 run=busy:10; submit A run=busy:10; submit A*2 ctx=1 run=busy:10;"
	     "until A=4:CONTEXT_LOST; record A error=ENGINE_HANG error_fence=1 errors=4; stuck 0;"
	     "forgive c1; submit A ctx=1 run=busy:10; until A=5"),
	PUPPET(a_submission_fed_again_after_a_hang_has_its_own_time,
	       "submit A; submit A ctx=1; stall 100; engine resets=1; stall 5; engine resets=2; expect A=0;"
	       "answer late; irq tick node; fed - A2; stall 95; engine resets=2; finish 2; expect A=2"),
	PUPPET(time_that_passes_while_the_engine_is_polled_is_no_hang,
	       "submit A; submit A ctx=1; stall 105; engine resets=2; add poll-takes 7; answer late;"
	       "irq tick; engine resets=2 fed=2; fault late; irq tick; engine resets=3 cycles=0;"
	       "answer late; irq tick; engine resets=3 cycles=0; finish 2; expect A=2"),
	PUPPET(a_submission_that_does_not_stop_has_two_seconds,
	       "submit A; progress 5000; expect A=0; begin p PREEMPT A 1 1; engine stops=1; progress 2095;"
	       "engine resets=1; progress 15; engine resets=2; answer; finish 1; expect A=1:ENGINE_HANG"),
	PUPPET(hangs_are_measured_on_the_cards_clock,
	       "submit A; engine-time 400; engine resets=1; card-time 105; engine resets=2"),

	/* ---- resets that are answered late or never ---- */
	PUPPET(a_reset_answered_after_the_power_cycle_is_as_good_as_any, HANG_UNANSWERED
	       "stall 100; answer; engine resets=2 cycles=1; fed - A2; finish 2; finish 4; expect A=4;"
	       "event ENGINE_HANG A 1 ENGINE_HANG; event CONTEXT_LOST A 1 ENGINE_HANG c0; noevent"),
	PUPPET(a_dead_node_fails_what_it_has_and_what_comes, HANG_UNANSWERED
	       "stall 100; expect A=0; stall 5; expect A=4:ENGINE_DEAD; event NODE_DEAD none 0 ENGINE_DEAD;"
	       "event ENGINE_HANG A 1 ENGINE_HANG; event CONTEXT_LOST A 1 ENGINE_HANG c0;"
	       "event SUBMISSION_FAILED A 2 ENGINE_DEAD; event SUBMISSION_FAILED A 3 ENGINE_DEAD;"
	       "event SUBMISSION_FAILED A 4 ENGINE_DEAD; noevent; submit A ctx=1; expect A=5:ENGINE_DEAD;"
	       "submit A; expect A=6:CONTEXT_LOST; do PING; answer; submit A ctx=1; expect A=7:ENGINE_DEAD;"
	       "stall 1000; engine fed=0 resets=2 cycles=1; destroy A"),
	PUPPET(a_dead_node_takes_no_queue,
	       HANG_UNANSWERED "queue B; stall 105; queue C = ENGINE_DEAD; destroy B; queue B = ENGINE_DEAD"),
	PUPPET(the_card_s_clock_may_wrap_during_recovery,
	       "add clock 4294817295; irq tick;" HANG_UNANSWERED
	       "stall 100; expect A=0; stall 5; expect A=4:ENGINE_DEAD"),
	PUPPET(a_query_reports_each_step_of_recovery,
	       "queue B prio=low; submit A*2; submit B ctx=2; node 0 RUNNING; why B READY; stall 105;"
	       "node 0 RESETTING; why B NODE_BUSY; why A RUNNING; stall 105; node 0 CYCLING;"
	       "why B NODE_BUSY; stall 105; node 0 DEAD; why B NODE_DEAD; why A NODE_DEAD"),

	/* ---- paging buffers that fail ---- */
	CARD(submissions_behind_a_bad_paging_buffer_are_lost_with_it_or_wait, FAILURES
	     "submit A run=busy:1000 paging=1; submit A run=busy:5000,$1 paging=1;"
	     "each 2..5 submit A run=mark:%; run 200000; now A=4:HALTED;"
	     "record A errors=3 error=$2 error_fence=2; event $2 A 2 $2 $3; event HALTED A 2 $2;"
	     "event SUBMISSION_FAILED A 3 HALTED; event SUBMISSION_FAILED A 4 HALTED; noevent; do RESET 0;"
	     "until A=6; word 2 0; word 3 0; word 4 4; word 5 5"),
	CARD(a_paging_buffer_behind_a_bad_one_halts_nothing,
	     "submit A*3 run=busy:5000,fault paging=1; until A=3:HALTED;"
	     "event ENGINE_FAULT A 1 ENGINE_FAULT 7; event HALTED A 1 ENGINE_FAULT;"
	     "event SUBMISSION_FAILED A 2 HALTED; event SUBMISSION_FAILED A 3 HALTED; noevent; do RESET 0;"
	     "submit A run=mark:4; until A=4"),
	CARD(a_halt_concerns_neither_another_channel_nor_another_node, FAILURES
	     "queue B client=2; queue D node=1; submit A run=$1 paging=1; submit B run=mark:1:0x21;"
	     "submit A D run=mark:1; until D=1; until B=1; word 1 0x21 client=2; submit B*7 run=mark:2;"
	     "until B=8; noevent client=2"),
	CARD(a_queue_of_a_halted_channel_is_destroyed_and_the_halt_stays,
	     "submit A run=fault paging=1; until A=1:ENGINE_FAULT; submit A run=mark:1; run 1000;"
	     "destroy A; queue A; submit A run=mark:1; run 20000; word 1 0; do RESET 0; until A=1"),
	CARD(the_next_host_of_a_halted_channel_is_not_halted,
	     "for CHANNEL_CLOSE | PING; submit A run=fault paging=1; until A=1:ENGINE_FAULT;"
	     "submit A run=mark:1; run 1000; do 0 $1 1;" ATTACH_AGAIN "submit A run=mark:1; until A=1"),
	CARD(the_halt_of_a_destroyed_queue_is_reported,
	     "queue B; submit A run=busy:20000 paging=1; run 1000; submit B fence=9 run=fault paging=1;"
	     "run 1000; destroy B; until A=1; run 1000; event HALTED B 9 ENGINE_FAULT; noevent;"
	     "submit A run=mark:4; run 20000; word 4 0; do RESET 0; until A=2; word 4 4"),
	CARD(a_bad_paging_buffer_halts_nothing_if_its_queue_is_destroyed_before_it_can_be_fed,
	     "for 2 | 3; queue B; submit A*2 run=busy:20000 paging=1; run 1000;"
	     "submit B fence=9 options=$1 run=fault paging=1; run 1000; destroy B; until A=2; run 1000;"
	     "noevent; submit A run=mark:4; until A=3; word 4 4"),
	CARD(privileges_last_until_the_channel_is_closed, MAY_PAGE ATTACH_AGAIN MAY_PAGE
	     "do 0 CHANNEL_GRANT 1 0 1 normal;" MAY_NOT_PAGE ATTACH_AGAIN MAY_NOT_PAGE
	     "do 0 CHANNEL_GRANT 1 may-page 1 normal;" MAY_PAGE
	     "do 0 CHANNEL_CLOSE 1;" ATTACH_AGAIN MAY_NOT_PAGE
	     "do 0 CHANNEL_GRANT 1 may-page 1 normal; detach client=1; do 0 CHANNEL_CLOSE 1;" ATTACH_AGAIN
		     MAY_NOT_PAGE),
};

UNIT_SUITE(test_scenario_failures)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
