/* SPDX-License-Identifier: MIT */
/* The model of the OS: a miniport that breaks a rule stops it, a correct one does not. */
#include "tests/unit/unit.h"
#include "tests/wddm/puppet.h"

static void queue(struct os_model *os, uint32_t node, uint32_t flags, uint32_t bytes)
{
	const struct os_packet packet = {
		.patch = {.DmaBufferSubmissionEndOffset = bytes, .Flags = flags & 0xf},
		.submit = {.Flags = flags, .NodeOrdinal = node},
		.skip_patch = (flags & PB_FLAG_PAGING) != 0,
	};

	assert_true(os_queue(os, &packet));
}

static void run_for(struct os_model *os, uint64_t microseconds)
{
	for (uint64_t t = 0; t < microseconds && os->bugcheck == 0; t += OS_STEP_US_MAX)
		os_step(os, OS_STEP_US_MAX);
}

/** The load of each miniport: two nodes, paging, an empty packet, preemptions, forty seconds. */
static void live(struct os_model *os, bool preempts)
{
	static const uint32_t flags[] = {0, PB_FLAG_PAGING, PB_FLAG_PRESENT, PB_FLAG_NULL_RENDERING};

	/* Node 1 is ahead of node 0 from the start. */
	queue(os, 1, 0, 64);
	os_step(os, 1);
	for (uint32_t i = 0; i < 8; i++) {
		queue(os, i % 3 == 2, flags[i % 4], i == 5 ? 0 : 64);
		queue(os, 0, 0, 64);
	}
	os_step(os, 10);
	if (preempts)
		os_preempt(os, 0);
	for (uint32_t i = 0; i < 30 && os->bugcheck == 0; i++)
		os_step(os, 75);
	run_for(os, 40000000);
}

/** One broken rule each. */
static const struct defect {
	const char *name;
	enum puppet_defect defect;
	bool preempts;
	uint32_t bugcheck;
	uint32_t parameter; /**< the one that tells why */
	enum os_rule rule;
} defects[] = {
	{"Patch fails", PUPPET_PATCH_FAILS, false, 0x119, 0x3, OS_RULE_PATCH},
	{"SubmitCommand fails", PUPPET_SUBMIT_FAILS, false, 0x119, 0x2, OS_RULE_SUBMIT},
	{"PreemptCommand fails", PUPPET_PREEMPT_FAILS, true, 0x119, 0x2, OS_RULE_PREEMPT},
	{"a fence twice", PUPPET_TWICE, false, 0x119, 0x1, OS_RULE_FENCE},
	{"fences out of order", PUPPET_REVERSED, false, 0x119, 0x1, OS_RULE_FENCE},
	{"one ledger for all nodes", PUPPET_ONE_LEDGER, false, 0x119, 0x1, OS_RULE_FENCE},
	{"a fence never submitted", PUPPET_AHEAD, false, 0x119, 0x1, OS_RULE_FENCE},
	{"an empty packet overtakes", PUPPET_INLINE, false, 0x119, 0x1, OS_RULE_FENCE},
	{"no such node", PUPPET_NO_SUCH_NODE, false, 0x119, 0x8, OS_RULE_NODE},
	{"a paging packet faults", PUPPET_FAULTS, false, 0x119, 0x5, OS_RULE_PAGING_FAULTED},
	{"another preemption", PUPPET_OTHER_PREEMPTION, true, 0x119, 0x1, OS_RULE_PREEMPTED},
	{"last completed is to come", PUPPET_PREEMPT_AHEAD, true, 0x119, 0x1, OS_RULE_PREEMPTED},
	{"completed after preempted", PUPPET_PREEMPT_THEN_COMPLETE, true, 0x119, 0x1, OS_RULE_FENCE},
	{"preempted twice", PUPPET_PREEMPTED_TWICE, true, 0x119, 0x1, OS_RULE_PREEMPTED},
	{"last completed goes back", PUPPET_PREEMPT_BEHIND, true, 0x119, 0x1, OS_RULE_PREEMPTED},
	{"preempted after the reset", PUPPET_LATE_PREEMPTED, true, 0x119, 0x10, OS_RULE_AFTER_RESET},
	{"an interrupt after the adapter's reset", PUPPET_LATE_ADAPTER, false, 0x119, 0x10,
	 OS_RULE_AFTER_RESET},
	{"a node that does not depend on itself", PUPPET_NOT_IN_GROUP, false, 0x119, 0x8, OS_RULE_GROUP},
	{"a node that depends on none", PUPPET_STRANGE_GROUP, false, 0x119, 0x8, OS_RULE_GROUP},
	{"the adapter does not start again", PUPPET_RESTART_FAILS, false, 0x116, PB_STATUS_UNSUCCESSFUL,
	 OS_RULE_NO_RESET},
	{"aborted is to come", PUPPET_RESET_AHEAD, false, 0x119, 0xa, OS_RULE_ABORTED},
	{"aborted is long completed", PUPPET_RESET_BEHIND, false, 0x119, 0xa, OS_RULE_ABORTED},
	{"an interrupt after the reset", PUPPET_LATE, false, 0x119, 0x10, OS_RULE_AFTER_RESET},
	{"current fence is another than notified", PUPPET_QUERY_LIES, false, 0x119, 0x1, OS_RULE_QUERY},
	{"no reset works", PUPPET_DEAD, false, 0x116, PB_STATUS_UNSUCCESSFUL, OS_RULE_NO_RESET},
	{"hangs again and again", PUPPET_HANGS, false, 0x116, 0, OS_RULE_TOO_OFTEN},
	{"hangs, preemption unanswered", PUPPET_HANGS, true, 0x116, 0, OS_RULE_TOO_OFTEN},
	{"adapter resets, again and again", PUPPET_RESET_FAILS, false, 0x116, 0, OS_RULE_TOO_OFTEN},
	{"six seconds in a call", PUPPET_SLOW, false, 0x116, 0, OS_RULE_SLOW},
};

