/* SPDX-License-Identifier: MIT */
/* What hosts seldom do: questions about others, more stops than the card has room for, debts of many turns. */
#include "hal/shared.h"
#include "tests/unit/card_queues.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define CLIENT       2u
/* Stops that are under way at once, at most, of all hosts together. */
#define STOPS 16u
/* As many as a submission may have. */
#define PATCHES 65536u

static struct pb_channel admin;

/* ---- questions ---- */

static void questions_about_others(void **state)
{
	static const struct {
		const char *name;
		uint32_t privileges, channel, generation, index;
		enum pb_error expected;
	} cases[] = {
		{"allowed", PB_PRIVILEGE_QUERY, CLIENT, 1, 0, PB_ERROR_OK},
		{"whichever has the index", PB_PRIVILEGE_QUERY, CLIENT, 0, 0, PB_ERROR_OK},
		{"not allowed", 0, CLIENT, 1, 0, PB_ERROR_NO_PERMISSION},
		{"another privilege", PB_PRIVILEGE_PAGING, CLIENT, 1, 0, PB_ERROR_NO_PERMISSION},
		{"the last channel", PB_PRIVILEGE_QUERY, 8, 1, 0, PB_ERROR_BAD_HANDLE},
		{"behind the last channel", PB_PRIVILEGE_QUERY, 9, 1, 0, PB_ERROR_BAD_ARGUMENT},
		{"no index of a queue", PB_PRIVILEGE_QUERY, CLIENT, 0, 0xf000, PB_ERROR_BAD_HANDLE},
	};
	struct card_client client;
	struct card card;

	(void)state;
	card_start(&card);
	card_join(&card, &admin, PB_CHANNEL_ADMIN);
	card_join_client(&card, &client, CLIENT);
	for (uint32_t i = 0; i < COUNT(cases); i++) {
		const uint32_t index =
			cases[i].index != 0 ? cases[i].index : PB_HANDLE_INDEX(client.queue.handle);
		const uint32_t generation =
			cases[i].generation != 0 ? PB_HANDLE_GENERATION(client.queue.handle) : 0;

		assert_int_equal(card_command(&admin, PB_COMMAND_CHANNEL_GRANT, 1, cases[i].privileges, 1,
					      PB_PRIORITY_NORMAL, 0),
				 PB_ERROR_OK);
		card_equal(cases[i].name,
			   card_command(&card.channel, PB_COMMAND_QUERY, PB_QUERY_QUEUE,
					PB_HANDLE(index, generation), cases[i].channel, 0, 0),
			   cases[i].expected);
	}
	/* The admin needs no privilege. */
	assert_int_equal(
		card_command(&admin, PB_COMMAND_QUERY, PB_QUERY_QUEUE, client.queue.handle, CLIENT, 0, 0),
		PB_ERROR_OK);
	card_leave(&client.channel);
	card_leave(&admin);
	card_stop(&card);
}

/* Whose work is being prepared, and who is behind it. */
static void preparing_and_ready(void **state)
{
	const struct pb_patch_location patch = {.driver_id = PB_PATCH_FORMAT_ADDRESS64_WRITE,
						.patch_offset = 4};
	struct pb_queue behind;
	struct card card;
	struct pb_descriptor descriptor;

	(void)state;
	card_start(&card);
	card_queue_make(&behind, &card, &(struct card_queue_request){.level = PB_PRIORITY_LOW});
	card_mark(&card, 0, 1);
	for (uint32_t i = 0; i < PATCHES; i++)
		card_patch(&card, i, &patch);
	descriptor = card_descriptor(&card, 0, PB_PACKET_FILL_WORDS * 4u, 1, PATCHES);
	card_submit(&card, 0, &descriptor);
	card_run(&card, 100);
	descriptor = card_nothing(&card, 2);
	card_queue_submit(&behind, &descriptor);
	assert_int_equal(card_why(&card.queues[0]), PB_WHY_PREPARING);
	assert_int_equal(card_why(&behind), PB_WHY_READY);
	assert_int_equal(card_wait(&card, 0, 1).status, PB_ERROR_OK);
	card_stop(&card);
}

