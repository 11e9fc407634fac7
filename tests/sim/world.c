/* SPDX-License-Identifier: MIT */
#include "tests/sim/world.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/abi/boot.h"

struct pb_engine_registers *pb_world_registers(struct pb_world *world, uint32_t node)
{
	return (struct pb_engine_registers *)(void *)(world->memory + PB_CARD_ENGINE_OFFSET +
						      node * PB_CARD_ENGINE_STRIDE);
}

struct pb_boot_block *pb_world_boot_block(struct pb_world *world)
{
	return (struct pb_boot_block *)(void *)(world->memory + PB_BOOT_OFFSET);
}

bool pb_world_create(struct pb_world *world)
{
	*world = (struct pb_world){.memory = calloc(1, PB_WORLD_MEMORY_BYTES)};
	world->firmware = calloc(1, pb_firmware_bytes());
	world->queues = calloc(PB_WORLD_QUEUES, PB_FIRMWARE_QUEUE_BYTES);
	if (world->memory != NULL && world->firmware != NULL && world->queues != NULL)
		return true;
	pb_world_destroy(world);
	return false;
}

static void destroy_engines(struct pb_world *world)
{
	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		pb_engine_model_destroy(world->nodes[n].model);
		world->nodes[n].model = NULL;
	}
}

void pb_world_destroy(struct pb_world *world)
{
	destroy_engines(world);
	free(world->queues);
	free(world->firmware);
	free(world->memory);
}

/** An engine's line towards the MCU: it may get lost or come late. */
static void engine_interrupt(void *context)
{
	struct pb_world_node *node = context;
	struct pb_world *world = node->world;

	if (pb_random_one_in(&world->random, world->rates.interrupt_lost)) {
		world->injected++;
	} else if (pb_random_one_in(&world->random, world->rates.interrupt_late)) {
		world->injected++;
		node->late_at = world->now + 1u + pb_random_below(&world->random, 3000);
	} else {
		world->host_lines.pending |= 1u << PB_LINE_NODE(node->driver.node);
	}
}

/* ---- between the firmware and its hardware: here it may be interrupted ---- */

struct pb_world *pb_world_running;

void pb_world_touch(struct pb_world *world)
{
	if (++world->touches != world->strike_at)
		return;
	world->strike_at = 0;
	world->strike(world->strike_context);
}

static struct pb_world *world_of(const void *driver)
{
	return ((const struct pb_world_node *)(const void *)((const uint8_t *)driver -
							     offsetof(struct pb_world_node, driver)))
		->world;
}

static void feed(void *context, const struct pb_engine_work *work, uint32_t sequence)
{
	pb_world_touch(world_of(context));
	pb_reference_engine_ops.feed(context, work, sequence);
	pb_world_touch(world_of(context));
}

static enum pb_engine_state poll(void *context, struct pb_engine_report *report)
{
	pb_world_touch(world_of(context));
	return pb_reference_engine_ops.poll(context, report);
}

static void stop(void *context, bool inside)
{
	pb_reference_engine_ops.stop(context, inside);
	pb_world_touch(world_of(context));
}

static void reset(void *context)
{
	pb_reference_engine_ops.reset(context);
	pb_world_touch(world_of(context));
}

/** Memory of the pool changes hands. */
static void give(struct pb_world *world, uint32_t offset, uint32_t bytes)
{
	const uint32_t first = (offset - PB_CARD_POOL_OFFSET) / PB_PAGE_BYTES;

	for (uint32_t page = first;
	     page * PB_PAGE_BYTES < offset - PB_CARD_POOL_OFFSET + bytes && page < PB_WORLD_POOL_PAGES;
	     page++)
		world->given[page] = true;
}

static void page_clear(void *context, uint32_t table_offset, uint32_t index, uint32_t count)
{
	give(world_of(context), table_offset + index * 4u, count * 4u);
	pb_reference_engine_ops.page_clear(context, table_offset, index, count);
}

static void set_range(void *context, uint32_t channel, uint32_t index, const struct pb_engine_range *range)
{
	pb_world_touch(world_of(context));
	if (!range->paged && range->bytes != 0)
		give(world_of(context), range->memory_offset, range->bytes);
	pb_reference_engine_ops.set_range(context, channel, index, range);
	pb_world_touch(world_of(context));
}

static struct pb_world *world_of_lines(void *context)
{
	return (struct pb_world *)(void *)((uint8_t *)context - offsetof(struct pb_world, host_lines));
}

static void raise_line(void *context, uint32_t line)
{
	pb_world_touch(world_of_lines(context));
	pb_host_lines_ops.raise(context, line);
	pb_world_touch(world_of_lines(context));
}

static void wire_hooks(struct pb_world *world)
{
	world->engine_ops = pb_reference_engine_ops;
	world->engine_ops.feed = feed;
	world->engine_ops.poll = poll;
	world->engine_ops.stop = stop;
	world->engine_ops.reset = reset;
	world->engine_ops.set_range = set_range;
	world->engine_ops.page_clear = page_clear;
	world->lines_ops = pb_host_lines_ops;
	world->lines_ops.raise = raise_line;
}

