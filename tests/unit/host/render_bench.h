/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A device with some allocations, inputs, and outputs in plain memory, for the
 * tests of pb_render.
 */
#ifndef PB_TESTS_UNIT_RENDER_BENCH_H
#define PB_TESTS_UNIT_RENDER_BENCH_H

#include "patchbay/render.h"
#include "tests/unit/unit.h"

#define BENCH_WORDS     256u
#define BENCH_LOCATIONS 64u
#define BENCH_ENTRIES   8u

/* The allocations, by handle. Bases differ, so that one cannot pass for the other. */
#define BENCH_OS(handle)  (UINT64_C(0x800000000) + ((uint64_t)(handle) << 20))
#define BENCH_GPU(handle) (UINT64_C(0x1f0000000) + ((uint64_t)(handle) << 20))
#define BENCH_READ        11u /**< 256 bytes */
#define BENCH_WRITE       12u /**< 256 bytes */
#define BENCH_PAGED_OUT   13u /**< 4096 bytes, in no segment */
#define BENCH_HUGE        14u /**< 5 GiB */
#define BENCH_SMALL       15u /**< 3 bytes, at address 0 */

/** The bench's allocation list, by index: NULL, and the five for reading or writing as their names say. */
#define BENCH_LIST 6u

/** What outputs and memory behind them hold before a call. */
#define BENCH_UNTOUCHED 0xa5a5a5a5u

struct render_bench {
	struct pb_render_device device;
	struct pb_render_allocation known[BENCH_ENTRIES]; /**< by handle - BENCH_READ; size 0: not there */
	uint64_t staging[1024];
	uint32_t words[BENCH_WORDS];
	struct pb_render_user_allocation list[BENCH_LIST];
	struct pb_patch_location user_locations[BENCH_LOCATIONS];
	uint32_t dma[BENCH_WORDS];
	uint32_t private_data[16];
	struct pb_allocation allocations[BENCH_ENTRIES];
	struct pb_patch_location locations[BENCH_LOCATIONS];
	struct pb_render_arguments arguments;
};

/** Everything as above, no commands, outputs of full size. */
void render_bench_init(struct render_bench *bench);
/** New outputs of full size, none of them touched. */
void render_bench_outputs(struct render_bench *bench);
/** Sets the command buffer. */
void render_bench_commands(struct render_bench *bench, const uint32_t *words, uint32_t count);

/** What the last call wrote, by how far the pointers have moved. */
struct render_written {
	uint32_t words;
	uint32_t private_words;
	uint32_t allocations;
	uint32_t locations;
};
/** Fails if anything behind that was touched. */
struct render_written render_bench_written(const char *row, const struct render_bench *bench);

/** Fails with the names of row and statuses. */
void render_expect(const char *row, enum pb_render_status actual, enum pb_render_status expected);
/** Expects an error that left all outputs alone. */
void render_expect_nothing(const char *row, const struct render_bench *bench, enum pb_render_status actual,
			   enum pb_render_status expected);

#endif
