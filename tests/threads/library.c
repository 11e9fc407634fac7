/* SPDX-License-Identifier: MIT */
/*
 * Four threads and an interrupt routine use one channel with two queues, as include/patchbay/lock.h allows: each makes
 * calls that the seed chooses. The judge compares what they got with what they did.
 */
#include "tests/threads/library.h"

#include <string.h>

#include "hal/engine/packets.h"
#include "tests/threads/card.h"
#include "tests/threads/library_world.h"

#define CALLS        7u /**< of a thread */
#define SYSTEM_BYTES 0x40000u
#define SYSTEM_OS    UINT64_C(0x10000000)
#define SYSTEM_GPU   UINT64_C(0x40000000)
#define PATIENCE_US  1000000u
#define BUSY_MICROS  80u
#define BUFFER_BYTES 4096u
#define LISTS_AT     2048u
#define PATCHES_AT   2112u
#define BUSY_BYTES   (PB_PACKET_BUSY_WORDS * 4u)
#define BLOCK_BYTES  256u

static struct pb_library world;

/** Locks by name: the planted faults. */
static const struct pb_fiber_lock_row locks[] = {
	{"commands", &world.commands, PB_FIBER_SHORT}, {"kicks", &world.kicks, PB_FIBER_SHORT},
	{"events", &world.events, PB_FIBER_SHORT},     {"queue", &world.queue[0], PB_FIBER_SHORT},
	{"queue", &world.queue[1], PB_FIBER_SHORT},    {"mutex", &world.memory, PB_FIBER_MUTEX},
	{"stops", &world.stops[0], PB_FIBER_MUTEX},    {"stops", &world.stops[1], PB_FIBER_MUTEX},
	{"trace", &world.traced, PB_FIBER_SHORT},
};

#define LOCKS (sizeof(locks) / sizeof(locks[0]))

bool pb_library_remove(const char *name)
{
	world.removed = name;
	return pb_fiber_locks_have(locks, LOCKS, name);
}

/** Whether a call did what it says. After the close of the channel none does. */
static bool good(enum pb_error error, const char *what)
{
	if (error == PB_ERROR_OK)
		return true;
	if (!world.closes || error != PB_ERROR_DETACHED)
		pb_fibers_fail("%s: %s", what, pb_error_name(error));
	return false;
}

/* ---- submissions ---- */

uint32_t pb_library_fence_id(uint32_t thread, uint32_t queue, uint32_t number)
{
	return 0x10000u * (thread + 1u) + 0x1000u * queue + number;
}

static void submit(uint32_t self, uint32_t q)
{
	struct pb_library_thread *thread = &world.threads[self];
	const uint32_t lists = (uint32_t)world.buffer.os_address + LISTS_AT;
	const bool bad = pb_fiber_choose(8) == 0;
	struct pb_descriptor descriptor = {
		.context = bad ? world.bad_context : world.context,
		.fence_id = pb_library_fence_id(self, q, thread->submitted[q]),
		.dma_address_low = (uint32_t)world.buffer.os_address,
		.dma_segment = PB_SEGMENT_SYSTEM,
		.dma_size = BUFFER_BYTES,
		.dma_end = pb_fiber_choose(2) * BUSY_BYTES,
		.allocation_count = bad,
		.allocation_address_low = lists,
		.patch_address_low = lists + PATCHES_AT - LISTS_AT,
		.patch_count = bad,
		.patch_length = bad,
	};

	if (bad)
		descriptor.dma_end = BUSY_BYTES;
	if (good(pb_queue_submit(&world.queues[q], &descriptor), "a submission"))
		thread->submitted[q]++;
}

static void watch_fence(uint32_t self, uint32_t q)
{
	struct pb_fence fence;
	uint32_t completed;

	(void)self;
	if (!good(pb_queue_completed(&world.queues[q], &completed), "the count of completions") ||
	    !good(pb_queue_fence(&world.queues[q], &fence), "a fence"))
		return;
	if ((int32_t)(fence.completed - completed) < 0)
		pb_fibers_fail("queue %u: %u completions after %u", q, fence.completed, completed);
}

