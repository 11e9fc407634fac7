/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "firmware/firmware.h"
#include "hal/engine/reference.h"
#include "hal/engine_model/state.h"
#include "hal/halt.h"
#include "hal/lines.h"
#include "tests/interleave/card_internal.h"
#include "tests/interleave/inside.h"

/* Addresses as in qemu/mcu/layout.h, with smaller tables between them. */
#define ENGINE_OFFSET      0x2000u
#define ENGINE_STRIDE      0x100u
#define RANGES_OFFSET      0x3000u
#define TRANSLATION_OFFSET 0x4700u
#define RINGS_OFFSET       0x4800u
#define RING_STRIDE        0x600u
#define CHANNELS_OFFSET    0x6000u
#define TELEMETRY_OFFSET   0xe000u
#define DUMMY_OFFSET       0xf000u
#define POOL_OFFSET        0x10000u
#define MEMORY_BYTES       (PB_WEAVE_WORDS * 4u)

/** Interrupt lines out of the MCU, in pb_weave_ring. They follow the lines into the MCU. */
#define OUT(line) (32u + (line))

struct node {
	struct pb_reference_engine driver;
	struct pb_engine_model model;
	bool rung;
	uint32_t seen;
	bool deaf;     /**< may ignore commands: then only the tick helps */
	uint32_t step; /**< microseconds that it runs between two reads of its command register */
};

static struct {
	uint32_t *memory;
	struct pb_firmware *firmware;
	void *queues;
	uint32_t pending;       /**< interrupt lines into the MCU */
	uint32_t raised_at[32]; /**< by line: the point that the receiver sees */
	struct pb_lines lines;
	struct node nodes[PB_WEAVE_NODES];
	struct pb_reference_memory tables;
	struct pb_engine_memory engine_memory;
	struct pb_engine engines[PB_WEAVE_NODES];
	struct pb_firmware_config config;
	uint32_t beat;
	struct pb_inside_asked
		asked[PB_LIMIT_CHANNELS]; /**< host requests, noted when the firmware began to go idle */
	struct pb_weave_link links[PB_WEAVE_HOSTS];
} card;

static struct pb_boot_block *boot_block(void)
{
	return (struct pb_boot_block *)(void *)card.memory;
}

uint32_t *pb_weave_card_memory(void)
{
	return card.memory;
}

struct pb_weave_link *pb_weave_card_link(uint32_t host)
{
	return &card.links[host];
}

static struct pb_channel_entry *entry_of(uint32_t channel)
{
	return (struct pb_channel_entry *)(void *)((uint8_t *)card.memory + CHANNELS_OFFSET) + channel;
}

uint32_t pb_weave_card_requests(uint32_t host)
{
	return pb_weave_peek(&entry_of(host + 1u)->attach_request) / PB_ATTACH_COUNTER_ONE;
}

/** An assertion of the firmware failed. */
_Noreturn void pb_hal_halt(void)
{
	pb_weave_fail("an assertion of the firmware, line %u", pb_weave_peek(&boot_block()->fatal.status));
}

/** There is no fault handler in this process: the firmware writes its own fatal record. */
void pb_hal_fault(void)
{
}

/* ---- interrupt lines into the MCU ---- */

static uint32_t take(void *context)
{
	const uint32_t taken = card.pending;

	(void)context;
	pb_weave_point();
	card.pending &= ~taken;
	for (uint32_t line = 0; line < 32u; line++) {
		if ((taken >> line & 1u) != 0)
			pb_weave_see(card.raised_at[line]);
	}
	return taken;
}

static void raise(void *context, uint32_t line)
{
	(void)context;
	pb_weave_ring(OUT(line));
}

static void idle_enter(void *context)
{
	(void)context;
	for (uint32_t c = 0; c < PB_LIMIT_CHANNELS; c++)
		pb_inside_look(card.firmware, c, &card.asked[c]);
}

/** A firmware that sleeps must have seen all requests made before it went idle, with or without a doorbell. */
static void idle_wait(void *context)
{
	(void)context;
	if (card.pending != 0)
		return;
	for (uint32_t c = 0; c < PB_LIMIT_CHANNELS; c++) {
		if (pb_inside_waits(card.firmware, c, &card.asked[c]))
			pb_weave_fail("the firmware sleeps with a request of channel %u unread", c);
	}
	(void)pb_weave_wait(PB_WEAVE_NEVER);
}

static void idle_leave(void *context)
{
	(void)context;
}

