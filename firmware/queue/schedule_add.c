/* SPDX-License-Identifier: MIT */
#include "firmware/queue/schedule_add.h"

void pb_core_schedule_add(struct pb_firmware *firmware, struct pb_core_queue *queue)
{
	pb_core_schedule_add_inline(firmware, queue);
}
