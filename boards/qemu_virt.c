/* SPDX-License-Identifier: MIT */
/* QEMU's RISC-V machine `virt`: card memory is the window of an ivshmem device behind PCI, interrupt lines are the UART. */
#include "boards/qemu_virt.h"

#include "boards/board.h"
#include "boards/emulated_card.h"
#include "hal/halt.h"
#include "hal/pci/window.h"
#include "hal/riscv/plic.h"
#include "hal/riscv/riscv.h"
#include "qemu/mcu/uart_16550.h"

#define CLINT         0x02000000u
#define CLINT_BYTES   0x10000u
#define CLINT_COMPARE 0x02004000u
#define CLINT_TIME    PB_CARD_COUNTER
#define TIME_HERTZ    PB_CARD_COUNTER_HERTZ
#define PLIC          0x0c000000u
#define PLIC_BYTES    0x400000u

static struct pb_uart_lines uart = {
	.uart = PB_QEMU_VIRT_UART,
	.block = (struct pb_card_line_block *)(PB_CARD_MEMORY + PB_CARD_LINES_OFFSET),
};

const struct pb_lines pb_emulated_card_lines = {
	.ops = &pb_uart_16550_ops, .context = &uart, .pending = &uart.pending};

/* Host memory, if the machine has any: devices whose memory is placed in the upper half of what PCI has. */
#define HOST_DEVICES 16u /* their first number, qemu/machines.c */
#define HOST_MEMORY  (PB_CARD_MEMORY + PB_CARD_HOST_OFFSET)
#define PCI_MEMORY   0x40000000u
#define PCI_END      0x80000000u

#define DEVICES                                                                                              \
	{PB_QEMU_VIRT_UART, PB_QEMU_VIRT_UART_BYTES, PB_REGION_DEVICE},                                      \
		{CLINT, CLINT_BYTES, PB_REGION_DEVICE},                                                      \
	{                                                                                                    \
		PLIC, PLIC_BYTES, PB_REGION_DEVICE                                                           \
	}

static const struct pb_region regions[] = {{PB_CARD_MEMORY, PB_CARD_MEMORY_BYTES, PB_REGION_SHARED}, DEVICES};
/** With host memory all of PCI is open: a protection unit has few regions. */
static const struct pb_region host_regions[] = {{PCI_MEMORY, PCI_END - PCI_MEMORY, PB_REGION_SHARED},
						DEVICES};

static const struct pb_pci_window window = PB_QEMU_VIRT_CARD_MEMORY;

struct pb_host_window pb_emulated_card_host = {.offset = PB_CARD_HOST_OFFSET};

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
	/* Without card memory there is no place for a record. */
	if (!pb_pci_window_open(&window))
		pb_hal_halt();
	pb_emulated_card_host.bytes =
		pb_pci_windows_place(&window, HOST_DEVICES, HOST_MEMORY, PCI_END) - HOST_MEMORY;
	pb_emulated_card_start();
	pb_riscv_on_fault(pb_firmware_fatal);
	pb_riscv_protect(pb_emulated_card_host.bytes != 0 ? host_regions : regions,
			 sizeof(regions) / sizeof(regions[0]));
	pb_uart_16550_start(&uart);
	pb_plic_enable(PLIC, PB_QEMU_VIRT_UART_INTERRUPT);
	pb_riscv_tick_start(&tick);
	pb_riscv_interrupts_enable();
	return &pb_emulated_card_config;
}
