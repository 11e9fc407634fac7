/* SPDX-License-Identifier: MIT */
/* What the builder puts into the buffer and its lists, before anything is submitted. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hal/engine/packets.h"
#include "tests/e2e/dma_builder.h"
#include "tests/unit/unit.h"

#define POISON PB_DMA_POISON

/* Two segments over plain memory: allocating needs no card. */
struct fixture {
	uint32_t memory[2 * 65536 / 4];
	struct pb_link link;
	struct pb_channel channel;
	struct pb_queue queue;
	struct pb_segment segments[2];
	struct pb_memory things[3]; /* in segment 1 */
	struct pb_dma dma;
};

static void make_segment(struct fixture *fixture, uint32_t id, uint64_t os_base)
{
	struct pb_segment *segment = &fixture->segments[id];

	segment->channel = &fixture->channel;
	segment->request = (struct pb_segment_request){
		.id = id, .os_base = os_base, .gpu_base = 2 * os_base, .size = 65536, .backing_bytes = 65536};
	segment->memory_offset = id * 65536u;
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (fixture == NULL)
		return -1;
	fixture->link.memory = (uint8_t *)fixture->memory;
	fixture->link.memory_bytes = sizeof(fixture->memory);
	fixture->channel.link = &fixture->link;
	fixture->queue.channel = &fixture->channel;
	make_segment(fixture, 0, 0x10000000);
	make_segment(fixture, 1, 0x9f0000000);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(pb_memory_allocate(&fixture->segments[1], 256, 64, &fixture->things[i]), 0);
	assert_int_equal(pb_dma_open(&fixture->dma, &fixture->queue, 7, &fixture->segments[0],
				     &fixture->segments[0], 64, 4),
			 0);
	pb_dma_begin(&fixture->dma);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

static const uint32_t *buffer_of(const struct pb_dma *dma)
{
	return (const void *)dma->buffer.bytes_host;
}

static const struct pb_patch_location *patches_of(const struct pb_dma *dma)
{
	return (const void *)(dma->lists.bytes_host + PB_DMA_ALLOCATIONS * sizeof(struct pb_allocation));
}

static void add_copy(struct pb_dma *dma, const struct pb_memory *from, const struct pb_memory *to)
{
	pb_dma_packet(dma, PB_PACKET_COPY, PB_PACKET_COPY_WORDS);
	pb_dma_address(dma, from, 12, false);
	pb_dma_address(dma, to, 0, true);
	pb_dma_word(dma, 40);
}

static void test_words_and_lists(void **state)
{
	struct fixture *fixture = *state;
	struct pb_dma *dma = &fixture->dma;
	const uint32_t words[] = {0x03000001, 0x02000006, POISON, POISON, POISON, POISON, 40};
	const struct pb_patch_location patches[] = {
		{.allocation_index = 0,
		 .slot = 0,
		 .driver_id = 1,
		 .allocation_offset = 12,
		 .patch_offset = 8},
		{.allocation_index = 1,
		 .slot = 1,
		 .driver_id = 3,
		 .allocation_offset = 0,
		 .patch_offset = 16},
	};
	const struct pb_allocation allocations[] = {
		{.address_low = 0xf0000000, .address_high = 9, .size_low = 256, .flags = 2, .id = 0},
		{.address_low = 0xf0000200, .address_high = 9, .size_low = 256, .flags = 3, .id = 1},
	};

	pb_dma_word(dma, 0x03000001);
	add_copy(dma, &fixture->things[0], &fixture->things[2]);
	assert_int_equal(dma->error, PB_ERROR_OK);
	assert_int_equal(dma->bytes, sizeof(words));
	assert_memory_equal(buffer_of(dma), words, sizeof(words));
	assert_int_equal(dma->patch_count, 2);
	assert_memory_equal(patches_of(dma), patches, sizeof(patches));
	assert_int_equal(dma->allocation_count, 2);
	assert_memory_equal(dma->allocations, allocations, sizeof(allocations));
}

/* One entry for a piece of memory, and a write anywhere makes it writable. */
static void memory_is_named_once_and_a_write_makes_it_writable(void **state)
{
	struct fixture *fixture = *state;
	struct pb_dma *dma = &fixture->dma;

	pb_dma_address(dma, &fixture->things[0], 0, false);
	pb_dma_address(dma, &fixture->things[1], 0, false);
	pb_dma_address(dma, &fixture->things[0], 4, true);
	pb_dma_address(dma, &fixture->things[0], 8, false);
	assert_int_equal(dma->error, PB_ERROR_OK);
	assert_int_equal(dma->allocation_count, 2);
	assert_int_equal(dma->allocations[0].flags, 3);
	assert_int_equal(dma->allocations[1].flags, 2);
	assert_int_equal(patches_of(dma)[2].allocation_index, 0);
	assert_int_equal(patches_of(dma)[2].driver_id, PB_PATCH_FORMAT_ADDRESS64_WRITE);
	assert_int_equal(patches_of(dma)[3].driver_id, PB_PATCH_FORMAT_ADDRESS64);
}

static void test_skip(void **state)
{
	struct pb_dma *dma = &((struct fixture *)*state)->dma;
	const uint32_t words[] = {0x00000003, 5, 6, 0x00000001, 7};
	uint32_t start = pb_dma_skip_begin(dma);

	assert_int_equal(start, 4);
	pb_dma_word(dma, 5);
	pb_dma_word(dma, 6);
	assert_int_equal(pb_dma_skip_end(dma, start), 8);
	start = pb_dma_skip_begin(dma);
	assert_int_equal(pb_dma_skip_end(dma, start), 0);
	pb_dma_word(dma, 7);
	assert_memory_equal(buffer_of(dma), words, sizeof(words));
}

static void test_full_buffer(void **state)
{
	struct pb_dma *dma = &((struct fixture *)*state)->dma;

	for (uint32_t i = 0; i < 16; i++)
		pb_dma_word(dma, i);
	assert_int_equal(dma->error, PB_ERROR_OK);
	pb_dma_word(dma, 16);
	assert_int_equal(dma->error, PB_ERROR_NO_SPACE);
	assert_int_equal(dma->bytes, 64);
	assert_int_equal(pb_dma_submit(dma, 0), PB_ERROR_NO_SPACE);
	pb_dma_begin(dma);
	assert_int_equal(dma->error, PB_ERROR_OK);
	assert_int_equal(dma->bytes, 0);
}

static void test_full_patch_list(void **state)
{
	struct fixture *fixture = *state;
	struct pb_dma *dma = &fixture->dma;

	for (uint32_t i = 0; i < 4; i++)
		pb_dma_address(dma, &fixture->things[0], 4 * i, false);
	assert_int_equal(dma->error, PB_ERROR_OK);
	pb_dma_address(dma, &fixture->things[0], 0, true);
	assert_int_equal(dma->error, PB_ERROR_NO_SPACE);
	assert_int_equal(dma->patch_count, 4);
	assert_int_equal(dma->bytes, 32);
	assert_int_equal(dma->allocations[0].flags, 2);
}

static void test_full_allocation_list(void **state)
{
	struct fixture *fixture = *state;
	struct pb_dma *dma = &fixture->dma;
	struct pb_memory piece = fixture->things[0];

	pb_dma_close(dma);
	assert_int_equal(
		pb_dma_open(dma, &fixture->queue, 7, &fixture->segments[0], &fixture->segments[0], 4096, 100),
		0);
	for (uint32_t i = 0; i < PB_DMA_ALLOCATIONS; i++) {
		pb_dma_address(dma, &piece, 0, false);
		piece.os_address += 64;
	}
	assert_int_equal(dma->error, PB_ERROR_OK);
	pb_dma_address(dma, &piece, 0, false);
	assert_int_equal(dma->error, PB_ERROR_NO_SPACE);
	assert_int_equal(dma->allocation_count, PB_DMA_ALLOCATIONS);
}

/* What does not fit leaves nothing behind. */
static void what_does_not_fit_leaves_no_trace(void **state)
{
	struct fixture *fixture = *state;
	struct pb_segment *system = &fixture->segments[0];
	uint32_t extents = system->extent_count;
	struct pb_dma dma;

	assert_int_equal(pb_dma_open(&dma, &fixture->queue, 7, system, system, 4096, 4000),
			 PB_ERROR_NO_SPACE);
	assert_int_equal(system->extent_count, extents);
	pb_dma_close(&fixture->dma);
	assert_int_equal(system->extent_count, 0);
}

UNIT_SUITE(test_dma_builder)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_words_and_lists),
		TEST(memory_is_named_once_and_a_write_makes_it_writable),
		TEST(test_skip),
		TEST(test_full_buffer),
		TEST(test_full_patch_list),
		TEST(test_full_allocation_list),
		TEST(what_does_not_fit_leaves_no_trace),
	};
#undef TEST

	return cmocka_run_group_tests(tests, NULL, NULL);
}
