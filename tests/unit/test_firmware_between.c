/* SPDX-License-Identifier: MIT */
/* What happens between two passes of the firmware, or inside a loop, just where it matters. */
#include <string.h>

#include "firmware/core.h"
#include "firmware/limits.h"
#include "firmware/resolve.h"
#include "firmware/run_compact.h"
#include "tests/unit/puppet_bench.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* ---- inside loops ---- */

/* A line is raised in the midst of a list: the loop stops behind the slice that it is at, and goes on later. */
static void resolving_stops_for_a_line(void **state)
{
	enum { LENGTH = 3u * PB_SLICE_ALLOCATIONS + 5u };
	static struct pb_core_job job;
	static struct pb_allocation allocations[LENGTH];
	const struct pb_core_window window = {
		.os_end = 0x20000, .bytes = 0x10000, .gpu_delta = 0x500, .gpu_high = 3};
	const uint32_t quiet = 0, raised = 4;
	struct pb_core_listed tripped;

	(void)state;
	for (uint32_t i = 0; i < LENGTH; i++)
		allocations[i] =
			(struct pb_allocation){.address_low = 0x10000u + 16u * i, .size_low = 16, .id = i};
	job.allocations = allocations;
	for (uint32_t slices = 1; slices <= 3; slices++) {
		assert_false(pb_core_run_resolve(&job, &window, LENGTH, &raised, &tripped));
		assert_int_equal(job.resolved, slices * PB_SLICE_ALLOCATIONS);
	}
	assert_false(pb_core_run_resolve(&job, &window, LENGTH, &raised, &tripped));
	assert_int_equal(job.resolved, LENGTH);
	job.resolved = 1;
	assert_false(pb_core_run_resolve(&job, &window, LENGTH, &quiet, &tripped));
	assert_int_equal(job.resolved, LENGTH);
	for (uint32_t i = 0; i < LENGTH; i++) {
		assert_int_equal(job.slots[i].low, 0x10500u + 16u * i);
		assert_int_equal(job.slots[i].high, 3);
		assert_int_equal(job.ids[i], i);
	}
}

/* Short entries count their places from the buffer's start: beyond the last that they can name there is none. */
static void places_of_short_entries(void **state)
{
	static const struct {
		uint32_t start, places, expected;
	} cases[] = {
		{0, 10, 10},
		{0, UINT32_MAX, PB_COMPACT_PLACE_END / 4u},
		{PB_COMPACT_PLACE_END - 8u, 10, 2},
		{PB_COMPACT_PLACE_END - 4u, 10, 1},
		{PB_COMPACT_PLACE_END, 10, 0},
		{PB_COMPACT_PLACE_END + 4u, 10, 0},
		{0xfffffffcu, 10, 0},
	};
	static struct pb_core_cursor cursor;

	(void)state;
	for (uint32_t i = 0; i < COUNT(cases); i++) {
		cursor.start = cases[i].start;
		cursor.places[PB_CORE_CLASS_WORD] = cases[i].places;
		assert_int_equal(pb_core_short_places(&cursor, PB_CORE_CLASS_WORD),
				 cases[i].expected << PB_COMPACT_PLACE_SHIFT);
	}
}

/* A buffer is known by its cookie to its own channel only, wherever that is kept. */
static void cookies_of_other_channels(void **state)
{
	struct pb_firmware *firmware = puppet_bench.firmware;
	static struct pb_core_job job;
	struct pb_core_queue queue = {.channel = 1};
	struct pb_core_work work = {.queue = &queue};

	(void)state;
	job = (struct pb_core_job){.work = &work,
				   .channel = &firmware->channels[1],
				   .target = puppet_memory,
				   .bytes = 8,
				   .cookie = 0xc001};
	for (uint32_t channel = 0; channel < 64; channel++) {
		queue.channel = 1;
		job.compared = 0;
		pb_core_compare(firmware, &job);
		pb_core_compare_remember(firmware, &job);
		queue.channel = (uint8_t)channel;
		pb_core_compare(firmware, &job);
		assert_int_equal(job.state, channel == 1 ? PB_CORE_JOB_READY : PB_CORE_JOB_PATCH);
	}
}

/* ---- between two passes ---- */

static void no_doorbell(struct pb_link *link)
{
	(void)link;
}

static void silence(void)
{
	static struct pb_link_ops ops;

	ops = *puppet_bench.link.ops;
	ops.doorbell = no_doorbell;
	puppet_bench.link.ops = &ops;
}

