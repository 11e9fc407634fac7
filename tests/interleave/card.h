/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The card of an interleaving: the firmware, two engines, the supervisor and
 * the tick, each an agent; and the lines between them.
 */
#ifndef PB_TESTS_INTERLEAVE_CARD_H
#define PB_TESTS_INTERLEAVE_CARD_H

#include "firmware/abi/boot.h"
#include "firmware/abi/channel.h"
#include "firmware/limits.h"
#include "host/link.h"
#include "tests/interleave/weave.h"

#define PB_WEAVE_MCU       0u
#define PB_WEAVE_ENGINE(n) (1u + (n))
#define PB_WEAVE_CARD      3u
#define PB_WEAVE_TICK      4u
#define PB_WEAVE_HOST(h)   (5u + (h))
#define PB_WEAVE_HOSTS     3u
#define PB_WEAVE_NODES     2u

/** What the firmware's fatal record says when the schedule lets it die. */
#define PB_WEAVE_FATAL_PC   0x00c0ffeeu
#define PB_WEAVE_FATAL_TEXT "CPU_FAULT, pc 0x00c0ffee, status 0x00000000"

/** A host's way to the card, and what the judge knows of it. */
struct pb_weave_link {
	struct pb_link link; /* first, so that one pointer is both */
	uint32_t host;
	bool asks;         /**< it wants something of the card */
	bool attaches;     /**< and that is to attach */
	bool waits;        /**< it waits for an interrupt */
	bool interrupted;  /**< one has come */
	uint32_t seen;     /**< point at which it was raised */
	uint32_t deaths;   /**< of the MCU, when its session began */
	bool invited;      /**< the supervisor had said that it may attach */
	uint32_t opened;   /**< how often hosts had been let in, when it had attached */
	const char *doing; /**< for messages */
	bool closed;       /**< the supervisor has closed its channel since it asked */
};

/** Allocates what every schedule uses anew. @return false: out of memory */
bool pb_weave_card_create(void);
/** Everything as when the card gets power; its agents begin. */
void pb_weave_card_reset(void);
/** For struct pb_weave_ground. */
uint32_t *pb_weave_card_memory(void);
void pb_weave_card_rung(uint32_t line);
void pb_weave_card_clock(uint64_t microseconds);
void pb_weave_card_quiet(void);

struct pb_weave_link *pb_weave_card_link(uint32_t host);
/** Has the supervisor close a host's channel: link.closed says when. */
void pb_weave_card_close(uint32_t host);
/** The MCU stops in the middle of what it does, with a fatal record or without; the supervisor starts it again. */
void pb_weave_card_break(bool fatal);
/** How often the MCU has stopped. */
uint32_t pb_weave_card_deaths(void);
/** Whether it has stopped since there were so many deaths, or is about to. */
bool pb_weave_card_died(uint32_t deaths);
/** Whether the firmware runs and hosts may attach. */
bool pb_weave_card_is_up(void);
/** How often it has come so far. */
uint32_t pb_weave_card_opened(void);
/** How often a host has asked to attach or to detach. */
uint32_t pb_weave_card_requests(uint32_t host);
/** How often the firmware has reset an engine since it came. */
uint32_t pb_weave_card_resets(uint32_t node);
/** An engine hears no reset and no stop, unless by power; or hears them again. */
void pb_weave_card_deafen(uint32_t node, bool deaf);

#endif
