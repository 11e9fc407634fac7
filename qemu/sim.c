/* SPDX-License-Identifier: MIT */
#include "qemu/sim.h"

#include <stdlib.h>

#include "firmware/firmware.h"
#include "hal/card_admin/admin.h"
#include "hal/engine/reference.h"
#include "hal/engine_model/clear.h"
#include "hal/engine_model/gl_null.h"
#include "hal/host/host_lines.h"
#include "hal/shared.h"
#include "patchbay/abi/boot.h"
#include "qemu/engine.h"
#include "qemu/engine_gl.h"
#include "qemu/mcu/nodes.h"

/** How far virtual time moves in one step while anything runs, in microseconds. */
#define STEP_MICROSECONDS 10u

struct engine_side {
	struct pb_reference_engine driver;
	struct pb_engine_model *model;
	struct pb_engine_gl_node *gl; /**< NULL: a reference engine */
	struct pb_sim *sim;
	bool running; /**< it was rung, or has more to run */
};

struct pb_sim {
	uint8_t *memory; /* card memory, host memory, outer memory */
	uint32_t host_bytes;
	struct pb_outer_memory outer;
	struct pb_clear_unit clear;
	uint64_t now;
	uint64_t next_tick;
	struct pb_host_lines host_lines;
	struct pb_lines lines;
	struct pb_reference_memory tables;
	struct pb_engine_memory engine_memory;
	struct engine_side sides[PB_CARD_NODES];
	struct pb_engine engines[PB_CARD_NODES];
	struct pb_host_window window;
	struct pb_firmware_config config;
	struct pb_firmware *firmware;
	void *queues;
	struct pb_card_admin admin;
	struct pb_engine_gl *gl; /* NULL: reference engines */
	struct pb_gl_null renderers;
};

/* Of the GL engines. */
static const struct pb_engine_gl_sizes gl_sizes = {
	.owners = 16, .resources = 256, .objects = 1024, .sub_contexts = 4};

static void engine_interrupt(void *context)
{
	const struct engine_side *side = context;

	side->sim->host_lines.pending |= 1u << PB_LINE_NODE(side->driver.node);
}

static bool create_engine(struct pb_sim *sim, uint32_t node)
{
	struct engine_side *side = &sim->sides[node];
	struct pb_engine_model_config config = {
		.memory = sim->memory,
		.memory_bytes = PB_CARD_MEMORY_BYTES,
		.host_offset = PB_CARD_MEMORY_BYTES,
		.host_bytes = sim->host_bytes,
		.outer_offset = sim->outer.offset,
		.outer_bytes = sim->outer.bytes,
		.registers_offset = PB_CARD_ENGINE_OFFSET + node * PB_CARD_ENGINE_STRIDE,
		.kind = PB_CARD_NODE_KIND(node),
		.interrupt = engine_interrupt,
		.context = side,
	};

	side->sim = sim;
	side->driver = (struct pb_reference_engine)PB_CARD_REFERENCE_ENGINE(node, &sim->tables, &sim->lines);
	sim->engines[node] = (struct pb_engine)PB_REFERENCE_ENGINE(&side->driver, PB_CARD_NODE_KIND(node));
	if (sim->gl != NULL && PB_CARD_NODE_KIND(node) == PB_NODE_3D) {
		side->gl = pb_engine_gl_node_create(sim->gl);
		if (side->gl == NULL)
			return false;
		config.gl_ops = &pb_engine_gl_ops;
		config.gl = side->gl;
	}
	side->model = pb_engine_model_create(&config);
	return side->model != NULL;
}

static bool create_gl(struct pb_sim *sim)
{
	const struct pb_boot_block *boot = (const void *)(sim->memory + PB_BOOT_OFFSET);

	sim->renderers.renderers = calloc(gl_sizes.owners, sizeof(*sim->renderers.renderers));
	sim->renderers.words = calloc((size_t)gl_sizes.owners * gl_sizes.resources, sizeof(uint32_t));
	sim->renderers.resource_count = gl_sizes.resources;
	sim->renderers.clock = &boot->clock;
	sim->gl = pb_engine_gl_create(&pb_gl_null_renderers, &sim->renderers, &gl_sizes);
	return sim->gl != NULL && sim->renderers.renderers != NULL && sim->renderers.words != NULL;
}

