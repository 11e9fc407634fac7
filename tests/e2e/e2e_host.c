/* SPDX-License-Identifier: MIT */
#include "tests/e2e/e2e_host.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hal/engine/packets.h"
#include "hal/shared.h"
#include "tests/e2e/e2e.h"

#define BUFFER_BYTES 4096u
#define PATCHES      16u

/* Bytes that a round fills and copies, from the target's start. Both ends stay untouched. */
#define FILL_START  64u
#define COPY_START  256u
#define ROUND_BYTES 1024u
#define FILL_PIECES 8u
#define PIECE_BYTES (ROUND_BYTES / FILL_PIECES)

bool e2e_fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("e2e: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	return false;
}

bool e2e_ok(const char *what, enum pb_error error)
{
	return error == PB_ERROR_OK ||
	       e2e_fail("%s: %s (%s)", what, pb_error_name(error), pb_error_meaning(error));
}

bool e2e_host_attach(struct e2e_host *host, const char *socket)
{
	memset(host, 0, sizeof(*host));
	return e2e_ok("connect", pb_link_open_socket(socket, &host->link)) &&
	       e2e_ok("attach", pb_channel_attach(&host->channel, host->link, E2E_PATIENCE_US));
}

static bool make_segments(struct e2e_host *host, uint32_t system_bytes, uint32_t kind)
{
	const struct pb_segment_request system = {
		.id = PB_SEGMENT_SYSTEM,
		.os_base = E2E_SYSTEM_BASE,
		.gpu_base = E2E_SYSTEM_BASE,
		.size = system_bytes,
		.backing_bytes = system_bytes,
		.kind = kind,
	};
	const struct pb_host_pages pages = {.address = 0};
	const struct pb_segment_request video = {
		.id = E2E_VIDEO,
		.os_base = E2E_VIDEO_OS,
		.gpu_base = E2E_VIDEO_GPU,
		.size = E2E_VIDEO_BYTES,
		.backing_bytes = E2E_VIDEO_BYTES,
	};

	return e2e_ok("segment 0",
		      kind == PB_SEGMENT_HOST
			      ? pb_segment_create_host(&host->system, &host->channel, &system, &pages)
			      : pb_segment_create(&host->system, &host->channel, &system)) &&
	       e2e_ok("segment 1", pb_segment_create(&host->video, &host->channel, &video));
}

static bool furnish(struct e2e_host *host, uint32_t system_bytes, uint32_t kind)
{
	if (!make_segments(host, system_bytes, kind) ||
	    !e2e_ok("context", pb_context_create(&host->channel, &host->context)))
		return false;
	for (uint32_t n = 0; n < E2E_NODES; n++) {
		struct pb_queue *queue = &host->queues[n];

		if (!e2e_ok("queue",
			    pb_queue_create(queue, &host->channel, &host->system, n, E2E_RING_ENTRIES)) ||
		    !e2e_ok("target", pb_memory_allocate(&host->video, E2E_TARGET_BYTES, PB_PAGE_BYTES,
							 &host->targets[n])) ||
		    !e2e_ok("builder", pb_dma_open(&host->builders[n], queue, host->context, &host->system,
						   &host->system, BUFFER_BYTES, PATCHES)))
			return false;
	}
	return true;
}

bool e2e_host_furnish(struct e2e_host *host, uint32_t system_bytes)
{
	return furnish(host, system_bytes, PB_SEGMENT_LINEAR);
}

bool e2e_host_open_in_host_memory(struct e2e_host *host, const char *socket)
{
	return e2e_host_attach(host, socket) && furnish(host, E2E_SYSTEM_BYTES, PB_SEGMENT_HOST);
}

bool e2e_host_open(struct e2e_host *host, const char *socket)
{
	return e2e_host_attach(host, socket) && e2e_host_furnish(host, E2E_SYSTEM_BYTES);
}

bool e2e_host_close(struct e2e_host *host)
{
	bool good = e2e_ok("detach", pb_channel_detach(&host->channel));

	host->link->ops->close(host->link);
	return good;
}

/* ---- targets ---- */

static uint32_t *target_words(const struct e2e_host *host, uint32_t node)
{
	return (uint32_t *)(void *)host->targets[node].bytes_host;
}

void e2e_target_set(struct e2e_host *host, uint32_t node, uint32_t value)
{
	for (uint32_t i = 0; i < E2E_TARGET_BYTES / 4u; i++)
		pb_shared_write32(&target_words(host, node)[i], value);
}

/* Whether [start, start + bytes) of a target is `inside` and the rest is `outside`. */
static bool target_holds(const struct e2e_host *host, uint32_t node, uint32_t start, uint32_t bytes,
			 uint32_t inside, uint32_t outside)
{
	for (uint32_t i = 0; i < E2E_TARGET_BYTES / 4u; i++) {
		uint32_t found = pb_shared_read32(&target_words(host, node)[i]);
		uint32_t expected = i * 4u >= start && i * 4u < start + bytes ? inside : outside;

		if (found != expected)
			return e2e_fail("channel %u, target %u, byte %u: 0x%08x, not 0x%08x",
					(unsigned)host->link->channel, (unsigned)node, (unsigned)i * 4u,
					(unsigned)found, (unsigned)expected);
	}
	return true;
}

