/* SPDX-License-Identifier: MIT */
#include "firmware/firmware.h"

#include <string.h>

#include "firmware/core.h"
#include "hal/bits.h"

PB_STATIC_ASSERT(sizeof(struct pb_core_queue) <= PB_FIRMWARE_QUEUE_BYTES,
		 "what a board reserves for a queue");
PB_STATIC_ASSERT(PB_CORE_WORKS <= PB_ENGINE_SLOTS, "the engine's ring holds what is in flight");
PB_STATIC_ASSERT(PB_LIMIT_SEGMENTS <= PB_ENGINE_RANGES, "every segment has its range");
PB_STATIC_ASSERT(PB_LIMIT_SEGMENTS_TOTAL % 32u == 0 && PB_LIMIT_SEGMENTS_TOTAL < 256u,
		 "places in whole words, each of them in a byte");
PB_STATIC_ASSERT(PB_LIMIT_STOPS >= PB_LIMIT_CHANNELS, "one is kept for each channel");
PB_STATIC_ASSERT(PB_LIMIT_CONTEXTS % PB_SLICE_CONTEXTS == 0, "a channel closes in whole slices");
PB_STATIC_ASSERT(PB_LIMIT_CHANNELS <= 16u, "every channel has its line");

/* What limits.h asks of a board's own limits. */
#define POWER_OF_TWO(limit) PB_STATIC_ASSERT((limit) != 0 && ((limit) & ((limit)-1u)) == 0, #limit)
POWER_OF_TWO(PB_LIMIT_QUEUES);
POWER_OF_TWO(PB_LIMIT_ALLOCATIONS);
POWER_OF_TWO(PB_LIMIT_RING_MIN);
POWER_OF_TWO(PB_LIMIT_RING_MAX);
POWER_OF_TWO(PB_LIMIT_WAKES);
POWER_OF_TWO(PB_LIMIT_IN_FLIGHT + 1u);
POWER_OF_TWO(PB_LIMIT_CONTROL_ENTRIES);
POWER_OF_TWO(PB_LIMIT_KICK_ENTRIES);
POWER_OF_TWO(PB_LIMIT_EVENT_ENTRIES);
POWER_OF_TWO(PB_LIMIT_PATCHED);
PB_STATIC_ASSERT(PB_LIMIT_QUEUES % PB_SLICE_LOOKS == 0, "queues are looked through in whole slices");
PB_STATIC_ASSERT(PB_LIMIT_RING_MAX <= 256u, "a ring's mask is a byte");
PB_STATIC_ASSERT(PB_LIMIT_FORMATS_TOTAL < 256u, "a format's place is a byte");
PB_STATIC_ASSERT(PB_LIMIT_PATCHED >= 2u, "a hash has a bit at least");
PB_STATIC_ASSERT(PB_DEFAULT_IN_FLIGHT <= PB_LIMIT_IN_FLIGHT, "a node may have what it begins with");

/** Lines, and bits of channels_again. */
#define EVERY_CHANNEL ((1u << PB_LIMIT_CHANNELS) - 1u)
PB_STATIC_ASSERT(PB_LINE_CHANNEL(0) == 0 && (EVERY_CHANNEL & ~PB_LINES_CHANNELS) == 0,
		 "a channel's bit is its line");

static struct pb_firmware the_firmware;

struct pb_firmware *pb_firmware_instance(void)
{
	return &the_firmware;
}

uint32_t pb_firmware_bytes(void)
{
	return sizeof(struct pb_firmware);
}

static void take_memory(struct pb_firmware *firmware, const struct pb_firmware_config *config)
{
	memset(firmware, 0, sizeof(*firmware));
	firmware->config = config;
	firmware->boot = pb_core_at(firmware, PB_BOOT_OFFSET);
	firmware->clock = config->clock;
	pb_core_crash_of(firmware);
}

