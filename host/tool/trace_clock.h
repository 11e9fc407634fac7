/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The clock of a trace's records: a counter of the MCU that goes round at 32 bits and begins anew at each boot. CLOCK
 * records compare it with the card's clock, which runs on over boots, and so tell how often it went round.
 */
#ifndef PB_HOST_TOOL_TRACE_CLOCK_H
#define PB_HOST_TOOL_TRACE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/abi/trace.h"

/** Extends the clock to 64 bits. All times are microseconds since the first step. */
struct pb_trace_clock {
	uint32_t hertz;     /**< rate of the counter; 0: it is the card's clock, in microseconds */
	bool running;       /**< a step was made */
	uint32_t last;      /**< counter at the last step */
	uint64_t counts;    /**< of the counter, since `base` */
	uint64_t base;      /**< time of count 0 */
	bool restarted;     /**< the counter began anew, and no CLOCK has told when */
	bool card_known;    /**< a CLOCK was seen */
	uint32_t card;      /**< the card's clock at the last CLOCK */
	uint64_t card_time; /**< time of the last CLOCK */
};

/**
 * Makes a step to a record's clock. A counter only goes forward; of the card's clock, a value before the last one counts
 * as no time: a restarted card may count from 0.
 * @return the time of the record
 */
uint64_t pb_trace_clock_step(struct pb_trace_clock *clock, uint32_t now);
/** The time of a value near the last step, before or after it; makes no step, unless there was none. Never below 0. */
uint64_t pb_trace_clock_at(struct pb_trace_clock *clock, uint32_t value);
/** Whether a record is the first one of a boot, with which a counter begins anew; the card's clock does not. */
bool pb_trace_clock_is_boot(uint32_t event, const struct pb_trace_record *record);
/**
 * As pb_trace_clock_step(), and handles BOOT and CLOCK. CLOCK moves the time forward if the counter went round unseen, or
 * began anew.
 * @param event enum pb_trace_event of the record
 * @param late out: by how many microseconds; so much later are the records, too, that follow the gap which hid it
 */
uint64_t pb_trace_clock_record(struct pb_trace_clock *clock, uint32_t event,
			       const struct pb_trace_record *record, uint64_t *late);

#endif
