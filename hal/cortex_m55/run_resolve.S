/* SPDX-License-Identifier: MIT */
/*
 * firmware/prepare/run_resolve.c for Cortex-M55: four allocations at once, 26 instructions a group. The rest of a slice
 * behind a group that is not ordinary is done one by one, as in run_list_64.S.
 *
 *   r0        the next allocation, at the start and the end of a slice
 *   r1        groups in the slice; lr: those that are left
 *   r2        the job's next slot; r3: its next id
 *   r5, r6    the window's flags, os_high
 *   r7        its os_end, plus 1
 *   r8        its bytes, inverted
 *   r9        its gpu_delta
 *   r10       its writable, as 0 or 1
 *   q0        one group before the allocations at hand
 *   q5        the window's gpu_high, in each lane
 */
#include "hal/cortex_m/loops.h"

	.syntax unified
	.arch armv8.1-m.main
	.arch_extension mve
	.thumb

#define LANES 4
#define GROUP (LANES * PB_LOOPS_ALLOCATION)
#define SLICE (PB_LOOPS_SLICE_ALLOCATIONS * PB_LOOPS_ALLOCATION)
#define ADDRESS_LOW  0
#define ADDRESS_HIGH 4
#define SIZE_LOW     8
#define SIZE_HIGH    12
#define FLAGS        16
#define ID           20
	.if PB_LOOPS_SLICE_ALLOCATIONS % LANES
	.error "only the last slice of a list has a rest"
	.endif

/* On the stack. */
#define SLICE_END 0
#define LAST      4 /* the list's end */
#define PENDING   8 /* and STOP, for one load of both */
#define STOP      12 /* a slice that starts further on is not full */
#define GPU_HIGH  16
#define JOB       20
#define FRAME     28
#define IRREGULAR (FRAME + 40) /* the caller's fifth argument */

	.section .text.pb_core_run_resolve, "ax", %progbits
	.p2align 2
lanes:
	.word	0 - GROUP, PB_LOOPS_ALLOCATION - GROUP, 2 * PB_LOOPS_ALLOCATION - GROUP, 3 * PB_LOOPS_ALLOCATION - GROUP
	.global	pb_core_run_resolve
	.type	pb_core_run_resolve, %function