static const struct pb_lines_ops lines_ops = {
	.take = take,
	.raise = raise,
	.idle_enter = idle_enter,
	.idle_wait = idle_wait,
	.idle_leave = idle_leave,
};

static void into_mcu(uint32_t line)
{
	card.pending |= 1u << line;
	card.raised_at[line] = pb_weave_seen();
	pb_weave_wake(PB_WEAVE_MCU);
}

static void out_of_mcu(uint32_t line)
{
	if (line >= PB_LINE_NODE(0)) {
		struct node *node = &card.nodes[line - PB_LINE_NODE(0)];

		node->rung = true;
		node->seen = pb_weave_seen();
		pb_weave_wake(PB_WEAVE_ENGINE(line - PB_LINE_NODE(0)));
	} else if (line == PB_LINE_CHANNEL(PB_CHANNEL_ADMIN)) {
		pb_weave_supervisor_interrupt();
	} else {
		struct pb_weave_link *link = &card.links[line - 1u];

		link->interrupted = true;
		link->seen = pb_weave_seen();
		if (link->waits)
			pb_weave_wake(PB_WEAVE_HOST(link->host));
	}
}

void pb_weave_card_rung(uint32_t line)
{
	if (line < 32u)
		into_mcu(line);
	else
		out_of_mcu(line - 32u);
}

/* ---- MCU, engines, tick ---- */

static void run_mcu(void)
{
	pb_firmware_init(card.firmware, &card.config);
	for (;;) {
		if (!pb_firmware_pass(card.firmware))
			pb_firmware_idle(card.firmware);
		if (pb_weave_fatal_wanted()) {
			struct pb_fault fault = {.record = {.kind = PB_FATAL_CPU_FAULT,
							    .pc = PB_WEAVE_FATAL_PC,
							    .lr = PB_WEAVE_FATAL_PC + 1u,
							    .psr = PB_WEAVE_FATAL_PC + 2u}};

			pb_firmware_fatal(&fault);
			(void)pb_weave_wait(PB_WEAVE_NEVER);
		}
	}
}

void pb_weave_mcu_start(void)
{
	card.pending = 0;
	pb_weave_start(PB_WEAVE_MCU, run_mcu);
}

/** An engine raises its interrupt after what it has stored. */
static void interrupt(void *context)
{
	const struct node *node = context;

	pb_weave_order();
	pb_weave_ring(PB_LINE_NODE(node->driver.node));
}

static void run_engine(void)
{
	struct node *node = &card.nodes[pb_weave_self() - PB_WEAVE_ENGINE(0)];
	const struct pb_engine_model_config config = node->model.config;

	pb_engine_model_init(&node->model, &config);
	for (;;) {
		const uint32_t before = pb_engine_model_time(&node->model);
		bool more;

		node->rung = false;
		pb_weave_see(node->seen);
		more = pb_engine_model_step(&node->model, node->step);
		if (more)
			(void)pb_weave_wait(pb_weave_now() +
					    (uint64_t)PB_WEAVE_MOMENTS *
						    (pb_engine_model_time(&node->model) - before));
		else if (!node->rung)
			(void)pb_weave_wait(PB_WEAVE_NEVER);
	}
}

static void run_tick(void)
{
	for (;;) {
		(void)pb_weave_wait(pb_weave_now() + (uint64_t)PB_TICK_MICROSECONDS * PB_WEAVE_MOMENTS);
		pb_weave_ring(PB_LINE_TICK);
	}
}

void pb_weave_card_clock(uint64_t microseconds)
{
	const uint32_t beat = pb_weave_peek(&boot_block()->heartbeat);

	pb_weave_poke(&boot_block()->clock, (uint32_t)microseconds);
	if (beat != card.beat)
		pb_weave_poke(&boot_block()->heartbeat_clock, (uint32_t)microseconds);
	card.beat = beat;
}

void pb_weave_card_deafen(uint32_t node, bool deaf)
{
	card.nodes[node].deaf = deaf;
	card.nodes[node].rung = true; /* it polls again for commands that it has ignored */
	pb_weave_wake(PB_WEAVE_ENGINE(node));
	pb_engine_model_set_defects(
		&card.nodes[node].model,
		&(struct pb_engine_model_defects){.deaf_to_stop = deaf, .deaf_to_reset = deaf});
}

/* ---- no agent can run ---- */

