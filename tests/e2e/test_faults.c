/* SPDX-License-Identifier: MIT */
/*
 * Bad submissions on the real firmware: every error is in an event and in the fence record, nothing of the
 * submission runs, later submissions of its context are cancelled until the host clears it, and other
 * contexts are not affected.
 */
#include <string.h>

#include "hal/engine/packets.h"
#include "hal/engine/registers.h"
#include "hal/shared.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_host.h"

#define UNTOUCHED 0x00c0ffeeu
#define CANCELLED 0xca9ce11eu
#define GOOD      0x600d600du
#define BAD       0xbadbadbau
/* Address at which the builder puts its patch list. */
#define PATCH_LIST (PB_DMA_ALLOCATIONS * (uint32_t)sizeof(struct pb_allocation))

/* A card, a host with two contexts, and three submissions in a row. */
struct bench {
	struct e2e_card card;
	struct e2e_host host;
	uint32_t other_context;
	uint32_t fence_id;
	struct pb_dma bad;       /**< context 1 */
	struct pb_dma cancelled; /**< context 1: would fill target 0 */
	struct pb_dma good;      /**< context 2: fills target 1 */
};

/* The expected result of a bad submission. */
struct outcome {
	enum pb_error error;
	uint32_t index;
	enum pb_event_type type;
	uint32_t detail;
};

static void bench_open(struct bench *bench, uint32_t node)
{
	struct e2e_host *host = &bench->host;
	struct pb_dma *const builders[] = {&bench->bad, &bench->cancelled, &bench->good};

	memset(bench, 0, sizeof(*bench));
	e2e_card_start(&bench->card, 0);
	assert_true(e2e_host_open(host, bench->card.socket));
	assert_int_equal(pb_context_create(&host->channel, &bench->other_context), PB_ERROR_OK);
	for (size_t i = 0; i < sizeof(builders) / sizeof(builders[0]); i++) {
		uint32_t context = builders[i] == &bench->good ? bench->other_context : host->context;

		assert_int_equal(pb_dma_open(builders[i], &host->queues[node], context, &host->system,
					     &host->system, 4096, 16),
				 PB_ERROR_OK);
	}
	bench->fence_id = 0xfffffff0u;
}

static void bench_close(struct bench *bench)
{
	assert_true(e2e_host_close(&bench->host));
	e2e_card_stop(&bench->card);
}

static void append_fill(struct pb_dma *dma, const struct pb_memory *target, uint32_t value)
{
	pb_dma_packet(dma, PB_PACKET_FILL, PB_PACKET_FILL_WORDS);
	pb_dma_address(dma, target, 0, true);
	pb_dma_word(dma, E2E_TARGET_BYTES);
	pb_dma_word(dma, value);
}

/* 64 bytes and four patches: both targets filled, the first copied to the second. */
static void build_bad(struct bench *bench)
{
	const struct pb_memory *targets = bench->host.targets;
	struct pb_dma *dma = &bench->bad;

	pb_dma_begin(dma);
	append_fill(dma, &targets[0], BAD);
	append_fill(dma, &targets[1], BAD);
	pb_dma_packet(dma, PB_PACKET_COPY, PB_PACKET_COPY_WORDS);
	pb_dma_address(dma, &targets[0], 0, false);
	pb_dma_address(dma, &targets[1], 0, true);
	pb_dma_word(dma, E2E_TARGET_BYTES);
	assert_int_equal(dma->error, PB_ERROR_OK);
	assert_int_equal(dma->patch_count, 4);
	assert_int_equal(dma->allocation_count, 2);
	assert_int_equal(dma->bytes, 64);
}

static void check_event(struct bench *bench, const struct pb_event *expected)
{
	struct pb_event event;

	assert_true(pb_channel_event(&bench->host.channel, &event));
	assert_int_equal(event.type, expected->type);
	assert_int_equal(event.queue, bench->bad.queue->handle);
	assert_int_equal(event.fence_id, expected->fence_id);
	assert_int_equal(event.error, expected->error);
	assert_int_equal(event.index, expected->index);
	assert_int_equal(event.detail, expected->detail);
}