static bool create_parts(struct pb_sim *sim, bool gl)
{
	sim->memory = calloc(1, pb_sim_memory_bytes(sim));
	sim->firmware = calloc(1, pb_firmware_bytes());
	sim->queues = calloc(PB_LIMIT_QUEUES, PB_FIRMWARE_QUEUE_BYTES);
	if (sim->memory == NULL || sim->firmware == NULL || sim->queues == NULL)
		return false;
	sim->clear = (struct pb_clear_unit){.memory = sim->memory,
					    .registers_offset = PB_CARD_CLEAR_OFFSET,
					    .outer_offset = sim->outer.offset,
					    .outer_bytes = sim->outer.bytes};
	pb_clear_unit_start(&sim->clear);
	sim->lines = (struct pb_lines){
		.ops = &pb_host_lines_ops, .context = &sim->host_lines, .pending = &sim->host_lines.pending};
	sim->tables = (struct pb_reference_memory)PB_CARD_REFERENCE_MEMORY(sim->memory);
	sim->engine_memory = (struct pb_engine_memory){&pb_reference_memory_ops, &sim->tables};
	if (gl && !create_gl(sim))
		return false;
	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		if (!create_engine(sim, n))
			return false;
	}
	return true;
}

static void ring_admin(void *context)
{
	pb_sim_doorbell(context, PB_CHANNEL_ADMIN);
}

/** Boots, and gives the clients their privileges, as the emulated card does. Nothing here refuses them. */
static void give_privileges(struct pb_sim *sim)
{
	const struct pb_boot_block *boot = (const void *)(sim->memory + PB_BOOT_OFFSET);
	const struct pb_card_admin_config config = {
		.memory = sim->memory,
		.memory_bytes = PB_CARD_MEMORY_BYTES,
		.ring = ring_admin,
		.context = sim,
	};

	while (pb_shared_read32(&boot->boot_stage) != PB_BOOT_STAGE_RUNNING)
		pb_sim_step(sim);
	pb_card_admin_init(&sim->admin, &config);
	pb_card_admin_start(&sim->admin);
	while (!pb_card_admin_settled(&sim->admin)) {
		pb_sim_step(sim);
		pb_card_admin_poll(&sim->admin);
	}
}

struct pb_sim *pb_sim_create(void)
{
	return pb_sim_create_with_host(0);
}

struct pb_sim *pb_sim_create_with_host(uint32_t host_bytes)
{
	return pb_sim_create_with(host_bytes, 0);
}

static struct pb_sim *create(uint32_t host_bytes, uint32_t outer_bytes, bool gl)
{
	struct pb_sim *sim = calloc(1, sizeof(*sim));
	struct pb_boot_block *boot;

	if (sim == NULL)
		return NULL;
	sim->host_bytes = host_bytes;
	sim->outer = (struct pb_outer_memory){PB_CARD_MEMORY_BYTES + host_bytes, outer_bytes};
	sim->window = (struct pb_host_window){.offset = PB_CARD_MEMORY_BYTES, .bytes = host_bytes};
	if (!create_parts(sim, gl)) {
		pb_sim_destroy(sim);
		return NULL;
	}
	boot = (struct pb_boot_block *)(void *)(sim->memory + PB_BOOT_OFFSET);
	sim->config = (struct pb_firmware_config){
		.memory = sim->memory,
		.memory_bytes = PB_CARD_TRACE_OFFSET,
		.channels_offset = PB_CARD_CHANNELS_OFFSET,
		.pool_offset = PB_CARD_POOL_OFFSET,
		.trace_bytes = PB_CARD_TRACE_BYTES,
		.lines = &sim->lines,
		.engine_memory = &sim->engine_memory,
		.engines = sim->engines,
		.node_count = PB_CARD_NODES,
		.clock = &boot->clock,
		.queues = sim->queues,
		.queue_count = PB_LIMIT_QUEUES,
		.board = "simulation",
		.crash_offset = PB_CARD_CRASH_OFFSET,
		.telemetry_offset = PB_CARD_TELEMETRY_OFFSET,
		.host = &sim->window,
		.outer = &sim->outer,
	};
	pb_firmware_init(sim->firmware, &sim->config);
	give_privileges(sim);
	return sim;
}

