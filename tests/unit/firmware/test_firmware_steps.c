/* SPDX-License-Identifier: MIT */
/* How far one step goes, to the entry, and what is seen of it: kicks, segments that are made, records. */
#include <string.h>

#include "firmware/instance.h"
#include "firmware/prepare/resolve.h"
#include "tests/unit/card_queues.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* ---- slices ---- */

static struct pb_firmware firmware;

/** A segment that is being made is compared with the others of its channel, so many at a time. */
static void segments_in_slices(void **state)
{
	struct pb_core_create *create = &firmware.channels[1].memory.create;

	(void)state;
	memset(&firmware, 0, sizeof(firmware));
	*create = (struct pb_core_create){
		.step = PB_CORE_CREATE_CHECK,
		.segment = {.size = PB_PAGE_BYTES, .memory_bytes = PB_PAGE_BYTES},
	};
	firmware.config = &(struct pb_firmware_config){
		.pool_offset = 0x5000, .memory_bytes = 0x100000, .queue_count = 1};
	pb_core_quota_boot(&firmware);
	for (uint32_t at = PB_SLICE_SEGMENTS; at < PB_LIMIT_SEGMENTS; at += PB_SLICE_SEGMENTS) {
		pb_core_segment_step(&firmware, 1);
		assert_int_equal(create->at, at);
		assert_int_equal(create->step, PB_CORE_CREATE_CHECK);
	}
	pb_core_segment_step(&firmware, 1);
	assert_int_equal(create->step, PB_CORE_CREATE_BACK);
	assert_int_equal(create->at, 0x5000);
	assert_int_equal(create->slot, 1);
}

/* ---- what is counted, kept and told ---- */

/** Digests go by these: each time one of them counts up. */
static void counters(void **state)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {
		PB_FORMAT_OWN, PB_FORMAT_ADDRESS | PB_FORMAT_NONE << 8 | 4u << 24, 0, UINT32_MAX};

	(void)state;
	memset(&firmware, 0, sizeof(firmware));
	for (uint32_t i = 1; i <= 3; i++) {
		pb_core_format_set(&firmware.formats, &firmware.channels[1].formats, arguments);
		assert_int_equal(firmware.channels[1].formats.version, 2u * i - 1u);
		pb_core_format_forget(&firmware.formats, &firmware.channels[1].formats);
		assert_int_equal(firmware.channels[1].formats.version, 2u * i);
	}
}

/** What is resolved is patched next, and not looked for again among the buffers that are patched already. */
static void resolved_with_and_without_a_cookie(void **state)
{
	static const uint32_t cookies[] = {0, 1, UINT32_MAX};
	static struct pb_core_job job;
	const struct pb_lines lines = {.pending = &(uint32_t){0}};

	(void)state;
	memset(&firmware, 0, sizeof(firmware));
	firmware.lines = &lines;
	for (uint32_t i = 0; i < COUNT(cookies); i++) {
		job = (struct pb_core_job){.cookie = cookies[i]};
		assert_int_equal(pb_core_resolve(&firmware, &job), PB_ERROR_OK);
		assert_int_equal(job.state, PB_CORE_JOB_PATCH);
	}
}

/** A staged submission that is ready or cleared frees its job. */
static void a_job_is_freed_with_its_submission(void **state)
{
	struct pb_core_node *node = &firmware.nodes[1];

	(void)state;
	memset(&firmware, 0, sizeof(firmware));
	firmware.config = &(const struct pb_firmware_config){.node_count = 2};
	firmware.clock = &(const uint32_t){0};
	firmware.channels[0].grants.weight = 1;
	pb_core_in_flight_next(&node->flight)->queue = &(struct pb_core_queue){0};
	node->staged.job = &firmware.job[1];
	node->staged.kind = PB_CORE_STAGED_READY;
	pb_core_staged_ready(&firmware, node);
	assert_int_equal(node->staged.kind, PB_CORE_STAGED_READY);
	pb_core_staged_clear(&firmware, node);
	assert_int_equal(node->staged.kind, PB_CORE_STAGED_NONE);
	assert_int_equal(firmware.jobs.free, 0);
	node->staged.kind = PB_CORE_STAGED_JOB;
	pb_core_staged_ready(&firmware, node);
	assert_int_equal(node->staged.kind, PB_CORE_STAGED_READY);
	assert_int_equal(firmware.jobs.free, 2);
}

static uint32_t ranges_set;

static void count_range(void *context, uint32_t channel, uint32_t index, const struct pb_engine_range *range)
{
	(void)context;
	assert_int_equal(channel, 1);
	assert_int_equal(index, 7);
	assert_int_equal(range->bytes, 0);
	ranges_set++;
}

