/* SPDX-License-Identifier: MIT */
/* Host memory: what lies there works as in card memory, and what was not granted is out of reach. */
#include <string.h>

#include "hal/engine/registers.h"
#include "qemu/mcu/layout.h"
#include "tests/unit/card_queues.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define PAGE         0x1000u
#define MIB          0x100000u
#define SHARE        CARD_SYSTEM_BYTES

/* A second segment of host memory, and an aperture, beside those of the fixture. */
#define HOST         4u
#define HOST_GPU     UINT64_C(0x300000000)
#define APERTURE     5u
#define APERTURE_OS  UINT64_C(0x50000000)
#define APERTURE_GPU UINT64_C(0x2c0000000)

static enum pb_error create_host(struct pb_channel *channel, uint32_t id, uint64_t gpu_base, uint64_t address,
				 uint32_t bytes, uint32_t *offset)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {id,
							  PB_SEGMENT_HOST,
							  0x60000000,
							  0,
							  (uint32_t)gpu_base,
							  (uint32_t)(gpu_base >> 32),
							  16 * MIB,
							  0,
							  bytes,
							  (uint32_t)address,
							  (uint32_t)(address >> 32)};
	uint32_t results[PB_REPLY_RESULTS] = {0};
	enum pb_error error = pb_channel_command(channel, PB_COMMAND_SEGMENT_CREATE, arguments, results);

	if (offset != NULL)
		*offset = results[0];
	return error;
}

static void buffers_lists_and_rings_lie_in_host_memory(void **state)
{
	struct pb_quota_status pool;
	struct pb_fence fence;
	struct card card;

	(void)state;
	card_start_host(&card);
	assert_int_equal(card.channel.card.capabilities[PB_CAPABILITY_SEGMENT_KINDS], 7);
	assert_int_equal(card.channel.card.capabilities[PB_CAPABILITY_HOST_BYTES], CARD_HOST_BYTES);
	/* Client 1 has the first part of what lies behind card memory. */
	assert_int_equal(card.segments[0].memory_offset, PB_CARD_MEMORY_BYTES);
	for (uint32_t slot = 0; slot < 4; slot++) {
		const struct pb_descriptor descriptor = card_mark(&card, slot, 0x100 + slot);

		fence = card_execute(&card, slot % 2, &descriptor);
		assert_int_equal(fence.status, PB_ERROR_OK);
		assert_int_equal(fence.fence_id, 0x100 + slot);
		assert_int_equal(card_word(&card, 1, 4 * slot), 0x100 + slot);
	}
	assert_int_equal(fence.patches, 4);
	/* Segments 1 and 2 only are of the pool. */
	assert_int_equal(pb_quota_query(&card.channel, 1, PB_RESOURCE_POOL_BYTES, &pool), PB_ERROR_OK);
	assert_int_equal(pool.used, CARD_VIDEO_BACKED + CARD_EDGE_BYTES);
	card_stop(&card);
}

static void clients_have_host_memory_of_their_own(void **state)
{
	static struct card_client clients[2];
	struct pb_host_grant grant;
	struct card card;

	(void)state;
	card_start_host(&card);
	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t number = i == 0 ? 2 : 8;

		card_join_host_client(&card, &clients[i], number);
		assert_int_equal(clients[i].segments[0].memory_offset,
				 PB_CARD_MEMORY_BYTES + (number - 1) * SHARE);
		assert_int_equal(pb_host_grant_query(&clients[i].channel, number, 0, &grant), PB_ERROR_OK);
		assert_int_equal(grant.count, 1);
		assert_int_equal(grant.address, 0);
		assert_int_equal(grant.bytes, SHARE);
		assert_int_equal(grant.offset, PB_CARD_MEMORY_BYTES + (number - 1) * SHARE);
		assert_int_equal(pb_host_grant_query(&clients[i].channel, number, 1, &grant), PB_ERROR_OK);
		assert_int_equal(grant.count, 1);
		assert_int_equal(grant.bytes, 0);
	}
	assert_int_equal(pb_host_grant_query(&card.channel, 9, 0, &grant), PB_ERROR_BAD_ARGUMENT);
	for (uint32_t i = 0; i < 2; i++)
		card_leave(&clients[i].channel);
	card_stop(&card);
}

/* ---- what may be named ---- */

