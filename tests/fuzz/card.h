/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A small simulated card for fuzz targets: two nodes, a guest that the case
 * speaks for, and a witness who works on the same card and must not notice. It
 * is booted once; before each case everything is put back by copying, so that
 * no case sees what another one did.
 */
#ifndef PB_TESTS_FUZZ_CARD_H
#define PB_TESTS_FUZZ_CARD_H

#include "firmware/firmware.h"
#include "hal/engine/reference.h"
#include "hal/engine_model/state.h"
#include "hal/host/host_lines.h"
#include "patchbay/patchbay.h"
#include "qemu/mcu/layout.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/patch_oracle.h"

#define FUZZ_MEMORY_BYTES 0x70000u
#define FUZZ_NODES        2u
#define FUZZ_QUEUES       32u
#define FUZZ_ENTRIES      8u /**< of each ring */

/* Segment 0 of the guest lies where patch_oracle.h has its buffer. Places in it, in bytes from its start: */
#define FUZZ_SYSTEM_OS    (CARD_SYSTEM_OS + CARD_DMA)
#define FUZZ_SYSTEM_GPU   (CARD_SYSTEM_GPU + CARD_DMA)
#define FUZZ_SYSTEM_BYTES 0x20000u
#define FUZZ_PAGES        0x0000u /**< a page, the oracle's buffer, a page */
#define FUZZ_BUFFER       0x1000u
#define FUZZ_ALLOCATIONS  0x3000u
#define FUZZ_PATCHES      0x5000u
#define FUZZ_WAITS        0x9000u
#define FUZZ_MARKS        0xa000u  /**< a DMA buffer of FUZZ_MARK_BYTES for each mark */
#define FUZZ_FREE         0xb000u  /**< nothing of the fixture's, up to the queue pages */
#define FUZZ_TAKEN        0x10000u /**< the pages of queues 0 and 1 lie behind */

/** Submissions of a mark store a word into video memory: which one, and what. */
#define FUZZ_MARK_COUNT 16u
#define FUZZ_MARK_BYTES (PB_PACKET_FILL_WORDS * 4u)
#define FUZZ_MARK(i)    (0x3a4b0000u + (i))

/** The guest's aperture, of patch_oracle.h, by id. */
#define FUZZ_APERTURE 9u

struct fuzz_client {
	struct pb_link link;
	struct pb_channel channel;
	struct pb_segment system;
	struct pb_segment video;
	struct pb_queue queues[FUZZ_NODES]; /**< one on each node */
	struct pb_memory fixed;             /**< of segment 0: what is not for queues */
	uint32_t context;
	uint32_t marks_at; /**< offset in segment 0 */
	uint32_t marks;    /**< submitted */
};

struct fuzz_node {
	struct pb_reference_engine driver;
	struct pb_engine_model model;
	bool running;
};

struct fuzz_card {
	uint8_t *memory;
	struct pb_firmware *firmware;
	void *queues;
	uint64_t now;
	uint64_t next_tick;
	struct pb_host_lines host_lines;
	struct pb_lines lines;
	struct fuzz_node nodes[FUZZ_NODES];
	struct pb_reference_memory tables;
	struct pb_engine_memory engine_memory;
	struct pb_engine engines[FUZZ_NODES];
	struct pb_firmware_config config;
	struct fuzz_client guest;           /**< channel 1, may page */
	struct fuzz_client witness;         /**< channel 2 */
	uint64_t witness_since[FUZZ_NODES]; /**< when its submissions began to wait for the next completion */
	uint32_t witness_completed[FUZZ_NODES]; /**< consumer index then */
};
/** The one card. */
extern struct fuzz_card fuzz_card;

/** The card as it was when it had booted, and both clients had made what they need. */
void fuzz_card_reset(void);
/** One pass of the firmware, one step of each engine. */
void fuzz_card_step(void);
/**
 * Runs until no agent has anything to do, through a few ticks.
 * @return false: some agent was still busy after `steps`
 */
bool fuzz_card_settle(uint32_t steps);

/** Words of the guest's channel and of its segment 0. */
struct pb_channel_entry *fuzz_guest_entry(void);
uint8_t *fuzz_guest_bytes(uint32_t offset);
/** A submission of the guest's mark i. */
struct pb_descriptor fuzz_mark(const struct fuzz_client *client, uint32_t i);
/** Whether its ring has room, as the firmware says: the guest's own work may have written over the fence record. */
bool fuzz_guest_room(uint32_t queue);
/** Writes a submission of the guest's as it is, kicks and rings, whatever the ring says. */
void fuzz_submit_raw(uint32_t queue, const struct pb_descriptor *descriptor);

/**
 * The witness submits its next mark, if it has one left and room for it: with a long patch list, and behind all that it
 * has submitted to the other node. From then on each step checks how long it waits.
 */
void fuzz_witness_submit(uint32_t node);
/** All of its marks are there, all of its fences completed, and nothing else of anybody's but the guest's has changed. */
void fuzz_witness_check(void);

#endif
