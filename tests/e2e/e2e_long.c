/* SPDX-License-Identifier: MIT */
#include "tests/e2e/e2e_long.h"

#include "hal/engine/packets.h"
#include "hal/shared.h"
#include "tests/e2e/e2e.h"

/*
 * Engine time is virtual: an emulated engine runs 200 us of it, a slice, in a fraction of a microsecond. Between two words
 * it runs a buffer of 50,000 slices many times, and may stop in between: after ten milliseconds. All of it takes more than
 * a minute of the card's processor time.
 */
#define REPEATS      500u
#define PACKETS      2000u
#define PACKET_US    5000u
#define DELAY_BYTES  (PACKETS * PB_PACKET_BUSY_WORDS * 4u)
#define BUFFER_BYTES 0x20000u

static void open_delay(struct e2e_long *submission, struct e2e_host *host)
{
	uint32_t *words;

	assert_int_equal(pb_memory_allocate(&host->video, DELAY_BYTES, PB_PAGE_BYTES, &submission->delay),
			 PB_ERROR_OK);
	words = (uint32_t *)(void *)submission->delay.bytes_host;
	for (uint32_t i = 0; i < PACKETS; i++) {
		pb_shared_write32(&words[2u * i], PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS));
		pb_shared_write32(&words[2u * i + 1u], PACKET_US);
	}
}

static void append_delay(struct e2e_long *submission)
{
	const uint64_t address = submission->delay.os_address - E2E_VIDEO_OS + E2E_VIDEO_GPU;

	pb_dma_packet(&submission->dma, PB_PACKET_INDIRECT, PB_PACKET_INDIRECT_WORDS);
	pb_dma_word(&submission->dma, (uint32_t)address);
	pb_dma_word(&submission->dma, (uint32_t)(address >> 32));
	pb_dma_word(&submission->dma, DELAY_BYTES);
}

void e2e_long_open(struct e2e_long *submission, struct e2e_host *host, struct pb_queue *queue,
		   uint32_t target, uint32_t value)
{
	struct pb_dma *dma = &submission->dma;

	submission->host = host;
	submission->target = target;
	submission->value = value;
	open_delay(submission, host);
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
			append_delay(submission);
	}
	assert_int_equal(dma->error, PB_ERROR_OK);
}

void e2e_long_submit(struct e2e_long *submission, uint32_t fence_id, uint32_t options)
{
	submission->dma.options = options;
	assert_int_equal(pb_dma_submit(&submission->dma, fence_id), PB_ERROR_OK);
}

uint32_t *e2e_long_word(const struct e2e_long *submission, uint32_t index)
{
	return (uint32_t *)(void *)submission->host->targets[submission->target].bytes_host + index;
}

uint32_t e2e_long_done(const struct e2e_long *submission)
{
	uint32_t done = 0;

	while (done < E2E_LONG_WORDS &&
	       pb_shared_read32(e2e_long_word(submission, done)) == submission->value + done)
		done++;
	return done;
}

void e2e_long_await_start(const struct e2e_long *submission)
{
	const uint64_t start = e2e_now();

	while (e2e_long_done(submission) == 0)
		assert_true(e2e_patience(start));
}

void e2e_long_shorten(struct e2e_long *submission)
{
	pb_shared_write32((uint32_t *)(void *)submission->delay.bytes_host,
			  PB_PACKET(PB_PACKET_NOP, DELAY_BYTES / 4u));
}
