/* SPDX-License-Identifier: MIT */
#include "tests/sim/world.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "patchbay/abi/boot.h"

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
	return pb_world_create_sized(world, PB_WORLD_MEMORY_BYTES, PB_WORLD_QUEUES);
}

bool pb_world_create_sized(struct pb_world *world, uint32_t memory_bytes, uint32_t queue_count)
{
	*world = (struct pb_world){.memory = calloc(1, memory_bytes + PB_WORLD_HOST_BYTES),
				   .memory_bytes = memory_bytes,
				   .queue_count = queue_count};
	world->firmware = calloc(1, pb_firmware_bytes());
	world->queues = calloc(queue_count, PB_FIRMWARE_QUEUE_BYTES);
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

/** An engine raises its IRQ: it may get lost or come late. */
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

/* ---- hooks between firmware and hardware: points at which events are injected ---- */

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

static void feed(void *context, const struct pb_engine_submission *submission, uint32_t sequence)
{
	pb_world_touch(world_of(context));
	pb_reference_engine_run_ops.feed(context, submission, sequence);
	pb_world_touch(world_of(context));
}

static enum pb_engine_state poll(void *context, struct pb_engine_report *report)
{
	pb_world_touch(world_of(context));
	return pb_reference_engine_run_ops.poll(context, report);
}

static void stop(void *context, bool inside)
{
	pb_reference_engine_preempt_ops.stop(context, inside);
	pb_world_touch(world_of(context));
}

static void reset(void *context)
{
	pb_reference_engine_recover_ops.reset(context);
	pb_world_touch(world_of(context));
}

/** Pages of the pool get an owner. */
static void set_reowned(struct pb_world *world, uint32_t offset, uint32_t bytes)
{
	const uint32_t first = (offset - PB_CARD_POOL_OFFSET) / PB_PAGE_BYTES;

	for (uint32_t page = first;
	     page * PB_PAGE_BYTES < offset - PB_CARD_POOL_OFFSET + bytes && page < PB_WORLD_POOL_PAGES;
	     page++)
		world->reowned[page] = true;
}

static struct pb_world *world_of_tables(void *context)
{
	return (struct pb_world *)(void *)((uint8_t *)context - offsetof(struct pb_world, tables));
}

static void page_clear(void *context, uint32_t table_offset, uint32_t index, uint32_t count)
{
	set_reowned(world_of_tables(context), table_offset + index * 4u, count * 4u);
	pb_reference_memory_ops.page_clear(context, table_offset, index, count);
}

static void set_range(void *context, uint32_t channel, uint32_t index, const struct pb_engine_range *range)
{
	pb_world_touch(world_of_tables(context));
	if (!range->paged && range->bytes != 0)
		set_reowned(world_of_tables(context), range->memory_offset, range->bytes);
	pb_reference_memory_ops.set_range(context, channel, index, range);
	pb_world_touch(world_of_tables(context));
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
	world->run_ops = pb_reference_engine_run_ops;
	world->preempt_ops = pb_reference_engine_preempt_ops;
	world->recover_ops = pb_reference_engine_recover_ops;
	world->memory_ops = pb_reference_memory_ops;
	world->run_ops.feed = feed;
	world->run_ops.poll = poll;
	world->preempt_ops.stop = stop;
	world->recover_ops.reset = reset;
	world->memory_ops.set_range = set_range;
	world->memory_ops.page_clear = page_clear;
	world->lines_ops = pb_host_lines_ops;
	world->lines_ops.raise = raise_line;
}

static void create_engine(struct pb_world *world, uint32_t n)
{
	struct pb_world_node *node = &world->nodes[n];
	const struct pb_engine_model_config config = {
		.memory = world->memory,
		.memory_bytes = world->memory_bytes,
		.host_offset = world->memory_bytes,
		.host_bytes = world->host_bytes,
		.registers_offset = PB_CARD_ENGINE_OFFSET + n * PB_CARD_ENGINE_STRIDE,
		.kind = PB_CARD_NODE_KIND(n),
		.interrupt = engine_interrupt,
		.context = node,
	};

	*node = (struct pb_world_node){
		.world = world,
		.driver = PB_CARD_REFERENCE_ENGINE(n, &world->tables, &world->lines),
		.model = pb_engine_model_create(&config),
	};
	if (node->model == NULL)
		abort(); /* a few kilobytes that the last schedule freed */
	world->engines[n] = (struct pb_engine){.run = &world->run_ops,
					       .preempt = &world->preempt_ops,
					       .recover = &world->recover_ops,
					       .context = &node->driver,
					       .kind = PB_CARD_NODE_KIND(n)};
}

void pb_world_boot(struct pb_world *world, uint64_t seed)
{
	destroy_engines(world);
	memset(world->memory, 0, world->memory_bytes + PB_WORLD_HOST_BYTES);
	world->now = 0;
	world->next_tick = PB_TICK_MICROSECONDS;
	world->host_lines = (struct pb_host_lines){.pending = 0};
	world->lines = (struct pb_lines){.ops = &world->lines_ops,
					 .context = &world->host_lines,
					 .pending = &world->host_lines.pending};
	world->tables = (struct pb_reference_memory)PB_CARD_REFERENCE_MEMORY(world->memory);
	world->engine_memory = (struct pb_engine_memory){&world->memory_ops, &world->tables};
	world->random.state = seed;
	world->rates = (struct pb_world_rates){0};
	world->injected = 0;
	world->stopped = false;
	world->strike_at = 0;
	world->spent_ns = 0;
	world->spent_us = 0;
	memset(world->doorbell_late_at, 0, sizeof(world->doorbell_late_at));
	wire_hooks(world);
	for (uint32_t n = 0; n < PB_CARD_NODES; n++)
		create_engine(world, n);
	world->window = (struct pb_host_window){.offset = world->memory_bytes, .bytes = world->host_bytes};
	world->config = (struct pb_firmware_config){
		.memory = world->memory,
		.memory_bytes = world->memory_bytes,
		.channels_offset = PB_CARD_CHANNELS_OFFSET,
		.pool_offset = PB_CARD_POOL_OFFSET,
		.telemetry_offset = PB_CARD_TELEMETRY_OFFSET,
		.lines = &world->lines,
		.engine_memory = &world->engine_memory,
		.engines = world->engines,
		.node_count = PB_CARD_NODES,
		.clock = &pb_world_boot_block(world)->clock,
		.queues = world->queues,
		.queue_count = world->queue_count,
		.board = "schedules",
		.host = &world->window,
	};
	pb_firmware_init(world->firmware, &world->config);
}

/** Marks engines as running whose doorbell the firmware has rung. */
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
	memset(world->queues, 0, (size_t)world->queue_count * PB_FIRMWARE_QUEUE_BYTES);
	world->injected++;
	pb_firmware_init(world->firmware, &world->config);
	ring_engines(world);
}

