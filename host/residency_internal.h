/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Functions of placement (host/residency.c) that submission (host/residency_submit.c) uses.
 */
#ifndef PB_HOST_RESIDENCY_INTERNAL_H
#define PB_HOST_RESIDENCY_INTERNAL_H

#include "patchbay/residency.h"

/** Returns the allocation of a handle; NULL: there is none. */
struct pb_residency_allocation *pb_residency_at(const struct pb_residency *manager, uint32_t handle);
/**
 * Makes an allocation resident and holds it there until pb_residency_release(). Transfers may still stand in the paging
 * buffer. Blocks while memory has to be freed.
 * @retval PB_ERROR_NO_SPACE the allocations held leave no room
 */
enum pb_error pb_residency_hold(struct pb_residency *manager, struct pb_residency_allocation *allocation);
/** Begins a new part: no allocation is held any more. */
void pb_residency_release(struct pb_residency *manager);
/** Evicts all allocations, for a command that needs contiguous room. Blocks. */
enum pb_error pb_residency_empty(struct pb_residency *manager);
/** Submits the paging buffer, if it holds packets, and waits for its fence. Returns its status. */
enum pb_error pb_residency_flush(struct pb_residency *manager);
/** Waits until a queue's timeline has reached a value. @param queue index in setup.queues */
enum pb_error pb_residency_await(struct pb_residency *manager, uint32_t queue, uint64_t timeline);

#endif
