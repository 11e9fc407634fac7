/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Declarations that the files of the replay as a WDDM kernel share. Functions
 * that return false have recorded the failure.
 */
#ifndef PB_HOST_TOOL_REPLAY_WDDM_STATE_H
#define PB_HOST_TOOL_REPLAY_WDDM_STATE_H

#include "host/tool/replay_run.h"
#include "host/tool/wddm_os.h"

/** Segment of the target objects: OS and GPU addresses are equal; no memory is behind them. */
#define PB_REPLAY_WDDM_TARGETS 1u

/** One submission on its way through the kernel. */
struct pb_replay_wddm_job {
	struct pb_replay_job replay;
	struct pb_os_packet packet;
	struct pb_wddm_allocation *objects;  /**< by AllocationIndex */
	struct pb_dxgk_allocationlist *list; /**< as last given to Patch */
	uint8_t *private_data;
	uint64_t below; /**< how far below their places the objects are now */
	bool running;   /**< the packet has not left */
	bool repeats;   /**< it runs as it is: Patch is left out */
};

struct pb_replay_wddm {
	struct pb_replay_run run;
	struct pb_segment system;
	struct pb_segment targets;
	struct pb_os os;
	struct pb_wddm_context context;
	uint64_t staging[8];               /**< of the context; no Render uses it */
	uint32_t private_bytes;            /**< private data of a DMA buffer */
	uint64_t largest;                  /**< bytes of the largest DMA buffer of the file */
	uint32_t objects;                  /**< entries of its longest allocation list */
	uint32_t relocations;              /**< entries of its longest patch list */
	struct pb_replay_wddm_job jobs[2]; /**< one submitted, one in preparation */
};

/** Records a failure of the kernel. @return false */
bool pb_replay_wddm_fail_os(struct pb_replay_wddm *replay);

/** Returns what the kernel calls. */
struct pb_os_client pb_replay_wddm_client(void);
/** Replays the whole file. Failures are in replay->result. */
void pb_replay_wddm_all(struct pb_replay_wddm *replay);
/** Frees the host's memory of a job, but not its submission. */
void pb_replay_wddm_clear(struct pb_replay_wddm_job *job);

#endif
