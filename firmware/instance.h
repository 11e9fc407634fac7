/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The whole private state of the firmware: the sum of its modules' states, and
 * of what they keep of each node and channel. Nothing here is visible to hosts.
 * A module writes its own struct only; it reads others, and calls them. A
 * .c file that needs more than its own struct includes this header; of the
 * headers only prepare/admit.h, prepare/resolve.h and queue/schedule_add.h do.
 */
#ifndef PB_FIRMWARE_INSTANCE_H
#define PB_FIRMWARE_INSTANCE_H

#include "firmware/boot.h"
#include "firmware/channel/endpoint.h"
#include "firmware/channel/event.h"
#include "firmware/channel/fence_record.h"
#include "firmware/channel/grants.h"
#include "firmware/channel/interrupt.h"
#include "firmware/channel/quota.h"
#include "firmware/channel/reply.h"
#include "firmware/command/control.h"
#include "firmware/command/doorbell.h"
#include "firmware/command/lifecycle.h"
#include "firmware/command/power.h"
#include "firmware/command/revoke.h"
#include "firmware/command/rings.h"
#include "firmware/command/stop.h"
#include "firmware/engine/complete.h"
#include "firmware/engine/feed.h"
#include "firmware/engine/node.h"
#include "firmware/engine/preempt.h"
#include "firmware/engine/progress.h"
#include "firmware/engine/recall.h"
#include "firmware/engine/retire.h"
#include "firmware/engine/watchdog.h"
#include "firmware/firmware.h"
#include "firmware/loop.h"
#include "firmware/marks.h"
#include "firmware/memory/aperture.h"
#include "firmware/memory/host.h"
#include "firmware/memory/outer.h"
#include "firmware/memory/pool.h"
#include "firmware/memory/segment.h"
#include "firmware/observe/crash.h"
#include "firmware/observe/telemetry.h"
#include "firmware/observe/trace.h"
#include "firmware/patch/format.h"
#include "firmware/patch/job.h"
#include "firmware/patch/patch.h"
#include "firmware/prepare/compare.h"
#include "firmware/prepare/jobs.h"
#include "firmware/prepare/prepare.h"
#include "firmware/prepare/staged.h"
#include "firmware/queue/context.h"
#include "firmware/queue/deadlock.h"
#include "firmware/queue/in_flight.h"
#include "firmware/queue/policy_fair.h"
#include "firmware/queue/poll.h"
#include "firmware/queue/ready.h"
#include "firmware/queue/repay.h"
#include "firmware/queue/ring.h"
#include "firmware/queue/schedule.h"
#include "firmware/queue/table.h"
#include "firmware/queue/timeslice.h"
#include "firmware/queue/wait.h"
#include "firmware/wide.h"

/** One node. Each member belongs to one module. */
struct pb_core_node {
	const struct pb_engine *engine;          /**< engine/node.c: set at boot */
	const struct pb_engine_run_ops *run;     /**< engine/node.c: the engine's; set at boot */
	void *context;                           /**< engine/node.c: their first argument; set at boot */
	uint32_t bit;                            /**< its own in masks of nodes; set at boot */
	struct pb_core_timeslice slice;          /**< queue/timeslice.c */
	struct pb_core_staged staged;            /**< prepare/staged.c */
	struct pb_core_asks asks;                /**< prepare/jobs.c */
	struct pb_core_machine machine;          /**< engine/node.c */
	struct pb_core_in_flight flight;         /**< queue/in_flight.h */
	struct pb_core_ready ready;              /**< queue/ready.c */
	struct pb_core_retirement retirement;    /**< engine/complete.c */
	struct pb_core_progress progress;        /**< engine/progress.c */
	struct pb_core_node_telemetry telemetry; /**< observe/telemetry.c */
	struct pb_core_schedule schedule;        /**< queue/schedule.c */
	uint32_t queues;                         /**< queue/table.c: how many it has */
	struct pb_core_fair fair;                /**< queue/policy_fair.c */
};

/** One channel. Each member belongs to one module. */
struct pb_core_channel {
	struct pb_core_endpoint endpoint;       /**< channel/endpoint.c */
	struct pb_core_kicks kicks;             /**< command/doorbell.c */
	struct pb_core_commands commands;       /**< command/control.c */
	struct pb_core_usage usage;             /**< queue/ring.c */
	struct pb_core_moderation moderation;   /**< channel/interrupt.c */
	struct pb_core_replies replies;         /**< channel/reply.c */
	struct pb_core_events events;           /**< channel/event.c */
	struct pb_core_grants grants;           /**< channel/grants.h */
	struct pb_core_quota quota;             /**< channel/quota.c */
	struct pb_core_closing closing;         /**< command/lifecycle.c */
	struct pb_core_checks checks;           /**< queue/wait.c */
	struct pb_core_deadlock search;         /**< queue/deadlock.c */
	struct pb_core_channel_formats formats; /**< patch/format.c */
	struct pb_core_channel_memory memory;   /**< memory/segment.c */
};

