/* SPDX-License-Identifier: MIT */
/* Clients whose rings, buffers, lists and fence records lie in host memory, and a client that wants the pages of others. */
#define _GNU_SOURCE
#include <string.h>

#include "hal/engine/packets.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_host.h"

#define CLIENTS 2u
#define ROUNDS  20u

struct scene {
	struct e2e_card card;
	struct e2e_host hosts[CLIENTS];
};

static void open_scene(struct scene *scene)
{
	e2e_card_start(&scene->card, 0);
	for (uint32_t i = 0; i < CLIENTS; i++)
		assert_true(e2e_host_open_in_host_memory(&scene->hosts[i], scene->card.socket));
}

static void close_scene(struct scene *scene)
{
	for (uint32_t i = 0; i < CLIENTS; i++)
		assert_true(e2e_host_close(&scene->hosts[i]));
	e2e_card_stop(&scene->card);
}

static void clients_work_in_host_memory(void **state)
{
	static struct scene scene;
	struct pb_host_grant grants[CLIENTS];

	(void)state;
	open_scene(&scene);
	for (uint32_t i = 0; i < CLIENTS; i++) {
		struct e2e_host *host = &scene.hosts[i];

		assert_int_equal(pb_host_grant_query(&host->channel, host->link->channel, 0, &grants[i]),
				 PB_ERROR_OK);
		assert_int_equal(grants[i].count, 1);
		assert_int_equal(grants[i].bytes,
				 host->channel.card.capabilities[PB_CAPABILITY_HOST_BYTES] / 8u);
		/* All that the client has in segment 0 lies in its part, beside card memory. */
		assert_int_equal(host->system.memory_offset, grants[i].offset);
		assert_true(grants[i].offset >= host->channel.card.memory_bytes);
	}
	assert_true(grants[0].offset + grants[0].bytes <= grants[1].offset ||
		    grants[1].offset + grants[1].bytes <= grants[0].offset);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 0; i < CLIENTS; i++)
			assert_true(e2e_host_round(&scene.hosts[i], 0x1000u * i + round));
	}
	close_scene(&scene);
}

/* Asks for a segment of host pages. */
static enum pb_error name_pages(struct e2e_host *host, uint64_t address, uint32_t bytes)
{
	const struct pb_segment_request request = {2,     0x700000000, 0x700000000,
						   bytes, bytes,       PB_SEGMENT_HOST};
	const struct pb_host_pages pages = {.address = address};
	struct pb_segment segment;

	return pb_segment_create_host(&segment, &host->channel, &request, &pages);
}

static void pages_of_others_are_refused(void **state)
{
	static struct scene scene;
	struct e2e_host *hostile = &scene.hosts[0], *other = &scene.hosts[1];
	struct pb_host_grant own, theirs;

	(void)state;
	open_scene(&scene);
	assert_int_equal(pb_host_grant_query(&hostile->channel, hostile->link->channel, 0, &own),
			 PB_ERROR_OK);
	assert_int_equal(pb_host_grant_query(&other->channel, other->link->channel, 0, &theirs), PB_ERROR_OK);
	/* As the card counts its window, as the client counts its own pages, and across their end. */
	assert_int_equal(name_pages(hostile, theirs.offset, PB_PAGE_BYTES), PB_ERROR_NO_PERMISSION);
	assert_int_equal(name_pages(hostile, theirs.offset - own.offset, PB_PAGE_BYTES),
			 PB_ERROR_NO_PERMISSION);
	assert_int_equal(name_pages(hostile, own.bytes - PB_PAGE_BYTES, 2 * PB_PAGE_BYTES),
			 PB_ERROR_NO_PERMISSION);
	/* Granting is the admin's. */
	assert_int_equal(
		pb_host_grant(&hostile->channel, hostile->link->channel, own.bytes, PB_PAGE_BYTES, own.bytes),
		PB_ERROR_NO_PERMISSION);
	assert_int_equal(pb_host_revoke(&hostile->channel, other->link->channel, 0, PB_PAGE_BYTES),
			 PB_ERROR_NO_PERMISSION);
	assert_true(e2e_host_round(other, 0x77));
	close_scene(&scene);
}

/* An engine faults on every page behind those that its channel has named; the other client does not notice. */
static void an_engine_faults_on_the_pages_of_others(void **state)
{
	static struct scene scene;
	struct e2e_host *hostile = &scene.hosts[0], *other = &scene.hosts[1];
	const uint64_t behind = E2E_SYSTEM_BASE + E2E_SYSTEM_BYTES;
	struct pb_fence fence;

	(void)state;
	open_scene(&scene);
	for (uint64_t address = behind; address < behind + 8u * E2E_SYSTEM_BYTES;
	     address += E2E_SYSTEM_BYTES) {
		struct pb_dma *dma = &hostile->builders[0];
		struct pb_queue *queue = &hostile->queues[0];

		pb_dma_begin(dma);
		pb_dma_packet(dma, PB_PACKET_FILL, PB_PACKET_FILL_WORDS);
		pb_dma_word(dma, (uint32_t)address);
		pb_dma_word(dma, (uint32_t)(address >> 32));
		pb_dma_word(dma, PB_PAGE_BYTES);
		pb_dma_word(dma, 0xbad);
		assert_int_equal(pb_dma_submit(dma, 1), PB_ERROR_OK);
		assert_int_equal(pb_queue_wait(queue, queue->timeline, E2E_PATIENCE_US, &fence), PB_ERROR_OK);
		assert_int_equal(fence.status, PB_ERROR_ENGINE_FAULT);
		assert_int_equal(pb_context_clear(&hostile->channel, hostile->context), PB_ERROR_OK);
		assert_true(e2e_host_round(other, (uint32_t)address));
	}
	e2e_host_fill(hostile, 0, 0x88);
	assert_int_equal(pb_dma_submit(&hostile->builders[0], 2), PB_ERROR_OK);
	assert_int_equal(
		pb_queue_wait(&hostile->queues[0], hostile->queues[0].timeline, E2E_PATIENCE_US, &fence),
		PB_ERROR_OK);
	assert_int_equal(fence.status, PB_ERROR_OK);
	assert_true(e2e_target_is(hostile, 0, 0x88));
	close_scene(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(clients_work_in_host_memory),
		e2e_test(pages_of_others_are_refused),
		e2e_test(an_engine_faults_on_the_pages_of_others),
	};

	return e2e_run_tests(tests);
}
