/* SPDX-License-Identifier: MIT */
/*
 * firmware/prepare/run_resolve.c for Cortex-M7: 16 instructions an allocation.
 *
 * The checks hang on the flags, as in run_list_64.S: LS while all is well.
 *
 *   r0        behind the allocation at hand
 *   r1 - r6   its words; of address_low the room from there to the segment's
 *             end, of size_low one less
 *   r7        low word of the OS address behind the segment
 *   r8        of the GPU address there
 *   r9        the window's flags, times 2, plus 1: shifted back they set the
 *             carry; the top bit is lost, which only a closed window has, and
 *             that has no bytes, so that all trip
 *   r10       the window's os_high
 *   r11       its bytes
 *   r12       the next slot
 *   lr        the next id
 */
#include "hal/cortex_m/loops.h"

	.syntax unified
	.thumb

#define SLICE (PB_LOOPS_SLICE_ALLOCATIONS * PB_LOOPS_ALLOCATION)

/* On the stack. */
#define GPU_HIGH 0
#define WRITABLE 4  /* behind it, for one load of both */
#define LAST     8  /* the list's end */
#define JOB      12
#define PENDING  16
#define STOP     20 /* a slice that starts further on is not full */
#define FRAME    24
#define IRREGULAR  (FRAME + 40) /* the caller's fifth argument */

.macro allocation
	ldmia	r0!, {r1-r6}
	sub	r1, r7, r1
	sub	r3, r3, #1
	teq	r5, r9, lsr #1		/* C is set */
	itttt	ls
	teqls	r2, r10			/* C stays */
	cmpls	r4, #0
	cmpls	r1, r11
	cmpls	r3, r1
	bhs	irregular
	sub	r1, r8, r1
	ldrd	r2, r4, [sp, #GPU_HIGH]
	add	r3, r3, #1
	and	r4, r4, r3
	stmia	r12!, {r1-r4}
	str	r6, [lr], #4
.endm

	.section .text.pb_core_run_resolve, "ax", %progbits
	.global	pb_core_run_resolve
	.type	pb_core_run_resolve, %function
	.p2align 2
pb_core_run_resolve:
	push	{r3-r11, lr}
	sub	sp, sp, #FRAME
	str	r0, [sp, #JOB]
	ldr	r4, [r0, #PB_LOOPS_JOB_ALLOCATIONS]
	add	r2, r2, r2, lsl #1
	add	r2, r4, r2, lsl #3
	str	r2, [sp, #LAST]
	sub	r2, r2, #SLICE
	strd	r3, r2, [sp, #PENDING]
	ldr	r5, [r0, #PB_LOOPS_JOB_RESOLVED]
	add	r12, r0, #PB_LOOPS_JOB_SLOTS
	add	lr, r12, #PB_LOOPS_SLOTS_TO_IDS
	add	r12, r12, r5, lsl #PB_LOOPS_SLOT_SHIFT
	add	lr, lr, r5, lsl #2
	add	r5, r5, r5, lsl #1
	add	r0, r4, r5, lsl #3
	ldmia	r1, {r4-r10}		/* flags, os_high, os_end, bytes, gpu_delta, gpu_high, writable */
	strd	r9, r10, [sp, #GPU_HIGH]
	mov	r10, r5
	mov	r11, r7
	mov	r7, r6
	add	r8, r8, r6
	lsl	r9, r4, #1
	orr	r9, r9, #1
	ldr	r1, [sp, #STOP]
	cmp	r0, r1
	bhi	last_slice

full_slice:
	.rept	PB_LOOPS_SLICE_ALLOCATIONS
	allocation
	.endr
	ldrd	r1, r2, [sp, #PENDING]
	ldr	r1, [r1]
	cbnz	r1, done
	cmp	r0, r2
	bls	full_slice
last_slice:
	ldr	r1, [sp, #LAST]
	cmp	r0, r1
	beq	done
rest:
	allocation
	ldr	r1, [sp, #LAST]
	cmp	r0, r1
	bne	rest
done:
	movs	r0, #0
	b	leave
irregular:
	sub	r1, r7, r1
	add	r3, r3, #1
	ldr	r0, [sp, #IRREGULAR]
	stmia	r0!, {r1-r6}
	movs	r0, #1
leave:
	ldr	r1, [sp, #JOB]
	add	r2, r1, #PB_LOOPS_JOB_SLOTS
	sub	r2, r12, r2
	lsr	r2, r2, #PB_LOOPS_SLOT_SHIFT
	str	r2, [r1, #PB_LOOPS_JOB_RESOLVED]
	add	sp, sp, #(FRAME + 4)
	pop	{r4-r11, pc}
	.size	pb_core_run_resolve, . - pb_core_run_resolve
