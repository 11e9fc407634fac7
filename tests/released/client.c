/* SPDX-License-Identifier: MIT */
/*
 * client SOCKET: the host of a pair of library and firmware, by functions that every released library has. Each part of the
 * contract that a host depends on is used once, and its results are compared with what this file computes. Prints one line:
 * "works", the build text and both interface versions, or "BAD_VERSION" and these versions. Anything else is a failure
 * of the pair: exit status 1.
 */
#include <patchbay/engine/packets.h>
#include <patchbay/format.h>
#include <patchbay/patchbay.h>
#include <patchbay/query.h>
#include <patchbay/stop.h>
#include <patchbay/telemetry.h>
#include <patchbay/trace.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_US 600000000u
#define VIDEO_OS    0x80000000u
#define VIDEO_GPU   0x540000000u
#define BYTES       4096u
#define VALUE       0x600df00du

static struct pb_link *card_link;
static struct pb_channel channel;
static struct pb_segment system_memory, video_memory;
static struct pb_queue queue;
static struct pb_memory targets[2], buffer, lists;
static uint32_t context, fence_ids;

static void require(bool condition, const char *text)
{
	if (condition)
		return;
	printf("not so: %s\n", text);
	exit(1);
}

static void check(enum pb_error error, const char *text)
{
	if (error == PB_ERROR_OK)
		return;
	printf("%s: %s\n", text, pb_error_name(error));
	exit(1);
}

/* The versions do not fit: what needs no channel agrees. */
static void refused(void)
{
	static struct pb_telemetry_snapshot telemetry;
	struct pb_card_info card;
	struct pb_crash_record crash;

	require(pb_card_read(card_link, &card) == PB_ERROR_BAD_VERSION, "the boot block is refused, too");
	require(pb_telemetry_read(card_link, &telemetry) == PB_ERROR_BAD_VERSION, "so is the telemetry");
	require(pb_crash_read(card_link, &crash) == PB_ERROR_BAD_VERSION, "so is the crash record");
	printf("BAD_VERSION %u.%u %u.%u\n", PB_ABI_MAJOR, PB_ABI_MINOR, card.abi_version >> 16,
	       card.abi_version & 0xffffu);
	exit(0);
}

static void make_memory(void)
{
	struct pb_segment_request request = {.size = 0x40000, .backing_bytes = 0x40000};

	check(pb_segment_create(&system_memory, &channel, &request), "segment 0");
	request.id = 1;
	request.os_base = VIDEO_OS;
	request.gpu_base = VIDEO_GPU;
	check(pb_segment_create(&video_memory, &channel, &request), "segment 1");
	for (int i = 0; i < 2; i++) {
		check(pb_memory_allocate(&video_memory, BYTES, PB_PAGE_BYTES, &targets[i]), "video memory");
		memset(targets[i].bytes_host, 0, BYTES);
	}
	check(pb_memory_allocate(&system_memory, BYTES, PB_PAGE_BYTES, &buffer), "memory of the DMA buffer");
	check(pb_memory_allocate(&system_memory, BYTES, PB_LINE_BYTES, &lists), "memory of the lists");
}

static uint64_t gpu_address(const struct pb_memory *memory)
{
	return memory->os_address - VIDEO_OS + VIDEO_GPU;
}

static uint32_t word_of(const struct pb_memory *memory, uint32_t index)
{
	uint32_t word;

	memcpy(&word, memory->bytes_host + index * sizeof(word), sizeof(word));
	return word;
}

/* Submits a FILL of the first target, with `value` or, in the format, with the address of the second target. */
static void submit(uint32_t value, uint32_t format, uint32_t flags)
{
	const uint32_t packet[] = {PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS), 0x77777777u, 0x77777777u,
				   BYTES, value};
	struct pb_allocation allocations[2];
	const struct pb_patch_location locations[2] = {
		{.allocation_index = 0, .driver_id = PB_PATCH_FORMAT_ADDRESS64_WRITE, .patch_offset = 4},
		{.allocation_index = 1, .driver_id = format, .patch_offset = 16},
	};
	struct pb_descriptor descriptor = {
		.context = context,
		.fence_id = ++fence_ids,
		.dma_address_low = (uint32_t)buffer.os_address,
		.dma_size = BYTES,
		.dma_end = sizeof(packet),
		.allocation_count = 2,
		.allocation_address_low = (uint32_t)lists.os_address,
		.patch_address_low = (uint32_t)(lists.os_address + 1024u),
		.patch_count = format != 0 ? 2 : 1,
		.patch_length = format != 0 ? 2 : 1,
	};

	memset(allocations, 0, sizeof(allocations));
	for (int i = 0; i < 2; i++) {
		allocations[i].address_low = (uint32_t)targets[i].os_address;
		allocations[i].size_low = BYTES;
		allocations[i].flags = flags;
	}
	memcpy(buffer.bytes_host, packet, sizeof(packet));
	memcpy(lists.bytes_host, allocations, sizeof(allocations));
	memcpy(lists.bytes_host + 1024, locations, sizeof(locations));
	check(pb_queue_submit(&queue, &descriptor), "submit");
}

static struct pb_fence await(enum pb_error status)
{
	struct pb_fence fence;