void pb_firmware_refuse(struct pb_firmware *firmware, const struct pb_firmware_config *config,
			const struct pb_fatal_record *record)
{
	take_memory(firmware, config);
	pb_core_boot_publish(firmware);
	pb_firmware_fatal(&(struct pb_fault){.record = *record});
}

void pb_firmware_init(struct pb_firmware *firmware, const struct pb_firmware_config *config)
{
	take_memory(firmware, config);
	PB_ASSERT(config->node_count >= 1u && config->node_count <= PB_LIMIT_NODES);
	firmware->lines = config->lines;
	firmware->booting = 1u << PB_LINE_TICK;
	pb_core_queue_init(firmware);
	firmware->jobs_free = (1u << PB_LIMIT_JOBS) - 1u;
	firmware->stops_free = PB_LIMIT_STOPS;
	pb_core_telemetry_init(firmware);
	pb_core_boot_publish(firmware);
	for (uint32_t n = 0; n < config->node_count; n++) {
		firmware->node_lines |= 1u << PB_LINE_NODE(n);
		firmware->nodes[n].bit = 1u << n;
		pb_core_node_init(&firmware->nodes[n], &config->engines[n]);
	}
}

/** Completions that have waited long enough for others interrupt the host. */
static __attribute__((noinline)) void report_moderated(struct pb_firmware *firmware)
{
	const uint32_t clock = pb_shared_read32(firmware->clock);

	for (uint32_t left = firmware->moderated; left != 0; left &= left - 1u) {
		const uint32_t c = pb_bits_lowest(left);
		struct pb_core_channel *channel = &firmware->channels[c];

		if (clock - channel->unreported_since >= channel->moderate_microseconds)
			pb_core_report(firmware, c);
	}
}

static void tick(struct pb_firmware *firmware)
{
	uint32_t n = 0;

	do
		pb_core_node_check(firmware, &firmware->nodes[n]);
	while (++n < firmware->config->node_count);
	if (firmware->moderated != 0)
		report_moderated(firmware);
	/* A doorbell that was lost is found here. */
	pb_core_waypoint(firmware, PB_WAYPOINT_TICK);
	PB_CORE_TRACE(firmware, TICK, PB_TRACE_NONE, 0, 0);
	pb_core_telemetry_tick(firmware);
	firmware->channels_again = EVERY_CHANNEL;
}

static void look_at_channels(struct pb_firmware *firmware, uint32_t channels)
{
	while (channels != 0) {
		uint32_t channel = pb_bits_lowest(channels);

		channels &= channels - 1u;
		if (pb_core_doorbell(firmware, channel))
			firmware->channels_again |= 1u << channel;
	}
}

/** One slice of a channel that closes, or of a segment that is made. The channels take turns. */
static __attribute__((noinline)) void do_chore(struct pb_firmware *firmware)
{
	const uint32_t next = firmware->chores & ~((2u << firmware->chore_turn) - 1u);
	const uint32_t channel = pb_bits_lowest(next != 0 ? next : firmware->chores);

	firmware->chore_turn = channel;
	pb_core_waypoint(firmware, PB_WAYPOINT_CONTROL);
	if (firmware->channels[channel].state >= PB_CORE_CHANNEL_CLOSING_QUEUES)
		pb_core_channel_step(firmware, channel);
	else
		pb_core_segment_step(firmware, channel);
	firmware->channels_again |= firmware->chores;
}

static void move_job(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_core_job *job = node->job;

	if (job->state == PB_CORE_JOB_RESOLVE) {
		pb_core_waypoint(firmware, PB_WAYPOINT_RESOLVE);
		pb_core_resolve(firmware, job);
	} else if (job->state == PB_CORE_JOB_COMPARE) {
		pb_core_compare(firmware, job);
	} else {
		pb_core_waypoint(firmware, PB_WAYPOINT_PATCH);
		pb_core_patch(firmware, job);
	}
	if (job->state != PB_CORE_JOB_READY)
		return;
	PB_CORE_TRACE_QUEUE(firmware, PATCHED, job->work->queue, job->work->fence_id, job->work->status);
	pb_core_job_release(firmware, node);
	node->next = PB_CORE_NEXT_PREPARED;
}

