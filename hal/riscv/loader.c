/* SPDX-License-Identifier: MIT */
#include "hal/start_image.h"

_Static_assert(PB_START_IMAGE_TOKEN == 0x99aacccfu, "the token below");

/*
 * A boot loader's first instructions and its last ones. It starts in machine mode, with a table of traps that has one entry:
 * every trap stops the CPU, but for the call from user mode (mcause 8) by which an image is started.
 *
 * In assembly: nothing of the stack may be used once the image is there, and no compiler may merge the two comparisons of
 * the token. Physical memory protection is off when the image starts, as after a reset. References: The RISC-V Instruction
 * Set Manual, volume II, version 20211203, sections 3.1.7 (mtvec), 3.1.15 (mcause) and 3.4 (reset).
 */
__asm__(".section .vectors, \"ax\", @progbits\n"
	".global pb_riscv_reset\n"
	".type pb_riscv_reset, @function\n"
	"pb_riscv_reset:\n"
	"	csrci mstatus, 8\n"
	"	csrw mie, zero\n"
	"	.option push\n"
	"	.option norelax\n" /* this is what the others are relaxed by */
	"	la gp, __global_pointer$\n"
	"	.option pop\n"
	"	la sp, pb_stack_top\n"
	"	la t0, pb_riscv_fault\n"
	"	csrw mtvec, t0\n"
	"	tail pb_start\n"
	"	j .\n"
	".section .text.pb_hal_start_image, \"ax\", @progbits\n"
	"	j .\n" /* whoever runs into this function stops here */
	"	j .\n"
	".global pb_hal_start_image\n"
	".type pb_hal_start_image, @function\n"
	"pb_hal_start_image:\n"
	"	ecall\n"
	"	j .\n"
	"	j .\n"
	".size pb_hal_start_image, . - pb_hal_start_image\n"
	".section .text.pb_riscv_fault, \"ax\", @progbits\n"
	".balign 4\n"
	".global pb_riscv_fault\n"
	".type pb_riscv_fault, @function\n"
	"pb_riscv_fault:\n"
	"	csrr t0, mcause\n"
	"	li t1, 8\n"
	"	bne t0, t1, .Lstop\n"
	"	li t1, 0x99aacccf\n"
	"	bne a3, t1, .Lstop\n"
	"	not t2, a3\n"
	"	not t1, t1\n"
	"	bne t2, t1, .Lstop\n"
	"	la t0, .Lstop\n" /* a fault from here on stops, too */
	"	csrw mtvec, t0\n"
	"	mv t0, a0\n"
	".Lcopy:\n"
	"	lw t1, 0(a1)\n"
	"	sw t1, 0(t0)\n"
	"	addi a1, a1, 4\n"
	"	addi t0, t0, 4\n"
	"	addi a2, a2, -1\n"
	"	bnez a2, .Lcopy\n"
	"	csrw pmpcfg0, zero\n"
#if __riscv_xlen == 32
	"	csrw pmpcfg1, zero\n"
#endif
	"	csrw pmpaddr0, zero\n"
	"	csrw pmpaddr1, zero\n"
	"	csrw pmpaddr2, zero\n"
	"	csrw pmpaddr3, zero\n"
	"	csrw pmpaddr4, zero\n"
	"	csrw pmpaddr5, zero\n"
	"	csrw pmpaddr6, zero\n"
	"	csrw pmpaddr7, zero\n"
	"	fence\n"
	"	fence.i\n"
	"	jr a0\n"
	".balign 4\n"
	".Lstop:\n"
	"	wfi\n"
	"	j .Lstop\n"
	"	j .Lstop\n"
	".size pb_riscv_fault, . - pb_riscv_fault\n"
	".text\n");