static void wait_a_while(uint32_t self, uint32_t q)
{
	const enum pb_error error =
		pb_queue_wait(&world.queues[q], 1u + pb_fiber_choose(4), 20u * pb_fiber_choose(8), NULL);

	(void)self;
	if (error != PB_ERROR_TIMEOUT)
		(void)good(error, "a wait");
}

/* ---- control commands ---- */

static void make_context(uint32_t self, uint32_t q)
{
	uint32_t context;
	enum pb_error error;

	(void)self;
	(void)q;
	if (!good(pb_context_create(&world.channel, &context), "a context is created"))
		return;
	error = pb_context_destroy(&world.channel, context);
	if (error != PB_ERROR_BUSY) /* submissions of the channel are in flight */
		(void)good(error, "a context is destroyed");
}

static void query(uint32_t self, uint32_t q)
{
	struct pb_queue_state state;

	(void)self;
	if (good(pb_queue_query(&world.queues[q], &state), "a query") && state.node != q)
		pb_fibers_fail("queue %u is on node %u: the reply of another command", q, state.node);
}

/** Two commands at once, finished in the other order. */
static void two_commands(uint32_t self, uint32_t q)
{
	uint32_t tags[PB_LIBRARY_QUEUES], results[PB_REPLY_RESULTS];

	(void)self;
	(void)q;
	for (uint32_t i = 0; i < PB_LIBRARY_QUEUES; i++) {
		const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {PB_QUERY_QUEUE, world.queues[i].handle};

		if (!good(pb_channel_begin(&world.channel, PB_COMMAND_QUERY, arguments, &tags[i]), "a begin"))
			return;
	}
	for (uint32_t i = PB_LIBRARY_QUEUES; i-- > 0;) {
		enum pb_error error;

		while ((error = pb_channel_finish(&world.channel, tags[i], results)) == PB_ERROR_TIMEOUT)
			pb_fiber_wait();
		if (good(error, "a finish") && results[11] != i)
			pb_fibers_fail("queue %u is on node %u: the reply of another command", i,
				       results[11]);
	}
}

static void moderate(uint32_t self, uint32_t q)
{
	(void)self;
	(void)q;
	(void)good(pb_channel_moderate(&world.channel, 1u + pb_fiber_choose(3), 50), "moderation");
}

/* ---- memory ---- */

/** Memory that no other thread has meanwhile. */
static void use_memory(uint32_t self, uint32_t q)
{
	struct pb_memory memory;
	enum pb_error error;

	(void)q;
	pb_fiber_take(&world.memory);
	error = pb_memory_allocate(&world.system, BLOCK_BYTES, PB_LINE_BYTES, &memory);
	pb_fiber_give(&world.memory);
	if (error != PB_ERROR_OK)
		pb_fibers_fail("memory is allocated: %s", pb_error_name(error));
	memset(memory.bytes_host, (int)self, BLOCK_BYTES);
	pb_fiber_wait();
	for (uint32_t i = 0; i < BLOCK_BYTES; i++) {
		/* A channel that is closed loses its memory. */
		if (memory.bytes_host[i] != self && !world.closes)
			pb_fibers_fail("two threads have the same memory");
	}
	pb_fiber_take(&world.memory);
	pb_memory_free(&memory);
	pb_fiber_give(&world.memory);
}

/* ---- stops: one at a time of each queue ---- */

static void preempt(uint32_t self, uint32_t q)
{
	struct pb_queue *queue = &world.queues[q];
	struct pb_preempt result;
	enum pb_error error;

	pb_fiber_take(&world.stops[q]);
	error = pb_queue_preempt_begin(queue, self, 0);
	if (good(error, "a preemption begins")) {
		while ((error = pb_queue_preempt_finish(queue, &result)) == PB_ERROR_TIMEOUT)
			pb_fiber_wait();
		if (good(error, "a preemption") && result.preemption_id != self)
			pb_fibers_fail("queue %u: another's preemption", q);
	}
	pb_fiber_give(&world.stops[q]);
}

static void suspend(uint32_t self, uint32_t q)
{
	(void)self;
	pb_fiber_take(&world.stops[q]);
	if (good(pb_queue_suspend(&world.queues[q], pb_fiber_choose(2) ? PB_STOP_RECALL : 0), "suspension"))
		(void)good(pb_queue_resume(&world.queues[q]), "resumption");
	pb_fiber_give(&world.stops[q]);
}

