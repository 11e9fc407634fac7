/* SPDX-License-Identifier: MIT */
#include "qemu/mcu/loader_cmsdk.h"

#include "hal/mmio.h"
#include "qemu/mcu/loader_flash.h"

#define UART_DATA         0x00u
#define UART_STATE        0x04u
#define UART_CONTROL      0x08u
#define UART_BAUD_DIVIDER 0x10u

#define STATE_TRANSMIT_FULL 1u
#define STATE_RECEIVE_FULL  2u
/** Transmitter and receiver on, no interrupts. */
#define CONTROL_POLLED 3u
/** The smallest that the UART accepts. */
#define BAUD_DIVIDER 16u

static uintptr_t uart;

void pb_loader_cmsdk_start(uintptr_t base)
{
	uart = base;
	pb_mmio_write32(uart + UART_BAUD_DIVIDER, BAUD_DIVIDER);
	pb_mmio_write32(uart + UART_CONTROL, CONTROL_POLLED);
}

void pb_loader_serial_put(uint8_t byte)
{
	while ((pb_mmio_read32(uart + UART_STATE) & STATE_TRANSMIT_FULL) != 0)
		continue;
	pb_mmio_write32(uart + UART_DATA, byte);
}

uint8_t pb_loader_serial_get(void)
{
	while ((pb_mmio_read32(uart + UART_STATE) & STATE_RECEIVE_FULL) == 0)
		continue;
	return (uint8_t)pb_mmio_read32(uart + UART_DATA);
}