/** The firmware. What is small comes first, then channels: instructions reach all of that with a short offset. */
struct pb_firmware {
	const struct pb_firmware_config *config;  /**< the board's; set at boot */
	const struct pb_lines *lines;             /**< the board's; set at boot */
	const struct pb_lines_ops *lines_ops;     /**< their operations; set at boot */
	void *lines_context;                      /**< the first argument of those; set at boot */
	const uint32_t *clock;                    /**< the board's; set at boot */
	struct pb_core_boot boot;                 /**< boot.c */
	struct pb_core_loop loop;                 /**< loop.c */
	struct pb_core_marks marks;               /**< marks.h */
	struct pb_core_trace trace;               /**< observe/trace.c */
	struct pb_core_table table;               /**< queue/table.c */
	struct pb_core_holds holds;               /**< queue/schedule.c */
	struct pb_core_power power;               /**< command/power.c */
	struct pb_core_segment_memo segment_memo; /**< memory/segment.c */
	struct pb_core_contexts contexts;         /**< queue/context.c */
	uint32_t moderated;   /**< channel/interrupt.c: mask of channels whose completions are held back */
	uint32_t moderations; /**< channel/interrupt.c: mask of channels whose completions may be held back */
	uint32_t event_drops; /**< channel/event.c: events that found no room, since boot */
	struct pb_core_endpoint_counts endpoint_counts; /**< channel/endpoint.c */
	struct pb_core_telemetry telemetry;             /**< observe/telemetry.c */
	struct pb_core_wakes wakes;                     /**< queue/wait.c */
	struct pb_core_jobs jobs;                       /**< prepare/jobs.c */
	struct pb_core_quotas quotas;                   /**< channel/quota.c */
	struct pb_core_stops stops;                     /**< command/stop.c */
	struct pb_core_notes notes;                     /**< observe/crash.c */
	struct pb_core_node
		*node_at[PB_LIMIT_NODES]; /**< `nodes`: an address takes no multiplication; set at boot */
	/** In front of what is large: one load of a Cortex-M reaches a member from the address of its number. */
	struct pb_core_channel channels[PB_LIMIT_CHANNELS];
	struct pb_core_node nodes[PB_LIMIT_NODES];
	struct pb_core_pool pool;                  /**< memory/pool.c */
	struct pb_core_segments segments;          /**< memory/segment.c */
	struct pb_core_host host;                  /**< memory/host.c */
	struct pb_core_outer outer;                /**< memory/outer.c */
	struct pb_core_revocation revocation;      /**< command/revoke.c */
	struct pb_core_formats formats;            /**< patch/format.c */
	struct pb_core_patched_set patched;        /**< prepare/compare.c */
	struct pb_core_job job[PB_LIMIT_JOBS];     /**< prepare/jobs.c */
	uint32_t context_words[PB_LIMIT_CONTEXTS]; /**< of `contexts` */
};

/** Address of an offset in card memory. */
static inline void *pb_core_at(const struct pb_firmware *firmware, uint32_t offset)
{
	return firmware->config->memory + offset;
}

/** Bytes of the board's window on host memory; 0: it has none. */
static inline uint32_t pb_core_host_window_bytes(const struct pb_firmware *firmware)
{
	return firmware->config->host != NULL ? firmware->config->host->bytes : 0;
}

/** Bytes of card memory outside of the MCU's window; 0: there is none. */
static inline uint32_t pb_core_outer_bytes(const struct pb_firmware *firmware)
{
	return firmware->config->outer != NULL ? firmware->config->outer->bytes : 0;
}

/** The node of a queue. */
static inline struct pb_core_node *pb_core_node_of(const struct pb_firmware *firmware,
						   const struct pb_core_queue *queue)
{
	return firmware->node_at[pb_core_queue_node(queue)];
}

/** The card's clock: microseconds, modulo 2^32. */
static inline uint32_t pb_core_clock(const struct pb_firmware *firmware)
{
	return pb_shared_read32(firmware->clock);
}

/** Publishes which step the main loop is in. */
static inline void pb_core_waypoint(struct pb_firmware *firmware, enum pb_waypoint waypoint)
{
	pb_shared_write32(&firmware->boot.block->waypoint, waypoint);
}

#endif
