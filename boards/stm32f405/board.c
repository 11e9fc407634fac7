/* SPDX-License-Identifier: MIT */
/*
 * STM32F405 (Cortex-M4): a part that people own, and QEMU's netduinoplus2. It
 * is the whole card: its engines are soft, card memory is a good half of its
 * SRAM, and hosts reach that through a debug probe. At boot it tests itself.
 *
 * The core runs from the internal oscillator, as out of reset. Text goes out on
 * PA9 (USART 1, 115200 baud, 8N1). The light is PC12, which shines while low,
 * as on Olimex' STM32-H405: steady after the self-test has passed, blinking
 * after it has failed. On another board only this table is another.
 */
#include "boards/board.h"

#include <stddef.h>
#include <string.h>

#include "boards/image.h"
#include "boards/stm32f405/self_test.h"
#include "firmware/abi/boot.h"
#include "hal/cortex_m/cortex_m.h"
#include "hal/cortex_m/local_lines.h"
#include "hal/engine/reference.h"
#include "hal/engine/soft.h"
#include "hal/shared.h"
#include "hal/stm32f4/stm32f4.h"

#define NODES           2u
#define QUEUES          PB_LIMIT_QUEUES
#define CYCLES_PER_US   (PB_STM32F4_HSI_HERTZ / 1000000u)
#define CYCLES_PER_TICK (PB_TICK_MICROSECONDS * CYCLES_PER_US)
/** Ticks that the light is on, and off, after a failure. */
#define BLINK_TICKS 50u
#define USART1_PINS 7u /* the function of its pins */

static const struct pb_stm32f4_pin transmit = {'A', 9};
static const struct pb_stm32f4_pin light = {'C', 12};

/*
 * Card memory, in bytes from its start (linker symbols of memory.ld):
 *
 *   0x0000  boot block, capability table    firmware/abi/boot.h
 *   0x0300  register blocks of the engines  hal/engine/registers.h
 *   0x0500  counters of their page tables
 *   0x0580  rings of the engines, each with the progress of what they go on with
 *   0x1180  range table of the engines
 *   0x1780  channel directory, then the channels' rings
 *   0x3000  crash record                    firmware/abi/crash.h
 *   0x3800  telemetry                       firmware/abi/telemetry.h
 *   0x4000  pool, to the end
 */
extern uint8_t pb_card_memory[], pb_card_memory_bytes[];

#define MEMORY_BYTES       ((uint32_t)pb_card_memory_bytes)
#define REGISTERS_OFFSET   0x300u
#define REGISTERS_STRIDE   sizeof(struct pb_engine_registers)
#define TRANSLATION_OFFSET 0x500u
#define RINGS_OFFSET       0x580u
#define RING_STRIDE        (PB_ENGINE_SLOTS * (sizeof(struct pb_engine_slot) + sizeof(struct pb_engine_progress)))
#define RANGES_OFFSET      0x1180u
#define CHANNELS_OFFSET    0x1780u
#define CRASH_OFFSET       0x3000u
#define TELEMETRY_OFFSET   0x3800u
#define POOL_OFFSET        0x4000u
/** There is no dummy page: a store to a page that is not mapped goes nowhere, as docs/engine.md has it. */
#define NO_DUMMY_OFFSET UINT32_MAX

PB_STATIC_ASSERT(REGISTERS_OFFSET + NODES * REGISTERS_STRIDE == TRANSLATION_OFFSET, "register blocks");
PB_STATIC_ASSERT(TRANSLATION_OFFSET + sizeof(struct pb_engine_translation) == RINGS_OFFSET, "counters");
PB_STATIC_ASSERT(RINGS_OFFSET + NODES * RING_STRIDE == RANGES_OFFSET, "rings");
PB_STATIC_ASSERT(RANGES_OFFSET + PB_LIMIT_CHANNELS * PB_ENGINE_RANGES *
					 sizeof(struct pb_engine_range_entry) ==
			 CHANNELS_OFFSET,
		 "range table");

#define SOFT_ENGINE(n, kind_)                                                                                \
	{                                                                                                    \
		.memory = pb_card_memory, .memory_bytes = MEMORY_BYTES,                                      \
		.registers_offset = REGISTERS_OFFSET + (n)*REGISTERS_STRIDE, .kind = (kind_),                \
	}

static const struct pb_engine_model_config soft_configs[NODES] = {SOFT_ENGINE(0, PB_NODE_3D),
								  SOFT_ENGINE(1, PB_NODE_COPY)};
static struct pb_soft_engine soft[NODES];
static struct pb_soft_engines soft_engines = {.configs = soft_configs, .nodes = soft, .count = NODES};

static bool local_host(void *context);

static struct pb_self_test self_test = {.memory = pb_card_memory, .memory_bytes = MEMORY_BYTES};

