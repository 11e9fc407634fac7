/* SPDX-License-Identifier: MIT */
/*
 * A board outside of Patchbay's tree. Its hardware is QEMU's mps2-an500, so that it runs: replace the addresses, the driver
 * of lines and the drivers of engines by your own. docs/porting.md has the steps.
 */
#include "boards/board.h"

#include <stddef.h>

#include "boards/image.h"
#include "hal/cortex_m/cortex_m.h"
#include "patchbay/abi/boot.h"
#include "qemu/mcu/nodes.h"
#include "qemu/mcu/uart_cmsdk.h"

#define CARD_MEMORY        0x60000000u /**< as the CPU sees it; not cached (hal/shared.h) */
#define CORE_HERTZ         25000000u   /**< what SysTick counts */
#define UART               0x40004000u /**< brings doorbells and interrupts */
#define UART_BYTES         0x1000u
#define RECEIVE_INTERRUPT  0u
#define TRANSMIT_INTERRUPT 1u
#define QUEUES             64u

static struct pb_uart_lines uart = {
	.uart = UART,
	.block = (struct pb_card_line_block *)(CARD_MEMORY + PB_CARD_LINES_OFFSET),
};
static const struct pb_lines lines = {.ops = &pb_uart_cmsdk_ops, .context = &uart, .pending = &uart.pending};

static struct pb_reference_memory tables = PB_CARD_REFERENCE_MEMORY((uint8_t *)CARD_MEMORY);
static const struct pb_engine_memory engine_memory = {&pb_reference_memory_ops, &tables};
static struct pb_reference_engine reference[PB_CARD_NODES] = PB_CARD_REFERENCE_ENGINES(&tables, &lines);
static const struct pb_engine engines[PB_CARD_NODES] = PB_CARD_ENGINES(reference);
static uint64_t queues[QUEUES * PB_FIRMWARE_QUEUE_BYTES / sizeof(uint64_t)];

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
	.board = "my_board",
	.crash_offset = PB_CARD_CRASH_OFFSET,
	.telemetry_offset = PB_CARD_TELEMETRY_OFFSET,
};

static const struct pb_region regions[] = {
	{CARD_MEMORY, PB_CARD_MEMORY_BYTES, PB_REGION_SHARED},
	{UART, UART_BYTES, PB_REGION_DEVICE},
};

PB_BOARD_IMAGE("my_board", CARD_MEMORY, PB_CARD_MEMORY_BYTES);

static void receive(void)
{
	pb_uart_cmsdk_receive(&uart);
}

static void transmit(void)
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
	.interrupts = {[RECEIVE_INTERRUPT] = receive, [TRANSMIT_INTERRUPT] = transmit},
};

const struct pb_firmware_config *pb_board_start(void)
{
	pb_cortex_m_on_fault(pb_firmware_fatal);
	pb_cortex_m_protect(regions, sizeof(regions) / sizeof(regions[0]));
	pb_uart_cmsdk_start(&uart);
	pb_cortex_m_interrupt_enable(RECEIVE_INTERRUPT);
	pb_cortex_m_interrupt_enable(TRANSMIT_INTERRUPT);
	pb_cortex_m_tick_start(PB_TICK_MICROSECONDS * (CORE_HERTZ / 1000000u));
	return &config;
}
