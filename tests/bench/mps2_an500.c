/* SPDX-License-Identifier: MIT */
/*
 * QEMU's mps2-an500 runs with -icount shift=10: an instruction takes 1024 ns, which is 25.6 ticks of SysTick
 * at 25 MHz, so the difference of two readings gives the number of instructions exactly. UART 1's output is
 * connected to UART 0's input outside, and UART 0's output to UART 1's input.
 */
#include <string.h>

#include "hal/cortex_m/cortex_m.h"
#include "hal/mmio.h"
#include "tests/bench/bench_board.h"

#define UART1               0x40005000u
#define UART_DATA           0x00u
#define UART_STATE          0x04u
#define UART_CONTROL        0x08u
#define UART_BAUD_DIVIDER   0x10u
#define STATE_TRANSMIT_FULL 1u
#define STATE_RECEIVED      2u
#define CONTROL_BOTH        3u /* transmitter and receiver, without interrupts */

#define PAUSE_ROUNDS 5000u /* some microseconds of the emulator's host */

#define TIMER0           0x40000000u
#define TIMER0_INTERRUPT 8u
#define TIMER_CONTROL    0x00u
#define TIMER_VALUE      0x04u
#define TIMER_RELOAD     0x08u
#define TIMER_CLEAR      0x0cu
#define TIMER_ENABLED    9u /* with its interrupt */

/**
 * Instructions between two alarms, and the increment of the first delay: primes, so that alarms come at all
 * points.
 */
#define ALARM_INSTRUCTIONS 1777u
#define ALARM_STEP         691u

#define VECTOR_TABLE_OFFSET 0xe000ed08u
#define MPU_CONTROL         0xe000ed94u
#define SYSTICK_CONTROL     0xe000e010u
#define SYSTICK_RELOAD      0xe000e014u
#define SYSTICK_VALUE       0xe000e018u
#define SYSTICK_MASK        0x00ffffffu

static struct pb_cortex_m_vectors vectors __attribute__((aligned(256)));
static pb_cortex_m_handler receive;
static uint32_t noted;
static uint32_t alarmed;
static uint32_t alarms; /**< not yet reported; written by the interrupt */

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

static void ring_alarm(void)
{
	const uint32_t now = pb_mmio_read32(SYSTICK_VALUE);

	pb_mmio_write32(TIMER0 + TIMER_CLEAR, 1u);
	if (alarms != 0)
		return;
	alarmed = now;
	alarms = 1;
}

static uint32_t ticks(uint32_t instructions)
{
	return instructions * 256u / 10u;
}

const uint32_t *pb_bench_board_alarms(void)
{
	return &alarms;
}

void pb_bench_board_alarm_start(void)
{
	static uint32_t first;

	first = (first + ALARM_STEP) % ALARM_INSTRUCTIONS;
	pb_cortex_m_interrupt_enable(TIMER0_INTERRUPT);
	pb_mmio_write32(TIMER0 + TIMER_RELOAD, ticks(ALARM_INSTRUCTIONS));
	pb_mmio_write32(TIMER0 + TIMER_VALUE, ticks(first + 1u));
	pb_mmio_write32(TIMER0 + TIMER_CONTROL, TIMER_ENABLED);
}

void pb_bench_board_alarm_stop(void)
{
	pb_mmio_write32(TIMER0 + TIMER_CONTROL, 0);
}

bool pb_bench_board_alarm_rang(uint32_t *counter)
{
	const uint32_t rang = __atomic_exchange_n(&alarms, 0, __ATOMIC_RELAXED);

	*counter = alarmed;
	return rang != 0;
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
	receive = vectors.interrupts[0];
	vectors.interrupts[0] = note_and_receive;
	vectors.interrupts[TIMER0_INTERRUPT] = ring_alarm;
	pb_mmio_write32(VECTOR_TABLE_OFFSET, (uint32_t)(uintptr_t)&vectors);
	pb_mmio_write32(UART1 + UART_BAUD_DIVIDER, 16u);
	pb_mmio_write32(UART1 + UART_CONTROL, CONTROL_BOTH);
}

void pb_bench_board_send(uint32_t line)
{
	while ((pb_mmio_read32(UART1 + UART_STATE) & STATE_TRANSMIT_FULL) != 0)
		continue;
	pb_mmio_write32(UART1 + UART_DATA, line);
}

/** Between two polls the emulator's other threads get its lock, which each access of a device holds. */
static void pause(void)
{
	for (uint32_t i = 0; i < PAUSE_ROUNDS; i++)
		__asm__ volatile("nop");
}

void pb_bench_board_receive(void)
{
	while ((pb_mmio_read32(UART1 + UART_STATE) & STATE_RECEIVED) == 0)
		pause();
	(void)pb_mmio_read32(UART1 + UART_DATA);
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

	return (uint32_t)(ticks * 10000u / 256u);
}
