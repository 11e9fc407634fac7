/* SPDX-License-Identifier: MIT */
/*
 * A firmware that writes anything anywhere it may write, at any moment: while
 * the host waits, and between any two of its reads. The library must come back
 * in bounded time, with an error that it documents, and must touch no memory
 * but the card's. Run it with the address sanitizer.
 */
#include <string.h>

#include "tests/unit/fake_firmware.h"
#include "tests/unit/stepped.h"
#include "tests/unit/unit.h"

#define ROUNDS 20000u
/* Words that one call may read: those of a record, tried a thousand times in each of its hundred looks. */
#define READS_LIMIT (100u * 1000u * 20u)
/* Nothing waits longer than one command beside the time that the caller gave. */
#define CALL_LIMIT_US (PB_COMMAND_TIMEOUT_US + 200000u)

static uint32_t seed;

static uint32_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed;
}

/* Values that have a chance to get past a check, and some that have not. */
static uint32_t draw_word(void)
{
	static const uint32_t edges[] = {0,          1,          2,          3,          4,
					 0xffffffff, 0x80000000, 0x7fffffff, FAKE_BYTES, 0xfffff000};

	switch (draw() % 4) {
	case 0:
		return edges[draw() % (sizeof(edges) / sizeof(edges[0]))];
	case 1:
		return draw() % 16;
	case 2:
		return draw() % (FAKE_BYTES + 64) & ~3u;
	default:
		return draw();
	}
}

static void spoil_words(struct fake_firmware *fake, uint32_t offset, uint32_t bytes)
{
	*fake_word(fake, offset + draw() % (bytes / 4) * 4) = draw_word();
}

/* ---- between two reads ---- */

static bool restless; /* words change once they have been read */
static uint32_t reads;

uint32_t pb_stepped_read32(const uint32_t *address)
{
	const uint32_t value = *address;

	reads++;
	if (restless && draw() % 32 == 0)
		*(uint32_t *)(uintptr_t)address = draw_word();
	return value;
}

void pb_stepped_write32(uint32_t *address, uint32_t value)
{
	*address = value;
}

/* One word in one of the places that the firmware or the supervisor writes. */
static void spoil_something(struct fake_firmware *fake)
{
	const uint32_t entry = FAKE_DIRECTORY_OFFSET + FAKE_CHANNEL * 256u;

	switch (draw() % 8) {
	case 0:
		spoil_words(fake, PB_BOOT_OFFSET, sizeof(struct pb_boot_block));
		break;
	case 1:
		spoil_words(fake, FAKE_CAPABILITY_OFFSET, 64);
		break;
	case 2:
	case 3:
		spoil_words(fake, entry + 128, 64);
		break;
	case 4:
		spoil_words(fake, entry + 192, 64);
		break;
	case 5:
		spoil_words(fake, FAKE_REPLY_OFFSET, 512);
		break;
	case 6:
		spoil_words(fake, FAKE_EVENT_OFFSET, 256);
		break;
	default:
		spoil_words(fake, FAKE_POOL_OFFSET + 64, 192); /* the first queue's records */
		break;
	}
}

static void spoil_at_times(struct fake_firmware *fake, enum fake_moment moment)
{
	if (moment == FAKE_REPLY && draw() % 8 == 0)
		((uint32_t *)(void *)&fake->reply)[draw() % 4] = draw_word();
	if (draw() % 16 == 0)
		spoil_something(fake);
}

struct client {
	struct fake_firmware fake;
	struct pb_channel channel;
	struct pb_segment system;
	struct pb_queue queue;
	struct pb_descriptor history[64];
	uint32_t ended[128]; /* how often a call ended so */
};

static void ends(struct client *client, uint64_t begin, enum pb_error error)
{
	assert_true(client->fake.now - begin <= CALL_LIMIT_US);
	assert_true(reads <= READS_LIMIT);
	reads = 0;
	assert_string_not_equal(pb_error_name(error), "?");
	client->ended[error]++;
}

/* Memory that the library hands out is the card's: use all of it. */
static void use_memory(struct client *client)
{
	struct pb_memory memory;

	if (pb_memory_allocate(&client->system, 1 + draw() % 0x1000, 64, &memory) != PB_ERROR_OK)
		return;
	memset(memory.bytes_host, 0, memory.bytes);
	pb_memory_free(&memory);
}

/* Taking work back, with work behind it; now and then without waiting for it. */
static void take_back(struct client *client)
{
	const struct pb_descriptor work = {.fence_id = draw()};
	struct pb_preempt preempt;
	uint64_t begin = client->fake.now;
	uint32_t tag;

	client->fake.work_limit = draw() % 3;
	client->fake.defer = draw() % 4 == 0;
	if (client->fake.defer) {
		ends(client, begin, pb_queue_preempt_begin(&client->queue, draw(), draw() % 2));
		ends(client, begin, pb_queue_submit(&client->queue, &work));
		fake_serve(&client->fake);
		ends(client, begin, pb_queue_preempted(&client->queue, &preempt));
		fake_answer(&client->fake, 0);
		ends(client, begin, pb_queue_preempt_finish(&client->queue, &preempt));
		client->fake.defer = false;
	}
	ends(client, begin, pb_queue_suspend_begin(&client->queue, PB_STOP_RECALL, &tag));
	begin = client->fake.now;
	ends(client, begin, pb_queue_preempt(&client->queue, draw(), draw() % 2, &preempt));
	ends(client, begin, pb_queue_preempted(&client->queue, &preempt));
	begin = client->fake.now;
	ends(client, begin, pb_queue_reset(&client->queue, &preempt));
	ends(client, begin, pb_channel_finish(&client->channel, tag, NULL));
	client->fake.work_limit = UINT32_MAX;
	begin = client->fake.now;
	ends(client, begin, pb_queue_resume(&client->queue));
}

