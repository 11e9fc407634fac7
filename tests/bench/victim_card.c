/* SPDX-License-Identifier: MIT */
/*
 * A card whose time is the firmware's instructions. The MCU is the only one that time is measured of: it stands still
 * while engines and hosts, which are other hardware, do their part, after each STEP instructions, and at once when the
 * firmware rings an engine. When the firmware sleeps, time goes on by steps until a line is raised. All of it happens in
 * one program, so each run is like the others.
 */
#include <string.h>

#include "boards/board.h"
#include "hal/cpu.h"
#include "hal/engine/registers.h"
#include "hal/engine_model/state.h"
#include "patchbay/abi/boot.h"
#include "tests/bench/victim.h"

/** Instructions of the firmware in a microsecond: 25 MHz. */
#define INSTRUCTIONS_US 25u
/** Between two times at which the others move, in microseconds: what an interrupt may come late by. */
#define STEP_US 25u
#define STEP    (STEP_US * INSTRUCTIONS_US)
/** Instructions of the lines' driver for a line that is raised: an upper bound of its interrupt handler. */
#define LINE_INSTRUCTIONS 64u
/** The counter counts this far in a microsecond. */
#define COUNTS_US (INSTRUCTIONS_US * PB_VICTIM_BOARD_COUNTS / 10u)

#define COUNTER_MASK 0x00ffffffu

struct engine {
	struct pb_engine_model model;
	bool running;     /**< its doorbell was rung, or it has more to run */
	uint32_t ahead;   /**< microseconds that its last packet took longer than it had */
	uint32_t counted; /**< engine time that is in `used` */
	uint32_t current; /**< sequence of the submission that it runs, or runs next */
	uint64_t used[PB_LIMIT_CHANNELS];
};

struct pb_world pb_victim_world;
static struct pb_firmware_config config;
static struct pb_firmware *firmware;
static struct pb_engine engines[PB_CARD_NODES];
static struct pb_reference_engine drivers[PB_CARD_NODES];
static struct engine models[PB_CARD_NODES];
static struct pb_lines lines;
static uint32_t pending; /**< lines into the firmware */
static uint64_t counts;  /**< of the firmware since the start, as the counter counts */
static uint32_t left_at; /**< counter when the firmware went on */
static uint32_t
	own_counts; /**< from there to the next reading, without an instruction of the firmware between */
static uint32_t handlers; /**< instructions of handlers that are not in `counts` yet */
static uint64_t booted;   /**< `counts` at the boot */
static void (*hosts_act)(void);

/* ---- lines ---- */

static void raise_line(uint32_t line)
{
	const uint32_t before = __atomic_fetch_or(&pending, 1u << line, __ATOMIC_RELAXED);

	if ((before >> line & 1u) == 0)
		handlers += LINE_INSTRUCTIONS;
}

/** A host rings. Named by the header of the simulated card, which the strategies use. */
void pb_world_doorbell(struct pb_world *world, uint32_t channel)
{
	(void)world;
	raise_line(PB_LINE_CHANNEL(channel));
}

struct pb_boot_block *pb_world_boot_block(struct pb_world *world)
{
	return (struct pb_boot_block *)(void *)(world->memory + PB_BOOT_OFFSET);
}

/* ---- engines ---- */

static struct pb_engine_registers *registers_of(uint32_t node)
{
	return (void *)(config.memory + PB_CARD_ENGINE_OFFSET + node * PB_CARD_ENGINE_STRIDE);
}

static const struct pb_engine_slot *slot_of(uint32_t node, uint32_t sequence)
{
	return (const struct pb_engine_slot *)(const void *)(config.memory + PB_CARD_RINGS_OFFSET +
							     node * PB_CARD_RING_STRIDE) +
	       (sequence - 1u) % PB_ENGINE_SLOTS;
}

/** Counts the time of an engine since the last call as that of the submission which runs. */
static void count_time(uint32_t node)
{
	struct engine *engine = &models[node];
	const uint32_t time = pb_engine_model_time(&engine->model);
	const uint32_t channel = pb_shared_read32(&slot_of(node, engine->current)->owner) & 0xffu;

	if (channel < PB_LIMIT_CHANNELS)
		engine->used[channel] += time - engine->counted;
	engine->counted = time;
}

static void engine_interrupt(void *context)
{
	const struct engine *engine = context;
	const uint32_t node = (uint32_t)(engine - models);

	/* At a fence, and as it has stopped: another submission is next. */
	count_time(node);
	models[node].current = pb_shared_read32(&registers_of(node)->sequence) + 1u;
	raise_line(PB_LINE_NODE(node));
}

static void run_engine(uint32_t node, uint32_t microseconds)
{
	struct engine *engine = &models[node];
	uint32_t before, used;

	if (!engine->running || engine->ahead > microseconds) {
		engine->ahead -= engine->ahead < microseconds ? engine->ahead : microseconds;
		return;
	}
	before = pb_engine_model_time(&engine->model);
	engine->running = pb_engine_model_step(&engine->model, microseconds - engine->ahead);
	used = pb_engine_model_time(&engine->model) - before + engine->ahead;
	engine->ahead = used > microseconds ? used - microseconds : 0;
	count_time(node);
}

uint64_t pb_victim_engine_time(uint32_t node, uint32_t channel)
{
	return models[node].used[channel];
}

