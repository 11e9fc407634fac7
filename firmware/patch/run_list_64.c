/* SPDX-License-Identifier: MIT */
/* The run of ADDRESS64 in the 24-byte list, apart from the others, so that a CPU may have its own. */
#include "firmware/patch/run_list.h"

#define RUN(name, ...) return pb_core_list_loop(cursor, PB_CORE_FAST(name, __VA_ARGS__));

enum pb_core_run pb_core_run_list_64(struct pb_core_cursor *cursor)
{
	PB_CORE_RUN_64(RUN)
}