bool e2e_target_is(const struct e2e_host *host, uint32_t node, uint32_t value)
{
	return target_holds(host, node, 0, E2E_TARGET_BYTES, value, value);
}

uint64_t e2e_target_gpu(const struct e2e_host *host, uint32_t node, uint32_t offset)
{
	return host->targets[node].os_address - E2E_VIDEO_OS + E2E_VIDEO_GPU + offset;
}

/* ---- submissions ---- */

static void append_fill(struct e2e_host *host, struct pb_dma *dma, uint32_t node, uint32_t start,
			uint32_t bytes, uint32_t value)
{
	pb_dma_packet(dma, PB_PACKET_FILL, PB_PACKET_FILL_WORDS);
	pb_dma_address(dma, &host->targets[node], start, true);
	pb_dma_word(dma, bytes);
	pb_dma_word(dma, value);
}

void e2e_host_fill(struct e2e_host *host, uint32_t node, uint32_t value)
{
	pb_dma_begin(&host->builders[node]);
	append_fill(host, &host->builders[node], node, 0, E2E_TARGET_BYTES, value);
}

/* Submits, waits, and checks that all of it was patched and nothing failed. */
static bool run(struct pb_dma *dma, uint32_t fence_id)
{
	uint64_t before = 0;
	struct pb_fence fence;

	if (!e2e_ok("fence", pb_queue_fence(dma->queue, &fence)))
		return false;
	before = fence.patches;
	if (!e2e_ok("submit", pb_dma_submit(dma, fence_id)) ||
	    !e2e_ok("wait", pb_dma_wait(dma, E2E_PATIENCE_US, &fence)))
		return false;
	if (fence.fence_id != fence_id || fence.errors != 0 || fence.patches - before != dma->patch_count)
		return e2e_fail("fence %u with %u errors and %u patches, not %u, 0 and %u",
				(unsigned)fence.fence_id, (unsigned)fence.errors,
				(unsigned)(fence.patches - before), (unsigned)fence_id,
				(unsigned)dma->patch_count);
	return true;
}

/* Whether a DMA buffer holds exactly these words. */
static bool buffer_holds(const struct pb_dma *dma, const uint32_t *words, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t found = pb_shared_read32(&((uint32_t *)(void *)dma->buffer.bytes_host)[i]);

		if (found != words[i])
			return e2e_fail("DMA buffer, word %u: 0x%08x, not 0x%08x", (unsigned)i,
					(unsigned)found, (unsigned)words[i]);
	}
	return true;
}

/* In several fills, so that the patch list has a run of equal entries. */
static bool fill_round(struct e2e_host *host, uint32_t value)
{
	uint32_t expected[FILL_PIECES * PB_PACKET_FILL_WORDS];
	struct pb_dma *dma = &host->builders[0];

	pb_dma_begin(dma);
	for (uint32_t i = 0; i < FILL_PIECES; i++) {
		const uint32_t start = FILL_START + i * PIECE_BYTES;
		const uint64_t target = e2e_target_gpu(host, 0, start);
		const uint32_t packet[] = {0x01000005, (uint32_t)target, (uint32_t)(target >> 32),
					   PIECE_BYTES, value};

		append_fill(host, dma, 0, start, PIECE_BYTES, value);
		memcpy(&expected[i * PB_PACKET_FILL_WORDS], packet, sizeof(packet));
	}
	return run(dma, host->rounds) && buffer_holds(dma, expected, FILL_PIECES * PB_PACKET_FILL_WORDS) &&
	       target_holds(host, 0, FILL_START, ROUND_BYTES, value, ~value);
}

static bool copy_round(struct e2e_host *host, uint32_t value)
{
	const uint64_t source = e2e_target_gpu(host, 0, FILL_START);
	const uint64_t target = e2e_target_gpu(host, 1, COPY_START);
	const uint32_t expected[] = {0x02000006,       (uint32_t)source,         (uint32_t)(source >> 32),
				     (uint32_t)target, (uint32_t)(target >> 32), ROUND_BYTES};
	struct pb_dma *dma = &host->builders[1];

	pb_dma_begin(dma);
	pb_dma_packet(dma, PB_PACKET_COPY, PB_PACKET_COPY_WORDS);
	pb_dma_address(dma, &host->targets[0], FILL_START, false);
	pb_dma_address(dma, &host->targets[1], COPY_START, true);
	pb_dma_word(dma, ROUND_BYTES);
	return run(dma, host->rounds) && buffer_holds(dma, expected, 6) &&
	       target_holds(host, 1, COPY_START, ROUND_BYTES, value, ~value);
}

bool e2e_host_round(struct e2e_host *host, uint32_t value)
{
	host->rounds++;
	e2e_target_set(host, 0, ~value);
	e2e_target_set(host, 1, ~value);
	return fill_round(host, value) && copy_round(host, value);
}

void e2e_host_meets_fault(const char *socket)
{
	struct pb_fence fence;
	struct e2e_host host;

	assert_true(e2e_host_open(&host, socket));
	e2e_host_fill(&host, 0, 1);
	assert_int_equal(pb_dma_submit(&host.builders[0], 1), PB_ERROR_OK);
	assert_int_equal(
		pb_queue_wait(host.builders[0].queue, host.builders[0].timeline, E2E_PATIENCE_US, &fence),
		PB_ERROR_FIRMWARE_DEAD);
	host.link->ops->close(host.link);
}