static void every_broken_rule_stops_the_machine(void **state)
{
	static struct os_model os;
	static struct puppet puppet;

	(void)state;
	for (size_t i = 0; i < sizeof(defects) / sizeof(defects[0]); i++) {
		const struct defect *row = &defects[i];

		puppet_start(&puppet, &os, row->defect, row->preempts, 100);
		/* Enough packets to hang one after another. */
		if (row->bugcheck == 0x116)
			for (uint32_t n = 0; n < 9; n++)
				queue(&os, 0, 0, 64);
		live(&os, row->preempts);
		if (os.bugcheck != row->bugcheck || os.parameter != row->parameter ||
		    os.stop.rule != row->rule)
			fail_msg("%s: rule %s, bugcheck 0x%x/0x%x, expected 0x%x/0x%x", row->name,
				 os_rule_name(os.stop.rule), os.bugcheck, os.parameter, row->bugcheck,
				 row->parameter);
	}
}

/** Legal behaviour does not stop the model. */
static void a_correct_miniport_survives(void **state)
{
	static const uint32_t first_fences[] = {100, 0, 1, 0xffffffff, 0xfffffffa, 0x7ffffffc};
	static struct os_model os;
	static struct puppet puppet;

	(void)state;
	for (uint32_t i = 0; i < 2 * sizeof(first_fences) / sizeof(first_fences[0]); i++) {
		puppet_start(&puppet, &os, PUPPET_CORRECT, i % 2 != 0, first_fences[i / 2]);
		puppet.coalesce = i % 3;
		live(&os, i % 2 != 0);
		assert_int_equal(os.bugcheck, 0);
		assert_true(os_is_idle(&os));
		assert_int_equal(os.completed, 17);
		assert_int_equal(os.tdr_count, 0);
		assert_int_equal(os.preempted, i % 2 != 0 ? 3 : 0);
		/*
		 * Nodes 0 and 1 have 13 and 3 packets and the early one; preempted packets were submitted
		 * again.
		 */
		assert_int_equal(puppet.submissions, 17 + os.preempted);
	}
}

