/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the fibers of a schedule of the host library share, and the judge.
 */
#ifndef PB_TESTS_THREADS_LIBRARY_WORLD_H
#define PB_TESTS_THREADS_LIBRARY_WORLD_H

#include "patchbay/patchbay.h"
#include "tests/threads/fibers.h"

#define PB_LIBRARY_THREADS 4u
#define PB_LIBRARY_QUEUES  2u
/** Entries of a queue's ring: more than a schedule submits, so that the history holds all. */
/** Events of the host that are kept: fewer than are noted. */
#define PB_LIBRARY_NOTED   8u
#define PB_LIBRARY_ENTRIES 64u

/** What a thread did; only the thread writes it, and the judge reads it when all have returned. */
struct pb_library_thread {
	uint32_t submitted[PB_LIBRARY_QUEUES]; /**< submissions that succeeded */
	uint32_t events;                       /**< consumed */
	uint32_t failures;                     /**< events that report a failed submission */
};

/** What the interrupt routine has seen of a queue. */
struct pb_library_watch {
	uint32_t completed;
	uint64_t timeline;
	uint32_t preemptions;
};

/** One channel with its locks, and what was done to it. */
struct pb_library {
	struct pb_fiber_lock commands, kicks, events, queue[PB_LIBRARY_QUEUES], memory,
		stops[PB_LIBRARY_QUEUES], traced;
	struct pb_channel_locks locks;
	struct pb_channel channel;
	struct pb_channel admin;
	struct pb_segment system;
	struct pb_memory buffer;
	struct pb_queue queues[PB_LIBRARY_QUEUES];
	struct pb_descriptor history[PB_LIBRARY_QUEUES][PB_LIBRARY_ENTRIES];
	uint32_t context, bad_context;
	struct pb_library_thread threads[PB_FIBERS];
	struct pb_library_watch watches[PB_LIBRARY_QUEUES];
	struct pb_host_trace trace;
	struct pb_host_event noted[PB_LIBRARY_NOTED]; /**< memory of `trace` */
	bool closes; /**< the admin closes the channel during this schedule */
	const char *removed;
};

/** Names a submission: its thread, its queue, and its number among those of this thread and queue. */
uint32_t pb_library_fence_id(uint32_t thread, uint32_t queue, uint32_t number);
/** Reads events, as the interrupt routine does. */
void pb_library_read_events(uint32_t self);
/** Fails if a call has failed. */
void pb_library_must(enum pb_error error, const char *what);
/** Waits until all submissions have ended, and compares what the threads did with what the library has. */
void pb_library_judge(struct pb_library *world);

#endif
