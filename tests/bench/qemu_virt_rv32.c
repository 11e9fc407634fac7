/* SPDX-License-Identifier: MIT */
/*
 * QEMU's virt machine runs with -icount shift=0: minstret counts instructions, and one takes a nanosecond of
 * the timer. The UART is in loopback while the bench sends.
 */
#include "hal/mmio.h"
#include "tests/bench/bench_board.h"

#define UART               0x10000000u
#define UART_DATA          0u
#define UART_MODEM_CONTROL 4u
#define MODEM_LOOP         0x10u

#define CLINT_COMPARE_LOW  0x02004000u
#define CLINT_COMPARE_HIGH 0x02004004u
#define CLINT_TIME_LOW     0x0200bff8u
#define CLINT_TIME_HIGH    0x0200bffcu

/**
 * Units of the timer, 100 instructions each, between two alarms, and the increment of the first delay:
 * primes, so that alarms come at all points.
 */
#define ALARM_PERIOD 17u
#define ALARM_STEP   7u

extern uint32_t pb_bench_noted;
uint32_t pb_bench_noted;
static uint32_t alarmed;
static uint32_t alarms; /**< not yet reported; written by the interrupt */

extern const uint32_t pb_bench_traps[];
void pb_bench_note_nothing(void);
void pb_bench_ring_alarm(void);

/*
 * The board's trap table with a read of the counter before the handler of the UART, and alarms for the tick.
 * What the read itself costs after the counter is the same in pb_bench_note_nothing.
 */
__asm__(".macro note\n"
	"	addi sp, sp, -16\n"
	"	sw t0, 0(sp)\n"
	"	sw t1, 4(sp)\n"
	"	csrr t0, minstret\n"
	"	lla t1, pb_bench_noted\n"
	"	sw t0, 0(t1)\n"
	"	lw t1, 4(sp)\n"
	"	lw t0, 0(sp)\n"
	"	addi sp, sp, 16\n"
	".endm\n"
	".text\n"
	".option push\n"
	".option norvc\n"
	".balign 64\n"
	"pb_bench_traps:\n"
	"	.rept 7\n"
	"	j pb_riscv_fault\n"
	"	.endr\n"
	"	j pb_bench_ring_alarm\n"
	"	.rept 3\n"
	"	j pb_riscv_fault\n"
	"	.endr\n"
	"	note\n"
	"	j pb_riscv_external\n"
	".option pop\n"
	".type pb_bench_note_nothing, @function\n"
	"pb_bench_note_nothing:\n"
	"	note\n"
	"	ret\n");

void pb_bench_board_interrupt_empty(void)
{
	pb_bench_note_nothing();
}

static uint64_t time_now(void)
{
	uint32_t high, low;

	do {
		high = pb_mmio_read32(CLINT_TIME_HIGH);
		low = pb_mmio_read32(CLINT_TIME_LOW);
	} while (pb_mmio_read32(CLINT_TIME_HIGH) != high);
	return (uint64_t)high << 32 | low;
}

static void ask_alarm(uint64_t time)
{
	pb_mmio_write32(CLINT_COMPARE_LOW, UINT32_MAX);
	pb_mmio_write32(CLINT_COMPARE_HIGH, (uint32_t)(time >> 32));
	pb_mmio_write32(CLINT_COMPARE_LOW, (uint32_t)time);
}

__attribute__((interrupt("machine"), used)) void pb_bench_ring_alarm(void)
{
	const uint32_t now = pb_bench_board_counter();

	ask_alarm(time_now() + ALARM_PERIOD);
	if (alarms != 0)
		return;
	alarmed = now;
	alarms = 1;
}

const uint32_t *pb_bench_board_alarms(void)
{
	return &alarms;
}

void pb_bench_board_alarm_start(void)
{
	static uint32_t first;

	first = (first + ALARM_STEP) % ALARM_PERIOD;
	ask_alarm(time_now() + first + 1u);
}

void pb_bench_board_alarm_stop(void)
{
	ask_alarm(UINT64_MAX);
}

bool pb_bench_board_alarm_rang(uint32_t *counter)
{
	const uint32_t rang = __atomic_exchange_n(&alarms, 0, __ATOMIC_RELAXED);

	*counter = alarmed;
	return rang != 0;
}

void pb_bench_board_start(void)
{
	/* No tick: no interrupt must come in between. */
	pb_bench_board_alarm_stop();
	__asm__ volatile("csrw mtvec, %0" ::"r"((uintptr_t)pb_bench_traps | 1u) : "memory");
}

void pb_bench_board_send(uint32_t line)
{
	pb_mmio_write8(UART + UART_MODEM_CONTROL, MODEM_LOOP);
	pb_mmio_write8(UART + UART_DATA, (uint8_t)line);
	pb_mmio_write8(UART + UART_MODEM_CONTROL, 0);
}

void pb_bench_board_receive(void)
{
	/* The UART's output goes nowhere: it never fills up. */
}

uint32_t pb_bench_board_counter(void)
{
	uint32_t counter;

	__asm__ volatile("csrr %0, minstret" : "=r"(counter)::"memory");
	return counter;
}

uint32_t pb_bench_board_interrupt(void)
{
	return pb_bench_noted;
}

uint32_t pb_bench_board_instructions_milli(uint32_t from, uint32_t to)
{
	return (to - from) * 1000u;
}