static void reset(uint32_t self, uint32_t q)
{
	(void)self;
	pb_fiber_take(&world.stops[q]);
	(void)good(pb_queue_reset(&world.queues[q], NULL), "a reset");
	pb_fiber_give(&world.stops[q]);
}

static void resync(uint32_t self, uint32_t q)
{
	struct pb_queue_resync now;

	(void)self;
	pb_fiber_take(&world.stops[q]);
	(void)good(pb_queue_resync(&world.queues[q], &now), "a resync");
	pb_fiber_give(&world.stops[q]);
}

static void close_channel(uint32_t self, uint32_t q)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {world.channel.link->channel};
	struct pb_descriptor descriptor;

	if (self != 0 || !world.closes)
		return;
	if (pb_channel_command(&world.admin, PB_COMMAND_CHANNEL_CLOSE, arguments, NULL) != PB_ERROR_OK)
		pb_fibers_fail("the channel is not closed");
	/* The judge gets the rest. */
	pb_fiber_take(&world.stops[q]);
	(void)pb_queue_unfinished(&world.queues[q], &descriptor);
	pb_fiber_give(&world.stops[q]);
}

/* ---- the interrupt routine, and a thread that polls as it does ---- */

void pb_library_read_events(uint32_t self)
{
	struct pb_library_thread *thread = &world.threads[self];
	struct pb_event event;

	while (pb_channel_event(&world.channel, &event)) {
		thread->events++;
		thread->failures += event.type == PB_EVENT_SUBMISSION_FAILED;
	}
	if (pb_channel_dropped(&world.channel) != 0)
		pb_fibers_fail("events are lost");
}

static void poll_events(uint32_t self, uint32_t q)
{
	(void)q;
	pb_library_read_events(self);
}

/** The order of completions: neither the count nor the timeline goes back, and the record has the count's fence. */
static void interrupt_of_queue(uint32_t q)
{
	struct pb_queue *queue = &world.queues[q];
	struct pb_library_watch *watch = &world.watches[q];
	struct pb_preempt last;
	struct pb_fence fence;
	uint32_t completed;

	if (!good(pb_queue_completed(queue, &completed), "the count of completions") ||
	    !good(pb_queue_fence_now(queue, &fence), "the fence") ||
	    !good(pb_queue_preempted_now(queue, &last), "the preemption"))
		return;
	if ((int32_t)(completed - watch->completed) < 0 || (int32_t)(fence.completed - completed) < 0 ||
	    fence.timeline < watch->timeline || last.count < watch->preemptions)
		pb_fibers_fail("queue %u goes back", q);
	*watch = (struct pb_library_watch){fence.completed, fence.timeline, last.count};
	/* The newest fence is that of a submission before the count. */
	for (uint32_t i = fence.completed; fence.valid; i--) {
		if (i == 0)
			pb_fibers_fail("queue %u: fence 0x%x was not submitted", q, fence.fence_id);
		if (world.history[q][i - 1].fence_id == fence.fence_id)
			break;
	}
}

static void interrupt(void)
{
	while (pb_fibers_running() > 1) {
		if (pb_threads_interrupt()) {
			for (uint32_t q = 0; q < PB_LIBRARY_QUEUES; q++)
				interrupt_of_queue(q);
			pb_library_read_events(PB_FIBER_INTERRUPT);
		}
		pb_fiber_wait();
	}
}

/** Reads what the library has noted, from the oldest on. */
static void read_trace(uint32_t self, uint32_t q)
{
	struct pb_host_event events[PB_LIBRARY_NOTED / 2u];
	const uint32_t count = pb_host_trace_read(&world.trace, events, sizeof(events) / sizeof(events[0]));

	(void)self;
	(void)q;
	for (uint32_t i = 0; i < count; i++) {
		if (events[i].kind < PB_HOST_SUBMITTED || events[i].kind > PB_HOST_FRAME)
			pb_fibers_fail("an event of the host has kind %u", events[i].kind);
	}
}

static void end_frame(uint32_t self, uint32_t q)
{
	(void)self;
	(void)q;
	pb_host_trace_frame(world.channel.link);
}