/* ---- more stops than there is room for ---- */

/* Those that are too many wait in their host's ring until others are done. Another host's does not wait for that. */
static void a_stop_too_many(void **state)
{
	struct pb_queue queues[STOPS];
	uint32_t tags[STOPS], last;
	struct card_client client;
	struct card card;
	struct pb_descriptor descriptor;
	const uint32_t nothing[PB_COMMAND_ARGUMENTS] = {0};

	(void)state;
	card_start(&card);
	card_join_client(&card, &client, CLIENT);
	descriptor = card_busy(&card, 0, 20000);
	card_submit(&card, 0, &descriptor);
	card_run(&card, 1000);
	descriptor = card_nothing(&card, 1);
	for (uint32_t i = 0; i < STOPS; i++) {
		card_queue_make(&queues[i], &card, &(struct card_queue_request){.place = i});
		card_queue_submit(&queues[i], &descriptor);
	}
	for (uint32_t i = 0; i < STOPS; i++)
		assert_int_equal(pb_queue_suspend_begin(&queues[i], 0, &tags[i]), PB_ERROR_OK);
	card_run(&card, 1000);
	assert_int_equal(pb_queue_suspend_begin(&client.queue, 0, &last), PB_ERROR_OK);
	card_run(&card, 1000);
	assert_int_equal(pb_channel_finish(&client.channel, last, NULL), PB_ERROR_OK);
	assert_int_equal(card_queue_completed(&queues[0]), 0);
	/* Those that have no place yet stay in the ring. */
	assert_in_range(card.channel.control_put - pb_shared_read32(&card.channel.entry->control_get), 1,
			STOPS - 1u);
	card_run(&card, 40000);
	for (uint32_t i = 0; i < STOPS; i++) {
		assert_int_equal(card_queue_completed(&queues[i]), 1);
		assert_int_equal(pb_channel_finish(&card.channel, tags[i], NULL), PB_ERROR_OK);
	}
	assert_int_equal(pb_channel_command(&client.channel, PB_COMMAND_PING, nothing, NULL), PB_ERROR_OK);
	card_leave(&client.channel);
	card_stop(&card);
}

/* ---- no job is free ---- */

/* Long lists on the first two nodes take both jobs. @return of a submission whose one patch is to be carried out */
static struct pb_descriptor take_all_jobs(struct card *card)
{
	const struct pb_patch_location patch = {.driver_id = PB_PATCH_FORMAT_ADDRESS64_WRITE,
						.patch_offset = 4};
	struct pb_descriptor descriptor;

	for (uint32_t i = 0; i < 3; i++)
		(void)card_mark(card, i, i + 1u);
	for (uint32_t i = 0; i < PATCHES; i++)
		card_patch(card, i, &patch);
	for (uint32_t i = 0; i < 2; i++) {
		descriptor = card_descriptor(card, i, PB_PACKET_FILL_WORDS * 4u, 1, PATCHES);
		card_submit(card, i, &descriptor);
	}
	card_run(card, 100);
	return card_descriptor(card, 2, PB_PACKET_FILL_WORDS * 4u, 1, 1);
}

/* A submission with patches that closes a cycle fails as soon as there is a job for it. */
static void a_cycle_without_a_job(void **state)
{
	struct pb_queue first, second;
	struct pb_descriptor descriptor, waiting;
	struct card card;

	(void)state;
	card_start(&card);
	card_queue_make(&first, &card, &(struct card_queue_request){.place = 0, .node = 2});
	card_queue_make(&second, &card, &(struct card_queue_request){.place = 1, .node = 2});
	descriptor = take_all_jobs(&card);
	waiting = card_waiting_for(&card, 0, &second, 1);
	card_queue_submit(&first, &waiting);
	waiting = card_waiting_for(&card, 1, &first, 1);
	descriptor.wait_address_low = waiting.wait_address_low;
	descriptor.wait_address_high = waiting.wait_address_high;
	descriptor.wait_count = 1;
	card_queue_submit(&second, &descriptor);
	card_run(&card, 200);
	assert_int_equal(card_queue_completed(&second), 0);
	assert_int_equal(card_queue_completed(&card.queues[0]), 0);
	assert_int_equal(card_wait_queue(&card, &second, 1).status, PB_ERROR_DEADLOCK);
	assert_int_equal(card_wait_queue(&card, &first, 1).status, PB_ERROR_DEP_FAILED);
	card_stop(&card);
}

