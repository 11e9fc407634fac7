/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Proofs that the emulator has run its MCU, over its control socket (QMP).
 *
 * A probe is `stop`, its answer, `cont`, its answer: QEMU answers the first
 * only when the thread that runs the MCU has been given a processor and has
 * come to rest. A busy machine delays the answer, and with it the proof; one
 * that is starved, or stopped by a signal, gives none. Never blocks.
 */
#ifndef PB_QEMU_CARD_MONITOR_H
#define PB_QEMU_CARD_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

enum pb_card_monitor_state {
	PB_CARD_MONITOR_OFF = 0,      /**< not connected */
	PB_CARD_MONITOR_GREETING = 1, /**< capabilities are being agreed on */
	PB_CARD_MONITOR_READY = 2,    /**< the MCU runs */
	PB_CARD_MONITOR_STOPPING = 3, /**< `stop` is not answered yet */
	PB_CARD_MONITOR_GOING_ON = 4, /**< `cont` is not answered yet */
};

/** The caller's; only the functions below touch it. */
struct pb_card_monitor {
	enum pb_card_monitor_state state;
	int socket;       /**< -1: not connected */
	uint32_t matched; /**< bytes of the line that is being read that look like an answer's */
	bool skipping;    /**< the rest of the line says nothing */
	bool proven;      /**< a proof that has not been read */
	uint64_t asked;   /**< when the probe began */
	uint64_t next;    /**< no other before this */
};

void pb_card_monitor_init(struct pb_card_monitor *monitor);
/** Closes the connection: the MCU has ended. */
void pb_card_monitor_restart(struct pb_card_monitor *monitor);
/** Takes over the connection of a new MCU. */
void pb_card_monitor_connect(struct pb_card_monitor *monitor, int socket);
/** Takes what has come. @param now the wall's microseconds. @return false: the connection has ended */
bool pb_card_monitor_receive(struct pb_card_monitor *monitor, uint64_t now);
/**
 * Begins a probe, unless one is under way or the last is too short ago: what
 * the MCU needed to come to rest, it gets twice to run, and a millisecond at least.
 */
void pb_card_monitor_probe(struct pb_card_monitor *monitor, uint64_t now);
/** Takes the proof, if there is one. */
bool pb_card_monitor_proof(struct pb_card_monitor *monitor);

#endif
