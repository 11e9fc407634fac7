/* SPDX-License-Identifier: MIT */
#include "tests/bench/cmsdk.h"

#include <string.h>

#include "boards/cmsdk.h"
#include "hal/mmio.h"
#include "tests/bench/bench_board.h"

#define UART_DATA           0x00u
#define UART_STATE          0x04u
#define UART_CONTROL        0x08u
#define UART_BAUD_DIVIDER   0x10u
#define STATE_TRANSMIT_FULL 1u
#define STATE_RECEIVED      2u
#define CONTROL_BOTH        3u /* transmitter and receiver, without interrupts */

#define PAUSE_ROUNDS   5000u /* some microseconds of the emulator's host */
#define CONNECT_PAUSES 20u

#define VECTOR_TABLE_OFFSET 0xe000ed08u
#define MPU_CONTROL         0xe000ed94u
#define SYSTICK_CONTROL     0xe000e010u
#define SYSTICK_RELOAD      0xe000e014u
#define SYSTICK_VALUE       0xe000e018u
#define SYSTICK_MASK        0x00ffffffu

static struct pb_cortex_m_vectors vectors __attribute__((aligned(512)));
static pb_cortex_m_handler receive;
static uint32_t noted;

static void note_and_receive(void)
{
	noted = pb_mmio_read32(SYSTICK_VALUE);
	receive();
}

static void receive_nothing(void)
{
}

void pb_bench_board_interrupt_empty(void)
{
	void (*const real)(void) = receive;

	receive = receive_nothing;
	note_and_receive();
	receive = real;
}

/** Between two polls the emulator's other threads get its lock, which each access of a device holds. */
static void pause(void)
{
	for (uint32_t i = 0; i < PAUSE_ROUNDS; i++)
		__asm__ volatile("nop");
}

static bool has_received(void)
{
	return (pb_mmio_read32(pb_bench_cmsdk.uart + UART_STATE) & STATE_RECEIVED) != 0;
}

/**
 * Waits until what the firmware's UART sends arrives here: the emulator connects the two while the image runs already,
 * and drops what is sent before.
 */
static void connect(void)
{
	uint32_t sent = 0, received = 0;

	do {
		pb_mmio_write32(pb_cmsdk.uart + UART_DATA, ++sent & 0xffu);
		for (uint32_t i = 0; i < CONNECT_PAUSES && !has_received(); i++)
			pause();
	} while (!has_received());
	while (received != (sent & 0xffu)) {
		while (!has_received())
			pause();
		received = pb_mmio_read32(pb_bench_cmsdk.uart + UART_DATA);
	}
}

void pb_bench_board_start(void)
{
	const void *table = (const void *)(uintptr_t)pb_mmio_read32(VECTOR_TABLE_OFFSET);

	/* The bench copies the vectors and has devices that the board does not list. */
	pb_mmio_write32(MPU_CONTROL, 0);
	/* No tick: the counter uses SysTick, and no interrupt must come in between. */
	pb_mmio_write32(SYSTICK_RELOAD, SYSTICK_MASK);
	pb_mmio_write32(SYSTICK_VALUE, 0);
	pb_mmio_write32(SYSTICK_CONTROL, 5u);
	memcpy(&vectors, table, sizeof(vectors));
	receive = vectors.interrupts[pb_bench_cmsdk.receive_interrupt];
	vectors.interrupts[pb_bench_cmsdk.receive_interrupt] = note_and_receive;
	if (pb_bench_cmsdk.alarm != NULL)
		vectors.interrupts[pb_bench_cmsdk.alarm_interrupt] = pb_bench_cmsdk.alarm;
	pb_mmio_write32(VECTOR_TABLE_OFFSET, (uint32_t)(uintptr_t)&vectors);
	pb_mmio_write32(pb_bench_cmsdk.uart + UART_BAUD_DIVIDER, 16u);
	pb_mmio_write32(pb_bench_cmsdk.uart + UART_CONTROL, CONTROL_BOTH);
	connect();
}

void pb_bench_board_send(uint32_t line)
{
	while ((pb_mmio_read32(pb_bench_cmsdk.uart + UART_STATE) & STATE_TRANSMIT_FULL) != 0)
		continue;
	pb_mmio_write32(pb_bench_cmsdk.uart + UART_DATA, line);
}

void pb_bench_board_receive(void)
{
	while (!has_received())
		pause();
	(void)pb_mmio_read32(pb_bench_cmsdk.uart + UART_DATA);
}

uint32_t pb_bench_board_counter(void)
{
	return pb_mmio_read32(SYSTICK_VALUE);
}

uint32_t pb_bench_board_interrupt(void)
{
	return noted;
}

uint32_t pb_bench_board_instructions_milli(uint32_t from, uint32_t to)
{
	const uint64_t ticks = (from - to) & SYSTICK_MASK;

	return (uint32_t)(ticks * 1000000u / (PB_BENCH_INSTRUCTION_NS * pb_bench_cmsdk.megahertz));
}
