/* SPDX-License-Identifier: MIT */
/* Aperture segments in use: pages mapped into them, DMA buffers and allocations there. */
#include "hal/engine/registers.h"
#include "tests/unit/card_fixture.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define PAGE         0x1000u

/* The aperture of these tests beside the fixture's segments: 64 pages. */
#define APERTURE       4u
#define APERTURE_OS    UINT64_C(0x50000000)
#define APERTURE_GPU   UINT64_C(0x2c0000000)
#define APERTURE_BYTES 0x40000u

static void create_aperture(struct card *card)
{
	static const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {
		APERTURE,
		PB_SEGMENT_APERTURE,
		(uint32_t)APERTURE_OS,
		0,
		(uint32_t)APERTURE_GPU,
		(uint32_t)(APERTURE_GPU >> 32),
		APERTURE_BYTES,
	};

	assert_int_equal(pb_channel_command(&card->channel, PB_COMMAND_SEGMENT_CREATE, arguments, NULL),
			 PB_ERROR_OK);
}

static void start(struct card *card)
{
	card_start(card);
	create_aperture(card);
}

/** Where the linear pages lie that are mapped into aperture page 8 and behind: apart, and not in their order. */
static const uint32_t pages[] = {CARD_DMA + 0x5000, CARD_DMA + 0x2000, CARD_DMA + 0x9000};
#define FIRST_PAGE 8u
#define BUFFER     ((uint32_t)APERTURE_OS + FIRST_PAGE * PAGE)

/** Maps or unmaps the pages above by a paging buffer. */
static void page_in(struct card *card, bool in)
{
	const uint64_t address = APERTURE_GPU + FIRST_PAGE * PAGE;
	uint32_t *words = card_dma(card, 0);
	uint32_t *array = card_dma(card, 1);
	struct pb_descriptor descriptor = card_descriptor(card, 0, 6 * 4, 0, 0);

	words[0] = in ? PB_PACKET(PB_PACKET_MAP_APERTURE, PB_PACKET_MAP_APERTURE_WORDS)
		      : PB_PACKET(PB_PACKET_UNMAP_APERTURE, PB_PACKET_UNMAP_APERTURE_WORDS);
	words[1] = (uint32_t)address;
	words[2] = (uint32_t)(address >> 32);
	words[3] = COUNT(pages);
	words[4] = in ? (uint32_t)CARD_SYSTEM_GPU + CARD_DMA + CARD_DMA_STRIDE : PB_PACKET(PB_PACKET_NOP, 2);
	words[5] = 0;
	for (uint32_t i = 0; i < COUNT(pages); i++) {
		array[2 * i] = (uint32_t)CARD_SYSTEM_GPU + pages[i];
		array[2 * i + 1] = 0;
	}
	descriptor.flags = PB_FLAG_PAGING;
	descriptor.context = 0;
	assert_int_equal(card_execute(card, 1, &descriptor).status, PB_ERROR_OK);
}

/** A word of the buffer through its pages. */
static uint32_t *buffer_word(const struct card *card, uint32_t offset)
{
	return (uint32_t *)(void *)card_bytes(card, 0, pages[offset / PAGE] + offset % PAGE);
}

/** A buffer of three pages; two packets store around the second page boundary. */
static struct pb_descriptor paged_buffer(const struct card *card)
{
	const uint32_t header = PB_PACKET(PB_PACKET_NOP, (2 * PAGE - 12) / 4);
	const uint32_t fill[] = {PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS), (uint32_t)CARD_VIDEO_GPU,
				 (uint32_t)(CARD_VIDEO_GPU >> 32), 4, 0x600d};
	struct pb_descriptor descriptor = card_descriptor(card, 0, 2 * PAGE + 8, 0, 0);

	*buffer_word(card, 0) = header;
	for (uint32_t i = 0; i < COUNT(fill); i++)
		*buffer_word(card, 2 * PAGE - 12 + 4 * i) = fill[i];
	descriptor.dma_segment = APERTURE;
	descriptor.dma_address_low = BUFFER;
	descriptor.dma_size = 3 * PAGE;
	return descriptor;
}

static void buffer_runs_through_the_page_table(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	start(&card);
	page_in(&card, true);
	descriptor = paged_buffer(&card);
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	assert_int_equal(card_word(&card, 1, 0), 0x600d);
	/* Only its end is submitted. */
	*(uint32_t *)(void *)card_bytes(&card, 1, 0) = 0;
	*buffer_word(&card, 0) = PB_PACKET(PB_PACKET_FAULT, 1);
	descriptor.dma_start = 2 * PAGE - 12;
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	assert_int_equal(card_word(&card, 1, 0), 0x600d);
	card_stop(&card);
}