static uint32_t begin(uint32_t code, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {a, b, c, d};
	uint32_t tag;

	assert_int_equal(pb_channel_begin(&puppet_bench.channel, code, arguments, &tag), PB_ERROR_OK);
	return tag;
}

static struct pb_queue first, second;
static struct pb_memory list;

static void make_two(void)
{
	assert_int_equal(pb_queue_create(&first, &puppet_bench.channel, &puppet_bench.system, 0, 4),
			 PB_ERROR_OK);
	assert_int_equal(pb_queue_create(&second, &puppet_bench.channel, &puppet_bench.system, 0, 4),
			 PB_ERROR_OK);
	assert_int_equal(pb_memory_allocate(&puppet_bench.system, 4096, PB_LINE_BYTES, &list), PB_ERROR_OK);
}

/* Submits work that waits for a value; with a patch if that is asked for. */
static void submit_waiting(struct pb_queue *queue, uint32_t place, const struct pb_queue *target,
			   uint64_t value, bool patched)
{
	const uint32_t offset = place * PB_LINE_BYTES;
	struct pb_descriptor descriptor = {.context = puppet_bench.contexts[0],
					   .dma_address_low = PUPPET_DMA,
					   .dma_size = 4096,
					   .dma_end = 4,
					   .wait_address_low = (uint32_t)list.os_address + offset,
					   .wait_count = 1};

	if (patched) {
		descriptor.allocation_count = 1;
		descriptor.allocation_address_low = (uint32_t)list.os_address + 2048u;
		descriptor.patch_address_low = (uint32_t)list.os_address + 3072u;
		descriptor.patch_count = 1;
		descriptor.patch_length = 1;
	}
	pb_wait_on((struct pb_wait *)(void *)(list.bytes_host + offset), target, value);
	assert_int_equal(pb_queue_submit(queue, &descriptor), PB_ERROR_OK);
}

static struct pb_fence fence_of(struct pb_queue *queue)
{
	struct pb_fence fence;

	assert_int_equal(pb_queue_fence(queue, &fence), PB_ERROR_OK);
	return fence;
}

/* Whoever may have closed a cycle is destroyed before that is looked at. */
static void walker_that_leaves(void **state)
{
	uint32_t tag;

	(void)state;
	make_two();
	submit_waiting(&first, 0, &puppet_bench.queue, 1, false);
	silence();
	submit_waiting(&second, 1, &first, 2, false);
	puppet_bench.host_lines.pending |= 1u << PB_LINE_CHANNEL(1);
	assert_true(pb_firmware_pass(puppet_bench.firmware));
	assert_int_equal(puppet_bench.firmware->nodes[0].next, PB_CORE_NEXT_WALK);
	tag = begin(PB_COMMAND_QUEUE_DESTROY, second.handle, 0, 0, 0);
	puppet_run(1u << PB_LINE_CHANNEL(1));
	assert_int_equal(puppet_bench.firmware->nodes[0].next, PB_CORE_NEXT_NONE);
	assert_int_equal(pb_channel_finish(&puppet_bench.channel, tag, NULL), PB_ERROR_OK);
	/* The other one waits on, and comes to its end. */
	puppet_submit(0, 1);
	puppet_run(1u << PB_LINE_CHANNEL(1));
	puppet_finish(1);
	puppet_finish(2);
	assert_int_equal(fence_of(&first).completed, 1);
}

/* The last job is taken before the walk finds the cycle: it is closed all the same when there is one again. */
static void cycle_without_a_job(void **state)
{
	struct pb_firmware *firmware = puppet_bench.firmware;
	uint32_t jobs;

	(void)state;
	make_two();
	submit_waiting(&first, 0, &second, 1, false);
	silence();
	submit_waiting(&second, 1, &first, 1, true);
	puppet_bench.host_lines.pending |= 1u << PB_LINE_CHANNEL(1);
	assert_true(pb_firmware_pass(firmware));
	assert_int_equal(firmware->nodes[0].next, PB_CORE_NEXT_WALK);
	jobs = firmware->jobs_free;
	firmware->jobs_free = 0;
	for (uint32_t pass = 0; pass < 10; pass++)
		(void)pb_firmware_pass(firmware);
	assert_int_equal(fence_of(&second).completed, 0);
	firmware->jobs_free = jobs;
	firmware->awake |= firmware->jobs_wanted;
	puppet_run(1u << PB_LINE_CHANNEL(1));
	puppet_finish(puppet_bench.puppet.count);
	puppet_finish(puppet_bench.puppet.count);
	assert_int_equal(fence_of(&second).status, PB_ERROR_DEADLOCK);
	assert_int_equal(fence_of(&first).status, PB_ERROR_DEP_FAILED);
}