static void check_events(struct bench *bench, const struct outcome *outcome)
{
	struct pb_event event;

	check_event(bench, &(struct pb_event){.type = outcome->type,
					      .fence_id = bench->fence_id,
					      .error = outcome->error,
					      .index = outcome->index,
					      .detail = outcome->detail});
	check_event(bench, &(struct pb_event){.type = PB_EVENT_CONTEXT_LOST,
					      .fence_id = bench->fence_id,
					      .error = outcome->error,
					      .index = outcome->index,
					      .detail = bench->host.context});
	check_event(bench, &(struct pb_event){.type = PB_EVENT_SUBMISSION_FAILED,
					      .fence_id = bench->fence_id + 1,
					      .error = PB_ERROR_CONTEXT_LOST,
					      .index = PB_INDEX_NONE});
	assert_false(pb_channel_event(&bench->host.channel, &event));
}

/* Submits again after the host has cleared the context. */
static void check_clear(struct bench *bench)
{
	struct pb_fence fence;

	assert_int_equal(pb_context_clear(&bench->host.channel, bench->host.context), PB_ERROR_OK);
	assert_int_equal(pb_queue_clear(bench->bad.queue), PB_ERROR_OK);
	assert_int_equal(pb_dma_submit(&bench->cancelled, bench->fence_id + 3), PB_ERROR_OK);
	assert_int_equal(pb_dma_wait(&bench->cancelled, E2E_PATIENCE_US, &fence), PB_ERROR_OK);
	assert_int_equal(fence.error, PB_ERROR_OK);
	assert_int_equal(fence.error_index, PB_INDEX_NONE);
	assert_true(e2e_target_is(&bench->host, 0, CANCELLED));
}

/* Follows a bad submission, which is in the ring already, to its end. */
static void check_outcome(struct bench *bench, const struct outcome *outcome, const struct pb_fence *before)
{
	struct pb_fence fence;

	assert_int_equal(pb_dma_submit(&bench->cancelled, bench->fence_id + 1), PB_ERROR_OK);
	assert_int_equal(pb_dma_submit(&bench->good, bench->fence_id + 2), PB_ERROR_OK);
	assert_int_equal(pb_dma_wait(&bench->good, E2E_PATIENCE_US, &fence), PB_ERROR_OK);
	assert_int_equal(fence.completed, before->completed + 3);
	assert_int_equal(fence.fence_id, bench->fence_id + 2);
	assert_int_equal(fence.errors, before->errors + 2);
	assert_int_equal(fence.error, outcome->error);
	assert_int_equal(fence.error_fence_id, bench->fence_id);
	assert_int_equal(fence.error_index, outcome->index);
	assert_true(e2e_target_is(&bench->host, 0, UNTOUCHED));
	assert_true(e2e_target_is(&bench->host, 1, GOOD));
	check_events(bench, outcome);
	check_clear(bench);
	bench->fence_id += 4;
}

static void prepare(struct bench *bench, struct pb_fence *before)
{
	e2e_target_set(&bench->host, 0, UNTOUCHED);
	e2e_target_set(&bench->host, 1, UNTOUCHED);
	pb_dma_begin(&bench->cancelled);
	append_fill(&bench->cancelled, &bench->host.targets[0], CANCELLED);
	pb_dma_begin(&bench->good);
	append_fill(&bench->good, &bench->host.targets[1], GOOD);
	assert_int_equal(pb_queue_fence(bench->bad.queue, before), PB_ERROR_OK);
}

/* ---- bad lists and descriptors ---- */

enum where { PATCH, ALLOCATION, DESCRIPTOR };

#define IN_PATCH(entry, field)      PATCH, (entry), offsetof(struct pb_patch_location, field)
#define IN_ALLOCATION(entry, field) ALLOCATION, (entry), offsetof(struct pb_allocation, field)
#define IN_DESCRIPTOR(field)        DESCRIPTOR, 0, offsetof(struct pb_descriptor, field)

#define SEGMENT(id)   ((id) << PB_ALLOCATION_SEGMENT_SHIFT)
#define SYSTEM_END    (E2E_SYSTEM_BASE + E2E_SYSTEM_BYTES)
#define NONE          PB_INDEX_NONE
#define UNUSED_FORMAT ((uint32_t)PB_PATCH_FORMAT_COUNT)

