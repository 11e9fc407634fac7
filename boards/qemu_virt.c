/* SPDX-License-Identifier: MIT */
/*
 * QEMU's RISC-V machine `virt`: card memory is the window of an
 * ivshmem device behind PCI, interrupt lines are the UART. Addresses and
 * interrupt numbers: the device tree that the machine makes.
 */
#include "boards/qemu_virt.h"

#include <stddef.h>

#include "boards/board.h"
#include "firmware/abi/boot.h"
#include "hal/card/nodes.h"
#include "hal/halt.h"
#include "hal/pci/window.h"
#include "hal/riscv/plic.h"
#include "hal/riscv/riscv.h"
#include "hal/uart_16550/lines.h"

#define PCI_CONFIGURATION 0x30000000u
#define IVSHMEM           0x11101af4u
#define IVSHMEM_MEMORY    2u /* its BAR */
#define CARD_MEMORY       PB_QEMU_VIRT_CARD_MEMORY
#define CLINT             0x02000000u
#define CLINT_BYTES       0x10000u
#define CLINT_COMPARE     0x02004000u
#define CLINT_TIME        0x0200bff8u
#define TIME_HERTZ        10000000u
#define PLIC              0x0c000000u
#define PLIC_BYTES        0x400000u
#define UART              0x10000000u
#define UART_BYTES        0x1000u
#define UART_INTERRUPT    10u

static struct pb_uart_lines uart = {
	.uart = UART,
	.block = (struct pb_card_line_block *)(CARD_MEMORY + PB_CARD_LINES_OFFSET),
};

static const struct pb_lines lines = {.ops = &pb_uart_16550_ops, .context = &uart, .pending = &uart.pending};

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
	.board = pb_qemu_virt_name,
	.crash_offset = PB_CARD_CRASH_OFFSET,
	.telemetry_offset = PB_CARD_TELEMETRY_OFFSET,
};

static const struct pb_region regions[] = {
	{CARD_MEMORY, PB_CARD_MEMORY_BYTES, PB_REGION_SHARED},
	{UART, UART_BYTES, PB_REGION_DEVICE},
	{CLINT, CLINT_BYTES, PB_REGION_DEVICE},
	{PLIC, PLIC_BYTES, PB_REGION_DEVICE},
};

static const struct pb_pci_window window = {
	.configuration = PCI_CONFIGURATION,
	.identity = IVSHMEM,
	.bar = IVSHMEM_MEMORY,
	.address = CARD_MEMORY,
};

static struct pb_riscv_tick tick = {
	.time = CLINT_TIME,
	.compare = CLINT_COMPARE,
	.period = PB_TICK_MICROSECONDS * (TIME_HERTZ / 1000000u),
};

void pb_riscv_timer(void)
{
	pb_riscv_tick_next(&tick);
	pb_uart_lines_tick(&uart);
}

/** The UART is the only source that is enabled. */
void pb_riscv_external(void)
{
	const uint32_t source = pb_plic_claim(PLIC);

	pb_uart_16550_interrupt(&uart);
	pb_plic_complete(PLIC, source);
}

const struct pb_firmware_config *pb_board_start(void)
{
	/* Without card memory there is nowhere to tell of it. */
	if (!pb_pci_window_open(&window))
		pb_hal_halt();
	pb_riscv_on_fault(pb_firmware_fatal);
	pb_riscv_protect(regions, sizeof(regions) / sizeof(regions[0]));
	pb_uart_16550_start(&uart);
	pb_plic_enable(PLIC, UART_INTERRUPT);
	pb_riscv_tick_start(&tick);
	pb_riscv_interrupts_enable();
	return &config;
}
