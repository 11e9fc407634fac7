/* SPDX-License-Identifier: MIT */
/* A card of 64 MiB, of which the MCU sees 16: engines draw in the rest, hosts read it, and it comes clean to the next. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "hal/engine/packets.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_board.h"
#include "tests/e2e/e2e_host.h"

#define MIB         0x100000u
#define CARD_BYTES  (64u * MIB)
#define OUTER_BYTES (48u * MIB)
#define OUTER       2u
#define OUTER_OS    UINT64_C(0x3000000000)
#define OUTER_GPU   UINT64_C(0x5000000000)

static void start_card(struct e2e_card *card, uint32_t bytes)
{
	struct pb_card_options options = e2e_card_options();

	e2e_path(card->socket, "card");
	options.socket = card->socket;
	options.memory_bytes = bytes;
	options.restarts = 1;
	options.quiet = true;
	assert_int_equal(pb_card_start(&options, &card->pid), 0);
}

static enum pb_error create(struct e2e_host *host, uint32_t bytes, struct pb_segment *segment)
{
	const struct pb_segment_request request = {OUTER, OUTER_OS, OUTER_GPU,
						   bytes, bytes,    PB_SEGMENT_OUTER};

	return pb_segment_create(segment, &host->channel, &request);
}

static const uint32_t *words_of(const struct e2e_host *host, const struct pb_segment *segment)
{
	return (const uint32_t *)(const void *)(host->link->memory + segment->memory_offset);
}

/* How many words of a segment have a value. */
static uint32_t count(const struct e2e_host *host, const struct pb_segment *segment, uint32_t value)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < segment->request.backing_bytes / 4u; i++)
		found += words_of(host, segment)[i] == value;
	return found;
}

/* An allocation in the segment is filled by one engine and copied by the other; the addresses are patched. */
static void draw(struct e2e_host *host, struct pb_segment *segment, uint32_t value)
{
	struct pb_memory low, high;
	struct pb_fence fence;

	assert_int_equal(pb_memory_allocate(segment, MIB, PB_PAGE_BYTES, &low), PB_ERROR_OK);
	assert_int_equal(
		pb_memory_allocate(segment, segment->request.backing_bytes - 2u * MIB, PB_PAGE_BYTES, &high),
		PB_ERROR_OK);
	pb_dma_begin(&host->builders[0]);
	pb_dma_packet(&host->builders[0], PB_PACKET_FILL, PB_PACKET_FILL_WORDS);
	pb_dma_address(&host->builders[0], &low, 0, true);
	pb_dma_word(&host->builders[0], MIB);
	pb_dma_word(&host->builders[0], value);
	assert_int_equal(pb_dma_submit(&host->builders[0], 1), PB_ERROR_OK);
	assert_int_equal(pb_dma_wait(&host->builders[0], E2E_PATIENCE_US, &fence), PB_ERROR_OK);
	assert_int_equal(fence.status, PB_ERROR_OK);
	pb_dma_begin(&host->builders[1]);
	pb_dma_packet(&host->builders[1], PB_PACKET_COPY, PB_PACKET_COPY_WORDS);
	pb_dma_address(&host->builders[1], &low, 0, false);
	pb_dma_address(&host->builders[1], &high, high.bytes - MIB, true);
	pb_dma_word(&host->builders[1], MIB);
	assert_int_equal(pb_dma_submit(&host->builders[1], 2), PB_ERROR_OK);
	assert_int_equal(pb_dma_wait(&host->builders[1], E2E_PATIENCE_US, &fence), PB_ERROR_OK);
	assert_int_equal(fence.status, PB_ERROR_OK);
	/* Both, as the host sees them, and not a word beside them. */
	assert_int_equal(count(host, segment, value), 2u * MIB / 4u);
	assert_int_equal(words_of(host, segment)[0], value);
	assert_int_equal(words_of(host, segment)[(segment->request.backing_bytes - MIB) / 4u - 1u], value);
	assert_int_equal(words_of(host, segment)[(segment->request.backing_bytes - MIB) / 4u], 0);
}