/* ---- time ---- */

/** Gives the others the time that the firmware has used. @param hosts whether the hosts act */
static void move_others(bool hosts)
{
	struct pb_world *world = &pb_victim_world;
	const uint64_t now = (counts - booted) / COUNTS_US;
	const uint32_t microseconds = (uint32_t)(now - world->now);

	world->now = now;
	pb_shared_write32(&pb_world_boot_block(world)->clock, (uint32_t)now);
	for (uint32_t n = 0; n < PB_CARD_NODES; n++)
		run_engine(n, microseconds);
	if (now >= world->next_tick) {
		world->next_tick += PB_TICK_MICROSECONDS;
		raise_line(PB_LINE_TICK);
	}
	if (hosts && hosts_act != NULL)
		hosts_act();
}

/** The firmware stands still. @param counter as it was when the firmware had executed its last instruction */
static void stand_still(uint32_t counter)
{
	const uint32_t elapsed = (left_at - counter) & COUNTER_MASK;

	counts += elapsed > own_counts ? elapsed - own_counts : 0;
	counts += handlers * PB_VICTIM_BOARD_COUNTS / 10u;
	handlers = 0;
}

static void go_on(void)
{
	left_at = pb_victim_board_counter();
}

static void timer_rings(uint32_t counter)
{
	stand_still(counter);
	move_others(true);
	pb_victim_board_ring_after(STEP);
	go_on();
}

/* ---- the firmware's end of the lines ---- */

static uint32_t lines_take(void *context)
{
	(void)context;
	return __atomic_exchange_n(&pending, 0, __ATOMIC_RELAXED);
}

/** The engine gets its doorbell at once. Hosts need no interrupt: they read. */
static void lines_raise(void *context, uint32_t line)
{
	const uint32_t node = line - PB_LINE_NODE(0);

	(void)context;
	if (node >= PB_CARD_NODES)
		return;
	pb_cpu_mask_interrupts();
	stand_still(pb_victim_board_counter());
	models[node].running = true;
	move_others(false);
	go_on();
	pb_cpu_unmask_interrupts();
}

static void lines_idle_enter(void *context)
{
	(void)context;
}

static void lines_idle_wait(void *context)
{
	(void)context;
	pb_cpu_mask_interrupts();
	stand_still(pb_victim_board_counter());
	while (pb_shared_read32(&pending) == 0) {
		counts += (uint64_t)STEP_US * COUNTS_US;
		move_others(true);
	}
	pb_victim_board_ring_after(STEP);
	go_on();
	pb_cpu_unmask_interrupts();
}

static const struct pb_lines_ops lines_ops = {
	.take = lines_take,
	.raise = lines_raise,
	.idle_enter = lines_idle_enter,
	.idle_wait = lines_idle_wait,
	.idle_leave = lines_idle_enter,
};

/* ---- boot ---- */

static void start_board(void)
{
	config = *pb_board_start();
	lines = (struct pb_lines){.ops = &lines_ops, .pending = &pending};
	config.lines = &lines;
	config.trace_bytes = 0;
	for (uint32_t n = 0; n < config.node_count; n++) {
		drivers[n] = *(struct pb_reference_engine *)config.engines[n].context;
		drivers[n].lines = &lines;
		engines[n] = config.engines[n];
		engines[n].context = &drivers[n];
	}
	config.engines = engines;
	pb_victim_world.memory = config.memory;
	pb_victim_world.memory_bytes = config.memory_bytes;
	pb_victim_board_start(timer_rings);
	/* What the readings of the counter cost: two interrupts, one behind the other. */
	pb_victim_board_ring();
	counts = 0;
	pb_victim_board_ring();
	own_counts = (uint32_t)counts;
}

static void start_engine(uint32_t n)
{
	const struct pb_engine_model_config model = {
		.memory = config.memory,
		.memory_bytes = config.memory_bytes,
		.registers_offset = PB_CARD_ENGINE_OFFSET + n * PB_CARD_ENGINE_STRIDE,
		.kind = config.engines[n].kind,
		.interrupt = engine_interrupt,
		.context = &models[n],
	};

	memset(&models[n], 0, sizeof(models[n]));
	models[n].current = 1;
	pb_engine_model_init(&models[n].model, &model);
}

void pb_victim_boot(void)
{
	if (firmware == NULL)
		start_board();
	pb_cpu_mask_interrupts();
	hosts_act = NULL;
	memset(config.memory, 0, PB_CARD_POOL_OFFSET);
	for (uint32_t n = 0; n < config.node_count; n++)
		start_engine(n);
	pending = 0;
	booted = counts;
	pb_victim_world.now = 0;
	pb_victim_world.next_tick = PB_TICK_MICROSECONDS;
	pb_victim_board_ring_after(STEP);
	go_on();
	pb_cpu_unmask_interrupts();
	firmware = pb_firmware_instance();
	pb_firmware_init(firmware, &config);
}

void pb_victim_settle(struct pb_world *world)
{
	(void)world;
	if (!pb_firmware_pass(firmware))
		pb_firmware_idle(firmware);
}

void pb_victim_run(uint64_t until, void (*act)(void))
{
	hosts_act = act;
	while (pb_victim_world.now < until)
		pb_victim_settle(&pb_victim_world);
	hosts_act = NULL;
}
