/* SPDX-License-Identifier: MIT */
/*
 * firmware/patch/run_list_64.c for Cortex-M55: four entries at once, 30 instructions a group.
 *
 * A group is written if all of its entries pass all checks, and if each place is at least two words behind the place
 * before it: then no entry writes to a word of another, and all low words may be stored before all high ones. The rest
 * of a slice behind any other group is done entry by entry. The words of such a group are read again there; what was
 * read first is not used.
 *
 *   r0        the group at hand, at the start and the end of a slice
 *   r2        groups in the slice; lr: those that are left
 *   r3        the place before the group
 *   r5, r6    numbers to compare with: the format; the least distance
 *   r7        PatchOffset of the submission's byte 0
 *   r8 - r10  slots: low words, high words, limits
 *   r11, r12  the submission: words 0 and 1
 *   q0        one group before the entries at hand
 *   q7        number of places, in each lane
 */
#include "hal/cortex_m/loops.h"

	.syntax unified
	.arch armv8.1-m.main
	.arch_extension mve
	.thumb

#define LANES 4
#define GROUP (LANES * PB_LOOPS_ENTRY)
#define SLICE (PB_LOOPS_SLICE_PATCHES * PB_LOOPS_ENTRY)
#define INDEX            0
#define SLOT             4
#define DRIVER           8
#define ALLOCATION       12
#define PATCH            16
#define APART            2 /* places that an address takes */
	.if PB_LOOPS_SLICE_PATCHES % LANES
	.error "only the last slice of a list has a rest"
	.endif

/* On the stack. */
#define PLACES  0
#define SLICE_END 4
#define PASS    8
#define PENDING 12
#define END     16
#define FRAME   24
#define CURSOR  24

	.section .text.pb_core_run_list_64, "ax", %progbits
	.p2align 2
lanes:
	.word	0 - GROUP, PB_LOOPS_ENTRY - GROUP, 2 * PB_LOOPS_ENTRY - GROUP, 3 * PB_LOOPS_ENTRY - GROUP
	.global	pb_core_run_list_64
	.type	pb_core_run_list_64, %function
