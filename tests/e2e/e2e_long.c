/* SPDX-License-Identifier: MIT */
#include "tests/e2e/e2e_long.h"

#include "hal/engine/packets.h"
#include "hal/shared.h"
#include "tests/e2e/e2e.h"

/*
 * An engine that is emulated takes a packet at a time, however long that is to
 * last: it is their number that keeps it. Between two words it runs a buffer
 * of many packets so many times, and may stop in between.
 */
#define REPEATS      120u
#define PACKETS      2000u
#define PACKET_US    200u
#define DELAY_BYTES  (PACKETS * PB_PACKET_BUSY_WORDS * 4u)
#define BUFFER_BYTES 0x8000u

static void open_delay(struct e2e_long *work, struct e2e_host *host)
{
	uint32_t *words;

	assert_int_equal(pb_memory_allocate(&host->video, DELAY_BYTES, PB_PAGE_BYTES, &work->delay),
			 PB_ERROR_OK);
	words = (uint32_t *)(void *)work->delay.bytes_host;
	for (uint32_t i = 0; i < PACKETS; i++) {
		pb_shared_write32(&words[2u * i], PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS));
		pb_shared_write32(&words[2u * i + 1u], PACKET_US);
	}
}

static void append_delay(struct e2e_long *work)
{
	const uint64_t address = work->delay.os_address - E2E_VIDEO_OS + E2E_VIDEO_GPU;

	pb_dma_packet(&work->dma, PB_PACKET_INDIRECT, PB_PACKET_INDIRECT_WORDS);
	pb_dma_word(&work->dma, (uint32_t)address);
	pb_dma_word(&work->dma, (uint32_t)(address >> 32));
	pb_dma_word(&work->dma, DELAY_BYTES);
}

void e2e_long_open(struct e2e_long *work, struct e2e_host *host, struct pb_queue *queue, uint32_t target,
		   uint32_t value)
{
	struct pb_dma *dma = &work->dma;

	work->host = host;
	work->target = target;
	work->value = value;
	open_delay(work, host);
	assert_int_equal(pb_dma_open(dma, queue, host->context, &host->system, &host->system, BUFFER_BYTES,
				     E2E_LONG_WORDS),
			 PB_ERROR_OK);
	pb_dma_begin(dma);
	for (uint32_t i = 0; i < E2E_LONG_WORDS; i++) {
		pb_dma_packet(dma, PB_PACKET_FILL, PB_PACKET_FILL_WORDS);
		pb_dma_address(dma, &host->targets[target], i * 4u, true);
		pb_dma_word(dma, 4);
		pb_dma_word(dma, value + i);
		for (uint32_t repeat = 0; repeat < REPEATS; repeat++)
			append_delay(work);
	}
	assert_int_equal(dma->error, PB_ERROR_OK);
}

void e2e_long_submit(struct e2e_long *work, uint32_t fence_id, uint32_t options)
{
	work->dma.options = options;
	assert_int_equal(pb_dma_submit(&work->dma, fence_id), PB_ERROR_OK);
}

uint32_t *e2e_long_word(const struct e2e_long *work, uint32_t index)
{
	return (uint32_t *)(void *)work->host->targets[work->target].bytes_host + index;
}

uint32_t e2e_long_done(const struct e2e_long *work)
{
	uint32_t done = 0;

	while (done < E2E_LONG_WORDS && pb_shared_read32(e2e_long_word(work, done)) == work->value + done)
		done++;
	return done;
}

void e2e_long_await_start(const struct e2e_long *work)
{
	const uint64_t start = e2e_now();

	while (e2e_long_done(work) == 0)
		assert_true(e2e_patience(start));
}

void e2e_long_shorten(struct e2e_long *work)
{
	pb_shared_write32((uint32_t *)(void *)work->delay.bytes_host,
			  PB_PACKET(PB_PACKET_NOP, DELAY_BYTES / 4u));
}