static void create_engine(struct pb_world *world, uint32_t n)
{
	struct pb_world_node *node = &world->nodes[n];
	const struct pb_engine_model_config config = {
		.memory = world->memory,
		.memory_bytes = PB_WORLD_MEMORY_BYTES,
		.registers_offset = PB_CARD_ENGINE_OFFSET + n * PB_CARD_ENGINE_STRIDE,
		.kind = PB_CARD_NODE_KIND(n),
		.interrupt = engine_interrupt,
		.context = node,
	};

	*node = (struct pb_world_node){
		.world = world,
		.driver =
			{
				.memory = world->memory,
				.registers_offset = config.registers_offset,
				.ring_offset = PB_CARD_RINGS_OFFSET + n * PB_CARD_RING_STRIDE,
				.range_offset = PB_CARD_RANGES_OFFSET,
				.channels = PB_LIMIT_CHANNELS,
				.dummy_offset = PB_CARD_DUMMY_OFFSET,
				.translation_offset = PB_CARD_TRANSLATION_OFFSET,
				.node = n,
				.lines = &world->lines,
			},
		.model = pb_engine_model_create(&config),
	};
	if (node->model == NULL)
		abort(); /* a few kilobytes that the last schedule gave back */
	world->engines[n] = (struct pb_engine){
		.ops = &world->engine_ops, .context = &node->driver, .kind = PB_CARD_NODE_KIND(n)};
}

void pb_world_boot(struct pb_world *world, uint64_t seed)
{
	destroy_engines(world);
	memset(world->memory, 0, PB_WORLD_MEMORY_BYTES);
	world->now = 0;
	world->next_tick = PB_TICK_MICROSECONDS;
	world->host_lines = (struct pb_host_lines){.pending = 0};
	world->lines = (struct pb_lines){.ops = &world->lines_ops,
					 .context = &world->host_lines,
					 .pending = &world->host_lines.pending};
	world->random.state = seed;
	world->rates = (struct pb_world_rates){0};
	world->injected = 0;
	world->stopped = false;
	world->strike_at = 0;
	memset(world->doorbell_late_at, 0, sizeof(world->doorbell_late_at));
	wire_hooks(world);
	for (uint32_t n = 0; n < PB_CARD_NODES; n++)
		create_engine(world, n);
	world->config = (struct pb_firmware_config){
		.memory = world->memory,
		.memory_bytes = PB_WORLD_MEMORY_BYTES,
		.channels_offset = PB_CARD_CHANNELS_OFFSET,
		.pool_offset = PB_CARD_POOL_OFFSET,
		.telemetry_offset = PB_CARD_TELEMETRY_OFFSET,
		.lines = &world->lines,
		.engines = world->engines,
		.node_count = PB_CARD_NODES,
		.clock = &pb_world_boot_block(world)->clock,
		.queues = world->queues,
		.queue_count = PB_WORLD_QUEUES,
		.board = "schedules",
	};
	pb_firmware_init(world->firmware, &world->config);
}

/** Engines whose doorbell the firmware has rung. */
static void ring_engines(struct pb_world *world)
{
	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		if ((world->host_lines.raised & 1u << PB_LINE_NODE(n)) != 0)
			world->nodes[n].running = true;
	}
	world->host_lines.raised &= ~PB_LINES_NODES;
}

void pb_world_restart(struct pb_world *world)
{
	world->host_lines = (struct pb_host_lines){.pending = 0};
	memset(world->queues, 0, (size_t)PB_WORLD_QUEUES * PB_FIRMWARE_QUEUE_BYTES);
	world->injected++;
	pb_firmware_init(world->firmware, &world->config);
	ring_engines(world);
}

static void deliver_late(struct pb_world *world)
{
	for (uint32_t c = 0; c < PB_LIMIT_CHANNELS; c++) {
		if (world->doorbell_late_at[c] == 0 || world->doorbell_late_at[c] > world->now)
			continue;
		world->doorbell_late_at[c] = 0;
		world->host_lines.pending |= 1u << PB_LINE_CHANNEL(c);
	}
	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		struct pb_world_node *node = &world->nodes[n];

		if (node->late_at == 0 || node->late_at > world->now)
			continue;
		node->late_at = 0;
		world->host_lines.pending |= 1u << PB_LINE_NODE(n);
	}
}

void pb_world_advance(struct pb_world *world, uint32_t microseconds)
{
	world->now += microseconds;
	pb_shared_write32(&pb_world_boot_block(world)->clock, (uint32_t)world->now);
	deliver_late(world);
	if (pb_random_one_in(&world->random, world->rates.interrupt_spurious)) {
		world->injected++;
		world->host_lines.pending |= 1u
					     << PB_LINE_NODE(pb_random_below(&world->random, PB_CARD_NODES));
	}
	if (world->now < world->next_tick)
		return;
	world->next_tick = world->now + PB_TICK_MICROSECONDS;
	world->host_lines.pending |= 1u << PB_LINE_TICK;
}

bool pb_world_awake(const struct pb_world *world)
{
	return !world->stopped && (!world->host_lines.idle || world->host_lines.pending != 0);
}

