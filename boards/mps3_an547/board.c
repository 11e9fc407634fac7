/* SPDX-License-Identifier: MIT */
/*
 * Arm MPS3 with the AN547 FPGA image (Cortex-M55), as QEMU's mps3-an547 has it:
 * card memory is the start of the DDR4, interrupt lines are UART 0, all as
 * Secure code sees them. Addresses and interrupt numbers: Arm application note
 * AN547, sections 3 and 4.
 */
#include "boards/board.h"

#include <stddef.h>

#include "boards/image.h"
#include "firmware/abi/boot.h"
#include "hal/card/nodes.h"
#include "hal/cortex_m/cortex_m.h"
#include "hal/uart_cmsdk/lines.h"

#define CARD_MEMORY              0x60000000u
#define CORE_HERTZ               32000000u
#define UART0                    0x59303000u
#define UART0_BYTES              0x1000u
#define UART0_RECEIVE_INTERRUPT  33u
#define UART0_TRANSMIT_INTERRUPT 34u

static struct pb_uart_lines uart = {
	.uart = UART0,
	.block = (struct pb_card_line_block *)(CARD_MEMORY + PB_CARD_LINES_OFFSET),
};

static const struct pb_lines lines = {.ops = &pb_uart_cmsdk_ops, .context = &uart, .pending = &uart.pending};

static struct pb_reference_engine reference[PB_CARD_NODES] =
	PB_CARD_REFERENCE_ENGINES((uint8_t *)CARD_MEMORY, &lines);

static const struct pb_engine engines[PB_CARD_NODES] = PB_CARD_ENGINES(reference);

#define QUEUES 4096u

static uint64_t queues[QUEUES * PB_FIRMWARE_QUEUE_BYTES / sizeof(uint64_t)];

static const struct pb_firmware_config config = {
	.memory = (uint8_t *)CARD_MEMORY,
	.memory_bytes = PB_CARD_TRACE_OFFSET,
	.channels_offset = PB_CARD_CHANNELS_OFFSET,
	.pool_offset = PB_CARD_POOL_OFFSET,
	.trace_bytes = PB_CARD_TRACE_BYTES,
	.lines = &lines,
	.engines = engines,
	.node_count = PB_CARD_NODES,
	.clock = (const uint32_t *)(CARD_MEMORY + PB_BOOT_OFFSET + offsetof(struct pb_boot_block, clock)),
	.queues = queues,
	.queue_count = QUEUES,
	.board = "mps3_an547",
	.crash_offset = PB_CARD_CRASH_OFFSET,
	.telemetry_offset = PB_CARD_TELEMETRY_OFFSET,
};

static const struct pb_region regions[] = {
	{CARD_MEMORY, PB_CARD_MEMORY_BYTES, PB_REGION_SHARED},
	{UART0, UART0_BYTES, PB_REGION_DEVICE},
};

PB_BOARD_IMAGE("mps3_an547", CARD_MEMORY, PB_CARD_MEMORY_BYTES);

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
	/* The others are never enabled; one that came all the same would fault on its empty entry. */
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
	pb_uart_cmsdk_start(&uart);
	pb_cortex_m_interrupt_enable(UART0_RECEIVE_INTERRUPT);
	pb_cortex_m_interrupt_enable(UART0_TRANSMIT_INTERRUPT);
	pb_cortex_m_tick_start(PB_TICK_MICROSECONDS * (CORE_HERTZ / 1000000u));
	return &config;
}
