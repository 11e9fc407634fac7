/* SPDX-License-Identifier: MIT */
#include "hal/shared.h"
#include "tests/e2e/echo.h"

#define CAPABILITY_OFFSET 0x200u
#define RINGS_OFFSET      0x1000u /* behind the channel directory */

void echo_copy_in(void *to, const void *from, uint32_t bytes)
{
	uint32_t *words = to;
	const uint32_t *shared = from;

	for (uint32_t i = 0; i < bytes / sizeof(uint32_t); i++)
		words[i] = pb_shared_read32(&shared[i]);
}

void echo_copy_out(void *to, const void *from, uint32_t bytes)
{
	uint32_t *shared = to;
	const uint32_t *words = from;

	for (uint32_t i = 0; i < bytes / sizeof(uint32_t); i++)
		pb_shared_write32(&shared[i], words[i]);
}

/* As many capabilities as a host needs to create queues. */
static void publish(struct echo *echo)
{
	const struct pb_capability capabilities[] = {
		{PB_CAPABILITY_NODES, echo->config->node_count},
		{PB_CAPABILITY_QUEUES, ECHO_QUEUES},
		{PB_CAPABILITY_RING_ENTRIES_MIN, PB_LIMIT_RING_MIN},
		{PB_CAPABILITY_RING_ENTRIES_MAX, PB_LIMIT_RING_MAX},
	};
	struct pb_boot_block *boot = echo->boot;

	echo_copy_out(echo->config->memory + CAPABILITY_OFFSET, capabilities, sizeof(capabilities));
	pb_shared_write32(&boot->abi_version, PB_ABI_VERSION);
	pb_shared_write32(&boot->block_bytes, sizeof(*boot));
	pb_shared_write32(&boot->memory_bytes, echo->config->memory_bytes);
	pb_shared_write32(&boot->capability_offset, CAPABILITY_OFFSET);
	pb_shared_write32(&boot->capability_count, sizeof(capabilities) / sizeof(capabilities[0]));
	pb_shared_write32(&boot->channel_directory_offset, echo->config->channels_offset);
	pb_shared_write32(&boot->channel_count, ECHO_CHANNELS);
	pb_shared_write32(&boot->incarnation, pb_shared_read32(&boot->incarnation) + 1u);
	pb_shared_release();
	pb_shared_write32(&boot->magic, PB_BOOT_MAGIC);
	pb_shared_write32(&boot->boot_stage, PB_BOOT_STAGE_RUNNING);
}

void echo_boot(struct echo *echo, const struct pb_firmware_config *config)
{
	uint8_t *channels = config->memory + config->channels_offset;

	echo->config = config;
	echo->boot = (struct pb_boot_block *)(void *)config->memory;
	echo->pool = config->pool_offset;
	for (uint32_t c = 0; c < ECHO_CHANNELS; c++) {
		struct echo_channel *channel = &echo->channels[c];

		channel->entry = (struct pb_channel_entry *)(void *)channels + c;
		channel->rings = (struct echo_rings *)(void *)(channels + RINGS_OFFSET) + c;
	}
	publish(echo);
}

uint32_t echo_queue_create(struct echo *echo, const struct echo_channel *channel, uint32_t entries,
			   uint32_t os_low)
{
	const uint32_t index = echo->queue_count++ % ECHO_QUEUES;
	struct echo_queue *queue = &echo->queues[index];

	*queue = (struct echo_queue){
		.page = (struct pb_queue_page *)(void *)(channel->system + (os_low - channel->system_os)),
		.mask = entries - 1u,
	};
	pb_shared_write32(&queue->page->fence.epoch, channel->epoch);
	return PB_HANDLE(index, 1);
}

/* The stores that the firmware makes for a completion, in the firmware's order. */
static void complete(struct echo_queue *queue, const struct pb_descriptor *descriptor)
{
	struct pb_fence_record *record = &queue->page->fence;

	pb_shared_write32(&record->sequence, queue->sequence + 1u);
	pb_shared_release();
	pb_shared_write32(&record->completed, queue->completed);
	pb_shared_write32(&record->timeline_low, descriptor->timeline_low);
	pb_shared_write32(&record->timeline_high, descriptor->timeline_high);
	pb_shared_write32(&record->fence_id, descriptor->fence_id);
	pb_shared_write32(&record->status, PB_ERROR_OK);
	pb_shared_write32(&record->valid, 1);
	queue->sequence += 2u;
	pb_shared_release();
	pb_shared_write32(&record->sequence, queue->sequence);
}

void echo_queue_serve(struct echo_queue *queue)
{
	const struct pb_descriptor *ring;
	uint32_t put;

	if (queue->page == NULL)
		return;
	ring = (const struct pb_descriptor *)(const void *)(queue->page + 1);
	put = pb_shared_read32(&queue->page->put);
	pb_shared_acquire();
	while (queue->completed != put) {
		struct pb_descriptor descriptor;

		echo_copy_in(&descriptor, &ring[queue->completed++ & queue->mask], sizeof(descriptor));
		complete(queue, &descriptor);
	}
}
