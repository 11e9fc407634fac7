/* SPDX-License-Identifier: MIT */
/*
 * Every state with every event, held against what is written here by hand:
 * "state event: next state action". What is not here is impossible.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "firmware/instance.h"
#include "tests/unit/firmware/machines.h"
#include "tests/unit/unit.h"

static const char *const node_steps[] = {
	"RUNNING RECALL: STOPPING STOP",       "RUNNING RESET: RESETTING RESET",
	"STOPPING RECALL: STOPPING NOTHING",   "STOPPING RESET: RESETTING RESET",
	"STOPPING ANSWER: RUNNING REBUILD",    "STOPPING TIMEOUT: RESETTING RESET",
	"RESETTING RECALL: RESETTING NOTHING", "RESETTING RESET: RESETTING NOTHING",
	"RESETTING ANSWER: RUNNING REBUILD",   "RESETTING TIMEOUT: CYCLING CYCLE",
	"CYCLING RECALL: CYCLING NOTHING",     "CYCLING RESET: CYCLING NOTHING",
	"CYCLING ANSWER: RUNNING REBUILD",     "CYCLING TIMEOUT: DEAD DIE",
	"DEAD RECALL: DEAD NOTHING",           "DEAD RESET: DEAD NOTHING",
	"DEAD ANSWER: DEAD NOTHING",           NULL,
};

static const char *const queue_steps[] = {
	"FREE CREATE: OPEN OPEN",
	"OPEN FAULT: FAULTED REPORT",
	"OPEN CLOSE: CLOSING CLOSE",
	"FAULTED CLOSE: CLOSING CLOSE",
	"CLOSING CLOSE: CLOSING NOTHING",
	"CLOSING EMPTY: FREE FREE",
	NULL,
};

static const char *const stopping_steps[] = {
	"RUNS RECALL: RECALLS RECALL",
	"RUNS DRAIN: DRAINS LIMIT",
	"RUNS RESUME: RUNS ADMIT",
	"RUNS CLOSE: RUNS NOTHING",
	"RECALLS RECALL: RECALLS REFUSE",
	"RECALLS DRAIN: RECALLS REFUSE",
	"RECALLS FORCE: RECALLS RECALL",
	"RECALLS BEGUN: DRAINS LIMIT",
	"RECALLS RETURN: RUNS RETURN",
	"RECALLS STAY: SUSPENDED HOLD",
	"RECALLS RESUME: RECALLS REFUSE",
	"RECALLS CLOSE: RUNS FORGET",
	"DRAINS RECALL: DRAINS REFUSE",
	"DRAINS DRAIN: DRAINS REFUSE",
	"DRAINS FORCE: RECALLS RECALL",
	"DRAINS RETURN: RUNS RETURN",
	"DRAINS STAY: SUSPENDED HOLD",
	"DRAINS RESUME: DRAINS REFUSE",
	"DRAINS CLOSE: RUNS FORGET",
	"SUSPENDED RECALL: SUSPENDED_RECALLS RECALL",
	"SUSPENDED DRAIN: SUSPENDED_DRAINS LIMIT",
	"SUSPENDED RESUME: RUNS ADMIT",
	"SUSPENDED CLOSE: SUSPENDED NOTHING",
	"SUSPENDED_RECALLS RECALL: SUSPENDED_RECALLS REFUSE",
	"SUSPENDED_RECALLS DRAIN: SUSPENDED_RECALLS REFUSE",
	"SUSPENDED_RECALLS FORCE: SUSPENDED_RECALLS RECALL",
	"SUSPENDED_RECALLS BEGUN: SUSPENDED_DRAINS LIMIT",
	"SUSPENDED_RECALLS RETURN: SUSPENDED RETURN",
	"SUSPENDED_RECALLS STAY: SUSPENDED HOLD",
	"SUSPENDED_RECALLS RESUME: SUSPENDED_RECALLS REFUSE",
	"SUSPENDED_RECALLS CLOSE: SUSPENDED FORGET",
	"SUSPENDED_DRAINS RECALL: SUSPENDED_DRAINS REFUSE",
	"SUSPENDED_DRAINS DRAIN: SUSPENDED_DRAINS REFUSE",
	"SUSPENDED_DRAINS FORCE: SUSPENDED_RECALLS RECALL",
	"SUSPENDED_DRAINS RETURN: SUSPENDED RETURN",
	"SUSPENDED_DRAINS STAY: SUSPENDED HOLD",
	"SUSPENDED_DRAINS RESUME: SUSPENDED_DRAINS REFUSE",
	"SUSPENDED_DRAINS CLOSE: SUSPENDED FORGET",
	NULL,
};

static const char *const channel_steps[] = {
	"CLOSED ATTACH: OPEN OPEN",
	"CLOSED DETACH: CLOSED ANSWER",
	"CLOSED CLOSE: CLOSED NOTHING",
	"OPEN ATTACH: CLOSING_QUEUES CLOSE",
	"OPEN DETACH: CLOSING_QUEUES CLOSE",
	"OPEN CLOSE: CLOSING_QUEUES CLOSE",
	"OPEN FAULT: FAULTED REPORT",
	"FAULTED ATTACH: CLOSING_QUEUES CLOSE",
	"FAULTED DETACH: CLOSING_QUEUES CLOSE",
	"FAULTED CLOSE: CLOSING_QUEUES CLOSE",
	"CLOSING_QUEUES ATTACH: CLOSING_QUEUES NOTHING",
	"CLOSING_QUEUES DETACH: CLOSING_QUEUES NOTHING",
	"CLOSING_QUEUES CLOSE: CLOSING_QUEUES NOTHING",
	"CLOSING_QUEUES SWEPT: CLOSING_SUBMISSIONS WAIT",
	"CLOSING_SUBMISSIONS ATTACH: CLOSING_SUBMISSIONS NOTHING",
	"CLOSING_SUBMISSIONS DETACH: CLOSING_SUBMISSIONS NOTHING",
	"CLOSING_SUBMISSIONS CLOSE: CLOSING_SUBMISSIONS NOTHING",
	"CLOSING_SUBMISSIONS EMPTY: CLOSING_CONTEXTS SWEEP",
	"CLOSING_CONTEXTS ATTACH: CLOSING_CONTEXTS NOTHING",
	"CLOSING_CONTEXTS DETACH: CLOSING_CONTEXTS NOTHING",
	"CLOSING_CONTEXTS CLOSE: CLOSING_CONTEXTS NOTHING",
	"CLOSING_CONTEXTS SWEPT: CLOSING_SEGMENTS SWEEP",
	"CLOSING_SEGMENTS ATTACH: CLOSING_SEGMENTS NOTHING",
	"CLOSING_SEGMENTS DETACH: CLOSING_SEGMENTS NOTHING",
	"CLOSING_SEGMENTS CLOSE: CLOSING_SEGMENTS NOTHING",
	"CLOSING_SEGMENTS SWEPT: CLOSED END",
	NULL,
};

static const char *const *const expected[MACHINES] = {
	[MACHINE_NODE] = node_steps,
	[MACHINE_QUEUE] = queue_steps,
	[MACHINE_STOPPING] = stopping_steps,
	[MACHINE_CHANNEL] = channel_steps,
};

/** The table's step in the words of this file. */
static void describe(const struct machine *machine, uint32_t state, uint32_t event, char *text, size_t bytes)
{
	const struct pb_core_step step = machine->next(state, event);

	assert_true(step.state < machine->states.count && step.action < machine->actions.count);
	(void)snprintf(text, bytes, "%s %s: %s %s", machine->states.words[state].name,
		       machine->events.words[event].name, machine->states.words[step.state].name,
		       machine->actions.words[step.action].name);
}

