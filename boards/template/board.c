/* SPDX-License-Identifier: MIT */
/*
 * A board to copy. It builds and links like every other board, and runs on no
 * hardware: each line that depends on the hardware is marked with CHANGE.
 * docs/porting.md has the steps, also for hardware unlike the emulated card's.
 */
#include "boards/board.h"

#include <stddef.h>

#include "boards/image.h"
#include "hal/cortex_m/cortex_m.h"
#include "patchbay/abi/boot.h"
#include "qemu/mcu/nodes.h"
#include "qemu/mcu/uart_cmsdk.h"

/* CHANGE: where this CPU sees card memory. It must not be cached, see hal/shared.h. */
#define CARD_MEMORY 0x60000000u
/* CHANGE: what SysTick counts on the core clock, after start-up. */
#define CORE_HERTZ 100000000u
/* CHANGE: what brings doorbells and interrupts, and its external interrupts. */
#define UART0                    0x40004000u
#define UART0_BYTES              0x1000u
#define UART0_RECEIVE_INTERRUPT  0u
#define UART0_TRANSMIT_INTERRUPT 1u
/* CHANGE: how many queues there is memory for, PB_FIRMWARE_QUEUE_BYTES each; at most PB_LIMIT_QUEUES. */
#define QUEUES 64u

/* CHANGE: the state of your driver of lines, hal/lines.h; this one is the emulated card's. */
static struct pb_uart_lines uart = {
	.uart = UART0,
	.block = (struct pb_card_line_block *)(CARD_MEMORY + PB_CARD_LINES_OFFSET),
};

static const struct pb_lines lines = {.ops = &pb_uart_cmsdk_ops, .context = &uart, .pending = &uart.pending};

/*
 * CHANGE: the states of your driver of engines, hal/engine.h; this one is the
 * emulated card's. Where its parts lie in card memory is qemu/mcu/layout.h.
 */
static struct pb_reference_memory tables = PB_CARD_REFERENCE_MEMORY((uint8_t *)CARD_MEMORY);
static const struct pb_engine_memory engine_memory = {&pb_reference_memory_ops, &tables};

static struct pb_reference_engine reference[PB_CARD_NODES] = PB_CARD_REFERENCE_ENGINES(&tables, &lines);

/* CHANGE: a row for each node, 1 to PB_LIMIT_NODES of them; `kind` is what the node can run, for hosts. */
static const struct pb_engine engines[PB_CARD_NODES] = PB_CARD_ENGINES(reference);

static uint64_t queues[QUEUES * PB_FIRMWARE_QUEUE_BYTES / sizeof(uint64_t)];

/* CHANGE: sizes and offsets in card memory, firmware/firmware.h has them all; `clock` is a word that counts microseconds, wherever it is written. */
static const struct pb_firmware_config config = {
	.memory = (uint8_t *)CARD_MEMORY,
	.memory_bytes = PB_CARD_TRACE_OFFSET,
	.channels_offset = PB_CARD_CHANNELS_OFFSET,
	.pool_offset = PB_CARD_POOL_OFFSET,
	.trace_bytes = PB_CARD_TRACE_BYTES,
	.lines = &lines,
	.engine_memory = &engine_memory,
	.engines = engines,
	.node_count = PB_CARD_NODES,
	.clock = (const uint32_t *)(CARD_MEMORY + PB_BOOT_OFFSET + offsetof(struct pb_boot_block, clock)),
	.queues = queues,
	.queue_count = QUEUES,
	.board = "template",
	.crash_offset = PB_CARD_CRASH_OFFSET,
	.telemetry_offset = PB_CARD_TELEMETRY_OFFSET,
	/* CHANGE: a register that counts up, 1 to 100 MHz: it times the trace. */
	.counter = (const uint32_t *)PB_CORTEX_M_CYCLES,
	.counter_hertz = CORE_HERTZ,
};

/* CHANGE: what drivers and core touch beside CODE and DATA; at most PB_REGIONS_MAX (hal/protect.h). */
static const struct pb_region regions[] = {
	{CARD_MEMORY, PB_CARD_MEMORY_BYTES, PB_REGION_SHARED},
	{UART0, UART0_BYTES, PB_REGION_DEVICE},
};

PB_BOARD_IMAGE("template", CARD_MEMORY, PB_CARD_MEMORY_BYTES);

/* CHANGE: a handler for each interrupt. It records, and no more. */
static void uart0_receive(void)
{
	pb_uart_cmsdk_receive(&uart);
}

static void uart0_transmit(void)
{
	pb_uart_cmsdk_transmit(&uart);
}

static void tick(void)
{
	pb_uart_lines_tick(&uart);
}

extern uint32_t pb_stack_top[];

static const struct pb_cortex_m_vectors vectors __attribute__((section(".vectors"), used)) = {
	PB_CORTEX_M_EXCEPTIONS(tick),
	/* CHANGE: each by its number. The others are never enabled, and would fault on their empty entries. */
	.interrupts =
		{
			[UART0_RECEIVE_INTERRUPT] = uart0_receive,
			[UART0_TRANSMIT_INTERRUPT] = uart0_transmit,
		},
};

const struct pb_firmware_config *pb_board_start(void)
{
	pb_cortex_m_on_fault(pb_firmware_fatal);
	pb_cortex_m_protect(regions, sizeof(regions) / sizeof(regions[0]));
	/* CHANGE: clocks, protection and windows that the boot loader has not set up, then the drivers. */
	pb_uart_cmsdk_start(&uart);
	pb_cortex_m_interrupt_enable(UART0_RECEIVE_INTERRUPT);
	pb_cortex_m_interrupt_enable(UART0_TRANSMIT_INTERRUPT);
	pb_cortex_m_cycles_start();
	pb_cortex_m_tick_start(PB_TICK_MICROSECONDS * (CORE_HERTZ / 1000000u));
	return &config;
}
