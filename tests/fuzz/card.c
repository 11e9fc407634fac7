/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/card.h"

#include <stdlib.h>
#include <string.h>

#include "hal/shared.h"
#include "qemu/mcu/nodes.h"

/** How far time moves in one step while anything runs, in microseconds. */
#define STEP_MICROSECONDS 100u
#define BOOT_STEPS        10000u
/**
 * Longest time between two completions of the witness, whatever the guest does: on each node, since one waits for the
 * other, all that is in flight hangs, and the engine answers late.
 */
#define WITNESS_PATIENCE_US                                                                                  \
	(FUZZ_NODES * PB_DEFAULT_IN_FLIGHT *                                                                 \
	 (PB_HANG_MICROSECONDS + PB_ANSWER_MICROSECONDS + PB_TICK_MICROSECONDS))
#define WITNESS_FIXED 0x7000u
#define WITNESS_BYTES 0xa000u
/* Places in the fixed part of the witness: its marks' buffers, an allocation, a wait and a patch list for each mark. */
#define WITNESS_ALLOCATION 0x200u
#define WITNESS_WAITS      0x300u
#define WITNESS_PATCHES    0x1000u
/** Entries of the patch list of each of its marks: several slices. */
#define WITNESS_LENGTH 60u
#define WITNESS_VIDEO  0x1000u
/** A channel's rings behind the directory, and what they lie behind. */
#define RINGS_BYTES                                                                                          \
	(PB_LIMIT_CONTROL_ENTRIES * (sizeof(struct pb_command) + sizeof(struct pb_reply)) +                  \
	 PB_LIMIT_EVENT_ENTRIES * sizeof(struct pb_event) + PB_LIMIT_KICK_ENTRIES * sizeof(uint32_t))
#define RINGS_OFFSET (PB_CARD_CHANNELS_OFFSET + PB_LIMIT_CHANNELS * sizeof(struct pb_channel_entry))

struct fuzz_card fuzz_card;

/** The card as it was, and whether it ever was. */
static struct {
	bool taken;
	uint8_t *memory;
	uint8_t *firmware;
	uint8_t *queues;
	struct fuzz_card card;
} snapshot;

static const uint32_t node_kinds[FUZZ_NODES] = {PB_NODE_3D, PB_NODE_COPY};

/* ---- it moves ---- */

static struct pb_boot_block *boot_block(void)
{
	return (struct pb_boot_block *)(void *)(fuzz_card.memory + PB_BOOT_OFFSET);
}

static bool is_quiet(void)
{
	bool quiet = fuzz_card.host_lines.idle && fuzz_card.host_lines.pending == 0;

	for (uint32_t n = 0; n < FUZZ_NODES; n++)
		quiet = quiet && !fuzz_card.nodes[n].running;
	return quiet;
}

static void advance(void)
{
	fuzz_card.now = is_quiet() && fuzz_card.now < fuzz_card.next_tick ? fuzz_card.next_tick
									  : fuzz_card.now + STEP_MICROSECONDS;
	pb_shared_write32(&boot_block()->clock, (uint32_t)fuzz_card.now);
	if (fuzz_card.now < fuzz_card.next_tick)
		return;
	fuzz_card.next_tick = fuzz_card.now + PB_TICK_MICROSECONDS;
	fuzz_card.host_lines.pending |= 1u << PB_LINE_TICK;
}

static uint32_t completed_of(const struct pb_queue *queue)
{
	const struct pb_queue_page *page =
		(const struct pb_queue_page *)(const void *)queue->memory.bytes_host;

	return pb_shared_read32(&page->fence.completed);
}

/** The witness has waited for its next completion since it submitted, or since the last one. */
static void time_witness(void)
{
	for (uint32_t n = 0; n < FUZZ_NODES; n++) {
		const struct pb_queue *queue = &fuzz_card.witness.queues[n];
		const uint32_t completed = queue->handle != 0 ? completed_of(queue) : queue->put;

		if (completed == queue->put || completed != fuzz_card.witness_completed[n])
			fuzz_card.witness_since[n] = fuzz_card.now;
		fuzz_card.witness_completed[n] = completed;
		FUZZ_CHECK(fuzz_card.now - fuzz_card.witness_since[n] <= WITNESS_PATIENCE_US);
	}
}