/* ---- one schedule ---- */

static void (*const calls[])(uint32_t self, uint32_t q) = {
	submit,       submit,      submit,      submit,        submit,       submit,
	submit,       watch_fence, watch_fence, wait_a_while,  make_context, query,
	two_commands, use_memory,  moderate,    preempt,       preempt,      suspend,
	resync,       poll_events, reset,       close_channel, read_trace,   end_frame,
};

static void run(uint32_t self)
{
	if (self == PB_FIBER_INTERRUPT) {
		interrupt();
		return;
	}
	for (uint32_t i = 0; i < CALLS; i++) {
		const uint32_t call = pb_fiber_choose(sizeof(calls) / sizeof(calls[0]));

		calls[call](self, pb_fiber_choose(PB_LIBRARY_QUEUES));
	}
}

void pb_library_must(enum pb_error error, const char *what)
{
	if (error != PB_ERROR_OK)
		pb_fibers_fail("%s: %s", what, pb_error_name(error));
}

/** Writes a buffer that takes some time, and the lists of a submission that fails. */
static void write_buffer(void)
{
	const uint32_t busy[] = {PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS), BUSY_MICROS};
	const struct pb_allocation allocation = {
		.address_low = (uint32_t)SYSTEM_OS, .size_low = 64, .flags = PB_ALLOCATION_WRITE};
	const struct pb_patch_location patch = {.allocation_index = 7,
						.driver_id = PB_PATCH_FORMAT_ADDRESS64_WRITE};

	memcpy(world.buffer.bytes_host, busy, sizeof(busy));
	memcpy(world.buffer.bytes_host + LISTS_AT, &allocation, sizeof(allocation));
	memcpy(world.buffer.bytes_host + PATCHES_AT, &patch, sizeof(patch));
}

static void open_channel(void)
{
	const struct pb_segment_request system = {PB_SEGMENT_SYSTEM, SYSTEM_OS,    SYSTEM_GPU,
						  SYSTEM_BYTES,      SYSTEM_BYTES, PB_SEGMENT_LINEAR};

	struct pb_link *link = pb_threads_link(1, &world.locks);

	pb_library_must(pb_host_trace_begin(&world.trace, world.noted, PB_LIBRARY_NOTED, &world.traced.lock),
			"trace");
	link->trace = &world.trace;
	pb_library_must(pb_channel_attach(&world.channel, link, PATIENCE_US), "attach");
	pb_library_must(pb_segment_create(&world.system, &world.channel, &system), "segment");
	pb_library_must(pb_memory_allocate(&world.system, BUFFER_BYTES, BUFFER_BYTES, &world.buffer),
			"buffer");
	pb_library_must(pb_context_create(&world.channel, &world.context), "context");
	pb_library_must(pb_context_create(&world.channel, &world.bad_context), "context");
	for (uint32_t q = 0; q < PB_LIBRARY_QUEUES; q++) {
		const struct pb_queue_request request = {
			.node = q,
			.entries = PB_LIBRARY_ENTRIES,
			.priority = PB_PRIORITY_NORMAL,
			.history = world.history[q],
			.lock = &world.queue[q].lock,
		};

		pb_library_must(
			pb_queue_create_with(&world.queues[q], &world.channel, &world.system, &request),
			"queue");
	}
}

static void prepare(void)
{
	const char *removed = world.removed;

	memset(&world, 0, sizeof(world));
	world.removed = removed;
	pb_fiber_locks_init(locks, LOCKS, removed);
	world.locks = (struct pb_channel_locks){&world.commands.lock, &world.kicks.lock, &world.events.lock};
	pb_threads_card();
	pb_library_must(pb_channel_attach(&world.admin, pb_threads_link(PB_CHANNEL_ADMIN, NULL), PATIENCE_US),
			"admin");
	open_channel();
	write_buffer();
}

void pb_library_schedule(uint64_t seed)
{
	prepare();
	world.closes = seed % 16u == 0;
	pb_fibers_run(seed, run, pb_threads_step);
	pb_library_judge(&world);
	(void)pb_channel_detach(&world.channel);
	pb_library_must(pb_channel_detach(&world.admin), "detach of the admin");
}