/* One changed word of a valid submission, and the expected result. */
static const struct fault {
	const char *name;
	enum where where;
	uint32_t entry;
	size_t offset;
	uint32_t value;
	enum pb_error error;
	uint32_t index;
} faults[] = {
	{"index", IN_PATCH(2, allocation_index), 2, PB_ERROR_PATCH_INDEX, 2},
	{"index, largest", IN_PATCH(0, allocation_index), UINT32_MAX, PB_ERROR_PATCH_INDEX, 0},
	{"offset at the end", IN_PATCH(2, allocation_offset), E2E_TARGET_BYTES, PB_ERROR_PATCH_OFFSET, 2},
	{"offset, largest", IN_PATCH(3, allocation_offset), UINT32_MAX, PB_ERROR_PATCH_OFFSET, 3},
	{"alignment", IN_PATCH(1, patch_offset), 26, PB_ERROR_PATCH_ALIGNMENT, 1},
	{"last word only", IN_PATCH(3, patch_offset), 60, PB_ERROR_PATCH_RANGE, 3},
	{"at the end", IN_PATCH(3, patch_offset), 64, PB_ERROR_PATCH_RANGE, 3},
	{"range, largest", IN_PATCH(0, patch_offset), 0xfffffffcu, PB_ERROR_PATCH_RANGE, 0},
	{"width", IN_PATCH(2, driver_id), PB_PATCH_FORMAT_ADDRESS32, PB_ERROR_PATCH_VALUE, 2},
	{"reserved", IN_PATCH(2, slot), 0x01000002u, PB_ERROR_PATCH_RESERVED, 2},
	{"reserved, top bit", IN_PATCH(3, slot), 0x80000000u, PB_ERROR_PATCH_RESERVED, 3},
	{"format", IN_PATCH(1, driver_id), UNUSED_FORMAT, PB_ERROR_PATCH_FORMAT, 1},
	{"format, largest", IN_PATCH(1, driver_id), UINT32_MAX, PB_ERROR_PATCH_FORMAT, 1},
	{"write", IN_ALLOCATION(1, flags), SEGMENT(E2E_VIDEO), PB_ERROR_PATCH_WRITE, 1},
	{"not resident", IN_ALLOCATION(1, flags), 0, PB_ERROR_NOT_RESIDENT, 1},
	{"allocation's reserved bits", IN_ALLOCATION(0, flags), SEGMENT(E2E_VIDEO) | 0x40u,
	 PB_ERROR_BAD_ALLOCATION, 0},
	{"allocation of nothing", IN_ALLOCATION(1, size_low), 0, PB_ERROR_BAD_ALLOCATION, 1},
	{"no such segment", IN_ALLOCATION(0, flags), SEGMENT(2u), PB_ERROR_ALLOCATION_SEGMENT, 0},
	{"below its segment", IN_ALLOCATION(1, address_high), 1, PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT, 1},
	{"leaves its segment", IN_ALLOCATION(1, size_low), E2E_VIDEO_BYTES,
	 PB_ERROR_ALLOCATION_OUTSIDE_SEGMENT, 1},
	{"patch list elsewhere", IN_DESCRIPTOR(patch_address_high), 7, PB_ERROR_BAD_PATCH_LIST, NONE},
	{"patch list leaves its segment", IN_DESCRIPTOR(patch_address_low), SYSTEM_END - 72u,
	 PB_ERROR_BAD_PATCH_LIST, NONE},
	{"patch list misaligned", IN_DESCRIPTOR(patch_address_low), E2E_SYSTEM_BASE + 2u,
	 PB_ERROR_BAD_PATCH_LIST, NONE},
	{"longer than the patch list", IN_DESCRIPTOR(patch_length), 5, PB_ERROR_BAD_PATCH_LIST, NONE},
	{"start behind the patch list", IN_DESCRIPTOR(patch_start), UINT32_MAX, PB_ERROR_BAD_PATCH_LIST,
	 NONE},
	{"allocation list elsewhere", IN_DESCRIPTOR(allocation_address_low), 0, PB_ERROR_BAD_ALLOCATION_LIST,
	 NONE},
	{"allocation list leaves its segment", IN_DESCRIPTOR(allocation_address_low), SYSTEM_END - 24u,
	 PB_ERROR_BAD_ALLOCATION_LIST, NONE},
	{"allocations", IN_DESCRIPTOR(allocation_count), 1025, PB_ERROR_TOO_MANY_ALLOCATIONS, NONE},
	{"buffer elsewhere", IN_DESCRIPTOR(dma_address_high), 1, PB_ERROR_BAD_BUFFER, NONE},
	{"buffer without a segment", IN_DESCRIPTOR(dma_segment), 2, PB_ERROR_BAD_SEGMENT, NONE},
	{"end behind the buffer", IN_DESCRIPTOR(dma_end), 4100, PB_ERROR_BAD_RANGE, NONE},
	{"start misaligned", IN_DESCRIPTOR(dma_start), 2, PB_ERROR_BAD_RANGE, NONE},
	{"private data", IN_DESCRIPTOR(private_end), 1, PB_ERROR_BAD_PRIVATE_DATA, NONE},
	{"options", IN_DESCRIPTOR(options), 2, PB_ERROR_BAD_OPTIONS, NONE},
	{"waits", IN_DESCRIPTOR(wait_count), 5, PB_ERROR_BAD_WAIT, NONE},
	{"encoding", IN_DESCRIPTOR(patch_encoding), 3, PB_ERROR_UNSUPPORTED, NONE},
};