/** No page is mapped at first, nor after it has been unmapped: the engine says so. */
static void pages_not_mapped_fault(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;
	struct pb_event event = {
		.type = PB_EVENT_ENGINE_FAULT,
		.error = PB_ERROR_ENGINE_FAULT,
		.index = PB_INDEX_NONE,
		.detail = PB_ENGINE_FAULT_PAGE,
	};

	(void)state;
	start(&card);
	for (uint32_t round = 0; round < 2; round++) {
		descriptor = paged_buffer(&card);
		assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_ENGINE_FAULT);
		event.queue = card.queues[0].handle;
		card_expect_event(&card.channel, "not mapped", &event);
		assert_true(pb_channel_event(&card.channel, &(struct pb_event){0}));
		assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
		page_in(&card, true);
		descriptor = paged_buffer(&card);
		assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
		page_in(&card, false);
	}
	card_stop(&card);
}

/** Every fault of the buffer's place; what is right is BUFFER of three pages. */
static const struct {
	const char *name;
	enum pb_error error;
	struct card_edit edits[CARD_EDITS];
} places[] = {
	{"as it should be", PB_ERROR_OK, {{0}}},
	{"to the aperture's end", PB_ERROR_OK, {CARD_SET(dma_size, APERTURE_BYTES - FIRST_PAGE * PAGE)}},
	{"a byte past the end",
	 PB_ERROR_BAD_BUFFER,
	 {CARD_SET(dma_size, APERTURE_BYTES - FIRST_PAGE * PAGE + 1)}},
	{"at the end", PB_ERROR_BAD_BUFFER, {CARD_SET(dma_address_low, APERTURE_OS + APERTURE_BYTES)}},
	{"before the start", PB_ERROR_BAD_BUFFER, {CARD_SET(dma_address_low, APERTURE_OS - PAGE)}},
	{"misaligned", PB_ERROR_BAD_BUFFER, {CARD_SET(dma_address_low, BUFFER + 64)}},
	{"4 GiB up", PB_ERROR_BAD_BUFFER, {CARD_SET(dma_address_high, 1)}},
	{"as large as can be", PB_ERROR_BAD_BUFFER, {CARD_SET(dma_size, -1)}},
	{"by its GPU address",
	 PB_ERROR_BAD_BUFFER,
	 {CARD_SET(dma_address_low, APERTURE_GPU + FIRST_PAGE * PAGE),
	  CARD_SET(dma_address_high, APERTURE_GPU >> 32)}},
	{"private data there",
	 PB_ERROR_BAD_PRIVATE_DATA,
	 {CARD_SET(private_address_low, BUFFER), CARD_SET(private_size, 4)}},
};

static void every_place(void **state)
{
	struct card card;

	(void)state;
	start(&card);
	page_in(&card, true);
	for (uint32_t i = 0; i < COUNT(places); i++) {
		struct pb_descriptor descriptor = paged_buffer(&card);

		card_edit(&descriptor, places[i].edits);
		card_equal(places[i].name, card_execute(&card, 0, &descriptor).status, places[i].error);
		assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	}
	card_stop(&card);
}

/** An allocation there has its address whether its pages are mapped or not. */
static void allocations_resolve(void **state)
{
	const struct pb_patch_location patch = {.driver_id = PB_PATCH_FORMAT_ADDRESS64,
						.allocation_offset = 0x10};
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	start(&card);
	card_patch(&card, 0, &patch);
	card_allocation(&card, 0, APERTURE_OS + APERTURE_BYTES - PAGE, PAGE, CARD_SEGMENT(APERTURE));
	descriptor = card_descriptor(&card, 2, 8, 1, 1);
	descriptor.flags = PB_FLAG_NULL_RENDERING;
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	assert_int_equal(card_dma(&card, 2)[0], (uint32_t)(APERTURE_GPU + APERTURE_BYTES - PAGE + 0x10));
	assert_int_equal(card_dma(&card, 2)[1], (uint32_t)(APERTURE_GPU >> 32));
	card_allocation(&card, 0, APERTURE_OS + APERTURE_BYTES - PAGE, PAGE + 1, CARD_SEGMENT(APERTURE));
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT);
	card_stop(&card);
}

/** A destroyed aperture is out of the engine's reach; one made again in its place has forgotten its pages. */
static void destroyed_aperture_forgets(void **state)
{
	static const uint32_t id[PB_COMMAND_ARGUMENTS] = {APERTURE};
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	start(&card);
	page_in(&card, true);
	assert_int_equal(pb_channel_command(&card.channel, PB_COMMAND_SEGMENT_DESTROY, id, NULL),
			 PB_ERROR_OK);
	descriptor = paged_buffer(&card);
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_BAD_SEGMENT);
	assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	create_aperture(&card);
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_ENGINE_FAULT);
	card_stop(&card);
}

UNIT_SUITE(test_firmware_paged)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffer_runs_through_the_page_table),
		cmocka_unit_test(pages_not_mapped_fault),
		cmocka_unit_test(every_place),
		cmocka_unit_test(allocations_resolve),
		cmocka_unit_test(destroyed_aperture_forgets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
