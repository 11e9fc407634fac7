/* SPDX-License-Identifier: MIT */
#include "qemu/mcu/loader_16550.h"

#include "hal/mmio.h"
#include "qemu/mcu/loader_flash.h"

#define DATA             0u
#define INTERRUPT_ENABLE 1u
#define FIFO_CONTROL     2u
#define LINE_CONTROL     3u
#define LINE_STATE       5u

#define FIFO_ON_AND_EMPTY 7u
#define LINE_8_BITS       3u
#define STATE_RECEIVED    1u
#define STATE_ROOM        0x20u

static uintptr_t uart;

void pb_loader_16550_start(uintptr_t base)
{
	uart = base;
	pb_mmio_write8(uart + INTERRUPT_ENABLE, 0);
	pb_mmio_write8(uart + LINE_CONTROL, LINE_8_BITS);
	pb_mmio_write8(uart + FIFO_CONTROL, FIFO_ON_AND_EMPTY);
}

void pb_loader_serial_put(uint8_t byte)
{
	while ((pb_mmio_read8(uart + LINE_STATE) & STATE_ROOM) == 0)
		continue;
	pb_mmio_write8(uart + DATA, byte);
}

uint8_t pb_loader_serial_get(void)
{
	while ((pb_mmio_read8(uart + LINE_STATE) & STATE_RECEIVED) == 0)
		continue;
	return pb_mmio_read8(uart + DATA);
}