static void spoil(uint8_t *object, size_t offset, uint32_t value)
{
	pb_shared_write32((uint32_t *)(void *)(object + offset), value);
}

/* Writes the builder's submission into the ring by hand, with one word changed. */
static void submit_spoiled(struct bench *bench, const struct fault *fault)
{
	const struct pb_dma *dma = &bench->bad;
	const uint32_t lists = (uint32_t)dma->lists.os_address;
	uint8_t *shared = dma->lists.bytes_host;
	struct pb_descriptor descriptor = {
		.context = dma->context,
		.fence_id = bench->fence_id,
		.dma_address_low = (uint32_t)dma->buffer.os_address,
		.dma_size = dma->buffer.bytes,
		.dma_end = dma->bytes,
		.allocation_count = dma->allocation_count,
		.allocation_address_low = lists,
		.patch_address_low = lists + PATCH_LIST,
		.patch_count = dma->patch_count,
		.patch_length = dma->patch_count,
	};

	memcpy(shared, dma->allocations, dma->allocation_count * sizeof(dma->allocations[0]));
	if (fault->where == PATCH)
		spoil(shared + PATCH_LIST + fault->entry * sizeof(struct pb_patch_location), fault->offset,
		      fault->value);
	else if (fault->where == ALLOCATION)
		spoil(shared + fault->entry * sizeof(struct pb_allocation), fault->offset, fault->value);
	else
		memcpy((uint8_t *)&descriptor + fault->offset, &fault->value, sizeof(fault->value));
	assert_int_equal(pb_queue_submit(dma->queue, &descriptor), PB_ERROR_OK);
}

static void check_faults(uint32_t node)
{
	struct bench bench;

	bench_open(&bench, node);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		const struct outcome outcome = {faults[i].error, faults[i].index, PB_EVENT_SUBMISSION_FAILED,
						0};
		struct pb_fence before;

		print_message("node %u: %s\n", (unsigned)node, faults[i].name);
		prepare(&bench, &before);
		build_bad(&bench);
		submit_spoiled(&bench, &faults[i]);
		check_outcome(&bench, &outcome, &before);
	}
	bench_close(&bench);
}

static void every_bad_word_of_a_submission_is_reported(void **state)
{
	(void)state;
	for (uint32_t node = 0; node < E2E_NODES; node++)
		check_faults(node);
}

