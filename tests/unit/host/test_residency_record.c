/* SPDX-License-Identifier: MIT */
/* What a record of a buffer's patches must not presume: what another queue, attachment, range or part has carried out. */
#include <string.h>

#include "patchbay/format.h"
#include "tests/unit/host/presumed_world.h"

static struct presumed_world the_world;

static uint64_t patches_of(struct presumed_world *world)
{
	return presumed_finish(world).patches;
}

/* ---- a record outlives a queue, and a channel's attachment ---- */

/* Buffer 0: six fills of allocation 0 to 5, with no address in it yet. */
static void render_fills(struct presumed_world *world)
{
	struct presumed_commands commands = {.count = 0};

	for (uint32_t i = 0; i < 6; i++) {
		const uint32_t fill[] = {0x01000005, i + 1, 0, 4, i};

		memcpy(&commands.words[commands.count], fill, sizeof(fill));
		commands.count += 5;
	}
	presumed_render(world, 0, &commands);
}

/* What is not known to be carried out is patched, though no error was counted and the timeline has the value. */
static void a_lost_queue_has_patched_nothing(void **state)
{
	static const uint32_t busy[] = {PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS), 3000};
	static const uint32_t nop[] = {PB_PACKET(PB_PACKET_NOP, 1)};
	struct presumed_world *world = &the_world;
	struct pb_queue *queue = &world->card.queues[0];
	uint64_t before;

	(void)state;
	presumed_start(world, true);
	render_fills(world);
	presumed_submit_idle(world, busy, 2);
	presumed_submit(world, 0);
	assert_int_equal(pb_queue_destroy(queue), PB_ERROR_OK);
	assert_int_equal(pb_queue_create(queue, &world->card.channel, &world->card.segments[0], 0, 8),
			 PB_ERROR_OK);
	presumed_submit_idle(world, nop, 1);
	presumed_submit_idle(world, nop, 1);
	(void)presumed_finish(world);
	before = patches_of(world);
	presumed_submit_well(world, 0);
	assert_int_equal(patches_of(world) - before, 6);
	presumed_submit_well(world, 0);
	assert_int_equal(patches_of(world) - before, 6);
	card_stop(&world->card);
}

/* The same queue handle, timeline values and lists, in a buffer that is as before its first patch. */
static void a_new_attachment_presumes_nothing(void **state)
{
	struct presumed_world *world = &the_world;
	struct card *card = &world->card;
	struct pb_render_output output;
	struct pb_allocation allocations[PRESUMED_COUNT + 1];
	struct pb_patch_location locations[6];
	uint8_t unpatched[CARD_DMA_STRIDE];

	(void)state;
	presumed_start(world, true);
	render_fills(world);
	output = presumed_output(world, 0);
	memcpy(unpatched, output.dma_buffer, sizeof(unpatched));
	/* Twice, so that it is known to be patched. */
	presumed_submit_well(world, 0);
	presumed_submit_well(world, 0);
	assert_int_equal(patches_of(world), 6);
	memcpy(allocations, output.allocations, sizeof(allocations));
	memcpy(locations, output.locations, sizeof(locations));
	card_leave(&card->channel);
	card_join(card, &card->channel, 1);
	card->link = card->channel.link;
	card_make_segments(&card->channel, card->segments);
	assert_int_equal(pb_context_create(&card->channel, &card->context), PB_ERROR_OK);
	assert_int_equal(pb_queue_create(&card->queues[0], &card->channel, &card->segments[0], 0, 16),
			 PB_ERROR_OK);
	presumed_start_manager(world);
	memcpy(output.dma_buffer, unpatched, sizeof(unpatched));
	memcpy(output.allocations, allocations, sizeof(allocations));
	memcpy(output.locations, locations, sizeof(locations));
	world->buffers[0].work.descriptor.context = card->context;
	presumed_submit_well(world, 0);
	assert_int_equal(patches_of(world), 6);
	presumed_submit_well(world, 0);
	assert_int_equal(patches_of(world), 6);
	card_stop(card);
}

/* What one range of a buffer presumes says nothing of another. */
static void another_range_presumes_nothing(void **state)
{
	struct presumed_world *world = &the_world;
	struct pb_descriptor *descriptor = &world->buffers[0].work.descriptor;
	struct pb_descriptor whole;

	(void)state;
	presumed_start(world, true);
	render_fills(world);
	whole = *descriptor;
	descriptor->patch_length = 3;
	descriptor->dma_end /= 2;
	presumed_submit_well(world, 0);
	presumed_submit_well(world, 0);
	assert_int_equal(patches_of(world), 3);
	*descriptor = whole;
	presumed_submit_well(world, 0);
	assert_int_equal(patches_of(world), 3 + 6);
	card_stop(&world->card);
}

