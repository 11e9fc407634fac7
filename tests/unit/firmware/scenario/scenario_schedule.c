/* SPDX-License-Identifier: MIT */
/* Which queue's submission runs next on a node: priorities, shares of channels, timeslices of queues, depth, modes. */
#include "tests/unit/firmware/scenario/scenario.h"

/* A long list on each of the first two nodes: no job is free. */
#define ALL_JOBS_TAKEN "queue D node=1; submit A D run=mark:1 patches=patches-max; run 100; "

/* 40 ms, which can be stopped after every 2 ms. */
#define FOUR_PACKETS "busy:2000,busy:2000,busy:2000,busy:2000"
#define LONG_BUFFER  FOUR_PACKETS "," FOUR_PACKETS "," FOUR_PACKETS "," FOUR_PACKETS "," FOUR_PACKETS

/* While a queue is there. */
#define STILL "do SEGMENT_DESTROY 0 = BUSY;"

static const struct CMUnitTest tests[] = {
	CARD(higher_priorities_run_first,
	     "hold; queue B prio=idle; queue E prio=high; queue C prio=low; queue F prio=realtime;"
	     "queue D prio=normal; submit B*4 E*4 C*4 F*4 D*4 run=busy:100; run 1000; release;"
	     "order F*4 E*4 D*4 C*4 B*4"),
	CARD(after_32_submissions_of_a_higher_priority_one_lower_runs_each_time,
	     "queue B prio=low; queue C prio=high entries=4; hold; submit B*4 C*4 run=busy:100; full C;"
	     "run 1000; release; order C*32 B C*32 B C*32 B C*32 B"),
	CARD(a_lower_submission_runs_after_32_also_if_the_higher_queue_never_runs_out,
	     "queue B prio=low; queue C entries=64; hold; submit B C*60 run=busy:100; run 1000; release;"
	     "order C*32 B C*28"),
	CARD(two_lower_priorities_have_a_sixteenth_of_the_engine_together,
	     "queue B prio=low entries=4; queue C prio=idle entries=4; submit A run=busy:200;"
	     "submit B C run=busy:4000; full A..C; run 8000000; shares A=30 B=1 C=1 of=8000000"),
	CARD(four_lower_priorities_have_a_sixteenth_of_the_engine_together,
	     "do 0 CHANNEL_GRANT 1 0 1 realtime; queue B prio=low entries=4; queue C prio=idle entries=4;"
	     "queue D prio=high entries=4; queue E prio=realtime entries=4; submit E run=busy:200;"
	     "submit A..D run=busy:4000; full A..E; run 16000000; shares E=60 A=1 B..C=2 D=1 of=16000000"),
	CARD(queues_take_timeslices_behind_submissions_of_a_higher_priority,
	     "for 0 0 | 4 3 | 4 4; queue B entries=16; queue C entries=16; hold;"
	     "submit B*15 C*15 run=busy:2000; each F..M queue % prio=high entries=4;"
	     "submit F..L*$1 M*$2 run=busy:10; run 1000; release; order of=BC B*5 C*5 B*5 C*5 B*5 C*5;"
	     "each F..L now %=$1; now M=$2"),
	CARD(a_queue_is_seen_however_many_submissions_another_one_has,
	     "for 1 B 3000 | 2 B 3000 | 3 B 3000 | 4 B 3000 | 1 C 14000 | 2 C 14000 | 3 C 14000 | 4 C 14000;"
	     "queue B prio=low; queue C client=2; submit $2*$1 run=" LONG_BUFFER "; run 1000; submit A;"
	     "run $3; now A=1 $2=0"),
	CARD(engine_time_of_channels_is_as_their_weights,
	     "for 1 1 1 B..B E..E H..H 500 500 500 | 1 2 4 B..B E..E H..H 500 500 500 "
	     "| 4 2 1 B..B E..F H..J 500 500 500 | 3 1 2 B..D E..G H..H 2000 200 700;"
	     "do 0 CHANNEL_GRANT 1 0 $1 4; do 0 CHANNEL_GRANT 2 0 $2 4; do 0 CHANNEL_GRANT 3 0 $3 4;"
	     "each $4 queue % entries=4; each $5 queue % entries=4 client=2;"
	     "each $6 queue % entries=4 client=3; submit $4 run=busy:$7; submit $5 run=busy:$8;"
	     "submit $6 run=busy:$9; full $4 $5 $6; run 2000000; shares $4=$1 $5=$2 $6=$3 of=2000000"),
	CARD(queues_of_one_channel_take_timeslices,
	     "each B..D queue % entries=4 quantum=2000; submit B..D run=busy:500; full B..D; run 2000000;"
	     "shares B=1 C=1 D=1 of=2000000"),
	CARD(channels_deep_in_debt_have_equal_shares,
	     "queue B client=2; submit A*8 run=busy:60000; submit B*8 run=busy:60000; balance AB 16 3;"
	     "now A=8 B=8"),
	CARD(the_timeslice_of_a_starved_queue_waits_for_a_free_job,
	     "queue B node=2 prio=low; queue C node=2 prio=high entries=64;" ALL_JOBS_TAKEN
	     "submit C*48; submit B run=mark:3; run 300; now A=0 B=0; until B=1; until C=48"),
	CARD(a_submission_with_patches_that_closes_a_cycle_fails_when_a_job_is_free,
	     "queue B node=2; queue C node=2; queue D node=1; submit A D run=mark:1 patches=patches-max;"
	     "run 100; submit B wait=C:1; submit C wait=B:1 run=mark:3; run 200; now A=0 C=0;"
	     "until C=1:DEADLOCK; until B=1:DEP_FAILED"),
	CARD(a_job_goes_to_the_channel_that_was_charged_least_on_whichever_node,
	     "for 0 1 2 | 0 1 3 | 2 3 0 | 2 3 1; queue B node=$1 entries=16; queue D node=$2 entries=16;"
	     "queue C node=$3 client=2; submit B*16 D*16 run=mark:1 patches=patches-max; run 100;"
	     "submit C*3 run=mark:3; until C=1; now B=1 D=0; until C=2; now B=1 D=1; until C=3"),
	CARD(a_higher_priority_takes_a_job_back,
	     "for low normal 2 | idle low 3 | high realtime 1; queue B prio=$1 node=0; queue D prio=$1 "
	     "node=$3;"
	     "queue C prio=$2 node=2; queue E prio=$2 node=$3; submit B*2 D*2 run=mark:1 patches=patches-max;"
	     "run 100; submit C run=mark:3; run 150; now C=1 B=0 D=0; until B=2; until D=2"),
	CARD(an_equal_priority_takes_no_job_back,
	     "queue D node=1; queue C node=2 client=2; submit A D run=mark:1 patches=patches-max; run 100;"
	     "submit C run=mark:3; run 150; now C=0; until C=1"),
	CARD(a_priority_that_has_starved_keeps_its_job,
	     "queue D node=1 prio=high; queue E node=2 prio=high; queue B node=3 prio=low;"
	     "submit D E run=mark:1 patches=patches-max; full D E; run 100;"
	     "submit B*2 run=mark:3 patches=patches-max; run 50000; now B=2"),
	CARD(a_node_whose_queue_waits_for_a_job_serves_other_channels,
	     "queue B node=2; queue F node=2 client=2; queue G node=2 prio=high;" ALL_JOBS_TAKEN
	     "submit B run=mark:3; run 100; submit F; submit G; run 100; now A=0 B=0 F=1 G=1; until B=1"),
	CARD(higher_priorities_do_not_wait_for_the_job_of_a_starved_queue,
	     "queue B node=2 prio=low; queue C node=2 prio=high entries=64;" ALL_JOBS_TAKEN
	     "submit A*2 D*2 run=mark:1 patches=patches-max; submit C*48; submit B run=mark:3; until C=48; "
	     "now A=1; until B=1"),
	CARD(a_queue_leaves_the_middle_of_those_that_are_ready,
	     "queue B; queue C; hold; submit A B C run=busy:100; run 1000; destroy B; release; order A C"),
	CARD(a_queue_is_preparing_or_ready,
	     "queue B prio=low; submit A run=mark:1 patches=patches-max; run 100; submit B;"
	     "why A PREPARING; why B READY; until A=1"),
	CARD(a_queue_waits_for_a_job_until_one_is_free,
	     "queue B node=2; queue C node=2 prio=low;" ALL_JOBS_TAKEN
	     "submit B run=mark:3; submit C; run 100;"
	     "why A PREPARING; why B WAITS_FOR_JOB; why C READY; until B=1; why B EMPTY; until C=1"),
	CARD(a_recalled_submission_stays_patched_and_those_behind_it_are_patched,
	     "queue B prio=high; loop 3; poke 1 0; poke 2 0; submit A run=busy:20000; submit A run=mark:1;"
	     "run 1000; submit B; until A; word 1 1; submit A run=mark:2; until A; word 2 2; end;"
	     "do QUERY the-node 0 = OK _ _ _ _ _ _ _ _ 3"),

	/* ---- what a channel and a node are granted ---- */
	CARD(a_queue_has_at_most_the_priority_that_its_channel_is_granted,
	     "for 0 0..0 1..4 | 1 0..1 2..4 | 2 0..2 3..4 | 3 0..3 4..4 | 4 0..4 5..4;"
	     "do 0 CHANNEL_GRANT 1 0 1 $1; each $2 queue B prio=%; each $3 queue C prio=% = NO_PERMISSION"),
	CARD(a_host_ordered_node_has_one_queue,
	     "do 0 NODE_SET 0 host-ordered = BUSY; do 0 NODE_SET 0 scheduled; do 0 NODE_SET 2 host-ordered;"
	     "queue B node=2 prio=low; queue C node=2 prio=high = NO_SPACE; submit B; until B=1;"
	     "do 0 NODE_SET 2 scheduled = BUSY; destroy B; queue C node=2 prio=high; destroy C;"
	     "do 0 NODE_SET 2 scheduled; queue B node=2 prio=low; queue C node=2 prio=high"),
	CARD(node_set_refuses_what_is_out_of_range,
	     "for 3 0 0 1 1 OK | 3 0 1 -1 -1 OK | 0 0 0 0 0 OK | 4 0 1 1 1 BAD_ARGUMENT "
	     "| -1 0 1 1 1 BAD_ARGUMENT  | 0 2 1 1 1 BAD_ARGUMENT | 0 -1 1 1 1 BAD_ARGUMENT "
	     "| 0 0 deepest+1 1 1 BAD_ARGUMENT  | 0 0 deepest 1 1 OK | 0 0 -1 1 1 BAD_ARGUMENT;"
	     "do 0 NODE_SET $1 $2 $3 $4 $5 = $6"),
	CARD(as_many_are_in_flight_as_node_set_allows_and_0_leaves_it,
	     "for 0 2 | 1 1 | 2 2 | deepest deepest; do 0 NODE_SET 0 scheduled $1;"
	     "submit A*8 run=busy:2000; run 1000; do QUERY the-node 0 = OK _ _ $2 $2; until A=8;"
	     "do 0 NODE_SET 0 scheduled 0; submit A*8 run=busy:2000; run 1000;"
	     "do QUERY the-node 0 = OK _ _ $2 $2; until A=16"),
	CARD(channel_grant_refuses_what_is_out_of_range,
	     "for 1 0 1 idle OK | 8 may-page+may-query 64 realtime OK | 0 may-page 1 2 BAD_ARGUMENT "
	     "| 9 may-page 1 2 BAD_ARGUMENT | 32 0 1 2 BAD_ARGUMENT | -1 0 1 2 BAD_ARGUMENT "
	     "| 1 4 1 2 BAD_ARGUMENT  | 1 0x80000001 1 2 BAD_ARGUMENT | 1 0 0 2 BAD_ARGUMENT "
	     "| 1 0 65 2 BAD_ARGUMENT | 1 0 -1 2 BAD_ARGUMENT  | 1 0 1 5 BAD_ARGUMENT "
	     "| 1 0 1 -1 BAD_ARGUMENT; do 0 CHANNEL_GRANT $1 $2 $3 $4 = $5"),
	CARD(segment_0_goes_with_the_last_queue_whatever_its_priority,
	     "queue B prio=idle; queue C prio=low; queue D prio=high; queue E prio=realtime;" STILL
	     "destroy A;" STILL "destroy B;" STILL "destroy C;" STILL "destroy D;" STILL
	     "destroy E; do SEGMENT_DESTROY 0"),
	CARD(a_query_of_another_channel_needs_the_privilege,
	     "for may-query 2 B OK | may-query 2 b OK | 0 2 B NO_PERMISSION | may-page 2 B NO_PERMISSION "
	     "| may-query 8 B BAD_HANDLE | may-query 9 B BAD_ARGUMENT | may-query 2 0xf000 BAD_HANDLE;"
	     "queue B client=2; do 0 CHANNEL_GRANT 1 $1 1 normal; do QUERY the-queue $3 $2 = $4;"
	     "do 0 QUERY the-queue B 2"),
};

UNIT_SUITE(test_scenario_schedule)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