/** Whether an event other than the clock may end the host's wait. */
static bool event_is_pending(void)
{
	for (uint32_t agent = PB_WEAVE_MCU; agent <= PB_WEAVE_CARD; agent++) {
		if (!pb_weave_is_blocked(agent))
			return true;
	}
	for (uint32_t n = 0; n < PB_WEAVE_NODES; n++) {
		if (card.nodes[n].deaf)
			return true;
	}
	return false;
}

/**
 * The host polls the firmware's state at times, because no interrupt comes: its channel is not open, or was
 * closed.
 */
static bool polls_firmware(const struct pb_weave_link *link)
{
	const struct pb_channel_entry *entry = entry_of(link->link.channel);

	if (link->deaths != pb_weave_card_deaths())
		return true;
	return link->attaches && pb_weave_peek(&entry->attach_request) == pb_weave_peek(&entry->attach_done);
}

void pb_weave_card_quiet(void)
{
	if (event_is_pending())
		return;
	if (pb_weave_supervisor_waits())
		pb_weave_fail("the supervisor waits without an end");
	for (uint32_t h = 0; h < PB_WEAVE_HOSTS; h++) {
		const struct pb_weave_link *link = &card.links[h];

		if (link->waits && link->asks && !polls_firmware(link))
			pb_weave_fail("host %u waits without an end: %s", h, link->doing);
	}
}

/* ---- power ---- */

bool pb_weave_card_create(void)
{
	card.memory = aligned_alloc(64, MEMORY_BYTES);
	card.firmware = calloc(1, pb_firmware_bytes());
	card.queues = calloc(PB_LIMIT_QUEUES, PB_FIRMWARE_QUEUE_BYTES);
	return card.memory != NULL && card.firmware != NULL && card.queues != NULL;
}

static void create_node(uint32_t n)
{
	static const uint32_t kinds[PB_WEAVE_NODES] = {PB_NODE_3D, PB_NODE_COPY};
	static const uint32_t steps[] = {10, 60, 400};
	struct node *node = &card.nodes[n];
	const struct pb_engine_model_config config = {
		.memory = (uint8_t *)card.memory,
		.memory_bytes = MEMORY_BYTES,
		.registers_offset = ENGINE_OFFSET + n * ENGINE_STRIDE,
		.kind = kinds[n],
		.interrupt = interrupt,
		.context = node,
	};

	*node = (struct node){.step = steps[pb_random_below(pb_weave_random(), 3)]};
	node->driver = (struct pb_reference_engine){
		.memory = &card.tables,
		.registers_offset = config.registers_offset,
		.ring_offset = RINGS_OFFSET + n * RING_STRIDE,
		.node = (uint8_t)n,
		.lines = &card.lines,
	};
	card.engines[n] = (struct pb_engine)PB_REFERENCE_ENGINE(&node->driver, kinds[n]);
	pb_weave_start(PB_WEAVE_ENGINE(n), run_engine);
	node->model.config = config;
}

uint32_t pb_weave_card_resets(uint32_t node)
{
	return pb_inside_resets(card.firmware, node);
}

void pb_weave_card_reset(void)
{
	memset(card.memory, 0, MEMORY_BYTES);
	card.pending = 0;
	card.lines = (struct pb_lines){.ops = &lines_ops, .pending = &card.pending};
	pb_weave_supervisor_reset();
	card.beat = 0;
	card.tables = (struct pb_reference_memory){
		.card_memory = (uint8_t *)card.memory,
		.range_offset = RANGES_OFFSET,
		.channels = PB_LIMIT_CHANNELS,
		.dummy_offset = DUMMY_OFFSET,
		.translation_offset = TRANSLATION_OFFSET,
	};
	card.engine_memory = (struct pb_engine_memory){&pb_reference_memory_ops, &card.tables};
	for (uint32_t n = 0; n < PB_WEAVE_NODES; n++)
		create_node(n);
	card.config = (struct pb_firmware_config){
		.memory = (uint8_t *)card.memory,
		.memory_bytes = MEMORY_BYTES,
		.channels_offset = CHANNELS_OFFSET,
		.pool_offset = POOL_OFFSET,
		.telemetry_offset = TELEMETRY_OFFSET,
		.lines = &card.lines,
		.engine_memory = &card.engine_memory,
		.engines = card.engines,
		.node_count = PB_WEAVE_NODES,
		.clock = &boot_block()->clock,
		.queues = card.queues,
		.queue_count = PB_LIMIT_QUEUES,
		.board = "interleavings",
	};
	pb_weave_start(PB_WEAVE_CARD, pb_weave_supervisor_run);
	pb_weave_start(PB_WEAVE_TICK, run_tick);
}
