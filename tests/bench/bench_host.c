/* SPDX-License-Identifier: MIT */
/* A client whose segment 0 is host memory takes the place of the bench's own, which stays attached and idle. */
#include "tests/bench/bench.h"

#define CHANNEL      2u
#define SYSTEM_BASE  0x10000000u
#define SYSTEM_BYTES 0x180000u /* buffer, lists and queue */

static struct pb_link link;
static struct pb_bench own;

/** Grants the first pages of the board's window, at host address 0, or takes them back. */
static void share(bool granted)
{
	struct pb_link admin_link;
	struct pb_channel admin;
	enum pb_error error;

	pb_bench_link(&admin_link, PB_CHANNEL_ADMIN);
	pb_bench_require(pb_channel_attach(&admin, &admin_link, 1) == PB_ERROR_OK, "admin");
	error = granted ? pb_host_grant(&admin, CHANNEL, 0, SYSTEM_BYTES, 0)
			: pb_host_revoke(&admin, CHANNEL, 0, SYSTEM_BYTES);
	pb_bench_require(error == PB_ERROR_OK, "grant of host memory");
	pb_bench_require(pb_channel_detach(&admin) == PB_ERROR_OK, "admin's end");
}

/** The bench sees the pages where the firmware does. */
static void create_segments(struct pb_bench *bench)
{
	const struct pb_segment_request system = {.kind = PB_SEGMENT_HOST,
						  .os_base = SYSTEM_BASE,
						  .gpu_base = SYSTEM_BASE,
						  .size = SYSTEM_BYTES,
						  .backing_bytes = SYSTEM_BYTES};
	struct pb_host_grant granted;
	struct pb_host_pages pages = {.address = 0};

	pb_bench_require(pb_host_grant_query(&bench->channel, CHANNEL, 0, &granted) == PB_ERROR_OK &&
				 granted.bytes == SYSTEM_BYTES,
			 "the grant is not shown");
	pages.memory = link.memory + granted.offset;
	pb_bench_require(pb_segment_create_host(&bench->system_segment, &bench->channel, &system, &pages) ==
				 PB_ERROR_OK,
			 "segment 0 in host memory");
	pb_bench_require(pb_segment_create(&bench->local_segment, &bench->channel,
					   &own.local_segment.request) == PB_ERROR_OK,
			 "segment 1 of the host memory's client");
}

static void furnish(struct pb_bench *bench)
{
	struct pb_segment *system = &bench->system_segment;

	pb_bench_require(pb_context_create(&bench->channel, &bench->context) == PB_ERROR_OK &&
				 pb_queue_create(&bench->queue, &bench->channel, system, 0,
						 own.queue.entries) == PB_ERROR_OK &&
				 pb_memory_allocate(system, PB_BENCH_BUFFER_BYTES, PB_PAGE_BYTES,
						    &bench->buffer) == PB_ERROR_OK &&
				 pb_memory_allocate(system, PB_BENCH_LISTS_BYTES, PB_PAGE_BYTES,
						    &bench->lists) == PB_ERROR_OK,
			 "host memory");
}

bool pb_bench_host_begin(void)
{
	if (pb_bench.channel.card.capabilities[PB_CAPABILITY_HOST_BYTES] < SYSTEM_BYTES)
		return false;
	own = pb_bench;
	share(true);
	pb_bench_link(&link, CHANNEL);
	pb_bench_require(pb_channel_attach(&pb_bench.channel, &link, 1) == PB_ERROR_OK, "attach");
	create_segments(&pb_bench);
	furnish(&pb_bench);
	return true;
}

void pb_bench_host_end(void)
{
	pb_bench_require(pb_channel_detach(&pb_bench.channel) == PB_ERROR_OK, "detach");
	share(false);
	pb_bench = own;
}
