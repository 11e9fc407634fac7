/* SPDX-License-Identifier: MIT */
/*
 * Brief lists are resolved, patched and fed in the pass that admits them. What comes in between (a pending line, jobs that
 * are short, an error, a wait that has failed) leads to what longer lists lead to.
 */
#include <string.h>

#include "firmware/instance.h"
#include "tests/unit/puppet_bench.h"

#define SEGMENT_ID  1u
#define SEGMENT     (SEGMENT_ID << PB_ALLOCATION_SEGMENT_SHIFT)
#define OS_BASE     0x10000u
#define GPU_HIGH    7u
#define BYTES       16u /* of an allocation */
#define POISON      0x5a5a5a5au
#define ALL_JOBS    ((1u << PB_LIMIT_JOBS) - 1u)
#define PASSES_MAX  100u
#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static struct pb_segment segment;
static struct pb_memory lists;

static bool pass(void)
{
	return pb_firmware_pass(puppet_bench.firmware);
}

/** Passes until the firmware would sleep. */
static void rest(void)
{
	for (uint32_t i = 0; i < PASSES_MAX; i++) {
		if (!pass())
			return;
	}
	fail_msg("the firmware does not come to rest");
}

/* A doorbell does not run the firmware: passes are counted here. */
static void ring(struct pb_link *link)
{
	(void)link;
	puppet_bench.host_lines.pending |= 1u << PB_LINE_CHANNEL(1);
}

static enum pb_error wait_for_card(struct pb_link *link, uint64_t timeout_us)
{
	(void)link;
	puppet_bench.now += timeout_us;
	rest();
	return PB_ERROR_TIMEOUT;
}

static uint64_t now(struct pb_link *link)
{
	(void)link;
	return puppet_bench.now;
}

static const struct pb_link_ops counted_ops = {.doorbell = ring, .wait = wait_for_card, .now = now};

static uint32_t *buffer(void)
{
	return (uint32_t *)(void *)(puppet_memory + puppet_bench.system.memory_offset + PUPPET_DMA);
}

static struct pb_allocation *allocations(void)
{
	return (struct pb_allocation *)(void *)lists.bytes_host;
}

static int start(void **state)
{
	const struct pb_segment_request request = {.id = SEGMENT_ID,
						   .os_base = OS_BASE,
						   .gpu_base = ((uint64_t)GPU_HIGH << 32) + OS_BASE,
						   .size = 0x10000};

	if (puppet_start(state) != 0)
		return -1;
	assert_int_equal(pb_segment_create(&segment, &puppet_bench.channel, &request), PB_ERROR_OK);
	assert_int_equal(pb_memory_allocate(&puppet_bench.system, 0x1000, PB_LINE_BYTES, &lists),
			 PB_ERROR_OK);
	puppet_bench.link.ops = &counted_ops;
	return 0;
}

/** Patch i names allocation i modulo their number; its word is the i-th pair of the buffer. @return the length */
static uint32_t write_lists(uint32_t allocation_count, uint32_t patches, bool compact)
{
	uint32_t *words = (uint32_t *)(void *)&allocations()[allocation_count];
	uint32_t *const first = words;

	for (uint32_t i = 0; i < allocation_count; i++)
		allocations()[i] = (struct pb_allocation){
			.address_low = OS_BASE + i * BYTES, .size_low = BYTES, .flags = SEGMENT};
	for (uint32_t i = 0; i < patches; i++) {
		const struct pb_patch_location location = {.allocation_index = i % allocation_count,
							   .driver_id = PB_PATCH_FORMAT_ADDRESS64,
							   .allocation_offset = i % BYTES,
							   .patch_offset = 8u * i};

		if (!compact) {
			memcpy(words, &location, sizeof(location));
			words += sizeof(location) / sizeof(*words);
		} else if (i == 0) {
			*words++ = PB_COMPACT_ESCAPE | location.driver_id << PB_COMPACT_FORMAT_SHIFT;
			*words++ = 0;
			*words++ = 0;
		} else {
			*words++ = location.patch_offset / 4u << PB_COMPACT_PLACE_SHIFT |
				   location.allocation_index;
			*words++ = location.allocation_offset;
		}
	}
	for (uint32_t i = 0; i < 512; i++)
		buffer()[i] = POISON;
	return compact ? (uint32_t)(words - first) : patches;
}

