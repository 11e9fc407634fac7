/* SPDX-License-Identifier: MIT */
/* Waits of a queue for another: when they are over, how they fail, and what ends one of the two meanwhile. */
#include "tests/unit/firmware/scenario/scenario.h"

/* With A: six queues on four nodes. */
#define SIX "queue B node=1; queue C node=2; queue D node=3; queue E; queue F node=1;"
/* A submission of B that is refused; its context can be used again at once. */
#define REFUSED "submit B ctx=1 options=2; expect B:BAD_OPTIONS; forgive c1;"
/* The fault of the list's own context. */
#define BAD " BAD_WAIT CONTEXT_LOST "

static const struct CMUnitTest tests[] = {
	CARD(a_wait_ends_when_its_value_is_signalled,
	     SIX "submit A wait=B:3; submit A; expect A=0; do QUERY the-queue A = OK 4 B 3 0; submit B*2;"
		 "expect A=0; submit B; expect A=2; noevent"),
	CARD(values_up_to_the_one_reached_hold_nothing_up_and_have_64_bits,
	     SIX "submit B timeline=0x7fffffffffffffff; expect B=1; submit A wait=B:0; expect A=1;"
		 "submit A wait=B:1; expect A=2; submit A wait=B:0x100000000; expect A=3;"
		 "submit A wait=B:0x7fffffffffffffff; expect A=4; submit A wait=B:0x8000000000000000;"
		 "expect A=4; submit B; expect A=5; submit A wait=B:max; submit B timeline=max; expect A=6;"
		 "submit A wait=B:max; expect A=7"),
	CARD(four_waits_are_over_with_the_last,
	     "for B C D E | B C E D | B D C E | B D E C | B E C D | B E D C | C B D E | C B E D | C D B E "
	     "| C D E B  | C E B D | C E D B | D B C E | D B E C | D C B E | D C E B | D E B C | D E C B "
	     "| E B C D | E B D C  | E C B D | E C D B | E D B C | E D C B;" SIX
	     "submit A wait=B:1,C:1,D:1,E:1; expect A=0; submit $1; expect A=0; submit $2; expect A=0;"
	     "submit $3; expect A=0; submit $4; expect A=1"),

	/* ---- bad lists ---- */
	CARD(a_wait_list_that_cannot_be_is_refused_and_loses_the_context,
	     "for wait_count=5 ctx=0" BAD "| wait_count=-1 ctx=0" BAD "| wait_count=0x10000000 ctx=0" BAD
	     "| wait_address_low=0 ctx=0" BAD "| wait_address_low=system+0x240004 ctx=0" BAD
	     "| wait_address_high=1 ctx=0" BAD "| wait_count=4 wait_address_low=system-end+-56" BAD
	     "| wait_address_low=-8 wait_address_high=-1" BAD "| wait_address_low=0 wait_address_high=8" BAD
	     "| wait_address_low=1 wait_count=0 OK OK;" SIX
	     "submit B; expect B=1; submit A $1 $2 wait=B:1; expect A=1:$3; submit A; expect A=2:$4"),
	CARD(a_wait_list_may_lie_at_the_very_end_of_memory,
	     SIX "submit B; expect B=1; submit A wait=B:1,B:1,B:1,B:1 wait_at=system-end+-64; expect A=1;"
		 "submit A; expect A=2"),
	CARD(the_reserved_word_of_every_wait_is_checked,
	     "for B:0:0x80000000,B:0,B:0,B:0 | B:0,B:0:0x80000000,B:0,B:0 | B:0,B:0,B:0:0x80000000,B:0 "
	     "| B:0,B:0,B:0,B:0:0x80000000;" SIX "submit A wait=$1; expect A=1:BAD_WAIT"),
	CARD(a_wait_list_outside_memory_is_refused,
	     "for 0 0 | system+-8 0 | system-end+-8 0 | system-end 0 | -8 -1; forget-version;"
	     "submit A wait_count=1 wait_address_low=$1 wait_address_high=$2; until A=1:BAD_WAIT"),
	CARD(a_handle_that_names_no_queue_of_the_channel_is_a_queue_that_is_gone,
	     "for 0 | B+0x10000 | F+1 | 4096+0x10000 | -1 | Z;" SIX
	     "queue Z client=2; submit A wait=:$1:0; expect A=1:DEP_FAILED; submit A; expect A=2;"
	     "event SUBMISSION_FAILED A 1 DEP_FAILED; noevent"),

	/* ---- signallers that fail ---- */
	CARD(a_wait_fails_from_the_first_error_of_its_signaller_that_is_not_cleared,
	     SIX "submit A wait=B:2; submit C wait=B:1; submit D wait=B:3; submit B;" REFUSED
		 "expect A=1:DEP_FAILED C=1; submit B; expect D=1:DEP_FAILED; submit C wait=B:1; expect C=2;"
		 "submit C wait=B:2; expect C=3:DEP_FAILED; clear B; submit C wait=B:3; expect C=4;" REFUSED
		 "submit D wait=B:3; expect D=2; submit D wait=B:4; expect D=3:DEP_FAILED"),
	CARD(a_failure_is_passed_on_along_a_chain,
	     SIX "submit A wait=B:1; submit C wait=A:1; submit D wait=C:1; submit B ctx=1 run=fault;"
		 "expect B=1:ENGINE_FAULT; expect A=1:DEP_FAILED C=1:DEP_FAILED D=1:DEP_FAILED"),
	CARD(a_queue_with_a_broken_put_signals_what_it_had_read_and_nothing_more,
	     SIX "submit B; expect B=1; submit B run=busy:20000; run 1000; submit A wait=B:1;"
		 "submit C wait=B:2; submit D wait=B:3; run 1000; submit B; put B 0x80000000; run 1000;"
		 "expect A=1; expect C=0; expect D=1:DEP_FAILED; submit D wait=B:3; expect D=2:DEP_FAILED;"
		 "submit D wait=B:1; expect D=3; run 20000; expect C=1"),
	CARD(a_submission_of_a_queue_with_a_broken_put_fails_its_waiter_when_it_fails,
	     SIX "submit B ctx=1 run=busy:5000,fault; run 1000; submit A wait=B:1; run 1000; submit B;"
		 "put B 0x80000000; run 1000; expect A=0; run 10000; expect A=1:DEP_FAILED"),
	CARD(a_paging_submission_that_waits_in_vain_fails_and_halts_nothing, SIX
	     "submit A wait=B:1 paging=1; expect A=0;" REFUSED "expect A=1:DEP_FAILED; submit A; expect A=2"),

	/* ---- destroyed ---- */
	CARD(a_destroyed_signaller_fails_its_waiters_and_later_ones,
	     SIX "submit B; submit A wait=B:2; submit C wait=B:3; expect A=0; destroy B;"
		 "expect A=1:DEP_FAILED C=1:DEP_FAILED; submit D wait=B:1; expect D=1:DEP_FAILED"),
	CARD(a_chain_of_waiting_queues_is_destroyed_in_every_order,
	     "for 0 | 1000; for A B C | A C B | B A C | B C A | C A B | C B A; queue B node=1;"
	     "queue C node=2; submit A wait=B:1; submit B wait=C:1; run 1000; begin x QUEUE_DESTROY $2;"
	     "run $1; begin y QUEUE_DESTROY $3; run $1; begin z QUEUE_DESTROY $4; run 10000; reply x;"
	     "reply y; reply z; do 0 QUERY the-channel 1 = OK _ _ _ 0"),
	CARD(a_wait_for_a_destroyed_queue_is_not_one_for_the_next_in_its_slot,
	     "queue B node=1; submit A wait=B:1; run 1000; destroy B; queue B node=1 again; submit B;"
	     "expect A=1:DEP_FAILED; submit A wait=B:1; expect A=2"),
	PUPPET(waiters_are_woken_whichever_of_them_are_destroyed,
	       "for B CDE | C BDE | BC DE | D BCE | BD CE | CD BE | BCD E | E BCD | BE CD | CE BD | BCE D "
	       "| DE BC | BDE C  | CDE B | BCDE -; each B..E queue %; each B..E submit % wait=A:1;"
	       "each $1 destroy %; submit A; loop 5; finish; end; expect A=1; each $2 expect %=1"),
	PUPPET(a_queue_that_may_have_closed_a_cycle_is_destroyed_before_the_search,
	       "queue B; queue C; submit B wait=A:1; silent; submit C wait=B:2; pass ring;"
	       "begin d QUEUE_DESTROY C; irq ring; reply d; submit A; irq ring; finish 1; finish 2;"
	       "expect B=1"),

	PUPPET(a_destroyed_queue_whose_last_submission_completes_first_is_freed_after_its_waiters,
	       "queue B; each C..H queue %; submit B; each C..H submit % wait=B:2; silent;"
	       "begin d QUEUE_DESTROY B; pass ring; finish 1; reply d; each C..H finish;"
	       "each C..H expect %=1:DEP_FAILED"),

	/* ---- suspended and preempted ---- */
	CARD(a_suspended_queue_does_not_run_when_its_wait_is_over,
	     SIX "submit A wait=B:1; run 1000; do SUSPEND A 1 recall; why A SUSPENDED; submit B; expect A=0;"
		 "do RESUME A; expect A=1"),
	CARD(a_resumed_queue_waits_again, SIX
	     "submit A wait=B:1; run 1000; do SUSPEND A 1 recall; why A SUSPENDED; expect A=0; do RESUME A;"
	     "expect A=0; submit B; expect A=1"),
	CARD(a_suspension_that_lets_submissions_complete_waits_for_their_waits, SIX
	     "submit A wait=B:1; submit A; run 1000; begin s SUSPEND A 1; expect A=0; replies 0; submit B;"
	     "expect A=1; replies 1; reply s; do RESUME A; expect A=2"),
	CARD(a_suspended_signaller_signals_when_it_is_resumed,
	     SIX "do SUSPEND B 0; submit A wait=B:1; submit B; expect A=0; why A WAITING; do RESUME B;"
		 "expect A=1"),
	CARD(a_waiting_submission_is_returned_by_a_preemption_and_submitted_again,
	     SIX "submit A wait=B:1; submit A; run 1000; do PREEMPT A 2 0x77 = OK _ 0 2 2 0;"
		 "event PREEMPTED A 0 OK 0x77; why A EMPTY; submit A wait=B:1 timeline=1; expect A=2:OK:0;"
		 "submit B; expect A=3"),

	/* ---- cycles ---- */
	CARD(a_queue_waits_for_what_it_has_signalled_or_will_signal_before,
	     "for 0 | 2 | 3; submit A timeline=3 run=busy:3000; submit A wait=A:$1 timeline=5; submit A;"
	     "run 1000; expect A=0; run 3000; expect A=3; noevent"),
	CARD(a_queue_that_waits_for_itself_is_a_deadlock_and_loses_no_context,
	     "for 4 | 5 | 6 | max; submit A timeline=3 run=busy:3000; submit A wait=A:$1 timeline=5;"
	     "submit A; run 1000; expect A=0; run 3000; expect A=3; event SUBMISSION_FAILED A 2 DEADLOCK;"
	     "noevent"),
	PUPPET(a_submission_recalled_in_front_of_one_that_closed_a_cycle_does_not_fail_for_that,
	       "queue B prio=low; queue C prio=low; queue D prio=low; submit B; submit C wait=B:2; silent;"
	       "submit B wait=C:1; submit D*3; irq ring; engine fed=2; submit A; irq ring; stopped 0 0; irq "
	       "node;"
	       "loop 8; finish; end; expect A=1 D=3; record B errors=1; expect B=2:DEADLOCK; expect "
	       "C=1:DEP_FAILED"),
	CARD(submissions_behind_a_deadlock_run_without_another_doorbell,
	     "queue B node=1; submit A wait=B:1; run 2000; submit B wait=A:1; submit B*2; expect B=3;"
	     "expect A=1:DEP_FAILED"),
	CARD(the_wait_that_closes_a_cycle_is_distinguished_from_one_outside,
	     SIX "submit A wait=B:1; submit B wait=C:1; submit D wait=A:1; run 2000; submit C wait=A:1;"
		 "expect C=1:DEADLOCK; expect A=1:DEP_FAILED B=1:DEP_FAILED D=1:DEP_FAILED"),
	CARD(a_cycle_through_a_value_that_is_on_its_way_is_none,
	     "for A B B C C A | A B C A B C | B C A B C A | B C C A A B | C A A B B C | C A B C A B;"
	     "queue B node=1; queue C node=2; submit A run=busy:30000; run 1000; submit $1 wait=$2:1;"
	     "run 1000; submit $3 wait=$4:1; run 1000; submit $5 wait=$6:1; run 1000; expect A=0 B=0 C=0;"
	     "run 30000; expect A=2 B=1 C=1; noevent"),
	CARD(a_cycle_through_a_later_value_is_one_and_through_an_earlier_value_is_none,
	     "queue B node=1; submit A run=busy:10000 timeline=10; run 1000; submit A wait=B:1; run 1000;"
	     "submit B wait=A:11; expect B=1:DEADLOCK; submit B wait=A:10; run 10000; expect B=2;"
	     "expect A=2:DEP_FAILED"),
};

UNIT_SUITE(test_scenario_waits)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