/* A location that writes the fence id is carried out each time, and one of the channel's own formats might do that. */
static void formats_that_use_no_allocation_are_not_skipped(void **state)
{
	static const uint32_t formats[] = {PB_PATCH_FORMAT_FENCE_ID, PB_FORMAT_OWN};
	const struct pb_patch_format own = {
		.source = PB_FORMAT_FENCE, .bound = PB_FORMAT_NONE, .align = 4, .mask = UINT32_MAX};
	struct presumed_world *world = &the_world;
	struct presumed_buffer *buffer = &world->buffers[0];
	struct pb_patch_location *last;
	uint32_t reason;

	(void)state;
	presumed_start(world, true);
	assert_int_equal(pb_format_set(&world->card.channel, PB_FORMAT_OWN, &own, &reason), PB_ERROR_OK);
	render_fills(world);
	presumed_submit_well(world, 0);
	last = presumed_output(world, 0).locations + 5;
	last->patch_offset += 3 * 4; /* the value of the last FILL */
	for (uint32_t i = 0; i < 2; i++) {
		last->driver_id = formats[i];
		pb_residency_patched_start(&buffer->patched, buffer->entries, PRESUMED_COUNT + 1);
		for (uint32_t fence_id = 8; fence_id < 11; fence_id++) {
			buffer->work.descriptor.fence_id = fence_id;
			presumed_submit_well(world, 0);
			assert_int_equal(card_dma(&world->card, 0)[last->patch_offset / 4], fence_id);
		}
	}
	card_stop(&world->card);
}

/* ---- which encoding a buffer is submitted with ---- */

#define WITH_ALL (1u << PB_PATCH_ENCODING_WDDM | 1u << PB_PATCH_ENCODING_GROUPED | PB_PATCH_PRESUMED)

/* A buffer of six fills, of the first so many allocations in turn, submitted three times. */
static const struct {
	const char *name;
	uint32_t allocations;
	uint32_t room;        /* words for the list in groups */
	uint32_t encodings;   /* capability of the card */
	uint32_t expected[3]; /* patch_encoding, by submission */
	uint32_t patches;     /* carried out by all of them */
} encodings[] = {
	{"two groups", 2, 16, WITH_ALL, {0, 0x10002, 0x10002}, 6},
	{"one group", 1, 14, WITH_ALL, {0, 0x10002, 0x10002}, 6},
	{"too many groups", 3, 18, WITH_ALL, {0, 0x10000, 0x10000}, 6},
	{"a word too little", 2, 15, WITH_ALL, {0, 0x10000, 0x10000}, 6},
	{"no memory", 2, 0, WITH_ALL, {0, 0x10000, 0x10000}, 6},
	{"a card without groups", 2, 16, WITH_ALL & ~4u, {0, 0x10000, 0x10000}, 6},
	{"a card that presumes nothing", 2, 16, WITH_ALL & ~PB_PATCH_PRESUMED, {0, 0, 0}, 18},
};

static void add_fill(struct presumed_commands *commands, uint32_t handle)
{
	const uint32_t fill[] = {0x01000005, handle, 0, 4, commands->count};

	memcpy(&commands->words[commands->count], fill, sizeof(fill));
	commands->count += 5;
}

static uint32_t last_encoding(const struct presumed_world *world)
{
	const struct pb_queue *queue = &world->card.queues[0];
	const struct pb_queue_page *page = (const void *)queue->memory.bytes_host;
	const struct pb_descriptor *ring = (const void *)(page + 1);

	return ring[(queue->put - 1) & (queue->entries - 1)].patch_encoding;
}

static void groups_are_submitted_where_they_pay(void **state)
{
	struct presumed_world *world = &the_world;

	(void)state;
	for (uint32_t i = 0; i < sizeof(encodings) / sizeof(encodings[0]); i++) {
		struct presumed_commands commands = {.count = 0};

		presumed_start(world, true);
		world->grouped_room = encodings[i].room;
		world->card.channel.card.capabilities[PB_CAPABILITY_PATCH_ENCODINGS] = encodings[i].encodings;
		for (uint32_t f = 0; f < 6; f++)
			add_fill(&commands, f % encodings[i].allocations + 1);
		presumed_render(world, 0, &commands);
		for (uint32_t s = 0; s < 3; s++) {
			presumed_submit_well(world, 0);
			card_equal(encodings[i].name, last_encoding(world), encodings[i].expected[s]);
		}
		card_equal(encodings[i].name, patches_of(world), encodings[i].patches);
		card_stop(&world->card);
	}
}

