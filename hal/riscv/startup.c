/* SPDX-License-Identifier: MIT */
#include "hal/cpu.h"
#include "hal/halt.h"
#include "hal/riscv/riscv.h"
#include "hal/start.h"

#define INTERRUPT_TIMER    (1u << 7)
#define INTERRUPT_EXTERNAL (1u << 11)

/*
 * Where the hart starts, and the table of its traps: an interrupt enters it at
 * its number, all exceptions at 0.
 */
__asm__(".section .vectors, \"ax\", @progbits\n"
	".option push\n"
	".option norvc\n"
	".global pb_riscv_reset\n"
	".type pb_riscv_reset, @function\n"
	"pb_riscv_reset:\n"
	"	csrci mstatus, 8\n"
	"	.option push\n"
	"	.option norelax\n" /* this is what the others are relaxed by */
	"	la gp, __global_pointer$\n"
	"	.option pop\n"
	"	la sp, pb_stack_top\n"
	"	la t0, traps\n"
	"	ori t0, t0, 1\n"
	"	csrw mtvec, t0\n"
	"	j pb_riscv_start\n"
	"	.balign 64\n"
	"traps:\n"
	"	.rept 7\n"
	"	j pb_riscv_fault\n"
	"	.endr\n"
	"	j pb_riscv_timer\n"
	"	.rept 3\n"
	"	j pb_riscv_fault\n"
	"	.endr\n"
	"	j pb_riscv_external\n"
	".option pop\n"
	".text\n");

_Noreturn void pb_riscv_start(void);

/** The rest of the reset, in C. */
_Noreturn __attribute__((used)) void pb_riscv_start(void)
{
	pb_riscv_guard_stack();
	pb_start();
}

void pb_hal_fault(void)
{
	__asm__ volatile("unimp" ::: "memory");
}

void pb_riscv_interrupts_enable(void)
{
	__asm__ volatile("csrs mie, %0" ::"r"(INTERRUPT_TIMER | INTERRUPT_EXTERNAL) : "memory");
	pb_cpu_unmask_interrupts();
}