void fuzz_card_step(void)
{
	time_witness();
	advance();
	if (!pb_firmware_pass(fuzz_card.firmware))
		pb_firmware_idle(fuzz_card.firmware);
	pb_shared_write32(&boot_block()->heartbeat_clock, (uint32_t)fuzz_card.now);
	for (uint32_t n = 0; n < FUZZ_NODES; n++) {
		struct fuzz_node *node = &fuzz_card.nodes[n];

		if ((fuzz_card.host_lines.raised & 1u << PB_LINE_NODE(n)) != 0)
			node->running = true;
		if (node->running)
			node->running = pb_engine_model_step(&node->model, STEP_MICROSECONDS);
	}
	fuzz_card.host_lines.raised &= ~PB_LINES_NODES;
}

bool fuzz_card_settle(uint32_t steps)
{
	uint32_t ticks = 0;

	for (; steps != 0 && ticks < 3; steps--) {
		ticks += is_quiet();
		fuzz_card_step();
	}
	return steps != 0;
}

/* ---- its hosts ---- */

static void doorbell(struct pb_link *link)
{
	fuzz_card.host_lines.pending |= 1u << PB_LINE_CHANNEL(link->channel);
}

static enum pb_error wait_for_card(struct pb_link *link, uint64_t timeout_us)
{
	(void)link;
	(void)timeout_us;
	fuzz_card_step();
	return PB_ERROR_OK;
}

static uint64_t now(struct pb_link *link)
{
	(void)link;
	return fuzz_card.now;
}

static void close_link(struct pb_link *link)
{
	(void)link;
}

static const struct pb_link_ops link_ops = {
	.doorbell = doorbell, .wait = wait_for_card, .now = now, .close = close_link};

static void must(enum pb_error error)
{
	FUZZ_CHECK(error == PB_ERROR_OK);
}

static void attach(struct fuzz_client *client, uint32_t channel)
{
	client->link = (struct pb_link){.ops = &link_ops,
					.memory = fuzz_card.memory,
					.memory_bytes = FUZZ_MEMORY_BYTES,
					.channel = channel};
	must(pb_channel_attach(&client->channel, &client->link, 1000000));
}

static void make_segment(struct pb_segment *segment, struct fuzz_client *client,
			 struct pb_segment_request request)
{
	must(pb_segment_create(segment, &client->channel, &request));
}

/** An allocation, and for each mark a list that patches the address in its buffer again and again. */
static void write_lists(const struct fuzz_client *witness)
{
	uint8_t *fixed = witness->fixed.bytes_host;
	struct pb_allocation *allocation = (struct pb_allocation *)(void *)(fixed + WITNESS_ALLOCATION);
	struct pb_patch_location *patch = (struct pb_patch_location *)(void *)(fixed + WITNESS_PATCHES);

	*allocation = (struct pb_allocation){
		.address_low = (uint32_t)witness->video.request.os_base,
		.address_high = (uint32_t)(witness->video.request.os_base >> 32),
		.size_low = WITNESS_VIDEO,
		.flags = PB_ALLOCATION_WRITE | 1u << PB_ALLOCATION_SEGMENT_SHIFT,
	};
	for (uint32_t i = 0; i < FUZZ_MARK_COUNT * WITNESS_LENGTH; i++)
		patch[i] = (struct pb_patch_location){
			.driver_id = PB_PATCH_FORMAT_ADDRESS64_WRITE,
			.allocation_offset = i / WITNESS_LENGTH * 4u,
			.patch_offset = i / WITNESS_LENGTH * FUZZ_MARK_BYTES + 4u,
		};
}