/* A list in groups is that of one range: another range of the same list gets groups of its own. */
static void another_range_has_its_own_groups(void **state)
{
	struct presumed_world *world = &the_world;
	struct pb_descriptor *descriptor = &world->buffers[0].work.descriptor;
	struct presumed_commands commands = {.count = 0}, other = {.count = 0};
	struct pb_descriptor whole;

	(void)state;
	presumed_start(world, true);
	world->grouped_room = 32;
	for (uint32_t i = 0; i < 6; i++)
		add_fill(&commands, i < 3 ? 1 : 2);
	add_fill(&other, 6);
	presumed_render(world, 0, &commands);
	presumed_render(world, 1, &other);
	whole = *descriptor;
	descriptor->patch_length = 3;
	descriptor->dma_end /= 2;
	presumed_submit_well(world, 0);
	presumed_submit_well(world, 0);
	assert_int_equal(last_encoding(world), PB_PATCH_ENCODING_GROUPED | PB_PATCH_PRESUMED);
	assert_int_equal(patches_of(world), 3);
	*descriptor = whole;
	presumed_submit_well(world, 0);
	assert_int_equal(patches_of(world), 3 + 6);
	/* Another allocation takes the place of one of the two. */
	presumed_move(world, 1, false);
	presumed_submit_well(world, 1);
	assert_int_equal(patches_of(world), 3 + 6 + 1);
	presumed_submit_well(world, 0);
	assert_int_equal(last_encoding(world), PB_PATCH_ENCODING_GROUPED | PB_PATCH_PRESUMED);
	assert_int_equal(patches_of(world), 3 + 6 + 1 + 3);
	card_stop(&world->card);
}

/* Two allocations that do not fit at once, each at its old place when its part is submitted: both parts presume it. */
static void a_part_has_no_groups(void **state)
{
	static const struct pb_residency_request big = {
		.bytes = 0x10000, .alignment = 4, .backing = CARD_SYSTEM_GPU + 0x300000, .segments = {2}};
	struct presumed_world *world = &the_world;
	struct presumed_commands commands = {.count = 0};
	uint32_t handles[2];

	(void)state;
	presumed_start(world, true);
	world->grouped_room = 32;
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(pb_residency_remove(&world->manager, 13 + i), PB_ERROR_OK);
		assert_int_equal(pb_residency_add(&world->manager, &big, &handles[i]), PB_ERROR_OK);
	}
	for (uint32_t i = 0; i < 6; i++)
		add_fill(&commands, handles[i / 3]);
	presumed_render(world, 0, &commands);
	for (uint32_t i = 0; i < 3; i++) {
		presumed_submit_well(world, 0);
		assert_int_equal(world->buffers[0].work.parts, 2);
		assert_int_equal(last_encoding(world), i == 0 ? 0 : PB_PATCH_PRESUMED);
		assert_int_equal(patches_of(world), 6);
	}
	card_stop(&world->card);
}

/* The first part of a buffer is submitted, the second has no room: what both name is patched in the first part only. */
static void a_part_without_room_leaves_nothing_presumed(void **state)
{
	static const struct pb_residency_request big = {
		.bytes = 0x10000, .alignment = 4, .backing = CARD_SYSTEM_GPU + 0x300000, .segments = {2}};
	static const struct presumed_commands commands = {
		.words = {0x01000005, 1, 0, 4, 7,      /* FILL of allocation 0 */
			  0x02000006, 13, 0, 14, 0, 4, /* COPY between two that do not fit at once */
			  0x01000005, 1, 4, 4, 8},
		.count = 16};
	struct presumed_world *world = &the_world;
	struct pb_residency_request small = big;
	struct pb_residency_submission *work;
	uint32_t handle;

	(void)state;
	presumed_start(world, true);
	for (uint32_t n = 13; n <= 14; n++)
		assert_int_equal(pb_residency_remove(&world->manager, n), PB_ERROR_OK);
	/* The record freed last is the next one. */
	assert_int_equal(pb_residency_add(&world->manager, &big, &handle), PB_ERROR_OK);
	assert_int_equal(pb_residency_add(&world->manager, &big, &handle), PB_ERROR_OK);
	presumed_render(world, 0, &commands);
	work = &world->buffers[0].work;
	assert_int_equal(pb_residency_submit(&world->manager, 0, work), PB_ERROR_NO_SPACE);
	assert_int_equal(work->parts, 1);
	assert_int_equal(presumed_finish(world).error, PB_ERROR_OK);
	assert_int_equal(pb_residency_remove(&world->manager, handle), PB_ERROR_OK);
	small.bytes = 0x1000;
	assert_int_equal(pb_residency_add(&world->manager, &small, &handle), PB_ERROR_OK);
	work->allocations[handle].size_low = 0x1000;
	presumed_submit_well(world, 0);
	card_stop(&world->card);
}

UNIT_SUITE(test_residency_record)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lost_queue_has_patched_nothing),
		cmocka_unit_test(a_new_attachment_presumes_nothing),
		cmocka_unit_test(another_range_presumes_nothing),
		cmocka_unit_test(formats_that_use_no_allocation_are_not_skipped),
		cmocka_unit_test(groups_are_submitted_where_they_pay),
		cmocka_unit_test(another_range_has_its_own_groups),
		cmocka_unit_test(a_part_has_no_groups),
		cmocka_unit_test(a_part_without_room_leaves_nothing_presumed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