/* A queue that was passed by too often has its turn, but no job: it keeps the turn until there is one. */
static void a_turn_without_a_job(void **state)
{
	struct pb_queue urgent[12], low;
	struct pb_descriptor descriptor, nothing;
	struct card card;

	(void)state;
	card_start(&card);
	card_queue_make(&low, &card, &(struct card_queue_request){.node = 2, .level = PB_PRIORITY_LOW});
	for (uint32_t i = 0; i < COUNT(urgent); i++)
		card_queue_make(
			&urgent[i], &card,
			&(struct card_queue_request){.place = 1u + i, .node = 2, .level = PB_PRIORITY_HIGH});
	descriptor = take_all_jobs(&card);
	nothing = card_nothing(&card, 7);
	for (uint32_t i = 0; i < COUNT(urgent) * CARD_QUEUE_ENTRIES; i++)
		card_queue_submit(&urgent[i % COUNT(urgent)], &nothing);
	card_queue_submit(&low, &descriptor);
	card_run(&card, 300);
	assert_int_equal(card_queue_completed(&low), 0);
	assert_int_equal(card_queue_completed(&card.queues[0]), 0);
	assert_int_equal(card_wait_queue(&card, &low, 1).status, PB_ERROR_OK);
	for (uint32_t i = 0; i < COUNT(urgent); i++)
		assert_int_equal(card_wait_queue(&card, &urgent[i], CARD_QUEUE_ENTRIES).status, PB_ERROR_OK);
	card_stop(&card);
}

/* ---- what an earlier list has left behind ---- */

/* An index that only the longer list before had is none, of a format that writes and of one that does not. */
static void index_of_a_longer_list(void **state)
{
	static const uint32_t formats[] = {PB_PATCH_FORMAT_ADDRESS64, PB_PATCH_FORMAT_ADDRESS64_WRITE};
	struct pb_descriptor descriptor;
	struct card card;

	(void)state;
	card_start(&card);
	for (uint32_t i = 0; i < COUNT(formats); i++) {
		for (uint32_t long_list = 1; long_list < 2; long_list--) {
			const struct pb_patch_location patch = {
				.allocation_index = 2, .driver_id = formats[i], .patch_offset = 4};

			for (uint32_t a = 0; a < 3; a++)
				card_allocation(&card, a, CARD_VIDEO_OS, 0x1000,
						CARD_SEGMENT(1) | PB_ALLOCATION_WRITE);
			card_patch(&card, 0, &patch);
			card_dma(&card, 0)[0] = PB_PACKET(PB_PACKET_NOP, 3);
			descriptor = card_descriptor(&card, 0, 12, long_list ? 3 : 1, 1);
			assert_int_equal(card_execute(&card, 0, &descriptor).status,
					 long_list ? PB_ERROR_OK : PB_ERROR_PATCH_INDEX);
		}
		assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	}
	card_stop(&card);
}