	check(pb_queue_wait(&queue, queue.timeline, PATIENCE_US, &fence), "wait");
	require(fence.status == (uint32_t)status, "the fence has the status");
	require(fence.valid && fence.fence_id == fence_ids, "the fence has the id");
	return fence;
}

static void patched_submissions(void)
{
	const uint32_t flags = 1u << PB_ALLOCATION_SEGMENT_SHIFT | PB_ALLOCATION_WRITE;
	const struct pb_patch_format page_number = {.source = PB_FORMAT_ADDRESS,
						    .bound = PB_FORMAT_INSIDE,
						    .align = 4,
						    .shift_right = 12,
						    .mask = 0x00ffffffu};
	uint32_t reason;

	submit(VALUE, 0, flags);
	await(PB_ERROR_OK);
	require(word_of(&buffer, 1) == (uint32_t)gpu_address(&targets[0]), "the low word is patched");
	require(word_of(&buffer, 2) == (uint32_t)(gpu_address(&targets[0]) >> 32),
		"the high word is patched");
	require(word_of(&targets[0], 0) == VALUE && word_of(&targets[0], BYTES / 4u - 1u) == VALUE,
		"all is filled");
	require(word_of(&targets[1], 0) == 0, "nothing else is filled");

	check(pb_format_set(&channel, PB_FORMAT_OWN, &page_number, &reason), "own format");
	submit(0, PB_FORMAT_OWN, flags);
	await(PB_ERROR_OK);
	require(word_of(&targets[0], 0) == (uint32_t)(gpu_address(&targets[1]) >> 12),
		"the own format is patched");
}

/* A write through an allocation for reading is refused, with the list entry; the context is lost, and only that. */
static void refused_submission(void)
{
	struct pb_fence fence;

	submit(VALUE, 0, 1u << PB_ALLOCATION_SEGMENT_SHIFT);
	fence = await(PB_ERROR_PATCH_WRITE);
	require(fence.error == PB_ERROR_PATCH_WRITE && fence.error_fence_id == fence_ids &&
			fence.error_index == 0,
		"the first error is named");
	require(word_of(&targets[0], 0) != VALUE, "the refused submission has not run");
	check(pb_queue_clear(&queue), "clear of the queue");
	check(pb_context_clear(&channel, context), "clear of the context");
}

static void stopped_submission(void)
{
	struct pb_preempt result;
	struct pb_queue_state state;

	check(pb_queue_suspend(&queue, 0), "suspend");
	submit(VALUE + 1u, 0, 1u << PB_ALLOCATION_SEGMENT_SHIFT | PB_ALLOCATION_WRITE);
	check(pb_queue_preempt(&queue, 77, 0, &result), "preempt");
	require(result.preemption_id == 77 && result.returned == 1 && !result.started,
		"the submission came back");
	check(pb_queue_resume(&queue), "resume");
	check(pb_queue_query(&queue, &state), "query");
	require(state.completed == state.put && !state.failed && !state.suspended,
		"the queue is idle and well");
	require(word_of(&targets[0], 0) != VALUE + 1u, "what came back has not run");
	submit(VALUE + 2u, 0, 1u << PB_ALLOCATION_SEGMENT_SHIFT | PB_ALLOCATION_WRITE);
	await(PB_ERROR_OK);
	require(word_of(&targets[0], 0) == VALUE + 2u, "a later one has run");
}

/* The trace has a version of its own: a reader refuses a later one, and reads all others. */
static void traced(void)
{
	const struct pb_boot_block *boot = (const void *)(card_link->memory + PB_BOOT_OFFSET);
	const struct pb_trace_ring *ring = (const void *)(card_link->memory + boot->trace_offset);
	const bool later = ring->version > PB_TRACE_VERSION;
	struct pb_trace trace;

	require(boot->trace_offset != 0 && ring->magic == PB_TRACE_MAGIC, "there is a trace");
	require(pb_trace_open(&trace, card_link) == (later ? PB_ERROR_UNSUPPORTED : PB_ERROR_OK),
		"the trace is read, or refused as UNSUPPORTED if it is of a later version");
}

static void observed(void)
{
	static struct pb_telemetry_snapshot telemetry;
	struct pb_crash_record crash;

	check(pb_telemetry_read(card_link, &telemetry), "telemetry");
	check(pb_crash_read(card_link, &crash), "crash record");
	require(crash.magic == 0, "nothing has crashed");
	traced();
}

int main(int argc, char **argv)
{
	enum pb_error error;

	require(argc == 2, "there is one argument");
	check(pb_link_open_socket(argv[1], &card_link), "socket");
	error = pb_channel_attach(&channel, card_link, PATIENCE_US);
	if (error == PB_ERROR_BAD_VERSION)
		refused();
	check(error, "attach");
	make_memory();
	check(pb_context_create(&channel, &context), "context");
	check(pb_queue_create(&queue, &channel, &system_memory, 0, 16), "queue");
	patched_submissions();
	refused_submission();
	stopped_submission();
	observed();
	check(pb_queue_destroy(&queue), "end of the queue");
	check(pb_channel_detach(&channel), "detach");
	printf("works %u.%u %u.%u %s\n", PB_ABI_MAJOR, PB_ABI_MINOR, channel.card.abi_version >> 16,
	       channel.card.abi_version & 0xffffu, channel.card.build);
	card_link->ops->close(card_link);
	return 0;
}
