/* SPDX-License-Identifier: MIT */
/* Outer memory: engines and hosts work there, the MCU reads nothing there, and a client finds nothing of another's. */
#include <string.h>

#include "firmware/instance.h"
#include "patchbay/format.h"
#include "qemu/mcu/layout.h"
#include "tests/unit/card_queues.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define PAGE         0x1000u
#define MIB          0x100000u

/* Beside the fixture's segments. */
#define OUTER     4u
#define OUTER_OS  UINT64_C(0x5000000000)
#define OUTER_GPU UINT64_C(0x7000000000)

static enum pb_error create_at(struct pb_channel *channel, uint32_t id, uint64_t size, uint32_t backing,
			       struct pb_segment *segment)
{
	const struct pb_segment_request request = {id,   OUTER_OS, OUTER_GPU + id * UINT64_C(0x100000000),
						   size, backing,  PB_SEGMENT_OUTER};

	return pb_segment_create(segment, channel, &request);
}

static enum pb_error create(struct pb_channel *channel, uint32_t bytes, struct pb_segment *segment)
{
	return create_at(channel, OUTER, bytes, bytes, segment);
}

static uint8_t *bytes_of(const struct card *card, const struct pb_segment *segment)
{
	return card->link->memory + segment->memory_offset;
}

/** How many of a segment's bytes differ from a value. */
static uint32_t others(const struct card *card, const struct pb_segment *segment, uint8_t value)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < segment->request.backing_bytes; i++)
		count += bytes_of(card, segment)[i] != value;
	return count;
}

/* ---- what it is for ---- */

static void capabilities_name_both_parts(void **state)
{
	struct card card;
	const uint32_t *capabilities = card.channel.card.capabilities;

	(void)state;
	card_start_outer(&card);
	assert_int_equal(capabilities[PB_CAPABILITY_SEGMENT_KINDS], 0xb);
	assert_int_equal(capabilities[PB_CAPABILITY_WINDOW_BYTES], 16 * MIB);
	assert_int_equal(capabilities[PB_CAPABILITY_OUTER_OFFSET], 16 * MIB);
	assert_int_equal(capabilities[PB_CAPABILITY_OUTER_BYTES], 48 * MIB);
	/* The pool of what the MCU sees is as without: no DMA buffer can be larger. */
	assert_int_equal(capabilities[PB_CAPABILITY_POOL_BYTES], PB_CARD_TRACE_OFFSET - PB_CARD_POOL_OFFSET);
	assert_true(capabilities[PB_CAPABILITY_BUFFER_BYTES_MAX] < 16 * MIB);
	card_stop(&card);
	card_start(&card);
	assert_int_equal(capabilities[PB_CAPABILITY_WINDOW_BYTES], 16 * MIB);
	assert_int_equal(capabilities[PB_CAPABILITY_OUTER_OFFSET], 0);
	assert_int_equal(capabilities[PB_CAPABILITY_OUTER_BYTES], 0);
	card_stop(&card);
}

/** A FILL of the last page of the segment, whose address is patched. */
static struct pb_descriptor fill_last_page(const struct card *card, const struct pb_segment *segment,
					   uint32_t value)
{
	const struct pb_patch_location patch = {.driver_id = PB_PATCH_FORMAT_ADDRESS64_WRITE,
						.patch_offset = 4};
	const uint32_t last = segment->request.backing_bytes - PAGE;

	card_fill(card_dma(card, 0), 0, PAGE, value);
	card_patch(card, 0, &patch);
	card_allocation(card, 0, OUTER_OS + last, PAGE, CARD_SEGMENT(OUTER) | PB_ALLOCATION_WRITE);
	return card_descriptor(card, 0, PB_PACKET_FILL_WORDS * 4u, 1, 1);
}

