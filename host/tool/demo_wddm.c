/* SPDX-License-Identifier: MIT */
/* The demo as a WDDM kernel: every access to the card goes through the functions of the miniport. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "hal/engine/packets.h"
#include "hal/shared.h"
#include "host/tool/demo_state.h"
#include "host/tool/trace_keep.h"
#include "host/tool/wddm_memory.h"

/** DMA buffers: more than a hardware queue holds. */
#define BUFFERS 8u
/** The allocation list: the resources, then the NULL allocation. */
#define LIST (PB_DEMO_RESOURCES + 1u)
/** Patch locations of a DMA buffer. */
#define PATCHES 64u
/** Every third call of Render gets so few bytes: what it writes may be resident, and run as it is rendered. */
#define SMALL_DMA_BYTES 64u
/** The 3D node is preempted after every so many packets. */
#define PREEMPT_EVERY 5u
/** TdrDelay of the packet that hangs, in microseconds. */
#define HANG_DELAY_US 100000u
/** Staging memory of a context: for the command buffer of a pass and its lists. */
#define STAGING_BYTES 16384u
/** System memory beside allocations and DMA buffers: queues, lists in flight, the paging buffer. */
#define SYSTEM_BYTES 0x24000u
/** Least size of a segment of video memory: allocations occupy whole pages, however small the pictures are. */
#define VIDEO_BYTES_MIN (8u * PB_PAGE_BYTES)

struct pb_demo_wddm_state {
	struct pb_os os;
	struct pb_vidmm memory;
	struct pb_wddm_context context;
	struct pb_vidmm_allocation *resources[PB_DEMO_RESOURCES];
	struct pb_vidmm_buffer buffers[BUFFERS];
	uint32_t next_buffer;
	uint32_t packets; /**< queued by the demo */
	uint64_t staging[STAGING_BYTES / sizeof(uint64_t)];
	uint32_t runaways; /**< packets that hang */
	struct pb_wddm_context runaway;
	uint64_t runaway_staging[STAGING_BYTES / sizeof(uint64_t)];
	struct pb_vidmm_buffer runaway_buffer;
	struct pb_trace_keeper trace;
};

/** Prints the kernel's failure. @return false */
static bool fail(const struct pb_demo *demo)
{
	fprintf(stderr, "patchbay demo: frame %u: %s\n", (unsigned)demo->frame, demo->wddm->os.message);
	return false;
}

static bool fail_with(const struct pb_demo *demo, const char *what)
{
	fprintf(stderr, "patchbay demo: frame %u: %s\n", (unsigned)demo->frame, what);
	return false;
}

/* ---- start ---- */

static uint32_t pages_bytes(uint32_t shrink)
{
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < PB_DEMO_RESOURCES; i++) {
		const struct pb_demo_resource resource = pb_demo_layout(i, shrink);

		bytes += pb_demo_whole_pages(pb_demo_bytes(&resource));
	}
	return bytes;
}

static uint32_t system_bytes(const struct pb_demo *demo, uint32_t shrink)
{
	(void)demo;
	return pages_bytes(shrink) + (BUFFERS + 1u) * PB_PAGE_BYTES + SYSTEM_BYTES;
}

static uint32_t video_bytes(uint32_t bytes)
{
	return bytes > VIDEO_BYTES_MIN ? pb_demo_whole_pages(bytes) : VIDEO_BYTES_MIN;
}

static bool create_context(struct pb_demo *demo, struct pb_wddm_context *context, void *staging)
{
	struct pb_dxgkarg_createcontext create = {.NodeOrdinal = PB_DEMO_3D, .EngineAffinity = 1};

	return pb_wddm_create_context(&demo->wddm->os.adapter, context, &create, staging, STAGING_BYTES) ==
		       PB_STATUS_SUCCESS ||
	       fail_with(demo, "CreateContext failed");
}

static bool start_os(struct pb_demo *demo)
{
	struct pb_wddm_config config = {
		.channel = &demo->channel,
		.interface_version = PB_DXGKDDI_WDDM1_3,
		.node_count = PB_DEMO_ENGINES,
		.paging_node = PB_DEMO_COPY,
		.allocations = LIST,
		.patches = PATCHES,
	};

	for (uint32_t i = 0; i < PB_DEMO_SEGMENTS; i++)
		config.segments[i] = &demo->segments[i];
	return pb_os_start(&demo->wddm->os, &config);
}