/* What a loop knows of a format holds for one submission: the next one has a range of its own. */
static void range_of_a_longer_submission(void **state)
{
	struct pb_descriptor descriptor;
	struct card card;

	(void)state;
	card_start(&card);
	card_allocation(&card, 0, CARD_VIDEO_OS, 0x1000, CARD_SEGMENT(1));
	for (uint32_t bytes = 0x1000; bytes != 0; bytes = bytes == 0x1000 ? 64 : 0) {
		for (uint32_t i = 0; i < 4; i++) {
			const struct pb_patch_location patch = {.driver_id = PB_PATCH_FORMAT_SHIFT1,
								.patch_offset = i < 3 ? 4u * i : 128u};

			card_patch(&card, i, &patch);
		}
		descriptor = card_descriptor(&card, 0, bytes, 1, 4);
		descriptor.flags = PB_FLAG_NULL_RENDERING;
		assert_int_equal(card_execute(&card, 0, &descriptor).status,
				 bytes == 64 ? PB_ERROR_PATCH_RANGE : PB_ERROR_OK);
	}
	card_stop(&card);
}

/* An only allocation just above 4 GiB does not fit 32 bits any more than others do. */
static void one_above_4_gib(void **state)
{
	const struct pb_patch_location patch = {.driver_id = PB_PATCH_FORMAT_ADDRESS32};
	struct pb_descriptor descriptor;
	struct card card;

	(void)state;
	card_start(&card);
	card_allocation(&card, 0, CARD_VIDEO_OS, 0x1000, CARD_SEGMENT(1));
	for (uint32_t i = 0; i < 4; i++)
		card_patch(&card, i, &patch);
	descriptor = card_descriptor(&card, 0, 64, 1, 4);
	descriptor.flags = PB_FLAG_NULL_RENDERING;
	assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_PATCH_VALUE);
	card_stop(&card);
}

/* ---- behind what was withdrawn ---- */

/* What a more urgent queue puts off stays patched. What comes behind it in its queue is patched as any other. */
static void patched_behind_what_was_withdrawn(void **state)
{
	uint32_t results[PB_REPLY_RESULTS];
	struct pb_descriptor descriptor;
	struct pb_queue urgent;
	struct card card;

	(void)state;
	card_start(&card);
	card_queue_make(&urgent, &card, &(struct card_queue_request){.level = PB_PRIORITY_HIGH});
	for (uint32_t round = 0; round < 3; round++) {
		descriptor = card_busy(&card, 0, 20000);
		card_submit(&card, 0, &descriptor);
		descriptor = card_mark(&card, 1, 10u + round);
		card_submit(&card, 0, &descriptor);
		card_run(&card, 1000);
		descriptor = card_nothing(&card, 0);
		card_queue_submit(&urgent, &descriptor);
		assert_int_equal(card_wait(&card, 0, 3u * round + 2u).status, PB_ERROR_OK);
		assert_int_equal(card_word(&card, 1, 4), 10u + round);
		descriptor = card_mark(&card, 2, 20u + round);
		card_submit(&card, 0, &descriptor);
		assert_int_equal(card_wait(&card, 0, 3u * round + 3u).status, PB_ERROR_OK);
		assert_int_equal(card_word(&card, 1, 8), 20u + round);
	}
	/* It was put off each time. */
	card_query(&card.channel, PB_QUERY_NODE, 0, results);
	assert_int_equal(results[8], 3);
	card_stop(&card);
}

/* A wait list must be in memory, wherever that ends. */
static void wait_lists_outside_memory(void **state)
{
	static const uint64_t addresses[] = {0, CARD_SYSTEM_OS - 8u, CARD_SYSTEM_OS + CARD_SYSTEM_BYTES - 8u,
					     CARD_SYSTEM_OS + CARD_SYSTEM_BYTES,
					     UINT64_C(0xfffffffffffffff8)};
	struct card card;

	(void)state;
	card_start(&card);
	/* What stands at the very beginning would else pass for a wait with a reserved bit set. */
	((struct pb_boot_block *)(void *)card.link->memory)->abi_version = 0;
	for (uint32_t i = 0; i < COUNT(addresses); i++) {
		struct pb_descriptor descriptor = card_nothing(&card, i);

		descriptor.wait_address_low = (uint32_t)addresses[i];
		descriptor.wait_address_high = (uint32_t)(addresses[i] >> 32);
		descriptor.wait_count = 1;
		assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_BAD_WAIT);
		assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	}
	card_stop(&card);
}

