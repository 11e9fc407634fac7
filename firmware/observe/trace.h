/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The trace: a ring of records in shared memory that tells what the firmware
 * does. The owner of struct pb_core_trace; main loop only.
 */
#ifndef PB_FIRMWARE_OBSERVE_TRACE_H
#define PB_FIRMWARE_OBSERVE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/firmware.h"
#include "hal/shared.h"
#include "patchbay/abi/trace.h"

struct pb_core_queue;

/** The state of this module. */
struct pb_core_trace {
	uint32_t enabled; /**< mask of enum pb_core_trace_bit */
	uint32_t put;     /**< bytes written to the ring, modulo 2^32 */
	uint32_t mask;    /**< of a record's place in the ring, in bytes */
	uint8_t *
		records; /**< shared, right behind their struct pb_trace_ring; NULL: the board has no room for them */
	const uint32_t *clock; /**< of the records: the board's counter, or the card's clock */
	uint32_t listed;       /**< the next queue to be listed; not below the table's count: no more */
};

/** Bits of pb_core_trace.enabled, one for each category at each level. */
enum pb_core_trace_bit {
#define PB_CORE_TRACE_BIT(name, number, category, level, arguments)                                          \
	PB_CORE_TRACE_BIT_##name = 1u << (PB_TRACE_CATEGORY_##category * PB_TRACE_LEVEL_MAX + (level)-1u),
	PB_TRACE_EVENTS(PB_CORE_TRACE_BIT)
#undef PB_CORE_TRACE_BIT
};

/** Finds the board's room for the trace and continues behind what an earlier boot left. Without room nothing is enabled. */
void pb_core_trace_init(struct pb_firmware *firmware);

/** The clock of a record that is written now. */
#define PB_CORE_TRACE_NOW(firmware) pb_shared_read32((firmware)->trace.clock)
/** Writes one record, inline: for the records of each submission. Pre: something is enabled. @param clock PB_CORE_TRACE_NOW */
static inline void pb_core_trace_put(struct pb_core_trace *trace, uint32_t clock, uint32_t what,
				     uint32_t first, uint32_t second)
{
	const uint32_t put = trace->put + (uint32_t)sizeof(struct pb_trace_record);
	uint8_t *const records = trace->records;

	pb_shared_write_four((uint32_t *)(void *)(records + (trace->put & trace->mask)), clock, what, first,
			     second);
	trace->put = put;
	pb_shared_release();
	pb_shared_write32(&((struct pb_trace_ring *)(void *)records)[-1].put, put);
}
/** Writes one record: as pb_core_trace_put(), small rather than quick. */
void pb_core_trace_write(struct pb_firmware *firmware, uint32_t what, uint32_t first, uint32_t second);

/** Writes HANDLE or FREE for a queue, if its level is enabled. @param event PB_TRACE_HANDLE or PB_TRACE_FREE */
void pb_core_trace_handle(struct pb_firmware *firmware, const struct pb_core_queue *queue, uint32_t event);
/**
 * Sets the levels, writes LEVELS, and begins to list all queues as HANDLE records: one slice, the others at each tick.
 * Pre: the board has room for a trace. @return false: one of the levels is not a level
 */
bool pb_core_trace_change(struct pb_firmware *firmware, uint32_t levels);
/** Writes CLOCK, if its level is enabled: where the records' clock begins, and where a reader asks for it. */
void pb_core_trace_clock(struct pb_firmware *firmware);
/**
 * Publishes the records' clock, writes CLOCK when it is due, and HANDLE for the queues of the next slice of the table. At
 * each tick. At most PB_SLICE_LISTED + 1 records.
 */
void pb_core_trace_tick(struct pb_firmware *firmware);

/** A queue's index, where a record has it. @param queues the table of all queues */
static inline uint32_t pb_core_trace_queue(const struct pb_core_queue *queues,
					   const struct pb_core_queue *queue)
{
	const size_t bytes = (size_t)((const char *)queue - (const char *)queues);

	/* One shift where the size is a power of two, which the compiler does not find by itself. */
	return 0x10000u % PB_FIRMWARE_QUEUE_BYTES == 0
		       ? (uint32_t)bytes * (uint32_t)(0x10000u / PB_FIRMWARE_QUEUE_BYTES)
		       : (uint32_t)(bytes / PB_FIRMWARE_QUEUE_BYTES) << 16;
}

/** Writes a record about any object, if its level is enabled. */
#define PB_CORE_TRACE(firmware, name, object, first, second)                                                 \
	do {                                                                                                 \
		if (((firmware)->trace.enabled & PB_CORE_TRACE_BIT_##name) != 0)                             \
			pb_core_trace_write(firmware, PB_TRACE_WHAT(PB_TRACE_##name, object), first,         \
					    second);                                                         \
	} while (0)
/** Writes a record about a queue, if its level is enabled. */
#define PB_CORE_TRACE_QUEUE(firmware, name, queue, first, second)                                            \
	do {                                                                                                 \
		if (((firmware)->trace.enabled & PB_CORE_TRACE_BIT_##name) != 0)                             \
			pb_core_trace_write(firmware,                                                        \
					    pb_core_trace_queue((firmware)->table.queues, queue) +           \
						    PB_TRACE_##name,                                         \
					    first, second);                                                  \
	} while (0)
/** Writes a record that each submission has, if its level is enabled. */
#define PB_CORE_TRACE_HOT(firmware, name, queue, first, second)                                              \
	do {                                                                                                 \
		if (((firmware)->trace.enabled & PB_CORE_TRACE_BIT_##name) != 0)                             \
			pb_core_trace_put(&(firmware)->trace, PB_CORE_TRACE_NOW(firmware),                   \
					  pb_core_trace_queue((firmware)->table.queues, queue) +             \
						  PB_TRACE_##name,                                           \
					  first, second);                                                    \
	} while (0)

#endif
