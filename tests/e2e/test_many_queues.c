/* SPDX-License-Identifier: MIT */
/* All queues that the card has, with submissions on each, on all nodes and priorities. */
#include "hal/engine/packets.h"
#include "hal/shared.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_host.h"
#include "tests/e2e/e2e_queues.h"

/* What one channel can have of 4096: 227 are kept for each other one. */
#define QUEUES 2280u
/* In addition to the two of the host. */
#define MORE         (QUEUES - E2E_NODES)
#define ROUNDS       3u
#define PACKET_BYTES (PB_PACKET_FILL_WORDS * 4u)
#define QUEUE_BYTES  (MORE * E2E_SMALL_QUEUE_BYTES)
#define BUFFER_BYTES (MORE * PACKET_BYTES)
/* Each queue stores to one word of the target. */
#define WORDS_BYTES  (QUEUES * 4u)
#define SYSTEM_BYTES 0x400000u

static struct pb_queue queues[MORE];

/* One FILL of its own word for each queue, side by side in one buffer. */
static void write_packets(const struct pb_memory *buffer, const struct pb_memory *words, uint32_t value)
{
	uint32_t *word = (uint32_t *)(void *)buffer->bytes_host;

	for (uint32_t i = 0; i < MORE; i++) {
		const uint64_t address = words->os_address - E2E_VIDEO_OS + E2E_VIDEO_GPU + i * 4u;
		const uint32_t packet[PB_PACKET_FILL_WORDS] = {
			PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS), (uint32_t)address,
			(uint32_t)(address >> 32), 4, value + i};

		for (uint32_t w = 0; w < PB_PACKET_FILL_WORDS; w++)
			pb_shared_write32(word++, packet[w]);
	}
}

static void use_all(struct e2e_host *host, const struct pb_memory *buffer, const struct pb_memory *words,
		    uint32_t value)
{
	const uint32_t *word = (const uint32_t *)(const void *)words->bytes_host;
	struct pb_descriptor descriptor = {.context = host->context,
					   .dma_address_low = (uint32_t)buffer->os_address,
					   .dma_address_high = (uint32_t)(buffer->os_address >> 32),
					   .dma_size = buffer->bytes};
	struct pb_fence fence;

	write_packets(buffer, words, value);
	for (uint32_t i = 0; i < MORE; i++) {
		descriptor.fence_id = value + i;
		descriptor.dma_start = i * PACKET_BYTES;
		descriptor.dma_end = descriptor.dma_start + PACKET_BYTES;
		assert_int_equal(pb_queue_submit(&queues[i], &descriptor), PB_ERROR_OK);
	}
	for (uint32_t i = 0; i < MORE; i++) {
		assert_int_equal(pb_queue_wait(&queues[i], queues[i].timeline, E2E_PATIENCE_US, &fence),
				 PB_ERROR_OK);
		assert_int_equal(fence.status, PB_ERROR_OK);
		assert_int_equal(fence.fence_id, value + i);
		assert_int_equal(pb_shared_read32(&word[i]), value + i);
	}
}

static void all_queues_of_the_card_run(void **state)
{
	struct pb_memory pages, buffer, words;
	struct pb_channel_status status;
	struct e2e_host host;
	struct e2e_card card;
	struct pb_queue one_more;
	struct pb_event event;

	(void)state;
	e2e_card_start(&card, 0);
	assert_true(e2e_host_attach(&host, card.socket) && e2e_host_furnish(&host, SYSTEM_BYTES));
	assert_int_equal(pb_memory_allocate(&host.system, QUEUE_BYTES, PB_LINE_BYTES, &pages), PB_ERROR_OK);
	assert_int_equal(pb_memory_allocate(&host.system, BUFFER_BYTES, PB_PAGE_BYTES, &buffer), PB_ERROR_OK);
	assert_int_equal(pb_memory_allocate(&host.video, WORDS_BYTES, PB_PAGE_BYTES, &words), PB_ERROR_OK);
	e2e_queues_create(queues, MORE, &host.channel, &pages);
	assert_int_equal(pb_queue_create(&one_more, &host.channel, &host.system, 0, E2E_SMALL_RING),
			 PB_ERROR_NO_SPACE);
	assert_int_equal(pb_channel_query(&host.channel, &status), PB_ERROR_OK);
	assert_int_equal(status.queues, QUEUES);
	for (uint32_t round = 0; round < ROUNDS; round++)
		use_all(&host, &buffer, &words, round << 16);
	/* The two queues from before are two of many. */
	assert_true(e2e_host_round(&host, 0x77000000u));
	assert_false(pb_channel_event(&host.channel, &event));
	assert_true(e2e_host_close(&host));
	e2e_card_stop(&card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(all_queues_of_the_card_run),
	};

	return e2e_run_tests(tests);
}