pb_core_run_resolve:
	push	{r3-r11, lr}
	sub	sp, sp, #FRAME
	str	r0, [sp, #JOB]
	str	r3, [sp, #PENDING]
	mov	r12, r0
	ldr	r4, [r12, #PB_LOOPS_JOB_ALLOCATIONS]
	add	r2, r2, r2, lsl #1
	add	r2, r4, r2, lsl #3
	str	r2, [sp, #LAST]
	sub	r2, r2, #SLICE
	str	r2, [sp, #STOP]
	ldr	r11, [r12, #PB_LOOPS_JOB_RESOLVED]
	add	r0, r11, r11, lsl #1
	add	r0, r4, r0, lsl #3
	add	r2, r12, #PB_LOOPS_JOB_SLOTS
	add	r3, r2, #PB_LOOPS_SLOTS_TO_IDS
	add	r2, r2, r11, lsl #PB_LOOPS_SLOT_SHIFT
	add	r3, r3, r11, lsl #2
	ldmia	r1, {r5-r11}		/* flags, os_high, os_end, bytes, gpu_delta, gpu_high, writable */
	adds	r7, r7, #1
	mvns	r8, r8
	str	r10, [sp, #GPU_HIGH]
	vdup.32	q5, r10
	and	r10, r11, #1

slice:
	adr	r4, lanes
	vldrw.u32	q0, [r4]
	vadd.i32	q0, q0, r0
	ldr	r12, [sp, #STOP]
	cmp	r0, r12
	bhi	last_slice
	movs	r1, #(SLICE / GROUP)
groups:
	dls	lr, r1
group:
	vldrw.u32	q1, [q0, #(GROUP + FLAGS)]
	vldrw.u32	q2, [q0, #(GROUP + ADDRESS_HIGH)]
	vldrw.u32	q3, [q0, #(GROUP + SIZE_HIGH)]
	vldrw.u32	q6, [q0, #(GROUP + SIZE_LOW)]
	vldrw.u32	q4, [q0, #GROUP]!	/* address_low */
	vptttt.i32	eq, q1, r5
	vcmpt.i32	eq, q2, r6
	vcmpt.i32	eq, q3, zr
	vsubt.i32	q2, q4, r7	/* inverted: the room from there to the segment's end */
	vnegt.s32	q3, q6		/* inverted: the size less 1 */
	vpstt
	vcmpt.u32	cs, q2, r8
	vcmpt.u32	hi, q3, q2
	vpnot
	vmrs	r4, p0
	cbnz	r4, other
	vldrw.u32	q1, [q0, #ID]
	vadd.i32	q4, q4, r9
	vmul.i32	q7, q6, r10
	vst40.32	{q4, q5, q6, q7}, [r2]
	vst41.32	{q4, q5, q6, q7}, [r2]
	vst42.32	{q4, q5, q6, q7}, [r2]
	vst43.32	{q4, q5, q6, q7}, [r2]!
	vstrw.32	q1, [r3], #16
	le	lr, group

	cmp	r1, #(SLICE / GROUP)
	bne	end_of_groups
	add	r0, r0, #SLICE
	ldrd	r4, r12, [sp, #PENDING]
	ldr	r4, [r4]
	cbnz	r4, done
	cmp	r0, r12
	bls	groups
last_slice:
	ldr	r12, [sp, #LAST]
	subs	r4, r12, r0
	beq	done
	movs	r1, #GROUP
	udiv	r1, r4, r1
	cmp	r1, #0
	bne	groups
	b	rest_of_slice
done:
	movs	r0, #0
	b	leave

other:
	sub	r1, r1, lr		/* groups that are resolved */
end_of_groups:
	add	r12, r0, #SLICE
	movs	r4, #GROUP
	mla	r0, r1, r4, r0
	ldr	r4, [sp, #LAST]
	cmp	r12, r4
	it	hi
	movhi	r12, r4
	cmp	r0, r12
	beq	slice_done
rest_of_slice:
	str	r12, [sp, #SLICE_END]
rest:
	ldr	r1, [r0]
	ldrd	r4, r11, [r0, #SIZE_LOW]
	ldr	r12, [r0, #FLAGS]
	ldr	lr, [r0, #ADDRESS_HIGH]
	cmp	r12, r5
	bne	irregular
	cmp	lr, r6
	bne	irregular
	cmp	r11, #0
	bne	irregular
	sub	r11, r1, r7
	cmp	r11, r8
	blo	irregular_room
	negs	r12, r4
	cmp	r12, r11
	bls	irregular_room
	add	r1, r1, r9
	mul	r12, r4, r10
	ldr	lr, [sp, #GPU_HIGH]
	stmia	r2!, {r1, lr}
	stmia	r2!, {r4, r12}
	ldr	r1, [r0, #ID]
	str	r1, [r3], #4
	adds	r0, #PB_LOOPS_ALLOCATION
	ldr	r12, [sp, #SLICE_END]
	cmp	r0, r12
	bne	rest
slice_done:
	ldr	r4, [sp, #LAST]
	cmp	r0, r4
	beq	done
	ldr	r4, [sp, #PENDING]
	ldr	r4, [r4]
	cmp	r4, #0
	beq	slice
	b	done

irregular_room:
	mov	r12, r5
	movs	r11, #0
irregular:
	ldr	r10, [sp, #IRREGULAR]
	strd	r1, lr, [r10, #ADDRESS_LOW]
	strd	r4, r11, [r10, #SIZE_LOW]
	ldr	r1, [r0, #ID]
	strd	r12, r1, [r10, #FLAGS]
	movs	r0, #1
leave:
	ldr	r1, [sp, #JOB]
	add	r3, r1, #PB_LOOPS_JOB_SLOTS
	sub	r2, r2, r3
	lsr	r2, r2, #PB_LOOPS_SLOT_SHIFT
	str	r2, [r1, #PB_LOOPS_JOB_RESOLVED]
	add	sp, sp, #(FRAME + 4)
	pop	{r4-r11, pc}
	.size	pb_core_run_resolve, . - pb_core_run_resolve