/** Recalled paging packets are submitted first, with their ids, then the others with new ids. */
static void recalled_paging_packets_keep_their_ids(void **state)
{
	static struct os_model os;
	static struct puppet puppet;

	(void)state;
	puppet_start(&puppet, &os, PUPPET_CORRECT, true, 0xfffffffe);
	queue(&os, 0, PB_FLAG_PAGING, 64);
	queue(&os, 0, 0, 64);
	queue(&os, 0, PB_FLAG_PAGING, 0);
	os_step(&os, 1);
	assert_int_equal(puppet.nodes[0].count, 3);
	os_preempt(&os, 0);
	assert_int_equal(puppet.nodes[0].count, 0);
	assert_int_equal(os.preempted, 3);
	os_step(&os, 1);
	assert_int_equal(puppet.nodes[0].count, 3);
	assert_int_equal(puppet.nodes[0].fences[0], 0xfffffffe);
	assert_int_equal(puppet.nodes[0].fences[1], 0);
	assert_int_equal(puppet.nodes[0].fences[2], 1);
	run_for(&os, 1000000);
	assert_int_equal(os.bugcheck, 0);
	assert_int_equal(os.completed, 3);
}

/** What is submitted from within the notification is outstanding when PreemptCommand returns. */
static void packets_are_submitted_from_within_the_notification(void **state)
{
	static struct os_model os;
	static struct puppet puppet;

	(void)state;
	puppet_start(&puppet, &os, PUPPET_CORRECT, true, 5);
	os.eager = true;
	queue(&os, 0, 0, 64);
	queue(&os, 0, PB_FLAG_PAGING, 64);
	os_step(&os, 1);
	os_preempt(&os, 0);
	assert_int_equal(os.preempted, 2);
	assert_int_equal(puppet.nodes[0].count, 1);
	assert_int_equal(puppet.nodes[0].fences[0], 6);
	run_for(&os, 1000000);
	assert_int_equal(os.bugcheck, 0);
	assert_int_equal(os.completed, 2);
	assert_int_equal(os.nodes[0].last_completed, 7);
}

/** Weaknesses that the model counts without stopping: a late answer, a completion without a report. */
static void weaknesses_are_counted(void **state)
{
	static struct os_model os;
	static struct puppet puppet;

	(void)state;
	puppet_start(&puppet, &os, PUPPET_DEAF, true, 5);
	queue(&os, 0, 0, 64);
	run_for(&os, 1000000);
	os_preempt(&os, 1);
	assert_int_equal(os.late_answers, 0); /* node 1 has never had a packet */
	os_preempt(&os, 0);
	assert_int_equal(os.late_answers, 1);

	puppet_start(&puppet, &os, PUPPET_CORRECT, true, 5);
	queue(&os, 0, 0, 64);
	queue(&os, 0, 0, 64);
	os_step(&os, 1);
	puppet.defect = PUPPET_SILENT;
	os_step(&os, PUPPET_PACKET_US);
	os_preempt(&os, 0);
	assert_int_equal(os.implied, 1);
	assert_int_equal(os.completed, 1);
	assert_int_equal(os.bugcheck, 0);
}

/** Faults that a miniport survives, and their cost. */
static const struct {
	const char *name;
	enum puppet_defect defect;
	bool preempts;
	uint32_t flags;
	uint32_t tdrs;
	uint32_t adapter_resets;
	uint32_t completed;
	uint32_t aborted;
	uint32_t faulted;
} survivors[] = {
	{"the engine hangs once", PUPPET_HANGS, false, 0, 1, 0, 1, 1, 0},
	{"preemption, then reset", PUPPET_HANGS, true, 0, 1, 0, 1, 1, 0},
	{"no answer to a preemption", PUPPET_DEAF, true, 0, 1, 0, 2, 0, 0},
	{"engines that are reset together", PUPPET_ONE_GROUP, false, 0, 1, 0, 1, 1, 0},
	{"an engine that cannot be reset", PUPPET_RESET_FAILS, false, 0, 1, 1, 0, 2, 0},
	{"a paging packet is aborted", PUPPET_HANGS, false, PB_FLAG_PAGING, 1, 1, 0, 2, 0},
	{"interrupts are lost", PUPPET_SILENT, false, 0, 0, 0, 2, 0, 0},
	{"a packet faults", PUPPET_FAULTS, false, 0, 0, 0, 2, 0, 2},
};