/* ---- debts ---- */

/*
 * Packets that nothing can stop, of many turns each. When all are deep in debt
 * the level does not count up to it turn by turn: who has the least is next.
 */
static void deep_in_debt(void **state)
{
	struct card_client client;
	struct card card;
	struct pb_descriptor own, other;
	uint32_t done = 0, others = 0;
	uint32_t *words;

	(void)state;
	card_start(&card);
	card_join_client(&card, &client, CLIENT);
	own = card_busy(&card, 0, 60000);
	/* The client's buffer is at the same place of its own segment. */
	other = own;
	other.context = client.context;
	words = (uint32_t *)(void *)(client.channel.link->memory + client.segments[0].memory_offset +
				     CARD_DMA);
	words[0] = PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS);
	words[1] = 60000;
	for (uint32_t i = 0; i < 8; i++) {
		card_submit(&card, 0, &own);
		card_queue_submit(&client.queue, &other);
	}
	/* Equal shares, whatever the debt: neither is ever ahead by more than what is in flight. */
	for (uint32_t look = 0; look < 2000 && done + others < 16; look++) {
		card_run(&card, 1000);
		done = card_queue_completed(&card.queues[0]);
		others = card_queue_completed(&client.queue);
		assert_in_range(done + 4u - others, 1, 7);
	}
	assert_int_equal(done, 8);
	assert_int_equal(others, 8);
	card_leave(&client.channel);
	card_stop(&card);
}

/* ---- a segment at the edge ---- */

/* Its OS addresses cross 4 GiB: they are resolved one by one, and right. */
static void os_addresses_across_4_gib(void **state)
{
	const struct pb_segment_request request = {
		.id = 5, .os_base = UINT64_C(0x3ffffe000), .gpu_base = UINT64_C(0x700000000), .size = 0x4000};
	static const uint64_t offsets[] = {0, 0x1fff, 0x2000, 0x2001, 0x3000};
	struct pb_segment segment;
	struct card card;

	(void)state;
	card_start(&card);
	assert_int_equal(pb_segment_create(&segment, &card.channel, &request), PB_ERROR_OK);
	for (uint32_t i = 0; i < COUNT(offsets); i++) {
		const struct pb_patch_location patch = {.allocation_index = i,
							.driver_id = PB_PATCH_FORMAT_ADDRESS64,
							.patch_offset = 4u + 8u * i};

		card_allocation(&card, i, request.os_base + offsets[i], 1, CARD_SEGMENT(5));
		card_patch(&card, i, &patch);
	}
	card_dma(&card, 0)[0] = PB_PACKET(PB_PACKET_NOP, 1u + 2u * COUNT(offsets));
	{
		const struct pb_descriptor descriptor =
			card_descriptor(&card, 0, 4u + 8u * COUNT(offsets), COUNT(offsets), COUNT(offsets));

		assert_int_equal(card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
	}
	for (uint32_t i = 0; i < COUNT(offsets); i++) {
		assert_int_equal(card_dma(&card, 0)[1u + 2u * i], offsets[i]);
		assert_int_equal(card_dma(&card, 0)[2u + 2u * i], 7);
	}
	card_stop(&card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(questions_about_others),
		cmocka_unit_test(preparing_and_ready),
		cmocka_unit_test(a_stop_too_many),
		cmocka_unit_test(a_cycle_without_a_job),
		cmocka_unit_test(a_turn_without_a_job),
		cmocka_unit_test(deep_in_debt),
		cmocka_unit_test(range_of_a_longer_submission),
		cmocka_unit_test(one_above_4_gib),
		cmocka_unit_test(wait_lists_outside_memory),
		cmocka_unit_test(index_of_a_longer_list),
		cmocka_unit_test(os_addresses_across_4_gib),
		cmocka_unit_test(patched_behind_what_was_withdrawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
