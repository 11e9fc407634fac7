/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Which node's submission gets a job, if there are fewer jobs than nodes that
 * need one: the highest priority first, then the channel that was charged
 * least. A queue whose submission needs a job while none is free waits in its
 * turn: it keeps its node's timeslice. Whenever the engine has nothing to run
 * meanwhile, the node admits a submission of another queue that needs no job. A
 * job that is freed is granted to one of the waiting queues, and kept until
 * that is admitted from. The owner of struct pb_core_jobs and of struct
 * pb_core_asks; main loop only.
 */
#ifndef PB_FIRMWARE_PREPARE_JOBS_H
#define PB_FIRMWARE_PREPARE_JOBS_H

#include "firmware/patch/job.h"
#include "patchbay/abi/channel.h"

struct pb_firmware;
struct pb_core_node;
struct pb_core_queue;

/** What a node asks of the jobs, and has of them: a member of its record. */
struct pb_core_asks {
	const struct pb_core_queue *queue; /**< waits for a job, or was granted one; NULL: none does */
	uint32_t
		since; /**< card clock in microseconds when the queue began to wait, then when a job was granted or claimed */
	uint8_t channel; /**< of that queue */
	uint8_t rank;    /**< of that queue: its priority, or PB_PRIORITIES if that has starved */
	uint8_t filled; /**< the channel that was admitted from last while a queue waited: the others go first */
	bool granted;     /**< a free job is kept for that queue */
	uint16_t excused; /**< microseconds of the wait that channels are charged for which held jobs */
	bool revoked; /**< the node's job goes to a higher priority: its submission is to be unsubmitted */
};

/** The state of this module: which jobs of the card are free. */
struct pb_core_jobs {
	uint32_t free;   /**< mask of jobs */
	uint32_t wanted; /**< mask of nodes whose queue waits for a job, or was granted one */
	uint32_t time;   /**< account of the channel that claimed a job last, when it did */
	/** By channel: microseconds for which it has held jobs, divided by its weight. Never far from `time`. */
	uint32_t account[PB_LIMIT_CHANNELS];
	/** By priority: microseconds that others must hold jobs before this one may go before higher ones again. */
	uint32_t repay_us[PB_PRIORITIES];
	/** By priority: jobs that went to higher ones while it waited, or that were revoked for them. */
	uint8_t starvation[PB_PRIORITIES];
};

/** All jobs are free. Once, at boot. */
void pb_core_jobs_boot(struct pb_core_jobs *jobs);
/** As pb_core_jobs_has(), if jobs are short. If there is none, and the queue has the timeslice, the queue waits. */
bool pb_core_jobs_ask(struct pb_firmware *firmware, struct pb_core_node *node, struct pb_core_queue *queue);
/**
 * Finds a queue that is admitted from while the node's queue waits for a job: its next submission needs none. It goes
 * first if the engine has nothing to run, or if its priority is higher. @return NULL: there is none; else the queue is in
 * no list any more
 */
struct pb_core_queue *pb_core_jobs_fill(struct pb_firmware *firmware, struct pb_core_node *node);
/** Finds a free job. Pre: there is one. */
struct pb_core_job *pb_core_jobs_find(struct pb_firmware *firmware);
/** The node's next submission has the job from now on. Pre: the job is free. */
void pb_core_jobs_claim(struct pb_firmware *firmware, struct pb_core_node *node,
			const struct pb_core_job *job);
/** The job of the node's next submission is free again; its time is charged. Pre: the node's record shows no job any more. */
void pb_core_jobs_release(struct pb_firmware *firmware, struct pb_core_node *node,
			  const struct pb_core_job *job);
/** The node's granted job goes to another queue, if the queue to which it was granted was admitted without it. */
void pb_core_jobs_pass_on(struct pb_firmware *firmware, struct pb_core_node *node);
/** At a tick: grants that were not used expire, and free jobs are granted. */
void pb_core_jobs_tick(struct pb_firmware *firmware, const struct pb_core_node *node);
/** Whether the queue waits for a job. */
bool pb_core_jobs_awaits(const struct pb_firmware *firmware, const struct pb_core_queue *queue);

/** The staged submission was unsubmitted, or cannot be. */
static inline void pb_core_jobs_end_revocation(struct pb_core_asks *asks)
{
	asks->revoked = false;
}

/** Whether there is a job for the queue's next submission. Pre: the submission is about to be admitted. */
static inline bool pb_core_jobs_has(struct pb_firmware *firmware, const struct pb_core_jobs *jobs,
				    struct pb_core_node *node, struct pb_core_queue *queue)
{
	return (jobs->free != 0 && jobs->wanted == 0) || pb_core_jobs_ask(firmware, node, queue);
}

#endif
