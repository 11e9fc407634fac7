/* SPDX-License-Identifier: MIT */
/*
 * throughput FIRMWARE [RUNS]: submissions a second, from a host's store to the fence that it reads, in QEMU.
 * Wall time: the median and the worst of the runs are printed.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hal/engine/packets.h"
#include "hal/shared.h"
#include "patchbay/patchbay.h"
#include "qemu/card.h"

#define NODES        4u
#define QUEUES       64u
#define ENTRIES      64u
#define BATCH        32u /* submissions for one doorbell */
#define BATCHES      5120u
#define WARM_UP      256u /* batches: the emulator translates code when it first runs */
#define SYSTEM_BASE  0x10000000u
#define SYSTEM_BYTES 0x100000u
#define PATIENCE_US  600000000u
#define RUNS_MAX     15u

struct host {
	struct pb_link *link;
	struct pb_channel channel;
	struct pb_segment system;
	struct pb_queue queues[QUEUES];
	struct pb_descriptor descriptor; /* of every submission, but for the timeline value */
};

static _Noreturn void die(const char *what, uint32_t error)
{
	fprintf(stderr, "throughput: %s: %s\n", what, pb_error_name(error));
	exit(1);
}

static void ok(const char *what, enum pb_error error)
{
	if (error != PB_ERROR_OK)
		die(what, error);
}

/* Wall-clock time. */
static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* An empty buffer without lists: only the cost of a submission itself is left. */
static void make_descriptor(struct host *host)
{
	struct pb_memory buffer;

	ok("buffer", pb_memory_allocate(&host->system, PB_PAGE_BYTES, PB_PAGE_BYTES, &buffer));
	pb_shared_write32((uint32_t *)(void *)buffer.bytes_host, PB_PACKET(PB_PACKET_NOP, 1));
	host->descriptor = (struct pb_descriptor){
		.dma_address_low = (uint32_t)buffer.os_address,
		.dma_address_high = (uint32_t)(buffer.os_address >> 32),
		.dma_size = PB_PAGE_BYTES,
		.dma_end = sizeof(uint32_t),
	};
	ok("context", pb_context_create(&host->channel, &host->descriptor.context));
}

static void open_host(struct host *host, const char *socket)
{
	const uint32_t moderate[PB_COMMAND_ARGUMENTS] = {BATCH, 1000};
	const struct pb_segment_request system = {.id = PB_SEGMENT_SYSTEM,
						  .os_base = SYSTEM_BASE,
						  .gpu_base = SYSTEM_BASE,
						  .size = SYSTEM_BYTES,
						  .backing_bytes = SYSTEM_BYTES};
	enum pb_error error;

	memset(host, 0, sizeof(*host));
	ok("connect", pb_link_open_socket(socket, &host->link));
	ok("attach", pb_channel_attach(&host->channel, host->link, PATIENCE_US));
	ok("segment", pb_segment_create(&host->system, &host->channel, &system));
	make_descriptor(host);
	for (uint32_t q = 0; q < QUEUES; q++)
		ok("queue",
		   pb_queue_create(&host->queues[q], &host->channel, &host->system, q % NODES, ENTRIES));
	error = pb_channel_command(&host->channel, PB_COMMAND_MODERATE, moderate, NULL);
	if (error != PB_ERROR_UNSUPPORTED)
		ok("moderate", error);
}

/* ---- a batch: like pb_queue_submit, with one put, one kick and one doorbell for all ---- */

static void write_batch(struct host *host, struct pb_queue *queue)
{
	struct pb_queue_page *page = (void *)queue->memory.bytes_host;
	struct pb_descriptor *ring = (void *)(page + 1);

	for (uint32_t i = 0; i < BATCH; i++) {
		host->descriptor.timeline_low = (uint32_t)++queue->timeline;
		host->descriptor.fence_id = queue->put;
		memcpy(&ring[queue->put++ & (ENTRIES - 1u)], &host->descriptor, sizeof(host->descriptor));
	}
	pb_shared_release();
	pb_shared_write32(&page->put, queue->put);
}

static void kick(struct host *host, const struct pb_queue *queue)
{
	struct pb_channel *channel = &host->channel;
	uint32_t *ring = (void *)(host->link->memory + channel->kick_offset);

	/* One kick may have served two batches: the kicks behind it are unread although their batches have completed. */
	while (channel->kick_put - pb_shared_read32(&channel->entry->kick_get) >= channel->kick_entries)
		(void)host->link->ops->wait(host->link, 100000);
	pb_shared_release();
	pb_shared_write32(&ring[channel->kick_put & (channel->kick_entries - 1u)], queue->handle);
	pb_shared_release();
	pb_shared_write32(&channel->entry->kick_put, ++channel->kick_put);
	pb_shared_barrier();
	host->link->ops->doorbell(host->link);
}

static bool has_room(struct pb_queue *queue)
{
	uint32_t completed;

	ok("completed", pb_queue_completed(queue, &completed));
	return queue->put - completed <= ENTRIES - BATCH;
}

static void run_batches(struct host *host, uint32_t most)
{
	uint32_t batches = 0;

	while (batches < most) {
		const uint32_t before = batches;

		for (uint32_t q = 0; q < QUEUES && batches < most; q++) {
			struct pb_queue *queue = &host->queues[q];

			if (!has_room(queue))
				continue;
			write_batch(host, queue);
			kick(host, queue);
			batches++;
		}
		if (batches == before)
			(void)host->link->ops->wait(host->link, 100000);
	}
	for (uint32_t q = 0; q < QUEUES; q++) {
		struct pb_queue *queue = &host->queues[q];
		struct pb_fence fence;

		ok("wait", pb_queue_wait(queue, queue->timeline, PATIENCE_US, &fence));
		if (fence.completed != queue->put || fence.errors != 0)
			die("a submission failed", fence.error);
	}
}

/* ---- a run ---- */

/* @return submissions a second */
static double run(const char *image, const char *folder)
{
	struct pb_card_options options = PB_CARD_OPTIONS_DEFAULT;
	static struct host host;
	char socket[64];
	double start, end;
	pid_t card;

	snprintf(socket, sizeof(socket), "%s/card", folder);
	options.image = image;
	options.socket = socket;
	options.quiet = true;
	if (pb_card_start(&options, &card) != 0)
		exit(1);
	open_host(&host, socket);
	run_batches(&host, WARM_UP);
	start = seconds();
	run_batches(&host, BATCHES);
	end = seconds();
	host.link->ops->close(host.link);
	if (pb_card_stop(card) != 0)
		exit(1);
	return BATCHES * BATCH / (end - start);
}

static int compare(const void *a, const void *b)
{
	const double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

int main(int argc, char **argv)
{
	char folder[] = "/tmp/patchbay-throughput-XXXXXX";
	double rates[RUNS_MAX];
	unsigned long runs = argc > 2 ? strtoul(argv[2], NULL, 10) : 7;

	if (argc < 2 || runs == 0 || runs > RUNS_MAX) {
		fprintf(stderr, "usage: throughput FIRMWARE [RUNS]\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	if (mkdtemp(folder) == NULL)
		return 1;
	for (unsigned long i = 0; i < runs; i++)
		rates[i] = run(argv[1], folder);
	rmdir(folder);
	qsort(rates, runs, sizeof(rates[0]), compare);
	printf("e2e_submissions_per_s %.0f\n", rates[runs / 2]);
	printf("e2e_submissions_per_s_worst %.0f\n", rates[0]);
	return 0;
}