static bool open_path(struct pb_demo *demo)
{
	struct pb_demo_wddm_state *state = calloc(1, sizeof(*state));
	const struct pb_card_info *card = &demo->channel.card;

	demo->wddm = state;
	if (state == NULL)
		return pb_demo_fail(demo, "WDDM", PB_ERROR_HOST_MEMORY);
	if (pb_demo_find_node(card, PB_NODE_3D) != PB_DEMO_3D ||
	    pb_demo_find_node(card, PB_NODE_COPY) != PB_DEMO_COPY)
		return fail_with(demo, "node 0 of this board is no 3D node, or node 1 no copy node");
	if (!start_os(demo) ||
	    !pb_vidmm_start(&state->memory, &state->os, PB_DEMO_COPY, pages_bytes(demo->scene.shrink)))
		return fail(demo);
	if (!pb_trace_keep_begin(&state->trace, demo->options->link))
		return fail_with(demo, "a temporary file cannot be written");
	state->memory.without_patches = demo->options->without_patches;
	for (uint32_t i = 0; i < BUFFERS; i++) {
		if (!pb_vidmm_buffer_make(&state->memory, &state->buffers[i], LIST, PATCHES))
			return fail(demo);
	}
	return create_context(demo, &state->context, state->staging);
}

static void stop(struct pb_demo_wddm_state *state)
{
	if (state->context.adapter != NULL)
		(void)pb_wddm_context_destroy(&state->context);
	if (state->runaway.adapter != NULL)
		(void)pb_wddm_context_destroy(&state->runaway);
	pb_os_stop(&state->os);
	for (uint32_t i = 0; i < BUFFERS; i++)
		pb_vidmm_buffer_free(&state->buffers[i]);
	pb_vidmm_buffer_free(&state->runaway_buffer);
	pb_vidmm_stop(&state->memory);
	pb_trace_keep_end(&state->trace);
}

static void close_path(struct pb_demo *demo)
{
	struct pb_demo_wddm_state *state = demo->wddm;

	if (state != NULL)
		stop(state);
	free(state);
	/* Detaching frees what is left on the card. */
	if (demo->channel.attached)
		(void)pb_channel_detach(&demo->channel);
}

/* ---- memory ---- */

/** Vertices stay in system memory, behind the aperture; screens need the large segment; all others prefer the small one. */
static bool create(struct pb_demo *demo)
{
	struct pb_demo_wddm_state *state = demo->wddm;

	for (uint32_t i = 0; i < PB_DEMO_RESOURCES; i++) {
		const bool vertices = i == PB_DEMO_VERTICES;
		const bool screen = !vertices && pb_demo_image_of(i) == PB_SCENE_SCREEN;
		const uint32_t other = vertices ? PB_DEMO_APERTURE : PB_DEMO_SMALL;

		demo->resources[i] = pb_demo_layout(i, demo->scene.shrink);
		state->resources[i] = pb_vidmm_create(&state->memory, pb_demo_bytes(&demo->resources[i]),
						      screen ? PB_DEMO_LARGE : other,
						      screen || vertices ? 0 : PB_DEMO_LARGE);
		if (state->resources[i] == NULL)
			return fail(demo);
	}
	return true;
}

static bool page_out(struct pb_demo *demo, uint32_t number)
{
	struct pb_demo_wddm_state *state = demo->wddm;

	return pb_vidmm_evict(&state->memory, state->resources[number], false) || fail(demo);
}

static uint8_t *byte(const struct pb_demo *demo, uint32_t number, uint32_t offset)
{
	return pb_vidmm_byte(&demo->wddm->memory, demo->wddm->resources[number], offset);
}

static struct pb_demo_place find(struct pb_demo *demo, uint32_t number)
{
	const struct pb_vidmm_allocation *allocation = demo->wddm->resources[number];

	if (allocation->segment == NULL)
		return (struct pb_demo_place){.segment = 0};
	return (struct pb_demo_place){allocation->segment->id, allocation->address};
}

/* ---- a client that hangs the engine ---- */

/**
 * Queues a packet that never ends, of a context of its own, in the middle of the animation. The packets behind it are
 * submitted again after the timeout.
 */
