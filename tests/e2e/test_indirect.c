/* SPDX-License-Identifier: MIT */
/* A DMA buffer that names itself: its last packet runs words that stand earlier in it. */
#include "hal/engine/packets.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_host.h"

#define VALUE        0x5e1f0000u
#define BUFFER_BYTES 4096u
#define PATCHES      4u

/* The skipped words fill the target. The buffer lies in a segment that patches may address. */
static enum pb_error run(struct e2e_host *host, uint32_t value)
{
	struct pb_dma dma;
	struct pb_fence fence;
	uint32_t start, bytes;
	enum pb_error error = pb_dma_open(&dma, &host->queues[0], host->context, &host->video, &host->system,
					  BUFFER_BYTES, PATCHES);

	if (error != PB_ERROR_OK)
		return error;
	pb_dma_begin(&dma);
	start = pb_dma_skip_begin(&dma);
	pb_dma_packet(&dma, PB_PACKET_FILL, PB_PACKET_FILL_WORDS);
	pb_dma_address(&dma, &host->targets[0], 0, true);
	pb_dma_word(&dma, E2E_TARGET_BYTES);
	pb_dma_word(&dma, value);
	bytes = pb_dma_skip_end(&dma, start);
	pb_dma_packet(&dma, PB_PACKET_INDIRECT, PB_PACKET_INDIRECT_WORDS);
	pb_dma_address(&dma, &dma.buffer, start, false);
	pb_dma_word(&dma, bytes);
	error = pb_dma_submit(&dma, value);
	if (error == PB_ERROR_OK)
		error = pb_dma_wait(&dma, E2E_PATIENCE_US, &fence);
	pb_dma_close(&dma);
	return error;
}

static void a_buffer_runs_words_of_itself(void **state)
{
	struct e2e_host host;
	struct e2e_card card;

	(void)state;
	e2e_card_start(&card, 0);
	assert_true(e2e_host_open(&host, card.socket));
	for (uint32_t i = 0; i < 3; i++) {
		e2e_target_set(&host, 0, ~VALUE);
		assert_int_equal(run(&host, VALUE + i), PB_ERROR_OK);
		assert_true(e2e_target_is(&host, 0, VALUE + i));
	}
	assert_true(e2e_host_close(&host));
	e2e_card_stop(&card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {e2e_test(a_buffer_runs_words_of_itself)};

	return e2e_run_tests(tests);
}
