/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The state of the card around the firmware, which the parts of the bench share that run the firmware:
 * bench_card.c wires the card, bench_spans.c measures spans of one submission, bench_saturated.c whole passes.
 */
#ifndef PB_TESTS_BENCH_BENCH_CARD_H
#define PB_TESTS_BENCH_BENCH_CARD_H

#include "boards/board.h"
#include "hal/engine/registers.h"
#include "tests/bench/bench.h"

#define BENCH_CHANNEL 1u /* of the bench's own client */

/** Counters are those of pb_bench_board_counter(). */
struct bench_card {
	struct pb_firmware_config config;
	struct pb_firmware *firmware;
	const struct pb_lines *board_lines;
	struct pb_lines lines;         /**< the board's, with a read of the counter after each raise */
	struct pb_lines_ops lines_ops; /**< of `lines` */
	struct pb_engine board_engine;
	struct pb_engine
		engines[PB_LIMIT_NODES];  /**< the board's, with a read of the counter after each doorbell */
	struct pb_engine_run_ops run_ops; /**< of `engines` */
	struct pb_engine_preempt_ops preempt_ops; /**< of `engines` */
	uint32_t engine_rung;                     /**< counter after the last engine doorbell */
	uint32_t host_rung;                       /**< counter after the last host interrupt */
	uint32_t stop_rung;                       /**< counter after the last stop request to an engine */
	uint32_t polled_at; /**< counter when the tick was found, or when the alarm rang */
	bool engine_waits;  /**< an engine's doorbell was rung and has not been served */
	bool stop_asked;    /**< there was a stop request to an engine */
	bool watching;      /**< alarms ring while the firmware runs */
	bool ringing;       /**< an alarm is this channel's doorbell */
	bool ticking;       /**< the next poll finds a tick */
	bool held;          /**< interrupts wait for sleep_and_wake() */
	bool muted;         /**< the host's doorbell is not rung */
	bool stormy;        /**< no bytes of lines are sent: pb_bench_claim_by() */
};

extern struct bench_card bench_card;

/** Operation take of `lines`: the board's, and what an alarm or a tick adds. */
uint32_t bench_lines_take(void *context);
/** Operation raise of `lines`. */
void bench_lines_raise(void *context, uint32_t line);
/** Operation feed of `engines`. */
void bench_engine_feed(void *context, const struct pb_engine_submission *work, uint32_t sequence);
/** Operation stop of `engines`. */
void bench_engine_stop(void *context, bool inside);
/** Returns a node's registers in card memory. */
struct pb_engine_registers *bench_registers(uint32_t node);
/** Measures what reading the counter costs in each span. Once, before the firmware boots. */
void bench_calibrate(void);

#endif
