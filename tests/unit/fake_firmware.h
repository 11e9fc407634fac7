/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A scripted firmware on a plain block of memory, for tests of the host
 * library. It speaks the ABI, runs only while the host waits on its link, on
 * virtual time, and lets a test tamper with what it writes.
 */
#ifndef PB_TESTS_UNIT_FAKE_FIRMWARE_H
#define PB_TESTS_UNIT_FAKE_FIRMWARE_H

#include "patchbay/patchbay.h"

#define FAKE_BYTES             0x20000u
#define FAKE_CAPABILITY_OFFSET 0x400u
#define FAKE_DIRECTORY_OFFSET  0x1000u
#define FAKE_CHANNELS          4u
#define FAKE_CHANNEL           2u
#define FAKE_CONTROL_OFFSET    0x2000u
#define FAKE_REPLY_OFFSET      0x2400u
#define FAKE_KICK_OFFSET       0x2800u
#define FAKE_EVENT_OFFSET      0x2900u
#define FAKE_CONTROL_ENTRIES   8u
#define FAKE_KICK_ENTRIES      4u
#define FAKE_EVENT_ENTRIES     8u
#define FAKE_POOL_OFFSET       0x4000u
#define FAKE_INCARNATION       7u
#define FAKE_QUEUES            4u
/** Where the tests' segment 0 starts for the OS. */
#define FAKE_OS_BASE 0x140000000u
/** What time a pass of the fake that had something to do takes. */
#define FAKE_PASS_US 10u

/** When a test may tamper. */
enum fake_moment {
	FAKE_WAIT,      /**< the host has begun to wait; nothing is served yet */
	FAKE_ATTACHED,  /**< an attach or detach is answered in the entry, but attach_done not stored */
	FAKE_REPLY,     /**< the reply in hand is made, but not in the ring */
	FAKE_COMPLETED, /**< a submission was completed in its record */
};

struct fake_firmware {
	struct pb_link link;
	uint64_t now;
	uint32_t doorbells;
	uint32_t waits;
	void (*tamper)(struct fake_firmware *fake, enum fake_moment moment);
	bool stalled;           /**< serves nothing at all */
	bool gone;              /**< the link answers NO_CARD */
	uint32_t refusals;      /**< attaches still to be refused with BAD_ARGUMENT */
	uint32_t work_limit;    /**< submissions it may still complete */
	uint32_t reply_copies;  /**< how often each reply goes into the ring; 0: kept back */
	struct pb_reply reply;  /**< the one in hand */
	uint32_t violations;    /**< rules of the ABI that the host broke */
	uint32_t segment_bytes; /**< of the pool, given away */
	uint64_t os_base;       /**< of segment 0 */
	uint32_t system;        /**< offset of its backing */
	struct {
		uint32_t handle;
		uint32_t page; /**< offset of its queue page in the memory; 0: no queue */
		uint32_t entries;
		uint32_t get;
		uint32_t node;
		uint32_t priority;
	} queues[FAKE_QUEUES];
	uint32_t rescan;
	uint32_t kicked;                                 /**< a bit for every queue that is to be looked at */
	uint32_t stopped;                                /**< a bit for every queue whose work is kept back */
	uint32_t last_command[PB_COMMAND_ARGUMENTS + 2]; /**< as it stood in the ring */
	bool defer;                                      /**< replies are put aside, for fake_answer */
	uint32_t deferred_count;
	struct pb_reply deferred[FAKE_CONTROL_ENTRIES];
};

/** Boots. The memory is a heap block of exactly FAKE_BYTES, so that the sanitizer sees what lies outside. */
void fake_start(struct fake_firmware *fake);
/** The same in the memory that it has. */
void fake_start_again(struct fake_firmware *fake);
void fake_stop(struct fake_firmware *fake);
/** A word of card memory. */
uint32_t *fake_word(const struct fake_firmware *fake, uint32_t offset);
struct pb_boot_block *fake_boot(const struct fake_firmware *fake);
struct pb_channel_entry *fake_entry(const struct fake_firmware *fake);
struct pb_queue_page *fake_page(const struct fake_firmware *fake, uint32_t queue);
/** Puts an event into the ring. */
void fake_event(struct fake_firmware *fake, uint32_t type, uint32_t epoch);
/** Puts a reply into the ring that was put aside: the one of that number. */
void fake_answer(struct fake_firmware *fake, uint32_t deferred);
/** Completes what a queue has submitted, as far as the work limit goes. @return whether there was any */
bool fake_serve_queue(struct fake_firmware *fake, uint32_t index);
/** Writes a fence record anew: its consumer index, and of `work`, if not NULL, what it says of the last completed. */
void fake_complete(struct pb_fence_record *fence, const struct pb_descriptor *work, uint32_t completed);
/** Carries out PREEMPT, SUSPEND, RESUME, RESET or QUERY; the reply is in hand. Others: nothing (fake_schedule.c). */
void fake_schedule(struct fake_firmware *fake, const struct pb_command *command);
/** Serves everything that the host asked for. @return false: nothing was asked */
bool fake_serve(struct fake_firmware *fake);
/*
 * What may happen to the fake, for tables. Names say what; die: the supervisor reports it dead; fail: it reports itself
 * dead; restart: the supervisor starts it again.
 */
void fake_nothing(struct fake_firmware *fake);
void fake_die(struct fake_firmware *fake);
void fake_restart(struct fake_firmware *fake);
void fake_fail(struct fake_firmware *fake);
void fake_reboot(struct fake_firmware *fake);
void fake_close_channel(struct fake_firmware *fake);
void fake_fault_channel(struct fake_firmware *fake);
void fake_unplug(struct fake_firmware *fake);
/** A row of a table: what happens to the fake during an operation of the host, and what the operation returns. */
struct fake_case {
	const char *name;
	void (*happens)(struct fake_firmware *fake);
	enum pb_error expected;
};

/** Attaches a channel within a second and makes segment 0 with 16 pages; all must succeed. */
void fake_open(struct fake_firmware *fake, struct pb_channel *channel, struct pb_segment *system);

/** A fake with an open channel, segment 0 and a queue of 8 on node 1. */
struct fake_bench {
	struct fake_firmware fake;
	struct pb_channel channel;
	struct pb_segment system;
	struct pb_queue queue;
};

void fake_bench_start(struct fake_bench *bench);
/**
 * Sets all indices of the bench's queue as after 2^32 - 3 submissions: the third one from there wraps.
 * Pre: nothing was submitted.
 */
void fake_bench_age(struct fake_bench *bench);
/** The host must have broken no rule. */
void fake_bench_stop(struct fake_bench *bench);
/** Record of the bench's queue. */
struct pb_fence_record *fake_record(const struct fake_bench *bench);
/** Submits something with 3 patch locations. */
enum pb_error fake_submit(struct fake_bench *bench, uint32_t fence_id);

#endif