static void it_is_drawn_into_read_and_handed_on_clean(void **state)
{
	static struct e2e_host hosts[2];
	const uint32_t *capabilities = hosts[0].channel.card.capabilities;
	struct pb_segment segment;
	struct e2e_card card;

	(void)state;
	start_card(&card, CARD_BYTES);
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(e2e_host_open(&hosts[i], card.socket));
		assert_int_equal(create(&hosts[i], OUTER_BYTES, &segment), PB_ERROR_OK);
		assert_true(segment.memory_offset >= 16u * MIB);
		assert_int_equal(capabilities[PB_CAPABILITY_OUTER_BYTES], OUTER_BYTES);
		assert_int_equal(capabilities[PB_CAPABILITY_OUTER_OFFSET], segment.memory_offset);
		assert_true(capabilities[PB_CAPABILITY_WINDOW_BYTES] <= 16u * MIB);
		/* Of what the first client drew, its host wrote, and left, the second one finds nothing. */
		assert_int_equal(count(&hosts[i], &segment, 0), OUTER_BYTES / 4u);
		draw(&hosts[i], &segment, 0xc0de0000 + i);
		memset(hosts[i].link->memory + segment.memory_offset + 20u * MIB, 0x77, MIB);
		assert_true(e2e_host_round(&hosts[i], 0x100u + i));
		assert_true(e2e_host_close(&hosts[i]));
	}
	e2e_card_stop(&card);
}

/* A restarted firmware knows nothing of who had what. */
static void a_restarted_card_hands_it_on_clean(void **state)
{
	static struct e2e_host host;
	struct pb_segment segment;
	struct e2e_card card;
	uint64_t start;

	(void)state;
	start_card(&card, CARD_BYTES);
	assert_true(e2e_host_open(&host, card.socket));
	assert_int_equal(create(&host, OUTER_BYTES, &segment), PB_ERROR_OK);
	draw(&host, &segment, 0xdead);
	assert_int_equal(kill(e2e_card_mcu(&card), SIGKILL), 0);
	start = e2e_now();
	while (pb_channel_check(&host.channel, NULL) == PB_ERROR_OK)
		assert_true(e2e_patience(start));
	host.link->ops->close(host.link);
	assert_true(e2e_host_open(&host, card.socket));
	assert_int_equal(create(&host, OUTER_BYTES, &segment), PB_ERROR_OK);
	assert_int_equal(count(&host, &segment, 0), OUTER_BYTES / 4u);
	assert_true(e2e_host_close(&host));
	e2e_card_stop(&card);
}

/* The firmware cannot read a buffer there; it names the fault, and goes on. */
static void a_buffer_there_is_refused(void **state)
{
	static struct e2e_host host;
	struct pb_descriptor descriptor = {.dma_segment = OUTER,
					   .dma_address_low = (uint32_t)OUTER_OS,
					   .dma_address_high = (uint32_t)(OUTER_OS >> 32),
					   .dma_size = PB_PAGE_BYTES,
					   .dma_end = 16};
	struct pb_segment segment;
	struct pb_fence fence;
	struct e2e_card card;

	(void)state;
	start_card(&card, 32u * MIB);
	assert_true(e2e_host_open(&host, card.socket));
	assert_int_equal(create(&host, OUTER_BYTES, &segment), PB_ERROR_NO_SPACE);
	assert_int_equal(create(&host, 16u * MIB, &segment), PB_ERROR_OK);
	descriptor.context = host.context;
	assert_int_equal(pb_queue_submit(&host.queues[0], &descriptor), PB_ERROR_OK);
	assert_int_equal(pb_queue_wait(&host.queues[0], host.queues[0].timeline, E2E_PATIENCE_US, &fence),
			 PB_ERROR_OK);
	assert_int_equal(fence.status, PB_ERROR_BAD_BUFFER);
	assert_int_equal(pb_context_clear(&host.channel, host.context), PB_ERROR_OK);
	assert_int_equal(pb_queue_clear(&host.queues[0]), PB_ERROR_OK);
	draw(&host, &segment, 5);
	assert_true(e2e_host_close(&host));
	e2e_card_stop(&card);
}