static void an_engine_draws_there_and_the_host_reads(void **state)
{
	const uint32_t bytes = 40 * MIB;
	struct pb_quota_status pool;
	struct pb_segment outer;
	struct pb_fence fence;
	struct card card;

	(void)state;
	card_start_outer(&card);
	assert_int_equal(create(&card.channel, bytes, &outer), PB_ERROR_OK);
	assert_int_equal(outer.memory_offset, 16 * MIB);
	for (uint32_t node = 0; node < 2; node++) {
		const struct pb_descriptor descriptor =
			fill_last_page(&card, &outer, 0x01010101u * (node + 1));

		fence = card_execute(&card, node, &descriptor);
		assert_int_equal(fence.status, PB_ERROR_OK);
		assert_int_equal(fence.patches, node + 1);
		assert_int_equal(others(&card, &outer, 0), PAGE);
		assert_int_equal(others(&card, &outer, (uint8_t)(node + 1)), bytes - PAGE);
	}
	/* The limit of the admin counts both parts of card memory. */
	assert_int_equal(pb_quota_query(&card.channel, 1, PB_RESOURCE_POOL_BYTES, &pool), PB_ERROR_OK);
	assert_int_equal(pool.used, bytes + CARD_SYSTEM_BYTES + CARD_VIDEO_BACKED + CARD_EDGE_BYTES);
	card_stop(&card);
}

/** The FILL's value becomes the low word of its address, with a bit for card memory and another for all else. */
static void patches_know_it_as_card_memory(void **state)
{
	static const struct pb_patch_format format = {.bound = PB_FORMAT_INSIDE,
						      .align = 4,
						      .or_by = PB_FORMAT_OR_SEGMENT,
						      .mask = PB_FORMAT_ONES,
						      .or_value = {0x10, 0x20}};
	const struct pb_patch_location patch = {.driver_id = PB_FORMAT_OWN, .patch_offset = 16};
	struct pb_descriptor descriptor;
	struct pb_segment outer;
	struct card card;
	uint32_t reason, word;

	(void)state;
	card_start_outer(&card);
	assert_int_equal(create(&card.channel, MIB, &outer), PB_ERROR_OK);
	assert_int_equal(pb_format_set(&card.channel, PB_FORMAT_OWN, &format, &reason), PB_ERROR_OK);
	descriptor = fill_last_page(&card, &outer, 0);
	card_patch(&card, 1, &patch);
	descriptor.patch_count = 2;
	descriptor.patch_length = 2;
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	memcpy(&word, bytes_of(&card, &outer) + MIB - PAGE, sizeof(word));
	assert_int_equal(word, (MIB - PAGE) | 0x10);
	card_stop(&card);
}

/* ---- what is refused ---- */

static const struct {
	const char *name;
	uint64_t size;
	uint32_t backing;
	enum pb_error error;
} sizes[] = {
	{"one page", PAGE, PAGE, PB_ERROR_OK},
	{"all", CARD_OUTER_BYTES, CARD_OUTER_BYTES, PB_ERROR_OK},
	{"a page too many", CARD_OUTER_BYTES + PAGE, CARD_OUTER_BYTES + PAGE, PB_ERROR_NO_SPACE},
	{"more than all card memory", UINT64_C(0x10000000), 0x10000000, PB_ERROR_NO_SPACE},
	{"nothing", 0, 0, PB_ERROR_BAD_ARGUMENT},
	{"addresses only", PAGE, 0, PB_ERROR_BAD_ARGUMENT},
	{"backed in part", 2 * PAGE, PAGE, PB_ERROR_BAD_ARGUMENT},
	{"backed beyond", PAGE, 2 * PAGE, PB_ERROR_BAD_ARGUMENT},
	{"backed modulo 2^32", UINT64_C(0x100001000), PAGE, PB_ERROR_BAD_ARGUMENT},
	{"no whole pages", PAGE + 64, PAGE + 64, PB_ERROR_BAD_ARGUMENT},
};

static void sizes_are_checked(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(sizes); i++) {
		struct pb_segment segment;
		struct card card;

		card_start_outer(&card);
		card_equal(sizes[i].name,
			   create_at(&card.channel, OUTER, sizes[i].size, sizes[i].backing, &segment),
			   sizes[i].error);
		/* A refused one leaves nothing behind. */
		if (sizes[i].error != PB_ERROR_OK)
			card_equal(sizes[i].name, create(&card.channel, CARD_OUTER_BYTES, &segment),
				   PB_ERROR_OK);
		card_stop(&card);
	}
}

