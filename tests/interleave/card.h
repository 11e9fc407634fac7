/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The card of an interleaving: the firmware, two engines, the supervisor and the tick, each an agent, and the
 * interrupt lines between them.
 */
#ifndef PB_TESTS_INTERLEAVE_CARD_H
#define PB_TESTS_INTERLEAVE_CARD_H

#include "firmware/limits.h"
#include "patchbay/abi/boot.h"
#include "patchbay/abi/channel.h"
#include "patchbay/link.h"
#include "tests/interleave/weave.h"

#define PB_WEAVE_MCU       0u
#define PB_WEAVE_ENGINE(n) (1u + (n))
#define PB_WEAVE_CARD      3u
#define PB_WEAVE_TICK      4u
#define PB_WEAVE_HOST(h)   (5u + (h))
#define PB_WEAVE_HOSTS     3u
#define PB_WEAVE_NODES     2u

/** Program counter in the fatal record when the schedule kills the firmware. */
#define PB_WEAVE_FATAL_PC   0x00c0ffeeu
#define PB_WEAVE_FATAL_TEXT "CPU_FAULT, pc 0x00c0ffee, status 0x00000000"

/** A host's link to the card, and what the judge knows of it. */
struct pb_weave_link {
	struct pb_link link; /* first, so that one pointer is both */
	uint32_t host;
	bool asks;         /**< it has a request to the card that is not answered */
	bool attaches;     /**< the request is an attach */
	bool waits;        /**< it waits for an interrupt */
	bool interrupted;  /**< an interrupt has come */
	uint32_t seen;     /**< point at which the interrupt was raised */
	uint32_t deaths;   /**< of the MCU, when its session began */
	bool invited;      /**< the supervisor had allowed it to attach */
	uint32_t opened;   /**< value of the count of allowed hosts when it had attached */
	const char *doing; /**< for messages */
	bool closed;       /**< the supervisor has closed its channel since the request */
};

/** Allocates what every schedule reuses. @return false: out of memory */
bool pb_weave_card_create(void);
/** Power-on state. Starts the card's agents. */
void pb_weave_card_reset(void);
/** For struct pb_weave_ground. */
uint32_t *pb_weave_card_memory(void);
void pb_weave_card_rung(uint32_t line);
void pb_weave_card_clock(uint64_t microseconds);
void pb_weave_card_quiet(void);

struct pb_weave_link *pb_weave_card_link(uint32_t host);
/** Has the supervisor close a host's channel: link.closed says when. */
void pb_weave_card_close(uint32_t host);
/** Stops the MCU at any point, with or without a fatal record. The supervisor restarts it. */
void pb_weave_card_break(bool fatal);
/** How often the MCU has stopped. */
uint32_t pb_weave_card_deaths(void);
/** Whether the MCU has stopped since that number of deaths, or is about to. */
bool pb_weave_card_died(uint32_t deaths);
/** Whether the firmware runs and hosts may attach. */
bool pb_weave_card_is_up(void);
/** Number of times that the firmware has started. */
uint32_t pb_weave_card_opened(void);
/** Number of attach and detach requests of a host. */
uint32_t pb_weave_card_requests(uint32_t host);
/** Number of engine resets since the firmware started. */
uint32_t pb_weave_card_resets(uint32_t node);
/** Makes an engine ignore reset and stop, except by power; or answer them again. */
void pb_weave_card_deafen(uint32_t node, bool deaf);

#endif