pb_core_run_list_64:
	push	{r0, r4-r11, lr}
	sub	sp, sp, #FRAME
	ldr	r1, [r0, #PB_LOOPS_CURSOR_PASS]
	str	r1, [sp, #PASS]
	ldr	r1, [r0, #PB_LOOPS_CURSOR_END]
	str	r1, [sp, #END]
	ldr	r1, [r0, #PB_LOOPS_CURSOR_PENDING]
	str	r1, [sp, #PENDING]
	ldr	r1, [r0, #PB_LOOPS_CURSOR_WIDE_PLACES]
	str	r1, [sp, #PLACES]
	vdup.32	q7, r1
	ldr	r8, [r0, #PB_LOOPS_CURSOR_SLOTS]
	add	r9, r8, #4
	add	r10, r8, #8
	ldr	r11, [r0, #PB_LOOPS_CURSOR_ORIGIN]
	ldr	r7, [r0, #PB_LOOPS_CURSOR_START]
	add	r11, r11, r7
	add	r12, r11, #4
	ldr	r0, [r0, #PB_LOOPS_CURSOR_WORDS]

slice:
	ldr	r1, [sp, #END]
	subs	r4, r1, r0
	beq	slice_done
	cmp	r4, #SLICE
	itt	hi
	movhi	r4, #SLICE
	addhi	r1, r0, #SLICE
	str	r1, [sp, #SLICE_END]
	movs	r2, #GROUP
	udiv	r2, r4, r2
	cmp	r2, #0
	beq	rest
	adr	r1, lanes
	vldrw.u32	q0, [r1]
	vadd.i32	q0, q0, r0
	movs	r5, #PB_LOOPS_FORMAT
	movs	r6, #APART
	mvn	r3, #(APART - 1)	/* -APART: any place is far enough from it */
	dls	lr, r2
group:
	vldrw.u32	q2, [q0, #(GROUP + SLOT)]
	vldrw.u32	q3, [q0, #(GROUP + DRIVER)]
	vldrw.u32	q4, [q0, #(GROUP + PATCH)]
	vldrw.u32	q5, [q0, #(GROUP + ALLOCATION)]
	vldrw.u32	q1, [q0, #GROUP]!
	vshr.u32	q2, q2, #(PB_LOOPS_RESERVED_SHIFT - PB_LOOPS_INDEX_BITS)
	vorr	q2, q2, q1		/* Reserved onto the bits above an index */
	vshr.u32	q2, q2, #PB_LOOPS_INDEX_BITS
	vsub.i32	q4, q4, r7
	vshl.i32	q6, q4, #30	/* of a place that is not aligned: too large */
	vsri.32	q6, q4, #2
	vmov	q4, q6
	vshlc	q4, r3, #32		/* the place before each lane's */
	vsub.i32	q4, q6, q4
	vshl.i32	q1, q1, #PB_LOOPS_SLOT_SHIFT
	vptttt.i32	eq, q3, r5
	vcmpt.i32	eq, q2, zr
	vcmpt.u32	hi, q7, q6
	vcmpt.s32	ge, q4, r6
	vldrwt.u32	q2, [r10, q1]
	vpst
	vcmpt.u32	hi, q2, q5
	vpnot
	vmrs	r4, p0
	cbnz	r4, other
	vldrw.u32	q2, [r8, q1]
	vldrw.u32	q3, [r9, q1]
	vadd.i32	q2, q2, q5
	vstrw.32	q2, [r11, q6, uxtw #2]
	vstrw.32	q3, [r12, q6, uxtw #2]
	le	lr, group

	movs	r1, #GROUP
	mla	r0, r2, r1, r0
	ldr	r1, [sp, #SLICE_END]
	cmp	r0, r1
	bne	rest
slice_done:
	ldr	r1, [sp, #PASS]
	cmp	r0, r1
	bhs	done
	ldr	r1, [sp, #PENDING]
	ldr	r1, [r1]
	cmp	r1, #0
	beq	slice
done:
	ldr	r12, [sp, #CURSOR]
	str	r0, [r12, #PB_LOOPS_CURSOR_WORDS]
	movs	r0, #PB_LOOPS_DONE
	add	sp, sp, #(FRAME + 4)
	pop	{r4-r11, pc}

other:
	subs	r2, r2, lr		/* groups that are written */
	movs	r1, #GROUP
	mla	r0, r2, r1, r0
rest:
	ldmia	r0!, {r1-r5}		/* AllocationIndex, SlotId and Reserved, DriverId, AllocationOffset, PatchOffset */
	adds	r0, #4			/* SplitOffset */
	cmp	r3, #PB_LOOPS_FORMAT
	bne	irregular
	orr	r6, r1, r2, lsr #(PB_LOOPS_RESERVED_SHIFT - PB_LOOPS_INDEX_BITS)
	lsrs	r6, r6, #PB_LOOPS_INDEX_BITS
	bne	irregular
	sub	lr, r5, r7
	ror	lr, lr, #2
	ldr	r6, [sp, #PLACES]
	cmp	lr, r6
	bhs	irregular
	add	r6, r8, r1, lsl #PB_LOOPS_SLOT_SHIFT
	ldr	r12, [r6, #8]
	cmp	r4, r12
	bhs	irregular
	ldrd	r1, r2, [r6]
	add	r1, r1, r4
	add	lr, r11, lr, lsl #2
	strd	r1, r2, [lr]
	ldr	r1, [sp, #SLICE_END]
	cmp	r0, r1
	bne	rest
	add	r12, r11, #4
	b	slice_done

irregular:
	ldr	r12, [sp, #CURSOR]
	ldr	r6, [sp, #SLICE_END]
	strd	r0, r6, [r12, #PB_LOOPS_CURSOR_WORDS]	/* and the slice */
	add	r12, r12, #PB_LOOPS_CURSOR_IRREGULAR
	stmia	r12, {r1-r5}
	movs	r0, #PB_LOOPS_IRREGULAR
	add	sp, sp, #(FRAME + 4)
	pop	{r4-r11, pc}
	.size	pb_core_run_list_64, . - pb_core_run_list_64