/** Client 1 has host addresses 0 to SHARE. Beside the fixture's segment 0 over all of them. */
static const struct {
	const char *name;
	uint64_t address;
	uint32_t bytes;
	enum pb_error error;
} rows[] = {
	{"one page", 0, PAGE, PB_ERROR_OK},
	{"all pages", 0, SHARE, PB_ERROR_OK},
	{"the last page", SHARE - PAGE, PAGE, PB_ERROR_OK},
	{"one page too many", 0, SHARE + PAGE, PB_ERROR_NO_PERMISSION},
	{"reaches over the end", SHARE - PAGE, 2 * PAGE, PB_ERROR_NO_PERMISSION},
	{"the next client's first page", SHARE, PAGE, PB_ERROR_NO_PERMISSION},
	{"far away", UINT64_C(0x100000000), PAGE, PB_ERROR_NO_PERMISSION},
	{"the last page of all", UINT64_MAX - 0xfff, PAGE, PB_ERROR_NO_PERMISSION},
	{"below, around 0", UINT64_MAX - 0xfff, 2 * PAGE, PB_ERROR_NO_PERMISSION},
	{"card memory as the card counts", PB_CARD_MEMORY_BYTES, PAGE, PB_ERROR_NO_PERMISSION},
	{"address misaligned", 64, PAGE, PB_ERROR_BAD_ARGUMENT},
	{"bytes misaligned", 0, PAGE + 64, PB_ERROR_BAD_ARGUMENT},
	{"no pages", 0, 0, PB_ERROR_BAD_ARGUMENT},
	{"more than the segment", 0, 17 * MIB, PB_ERROR_BAD_ARGUMENT},
};

static void only_granted_pages_may_be_named(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct card card;
		uint32_t offset;

		card_start_host(&card);
		card_equal(
			rows[i].name,
			create_host(&card.channel, HOST, HOST_GPU, rows[i].address, rows[i].bytes, &offset),
			rows[i].error);
		card_equal(rows[i].name, offset,
			   rows[i].error == PB_ERROR_OK ? PB_CARD_MEMORY_BYTES + rows[i].address : 0);
		/* A refused one leaves nothing behind. */
		if (rows[i].error != PB_ERROR_OK)
			card_equal(rows[i].name, create_host(&card.channel, HOST, HOST_GPU, 0, PAGE, NULL),
				   PB_ERROR_OK);
		card_stop(&card);
	}
}

static void a_card_without_host_memory_says_so(void **state)
{
	const uint32_t grant[PB_COMMAND_ARGUMENTS] = {1, PAGE};
	struct pb_channel admin;
	struct card card;

	(void)state;
	card_attach(&card);
	assert_int_equal(card.channel.card.capabilities[PB_CAPABILITY_SEGMENT_KINDS], 3);
	assert_int_equal(card.channel.card.capabilities[PB_CAPABILITY_HOST_BYTES], 0);
	assert_int_equal(create_host(&card.channel, 0, 0, 0, PAGE, NULL), PB_ERROR_UNSUPPORTED);
	card_join(&card, &admin, PB_CHANNEL_ADMIN);
	assert_int_equal(pb_channel_command(&admin, PB_COMMAND_HOST_GRANT, grant, NULL),
			 PB_ERROR_UNSUPPORTED);
	assert_int_equal(pb_channel_command(&admin, PB_COMMAND_HOST_REVOKE, grant, NULL),
			 PB_ERROR_BAD_ARGUMENT);
	card_leave(&admin);
	card_stop(&card);
}