/** The engine hears of a segment that goes if it had heard of it. */
static void ranges_of_segments_that_go(void **state)
{
	static const struct {
		uint32_t kind, memory_bytes, ranges;
	} rows[] = {
		{PB_SEGMENT_LINEAR, 0, 0},
		{PB_SEGMENT_LINEAR, PB_PAGE_BYTES, 1},
		{PB_SEGMENT_APERTURE, 0, 1},
	};
	const struct pb_engine_memory_ops ops = {.set_range = count_range};
	const struct pb_engine_memory memory = {.ops = &ops};
	const struct pb_firmware_config config = {.engine_memory = &memory, .memory_bytes = 0x100000};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		memset(&firmware, 0, sizeof(firmware));
		firmware.config = &config;
		pb_core_quota_boot(&firmware);
		assert_int_equal(pb_core_quota_claim(&firmware, 1, PB_RESOURCE_SEGMENTS, 1), PB_ERROR_OK);
		assert_int_equal(pb_core_quota_claim(&firmware, 1, PB_RESOURCE_POOL_BYTES, PB_PAGE_BYTES),
				 PB_ERROR_OK);
		firmware.channels[1].memory.segment_of[7] = 3;
		firmware.segments.taken[0] = 7;
		firmware.segments.at[3] = (struct pb_core_segment){.size = 16u * PB_PAGE_BYTES,
								   .memory_bytes = rows[i].memory_bytes,
								   .kind = (uint8_t)rows[i].kind,
								   .channel = 1};
		ranges_set = 0;
		assert_int_equal(pb_core_segment_destroy(&firmware, 1, 0, 7), PB_ERROR_OK);
		assert_int_equal(ranges_set, rows[i].ranges);
		assert_int_equal(firmware.channels[1].memory.segment_of[7], 0);
		/* Its slot is free when its memory is clear. */
		assert_int_equal(firmware.segments.taken[0], 7);
		firmware.channels[1].replies.deferred = 1;
		pb_core_segment_step(&firmware, 1);
		assert_int_equal(firmware.segments.taken[0], 3);
		assert_int_equal(firmware.segments.at[3].size, 0);
	}
}

/* ---- what goes on ---- */

/** A queue whose put is broken finishes what it had shown, but not while it is suspended. */
static void faulted_and_suspended(void **state)
{
	struct pb_descriptor descriptor;
	struct pb_queue queue;
	struct card card;

	(void)state;
	card_start(&card);
	card_queue_make(&queue, &card, &(struct card_queue_request){0});
	descriptor = card_busy(&card, 0, 5000);
	for (uint32_t i = 0; i < 3; i++)
		card_queue_submit(&queue, &descriptor);
	card_run(&card, 1000);
	card_queue_submit(&queue, &descriptor);
	((struct pb_queue_page *)(void *)queue.memory.bytes_host)->put = 0x80000000;
	card_run(&card, 1000);
	assert_int_equal(pb_queue_suspend(&queue, PB_STOP_RECALL), PB_ERROR_OK);
	card_run(&card, 50000);
	assert_int_equal(card_queue_completed(&queue), 1);
	assert_int_equal(pb_queue_resume(&queue), PB_ERROR_OK);
	assert_int_equal(card_wait_queue(&card, &queue, 3).errors, 1);
	card_stop(&card);
}

#define KICKED  20u
#define PATCHES 65536u

/** Kicks that come all at once are looked at one slice after the other, although there is other work all the time. */
static void kicks_in_slices(void **state)
{
	const struct pb_patch_location patch = {.driver_id = PB_PATCH_FORMAT_ADDRESS64_WRITE,
						.patch_offset = 4};
	static struct pb_queue kicked[KICKED];
	struct pb_descriptor descriptor;
	uint32_t completed = 0;
	struct card card;

	(void)state;
	card_start(&card);
	descriptor = card_nothing(&card, 0);
	for (uint32_t i = 0; i < KICKED; i++)
		card_queue_make(&kicked[i], &card, &(struct card_queue_request){.place = i, .node = 1});
	(void)card_mark(&card, 0, 1);
	for (uint32_t i = 0; i < PATCHES; i++)
		card_patch(&card, i, &patch);
	descriptor = card_descriptor(&card, 0, PB_PACKET_FILL_WORDS * 4u, 1, PATCHES);
	card_submit(&card, 0, &descriptor);
	card_run(&card, 100);
	descriptor = card_nothing(&card, 0);
	for (uint32_t i = 0; i < KICKED; i++)
		card_queue_submit(&kicked[i], &descriptor);
	card_run(&card, 300);
	for (uint32_t i = 0; i < KICKED; i++)
		completed += card_queue_completed(&kicked[i]);
	assert_int_equal(completed, KICKED);
	assert_int_equal(card_why(&card.queues[0]), PB_WHY_PREPARING);
	card_stop(&card);
}

#define PARTS 8u