/* Each row of the table changes one word of a valid submission. */
static void the_unchanged_submission_is_valid(void **state)
{
	struct bench bench;
	struct pb_fence fence;

	(void)state;
	bench_open(&bench, 1);
	build_bad(&bench);
	submit_spoiled(&bench, &(struct fault){.where = DESCRIPTOR,
					       .offset = offsetof(struct pb_descriptor, fence_id),
					       .value = 5});
	assert_int_equal(pb_queue_wait(bench.bad.queue, bench.bad.queue->timeline, E2E_PATIENCE_US, &fence),
			 PB_ERROR_OK);
	assert_int_equal(fence.errors, 0);
	assert_int_equal(fence.fence_id, 5);
	assert_true(e2e_target_is(&bench.host, 0, BAD) && e2e_target_is(&bench.host, 1, BAD));
	bench_close(&bench);
}

/* ---- submissions that the engine refuses ---- */

static const struct refusal {
	const char *name;
	uint32_t node;
	uint32_t words[6];
	uint32_t count;
	struct outcome outcome;
} refusals[] = {
	{"asked",
	 0,
	 {0x31000001},
	 1,
	 {PB_ERROR_ENGINE_FAULT, NONE, PB_EVENT_ENGINE_FAULT, PB_ENGINE_FAULT_ASKED}},
	{"opcode",
	 1,
	 {0x7f000001},
	 1,
	 {PB_ERROR_ENGINE_FAULT, NONE, PB_EVENT_ENGINE_FAULT, PB_ENGINE_FAULT_PACKET}},
	{"address, not patched",
	 1,
	 {0x01000005, 0x1000, 0, 64, BAD},
	 5,
	 {PB_ERROR_ENGINE_FAULT, NONE, PB_EVENT_ENGINE_FAULT, PB_ENGINE_FAULT_ADDRESS}},
	{"draws on the copy node",
	 1,
	 {0x12000004, 0, 0, 3},
	 4,
	 {PB_ERROR_ENGINE_FAULT, NONE, PB_EVENT_ENGINE_FAULT, PB_ENGINE_FAULT_NODE}},
	{"hangs", 0, {0x30000001}, 1, {PB_ERROR_ENGINE_HANG, NONE, PB_EVENT_ENGINE_HANG, 0}},
	{"hangs on the copy node", 1, {0x30000001}, 1, {PB_ERROR_ENGINE_HANG, NONE, PB_EVENT_ENGINE_HANG, 0}},
};

static void check_refusal(const struct refusal *refusal)
{
	struct pb_fence before;
	struct bench bench;

	bench_open(&bench, refusal->node);
	prepare(&bench, &before);
	pb_dma_begin(&bench.bad);
	for (uint32_t i = 0; i < refusal->count; i++)
		pb_dma_word(&bench.bad, refusal->words[i]);
	assert_int_equal(pb_dma_submit(&bench.bad, bench.fence_id), PB_ERROR_OK);
	check_outcome(&bench, &refusal->outcome, &before);
	bench_close(&bench);
}

static void engine_faults_are_reported(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		print_message("engine: %s\n", refusals[i].name);
		check_refusal(&refusals[i]);
	}
}

/* ---- hosts of another version ---- */

static const struct version {
	uint32_t version;
	uint32_t incarnation_ahead;
	enum pb_channel_state state;
	enum pb_error error;
} versions[] = {
	{(PB_ABI_MAJOR + 1u) << 16, 0, PB_CHANNEL_CLOSED, PB_ERROR_BAD_VERSION},
	{0, 0, PB_CHANNEL_CLOSED, PB_ERROR_BAD_VERSION},
	{UINT32_MAX, 0, PB_CHANNEL_CLOSED, PB_ERROR_BAD_VERSION},
	{PB_ABI_VERSION, 1, PB_CHANNEL_CLOSED, PB_ERROR_BAD_ARGUMENT},
	{PB_ABI_MAJOR << 16 | 0xffffu, 0, PB_CHANNEL_OPEN, PB_ERROR_OK},
};