/* ---- begun work on a card that is suspended ---- */

/* Work that was stopped inside stays begun, whatever is asked of its queue meanwhile; a reset gives it back. */
static void begun_work(void **state)
{
	const uint32_t queue = puppet_bench.queue.handle;
	struct pb_channel *const admin = &puppet_bench.admin;
	const uint32_t suspend[PB_COMMAND_ARGUMENTS] = {0, 0, PB_STOP_WITHDRAW | PB_STOP_INSIDE};
	uint32_t results[PB_REPLY_RESULTS], tag;

	(void)state;
	puppet_join_admin();
	puppet_submit(0, 1);
	assert_int_equal(pb_channel_begin(admin, PB_COMMAND_SUSPEND, suspend, &tag), PB_ERROR_OK);
	puppet_stop_done(0, 1);
	assert_int_equal(pb_channel_finish(admin, tag, NULL), PB_ERROR_OK);
	/* Nothing is before this cutoff. */
	tag = begin(PB_COMMAND_PREEMPT, queue, 0, 5, PB_STOP_INSIDE);
	assert_int_equal(pb_channel_finish(&puppet_bench.channel, tag, results), PB_ERROR_OK);
	assert_int_equal(results[3], 0);
	assert_int_equal(results[4], 0);
	tag = begin(PB_COMMAND_RESET, 0, queue, 1, 0);
	assert_int_equal(pb_channel_finish(&puppet_bench.channel, tag, results), PB_ERROR_OK);
	assert_int_equal(results[2], 1);
	assert_int_equal(results[3], 1);
	assert_int_equal(results[4], 1);
	assert_int_equal(pb_card_resume(admin), PB_ERROR_OK);
	assert_int_equal(puppet_bench.puppet.count, 0);
}

/* Work of no context is its channel's alone, whose ever the work was that had its place before. */
static void work_of_no_context(void **state)
{
	const struct puppet *puppet = &puppet_bench.puppet;

	(void)state;
	for (uint32_t i = 1; i <= 2u * PB_CORE_WORKS; i++) {
		puppet_submit(1, i);
		puppet_finish(i);
		assert_int_equal(puppet->fed[i - 1u].owner,
				 PB_ENGINE_OWNER(1, PB_HANDLE_INDEX(puppet_bench.contexts[1])));
	}
	puppet_bench.contexts[1] = 0xffffffff;
	puppet_submit(1, 99);
	assert_int_equal(puppet->count, 2u * PB_CORE_WORKS + 1u);
	assert_int_equal(puppet->fed[puppet->count - 1u].owner, 1);
	assert_int_equal(puppet->fed[puppet->count - 1u].bytes, 0);
}

/* ---- where it was last ---- */

/* What a supervisor reads of firmware that died there. */
static void waypoints(void **state)
{
	const struct pb_boot_block *boot = (const void *)(puppet_memory + PB_BOOT_OFFSET);
	struct pb_channel_entry *entry = puppet_bench.channel.entry;

	(void)state;
	puppet_run(1u << PB_LINE_NODE(0));
	assert_int_equal(boot->waypoint, PB_WAYPOINT_RETIRE);
	puppet_run(1u << PB_LINE_CHANNEL(1));
	assert_int_equal(boot->waypoint, PB_WAYPOINT_DOORBELL);
	silence();
	(void)begin(PB_COMMAND_PING, 0, 0, 0, 0);
	puppet_bench.host_lines.pending |= 1u << PB_LINE_CHANNEL(1);
	(void)pb_firmware_pass(puppet_bench.firmware);
	assert_int_equal(boot->waypoint, PB_WAYPOINT_CONTROL);
	puppet_run(0);
	puppet_submit(0, 1);
	assert_int_not_equal(entry->kick_put, entry->kick_get);
	puppet_run(1u << PB_LINE_CHANNEL(1));
	assert_int_equal(boot->waypoint, PB_WAYPOINT_FEED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resolving_stops_for_a_line),
		cmocka_unit_test(places_of_short_entries),
		cmocka_unit_test_setup(cookies_of_other_channels, puppet_start),
		cmocka_unit_test_setup(walker_that_leaves, puppet_start),
		cmocka_unit_test_setup(cycle_without_a_job, puppet_start),
		cmocka_unit_test_setup(begun_work, puppet_start),
		cmocka_unit_test_setup(work_of_no_context, puppet_start),
		cmocka_unit_test_setup(waypoints, puppet_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