/** Buffers of the marks, a context, a queue on each node. */
static void furnish(struct fuzz_client *client, uint32_t fixed, uint32_t marks_at)
{
	uint32_t *words;

	must(pb_memory_allocate(&client->system, fixed, PB_PAGE_BYTES, &client->fixed));
	client->marks_at = marks_at;
	words = (uint32_t *)(void *)(client->fixed.bytes_host + marks_at);
	for (uint32_t i = 0; i < FUZZ_MARK_COUNT; i++, words += PB_PACKET_FILL_WORDS) {
		const uint64_t to = client->video.request.gpu_base + 4u * i;

		words[0] = PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS);
		words[1] = (uint32_t)to;
		words[2] = (uint32_t)(to >> 32);
		words[3] = 4;
		words[4] = FUZZ_MARK(i);
	}
	must(pb_context_create(&client->channel, &client->context));
	for (uint32_t n = 0; n < FUZZ_NODES; n++)
		must(pb_queue_create(&client->queues[n], &client->channel, &client->system, n, FUZZ_ENTRIES));
}

/** The segments that patch_oracle.h knows, as far as they have room here. */
static void start_guest(struct fuzz_client *guest)
{
	static const struct pb_segment_request more[] = {
		{2, CARD_EDGE_OS, CARD_EDGE_GPU, CARD_EDGE_BYTES, 0, PB_SEGMENT_LINEAR},
		{3, 0, 0, CARD_WIDE_BYTES, 0, PB_SEGMENT_LINEAR},
		{4, ORACLE_SIGN_OS, ORACLE_SIGN_GPU, ORACLE_SMALL_BYTES, 0, PB_SEGMENT_LINEAR},
		{5, ORACLE_BIT48_OS, ORACLE_BIT48_GPU, ORACLE_SMALL_BYTES, 0, PB_SEGMENT_LINEAR},
		{6, ORACLE_TOP_OS, ORACLE_TOP_GPU, ORACLE_TOP_BYTES, 0, PB_SEGMENT_LINEAR},
		{7, ORACLE_BIT40_OS, ORACLE_BIT40_GPU, ORACLE_SMALL_BYTES, 0, PB_SEGMENT_LINEAR},
		{8, ORACLE_LOW_OS, ORACLE_LOW_GPU, ORACLE_SMALL_BYTES, 0, PB_SEGMENT_LINEAR},
		{9, ORACLE_APERTURE_OS, ORACLE_APERTURE_GPU, ORACLE_SMALL_BYTES, 0, PB_SEGMENT_APERTURE},
	};
	struct pb_segment unused;

	attach(guest, 1);
	make_segment(&guest->system, guest,
		     (struct pb_segment_request){0, FUZZ_SYSTEM_OS, FUZZ_SYSTEM_GPU, FUZZ_SYSTEM_BYTES,
						 FUZZ_SYSTEM_BYTES, PB_SEGMENT_LINEAR});
	make_segment(&guest->video, guest,
		     (struct pb_segment_request){1, CARD_VIDEO_OS, CARD_VIDEO_GPU, CARD_VIDEO_BYTES,
						 CARD_VIDEO_BACKED, PB_SEGMENT_LINEAR});
	for (uint32_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		make_segment(&unused, guest, more[i]);
	furnish(guest, FUZZ_TAKEN, FUZZ_MARKS);
}

static void start_witness(struct fuzz_client *witness)
{
	attach(witness, 2);
	make_segment(&witness->system, witness,
		     (struct pb_segment_request){0, CARD_SYSTEM_OS, CARD_SYSTEM_GPU, WITNESS_BYTES,
						 WITNESS_BYTES, PB_SEGMENT_LINEAR});
	make_segment(&witness->video, witness,
		     (struct pb_segment_request){1, CARD_VIDEO_OS, CARD_VIDEO_GPU, WITNESS_VIDEO,
						 WITNESS_VIDEO, PB_SEGMENT_LINEAR});
	furnish(witness, WITNESS_FIXED, 0);
	write_lists(witness);
}

static void grant(void)
{
	static struct fuzz_client admin;
	const uint32_t guest[PB_COMMAND_ARGUMENTS] = {1, PB_PRIVILEGE_PAGING | PB_PRIVILEGE_QUERY, 1,
						      PB_PRIORITY_REALTIME};

	attach(&admin, PB_CHANNEL_ADMIN);
	must(pb_channel_command(&admin.channel, PB_COMMAND_CHANNEL_GRANT, guest, NULL));
	must(pb_channel_detach(&admin.channel));
}

/* ---- it is made ---- */

static void engine_interrupt(void *context)
{
	const struct fuzz_node *node = context;

	fuzz_card.host_lines.pending |= 1u << PB_LINE_NODE(node->driver.node);
}

static void make_node(uint32_t n)
{
	struct fuzz_node *node = &fuzz_card.nodes[n];
	const struct pb_engine_model_config config = {
		.memory = fuzz_card.memory,
		.memory_bytes = FUZZ_MEMORY_BYTES,
		.registers_offset = PB_CARD_ENGINE_OFFSET + n * PB_CARD_ENGINE_STRIDE,
		.kind = node_kinds[n],
		.interrupt = engine_interrupt,
		.context = node,
	};

	node->driver =
		(struct pb_reference_engine)PB_CARD_REFERENCE_ENGINE(n, &fuzz_card.tables, &fuzz_card.lines);
	pb_engine_model_init(&node->model, &config);
	fuzz_card.engines[n] = (struct pb_engine)PB_REFERENCE_ENGINE(&node->driver, node_kinds[n]);
}

static void *room(size_t bytes)
{
	void *memory = calloc(1, bytes);

	FUZZ_CHECK(memory != NULL);
	return memory;
}

static void boot(void)
{
	fuzz_card.memory = room(FUZZ_MEMORY_BYTES);
	fuzz_card.firmware = room(pb_firmware_bytes());
	fuzz_card.queues = room((size_t)FUZZ_QUEUES * PB_FIRMWARE_QUEUE_BYTES);
	fuzz_card.lines = (struct pb_lines){.ops = &pb_host_lines_ops,
					    .context = &fuzz_card.host_lines,
					    .pending = &fuzz_card.host_lines.pending};
	fuzz_card.tables = (struct pb_reference_memory)PB_CARD_REFERENCE_MEMORY(fuzz_card.memory);
	fuzz_card.engine_memory = (struct pb_engine_memory){&pb_reference_memory_ops, &fuzz_card.tables};
	for (uint32_t n = 0; n < FUZZ_NODES; n++)
		make_node(n);
	fuzz_card.config = (struct pb_firmware_config){
		.memory = fuzz_card.memory,
		.memory_bytes = FUZZ_MEMORY_BYTES,
		.channels_offset = PB_CARD_CHANNELS_OFFSET,
		.pool_offset = PB_CARD_POOL_OFFSET,
		.telemetry_offset = PB_CARD_TELEMETRY_OFFSET,
		.lines = &fuzz_card.lines,
		.engine_memory = &fuzz_card.engine_memory,
		.engines = fuzz_card.engines,
		.node_count = FUZZ_NODES,
		.clock = &boot_block()->clock,
		.queues = fuzz_card.queues,
		.queue_count = FUZZ_QUEUES,
		.board = "fuzz",
	};
	pb_firmware_init(fuzz_card.firmware, &fuzz_card.config);
	for (uint32_t i = 0; i < BOOT_STEPS && boot_block()->boot_stage != PB_BOOT_STAGE_RUNNING; i++)
		fuzz_card_step();
	grant();
	start_guest(&fuzz_card.guest);
	start_witness(&fuzz_card.witness);
	FUZZ_CHECK(fuzz_card_settle(BOOT_STEPS));
}

static void take_snapshot(void)
{
	snapshot.memory = room(FUZZ_MEMORY_BYTES);
	snapshot.firmware = room(pb_firmware_bytes());
	snapshot.queues = room((size_t)FUZZ_QUEUES * PB_FIRMWARE_QUEUE_BYTES);
	memcpy(snapshot.memory, fuzz_card.memory, FUZZ_MEMORY_BYTES);
	memcpy(snapshot.firmware, fuzz_card.firmware, pb_firmware_bytes());
	memcpy(snapshot.queues, fuzz_card.queues, (size_t)FUZZ_QUEUES * PB_FIRMWARE_QUEUE_BYTES);
	snapshot.card = fuzz_card;
	snapshot.taken = true;
}

void fuzz_card_reset(void)
{
	if (!snapshot.taken) {
		boot();
		take_snapshot();
	}
	memcpy(fuzz_card.memory, snapshot.memory, FUZZ_MEMORY_BYTES);
	memcpy(fuzz_card.firmware, snapshot.firmware, pb_firmware_bytes());
	memcpy(fuzz_card.queues, snapshot.queues, (size_t)FUZZ_QUEUES * PB_FIRMWARE_QUEUE_BYTES);
	fuzz_card = snapshot.card;
}

/* ---- what clients do ---- */

struct pb_channel_entry *fuzz_guest_entry(void)
{
	return fuzz_card.guest.channel.entry;
}

uint8_t *fuzz_guest_bytes(uint32_t offset)
{
	FUZZ_CHECK(offset < FUZZ_SYSTEM_BYTES);
	return fuzz_card.memory + fuzz_card.guest.system.memory_offset + offset;
}

struct pb_descriptor fuzz_mark(const struct fuzz_client *client, uint32_t i)
{
	const uint64_t buffer = client->system.request.os_base + client->marks_at;

	return (struct pb_descriptor){
		.context = client->context,
		.fence_id = FUZZ_MARK(i),
		.dma_address_low = (uint32_t)buffer,
		.dma_address_high = (uint32_t)(buffer >> 32),
		.dma_size = PB_PAGE_BYTES,
		.dma_start = i * FUZZ_MARK_BYTES,
		.dma_end = (i + 1u) * FUZZ_MARK_BYTES,
	};
}

bool fuzz_guest_room(uint32_t q)
{
	struct pb_queue *queue = &fuzz_card.guest.queues[q];
	struct pb_queue_state state;

	if (queue->put - queue->completed < FUZZ_ENTRIES)
		return true;
	FUZZ_CHECK(pb_queue_query(queue, &state) == PB_ERROR_OK);
	queue->completed = state.completed;
	return queue->put - queue->completed < FUZZ_ENTRIES;
}

void fuzz_submit_raw(uint32_t q, const struct pb_descriptor *descriptor)
{
	struct fuzz_client *guest = &fuzz_card.guest;
	struct pb_queue *queue = &guest->queues[q];
	struct pb_queue_page *page = (struct pb_queue_page *)(void *)queue->memory.bytes_host;
	uint32_t *kicks = (uint32_t *)(void *)(fuzz_card.memory + guest->channel.kick_offset);

	memcpy((struct pb_descriptor *)(void *)(page + 1) + queue->put % FUZZ_ENTRIES, descriptor,
	       sizeof(*descriptor));
	page->put = ++queue->put;
	kicks[guest->channel.kick_put % guest->channel.kick_entries] = queue->handle;
	guest->channel.entry->kick_put = ++guest->channel.kick_put;
	doorbell(&guest->link);
}

/** The lists of the witness's mark, and a wait for what it has submitted to the other node. */
static struct pb_descriptor witness_mark(const struct fuzz_client *witness, uint32_t node, uint32_t i)
{
	const struct pb_queue *other = &witness->queues[(node + 1u) % FUZZ_NODES];
	const uint64_t lists = witness->system.request.os_base;
	const uint32_t waits = WITNESS_WAITS + i * (uint32_t)sizeof(struct pb_wait);
	struct pb_descriptor mark = fuzz_mark(witness, i);

	*(struct pb_wait *)(void *)(witness->fixed.bytes_host + waits) =
		(struct pb_wait){.queue = other->handle,
				 .timeline_low = (uint32_t)other->timeline,
				 .timeline_high = (uint32_t)(other->timeline >> 32)};
	mark.allocation_count = 1;
	mark.allocation_address_low = (uint32_t)(lists + WITNESS_ALLOCATION);
	mark.allocation_address_high = (uint32_t)((lists + WITNESS_ALLOCATION) >> 32);
	mark.patch_address_low = (uint32_t)(lists + WITNESS_PATCHES);
	mark.patch_address_high = (uint32_t)((lists + WITNESS_PATCHES) >> 32);
	mark.patch_count = FUZZ_MARK_COUNT * WITNESS_LENGTH;
	mark.patch_start = i * WITNESS_LENGTH;
	mark.patch_length = WITNESS_LENGTH;
	mark.wait_count = 1;
	mark.wait_address_low = (uint32_t)(lists + waits);
	mark.wait_address_high = (uint32_t)((lists + waits) >> 32);
	return mark;
}

void fuzz_witness_submit(uint32_t node)
{
	struct fuzz_client *witness = &fuzz_card.witness;
	struct pb_descriptor mark;
	enum pb_error error;

	if (witness->marks == FUZZ_MARK_COUNT)
		return;
	mark = witness_mark(witness, node, witness->marks);
	error = pb_queue_submit(&witness->queues[node], &mark);
	FUZZ_CHECK(error == PB_ERROR_OK || error == PB_ERROR_NO_SPACE);
	witness->marks += error == PB_ERROR_OK;
}

static bool same(size_t offset, size_t bytes)
{
	return memcmp(fuzz_card.memory + offset, snapshot.memory + offset, bytes) == 0;
}

/** All but the waits, which it has written itself. */
static bool same_lists(const struct fuzz_client *witness)
{
	const uint32_t lists = WITNESS_WAITS + FUZZ_MARK_COUNT * (uint32_t)sizeof(struct pb_wait);

	return same(witness->system.memory_offset, WITNESS_WAITS) &&
	       same(witness->system.memory_offset + lists, WITNESS_FIXED - lists);
}

void fuzz_witness_check(void)
{
	struct fuzz_client *witness = &fuzz_card.witness;
	const uint32_t *video =
		(const uint32_t *)(const void *)(fuzz_card.memory + witness->video.memory_offset);
	struct pb_fence fence;

	for (uint32_t n = 0; n < FUZZ_NODES; n++) {
		FUZZ_CHECK(pb_queue_fence(&witness->queues[n], &fence) == PB_ERROR_OK);
		FUZZ_CHECK(fence.completed == witness->queues[n].put);
		FUZZ_CHECK(fence.status == PB_ERROR_OK && fence.error == PB_ERROR_OK && fence.errors == 0);
	}
	for (uint32_t i = 0; i < WITNESS_VIDEO / 4u; i++)
		FUZZ_CHECK(video[i] == (i < witness->marks ? FUZZ_MARK(i) : 0));
	FUZZ_CHECK(same_lists(witness));
	FUZZ_CHECK(same(sizeof(struct pb_boot_block), PB_CARD_ENGINE_OFFSET - sizeof(struct pb_boot_block)));
	/* The other channels: what they may touch, who they are, their rings. */
	FUZZ_CHECK(same(PB_CARD_RANGES_OFFSET, PB_ENGINE_RANGES * sizeof(struct pb_engine_range_entry)));
	FUZZ_CHECK(same(PB_CARD_RANGES_OFFSET + 2u * PB_ENGINE_RANGES * sizeof(struct pb_engine_range_entry),
			(PB_LIMIT_CHANNELS - 2u) * PB_ENGINE_RANGES * sizeof(struct pb_engine_range_entry)));
	FUZZ_CHECK(same(PB_CARD_CHANNELS_OFFSET, sizeof(struct pb_channel_entry)));
	FUZZ_CHECK(same(PB_CARD_CHANNELS_OFFSET + 3u * sizeof(struct pb_channel_entry),
			(PB_LIMIT_CHANNELS - 3u) * sizeof(struct pb_channel_entry)));
	FUZZ_CHECK(same(RINGS_OFFSET, RINGS_BYTES));
	FUZZ_CHECK(same(RINGS_OFFSET + 3u * RINGS_BYTES, (PB_LIMIT_CHANNELS - 3u) * RINGS_BYTES));
}
