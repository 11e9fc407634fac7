/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Events of guests in a trace: how a file has them, and when they were on the
 * clock of the records.
 */
#ifndef PB_HOST_TOOL_TRACE_GUEST_H
#define PB_HOST_TOOL_TRACE_GUEST_H

#include "host/tool/trace_timeline.h"

/** Words of an event in a file, and the first of those that have the task's name. */
#define PB_TRACE_GUEST_WORDS 17u
#define PB_TRACE_GUEST_COMM  13u

/** Adds events as they are in a file. @param host of a host, not of a guest @return NULL, or the error */
const char *pb_trace_guest_add(struct pb_trace_data *data, bool host, const uint32_t *words, uint32_t count);
/**
 * Finds the times of guests' events by the card's clock, leaves out what is outside the recording, and sorts all.
 * Pre: all records were read; hosts' events have their times.
 */
void pb_trace_guest_time(struct pb_trace_data *data);

/**
 * Finds the submission of each event, by queue and fence, and moves the events so that none is before what caused it:
 * the firmware sees a submission after the guest has submitted it, and the guest signals a fence after the firmware has
 * posted it. Events that are near on the guest's clock move together, by no more than it takes. A submission begins when
 * a host has put it, if that event is known.
 * @return false: out of memory
 */
bool pb_trace_guest_join(struct pb_trace_data *data, struct pb_timeline *timeline);

#endif
