/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Tracepoints of a submission's life. Each names the firmware's queue and the card's clock, in microseconds, as it is
 * at that moment, so that these records and those of `patchbay trace` have one time line: the difference between an
 * entry's time and its card_us is that of the two clocks.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM patchbay

#if !defined(PBD_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define PBD_TRACE_H

#include <linux/tracepoint.h>

DECLARE_EVENT_CLASS(patchbay_job,
	TP_PROTO(u64 file, u32 node, u32 queue, u64 value, u32 card_us, int detail),
	TP_ARGS(file, node, queue, value, card_us, detail),
	TP_STRUCT__entry(
		__field(u64, file)
		__field(u64, value)
		__field(u32, node)
		__field(u32, queue)
		__field(u32, card_us)
		__field(int, detail)
	),
	TP_fast_assign(
		__entry->file = file;
		__entry->value = value;
		__entry->node = node;
		__entry->queue = queue;
		__entry->card_us = card_us;
		__entry->detail = detail;
	),
	TP_printk("file=%llu node=%u queue=0x%x value=%llu card_us=%u detail=%d", __entry->file, __entry->node,
		  __entry->queue, __entry->value, __entry->card_us, __entry->detail)
);

/* The submission has its place in its queue. detail: fences that the kernel waits for */
DEFINE_EVENT(patchbay_job, patchbay_submit,
	TP_PROTO(u64 file, u32 node, u32 queue, u64 value, u32 card_us, int detail),
	TP_ARGS(file, node, queue, value, card_us, detail));

/* The firmware has its descriptor. detail: index in the ring */
DEFINE_EVENT(patchbay_job, patchbay_ring,
	TP_PROTO(u64 file, u32 node, u32 queue, u64 value, u32 card_us, int detail),
	TP_ARGS(file, node, queue, value, card_us, detail));

/* Its fence is signaled. detail: 0, or the fence's error */
DEFINE_EVENT(patchbay_job, patchbay_signal,
	TP_PROTO(u64 file, u32 node, u32 queue, u64 value, u32 card_us, int detail),
	TP_ARGS(file, node, queue, value, card_us, detail));

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE pbd_trace
#include <trace/define_trace.h>
