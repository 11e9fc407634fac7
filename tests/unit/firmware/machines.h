/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The state machines of firmware/ with the names of what is in them,
 * for those who walk through whole tables.
 */
#ifndef PB_TESTS_UNIT_MACHINES_H
#define PB_TESTS_UNIT_MACHINES_H

#include <stdint.h>

#include "firmware/channel/channel_machine.h"
#include "firmware/command/stop_machine.h"
#include "firmware/engine/node_machine.h"
#include "firmware/queue/queue_machine.h"

struct machine_word {
	const char *name;
	const char *meaning;
};

struct machine_words {
	const struct machine_word *words;
	uint32_t count;
};

struct machine {
	const char *name;            /**< of its picture's file */
	const char *title;           /**< of its part of docs/machines.md */
	const char *text;            /**< a paragraph */
	struct machine_words states; /**< the first one is where it begins */
	struct machine_words events;
	struct machine_words actions; /**< the first one is IMPOSSIBLE */
	struct pb_core_step (*next)(uint32_t state, uint32_t event);
};

enum { MACHINE_NODE, MACHINE_QUEUE, MACHINE_STOPPING, MACHINE_CHANNEL, MACHINES };
extern const struct machine machines[MACHINES];

#endif