/** What this file says of a state and an event. @return NULL: nothing */
static const char *find(const struct machine *machine, const char *const *steps, uint32_t state,
			uint32_t event)
{
	char head[128];

	(void)snprintf(head, sizeof(head), "%s %s: ", machine->states.words[state].name,
		       machine->events.words[event].name);
	while (*steps != NULL && strncmp(*steps, head, strlen(head)) != 0)
		steps++;
	return *steps;
}

static void check_steps(const struct machine *machine, const char *const *steps)
{
	uint32_t found = 0, written = 0;

	for (uint32_t i = 0; i < machine->states.count * machine->events.count; i++) {
		const uint32_t state = i / machine->events.count, event = i % machine->events.count;
		const char *step = find(machine, steps, state, event);
		char text[256];

		describe(machine, state, event, text, sizeof(text));
		if (step != NULL)
			assert_string_equal(text, step);
		else
			assert_string_equal(machine->actions.words[machine->next(state, event).action].name,
					    "IMPOSSIBLE");
		found += step != NULL;
	}
	while (steps[written] != NULL)
		written++;
	assert_int_equal(found, written); /* none is there twice, or misspelt */
}

static void every_step_is_as_written(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < MACHINES; i++)
		check_steps(&machines[i], expected[i]);
}

/** States that can be come to from those of a mask, which are among them. */
static uint32_t reach(const struct machine *machine, uint32_t from)
{
	uint32_t reached = from;

	do {
		from = reached;
		for (uint32_t i = 0; i < machine->states.count * machine->events.count; i++) {
			const uint32_t state = i / machine->events.count;
			const struct pb_core_step step = machine->next(state, i % machine->events.count);

			if ((from >> state & 1u) != 0 && step.action != 0)
				reached |= 1u << step.state;
		}
	} while (reached != from);
	return reached;
}

