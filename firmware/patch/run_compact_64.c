/* SPDX-License-Identifier: MIT */
/* The run of ADDRESS64 in the compact list, apart from the others, so that a CPU may have its own. */
#include "firmware/patch/run_compact.h"

#define RUN(name, ...) return pb_core_short_loop(cursor, PB_CORE_FAST(name, __VA_ARGS__));

enum pb_core_run pb_core_run_compact_64(struct pb_core_cursor *cursor)
{
	PB_CORE_RUN_64(RUN)
}