static void ask_about(struct client *client)
{
	uint64_t begin = client->fake.now;
	struct pb_queue_resync resync;
	struct pb_node_status node;
	struct pb_channel_status channel;

	ends(client, begin, pb_queue_resync(&client->queue, &resync));
	begin = client->fake.now;
	ends(client, begin, pb_node_query(&client->channel, 0, &node));
	begin = client->fake.now;
	ends(client, begin, pb_channel_query(&client->channel, &channel));
	pb_channel_dropped(&client->channel);
	ends(client, begin, pb_channel_watch(&client->channel));
}

/* No more submissions than the ring holds, whatever the firmware made of the indices. */
static void collect_unfinished(struct client *client)
{
	struct pb_descriptor descriptor;
	uint32_t count = 0;

	while (pb_queue_unfinished(&client->queue, &descriptor) != PB_ERROR_OK)
		count++;
	assert_true(count <= client->queue.entries);
}

static void use_queue(struct client *client)
{
	const struct pb_descriptor work = {.fence_id = draw()};
	struct pb_fence fence;
	struct pb_event event;
	uint64_t begin = client->fake.now;

	ends(client, begin, pb_queue_submit(&client->queue, &work));
	ends(client, begin, pb_queue_fence(&client->queue, &fence));
	begin = client->fake.now;
	ends(client, begin, pb_queue_wait(&client->queue, draw() % 4, 5000, &fence));
	pb_channel_event(&client->channel, &event);
	take_back(client);
	ask_about(client);
	begin = client->fake.now;
	ends(client, begin, pb_queue_clear(&client->queue));
	begin = client->fake.now;
	ends(client, begin, pb_queue_destroy(&client->queue));
	collect_unfinished(client);
}

static void use_channel(struct client *client)
{
	const struct pb_segment_request request = {
		.os_base = FAKE_OS_BASE, .size = 0x10000, .backing_bytes = 0x10000};
	const struct pb_queue_request queue = {
		.entries = 4u << draw() % 5, .priority = draw() % 6, .history = client->history};
	uint64_t begin = client->fake.now;
	struct pb_card_info now;
	uint32_t context = 1;
	enum pb_error error;

	ends(client, begin, pb_channel_check(&client->channel, &now));
	ends(client, begin, pb_context_create(&client->channel, &context));
	begin = client->fake.now;
	ends(client, begin, pb_context_clear(&client->channel, context));
	begin = client->fake.now;
	ends(client, begin, pb_context_destroy(&client->channel, context));
	begin = client->fake.now;
	error = pb_segment_create(&client->system, &client->channel, &request);
	ends(client, begin, error);
	if (error != PB_ERROR_OK)
		return;
	begin = client->fake.now;
	error = pb_queue_create_with(&client->queue, &client->channel, &client->system, &queue);
	ends(client, begin, error);
	if (error == PB_ERROR_OK)
		use_queue(client);
	use_memory(client);
	begin = client->fake.now;
	ends(client, begin, pb_segment_destroy(&client->system));
}

static void one_round(struct client *client, bool words_change)
{
	struct pb_card_info info;
	enum pb_error error;
	uint64_t begin;

	fake_start_again(&client->fake);
	for (uint32_t spoiled = draw() % 3; spoiled != 0; spoiled--)
		spoil_something(&client->fake);
	client->fake.tamper = spoil_at_times;
	restless = words_change;
	pb_card_read(&client->fake.link, &info);
	begin = client->fake.now;
	error = pb_channel_attach(&client->channel, &client->fake.link, 20000);
	ends(client, begin, error);
	if (error == PB_ERROR_OK) {
		use_channel(client);
		begin = client->fake.now;
		ends(client, begin, pb_channel_detach(&client->channel));
	}
	restless = false;
}

static void survive(bool words_change)
{
	static struct client client;

	memset(&client, 0, sizeof(client));
	fake_start(&client.fake);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		seed = round * 2654435761u + 1;
		one_round(&client, words_change);
	}
	fake_stop(&client.fake);
	/* The rounds went deep enough to mean something. */
	for (uint32_t error = 0; error < 128; error++)
		if (client.ended[error] != 0)
			print_message("%8u %s\n", client.ended[error], pb_error_name(error));
	assert_true(client.ended[PB_ERROR_OK] > (words_change ? ROUNDS / 4 : ROUNDS));
	assert_true(client.ended[PB_ERROR_PROTOCOL] > 100);
	assert_true(client.ended[PB_ERROR_FIRMWARE_DEAD] > 100);
	assert_true(client.ended[PB_ERROR_DETACHED] > 100);
	assert_true(client.ended[PB_ERROR_TIMEOUT] > 100);
}

static void survives_a_firmware_gone_mad(void **state)
{
	(void)state;
	survive(false);
}

static void survives_words_that_change(void **state)
{
	(void)state;
	survive(true);
}

UNIT_SUITE(test_host_garbage)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(survives_a_firmware_gone_mad),
		cmocka_unit_test(survives_words_that_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
