/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The tracepoints of the Linux driver (host/linux/pbd_trace.h), as a guest's
 * kernel prints them: /sys/kernel/tracing/trace, or `trace-cmd report`; and events of hosts (patchbay/host_trace.h).
 */
#ifndef PB_HOST_TOOL_GUEST_TRACE_H
#define PB_HOST_TOOL_GUEST_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* X(NAME, number, text): the tracepoints, without "patchbay_"; then the events of hosts. */
#define PB_GUEST_EVENTS(X)                                                                                   \
	X(SUBMIT, 1, "submit")                                                                               \
	X(RING, 2, "ring")                                                                                   \
	X(SIGNAL, 3, "signal")                                                                               \
	X(HOST_SUBMITTED, 4, "submitted")                                                                    \
	X(HOST_INTERRUPT, 5, "interrupt")                                                                    \
	X(HOST_SEEN, 6, "seen")                                                                              \
	X(HOST_FRAME, 7, "frame")

/** Tracepoints of a guest, and events of a host. */
enum pb_guest_event_kind {
#define PB_GUEST_EVENT_ENUM(name, number, text) PB_GUEST_##name = (number),
	PB_GUEST_EVENTS(PB_GUEST_EVENT_ENUM)
#undef PB_GUEST_EVENT_ENUM
};

/** Length of a task's name with its zero, as in the kernel. */
#define PB_GUEST_COMM_BYTES 16u

/** One event. */
struct pb_guest_event {
	uint64_t nanoseconds; /**< the guest's clock; of a host its link's */
	uint64_t file;        /**< number of the DRM file; of a host its channel */
	uint64_t value;       /**< of the queue's timeline; its low half is the fence id */
	uint32_t kind;        /**< enum pb_guest_event_kind */
	uint32_t node;        /**< node of the queue */
	uint32_t queue;       /**< the firmware's handle of the queue */
	/** The card's clock (pb_boot_block.clock) as the guest has seen it; of a host pb_host_event.index. */
	uint32_t card_us;
	int32_t detail;                 /**< as host/linux/pbd_trace.h describes it; of a host the fence id */
	uint32_t pid;                   /**< of the task that ran */
	char comm[PB_GUEST_COMM_BYTES]; /**< its name, zero-terminated */
};

/** What was read. */
struct pb_guest_trace {
	struct pb_guest_event
		*events; /**< in the order of the text; heap memory, freed by pb_guest_trace_free() */
	size_t count;    /**< number of events */
	uint64_t lost;   /**< events that the guest reports as lost */
	uint32_t line;   /**< number of the last line that was read, from 1 */
};

/** Returns whether an event is a host's. */
static inline bool pb_guest_event_is_host(const struct pb_guest_event *event)
{
	return event->kind >= PB_GUEST_HOST_SUBMITTED;
}
/** Returns the SubmissionFenceId of an event. */
static inline uint32_t pb_guest_event_fence(const struct pb_guest_event *event)
{
	return pb_guest_event_is_host(event) ? (uint32_t)event->detail : (uint32_t)event->value;
}
/** Returns the name of a kind; "?": an unknown one. */
const char *pb_guest_event_name(uint32_t kind);
/**
 * Reads a guest's trace. Events of other systems are left out.
 * @param trace out: to be freed also after an error
 * @return NULL, or what is wrong with the line trace->line
 */
const char *pb_guest_trace_read(FILE *file, struct pb_guest_trace *trace);
/** Frees the events. */
void pb_guest_trace_free(struct pb_guest_trace *trace);

#endif