static struct pb_descriptor describe(uint32_t allocation_count, uint32_t length, bool compact)
{
	return (struct pb_descriptor){
		.context = puppet_bench.contexts[0],
		.fence_id = 1,
		.dma_address_low = PUPPET_DMA,
		.dma_size = 4096,
		.dma_end = 2048,
		.allocation_count = allocation_count,
		.allocation_address_low = (uint32_t)lists.os_address,
		.patch_address_low = (uint32_t)lists.os_address +
				     allocation_count * (uint32_t)sizeof(struct pb_allocation),
		.patch_count = length,
		.patch_length = length,
		.patch_encoding = compact ? PB_PATCH_ENCODING_COMPACT : PB_PATCH_ENCODING_WDDM,
	};
}

static void submit(const struct pb_descriptor *descriptor)
{
	assert_int_equal(pb_queue_submit(&puppet_bench.queue, descriptor), PB_ERROR_OK);
}

/** The pairs of so many patches are written, and nothing behind them is. */
static void check_buffer(uint32_t allocation_count, uint32_t patches)
{
	for (uint32_t i = 0; i < 256; i++) {
		const uint32_t low = OS_BASE + i % allocation_count * BYTES + i % BYTES;

		assert_int_equal(buffer()[2u * i], i < patches ? low : POISON);
		assert_int_equal(buffer()[2u * i + 1u], i < patches ? GPU_HIGH : POISON);
	}
}

static const struct pb_core_jobs *jobs(void)
{
	return &puppet_bench.firmware->jobs;
}

static const struct pb_core_staged *staged(void)
{
	return &puppet_bench.firmware->nodes[0].staged;
}

/* Lists of up to the limits take one pass, and one more of either takes several: the bytes are those of the list. */
static void brief_lists_take_one_pass(void **state)
{
	static const struct {
		uint32_t allocations, patches;
		bool compact, brief;
	} rows[] = {
		{1, 1, false, true},
		{PB_BRIEF_ALLOCATIONS, PB_BRIEF_LENGTH, false, true},
		{PB_BRIEF_ALLOCATIONS + 1u, 1, false, false},
		{1, PB_BRIEF_LENGTH + 1u, false, false},
		/* A compact list's length is in words: three of the first patch, two of each other one. */
		{2, (PB_BRIEF_LENGTH - 1u) / 2u, true, true},
		{2, (PB_BRIEF_LENGTH + 1u) / 2u, true, false},
	};

	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct pb_descriptor descriptor;
		bool more;

		assert_int_equal(start(state), 0);
		descriptor = describe(rows[i].allocations,
				      write_lists(rows[i].allocations, rows[i].patches, rows[i].compact),
				      rows[i].compact);
		submit(&descriptor);
		more = pass();
		assert_int_equal(puppet_bench.puppet.count, rows[i].brief);
		assert_int_equal(jobs()->free == ALL_JOBS, rows[i].brief);
		assert_int_equal(more, !rows[i].brief);
		rest();
		assert_int_equal(puppet_bench.puppet.count, 1);
		assert_int_equal(puppet_bench.puppet.fed[0].bytes, 2048);
		assert_int_equal(jobs()->free, ALL_JOBS);
		check_buffer(rows[i].allocations, rows[i].patches);
	}
}

/** A line is pending again as soon as those before it are claimed. */
static uint32_t take_and_raise(void *context)
{
	const uint32_t lines = pb_host_lines_ops.take(context);

	puppet_bench.host_lines.pending = 1u << PB_LINE_CHANNEL(2);
	return lines;
}

/* With a line pending, the list is staged with a job, as a long one is: that pass ends, and later ones go on. */
static void a_pending_line_goes_first(void **state)
{
	static struct pb_lines_ops ops;
	struct pb_descriptor descriptor;

	assert_int_equal(start(state), 0);
	ops = pb_host_lines_ops;
	ops.take = take_and_raise;
	puppet_bench.lines.ops = &ops;
	descriptor = describe(2, write_lists(2, 4, false), false);
	submit(&descriptor);
	assert_true(pass());
	assert_int_equal(puppet_bench.puppet.count, 0);
	assert_int_equal(staged()->kind, PB_CORE_STAGED_JOB);
	assert_int_not_equal(jobs()->free, ALL_JOBS);
	check_buffer(2, 0);
	puppet_bench.lines.ops = &pb_host_lines_ops;
	puppet_bench.host_lines.pending = 0;
	rest();
	assert_int_equal(puppet_bench.puppet.count, 1);
	assert_int_equal(jobs()->free, ALL_JOBS);
	check_buffer(2, 4);
}