static struct pb_local_lines local = {
	.engines = &soft_engines,
	.boot = (struct pb_boot_block *)(void *)pb_card_memory,
	.cycles_per_tick = CYCLES_PER_TICK,
	.cycles_per_microsecond = CYCLES_PER_US,
	.host = local_host,
	.host_context = &self_test,
};

static const struct pb_lines lines = {
	.ops = &pb_local_lines_ops, .context = &local, .pending = &local.pending};

#define REFERENCE_ENGINE(n)                                                                                  \
	{                                                                                                    \
		.memory = pb_card_memory, .registers_offset = REGISTERS_OFFSET + (n)*REGISTERS_STRIDE,       \
		.ring_offset = RINGS_OFFSET + (n)*RING_STRIDE, .range_offset = RANGES_OFFSET,                \
		.channels = PB_LIMIT_CHANNELS, .dummy_offset = NO_DUMMY_OFFSET,                              \
		.translation_offset = TRANSLATION_OFFSET, .node = (n), .lines = &lines,                      \
	}

static struct pb_reference_engine reference[NODES] = {REFERENCE_ENGINE(0), REFERENCE_ENGINE(1)};

static const struct pb_engine engines[NODES] = {
	{.ops = &pb_reference_engine_ops, .context = &reference[0], .kind = PB_NODE_3D},
	{.ops = &pb_reference_engine_ops, .context = &reference[1], .kind = PB_NODE_COPY},
};

static uint64_t queues[QUEUES * PB_FIRMWARE_QUEUE_BYTES / sizeof(uint64_t)];

static const struct pb_firmware_config config = {
	.memory = pb_card_memory,
	.memory_bytes = MEMORY_BYTES,
	.channels_offset = CHANNELS_OFFSET,
	.pool_offset = POOL_OFFSET,
	.lines = &lines,
	.engines = engines,
	.node_count = NODES,
	.clock = &local.clock,
	.queues = queues,
	.queue_count = QUEUES,
	.board = "stm32f405",
	.crash_offset = CRASH_OFFSET,
	.telemetry_offset = TELEMETRY_OFFSET,
};

static const struct pb_region regions[] = {
	{(uintptr_t)pb_card_memory, MEMORY_BYTES, PB_REGION_SHARED},
	{PB_STM32F4_PERIPHERALS, PB_STM32F4_PERIPHERAL_BYTES, PB_REGION_DEVICE},
};

PB_BOARD_IMAGE("stm32f405", pb_card_memory, pb_card_memory_bytes);

/** Lights it, or not. */
static void set_light(bool on)
{
	pb_stm32f4_pin_set(light, !on);
}

/** The self-test has its turn, until its verdict. */
static bool local_host(void *context)
{
	struct pb_self_test *test = context;
	char text[PB_SELF_TEST_TEXT_BYTES];

	if (test->verdict != PB_SELF_TEST_RUNS)
		return false;
	pb_self_test_turn(test);
	if (test->verdict == PB_SELF_TEST_RUNS)
		return true;
	pb_self_test_say(test, config.board, text);
	pb_stm32f4_usart1_write(text);
	set_light(test->verdict == PB_SELF_TEST_PASSED);
	return false;
}

static void tick(void)
{
	pb_local_lines_tick(&local);
	if (self_test.verdict == PB_SELF_TEST_FAILED)
		set_light(local.ticks / BLINK_TICKS % 2u != 0);
}

extern uint32_t pb_stack_top[];

static const struct pb_cortex_m_vectors vectors __attribute__((section(".vectors"), used)) = {
	PB_CORTEX_M_EXCEPTIONS(tick),
	/* No other is ever enabled. */
};

/**
 * SRAM holds anything after power came, and what it held after a reset: then the incarnation is to count on. The board
 * is its own supervisor: nobody else writes that part of the boot block.
 */
static void start_memory(void)
{
	struct pb_boot_block *boot = (struct pb_boot_block *)(void *)pb_card_memory;

	if (pb_shared_read32(&boot->magic) != PB_BOOT_MAGIC)
		memset(pb_card_memory, 0, MEMORY_BYTES);
	pb_shared_write32(&boot->mcu_state, PB_MCU_UNKNOWN);
	pb_shared_write32(&boot->clock, 0);
	pb_shared_write32(&boot->heartbeat_clock, 0);
}

const struct pb_firmware_config *pb_board_start(void)
{
	pb_cortex_m_on_fault(pb_firmware_fatal);
	pb_cortex_m_protect(regions, sizeof(regions) / sizeof(regions[0]));
	pb_stm32f4_debug_while_asleep();
	pb_stm32f4_pin_output(light, true);
	pb_stm32f4_pin_alternate(transmit, USART1_PINS);
	pb_stm32f4_usart1_start(115200);
	start_memory();
	pb_soft_engines_start(&soft_engines);
	pb_cortex_m_tick_start(CYCLES_PER_TICK);
	return &config;
}
