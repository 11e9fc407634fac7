/* SPDX-License-Identifier: MIT */
#include "tests/unit/firmware/machines.h"

#define WORD(name, meaning)               {#name, meaning},
#define WORD_OF_3(name, between, meaning) {#name, meaning},
#define WORDS(words)                                                                                         \
	{                                                                                                    \
		words, sizeof(words) / sizeof((words)[0])                                                    \
	}

static const struct machine_word node_states[] = {PB_NODE_STATES(WORD_OF_3)};
static const struct machine_word node_events[] = {PB_CORE_NODE_EVENTS(WORD)};
static const struct machine_word node_actions[] = {PB_CORE_NODE_ACTIONS(WORD)};
static const struct machine_word queue_states[] = {PB_CORE_QUEUE_STATES(WORD)};
static const struct machine_word queue_events[] = {PB_CORE_QUEUE_EVENTS(WORD)};
static const struct machine_word queue_actions[] = {PB_CORE_QUEUE_ACTIONS(WORD)};
static const struct machine_word stopping_states[] = {PB_CORE_STOPPING_STATES(WORD_OF_3)};
static const struct machine_word stopping_events[] = {PB_CORE_STOPPING_EVENTS(WORD)};
static const struct machine_word stopping_actions[] = {PB_CORE_STOPPING_ACTIONS(WORD)};
static const struct machine_word channel_states[] = {PB_CORE_CHANNEL_STATES(WORD_OF_3)};
static const struct machine_word channel_events[] = {PB_CORE_CHANNEL_EVENTS(WORD)};
static const struct machine_word channel_actions[] = {PB_CORE_CHANNEL_ACTIONS(WORD)};

static struct pb_core_step node_next(uint32_t state, uint32_t event)
{
	return pb_core_node_next(state, event);
}

static struct pb_core_step queue_next(uint32_t state, uint32_t event)
{
	return pb_core_queue_next(state, event);
}

static struct pb_core_step stopping_next(uint32_t state, uint32_t event)
{
	return pb_core_stopping_next(state, event);
}

static struct pb_core_step channel_next(uint32_t state, uint32_t event)
{
	return pb_core_channel_next(state, event);
}

const struct machine machines[MACHINES] = {
	[MACHINE_NODE] = {.name = "node",
			  .title = "A node",
			  .text = "What the firmware has asked of a node's engine. Table: "
				  "`firmware/engine/node_machine.h`. Owner:\n`firmware/engine/node.c`. The "
				  "time for an "
				  "answer begins anew with each state. An engine that answers nothing "
				  "passes\nthe whole "
				  "ladder: stop, reset, power cycle, dead.",
			  .states = WORDS(node_states),
			  .events = WORDS(node_events),
			  .actions = WORDS(node_actions),
			  .next = node_next},
	[MACHINE_QUEUE] =
		{.name = "queue",
		 .title = "A queue",
		 .text = "The life of a queue, from QUEUE_CREATE until its last submission is gone. "
			 "Table: `firmware/queue/queue_machine.h`.\n`firmware/queue/table.c` keeps the "
			 "state; `firmware/command/lifecycle.c` acts, and `firmware/queue/poll.c` "
			 "reports\nthe fault.",
		 .states = WORDS(queue_states),
		 .events = WORDS(queue_events),
		 .actions = WORDS(queue_actions),
		 .next = queue_next},
	[MACHINE_STOPPING] =
		{.name = "stopping",
		 .title = "Stop requests of a queue",
		 .text = "What PREEMPT, SUSPEND, RESUME and RESET do to a queue that is OPEN or FAULTED. "
			 "Table:\n"
			 "`firmware/command/stop_machine.h`. Owner: `firmware/command/stop.c`. A queue has "
			 "one "
			 "stop request at a time. A queue\nthat was SUSPENDED stays so after every request "
			 "except RESUME.",
		 .states = WORDS(stopping_states),
		 .events = WORDS(stopping_events),
		 .actions = WORDS(stopping_actions),
		 .next = stopping_next},
	[MACHINE_CHANNEL] = {.name = "channel",
			     .title = "A channel",
			     .text = "The life of a channel, from a host's attach until everything of that "
				     "host is freed. "
				     "Table:\n`firmware/channel/channel_machine.h`. "
				     "`firmware/channel/endpoint.c` keeps the "
				     "state; `firmware/command/lifecycle.c`\nacts. The directory shows the "
				     "host one state, "
				     "CLOSING, for the last four.",
			     .states = WORDS(channel_states),
			     .events = WORDS(channel_events),
			     .actions = WORDS(channel_actions),
			     .next = channel_next},
};