enum between { DESTROY, REVOKE, PRIORITY, PREEMPT };

/** Asks for something while the list of a queue waits. @return whether the list is fed in the end */
static bool ask(enum between what, struct pb_queue *queue)
{
	struct pb_descriptor empty = {.context = puppet_bench.contexts[1], .fence_id = 2};

	switch (what) {
	case DESTROY:
		assert_int_equal(pb_queue_destroy(queue), PB_ERROR_OK);
		return false;
	case REVOKE:
		/* A job that goes to a higher priority: its submission is unsubmitted, and admitted anew. */
		puppet_bench.firmware->nodes[0].asks.revoked = true;
		return true;
	case PRIORITY:
		assert_int_equal(pb_queue_submit(&puppet_bench.queue, &empty), PB_ERROR_OK);
		return true;
	case PREEMPT:
		break;
	}
	assert_int_equal(pb_queue_preempt_begin(queue, 1, 0), PB_ERROR_OK);
	return false;
}

/* What may come while a brief list waits behind a line: its job is free again, and nothing is fed or patched in part. */
static void a_list_that_waits_may_be_unsubmitted(void **state)
{
	static const enum between rows[] = {DESTROY, REVOKE, PRIORITY, PREEMPT};

	for (uint32_t i = 0; i < COUNT(rows); i++) {
		const struct pb_queue_request low = {.node = 0, .entries = 4, .priority = PB_PRIORITY_LOW};
		struct pb_queue queue;
		static struct pb_lines_ops ops;
		struct pb_descriptor descriptor;
		bool fed;

		assert_int_equal(start(state), 0);
		assert_int_equal(
			pb_queue_create_with(&queue, &puppet_bench.channel, &puppet_bench.system, &low),
			PB_ERROR_OK);
		ops = pb_host_lines_ops;
		ops.take = take_and_raise;
		puppet_bench.lines.ops = &ops;
		descriptor = describe(1, write_lists(1, 1, false), false);
		assert_int_equal(pb_queue_submit(&queue, &descriptor), PB_ERROR_OK);
		assert_true(pass());
		assert_int_equal(staged()->kind, PB_CORE_STAGED_JOB);
		check_buffer(1, 0);
		puppet_bench.lines.ops = &pb_host_lines_ops;
		fed = ask(rows[i], &queue);
		rest();
		assert_int_equal(staged()->kind, PB_CORE_STAGED_NONE);
		assert_int_equal(jobs()->free, ALL_JOBS);
		assert_false(puppet_bench.firmware->nodes[0].asks.revoked);
		assert_int_equal(puppet_bench.puppet.count, fed + (rows[i] == PRIORITY));
		if (fed)
			assert_int_equal(puppet_bench.puppet.fed[puppet_bench.puppet.count - 1u].bytes, 2048);
		check_buffer(1, fed);
	}
}

/* While all jobs are held, or queues of other nodes wait for one, a brief list is granted and charged like any other. */
static void short_jobs_are_shared_as_before(void **state)
{
	static const struct {
		uint32_t free, wanted;
		bool staged;
	} rows[] = {
		{0, 0, false},
		{0, 2, false},
		{ALL_JOBS, 2, true},
	};

	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct pb_core_jobs *all;
		struct pb_descriptor descriptor;

		assert_int_equal(start(state), 0);
		all = &puppet_bench.firmware->jobs;
		all->free = rows[i].free;
		all->wanted = rows[i].wanted;
		descriptor = describe(1, write_lists(1, 1, false), false);
		submit(&descriptor);
		(void)pass();
		assert_int_equal(puppet_bench.puppet.count, 0);
		assert_int_equal(staged()->kind, rows[i].staged ? PB_CORE_STAGED_JOB : PB_CORE_STAGED_NONE);
		assert_int_equal(puppet_bench.firmware->nodes[0].asks.queue != NULL, !rows[i].staged);
		check_buffer(1, 0);
		all->free = rows[i].staged ? all->free : ALL_JOBS;
		puppet_bench.host_lines.pending |= 1u << PB_LINE_TICK;
		rest();
		assert_int_equal(puppet_bench.puppet.count, 1);
		assert_int_equal(all->free, ALL_JOBS);
		assert_int_equal(all->wanted, 0);
		assert_false(puppet_bench.firmware->nodes[0].asks.granted);
		check_buffer(1, 1);
	}
}

