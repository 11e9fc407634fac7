/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What placing (host/residency.c) gives to submitting (host/residency_submit.c).
 */
#ifndef PB_HOST_RESIDENCY_INTERNAL_H
#define PB_HOST_RESIDENCY_INTERNAL_H

#include "host/residency.h"

/** @return NULL: no such allocation */
struct pb_residency_allocation *pb_residency_at(const struct pb_residency *manager, uint32_t handle);
/**
 * Makes an allocation resident, and keeps it so until the next part begins. The transfers are in the paging buffer.
 * @retval PB_ERROR_NO_SPACE what is kept leaves no room
 */
enum pb_error pb_residency_hold(struct pb_residency *manager, struct pb_residency_allocation *allocation);
/** Begins a part: nothing is kept. */
void pb_residency_release(struct pb_residency *manager);
/** Pages everything out, for a part that needs all the room in one piece. */
enum pb_error pb_residency_empty(struct pb_residency *manager);
/** Submits what is in the paging buffer and waits for it. */
enum pb_error pb_residency_flush(struct pb_residency *manager);
/** Waits until a queue's timeline has reached a value. */
enum pb_error pb_residency_await(struct pb_residency *manager, uint32_t queue, uint64_t timeline);

#endif
