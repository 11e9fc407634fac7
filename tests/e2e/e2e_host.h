/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A host of the card: a context, a queue on each node, and submissions whose result shows whether they were
 * patched, run and fenced correctly. The functions report failures on standard error and also work in client
 * processes, which cannot use the test framework's assertions.
 */
#ifndef PB_TESTS_E2E_E2E_HOST_H
#define PB_TESTS_E2E_E2E_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/patchbay.h"
#include "tests/e2e/dma_builder.h"

/*
 * Every host uses these addresses: they are private to a channel. OS address and engine address of one byte
 * differ, and need more than 32 bits.
 */
#define E2E_SYSTEM_BASE 0x0000000010000000u
#define E2E_VIDEO_OS    0x0000000280000000u
#define E2E_VIDEO_GPU   0x0000000540000000u

#define E2E_SYSTEM_BYTES 0x40000u
#define E2E_VIDEO_BYTES  0x10000u
/** Segment of the targets. */
#define E2E_VIDEO 1u

#define E2E_NODES 2u
/** Descriptors in the ring of each queue. */
#define E2E_RING_ENTRIES 64u
/** Size of each target, in bytes. */
#define E2E_TARGET_BYTES 4096u

struct e2e_host {
	struct pb_link *link;
	struct pb_channel channel;
	struct pb_segment system; /**< segment 0 */
	struct pb_segment video;  /**< segment 1 */
	uint32_t context;
	struct pb_queue queues[E2E_NODES];   /**< 3D, copy */
	struct pb_dma builders[E2E_NODES];   /**< a builder for each queue */
	struct pb_memory targets[E2E_NODES]; /**< written by FILL and COPY of a round */
	uint32_t rounds;
};

/** Prints what failed. @return false */
bool e2e_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** @return whether there is no error. Prints `what` otherwise. */
bool e2e_ok(const char *what, enum pb_error error);

/** Connects and attaches, no more. */
bool e2e_host_attach(struct e2e_host *host, const char *socket);
/** As e2e_host_open(), with segment 0 in the host memory that the card's admin has granted to the channel. */
bool e2e_host_open_in_host_memory(struct e2e_host *host, const char *socket);
/** Creates segments, context, queues, targets and builders. @param system_bytes of segment 0 */
bool e2e_host_furnish(struct e2e_host *host, uint32_t system_bytes);
/** Connects, attaches and creates everything. */
bool e2e_host_open(struct e2e_host *host, const char *socket);
/** Detaches and disconnects. */
bool e2e_host_close(struct e2e_host *host);

/**
 * Fills a part of the first target on the 3D node and copies from it to the second on
 * the copy node, with patched addresses, and checks every byte of the buffers
 * and of the targets.
 */
bool e2e_host_round(struct e2e_host *host, uint32_t value);

/** Starts the builder of a node with a FILL of the node's whole target. */
void e2e_host_fill(struct e2e_host *host, uint32_t node, uint32_t value);
/** A host whose one submission crashes the firmware. The host is notified while it waits. */
void e2e_host_meets_fault(const char *socket);
/** Stores a word all over a target. */
void e2e_target_set(struct e2e_host *host, uint32_t node, uint32_t value);
/** Whether every word of a target has that value. */
bool e2e_target_is(const struct e2e_host *host, uint32_t node, uint32_t value);
/** The GPU address of a target's byte, as a patch must write it. */
uint64_t e2e_target_gpu(const struct e2e_host *host, uint32_t node, uint32_t offset);

#endif