bool pb_world_pass(struct pb_world *world)
{
	bool more;

	world->touches = 0;
	pb_world_running = world;
	more = pb_firmware_pass(world->firmware);
	if (!more)
		pb_firmware_idle(world->firmware);
	pb_world_running = NULL;
	pb_shared_write32(&pb_world_boot_block(world)->heartbeat_clock, (uint32_t)world->now);
	ring_engines(world);
	return more || !world->host_lines.idle;
}

static void cut(void *context)
{
	struct pb_world *world = context;

	pb_world_running = NULL;
	longjmp(world->cut, 1);
}

bool pb_world_pass_cut(struct pb_world *world, uint32_t touch)
{
	world->strike_at = touch;
	world->strike = cut;
	world->strike_context = world;
	if (setjmp(world->cut) != 0) {
		ring_engines(world);
		return true;
	}
	pb_world_pass(world);
	world->strike_at = 0;
	return false;
}

/** Whether the engine does not hear the command that stands in its register. */
static bool is_deaf_to(const struct pb_world_node *node, uint32_t command)
{
	const uint32_t op = command & PB_ENGINE_COMMAND_OP_MASK;

	if (op == PB_ENGINE_COMMAND_RESET)
		return (node->deaf & PB_WORLD_DEAF_RESET) != 0;
	return (op == PB_ENGINE_COMMAND_STOP || op == PB_ENGINE_COMMAND_STOP_INSIDE) &&
	       (node->deaf & PB_WORLD_DEAF_STOP) != 0;
}

/** Runs the model while the words that it does not hear look as if nothing was asked. */
static void step_deaf(struct pb_world_node *node, struct pb_engine_registers *registers,
		      uint32_t microseconds)
{
	const uint32_t command = pb_shared_read32(&registers->command);
	const uint32_t power = pb_shared_read32(&registers->power);

	if ((node->deaf & PB_WORLD_DEAF_POWER) != 0)
		pb_shared_write32(&registers->power, pb_shared_read32(&registers->power_done));
	/* Power is no question of hearing: what was asked before it is done with it. */
	if (is_deaf_to(node, command) &&
	    pb_shared_read32(&registers->power) == pb_shared_read32(&registers->power_done))
		pb_shared_write32(&registers->command, pb_shared_read32(&registers->command_done));
	node->running = pb_engine_model_step(node->model, microseconds);
	pb_shared_write32(&registers->command, command);
	pb_shared_write32(&registers->power, power);
}

bool pb_world_engines(struct pb_world *world, uint32_t microseconds)
{
	bool got_on = false;

	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		struct pb_world_node *node = &world->nodes[n];
		struct pb_engine_registers *registers = pb_world_registers(world, n);

		if (node->deaf != 0 && world->now >= node->deaf_until) {
			node->deaf = 0;
			node->running = true;
		}
		if (!node->running || node->frozen || node->dead)
			continue;
		node->owed += microseconds;
		if (node->owed < node->slow) {
			got_on = true; /* time is not to leap past it */
			continue;
		}
		step_deaf(node, registers, node->slow == 0 ? node->owed : node->owed / node->slow);
		node->owed = node->slow == 0 ? 0 : node->owed % node->slow;
		got_on = got_on || node->progress != pb_shared_read32(&registers->progress);
		node->progress = pb_shared_read32(&registers->progress);
	}
	return got_on;
}

void pb_world_doorbell(struct pb_world *world, uint32_t channel)
{
	if (pb_random_one_in(&world->random, world->rates.doorbell_lost)) {
		world->injected++;
		return;
	}
	if (pb_random_one_in(&world->random, world->rates.doorbell_late)) {
		world->injected++;
		world->doorbell_late_at[channel] = world->now + 1u + pb_random_below(&world->random, 4000);
		return;
	}
	world->host_lines.pending |= 1u << PB_LINE_CHANNEL(channel);
	if (pb_random_one_in(&world->random, world->rates.doorbell_twice)) {
		world->injected++;
		pb_world_pass(world);
		world->host_lines.pending |= 1u << PB_LINE_CHANNEL(channel);
	}
}

void pb_world_deafen(struct pb_world *world, uint32_t node, uint32_t deaf, uint64_t microseconds)
{
	if (world->nodes[node].dead)
		return;
	world->nodes[node].deaf = deaf;
	world->nodes[node].deaf_until = world->now + microseconds;
	world->injected++;
}

void pb_world_kill(struct pb_world *world, uint32_t node)
{
	pb_world_deafen(world, node, PB_WORLD_DEAF_STOP | PB_WORLD_DEAF_RESET | PB_WORLD_DEAF_POWER,
			UINT64_MAX - world->now);
	world->nodes[node].dead = true;
}

void pb_world_heal(struct pb_world *world)
{
	world->rates = (struct pb_world_rates){0};
	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		struct pb_world_node *node = &world->nodes[n];

		if (node->dead)
			continue;
		if (node->deaf != 0)
			node->running = true;
		node->deaf = 0;
		node->slow = 0;
	}
}