/* As large as it may be: the last page works. */
static void the_largest_card_works_to_its_end(void **state)
{
	static struct e2e_host host;
	struct pb_segment segment;
	struct e2e_card card;

	(void)state;
	start_card(&card, 256u * MIB);
	assert_true(e2e_host_open(&host, card.socket));
	assert_int_equal(create(&host, 241u * MIB, &segment), PB_ERROR_NO_SPACE);
	assert_int_equal(create(&host, 240u * MIB, &segment), PB_ERROR_OK);
	draw(&host, &segment, 0x1234);
	assert_true(e2e_host_close(&host));
	e2e_card_stop(&card);
}

static void a_card_of_16_mib_has_none(void **state)
{
	static struct e2e_host host;
	struct pb_segment segment;
	struct e2e_card card;

	(void)state;
	start_card(&card, 16u * MIB);
	assert_true(e2e_host_open(&host, card.socket));
	assert_int_equal(host.channel.card.capabilities[PB_CAPABILITY_OUTER_BYTES], 0);
	assert_int_equal(create(&host, PB_PAGE_BYTES, &segment), PB_ERROR_UNSUPPORTED);
	assert_true(e2e_host_close(&host));
	e2e_card_stop(&card);
}

static void wrong_sizes_are_refused(void **state)
{
	static const char *const forms[] = {"",    "M",    "x",    "-64M",      "+64M",
					    "64K", "64 M", "64MB", "0x4000000", "99999999999999999999M"};
	static const struct {
		const char *size, *message;
	} sizes[] = {
		{"0", "the least is 16 MiB"},         {"8M", "the least is 16 MiB"},
		{"16777215", "the least is 16 MiB"},  {"48M", "a power of two"},
		{"67108865", "a power of two"},       {"512M", "the most is 256 MiB"},
		{"4096M", "the most is 256 MiB"},     {"4294967360M", "give a number"},
		{"268435457", "the most is 256 MiB"},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const struct e2e_refusal refusal = {{"card", "--card-memory", forms[i]},
						    2,
						    "give a number of bytes, or of MiB as in 64M"};

		e2e_check_refusals(&refusal, 1);
	}
	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const struct e2e_refusal refusal = {
			{"card", "--card-memory", sizes[i].size}, 2, sizes[i].message};

		e2e_check_refusals(&refusal, 1);
	}
}

/* As a user has it: the command starts the card, or simulates it. */
static void commands_start_such_a_card(void **state)
{
	static struct e2e_output output;
	const char *cards[][2] = {{"--board", e2e_board()}, {"--sim", NULL}};
	const struct e2e_refusal refusal = {
		{"info", "--card", "/no/such/card", "--card-memory", "64M"}, 2, "for a card that is started"};

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		const char *const arguments[E2E_ARGUMENTS] = {"info", "--card-memory", "64M", cards[i][0],
							      cards[i][1]};

		e2e_collect(e2e_spawn(E2E_PATCHBAY, arguments, NULL), &output);
		assert_int_equal(output.code, 0);
		assert_non_null(strstr(output.out, "OUTER_BYTES          50331648\n"));
	}
	e2e_check_refusals(&refusal, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(it_is_drawn_into_read_and_handed_on_clean),
		e2e_test(a_restarted_card_hands_it_on_clean),
		e2e_test(a_buffer_there_is_refused),
		e2e_test(the_largest_card_works_to_its_end),
		e2e_test(a_card_of_16_mib_has_none),
		e2e_test(wrong_sizes_are_refused),
		e2e_test(commands_start_such_a_card),
	};

	return e2e_run_tests(tests);
}
