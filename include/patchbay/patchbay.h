/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The host library. This header includes all of its core:
 *
 *   patchbay/link.h     how a host reaches a card
 *   patchbay/host_trace.h  what a host did, and when
 *   patchbay/lock.h     locks, for hosts with several threads
 *   patchbay/card.h     what can be read without a command
 *   patchbay/channel.h  attach, liveness, events, control commands
 *   patchbay/segment.h  segments and their memory
 *   patchbay/queue.h    contexts, queues, submissions, fences
 *   patchbay/stop.h     preemption, suspension, reset
 *   patchbay/query.h    queries and settings
 *   patchbay/names.h    names of numbers, for people
 *
 * The caller owns all structs and keeps them at a fixed address while in use.
 * The library uses no heap and no operating system. One thread uses a channel at
 * a time, unless its link has locks. The library reads each word of shared memory
 * once, range-checks it, and reports PB_ERROR_PROTOCOL if the firmware broke the
 * contract.
 *
 * Every function that reaches the card may also return
 *   PB_ERROR_FIRMWARE_DEAD  the firmware died or was restarted (pb_channel_check() has details)
 *   PB_ERROR_NO_CARD        the link is closed for good
 *   PB_ERROR_DETACHED       the firmware closed or faulted the channel
 *   PB_ERROR_PROTOCOL       the firmware wrote values that the contract forbids
 */
#ifndef PB_HOST_PATCHBAY_H
#define PB_HOST_PATCHBAY_H

#include "patchbay/card.h"
#include "patchbay/channel.h"
#include "patchbay/host_trace.h"
#include "patchbay/link.h"
#include "patchbay/lock.h"
#include "patchbay/names.h"
#include "patchbay/query.h"
#include "patchbay/queue.h"
#include "patchbay/segment.h"
#include "patchbay/stop.h"

#endif