/** HOST_GRANT, beside the grants that each client has: addresses 0 to SHARE. */
static const struct {
	const char *name;
	uint32_t channel;
	uint64_t address;
	uint32_t bytes;
	uint32_t offset;
	enum pb_error error;
} grants[] = {
	{"behind what it has", 1, SHARE, PAGE, 0, PB_ERROR_OK},
	{"what another channel has too", 1, MIB * 64, SHARE, SHARE, PB_ERROR_OK},
	{"the last pages that have an address", 1, (UINT64_C(1) << 44) - PAGE, PAGE, 0, PB_ERROR_OK},
	{"over the end of addresses", 1, (UINT64_C(1) << 44) - PAGE, 2 * PAGE, 0, PB_ERROR_BAD_ARGUMENT},
	{"addresses of 45 bits", 1, UINT64_C(1) << 44, PAGE, 0, PB_ERROR_BAD_ARGUMENT},
	{"the whole window", 1, UINT64_C(1) << 40, CARD_HOST_BYTES, 0, PB_ERROR_OK},
	{"the very grant that it has", 1, 0, SHARE, 0, PB_ERROR_OK},
	{"its addresses, other pages", 1, 0, SHARE, SHARE, PB_ERROR_BUSY},
	{"its first address, fewer pages", 1, 0, SHARE - PAGE, 0, PB_ERROR_BUSY},
	{"one of its addresses", 1, SHARE - PAGE, 2 * PAGE, 0, PB_ERROR_BUSY},
	{"no pages", 1, 2 * SHARE, 0, 0, PB_ERROR_BAD_ARGUMENT},
	{"address misaligned", 1, 2 * SHARE + 4, PAGE, 0, PB_ERROR_BAD_ARGUMENT},
	{"bytes misaligned", 1, 2 * SHARE, PAGE + 4, 0, PB_ERROR_BAD_ARGUMENT},
	{"offset misaligned", 1, 2 * SHARE, PAGE, 4, PB_ERROR_BAD_ARGUMENT},
	{"addresses wrap", 1, UINT64_MAX - 0xfff, 2 * PAGE, 0, PB_ERROR_BAD_ARGUMENT},
	{"behind the window", 1, 2 * SHARE, PAGE, CARD_HOST_BYTES, PB_ERROR_BAD_ARGUMENT},
	{"over the window's end", 1, 2 * SHARE, 2 * PAGE, CARD_HOST_BYTES - PAGE, PB_ERROR_BAD_ARGUMENT},
	{"offset wraps", 1, 2 * SHARE, 2 * PAGE, 0xfffff000, PB_ERROR_BAD_ARGUMENT},
	{"more than the window", 1, 2 * SHARE, CARD_HOST_BYTES + PAGE, 0, PB_ERROR_BAD_ARGUMENT},
	{"the admin", 0, 0, PAGE, 0, PB_ERROR_BAD_ARGUMENT},
	{"no channel", 9, 0, PAGE, 0, PB_ERROR_BAD_ARGUMENT},
	{"no channel at all", 0xffffffff, 0, PAGE, 0, PB_ERROR_BAD_ARGUMENT},
};

static void the_admin_grants(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(grants); i++) {
		struct pb_channel admin;
		struct card card;
		uint32_t offset;

		card_start_host(&card);
		card_join(&card, &admin, PB_CHANNEL_ADMIN);
		card_equal(grants[i].name,
			   pb_host_grant(&card.channel, grants[i].channel, grants[i].address, grants[i].bytes,
					 grants[i].offset),
			   PB_ERROR_NO_PERMISSION);
		card_equal(grants[i].name,
			   pb_host_grant(&admin, grants[i].channel, grants[i].address, grants[i].bytes,
					 grants[i].offset),
			   grants[i].error);
		if (grants[i].error == PB_ERROR_OK) {
			card_equal(
				grants[i].name,
				create_host(&card.channel, HOST, HOST_GPU, grants[i].address, PAGE, &offset),
				PB_ERROR_OK);
			card_equal(grants[i].name, offset, PB_CARD_MEMORY_BYTES + grants[i].offset);
		}
		card_leave(&admin);
		card_stop(&card);
	}
}

static void the_table_of_grants_has_an_end(void **state)
{
	struct pb_host_grant grant;
	struct pb_channel admin;
	struct card card;
	uint32_t count = 0;

	(void)state;
	card_start_host(&card);
	card_join(&card, &admin, PB_CHANNEL_ADMIN);
	while (pb_host_grant(&admin, 3, UINT64_C(0x100000000) + count * PAGE, PAGE, 0) == PB_ERROR_OK)
		count++;
	/* Eight of ten are the clients' own. */
	assert_int_equal(count, 2);
	assert_int_equal(pb_host_grant(&admin, 4, UINT64_C(0x100000000), PAGE, 0), PB_ERROR_NO_SPACE);
	/* Nor can a grant become two: it stays whole. Its end may go. */
	assert_int_equal(pb_host_revoke(&admin, 4, PAGE, PAGE), PB_ERROR_NO_SPACE);
	assert_int_equal(pb_host_grant_query(&admin, 4, 0, &grant), PB_ERROR_OK);
	assert_int_equal(grant.count, 1);
	assert_int_equal(grant.bytes, SHARE);
	assert_int_equal(pb_host_revoke(&admin, 4, SHARE - PAGE, PAGE), PB_ERROR_OK);
	assert_int_equal(pb_host_grant_query(&admin, 4, 0, &grant), PB_ERROR_OK);
	assert_int_equal(grant.count, 1);
	assert_int_equal(grant.bytes, SHARE - PAGE);
	assert_int_equal(card_command(&admin, PB_COMMAND_CHANNEL_CLOSE, 3, 0, 0, 0, 0), PB_ERROR_OK);
	assert_int_equal(pb_host_grant(&admin, 4, UINT64_C(0x100000000), PAGE, 0), PB_ERROR_OK);
	card_leave(&admin);
	card_stop(&card);
}