static bool queue_runaway(struct pb_demo *demo)
{
	struct pb_demo_wddm_state *state = demo->wddm;
	struct pb_vidmm_buffer *buffer = &state->runaway_buffer;
	struct pb_os_packet *packet;
	const uint8_t *end;

	if (demo->frame != demo->options->frames / 2 || state->runaways != 0)
		return true;
	if (!create_context(demo, &state->runaway, state->runaway_staging))
		return false;
	if (!pb_vidmm_buffer_make(&state->memory, buffer, LIST, PATCHES))
		return fail(demo);
	end = pb_wddm_private_start(&state->os.adapter, buffer->private_data, buffer->private_size);
	if (end == NULL)
		return fail_with(demo, "too little private data");
	buffer->private_end = (uint32_t)(end - (const uint8_t *)buffer->private_data);
	buffer->dma_end = PB_PACKET_HANG_WORDS * (uint32_t)sizeof(uint32_t);
	pb_shared_write32((uint32_t *)(void *)buffer->memory.bytes_host,
			  PB_PACKET(PB_PACKET_HANG, PB_PACKET_HANG_WORDS));
	packet = pb_vidmm_submit(&state->memory, &state->runaway, buffer, 0);
	if (packet == NULL)
		return fail(demo);
	packet->built_behind = packet->built = 0;
	packet->tdr_delay_us = HANG_DELAY_US;
	state->runaways++;
	return true;
}

/* ---- submission ---- */

static void write_list(struct pb_demo *demo, struct pb_vidmm_buffer *buffer)
{
	for (uint32_t i = 0; i < PB_DEMO_RESOURCES; i++)
		pb_vidmm_list(buffer, i, demo->wddm->resources[i], pb_demo_is_drawn(i));
	pb_vidmm_list(buffer, PB_DEMO_RESOURCES, NULL, false);
}

/** Calls Render once. @return its NTSTATUS */
static uint32_t render(struct pb_demo *demo, struct pb_dxgkarg_render *arguments,
		       struct pb_vidmm_buffer *buffer)
{
	struct pb_demo_wddm_state *state = demo->wddm;
	const size_t call = state->os.record.count;
	uint32_t status;

	write_list(demo, buffer);
	arguments->pDmaBuffer = buffer->memory.bytes_host;
	arguments->pDmaBufferPrivateData = buffer->private_data;
	arguments->pAllocationList = buffer->list;
	arguments->pPatchLocationListOut = buffer->locations;
	arguments->DmaBufferPrivateDataSize = buffer->private_size;
	arguments->DmaSize = state->next_buffer % 3 == 0 ? SMALL_DMA_BYTES : PB_DEMO_DMA_BYTES;
	(void)pb_ddi_began(&state->os.record, PB_DDI_RENDER, PB_DEMO_3D);
	status = pb_ddi_ended(&state->os.record, call, pb_wddm_render(&state->context, arguments));
	buffer->dma_end = (uint32_t)((uint8_t *)arguments->pDmaBuffer - buffer->memory.bytes_host);
	buffer->private_end =
		(uint32_t)((uint8_t *)arguments->pDmaBufferPrivateData - (uint8_t *)buffer->private_data);
	buffer->location_count = (uint32_t)(arguments->pPatchLocationListOut - buffer->locations);
	return status;
}

/** Returns the next DMA buffer when its packets have ended; NULL: a failure. */
static struct pb_vidmm_buffer *next_buffer(struct pb_demo *demo)
{
	struct pb_demo_wddm_state *state = demo->wddm;
	struct pb_vidmm_buffer *buffer = &state->buffers[state->next_buffer++ % BUFFERS];

	while (buffer->packets != 0) {
		if (!pb_os_step(&state->os))
			return NULL;
	}
	return buffer;
}

/** Submits what is queued, and preempts the node now and then. */
static bool submit(struct pb_demo *demo)
{
	struct pb_demo_wddm_state *state = demo->wddm;

	if (!pb_os_submit(&state->os))
		return false;
	return ++state->packets % PREEMPT_EVERY != 0 || pb_os_preempt(&state->os, PB_DEMO_3D);
}

