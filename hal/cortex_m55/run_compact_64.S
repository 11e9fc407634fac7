/* SPDX-License-Identifier: MIT */
/*
 * firmware/patch/run_compact_64.c for Cortex-M55: four entries at once, 22 instructions a group. Groups are checked and
 * written as in run_list_64.S.
 *
 *   r0        the group at hand
 *   r1        behind the list's last whole entry
 *   r2        the slice's end; lr: groups that are left of it
 *   r3        the place before the group
 *   r5        where the submission starts, as an entry's first word has places
 *   r6        least distance of two places
 *   r7        where the pass ends
 *   r8 - r10  slots: low words, high words, limits
 *   r11, r12  the submission: words 0 and 1
 *   q7        number of places, as r5, in each lane
 */
#include "hal/cortex_m/loops.h"

	.syntax unified
	.arch armv8.1-m.main
	.arch_extension mve
	.thumb

#define LANES 4
#define GROUP (LANES * PB_LOOPS_SHORT)
#define SLICE (PB_LOOPS_SLICE_SHORT * PB_LOOPS_SHORT)
#define INDEX_SHIFT (32 - PB_LOOPS_INDEX_BITS)
#define APART 2 /* places that an address takes */
	.if PB_LOOPS_SLICE_SHORT % LANES
	.error "only the last slice of a list has a rest"
	.endif

/* On the stack. */
#define END     0
#define PLACES  4
#define PENDING 8
#define FRAME   16
#define CURSOR  16

	.section .text.pb_core_run_compact_64, "ax", %progbits
	.global	pb_core_run_compact_64
	.type	pb_core_run_compact_64, %function
	.p2align 2
pb_core_run_compact_64:
	push	{r0, r4-r11, lr}
	sub	sp, sp, #FRAME
	mov	r12, r0
	ldr	r0, [r12, #PB_LOOPS_CURSOR_WORDS]
	ldr	r1, [r12, #PB_LOOPS_CURSOR_END]
	subs	r1, r1, r0
	bic	r1, r1, #(PB_LOOPS_SHORT - 1)
	add	r1, r1, r0
	str	r1, [sp, #END]
	ldr	r1, [r12, #PB_LOOPS_CURSOR_PENDING]
	str	r1, [sp, #PENDING]
	ldr	r8, [r12, #PB_LOOPS_CURSOR_SLOTS]
	add	r9, r8, #4
	add	r10, r8, #8
	ldr	r11, [r12, #PB_LOOPS_CURSOR_ORIGIN]
	ldr	r5, [r12, #PB_LOOPS_CURSOR_START]
	add	r11, r11, r5
	/* Places that are there, and that a short entry may name. */
	ldr	r7, [r12, #PB_LOOPS_CURSOR_WIDE_PLACES]
	movw	r1, #(PB_LOOPS_SHORT_END & 0xffff)
	movt	r1, #(PB_LOOPS_SHORT_END >> 16)
	subs	r1, r1, r5
	it	lo
	movlo	r1, #0
	lsrs	r1, r1, #2
	cmp	r7, r1
	it	hi
	movhi	r7, r1
	lsl	r7, r7, #PB_LOOPS_INDEX_BITS
	lsl	r5, r5, #(PB_LOOPS_INDEX_BITS - 2)
	vdup.32	q7, r7
	str	r7, [sp, #PLACES]
	ldr	r7, [r12, #PB_LOOPS_CURSOR_PASS]
	movs	r6, #APART
	add	r12, r11, #4

	ldr	r1, [sp, #END]

slice:
	add	r2, r0, #SLICE
	movs	r4, #(SLICE / GROUP)
	cmp	r2, r1
	bhi	last_slice
groups:
	mvn	r3, #(APART - 1)	/* -APART: any place is far enough from it */
	dls	lr, r4
group:
	vld20.32	{q0, q1}, [r0]
	vld21.32	{q0, q1}, [r0]!
	vsub.i32	q2, q0, r5
	vshl.i32	q3, q0, #INDEX_SHIFT
	vshr.u32	q3, q3, #(INDEX_SHIFT - PB_LOOPS_SLOT_SHIFT)
	vshr.u32	q4, q2, #PB_LOOPS_INDEX_BITS
	vmov	q5, q4
	vshlc	q5, r3, #32		/* the place before each lane's */
	vsub.i32	q5, q4, q5
	vpttt.u32	hi, q7, q2
	vcmpt.s32	ge, q5, r6
	vldrwt.u32	q6, [r10, q3]
	vcmpt.u32	hi, q6, q1
	vpnot
	vmrs	r4, p0
	cbnz	r4, other
	vldrw.u32	q5, [r8, q3]
	vldrw.u32	q6, [r9, q3]
	vadd.i32	q5, q5, q1
	vstrw.32	q5, [r11, q4, uxtw #2]
	vstrw.32	q6, [r12, q4, uxtw #2]
	le	lr, group

	cmp	r0, r2
	bne	rest
slice_done:
	cmp	r0, r7
	bhs	done
	ldr	r4, [sp, #PENDING]
	ldr	r4, [r4]
	cmp	r4, #0
	beq	slice
done:
	ldr	r12, [sp, #CURSOR]
	str	r0, [r12, #PB_LOOPS_CURSOR_WORDS]
	movs	r0, #PB_LOOPS_DONE
	add	sp, sp, #(FRAME + 4)
	pop	{r4-r11, pc}

last_slice:
	mov	r2, r1
	subs	r4, r1, r0
	beq	done
	lsrs	r4, r4, #5	/* GROUP */
	bne	groups
	b	rest
other:
	subs	r0, #GROUP
rest:
	ldrd	r1, r3, [r0], #PB_LOOPS_SHORT
	sub	r4, r1, r5
	ldr	lr, [sp, #PLACES]
	cmp	r4, lr
	bhs	irregular
	ubfx	r12, r1, #0, #PB_LOOPS_INDEX_BITS
	add	r12, r8, r12, lsl #PB_LOOPS_SLOT_SHIFT
	ldr	lr, [r12, #8]
	cmp	r3, lr
	bhs	irregular
	ldrd	r12, lr, [r12]
	add	r12, r12, r3
	lsrs	r4, r4, #PB_LOOPS_INDEX_BITS
	add	r4, r11, r4, lsl #2
	strd	r12, lr, [r4]
	cmp	r0, r2
	bne	rest
	ldr	r1, [sp, #END]
	add	r12, r11, #4
	b	slice_done

irregular:
	ldr	r12, [sp, #CURSOR]
	str	r1, [r12, #PB_LOOPS_CURSOR_IRREGULAR_SLOT]
	str	r3, [r12, #PB_LOOPS_CURSOR_IRREGULAR_ALLOCATION_OFFSET]
	subs	r0, #PB_LOOPS_SHORT
	str	r0, [r12, #PB_LOOPS_CURSOR_WORDS]
	movs	r0, #PB_LOOPS_IRREGULAR
	add	sp, sp, #(FRAME + 4)
	pop	{r4-r11, pc}
	.size	pb_core_run_compact_64, . - pb_core_run_compact_64