/* ---- what engine and MCU reach ---- */

/** A submission of the fixture's slot 0 with one FILL of a word. */
static enum pb_error fill(struct card *card, uint64_t gpu_address)
{
	struct pb_descriptor descriptor = card_descriptor(card, 0, PB_PACKET_FILL_WORDS * 4u, 0, 0);
	enum pb_error error;

	card_fill(card_dma(card, 0), gpu_address, 4, 0xbad);
	error = card_execute(card, 0, &descriptor).status;
	if (error != PB_ERROR_OK)
		assert_int_equal(pb_context_clear(&card->channel, card->context), PB_ERROR_OK);
	return error;
}

static void an_engine_reaches_what_its_channel_named(void **state)
{
	uint32_t *first, *behind;
	struct card card;

	(void)state;
	card_start_host(&card);
	assert_int_equal(create_host(&card.channel, HOST, HOST_GPU, MIB, PAGE, NULL), PB_ERROR_OK);
	first = (uint32_t *)(void *)card_bytes(&card, 0, MIB);
	behind = first + PAGE / 4;
	*behind = 0x5afe;
	assert_int_equal(fill(&card, HOST_GPU), PB_ERROR_OK);
	assert_int_equal(*first, 0xbad);
	assert_int_equal(fill(&card, HOST_GPU + PAGE), PB_ERROR_ENGINE_FAULT);
	assert_int_equal(*behind, 0x5afe);
	/* The window as the engines count it is no address. */
	assert_int_equal(fill(&card, PB_CARD_MEMORY_BYTES + SHARE), PB_ERROR_ENGINE_FAULT);
	assert_int_equal(fill(&card, CARD_SYSTEM_GPU + SHARE), PB_ERROR_ENGINE_FAULT);
	card_stop(&card);
}

static void create_aperture(struct card *card)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {
		APERTURE, PB_SEGMENT_APERTURE,    (uint32_t)APERTURE_OS,
		0,        (uint32_t)APERTURE_GPU, (uint32_t)(APERTURE_GPU >> 32),
		0x10000};

	assert_int_equal(pb_channel_command(&card->channel, PB_COMMAND_SEGMENT_CREATE, arguments, NULL),
			 PB_ERROR_OK);
}

/** Maps a page of segment 0 to page 0 of the aperture. */
static void map(struct card *card, uint32_t offset)
{
	struct pb_descriptor descriptor = card_descriptor(card, 0, 8 * 4, 0, 0);
	const uint32_t words[] = {PB_PACKET(PB_PACKET_NOP, 2),
				  0,
				  PB_PACKET(PB_PACKET_MAP_APERTURE, PB_PACKET_MAP_APERTURE_WORDS),
				  (uint32_t)APERTURE_GPU,
				  (uint32_t)(APERTURE_GPU >> 32),
				  1,
				  (uint32_t)CARD_SYSTEM_GPU + CARD_DMA + 2 * CARD_DMA_STRIDE,
				  0};

	memcpy(card_dma(card, 0), words, sizeof(words));
	card_dma(card, 2)[0] = (uint32_t)CARD_SYSTEM_GPU + offset;
	card_dma(card, 2)[1] = 0;
	descriptor.flags = PB_FLAG_PAGING;
	descriptor.context = 0;
	assert_int_equal(card_execute(card, 1, &descriptor).status, PB_ERROR_OK);
}

