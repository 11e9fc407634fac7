/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Included before each file of the core that a submission passes, when these
 * are built once more without a trace: what the bench compares with.
 */
#ifndef PB_TESTS_BENCH_UNTRACED_H
#define PB_TESTS_BENCH_UNTRACED_H

#include "firmware/trace.h"

/* In the place of the bit that says whether such records are wanted. */
#define PB_CORE_TRACE_BIT_SUBMIT 0u

/* No record, and no question whether one is wanted. What is only for a record still counts as used. */
#undef PB_CORE_TRACE
#define PB_CORE_TRACE(firmware, name, object, first, second)                                                 \
	do {                                                                                                 \
		if (false)                                                                                   \
			pb_core_trace_write(firmware, object, first, second);                                \
	} while (false)
#undef PB_CORE_TRACE_QUEUE_BY
#define PB_CORE_TRACE_QUEUE_BY(write, firmware, name, queue, first, second)                                  \
	do {                                                                                                 \
		if (false)                                                                                   \
			write(firmware, pb_core_trace_queue(firmware, queue), first, second);                \
	} while (false)

#endif