static void survivable_faults_cost_what_they_should(void **state)
{
	static struct os_model os;
	static struct puppet puppet;

	(void)state;
	for (size_t i = 0; i < sizeof(survivors) / sizeof(survivors[0]); i++) {
		puppet_start(&puppet, &os, survivors[i].defect, survivors[i].preempts, 7);
		queue(&os, 0, survivors[i].flags, 64);
		queue(&os, 0, 0, 64);
		os_step(&os, 1);
		if (survivors[i].defect == PUPPET_DEAF)
			os_preempt(&os, 0);
		while (os.tdr_count == 0 && os.bugcheck == 0 && puppet.now < 10000000)
			os_step(&os, OS_STEP_US_MAX);
		puppet.defect = PUPPET_CORRECT;
		run_for(&os, 1000000);
		if (os.bugcheck != 0 || os.tdr_count != survivors[i].tdrs ||
		    os.adapter_resets != survivors[i].adapter_resets ||
		    os.completed != survivors[i].completed || os.aborted != survivors[i].aborted ||
		    os.faulted != survivors[i].faulted)
			fail_msg("%s: bugcheck 0x%x/0x%x, %u timeouts, %u adapter resets, %u completed, %u "
				 "aborted, %u faulted",
				 survivors[i].name, os.bugcheck, os.parameter, os.tdr_count,
				 os.adapter_resets, os.completed, os.aborted, os.faulted);
		assert_true(os_is_idle(&os));
	}
}

/** Completions count only when NotifyDpc is called. Without it the OS resets again and again. */
static void without_a_dpc_nothing_completes(void **state)
{
	static struct os_model os;
	static struct puppet puppet;

	(void)state;
	puppet_start(&puppet, &os, PUPPET_NO_DPC, false, 7);
	queue(&os, 0, 0, 64);
	run_for(&os, 1900000);
	assert_int_equal(os.completed, 0);
	assert_false(os_is_idle(&os));
	run_for(&os, 500000);
	assert_int_equal(os.bugcheck, 0);
	assert_int_equal(os.tdr_count, 1);
}

/** Five recoveries in a minute are allowed, and more if they are far apart. */
static void recoveries_far_apart_are_allowed(void **state)
{
	static struct os_model os;
	static struct puppet puppet;

	(void)state;
	puppet_start(&puppet, &os, PUPPET_HANGS, false, 7);
	for (uint32_t i = 0; i < 12; i++) {
		queue(&os, 0, 0, 64);
		run_for(&os, 12500000);
		assert_int_equal(os.tdr_count, i + 1);
	}
	assert_int_equal(os.bugcheck, 0);
	assert_int_equal(os.aborted, 12);
}

/** The miniport is not called after a bugcheck. */
static void nothing_is_called_after_a_bugcheck(void **state)
{
	static struct os_model os;
	static struct puppet puppet;

	(void)state;
	puppet_start(&puppet, &os, PUPPET_CORRECT, true, 7);
	queue(&os, 0, 0, 64);
	os_break(&os, OS_RULE_PAGING_FAULTED, 0);
	os_break(&os, OS_RULE_NO_RESET, 0);
	os_step(&os, 1000);
	os_preempt(&os, 0);
	assert_int_equal(os.bugcheck, 0x119);
	assert_int_equal(os.parameter, 0x5);
	assert_int_equal(puppet.patches + puppet.submissions, 0);
	assert_int_equal(puppet.now, 1);
}

UNIT_SUITE(test_os_model)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_broken_rule_stops_the_machine),
		cmocka_unit_test(a_correct_miniport_survives),
		cmocka_unit_test(recalled_paging_packets_keep_their_ids),
		cmocka_unit_test(survivable_faults_cost_what_they_should),
		cmocka_unit_test(packets_are_submitted_from_within_the_notification),
		cmocka_unit_test(weaknesses_are_counted),
		cmocka_unit_test(without_a_dpc_nothing_completes),
		cmocka_unit_test(recoveries_far_apart_are_allowed),
		cmocka_unit_test(nothing_is_called_after_a_bugcheck),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