/** A buffer that a more urgent queue stopped inside goes on there: no part of it is run twice. */
static void what_had_begun_goes_on(void **state)
{
	struct pb_descriptor descriptor;
	struct pb_queue urgent;
	struct card card;
	uint32_t *words;
	uint64_t start;

	(void)state;
	card_start(&card);
	card_queue_make(&urgent, &card, &(struct card_queue_request){.level = PB_PRIORITY_HIGH});
	words = card_dma(&card, 0);
	for (uint32_t i = 0; i < PARTS; i++) {
		words[i * PB_PACKET_BUSY_WORDS] = PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS);
		words[i * PB_PACKET_BUSY_WORDS + 1u] = 1000;
	}
	descriptor = card_descriptor(&card, 0, PARTS * PB_PACKET_BUSY_WORDS * 4u, 0, 0);
	start = pb_sim_now(card.sim);
	card_submit(&card, 0, &descriptor);
	card_run(&card, PARTS * 1000u - 1500u);
	descriptor = card_nothing(&card, 1);
	card_queue_submit(&urgent, &descriptor);
	card_wait_queue(&card, &urgent, 1);
	assert_int_equal(card_queue_completed(&card.queues[0]), 0);
	card_wait(&card, 0, 1);
	assert_in_range(pb_sim_now(card.sim) - start, PARTS * 1000u, PARTS * 1000u + 500u);
	card_stop(&card);
}

/* ---- records ---- */

static uint32_t sequence(const struct pb_queue *queue)
{
	return ((const struct pb_queue_page *)(const void *)queue->memory.bytes_host)->fence.sequence;
}

/** The record's number goes up by 2 with each change and each completion: a host that reads meanwhile sees that. */
static void records_count_their_changes(void **state)
{
	struct pb_descriptor descriptor;
	struct pb_preempt preempt;
	struct pb_queue queue;
	struct card card;

	(void)state;
	card_start(&card);
	card_queue_make(&queue, &card, &(struct card_queue_request){0});
	assert_int_equal(sequence(&queue), 2); /* made */
	descriptor = card_nothing(&card, 1);
	card_queue_submit(&queue, &descriptor);
	card_wait_queue(&card, &queue, 1);
	assert_int_equal(sequence(&queue), 4); /* completed */
	descriptor.options = 2;
	card_queue_submit(&queue, &descriptor);
	card_wait_queue(&card, &queue, 2);
	assert_int_equal(sequence(&queue), 8); /* failed, completed */
	assert_int_equal(pb_queue_clear(&queue), PB_ERROR_OK);
	assert_int_equal(sequence(&queue), 10);
	assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	descriptor = card_busy(&card, 0, 10000);
	card_queue_submit(&queue, &descriptor);
	descriptor = card_nothing(&card, 1);
	card_queue_submit(&queue, &descriptor);
	card_run(&card, 1000);
	assert_int_equal(pb_queue_preempt(&queue, 1, 0, &preempt), PB_ERROR_OK);
	assert_int_equal(preempt.completed, 4);
	assert_int_equal(preempt.returned, 1);
	assert_int_equal(sequence(&queue), 16); /* completed, another returned */
	card_stop(&card);
}

/** Making a queue writes both of its records, and nothing else of its page and ring. */
static void made_with_clean_records(void **state)
{
	static uint8_t
		expected[sizeof(struct pb_queue_page) + CARD_QUEUE_ENTRIES * sizeof(struct pb_descriptor)];
	struct pb_queue_page *page = (struct pb_queue_page *)(void *)expected;
	struct pb_queue queue;
	struct card card;

	(void)state;
	card_start(&card);
	card_queue_make(&queue, &card, &(struct card_queue_request){0});
	assert_int_equal(card_queue_close(&queue), PB_ERROR_OK);
	memset(queue.memory.bytes_host, 0xa5, sizeof(expected));
	memset(expected, 0xa5, sizeof(expected));
	memset(&page->fence, 0, sizeof(page->fence));
	memset(&page->preempt, 0, sizeof(page->preempt));
	page->fence.sequence = 2;
	page->fence.epoch = page->preempt.epoch = card.channel.epoch;
	page->fence.error_index = PB_INDEX_NONE;
	assert_int_equal(card_command(&card.channel, PB_COMMAND_QUEUE_CREATE, 0, CARD_QUEUE_ENTRIES,
				      (uint32_t)queue.memory.os_address,
				      (uint32_t)(queue.memory.os_address >> 32), PB_PRIORITY_NORMAL),
			 PB_ERROR_OK);
	assert_memory_equal(queue.memory.bytes_host, expected, sizeof(expected));
	card_stop(&card);
}

UNIT_SUITE(test_firmware_steps)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_in_slices),
		cmocka_unit_test(counters),
		cmocka_unit_test(resolved_with_and_without_a_cookie),
		cmocka_unit_test(a_job_is_freed_with_its_submission),
		cmocka_unit_test(ranges_of_segments_that_go),
		cmocka_unit_test(faulted_and_suspended),
		cmocka_unit_test(kicks_in_slices),
		cmocka_unit_test(what_had_begun_goes_on),
		cmocka_unit_test(records_count_their_changes),
		cmocka_unit_test(made_with_clean_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
