/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The patch step: carries out the patch list of a job. This module has no
 * state of its own; main loop only.
 */
#ifndef PB_FIRMWARE_PATCH_PATCH_H
#define PB_FIRMWARE_PATCH_PATCH_H

#include "patchbay/abi/errors.h"

struct pb_firmware;
struct pb_core_job;

/**
 * Carries out slices of the job's patch list, until it ends, an entry is wrong, a line is pending, or the other nodes
 * have waited long enough. The job is READY at the end of the list.
 * @return what is wrong with the entry at job->list_index
 */
enum pb_error pb_core_patch(struct pb_firmware *firmware, struct pb_core_job *job);

#endif