struct pb_sim *pb_sim_create_with(uint32_t host_bytes, uint32_t outer_bytes)
{
	return create(host_bytes, outer_bytes, false);
}

struct pb_sim *pb_sim_create_gl(void)
{
	return create(0, 0, true);
}

void pb_sim_gl_delay(struct pb_sim *sim, uint32_t steps)
{
	sim->renderers.delay = steps;
}

void pb_sim_destroy(struct pb_sim *sim)
{
	if (sim == NULL)
		return;
	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		pb_engine_model_destroy(sim->sides[n].model);
		free(sim->sides[n].gl);
	}
	pb_engine_gl_destroy(sim->gl);
	free(sim->renderers.renderers);
	free(sim->renderers.words);
	free(sim->queues);
	free(sim->firmware);
	free(sim->memory);
	free(sim);
}

/** Takes the node lines that the firmware raised. */
static void ring_engines(struct pb_sim *sim)
{
	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		if ((sim->host_lines.raised & 1u << PB_LINE_NODE(n)) != 0)
			sim->sides[n].running = true;
	}
	sim->host_lines.raised &= ~PB_LINES_NODES;
}

static bool engines_run(const struct pb_sim *sim)
{
	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		if (sim->sides[n].running)
			return true;
	}
	return false;
}

static void advance(struct pb_sim *sim)
{
	struct pb_boot_block *boot = (struct pb_boot_block *)(void *)(sim->memory + PB_BOOT_OFFSET);
	const bool asleep = sim->host_lines.idle && sim->host_lines.pending == 0 && !engines_run(sim);

	sim->now = asleep && sim->now < sim->next_tick ? sim->next_tick : sim->now + STEP_MICROSECONDS;
	pb_shared_write32(&boot->clock, (uint32_t)sim->now);
	if (sim->now < sim->next_tick)
		return;
	sim->next_tick = sim->now + PB_TICK_MICROSECONDS;
	sim->host_lines.pending |= 1u << PB_LINE_TICK;
}

static void run_firmware(struct pb_sim *sim)
{
	struct pb_boot_block *boot = (struct pb_boot_block *)(void *)(sim->memory + PB_BOOT_OFFSET);

	if (!pb_firmware_pass(sim->firmware))
		pb_firmware_idle(sim->firmware);
	pb_shared_write32(&boot->heartbeat_clock, (uint32_t)sim->now);
}

void pb_sim_step(struct pb_sim *sim)
{
	advance(sim);
	if (!sim->host_lines.idle || sim->host_lines.pending != 0)
		run_firmware(sim);
	ring_engines(sim);
	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		struct engine_side *side = &sim->sides[n];

		if (side->running)
			side->running = pb_engine_model_step(side->model, STEP_MICROSECONDS);
	}
	pb_clear_unit_step(&sim->clear);
}

uint64_t pb_sim_now(const struct pb_sim *sim)
{
	return sim->now;
}

uint8_t *pb_sim_memory(struct pb_sim *sim)
{
	return sim->memory;
}

uint32_t pb_sim_memory_bytes(const struct pb_sim *sim)
{
	return PB_CARD_MEMORY_BYTES + sim->host_bytes + sim->outer.bytes;
}

void pb_sim_doorbell(struct pb_sim *sim, uint32_t channel)
{
	sim->host_lines.pending |= 1u << PB_LINE_CHANNEL(channel);
}

bool pb_sim_interrupt_take(struct pb_sim *sim, uint32_t channel)
{
	const uint32_t line = 1u << PB_LINE_CHANNEL(channel);
	const bool raised = (sim->host_lines.raised & line) != 0;

	sim->host_lines.raised &= ~line;
	return raised;
}

struct pb_engine_model *pb_sim_engine(const struct pb_sim *sim, uint32_t node)
{
	return sim->sides[node].model;
}
