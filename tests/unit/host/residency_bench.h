/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A manager on a scripted firmware, with what it submits written down as text.
 *
 * Allocations are letters: 'a' has handle 1. A place is SEGMENT.PAGE. All that
 * was submitted since the last look, in order, and "waited" where stopped queues were let go on:
 *
 *   P(a>1.0 1.2>b x1.2+1 c=3.0+2 3.0=+2)   a paging buffer: a's backing store copied to a place, a place
 *                                          to b's backing store, pages discarded, mapped, unmapped
 *   W0(0-48 0+3 f7 A1.0 b1.1)              work of queue 0: bytes, patch locations, fence id, and the bound
 *                                          entries of the allocation list, in capitals if written to
 */
#ifndef PB_TESTS_UNIT_RESIDENCY_BENCH_H
#define PB_TESTS_UNIT_RESIDENCY_BENCH_H

#include "patchbay/residency.h"
#include "tests/unit/fake_firmware.h"

#define BENCH_ALLOCATIONS 8u
#define BENCH_LOCATIONS   32u
#define BENCH_TEXT        2048u
/** Bytes of each command of a work. */
#define BENCH_COMMAND         32u
#define BENCH_PAGE            4096u
#define BENCH_BACKING(handle) (0x40000000u + ((handle) << 16))

/** Queues of the fake, by number: paging first. */
enum { BENCH_PAGING, BENCH_WORK0, BENCH_WORK1 };

struct residency_bench {
	struct fake_firmware fake;
	struct pb_channel channel;
	struct pb_segment system;
	struct pb_queue queues[3];
	/** 1: four pages; 2: two pages; 3: an aperture of four. */
	struct pb_residency_segment segments[3];
	struct pb_residency_allocation array[BENCH_ALLOCATIONS];
	struct pb_residency_setup setup;
	struct pb_residency manager;
	struct pb_allocation allocations[BENCH_ALLOCATIONS + 1u]; /**< by handle; 0 is the NULL allocation */
	struct pb_patch_location locations[BENCH_LOCATIONS];
	struct pb_link_ops ops;
	uint32_t logged[3]; /**< submissions of each queue that are in the text */
	char text[BENCH_TEXT];
	uint32_t release_at;  /**< wait of the link at which stopped queues go on; 0: never */
	uint32_t fail_paging; /**< status of all paging buffers */
};

void residency_bench_start(struct residency_bench *bench);
void residency_bench_stop(struct residency_bench *bench);
/**
 * Adds an allocation, whose handle must be the next letter's.
 * @param segments decimal digits in order of preference
 */
void residency_bench_add(struct residency_bench *bench, uint32_t handle, uint64_t bytes,
			 const char *segments);
/**
 * Makes a DMA buffer of commands with these operands: "ab C" are two, and C is
 * written to. '0' is the NULL allocation, '-' a command without any.
 */
struct pb_residency_submission residency_bench_work(struct residency_bench *bench, const char *commands);
/** Submits such a buffer to queue 0 with fence id 7. */
enum pb_error residency_bench_submit(struct residency_bench *bench, const char *commands);
/** Lets all queues finish, and fails unless just this was submitted since the last look. */
void residency_bench_expect(struct residency_bench *bench, const char *text);

#endif