/** Until none is left: what is left of outer memory is for those only that ask for it. */
static void linear_segments_are_in_the_window(void **state)
{
	enum pb_error error = PB_ERROR_OK;
	struct card card;
	uint32_t id = 4;

	(void)state;
	card_start_outer(&card);
	for (; id < 4 + 16 && error == PB_ERROR_OK; id++) {
		const uint64_t base = id * UINT64_C(0x1000000000);
		const struct pb_segment_request request = {id, base, base, MIB, MIB, PB_SEGMENT_LINEAR};
		struct pb_segment segment;

		error = pb_segment_create(&segment, &card.channel, &request);
		if (error == PB_ERROR_OK)
			assert_true(segment.memory_offset + MIB <= PB_CARD_TRACE_OFFSET);
	}
	assert_int_equal(error, PB_ERROR_NO_SPACE);
	assert_true(id > 4 + 4);
	card_stop(&card);
}

static void buffers_there_are_refused(void **state)
{
	static const struct {
		const char *name;
		uint32_t patches;
		uint32_t offset;
	} rows[] = {{"without a list", 0, 0}, {"with a list", 1, 0}, {"the last page", 1, MIB - PAGE}};
	struct pb_segment outer;
	struct card card;

	(void)state;
	card_start_outer(&card);
	assert_int_equal(create(&card.channel, MIB, &outer), PB_ERROR_OK);
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct pb_descriptor descriptor = fill_last_page(&card, &outer, 1);
		const uint64_t address = OUTER_OS + rows[i].offset;

		memcpy(bytes_of(&card, &outer) + rows[i].offset, card_dma(&card, 0),
		       PB_PACKET_FILL_WORDS * 4u);
		descriptor.dma_segment = OUTER;
		descriptor.dma_address_low = (uint32_t)address;
		descriptor.dma_address_high = (uint32_t)(address >> 32);
		descriptor.allocation_count = rows[i].patches;
		descriptor.patch_count = rows[i].patches;
		descriptor.patch_length = rows[i].patches;
		card_equal(rows[i].name, card_execute(&card, 0, &descriptor).status, PB_ERROR_BAD_BUFFER);
		/* As it was: nothing was patched. */
		assert_memory_equal(bytes_of(&card, &outer) + rows[i].offset, card_dma(&card, 0),
				    PB_PACKET_FILL_WORDS * 4u);
		assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	}
	card_stop(&card);
}

/** Segment 0 has rings, lists, waits and private data: none of them can lie where the MCU does not see them. */
static void a_queue_there_is_refused(void **state)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {0, 8, (uint32_t)OUTER_OS,
							  (uint32_t)(OUTER_OS >> 32)};
	struct pb_channel channel;
	struct pb_segment system;
	struct card card;

	(void)state;
	card_start_outer(&card);
	card_join(&card, &channel, 2);
	assert_int_equal(create_at(&channel, PB_SEGMENT_SYSTEM, MIB, MIB, &system), PB_ERROR_OK);
	assert_int_equal(pb_channel_command(&channel, PB_COMMAND_QUEUE_CREATE, arguments, NULL),
			 PB_ERROR_BAD_ARGUMENT);
	card_leave(&channel);
	card_stop(&card);
}

/* ---- old contents ---- */

static void leave(const struct card *card, struct pb_channel *channel)
{
	assert_int_equal(pb_channel_detach(channel), PB_ERROR_OK);
	card_leave(channel);
	card_run(card, 1000);
}

/** All of it goes from one client to the next: destroyed, or with its channel. */
static void nothing_of_another_client_is_left(void **state)
{
	struct pb_channel clients[3];
	struct pb_segment segment;
	struct card card;

	(void)state;
	card_start_outer(&card);
	for (uint32_t i = 0; i < COUNT(clients); i++) {
		card_join(&card, &clients[i], 2 + i);
		assert_int_equal(create(&clients[i], CARD_OUTER_BYTES, &segment), PB_ERROR_OK);
		assert_int_equal(others(&card, &segment, 0), 0);
		memset(bytes_of(&card, &segment), 0xa5, CARD_OUTER_BYTES);
		if (i == 0)
			assert_int_equal(pb_segment_destroy(&segment), PB_ERROR_OK);
		leave(&card, &clients[i]);
	}
	card_stop(&card);
}

