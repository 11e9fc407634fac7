/* SPDX-License-Identifier: MIT */
/**
 * @file
 * SUSPEND and RESUME of the whole card: nothing is admitted any more, the
 * engines run dry or are stopped, and all queues stay as they are. The owner of
 * struct pb_core_power and of PB_CORE_MARK_POWER; main loop only.
 */
#ifndef PB_FIRMWARE_COMMAND_POWER_H
#define PB_FIRMWARE_COMMAND_POWER_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/abi/errors.h"

struct pb_firmware;

/** The state of this module. */
struct pb_core_power {
	uint32_t at; /**< while the reply is pending, and nothing runs: the next queue to have patched anew */
	uint32_t tag; /**< of the SUSPEND whose reply is pending */
};

/** Begins to suspend the card. The admin's reply is deferred. @param flags PB_STOP_* */
void pb_core_power_suspend(struct pb_firmware *firmware, uint32_t tag, uint32_t flags);
/** While the reply is pending: sends it when nothing runs and all queues know. @return whether there is more to do now */
bool pb_core_power_step(struct pb_firmware *firmware);
/** Resumes the card. @return OK, or BUSY while the reply to SUSPEND is pending */
enum pb_error pb_core_power_resume(struct pb_firmware *firmware);
/** The admin's channel closes: a SUSPEND of the card whose reply is pending is dropped, and a suspended card resumes. */
void pb_core_power_abandon(struct pb_firmware *firmware);

#endif