/* A wrong entry of a brief list: fed empty with its error and index, what comes before it is patched, and no job is lost. */
static void errors_are_those_of_long_lists(void **state)
{
	static const struct {
		uint32_t allocation, patch; /* the wrong one; UINT32_MAX: none */
		enum pb_error error;
		uint32_t index, patched;
	} rows[] = {
		{UINT32_MAX, 0, PB_ERROR_PATCH_INDEX, 0, 0},
		{UINT32_MAX, 2, PB_ERROR_PATCH_INDEX, 2, 2},
		{0, UINT32_MAX, PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT, 0, 0},
		{2, UINT32_MAX, PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT, 2, 0},
	};

	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct pb_patch_location *patches;
		struct pb_descriptor descriptor;
		const struct pb_core_submission *fed;

		assert_int_equal(start(state), 0);
		descriptor = describe(3, write_lists(3, 3, false), false);
		patches = (struct pb_patch_location *)(void *)&allocations()[3];
		if (rows[i].patch != UINT32_MAX)
			patches[rows[i].patch].allocation_index = 3;
		else
			allocations()[rows[i].allocation].address_low = 0x20000;
		submit(&descriptor);
		(void)pass();
		assert_int_equal(jobs()->free, ALL_JOBS);
		rest();
		assert_int_equal(puppet_bench.puppet.count, 1);
		assert_int_equal(puppet_bench.puppet.fed[0].bytes, 0);
		fed = pb_core_in_flight_head(&puppet_bench.firmware->nodes[0].flight);
		assert_int_equal(fed->status, rows[i].error);
		assert_int_equal(fed->index, rows[i].index);
		check_buffer(3, rows[i].patched);
	}
}

/* A submission that fails before its lists count (its wait did) patches nothing. */
static void nothing_is_patched_for_a_failed_wait(void **state)
{
	struct pb_descriptor descriptor;
	struct pb_wait *waits;

	assert_int_equal(start(state), 0);
	descriptor = describe(1, write_lists(1, 1, false), false);
	waits = (struct pb_wait *)(void *)(lists.bytes_host + 0x800);
	*waits = (struct pb_wait){.queue = PB_HANDLE(7, 77), .timeline_low = 1};
	descriptor.wait_count = 1;
	descriptor.wait_address_low = (uint32_t)lists.os_address + 0x800u;
	submit(&descriptor);
	rest();
	assert_int_equal(puppet_bench.puppet.count, 1);
	assert_int_equal(puppet_bench.puppet.fed[0].bytes, 0);
	assert_int_equal(pb_core_in_flight_head(&puppet_bench.firmware->nodes[0].flight)->status,
			 PB_ERROR_DEP_FAILED);
	assert_int_equal(jobs()->free, ALL_JOBS);
	check_buffer(1, 0);
}

/* A brief list behind a long one: the slots that the long one has left are of no use to it. */
static void a_long_list_leaves_nothing(void **state)
{
	struct pb_patch_location *patch;
	struct pb_descriptor descriptor;

	assert_int_equal(start(state), 0);
	descriptor = describe(60, write_lists(60, 60, false), false);
	submit(&descriptor);
	rest();
	assert_int_equal(puppet_bench.puppet.count, 1);
	descriptor = describe(1, write_lists(1, 1, false), false);
	patch = (struct pb_patch_location *)(void *)&allocations()[1];
	patch->allocation_index = 59;
	submit(&descriptor);
	rest();
	puppet_bench.puppet.sequence = 1;
	puppet_run(1u << PB_LINE_NODE(0));
	assert_int_equal(pb_core_in_flight_head(&puppet_bench.firmware->nodes[0].flight)->status,
			 PB_ERROR_PATCH_INDEX);
	check_buffer(1, 0);
}

UNIT_SUITE(test_firmware_brief)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(brief_lists_take_one_pass),
		cmocka_unit_test(a_pending_line_goes_first),
		cmocka_unit_test(a_list_that_waits_may_be_unsubmitted),
		cmocka_unit_test(short_jobs_are_shared_as_before),
		cmocka_unit_test(errors_are_those_of_long_lists),
		cmocka_unit_test(nothing_is_patched_for_a_failed_wait),
		cmocka_unit_test(a_long_list_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