/** What an earlier boot left belongs to no segment: an engine may have written there. */
static void what_lay_there_at_boot_is_gone(void **state)
{
	struct pb_segment segment;
	struct card card;

	(void)state;
	card_start_outer(&card);
	memset(card.link->memory + 16 * MIB, 0x5a, CARD_OUTER_BYTES);
	assert_int_equal(create_at(&card.channel, 4, PAGE, PAGE, &segment), PB_ERROR_OK);
	assert_int_equal(others(&card, &segment, 0), 0);
	assert_int_equal(create_at(&card.channel, 5, 3 * MIB, 3 * MIB, &segment), PB_ERROR_OK);
	assert_int_equal(segment.memory_offset, 16 * MIB + PAGE);
	assert_int_equal(others(&card, &segment, 0), 0);
	/* No more than that was cleared. */
	assert_int_equal(card.link->memory[segment.memory_offset + 3 * MIB], 0x5a);
	card_stop(&card);
}

/* ---- one unit for all ---- */

static struct {
	uint32_t offset, bytes; /* of the last request */
	uint32_t requests;
	bool busy;
} unit;

static bool clear(void *context, uint32_t offset, uint32_t bytes)
{
	assert_ptr_equal(context, &unit);
	if (unit.busy)
		return false;
	if (bytes != 0) {
		unit.offset = offset;
		unit.bytes = bytes;
		unit.requests++;
		unit.busy = true;
	}
	return true;
}

static const struct pb_engine_memory_ops ops = {.clear = clear};
static const struct pb_engine_memory engine_memory = {.ops = &ops, .context = &unit};
static const struct pb_firmware_config config = {.engine_memory = &engine_memory};

/** Steps: a slot polls, or the unit ends what it has. */
static const struct {
	const char *name;
	uint32_t slot; /* 0: the unit ends its request */
	bool gone;
	bool done;         /* what the slot is told */
	uint32_t requests; /* that the unit has had by now */
	uint32_t offset;   /* of the last one */
} steps[] = {
	{"the first one starts", 1, false, false, 1, PAGE},
	{"it waits", 1, false, false, 1, PAGE},
	{"another one waits for the unit", 2, false, false, 1, PAGE},
	{"one that is gone needs nothing", 3, true, true, 1, PAGE},
	{"the unit ends", 0, false, false, 1, PAGE},
	{"its end is not the other one's", 2, false, false, 1, PAGE},
	{"but the first one's", 1, false, true, 1, PAGE},
	{"then the other one starts", 2, false, false, 2, 2 * PAGE},
	{"the first one starts again: it waits", 1, false, false, 2, 2 * PAGE},
	{"who goes waits for the end: the unit would clear the next owner's", 2, true, false, 2, 2 * PAGE},
	{"the unit ends", 0, false, false, 2, 2 * PAGE},
	{"and so it is free", 2, true, true, 2, 2 * PAGE},
	{"the first one has its turn", 1, false, false, 3, PAGE},
};

static void one_piece_is_cleared_at_a_time(void **state)
{
	static struct pb_firmware firmware;

	(void)state;
	memset(&firmware, 0, sizeof(firmware));
	memset(&unit, 0, sizeof(unit));
	firmware.config = &config;
	for (uint32_t slot = 1; slot <= 3; slot++)
		pb_core_pool_claim(&firmware.pool, slot, slot * PAGE, PAGE);
	for (uint32_t i = 0; i < COUNT(steps); i++) {
		if (steps[i].slot == 0)
			unit.busy = false;
		else
			card_equal(steps[i].name,
				   pb_core_outer_clear(&firmware, steps[i].slot, steps[i].gone),
				   steps[i].done);
		card_equal(steps[i].name, unit.requests, steps[i].requests);
		card_equal(steps[i].name, unit.offset, steps[i].offset);
		card_equal(steps[i].name, unit.bytes, PAGE);
	}
}

UNIT_SUITE(test_firmware_outer)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(capabilities_name_both_parts),
		cmocka_unit_test(an_engine_draws_there_and_the_host_reads),
		cmocka_unit_test(patches_know_it_as_card_memory),
		cmocka_unit_test(sizes_are_checked),
		cmocka_unit_test(linear_segments_are_in_the_window),
		cmocka_unit_test(buffers_there_are_refused),
		cmocka_unit_test(a_queue_there_is_refused),
		cmocka_unit_test(nothing_of_another_client_is_left),
		cmocka_unit_test(what_lay_there_at_boot_is_gone),
		cmocka_unit_test(one_piece_is_cleared_at_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
