/* SPDX-License-Identifier: MIT */
/*
 * Clients of equal weight share an engine also in the short run: in any half
 * second each has nine tenths of its share, however long the buffers of the
 * others are, as long as those can be stopped.
 */
#include "tests/unit/card_queues.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define CLIENTS      8u
/** Of a segment that holds a queue and a buffer; eight of them fit. */
#define SYSTEM_BYTES 0x140000u
/* All in milliseconds. */
#define WINDOW  500u
#define WARM_UP 200u
#define RUN     2000u
/** Packets of a buffer of the others: it lasts for at least half a window. */
#define PACKETS 400u
/** The longest that a queue may have, in microseconds. */
#define LONG_QUANTUM 65280u

struct client {
	struct pb_channel channel;
	struct pb_segment system;
	struct pb_queue queue;
	struct pb_descriptor work;
};

static struct client clients[CLIENTS];
static struct pb_sim *sim;

static struct pb_descriptor busy(const struct client *client, uint32_t context, uint32_t packets,
				 uint32_t microseconds)
{
	uint32_t *words =
		(uint32_t *)(void *)(client->channel.link->memory + client->system.memory_offset + CARD_DMA);

	for (uint32_t i = 0; i < packets; i++) {
		words[2u * i] = PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS);
		words[2u * i + 1u] = microseconds;
	}
	return (struct pb_descriptor){.context = context,
				      .dma_address_low = (uint32_t)CARD_SYSTEM_OS + CARD_DMA,
				      .dma_size = CARD_DMA_STRIDE,
				      .dma_end = packets * 8u};
}

static void join(uint32_t number, uint32_t quantum, uint32_t packets, uint32_t microseconds)
{
	const struct card card = {.sim = sim};
	const struct pb_segment_request system = {.os_base = CARD_SYSTEM_OS,
						  .gpu_base = CARD_SYSTEM_GPU,
						  .size = CARD_SYSTEM_BYTES,
						  .backing_bytes = SYSTEM_BYTES};
	const struct card_queue_request request = {.level = PB_PRIORITY_NORMAL, .quantum = quantum};
	struct client *client = &clients[number];
	uint32_t context;

	card_join(&card, &client->channel, number + 1u);
	assert_int_equal(pb_segment_create(&client->system, &client->channel, &system), PB_ERROR_OK);
	assert_int_equal(pb_context_create(&client->channel, &context), PB_ERROR_OK);
	assert_int_equal(card_queue_open(&client->queue, &client->channel, &client->system, &request),
			 PB_ERROR_OK);
	client->work = busy(client, context, packets, microseconds);
}

/** @param completed by the first client, whose submissions last for 1 ms, at each millisecond */
static void run(uint32_t count, uint32_t completed[RUN])
{
	const uint64_t begin = pb_sim_now(sim);

	for (uint32_t filled = 0; filled < RUN;) {
		for (uint32_t c = 0; c < count; c++) {
			while (pb_queue_submit(&clients[c].queue, &clients[c].work) == PB_ERROR_OK)
				continue;
		}
		pb_sim_step(sim);
		while (filled < RUN && filled <= (pb_sim_now(sim) - begin) / 1000u)
			completed[filled++] = card_queue_completed(&clients[0].queue);
	}
}

/** Least that the first client had in a window. */
static uint32_t least_of(const uint32_t completed[RUN])
{
	uint32_t least = UINT32_MAX;

	for (uint32_t i = WARM_UP; i + WINDOW < RUN; i++) {
		const uint32_t had = completed[i + WINDOW] - completed[i];

		least = had < least ? had : least;
	}
	return least;
}

static void each_has_nine_tenths_of_its_share_in_any_window(void **state)
{
	static const struct {
		uint32_t others, quantum, microseconds; /* of a packet of the others */
	} rows[] = {{1, 0, 1000}, {1, LONG_QUANTUM, 1000}, {3, 0, 700}, {3, LONG_QUANTUM, 1300},
		    {7, 0, 1000}, {7, LONG_QUANTUM, 1000}, {7, 0, 700}, {7, LONG_QUANTUM, 1300}};
	static uint32_t completed[RUN];
	uint32_t bad = 0;

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		const uint32_t count = rows[i].others + 1u;
		uint32_t least;

		sim = pb_sim_create();
		assert_non_null(sim);
		for (uint32_t c = 0; c < count; c++)
			join(c, c == 0 ? 0 : rows[i].quantum, c == 0 ? 1u : PACKETS,
			     c == 0 ? 1000u : rows[i].microseconds);
		run(count, completed);
		least = least_of(completed) * count;
		print_message("%u others, quantum %u, packets of %u us: %u per mille, at least\n",
			      rows[i].others, rows[i].quantum, rows[i].microseconds, least * 1000u / WINDOW);
		bad += least * 10u < WINDOW * 9u;
		for (uint32_t c = 0; c < count; c++)
			card_leave(&clients[c].channel);
		pb_sim_destroy(sim);
	}
	assert_int_equal(bad, 0);
}

UNIT_SUITE(test_firmware_windows)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_nine_tenths_of_its_share_in_any_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
