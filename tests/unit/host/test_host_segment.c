/* SPDX-License-Identifier: MIT */
/* Segments as the firmware grants them, and the allocator against a byte map of its own. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/fake_firmware.h"
#include "tests/unit/unit.h"

static void create_asks_for_what_is_wanted(void **state)
{
	const struct pb_segment_request request = {
		.id = 3,
		.os_base = 0x1122334455667000,
		.gpu_base = 0x8899aabbccddf000,
		.size = 0x500003000,
		.backing_bytes = 0x2000,
		.kind = PB_SEGMENT_APERTURE,
	};
	const uint32_t expected[PB_COMMAND_ARGUMENTS] = {
		3, 1, 0x55667000, 0x11223344, 0xccddf000, 0x8899aabb, 0x00003000, 5, 0x2000};
	struct fake_firmware fake;
	struct pb_channel channel;
	struct pb_segment system;
	struct pb_segment segment;

	(void)state;
	fake_start(&fake);
	fake_open(&fake, &channel, &system);
	assert_int_equal(pb_segment_create(&segment, &channel, &request), PB_ERROR_OK);
	assert_int_equal(fake.last_command[0], PB_COMMAND_SEGMENT_CREATE);
	assert_memory_equal(&fake.last_command[2], expected, sizeof(expected));
	assert_int_equal(segment.memory_offset, FAKE_POOL_OFFSET + 0x10000);
	assert_int_equal(pb_segment_destroy(&segment), PB_ERROR_OK);
	assert_int_equal(fake.last_command[0], PB_COMMAND_SEGMENT_DESTROY);
	assert_int_equal(fake.last_command[2], 3);
	fake_stop(&fake);
}

static struct pb_reply answer;
static void tamper_offset(struct fake_firmware *fake, enum fake_moment moment)
{
	if (moment != FAKE_REPLY)
		return;
	fake->reply.results[0] = answer.results[0];
	fake->reply.error = answer.error;
}

static void granted_memory_is_checked(void **state)
{
	static const struct {
		uint32_t offset;
		uint32_t error;
		uint32_t backing;
		enum pb_error expected;
	} cases[] = {
		{FAKE_BYTES - 0x2000, PB_ERROR_OK, 0x2000, PB_ERROR_OK},
		{FAKE_BYTES - 0x1000, PB_ERROR_OK, 0x2000, PB_ERROR_PROTOCOL},
		{FAKE_BYTES, PB_ERROR_OK, 0x1000, PB_ERROR_PROTOCOL},
		{0xfffff000, PB_ERROR_OK, 0x2000, PB_ERROR_PROTOCOL},
		{0x5800, PB_ERROR_OK, 0x1000, PB_ERROR_PROTOCOL},
		{0x5000, PB_ERROR_OK, 0xfffff000, PB_ERROR_PROTOCOL},
		{0xfffffff1, PB_ERROR_OK, 0, PB_ERROR_OK}, /* no backing: the offset means nothing */
		{0, PB_ERROR_NO_SPACE, 0x1000, PB_ERROR_NO_SPACE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pb_segment_request request = {.size = 1u << 20, .backing_bytes = cases[i].backing};
		struct fake_firmware fake;
		struct pb_channel channel;
		struct pb_segment segment;
		struct pb_memory memory;

		print_message("offset %#x, backing %#x\n", cases[i].offset, cases[i].backing);
		fake_start(&fake);
		assert_int_equal(pb_channel_attach(&channel, &fake.link, 1000000), PB_ERROR_OK);
		answer.results[0] = cases[i].offset;
		answer.error = cases[i].error;
		fake.tamper = tamper_offset;
		assert_int_equal(pb_segment_create(&segment, &channel, &request), cases[i].expected);
		if (cases[i].expected == PB_ERROR_OK)
			assert_int_equal(pb_memory_allocate(&segment, 64, 64, &memory),
					 cases[i].backing != 0 ? PB_ERROR_OK : PB_ERROR_NO_SPACE);
		fake_stop(&fake);
	}
}

/* A segment of 4096 bytes with no firmware behind it: the allocator alone. */
static uint8_t backing[0x2000 + 4096];
static struct pb_link plain_link = {.memory = backing, .memory_bytes = sizeof(backing)};
static struct pb_channel plain_channel = {.link = &plain_link};

static void plain_segment(struct pb_segment *segment)
{
	memset(segment, 0, sizeof(*segment));
	segment->channel = &plain_channel;
	segment->request.os_base = 0x700000000;
	segment->request.backing_bytes = 4096;
	segment->memory_offset = 0x2000;
}

