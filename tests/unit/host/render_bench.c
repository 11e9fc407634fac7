/* SPDX-License-Identifier: MIT */
#include "tests/unit/host/render_bench.h"

#include <string.h>

#include "patchbay/abi/boot.h"

static bool find(void *context, uint32_t handle, struct pb_render_allocation *allocation)
{
	const struct render_bench *bench = context;
	const uint32_t place = handle - BENCH_READ;

	if (place >= BENCH_ENTRIES || bench->known[place].size == 0)
		return false;
	*allocation = bench->known[place];
	return true;
}

static struct pb_render_allocation resident(uint32_t handle, uint64_t size)
{
	return (struct pb_render_allocation){
		.size = size, .os_address = BENCH_OS(handle), .gpu_address = BENCH_GPU(handle), .segment = 1};
}

void render_bench_outputs(struct render_bench *bench)
{
	memset(bench->dma, 0xa5, sizeof(bench->dma));
	memset(bench->private_data, 0xa5, sizeof(bench->private_data));
	memset(bench->allocations, 0xa5, sizeof(bench->allocations));
	memset(bench->locations, 0xa5, sizeof(bench->locations));
	bench->arguments.output = (struct pb_render_output){
		.dma_buffer = bench->dma,
		.dma_size = sizeof(bench->dma),
		.private_data = bench->private_data,
		.private_data_size = sizeof(bench->private_data),
		.allocations = bench->allocations,
		.allocations_size = BENCH_ENTRIES,
		.locations = bench->locations,
		.locations_size = BENCH_LOCATIONS,
	};
}

void render_bench_init(struct render_bench *bench)
{
	memset(bench, 0, sizeof(*bench));
	bench->device = (struct pb_render_device){.find = find, .context = bench, .node = PB_NODE_3D};
	bench->known[0] = resident(BENCH_READ, 256);
	bench->known[1] = resident(BENCH_WRITE, 256);
	bench->known[2] = (struct pb_render_allocation){.size = 4096, .os_address = 77, .gpu_address = 99};
	bench->known[3] = resident(BENCH_HUGE, UINT64_C(0x140000000));
	bench->known[4] = (struct pb_render_allocation){.size = 3, .segment = 31};
	for (uint32_t i = 1; i < BENCH_LIST; i++)
		bench->list[i].handle = BENCH_READ + i - 1u;
	bench->list[2].flags = PB_RENDER_USER_WRITE;
	bench->list[3].flags = PB_RENDER_USER_WRITE;
	bench->list[4].flags = PB_RENDER_USER_WRITE;
	bench->arguments = (struct pb_render_arguments){
		.device = &bench->device,
		.staging = bench->staging,
		.staging_size = sizeof(bench->staging),
		.command = bench->words,
		.user_allocations = bench->list,
		.user_allocation_count = BENCH_LIST,
		.user_locations = bench->user_locations,
	};
	render_bench_outputs(bench);
}

void render_bench_commands(struct render_bench *bench, const uint32_t *words, uint32_t count)
{
	assert_true(count <= BENCH_WORDS);
	if (count != 0)
		memcpy(bench->words, words, count * sizeof(*words));
	bench->arguments.command_length = count * (uint32_t)sizeof(*words);
}

/* @return words up to where the pointer stands now, all behind them being untouched */
static uint32_t moved(const char *row, const void *memory, size_t bytes, const void *now)
{
	const uint32_t *words = memory;
	const uint32_t count = (uint32_t)((const uint32_t *)now - words);

	assert_true(count <= bytes / sizeof(*words));
	for (uint32_t i = count; i < bytes / sizeof(*words); i++) {
		if (words[i] != BENCH_UNTOUCHED)
			fail_msg("%s: word %u of an output is 0x%x, behind its end at %u", row, i, words[i],
				 count);
	}
	return count;
}

struct render_written render_bench_written(const char *row, const struct render_bench *bench)
{
	const struct pb_render_output *output = &bench->arguments.output;

	return (struct render_written){
		.words = moved(row, bench->dma, sizeof(bench->dma), output->dma_buffer),
		.private_words =
			moved(row, bench->private_data, sizeof(bench->private_data), output->private_data),
		.allocations =
			moved(row, bench->allocations, sizeof(bench->allocations), output->allocations) / 6u,
		.locations = moved(row, bench->locations, sizeof(bench->locations), output->locations) / 6u,
	};
}

void render_expect(const char *row, enum pb_render_status actual, enum pb_render_status expected)
{
	if (actual != expected)
		fail_msg("%s: %s, expected %s", row, pb_render_status_name(actual),
			 pb_render_status_name(expected));
}

void render_expect_nothing(const char *row, const struct render_bench *bench, enum pb_render_status actual,
			   enum pb_render_status expected)
{
	const struct render_written written = render_bench_written(row, bench);

	render_expect(row, actual, expected);
	assert_int_equal(written.words + written.private_words + written.allocations + written.locations, 0);
	assert_int_equal(bench->arguments.output.record.magic, 0);
}