/* The words of pb_channel_attach, by hand. */
static void check_version(struct pb_link *link, const struct version *version)
{
	const uint64_t start = e2e_now();
	struct pb_card_info card;
	struct pb_channel_entry *entry;
	uint32_t request;

	assert_int_equal(pb_card_read(link, &card), PB_ERROR_OK);
	entry = (struct pb_channel_entry *)(void *)(link->memory + card.channel_directory_offset) +
		link->channel;
	request = (pb_shared_read32(&entry->attach_done) & ~PB_ATTACH_OP_MASK) + PB_ATTACH_COUNTER_ONE +
		  PB_ATTACH_OP_ATTACH;
	pb_shared_write32(&entry->host_version, version->version);
	pb_shared_write32(&entry->incarnation, card.incarnation + version->incarnation_ahead);
	pb_shared_release();
	pb_shared_write32(&entry->attach_request, request);
	link->ops->doorbell(link);
	while (pb_shared_read32(&entry->attach_done) != request)
		assert_true(e2e_patience(start));
	pb_shared_acquire();
	assert_int_equal(pb_shared_read32(&entry->state), version->state);
	assert_int_equal(pb_shared_read32(&entry->error), version->error);
}

/*
 * The card grants its clients paging. A bad paging buffer halts the client's submissions on that node until
 * RESET.
 */
static void a_bad_paging_buffer_halts_the_node_until_reset(void **state)
{
	const uint32_t node[PB_COMMAND_ARGUMENTS] = {1};
	struct bench bench;
	struct pb_queue *queue;
	struct pb_fence fence;
	struct pb_descriptor descriptor = {.flags = PB_FLAG_PAGING, .fence_id = 7, .dma_end = 4};

	(void)state;
	bench_open(&bench, 1);
	prepare(&bench, &fence);
	queue = bench.bad.queue;
	pb_shared_write32((uint32_t *)(void *)bench.bad.buffer.bytes_host, PB_PACKET(PB_PACKET_NOP, 1));
	descriptor.dma_address_low = (uint32_t)bench.bad.buffer.os_address;
	descriptor.dma_size = bench.bad.buffer.bytes;
	assert_int_equal(pb_queue_submit(queue, &descriptor), PB_ERROR_OK);
	assert_int_equal(pb_queue_wait(queue, queue->timeline, E2E_PATIENCE_US, &fence), PB_ERROR_OK);
	assert_int_equal(fence.status, PB_ERROR_OK);
	descriptor.context = bench.host.context;
	assert_int_equal(pb_queue_submit(queue, &descriptor), PB_ERROR_OK);
	assert_int_equal(pb_queue_wait(queue, queue->timeline, E2E_PATIENCE_US, &fence), PB_ERROR_OK);
	assert_int_equal(fence.status, PB_ERROR_BAD_PAGING);
	assert_int_equal(pb_dma_submit(&bench.good, 8), PB_ERROR_OK);
	assert_int_equal(pb_dma_wait(&bench.good, 100000, &fence), PB_ERROR_TIMEOUT);
	assert_int_equal(pb_channel_command(&bench.host.channel, PB_COMMAND_RESET, node, NULL), PB_ERROR_OK);
	assert_int_equal(pb_dma_wait(&bench.good, E2E_PATIENCE_US, &fence), PB_ERROR_OK);
	assert_int_equal(fence.status, PB_ERROR_OK);
	assert_true(e2e_target_is(&bench.host, 1, GOOD));
	bench_close(&bench);
}

static void hosts_of_other_versions_are_answered(void **state)
{
	struct e2e_card card;
	struct e2e_host witness, host = {.rounds = 0};

	(void)state;
	e2e_card_start(&card, 0);
	assert_true(e2e_host_open(&witness, card.socket));
	assert_int_equal(pb_link_open_socket(card.socket, &host.link), PB_ERROR_OK);
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		check_version(host.link, &versions[i]);
	assert_int_equal(pb_channel_attach(&host.channel, host.link, E2E_PATIENCE_US), PB_ERROR_OK);
	assert_true(e2e_host_furnish(&host, E2E_SYSTEM_BYTES));
	assert_true(e2e_host_round(&host, 0x71000000u) && e2e_host_round(&witness, 0x72000000u));
	assert_true(e2e_host_close(&host) && e2e_host_close(&witness));
	e2e_card_stop(&card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(every_bad_word_of_a_submission_is_reported),
		e2e_test(the_unchanged_submission_is_valid),
		e2e_test(engine_faults_are_reported),
		e2e_test(a_bad_paging_buffer_halts_the_node_until_reset),
		e2e_test(hosts_of_other_versions_are_answered),
	};

	return e2e_run_tests(tests);
}