/** A more urgent queue is ready than that of the next work: that goes back. */
static __attribute__((noinline)) void make_way(struct pb_firmware *firmware, struct pb_core_node *node)
{
	const struct pb_core_work *next = pb_core_work_at(node, node->fed + 1u);
	struct pb_core_queue *queue = next->queue;

	if (next->guarded || next->status != PB_ERROR_OK || node->levels >> pb_core_queue_level(queue) <= 1u)
		return;
	pb_core_drop_next(firmware, node);
	pb_core_schedule_return(firmware, queue);
}

/** A queue that waits may have closed a cycle. */
static __attribute__((noinline)) void walk(struct pb_firmware *firmware, struct pb_core_node *node)
{
	struct pb_core_queue *walker = node->walker;

	if (pb_core_wait_walk(firmware, node) != PB_CORE_WALK_CYCLE)
		return;
	if (!pb_core_admit(firmware, node, walker, PB_ERROR_DEADLOCK)) {
		pb_core_schedule_add(firmware, walker); /* no job is free: it waits, and walks, again */
		return;
	}
	if (pb_core_queue_has_more(walker))
		pb_core_schedule_add(firmware, walker); /* it was in no list */
}

/** Moves on what a node has begun. */
static __attribute__((noinline)) void go_on(struct pb_firmware *firmware, struct pb_core_node *node)
{
	if (node->levels != 0 && node->next != PB_CORE_NEXT_WALK)
		make_way(firmware, node);
	if (node->next == PB_CORE_NEXT_JOB) {
		/* A line that is raised before the slice goes first, but not twice in a row: the job gets on. */
		node->yielded = !node->yielded && pb_lines_waiting(firmware->lines->pending);
		if (!node->yielded)
			move_job(firmware, node);
	} else if (node->next == PB_CORE_NEXT_WALK) {
		walk(firmware, node);
	}
	/* Also what has just become so: its context may have been lost meanwhile. */
	if (node->next == PB_CORE_NEXT_PREPARED)
		pb_core_cancel_if_lost(firmware, pb_core_work_at(node, node->fed + 1u));
}

/** Moves a node's next submission on by one slice. @return true: there is more to do now */
static __attribute__((noinline)) bool run_node(struct pb_firmware *firmware, struct pb_core_node *node)
{
	if (node->next != PB_CORE_NEXT_NONE) {
		go_on(firmware, node);
	} else {
		struct pb_core_queue *queue = pb_core_schedule_take(firmware, node);

		if (queue == NULL) {
			node->lapsed = true;
			return node->state == PB_NODE_STATE_DEAD && pb_core_node_fail_next(firmware, node);
		}
		pb_core_waypoint(firmware, PB_WAYPOINT_ADMIT);
		if (!pb_core_admit(firmware, node, queue, PB_ERROR_OK))
			return false;
	}
	if (node->next != PB_CORE_NEXT_PREPARED)
		return true;
	if (node->state != PB_NODE_STATE_RUNNING)
		/* Else its engine's answer wakes the node. */
		return node->state == PB_NODE_STATE_DEAD && pb_core_node_fail_next(firmware, node);
	if (node->fed - node->retired >= node->depth) {
		pb_core_feed_urgent(firmware, node);
		return false; /* retire, or an answer, makes room and wakes the node */
	}
	pb_core_waypoint(firmware, PB_WAYPOINT_FEED);
	pb_core_feed(firmware, node);
	return node->next != PB_CORE_NEXT_PREPARED;
}

