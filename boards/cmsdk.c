/* SPDX-License-Identifier: MIT */
#include "boards/cmsdk.h"

#include "boards/board.h"
#include "boards/emulated_card.h"
#include "hal/cortex_m/cortex_m.h"
#include "qemu/mcu/uart_cmsdk.h"

#define UART_BYTES 0x1000u
/* Card memory, and host memory if that lies behind it. */
#define SHARED_BYTES (PB_CARD_HOST_OFFSET + PB_CARD_HOST_BYTES)

static struct pb_uart_lines uart = {
	.block = (struct pb_card_line_block *)(PB_CARD_MEMORY + PB_CARD_LINES_OFFSET),
};

struct pb_host_window pb_emulated_card_host = {.offset = PB_CARD_HOST_OFFSET, .bytes = PB_CARD_HOST_BYTES};

const struct pb_lines pb_emulated_card_lines = {
	.ops = &pb_uart_cmsdk_ops, .context = &uart, .pending = &uart.pending};

void pb_cmsdk_receive(void)
{
	pb_uart_cmsdk_receive(&uart);
}

void pb_cmsdk_transmit(void)
{
	pb_uart_cmsdk_transmit(&uart);
}

void pb_cmsdk_tick(void)
{
	pb_uart_lines_tick(&uart);
}

const struct pb_firmware_config *pb_board_start(void)
{
	const struct pb_region regions[] = {
		{PB_CARD_MEMORY, SHARED_BYTES, PB_REGION_SHARED},
		{pb_cmsdk.uart, UART_BYTES, PB_REGION_DEVICE},
		{PB_CARD_COUNTER, sizeof(uint32_t), PB_REGION_DEVICE},
	};

	uart.uart = pb_cmsdk.uart;
	pb_cortex_m_on_fault(pb_firmware_fatal);
	pb_cortex_m_protect(regions, sizeof(regions) / sizeof(regions[0]));
	pb_emulated_card_start();
	pb_uart_cmsdk_start(&uart);
	pb_cortex_m_interrupt_enable(pb_cmsdk.receive_interrupt);
	pb_cortex_m_interrupt_enable(pb_cmsdk.transmit_interrupt);
	pb_cortex_m_tick_start(PB_TICK_MICROSECONDS * (pb_cmsdk.core_hertz / 1000000u));
	return &pb_emulated_card_config;
}
