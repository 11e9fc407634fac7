/* SPDX-License-Identifier: MIT */
/* Stop requests: preempt, suspend and reset; what they meet on the engine, and what their replies report. */
#include "tests/unit/firmware/scenario/scenario.h"

/* Two submissions of two contexts at the engine, which has been asked to stop. */
#define PREEMPT_TWO "submit A; submit A ctx=1; begin p PREEMPT A 2 77; engine stops=1 resets=1;"

/* Queue A of the puppet faults: its put index lies beyond its ring. */
#define BREAK_PUT "put A 100; add rescan 1; irq ring; record A error=RING_FAULT;"

/* 0.9 s of engine time, in packets that are no hang. */
#define PACKET "busy:90000"
#define TEN_OF_THEM                                                                                          \
	PACKET "," PACKET "," PACKET "," PACKET "," PACKET "," PACKET "," PACKET "," PACKET "," PACKET       \
	       "," PACKET

static const struct CMUnitTest tests[] = {
	PUPPET(an_engine_that_gives_an_impossible_answer_to_a_stop_is_reset_and_its_ring_head_blamed,
	       "for 3 0 1 1 | -1 0 1 1 | 0 2 1 1 | 1 1 2 0 | 1 3 2 0;" PREEMPT_TWO
	       "stopped $1 $2; engine resets=2; answer; fed -; finish 1; reply p = OK _ _ 2 $4;"
	       "expect A=2:ENGINE_FAULT:$3"),
	PUPPET(no_submission_is_blamed_for_an_impossible_answer_behind_the_last,
	       "for 2 3 | 2 1;" PREEMPT_TWO
	       "stopped $1 $2; engine resets=2; answer; engine fed=0; reply p = OK _ _ 2 0; expect A=2"),
	PUPPET(while_an_engine_stops_only_a_report_of_what_it_was_fed_counts,
	       PREEMPT_TWO "finish 5; expect A=0; finish 1; expect A=1; stopped 1 0; reply p = OK _ _ 2 1;"
			   "engine resets=1"),
	PUPPET(a_stop_request_beside_a_preemption_is_refused_but_for_one_reset_that_forces_it,
	       PREEMPT_TWO "resume A = BUSY; do PREEMPT A 2 78 0 = BUSY; do SUSPEND A 2 recall = BUSY;"
			   "begin r RESET 0 A 2; engine resets=2; do RESET 0 A 2 = BUSY; answer; finish 1;"
			   "reply p = OK _ _ 2 1; reply r; expect A=2:ENGINE_HANG:1"),
	PUPPET(a_reset_forces_a_suspension_and_the_queue_stays_suspended,
	       "for recall 1 | 0 0; submit A; submit A ctx=1; begin s SUSPEND A 2 $1; begin r RESET 0 A 2;"
	       "engine resets=2 stops=$2; do RESET 0 A 2 = BUSY; answer; finish 1; reply s;"
	       "reply r = OK 1 1 2 1; expect A=2:ENGINE_HANG:1; submit A ctx=1; fed -; resume A; fed - A3; "
	       "finish;"
	       "expect A=3:OK"),
	PUPPET(a_reset_ends_a_suspension_that_drains_behind_a_wait_that_never_ends,
	       "queue B; submit A wait=B:9; submit A; begin s SUSPEND A 2; stall 100; reply s = TIMEOUT;"
	       "resume A = BUSY; do RESET 0 A 2 = OK _ _ 2 2 0; reply s; submit A; engine fed=0; resume A;"
	       "engine fed=1; finish; expect A=3:OK"),
	CARD(a_reset_during_a_suspension_returns_what_was_stopped_inside_as_begun,
	     "queue B client=2 prio=high; submit A run=busy:1000,busy:1000,busy:1000,busy:1000; run 500;"
	     "submit B run=busy:50000; run 3000; begin s SUSPEND A 1 recall; run 300; reply s = TIMEOUT;"
	     "do RESET 0 A 1 = OK _ _ 1 1 1; reply s; why A SUSPENDED; until B=1"),
	PUPPET(a_preemption_at_the_end_of_a_timeslice_waits_for_what_has_begun,
	       "queue B; submit A; submit B ctx=1; stall 10; engine stops=1 inside=1;"
	       "begin p PREEMPT A 1 77; engine stops=1; stopped 0 1; fed B1 A1; engine restores=1;"
	       "finish 1; reply p = TIMEOUT; finish 2; reply p = OK _ _ 1 0; expect A=1 B=1;"
	       "engine resets=1"),
	CARD(a_stop_request_behind_another_channels_submission_stops_the_engine_at_the_next_tick_only,
	     "for PREEMPT B 1 77 inside | PREEMPT B 1 77 0 | SUSPEND B 1 recall 0 | RESET 0 B 1 0;"
	     "queue B client=2;"
	     "submit A run=busy:1000,busy:1000,busy:1000,busy:1000,busy:1000,busy:1000,busy:1000,busy:1000; "
	     "submit B run=busy:10; run 300;"
	     "begin p 2 $1 $2 $3 $4 $5; run 500; do QUERY the-node 0 = OK _ _ _ _ _ _ _ _ 0; now A=0;"
	     "run 5200; reply p client=2; now A=0; do QUERY the-node 0 = OK _ _ _ _ _ _ _ _ 1; until A=1"),
	CARD(a_stop_request_of_a_running_channel_stops_the_engine_at_once,
	     "queue B client=2; submit A run=busy:100,busy:2000; submit B run=busy:10; run 50;"
	     "begin p PREEMPT A 1 77 inside; run 300; reply p;"
	     "do QUERY the-node 0 = OK _ _ _ _ _ _ _ _ 1; until B=1"),
	PUPPET(a_higher_priority_preempts_a_submission_that_its_host_lets_end,
	       "for PREEMPT B 1 77 | SUSPEND B 1 recall | SUSPEND B 1 recall+inside; queue B prio=low; "
	       "submit B;"
	       "begin p $1 $2 $3 $4; engine stops=1 inside=1; stopped 0 1; fed B1; engine restores=1; submit "
	       "A;"
	       "engine stops=2 inside=2; stopped 0 1; fed A1 B1; finish 1; reply p = TIMEOUT; finish 2; "
	       "reply p;"
	       "expect A=1; expect B=1"),
	CARD(a_stop_request_costs_no_submission_of_another_channel_its_context,
	     "for PREEMPT C 1 77 0 | PREEMPT C 1 77 inside | SUSPEND C 1 recall 0 | RESET 0 C 1 0;"
	     "queue C client=2 prio=idle; submit A run=" TEN_OF_THEM "," TEN_OF_THEM "," TEN_OF_THEM ";"
	     "submit C; run 1000; begin p 2 $1 $2 $3 $4 $5; run 2800000; reply p client=2; expect A=1:OK"),
	CARD(a_submission_that_its_host_lets_end_has_two_seconds_of_the_engine,
	     "for PREEMPT A 1 77 0 | SUSPEND A 1 recall 0; queue C client=2; submit A run=" TEN_OF_THEM
	     "," TEN_OF_THEM "," TEN_OF_THEM
	     "; run 1000; begin p $1 $2 $3 $4; run 1900000; reply p = TIMEOUT;"
	     "run 300000; reply p; expect A=1:ENGINE_HANG; submit C run=nop; until C=1"),
	CARD(a_submission_that_its_host_lets_end_completes_within_two_seconds_of_the_engine,
	     "for PREEMPT A 1 77 0 | SUSPEND A 1 recall 0; queue C client=2 entries=4; submit C "
	     "run=busy:1000; "
	     "full C;"
	     "submit A run=" TEN_OF_THEM "," TEN_OF_THEM "; run 100000; begin p $1 $2 $3 $4; run 1900000;"
	     "reply p = TIMEOUT; run 2000000; reply p; expect A=1:OK"),
	PUPPET(a_stop_request_with_an_old_cutoff_returns_nothing_and_names_the_last_fence,
	       "for PREEMPT A 1 5 | RESET 0 A 1; submit A*3; finish 2; finish 3; do $1 $2 $3 $4 = OK 3 _ 3 0;"
	       "engine stops=0 resets=1"),
	PUPPET(a_stop_request_behind_another_queue_of_its_channel_stops_the_engine_at_once,
	       "for PREEMPT B 1 77 | RESET 0 B 1; queue B; submit A; submit B; begin p $1 $2 $3 $4;"
	       "engine stops=1 resets=1; stopped 0 0; fed A1;"
	       "reply p = OK _ _ _ 1; finish 1; expect A=1"),
	CARD(a_reset_forces_a_preemption_that_waits_for_an_endless_submission,
	     "submit A ctx=1 run=busy:10; submit A run=busy:100000000; submit A*2 ctx=1 run=busy:10;"
	     "run 1000; begin p PREEMPT A 4 0x5151; run 500000; reply p = TIMEOUT;"
	     "submit A ctx=1 run=busy:10; do RESET 0 A 5 = OK 2 1 5 1; reply p = OK 2 1 4 2 0;"
	     "event ENGINE_HANG A 2 ENGINE_HANG; event CONTEXT_LOST A 2 ENGINE_HANG c0;"
	     "event PREEMPTED A 2 OK 0x5151; forgive c1; submit A ctx=1 run=busy:10; until A=6"),
	CARD(one_reset_forces_and_a_second_is_refused,
	     "submit A ctx=1 run=busy:100000000; run 1000; begin p PREEMPT A 1 0x5151; begin r RESET 0 A 1;"
	     "begin t RESET 0 A 1; run 1000; reply r; reply t = BUSY; reply p"),
	CARD(a_destroyed_queue_answers_its_stop_requests_so_that_no_reply_slot_is_lost,
	     "loop 10; submit A run=busy:2000; run 1000; begin s SUSPEND A 1; begin d QUEUE_DESTROY A;"
	     "run 200; reply s = CANCELLED; reply d = TIMEOUT; run 10000; reply d; queue A;"
	     "submit A run=busy:2000; run 1000; begin p PREEMPT A 1 0x5151; begin d QUEUE_DESTROY A;"
	     "run 200; reply p = CANCELLED; reply d = TIMEOUT; run 10000; reply d; queue A; end"),
	CARD(stop_requests_beyond_the_table_are_refused_and_hold_up_no_command,
	     "queue Z client=2; submit A run=busy:20000; run 1000; each B..P queue % entries=4;"
	     "submit B..P; each B..P begin % SUSPEND % 1; begin y PING; run 1000; begin z 2 SUSPEND Z 0;"
	     "run 1000; reply z; reply y; now B=0; each J..P reply % = NO_SPACE; run 40000;"
	     "each B..P now %=1; each B..I reply %; each J..P do SUSPEND % 1; do 2 PING"),
	CARD(a_reset_that_forces_a_suspension_waits_for_no_other_client,
	     "queue Z client=2 entries=4; queue Y client=2 entries=4; submit Z wait=Y:9; begin z 2 SUSPEND Z "
	     "1;"
	     "each B..Q queue % entries=4; each B..Q submit % wait=A:9; each B..Q begin % SUSPEND % 1; run "
	     "1000;"
	     "do 2 RESET 0 Z 1 = NO_SPACE; do 2 PING; do 2 QUEUE_DESTROY Z; reply z client=2 = CANCELLED"),

	/* ---- the whole card ---- */
	PUPPET(suspending_the_card_is_answered_when_the_engine_is_empty,
	       "submit A; begin s 0 SUSPEND; reply s = TIMEOUT; release = BUSY; finish 1; reply s;"
	       "submit A; engine fed=1; release; engine fed=2"),
	PUPPET(suspending_the_card_waits_for_an_engine_that_has_not_answered_a_stop,
	       PREEMPT_TWO "finish 2; expect A=2; begin s 0 SUSPEND; reply s = TIMEOUT; stopped 2 0; reply s;"
			   "expect A=2"),
	CARD(suspending_the_card_waits_for_a_submission_that_is_being_patched,
	     "for 0 1 | recall 0; submit A run=mark:1:7 patches=patches-max; run 100; begin s 0 SUSPEND 0 0 "
	     "$1; run "
	     "50000;"
	     "reply s; now A=$2; release; until A=1; word 1 7"),
	PUPPET(a_submission_that_a_bad_paging_buffer_halts_fails_beside_a_suspension_of_the_card,
	       "do 0 CHANNEL_GRANT 1 may-page 1 normal; submit A*3 paging=1; fault; begin s 0 SUSPEND 0 0 "
	       "recall; "
	       "answer;"
	       "finish 1; finish 2; finish 3; reply s; expect A=3:HALTED; release"),
	PUPPET(suspending_the_card_does_not_wait_for_a_dead_node,
	       "submit A; loop 3; stall 105; end; expect A=1:ENGINE_HANG; engine cycles=1;"
	       "do 0 SUSPEND 0 0 recall; release"),
	PUPPET(a_card_is_suspended_during_the_search_for_a_cycle_which_is_found_all_the_same,
	       "queue B; replies 0 client=0; submit B wait=A:1; silent; submit A wait=B:1; pass ring;"
	       "begin s 0 SUSPEND; replies 1 client=0; reply s client=0; engine fed=0; expect A=0; release;"
	       "finish 1; expect A=1:DEADLOCK; finish 2; expect B=1:DEP_FAILED"),
	PUPPET(a_submission_that_closed_a_cycle_waits_anew_after_a_suspension,
	       "for A 1 recall | A 0 0; queue B; queue C; submit B wait=A:1; silent; submit A wait=B:1;"
	       "submit C*4; irq ring; engine fed=2; begin s SUSPEND $1 $2 $3; irq ring; reply s;"
	       "begin p PREEMPT B 1; irq ring; reply p; begin r RESUME A; irq ring; reply r; loop 4; finish; "
	       "end;"
	       "expect C=4; expect A=0; submit B; irq ring; finish; finish; expect A=1:OK"),
	PUPPET(a_submission_behind_a_preemption_of_one_that_closed_a_cycle_does_not_fail_for_that,
	       "queue B; queue C; submit B wait=A:1; silent; submit A wait=B:1; submit C*4; irq ring;"
	       "engine fed=2; begin p PREEMPT A 1; irq ring; reply p; submit A timeline=1; irq ring; loop 6;"
	       "finish; end; expect C=4; expect A=2:OK; expect B=1:OK"),
	PUPPET(the_reply_to_an_admin_that_left_goes_to_no_other,
	       "submit A; begin s 0 SUSPEND; detach client=0; finish 1; expect A=1; replies 0 client=0;"
	       "release"),
	PUPPET(the_reply_to_an_admin_that_left_does_not_go_to_the_next_one,
	       "submit A; begin s 0 SUSPEND; detach client=0; replies 0 client=0; finish 1; expect A=1;"
	       "replies 0 client=0; release"),
	PUPPET(the_next_admin_gets_the_reply_to_its_own_command_and_to_no_other,
	       "submit A; begin s 0 SUSPEND; detach client=0; begin c 0 CHANNEL_CLOSE 1; finish 1; reply c;"
	       "replies 0 client=0"),
	PUPPET(a_suspended_card_resumes_when_its_admin_detaches,
	       "hold; submit A; engine fed=0; detach client=0; engine fed=1; begin s 0 SUSPEND; submit A;"
	       "engine fed=1; finish; reply s; release; engine fed=2"),
	PUPPET(a_card_that_is_being_suspended_resumes_when_its_admin_detaches,
	       "submit A*4; begin s 0 SUSPEND; detach client=0; loop 4; finish; end; expect A=4"),
	PUPPET(a_card_whose_engine_stops_for_a_suspension_resumes_when_its_admin_detaches,
	       "for recall 0 | recall+inside 1; submit A*3; begin s 0 SUSPEND 0 0 $1; engine stops=1 "
	       "inside=$2;"
	       "detach client=0; stopped 1 0; fed A2 A3; loop 3; finish; end; expect A=3"),
	CARD(a_suspended_card_resumes_when_another_admin_attaches,
	     "hold; submit A run=mark:1:7; run 20000; word 1 0; attach client=0; until-word 1 7; replies 0 "
	     "client=0"),
	PUPPET(a_submission_stopped_inside_stays_begun_until_a_reset_returns_it,
	       "submit A; begin s 0 SUSPEND 0 0 recall+inside; engine inside=1; stopped 0 1; reply s;"
	       "do PREEMPT A 0 5 inside = OK _ _ _ 0 0; do RESET 0 A 1 = OK _ _ 1 1 1; release;"
	       "engine fed=0"),

	/* ---- queues and channels that close ---- */
	PUPPET(a_queue_with_a_broken_put_resumes_what_was_recalled,
	       "submit A*2; begin s SUSPEND A 2 recall; stopped 0 0; reply s; put A 100; resume A;"
	       "record A error=RING_FAULT; engine fed=2; finish 2; record A completed=2"),
	PUPPET(a_queue_with_a_broken_put_completes_what_it_had_accepted_after_a_suspension_that_drained,
	       "for 0 | 1 | 3 | 4; submit A*4;" BREAK_PUT
	       "begin s SUSPEND A $1; loop 4; finish; end; reply s;"
	       "resume A; loop 4; finish; end; expect A=4; fed A1 A2 A3 A4"),
	PUPPET(a_put_that_breaks_while_the_queue_is_suspended_costs_nothing_that_was_accepted,
	       "submit A*4; begin s SUSPEND A 1; loop 4; finish; end; reply s; put A 100; resume A;"
	       "record A error=RING_FAULT; loop 4; finish; end; expect A=4"),
	PUPPET(a_preemption_of_a_queue_with_a_broken_put_returns_what_is_before_its_cutoff_only,
	       "submit A*4; begin s 0 SUSPEND 0 0 recall+inside; stopped 0 1; reply s;" BREAK_PUT
	       "begin p PREEMPT A 2 77; release; finish 1; reply p = OK _ _ 2 1; loop 4; finish; end;"
	       "expect A=4; fed A1 A3 A4"),
	PUPPET(a_suspension_of_a_queue_with_a_broken_put_reads_nothing_before_its_cutoff,
	       "submit A*2;" BREAK_PUT "begin s SUSPEND A 6; finish; reply s; resume A; finish; engine fed=2;"
	       "record A completed=2"),
	PUPPET(a_queue_with_a_broken_put_reads_nothing_more,
	       "begin s SUSPEND A 0 recall; reply s; put A 100; resume A; record A error=RING_FAULT;"
	       "engine fed=0; finish 0; record A completed=0"),
	PUPPET(a_channel_closes_with_a_queue_that_is_being_destroyed,
	       "submit A; begin d QUEUE_DESTROY A; detach client=1 = TIMEOUT; finish 1; detached;"
	       "do 0 QUERY the-channel 1 = OK _ _ _ 0"),
	PUPPET(a_destroyed_queue_fails_its_waiters_at_once_and_goes_when_its_submission_completes,
	       "queue B; submit A; submit B wait=A:1; begin d QUEUE_DESTROY A; engine fed=2;"
	       "reply d = TIMEOUT; finish 2; reply d; expect B=1:DEP_FAILED"),
	PUPPET(a_failed_submission_that_an_engine_stops_for_completes_before_a_stop_request_of_its_queue,
	       "for PREEMPT | SUSPEND; queue B prio=low; submit B; submit A options=2; engine stops=1;"
	       "begin p $1 A 1 1; expect A=0; stopped 0 1; finish 1; reply p; expect A=1:BAD_OPTIONS"),
	PUPPET(fence_records_change_with_each_step,
	       "submit A; finish; grown A; submit A; begin p PREEMPT A 2 1; stopped 1 0; reply p; grown A;"
	       "submit A; fault; answer; finish 1; record A error=ENGINE_FAULT; grown A; submit A; finish;"
	       "clear A; forgive c0; grown A; submit A; finish; grown A; submit A; begin p PREEMPT A 6 5;"
	       "stopped 3 0; reply p; grown A; submit A; fault; answer; finish 1;"
	       "record A error=ENGINE_FAULT; grown A; submit A; finish; clear A; forgive c0; grown A"),
};

UNIT_SUITE(test_scenario_stops)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