static void allocator_is_first_fit(void **state)
{
	struct pb_segment segment;
	struct pb_memory pieces[4];
	struct pb_memory big;

	(void)state;
	plain_segment(&segment);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(pb_memory_allocate(&segment, 1000, 64, &pieces[i]), PB_ERROR_OK);
		assert_int_equal(pieces[i].offset, i * 1024);
		assert_int_equal(pieces[i].bytes, 1000);
		assert_int_equal(pieces[i].os_address, 0x700000000 + i * 1024);
		assert_ptr_equal(pieces[i].bytes_host, backing + 0x2000 + i * 1024);
	}
	assert_int_equal(pb_memory_allocate(&segment, 1, 64, &big), PB_ERROR_NO_SPACE);
	pb_memory_free(&pieces[1]);
	pb_memory_free(&pieces[1]); /* nothing to free any more */
	assert_int_equal(segment.extent_count, 3);
	assert_int_equal(pb_memory_allocate(&segment, 1025, 64, &big), PB_ERROR_NO_SPACE);
	pb_memory_free(&pieces[2]);
	assert_int_equal(pb_memory_allocate(&segment, 1025, 64, &big), PB_ERROR_OK);
	assert_int_equal(big.offset, 1024);
	assert_int_equal(pb_memory_allocate(&segment, 832, 512, &pieces[1]), PB_ERROR_NO_SPACE);
	assert_int_equal(pb_memory_allocate(&segment, 448, 512, &pieces[1]), PB_ERROR_OK);
	assert_int_equal(pieces[1].offset, 2560);
}

static void allocator_refuses_bad_arguments(void **state)
{
	static const struct {
		uint32_t bytes;
		uint32_t alignment;
		enum pb_error expected;
	} cases[] = {
		{0, 64, PB_ERROR_BAD_ARGUMENT},      {64, 0, PB_ERROR_BAD_ARGUMENT},
		{64, 32, PB_ERROR_BAD_ARGUMENT},     {64, 96, PB_ERROR_BAD_ARGUMENT},
		{4096, 4096, PB_ERROR_OK},           {4097, 64, PB_ERROR_NO_SPACE},
		{0xffffffff, 64, PB_ERROR_NO_SPACE}, {64, 0x80000000, PB_ERROR_OK},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pb_segment segment;
		struct pb_memory memory;

		plain_segment(&segment);
		assert_int_equal(pb_memory_allocate(&segment, cases[i].bytes, cases[i].alignment, &memory),
				 cases[i].expected);
		assert_int_equal(memory.segment == NULL, cases[i].expected != PB_ERROR_OK);
		pb_memory_free(&memory);
	}
}

static void allocator_keeps_to_its_extents(void **state)
{
	struct pb_segment segment;
	struct pb_memory memory;
	uint8_t *large = malloc(64 * (PB_SEGMENT_EXTENTS + 1));
	struct pb_link link = {.memory = large, .memory_bytes = 64 * (PB_SEGMENT_EXTENTS + 1)};
	struct pb_channel channel = {.link = &link};

	(void)state;
	assert_non_null(large);
	plain_segment(&segment);
	segment.channel = &channel;
	segment.memory_offset = 0;
	segment.request.backing_bytes = link.memory_bytes;
	for (uint32_t i = 0; i < PB_SEGMENT_EXTENTS; i++)
		assert_int_equal(pb_memory_allocate(&segment, 64, 64, &memory), PB_ERROR_OK);
	assert_int_equal(pb_memory_allocate(&segment, 64, 64, &memory), PB_ERROR_NO_SPACE);
	free(large);
}

/* Every line of the segment belongs to at most one piece, whatever the order of things. */
static void allocator_agrees_with_a_byte_map(void **state)
{
	struct pb_segment segment;
	struct pb_memory pieces[24] = {0};
	uint8_t owner[64] = {0};
	uint32_t random = 12345;

	(void)state;
	plain_segment(&segment);
	for (uint32_t round = 0; round < 20000; round++) {
		uint32_t which = (random = random * 1664525 + 1013904223) >> 24 % 24;
		struct pb_memory *piece = &pieces[which %= 24];
		uint32_t lines = (random >> 8 & 7) + 1;
		uint32_t step = 1u << (random >> 12 & 3);
		uint32_t first = 0;
		uint32_t run = 0;

		if (piece->segment != NULL) {
			memset(&owner[piece->offset / 64], 0, (piece->bytes + 63) / 64);
			pb_memory_free(piece);
			continue;
		}
		for (; first + lines <= 64 && run < lines; first += run < lines ? step : 0)
			for (run = 0; run < lines && owner[first + run] == 0; run++)
				;
		if (run < lines) {
			assert_int_equal(pb_memory_allocate(&segment, lines * 64 - 7, step * 64, piece),
					 PB_ERROR_NO_SPACE);
			continue;
		}
		assert_int_equal(pb_memory_allocate(&segment, lines * 64 - 7, step * 64, piece), PB_ERROR_OK);
		assert_int_equal(piece->offset, first * 64);
		memset(&owner[first], 1, lines);
	}
}

UNIT_SUITE(test_host_segment)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(create_asks_for_what_is_wanted),
		cmocka_unit_test(granted_memory_is_checked),
		cmocka_unit_test(allocator_is_first_fit),
		cmocka_unit_test(allocator_refuses_bad_arguments),
		cmocka_unit_test(allocator_keeps_to_its_extents),
		cmocka_unit_test(allocator_agrees_with_a_byte_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