static bool draw(struct pb_demo *demo, uint32_t number)
{
	struct pb_demo_wddm_state *state = demo->wddm;
	struct pb_dxgkarg_render arguments = {
		.pCommand = demo->commands,
		.CommandLength = pb_demo_write_commands(demo, &demo->scene.passes[number]),
		.AllocationListSize = LIST,
		.PatchLocationListOutSize = PATCHES,
	};
	uint32_t status = PB_STATUS_INSUFFICIENT_DMA_BUFFER;

	if (!queue_runaway(demo))
		return false;
	while (status == PB_STATUS_INSUFFICIENT_DMA_BUFFER) {
		struct pb_vidmm_buffer *buffer = next_buffer(demo);
		const size_t call = state->os.record.count;

		if (buffer == NULL)
			return fail(demo);
		status = render(demo, &arguments, buffer);
		if (status != PB_STATUS_SUCCESS && status != PB_STATUS_INSUFFICIENT_DMA_BUFFER) {
			fprintf(stderr, "patchbay demo: frame %u: Render: status 0x%08" PRIx32 "%s\n",
				(unsigned)demo->frame, status,
				state->context.lost ? ": a submission of the context failed" : "");
			return false;
		}
		if (pb_vidmm_submit(&state->memory, &state->context, buffer, call) == NULL || !submit(demo))
			return fail(demo);
	}
	return true;
}

static bool wait_all(struct pb_demo *demo)
{
	struct pb_demo_wddm_state *state = demo->wddm;

	if (!pb_os_drain(&state->os))
		return fail(demo);
	if (state->context.lost)
		return fail_with(demo, "3D node: a submission of the context failed");
	/* Only the context that hung is in error. */
	if (state->runaways != 0 && !state->runaway.lost)
		return fail_with(demo, "the packet that hangs has ended");
	return true;
}

/* ---- the timeline ---- */

static bool keep_trace(struct pb_demo *demo)
{
	return pb_trace_keep(&demo->wddm->trace) || fail_with(demo, "a temporary file cannot be written");
}

static bool read_trace(struct pb_demo *demo, struct pb_trace_data *data)
{
	return pb_trace_keep_read(&demo->wddm->trace, &demo->wddm->os.record, data);
}

/* ---- figures ---- */

static void print_table(struct pb_demo *demo)
{
	const struct pb_demo_wddm_state *state = demo->wddm;
	const struct pb_os_figures *os;
	const struct pb_vidmm_figures *memory;

	if (state == NULL)
		return;
	os = &state->os.figures;
	memory = &state->memory.figures;
	printf("%" PRIu32 " packets submitted: %" PRIu32 " patched, %" PRIu32 " as rendered, %" PRIu32
	       " paging; %" PRIu32 " completed\n",
	       os->submitted, os->patched - (memory->paging + 1u) / 2u, memory->prepatched, memory->paging,
	       os->completed);
	printf("%" PRIu32 " preemptions, which returned %" PRIu32 " packets; %" PRIu32
	       " timeouts, which aborted %" PRIu32 "\n",
	       os->preemptions, os->recalled, os->engine_resets + os->adapter_resets, os->aborted);
	printf("system memory: %s memory\n",
	       demo->segments[PB_DEMO_SYSTEM].request.kind == PB_SEGMENT_HOST ? "host" : "card");
	printf("%" PRIu32 " evictions, %" PRIu32 " page-ins, %" PRIu64 " bytes paged, %" PRIu32
	       " splits; paging buffers built %s\n",
	       memory->evictions, memory->page_ins, memory->bytes, memory->splits,
	       state->memory.paging.alias != NULL ? "through a second mapping" : "in place");
}

static void print_figures(const struct pb_demo *demo)
{
	const struct pb_os_figures *os = &demo->wddm->os.figures;
	const struct pb_vidmm_figures *memory = &demo->wddm->memory.figures;

	printf("%" PRIu32 " submissions, %" PRIu32 " moves, %" PRIu32 " preemptions, %" PRIu32 " timeouts",
	       os->submitted, memory->page_ins + memory->evictions, os->preemptions,
	       os->engine_resets + os->adapter_resets);
}

const struct pb_demo_path pb_demo_wddm = {
	.unit = PB_PAGE_BYTES,
	.system_bytes = system_bytes,
	.video_bytes = video_bytes,
	.open = open_path,
	.create = create,
	.page_out = page_out,
	.byte = byte,
	.find = find,
	.draw = draw,
	.wait = wait_all,
	.keep_trace = keep_trace,
	.read_trace = read_trace,
	.print_table = print_table,
	.print_figures = print_figures,
	.close = close_path,
};
