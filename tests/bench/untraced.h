/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Included before each core file on the path of a submission, when these files are built once more without a
 * trace, for comparison by the bench.
 */
#ifndef PB_TESTS_BENCH_UNTRACED_H
#define PB_TESTS_BENCH_UNTRACED_H

#include "firmware/observe/trace.h"

/* Replaces the bit that enables such records. */
#define PB_CORE_TRACE_BIT_SUBMIT 0u

/* Compiles no record and no check for one. Values that only a record uses still count as used. */
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