static void every_state_is_reached(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < MACHINES; i++)
		assert_int_equal(reach(&machines[i], 1u), (1u << machines[i].states.count) - 1u);
}

/** But a dead node: it absorbs. */
static void every_state_leads_back(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < MACHINES; i++) {
		for (uint32_t s = 0; s < machines[i].states.count; s++) {
			const bool dead = i == MACHINE_NODE && s == PB_NODE_STATE_DEAD;

			assert_int_equal(reach(&machines[i], 1u << s) & 1u, dead ? 0 : 1);
		}
	}
	assert_int_equal(reach(&machines[MACHINE_NODE], 1u << PB_NODE_STATE_DEAD), 1u << PB_NODE_STATE_DEAD);
}

/** IMPOSSIBLE is no action; the others and all events are of some use. */
static void every_action_and_event_occurs(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < MACHINES; i++) {
		const struct machine *machine = &machines[i];
		uint32_t actions = 0, events = 0;

		assert_string_equal(machine->actions.words[0].name, "IMPOSSIBLE");
		for (uint32_t at = 0; at < machine->states.count * machine->events.count; at++) {
			const uint32_t event = at % machine->events.count;
			const struct pb_core_step step = machine->next(at / machine->events.count, event);

			actions |= 1u << step.action;
			events |= step.action != 0 ? 1u << event : 0;
		}
		assert_int_equal(actions | 1u, (1u << machine->actions.count) - 1u);
		assert_int_equal(events, (1u << machine->events.count) - 1u);
	}
}

/** An engine that never answers: however a node is asked, it is dead after at most three times the time to answer. */
static void the_ladder_ends(void **state)
{
	static const uint32_t rungs[PB_CORE_NODE_STATES] = {
		[PB_NODE_STATE_STOPPING] = 3, [PB_NODE_STATE_RESETTING] = 2, [PB_NODE_STATE_CYCLING] = 1};

	(void)state;
	for (uint32_t from = 0; from < PB_CORE_NODE_STATES; from++) {
		uint32_t at = from, steps = 0;

		while (at != PB_NODE_STATE_RUNNING && at != PB_NODE_STATE_DEAD) {
			at = pb_core_node_next(at, PB_CORE_NODE_EVENT_TIMEOUT).state;
			assert_true(++steps <= 3u);
		}
		assert_int_equal(steps, rungs[from]);
		assert_int_equal(at,
				 from == PB_NODE_STATE_RUNNING ? PB_NODE_STATE_RUNNING : PB_NODE_STATE_DEAD);
	}
}

/** Whatever else is asked meanwhile, only an answer leads back to RUNNING, and nothing back up the ladder. */
static void nothing_climbs_but_an_answer(void **state)
{
	(void)state;
	for (uint32_t from = PB_NODE_STATE_STOPPING; from < PB_CORE_NODE_STATES; from++) {
		for (uint32_t event = 0; event < PB_CORE_NODE_EVENT_COUNT; event++) {
			const struct pb_core_step step = pb_core_node_next(from, event);

			if (event != PB_CORE_NODE_EVENT_ANSWER &&
			    step.action != PB_CORE_NODE_ACTION_IMPOSSIBLE)
				assert_true(step.state >= from);
		}
	}
}

/** No request is refused for good: one that is under way ends by RETURN, STAY or CLOSE. */
static void what_is_refused_is_under_way(void **state)
{
#define FLAGS(name, flags, meaning) (flags),
	static const uint32_t flags[] = {PB_CORE_STOPPING_STATES(FLAGS)};
#undef FLAGS

	(void)state;
	for (uint32_t from = 0; from < PB_CORE_STOPPING_STATE_COUNT; from++) {
		const bool stops = (flags[from] & PB_CORE_QUEUE_STOPPING) != 0;

		for (uint32_t event = 0; event < PB_CORE_STOPPING_EVENT_COUNT; event++) {
			const struct pb_core_step step = pb_core_stopping_next(from, event);
			const bool ends = event == PB_CORE_STOPPING_EVENT_RETURN ||
					  event == PB_CORE_STOPPING_EVENT_STAY ||
					  event == PB_CORE_STOPPING_EVENT_CLOSE;

			if (step.action == PB_CORE_STOPPING_ACTION_REFUSE)
				assert_true(stops && step.state == from);
			if (stops && ends)
				assert_int_equal(flags[step.state] & PB_CORE_QUEUE_STOPPING, 0);
		}
	}
}

UNIT_SUITE(test_firmware_machines)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_step_is_as_written),
		cmocka_unit_test(every_state_is_reached),
		cmocka_unit_test(every_state_leads_back),
		cmocka_unit_test(every_action_and_event_occurs),
		cmocka_unit_test(the_ladder_ends),
		cmocka_unit_test(nothing_climbs_but_an_answer),
		cmocka_unit_test(what_is_refused_is_under_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
