/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a test and the program that stands in for the MCU tell each other, in
 * card memory where segments would be.
 */
#ifndef PB_TESTS_UNIT_FAKE_MCU_H
#define PB_TESTS_UNIT_FAKE_MCU_H

#include <stdint.h>

#include "qemu/mcu/layout.h"

#define FAKE_OFFSET    PB_CARD_POOL_OFFSET
#define FAKE_CHANNELS  9u
#define FAKE_WAYPOINT  6u
#define FAKE_HEARTBEAT 1234u
#define FAKE_FATAL_PC  0x1234u

struct fake_mailbox {
	uint32_t pid;                       /* of the MCU */
	uint32_t doorbells[FAKE_CHANNELS];  /* bytes taken, by channel */
	uint32_t nodes[PB_CARD_NODES];      /* engine interrupts taken */
	uint32_t closes[FAKE_CHANNELS];     /* CHANNEL_CLOSE carried out, by channel */
	uint32_t privileges[FAKE_CHANNELS]; /* by CHANNEL_GRANT, since boot or CHANNEL_CLOSE */
	uint32_t weights[FAKE_CHANNELS];    /* by the last CHANNEL_GRANT */
	uint32_t priorities[FAKE_CHANNELS]; /* the highest of its queues, likewise */
	uint32_t hold_closes;               /* 1: leave the admin's commands alone for now */
	uint32_t hold_attach;               /* 1: leave the admin's attach alone for now */
	uint32_t feed;                      /* node + 1: feed its engine an empty slot */
	uint32_t hold_boot;                 /* 1: do not boot yet */
	uint32_t fails;                     /* how often to stop with a fatal record, now or at its boot */
	uint32_t hangs;                     /* 1: the heartbeat stands, until this one has ended */
	uint32_t hold_monitor;              /* 1: no answer on the control socket */
	uint32_t commands;                  /* of the admin, carried out */
	uint32_t levels;                    /* of the trace, by the last TRACE; FAKE_LEVELS at boot */
};

#define FAKE_LEVELS 0x1234u
/* First result of a QUERY: its second argument and this. */
#define FAKE_ANSWER 1000u

#endif