/** Each node that has something to do has a slice, until a line is raised; then the next one is first in the next pass. */
static inline void run_nodes(struct pb_firmware *firmware)
{
	uint32_t left = firmware->awake;

	if (firmware->first_node != 0 && left >> firmware->first_node != 0)
		left &= ~((1u << firmware->first_node) - 1u);
	for (; left != 0; left &= left - 1u) {
		const uint32_t n = pb_bits_lowest(left);

		firmware->awake &= ~(1u << n);
		if (!run_node(firmware, &firmware->nodes[n]))
			continue;
		firmware->awake |= 1u << n;
		if (pb_lines_waiting(firmware->lines->pending)) {
			firmware->first_node = n + 1u;
			return;
		}
	}
	firmware->first_node = 0;
}

/** Channels that are not done took a slice of time. But the nodes are left out in every other pass only. */
static __attribute__((noinline)) bool nodes_wait(struct pb_firmware *firmware)
{
	firmware->nodes_waited = !firmware->nodes_waited;
	return firmware->nodes_waited;
}

/** Booting, or a tick, which finds what any other line could tell. @return whether there is more to do */
static __attribute__((noinline)) bool pass_apart(struct pb_firmware *firmware)
{
	if (firmware->booting == 0) {
		tick(firmware);
		return true;
	}
	pb_core_boot_continue(firmware);
	return firmware->stage == PB_BOOT_STAGE_RUNNING;
}

/** What few passes have to do, beside channels and nodes. @return true: that was enough for one pass */
static __attribute__((noinline)) bool do_duties(struct pb_firmware *firmware, bool looked)
{
	bool enough = firmware->suspend_owed && pb_core_card_progress(firmware);

	if (firmware->wakes_pending != 0)
		pb_core_wait_step(firmware);
	if (looked && firmware->chores != 0)
		do_chore(firmware);
	return (firmware->channels_again != 0 && nodes_wait(firmware)) || enough;
}

bool pb_firmware_pass(struct pb_firmware *firmware)
{
	const struct pb_lines *lines = firmware->lines;
	const uint32_t raised = lines->ops->take(lines->context);
	uint32_t channels;

	pb_shared_write32(&firmware->boot->heartbeat, ++firmware->heartbeat);
	if (((raised | firmware->booting) & 1u << PB_LINE_TICK) != 0)
		return pass_apart(firmware);
	for (uint32_t left = raised & firmware->node_lines; left != 0; left &= left - 1u)
		pb_core_retire(firmware, &firmware->nodes[pb_bits_lowest(left) - PB_LINE_NODE(0)]);
	channels = (raised & EVERY_CHANNEL) | firmware->channels_again;
	if (channels != 0) {
		firmware->channels_again = 0;
		look_at_channels(firmware, channels);
	}
	if ((firmware->channels_again | firmware->chores | firmware->wakes_pending |
	     firmware->suspend_owed) != 0 &&
	    do_duties(firmware, channels != 0))
		return true;
	if (firmware->awake != 0)
		run_nodes(firmware);
	return (firmware->awake | firmware->channels_again | firmware->wakes_pending) != 0;
}

static bool host_waits(struct pb_firmware *firmware)
{
	if (firmware->stage != PB_BOOT_STAGE_RUNNING)
		return false;
	for (uint32_t channel = 0; channel < PB_LIMIT_CHANNELS; channel++) {
		if (pb_core_doorbell_waiting(firmware, channel)) {
			firmware->channels_again |= 1u << channel;
			return true;
		}
	}
	return false;
}

void pb_firmware_idle(struct pb_firmware *firmware)
{
	const struct pb_lines *lines = firmware->config->lines;

	pb_core_waypoint(firmware, PB_WAYPOINT_IDLE);
	PB_CORE_TRACE(firmware, IDLE, PB_TRACE_NONE, 0, 0);
	lines->ops->idle_enter(lines->context);
	/* A host that stored before this barrier is seen below; one that stores after it rings afterwards. */
	pb_shared_barrier();
	if (!host_waits(firmware))
		lines->ops->idle_wait(lines->context);
	lines->ops->idle_leave(lines->context);
}