static void deliver_late_interrupts(struct pb_world *world)
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
	deliver_late_interrupts(world);
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

/** Charges a pass what it has executed. */
static void spend(struct pb_world *world)
{
	const uint32_t ns = world->spent_ns + PB_WORLD_PASS_NS + world->accesses * PB_WORLD_ACCESS_NS;

	world->spent_ns = ns % 1000u;
	world->spent_us += ns / 1000u;
	pb_world_advance(world, ns / 1000u);
}

bool pb_world_pass(struct pb_world *world)
{
	bool more;

	world->touches = 0;
	world->accesses = 0;
	pb_world_running = world;
	more = pb_firmware_pass(world->firmware);
	if (!more)
		pb_firmware_idle(world->firmware);
	pb_world_running = NULL;
	world->host_lines.pending &= ~PB_WORLD_LINE;
	pb_shared_write32(&pb_world_boot_block(world)->heartbeat_clock, (uint32_t)world->now);
	ring_engines(world);
	spend(world);
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

/** Whether the engine ignores the command in its register. */
static bool is_deaf_to(const struct pb_world_node *node, uint32_t command)
{
	const uint32_t op = command & PB_ENGINE_COMMAND_OP_MASK;

	if (op == PB_ENGINE_COMMAND_RESET)
		return (node->deaf & PB_WORLD_DEAF_RESET) != 0;
	return (op == PB_ENGINE_COMMAND_STOP || op == PB_ENGINE_COMMAND_STOP_INSIDE) &&
	       (node->deaf & PB_WORLD_DEAF_STOP) != 0;
}

/** Runs the model while the command words that it ignores look as if nothing was requested. */
static void step_deaf(struct pb_world_node *node, struct pb_engine_registers *registers,
		      uint32_t microseconds)
{
	const uint32_t command = pb_shared_read32(&registers->command);
	const uint32_t power = pb_shared_read32(&registers->power);

	if ((node->deaf & PB_WORLD_DEAF_POWER) != 0)
		pb_shared_write32(&registers->power, pb_shared_read32(&registers->power_done));
	/* The power request is never ignored: the model completes what was asked before it. */
	if (is_deaf_to(node, command) &&
	    pb_shared_read32(&registers->power) == pb_shared_read32(&registers->power_done))
		pb_shared_write32(&registers->command, pb_shared_read32(&registers->command_done));
	node->running = pb_engine_model_step(node->model, microseconds);
	pb_shared_write32(&registers->command, command);
	pb_shared_write32(&registers->power, power);
}

bool pb_world_engines(struct pb_world *world, uint32_t microseconds)
{
	bool progressed = false;

	microseconds += world->spent_us;
	world->spent_us = 0;
	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		struct pb_world_node *node = &world->nodes[n];
		struct pb_engine_registers *registers = pb_world_registers(world, n);

		if (node->deaf != 0 && world->now >= node->deaf_until) {
			node->deaf = 0;
			node->running = true;
		}
		if (!node->running || node->frozen || node->dead)
			continue;
		node->pending_us += microseconds;
		if (node->pending_us < node->slow) {
			progressed = true; /* time must not leap past the moment */
			continue;
		}
		step_deaf(node, registers,
			  node->slow == 0 ? node->pending_us : node->pending_us / node->slow);
		node->pending_us = node->slow == 0 ? 0 : node->pending_us % node->slow;
		progressed = progressed || node->progress != pb_shared_read32(&registers->progress);
		node->progress = pb_shared_read32(&registers->progress);
	}
	return progressed;
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

void pb_world_end_faults(struct pb_world *world)
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
