/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Where the other files of the core leave a trace of what they do.
 */
#ifndef PB_FIRMWARE_TRACE_H
#define PB_FIRMWARE_TRACE_H

#include "firmware/abi/trace.h"
#include "firmware/state.h"
#include "hal/shared.h"

/** Bits of pb_firmware.trace.enabled, one for each category at each level. */
enum pb_core_trace_bit {
#define PB_CORE_TRACE_BIT(name, number, category, level, arguments)                                          \
	PB_CORE_TRACE_BIT_##name = 1u << (PB_TRACE_CATEGORY_##category * PB_TRACE_LEVEL_MAX + (level)-1u),
	PB_TRACE_EVENTS(PB_CORE_TRACE_BIT)
#undef PB_CORE_TRACE_BIT
};

/** Finds the board's room for it and goes on behind what a boot before has left there. Nothing is on without room. */
void pb_core_trace_init(struct pb_firmware *firmware);
/** Sets the levels of all categories, on a board with room for a trace. @return false: one of them is none */
bool pb_core_trace_set(struct pb_firmware *firmware, uint32_t levels);
/** One more record, where each instruction counts. Not to be called if nothing is on. */
static inline void pb_core_trace_put(struct pb_firmware *firmware, uint32_t what, uint32_t first,
				     uint32_t second)
{
	struct pb_core_trace *trace = &firmware->trace;
	const uint32_t put = trace->put + (uint32_t)sizeof(struct pb_trace_record);
	uint8_t *const records = trace->records;

	pb_shared_write_four((uint32_t *)(void *)(records + (trace->put & trace->mask)),
			     pb_shared_read32(firmware->clock), what, first, second);
	trace->put = put;
	pb_shared_release();
	pb_shared_write32(&((struct pb_trace_ring *)(void *)records)[-1].put, put);
}
/** The same where they do not. */
void pb_core_trace_write(struct pb_firmware *firmware, uint32_t what, uint32_t first, uint32_t second);

/** A queue's put index has been read, new or not. Not to be called unless SUBMIT is wanted. */
void pb_core_trace_submit(struct pb_firmware *firmware, const struct pb_core_queue *queue, uint32_t put);

/** A queue in a record. */
static inline uint32_t pb_core_trace_queue(const struct pb_firmware *firmware,
					   const struct pb_core_queue *queue)
{
	const size_t bytes = (size_t)((const char *)queue - (const char *)firmware->queues);

	/* One shift where the size is a power of two, which the compiler does not see by itself. */
	return 0x10000u % sizeof(*queue) == 0 ? (uint32_t)bytes * (uint32_t)(0x10000u / sizeof(*queue))
					      : (uint32_t)(bytes / sizeof(*queue)) << 16;
}

/** A record, if such are wanted, of whatever object. */
#define PB_CORE_TRACE(firmware, name, object, first, second)                                                 \
	do {                                                                                                 \
		if (((firmware)->trace.enabled & PB_CORE_TRACE_BIT_##name) != 0)                             \
			pb_core_trace_write(firmware, PB_TRACE_WHAT(PB_TRACE_##name, object), first,         \
					    second);                                                         \
	} while (0)
/** One that is about a queue. */
#define PB_CORE_TRACE_QUEUE(firmware, name, queue, first, second)                                            \
	PB_CORE_TRACE_QUEUE_BY(pb_core_trace_write, firmware, name, queue, first, second)
/** The same for each submission. */
#define PB_CORE_TRACE_HOT(firmware, name, queue, first, second)                                              \
	PB_CORE_TRACE_QUEUE_BY(pb_core_trace_put, firmware, name, queue, first, second)
#define PB_CORE_TRACE_QUEUE_BY(write, firmware, name, queue, first, second)                                  \
	do {                                                                                                 \
		if (((firmware)->trace.enabled & PB_CORE_TRACE_BIT_##name) != 0)                             \
			write(firmware, pb_core_trace_queue(firmware, queue) + PB_TRACE_##name, first,       \
			      second);                                                                       \
	} while (0)

#endif