/** A submission of page 0 of the aperture: a FILL whose address is patched to word 0 of segment 1. */
static struct pb_descriptor paged_buffer(struct card *card)
{
	struct pb_descriptor descriptor = card_mark(card, 3, 0x77);

	descriptor.dma_segment = APERTURE;
	descriptor.dma_address_low = (uint32_t)APERTURE_OS;
	return descriptor;
}

static void aperture_pages_lie_in_host_memory(void **state)
{
	struct pb_descriptor descriptor;
	struct card card;

	(void)state;
	card_start_host(&card);
	create_aperture(&card);
	map(&card, CARD_DMA + 3 * CARD_DMA_STRIDE);
	descriptor = paged_buffer(&card);
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	assert_int_equal(card_word(&card, 1, 3 * 4), 0x77);
	card_stop(&card);
}

/** The page table word of page 0: the only mapped one in card memory that has this value. */
static uint32_t *find_table_word(const struct card *card, uint32_t value)
{
	for (uint32_t at = PB_CARD_POOL_OFFSET; at < PB_CARD_TRACE_OFFSET; at += PAGE) {
		uint32_t *word = (uint32_t *)(void *)(card->link->memory + at);

		if (*word == value)
			return word;
	}
	return NULL;
}

/** A page table is foreign memory: whoever writes it reaches pages of its own channel only. */
static void a_forged_page_reaches_own_pages_only(void **state)
{
	static struct card_client other;
	struct pb_descriptor descriptor;
	struct card card;
	uint32_t own, *word;

	(void)state;
	card_start_host(&card);
	card_join_host_client(&card, &other, 2);
	create_aperture(&card);
	map(&card, CARD_DMA + 3 * CARD_DMA_STRIDE);
	own = card.segments[0].memory_offset + CARD_DMA + 3 * CARD_DMA_STRIDE;
	word = find_table_word(&card, own | PB_ENGINE_PAGE_VALID);
	assert_non_null(word);
	/* The other client's page, the first behind the window, and one inside it that no client has named. */
	for (uint32_t i = 0; i < 3; i++) {
		const uint32_t pages[] = {other.segments[0].memory_offset + CARD_DMA,
					  PB_CARD_MEMORY_BYTES + CARD_HOST_BYTES,
					  PB_CARD_MEMORY_BYTES + 5 * SHARE};

		*word = pages[i] | PB_ENGINE_PAGE_VALID;
		descriptor = paged_buffer(&card);
		assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_PATCH_PAGE);
		assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
		/* Unpatched: the engine has to find out. */
		descriptor.allocation_count = 0;
		descriptor.patch_count = 0;
		descriptor.patch_length = 0;
		assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_ENGINE_FAULT);
		assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	}
	card_leave(&other.channel);
	card_stop(&card);
}

/** The firmware clears neither pages that it gets nor pages that it gives back: they are the host's. */
static void the_firmware_clears_no_host_memory(void **state)
{
	struct card card;

	(void)state;
	card_start_host(&card);
	*card_dma(&card, 0) = 0x4057;
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(create_host(&card.channel, HOST, HOST_GPU, CARD_DMA, PAGE, NULL),
				 PB_ERROR_OK);
		assert_int_equal(card_command(&card.channel, PB_COMMAND_SEGMENT_DESTROY, HOST, 0, 0, 0, 0),
				 PB_ERROR_OK);
	}
	assert_int_equal(*card_dma(&card, 0), 0x4057);
	assert_int_equal(pb_channel_detach(&card.channel), PB_ERROR_OK);
	assert_int_equal(*card_dma(&card, 0), 0x4057);
	card_stop(&card);
}

UNIT_SUITE(test_firmware_host)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffers_lists_and_rings_lie_in_host_memory),
		cmocka_unit_test(clients_have_host_memory_of_their_own),
		cmocka_unit_test(only_granted_pages_may_be_named),
		cmocka_unit_test(a_card_without_host_memory_says_so),
		cmocka_unit_test(the_admin_grants),
		cmocka_unit_test(the_table_of_grants_has_an_end),
		cmocka_unit_test(an_engine_reaches_what_its_channel_named),
		cmocka_unit_test(aperture_pages_lie_in_host_memory),
		cmocka_unit_test(a_forged_page_reaches_own_pages_only),
		cmocka_unit_test(the_firmware_clears_no_host_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
