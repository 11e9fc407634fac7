/* SPDX-License-Identifier: MIT */
/*
 * firmware/patch/run_compact_64.c for Cortex-M7: 11 instructions an entry.
 *
 * While all is well LO holds. An entry that fails a check leaves HS, with which
 * nothing more is compared, stored or read from the list: what follows up to
 * the end of the iteration computes numbers that are not used, and loads slots,
 * which every index has. The entry's words and the place behind it stay in
 * their registers, whichever of an iteration's entries it was.
 *
 *   r0        behind the entry at hand
 *   r1, r2    the entry's words
 *   r3        where the submission starts, as r1 has places
 *   r4        1 << 22: takes place and index apart
 *   r5        slots
 *   r6        the submission's byte 0
 *   r7        number of places, as r1 has them
 *   r8        the entry's place and index
 *   r9        the slot: address; low word
 *   r10       the place; the address to write to
 *   r11, r12  the slot: high word, limit
 *   lr        where the iterations of this slice end
 */
#include "hal/cortex_m/loops.h"

	.syntax unified
	.thumb

#define UNROLL 16
#define SLICE  (PB_LOOPS_SLICE_SHORT * PB_LOOPS_SHORT)
	.if PB_LOOPS_SLICE_SHORT % UNROLL
	.error "only the last slice of a list has a rest"
	.endif

/* On the stack. */
#define STOP   0 /* a slice that starts here or further on is not full, or of the next pass */
#define CURSOR 4

.macro compute
	sub	r8, r1, r3
	umull	r9, r10, r8, r4		/* place to r10, index to the top of r9 */
	add	r9, r5, r9, lsr #(32 - PB_LOOPS_INDEX_BITS - PB_LOOPS_SLOT_SHIFT)
	ldm	r9, {r9, r11, r12}
	add	r9, r9, r2
	add	r10, r6, r10, lsl #2
.endm

	.section .text.pb_core_run_compact_64, "ax", %progbits
	.global	pb_core_run_compact_64
	.type	pb_core_run_compact_64, %function
	.p2align 2
pb_core_run_compact_64:
	push	{r0, r4-r11, lr}
	sub	sp, sp, #4
	mov	r12, r0
	ldr	r0, [r12, #PB_LOOPS_CURSOR_WORDS]
	ldr	r1, [r12, #PB_LOOPS_CURSOR_END]
	sub	r1, r1, #(SLICE - 1)
	ldr	r2, [r12, #PB_LOOPS_CURSOR_PASS]
	cmp	r1, r2
	it	hi
	movhi	r1, r2
	str	r1, [sp, #STOP]
	ldr	r5, [r12, #PB_LOOPS_CURSOR_SLOTS]
	ldr	r6, [r12, #PB_LOOPS_CURSOR_ORIGIN]
	ldr	r3, [r12, #PB_LOOPS_CURSOR_START]
	add	r6, r6, r3
	/* Places that are there, and that a short entry may name. */
	ldr	r7, [r12, #PB_LOOPS_CURSOR_WIDE_PLACES]
	movw	r1, #(PB_LOOPS_SHORT_END & 0xffff)
	movt	r1, #(PB_LOOPS_SHORT_END >> 16)
	subs	r1, r1, r3
	it	lo
	movlo	r1, #0
	lsrs	r1, r1, #2
	cmp	r7, r1
	it	hi
	movhi	r7, r1
	lsl	r7, r7, #PB_LOOPS_INDEX_BITS
	lsl	r3, r3, #(PB_LOOPS_INDEX_BITS - 2)
	mov	r4, #(1 << (32 - PB_LOOPS_INDEX_BITS))
	/* The first slice of a call starts even where the pass ends. */
	ldr	r1, [r12, #PB_LOOPS_CURSOR_END]
	sub	r1, r1, #(SLICE - 1)
	cmp	r0, r1
	bhs	last_slice

full_slice:
	add	lr, r0, #SLICE
iteration:
	ldrd	r1, r2, [r0], #PB_LOOPS_SHORT
	.rept	UNROLL - 1
	compute
	itttt	lo
	cmplo	r8, r7
	cmplo	r2, r12
	strdlo	r9, r11, [r10]
	ldrdlo	r1, r2, [r0], #PB_LOOPS_SHORT
	.endr
	compute
	ittt	lo
	cmplo	r8, r7
	cmplo	r2, r12
	strdlo	r9, r11, [r10]
	bhs	irregular
	cmp	r0, lr
	blo	iteration

	ldr	r12, [sp, #CURSOR]
	ldr	r1, [r12, #PB_LOOPS_CURSOR_PENDING]
	ldr	r1, [r1]
	cbnz	r1, done
	ldr	r1, [sp, #STOP]
	cmp	r0, r1
	blo	full_slice
	ldr	r1, [r12, #PB_LOOPS_CURSOR_PASS]
	cmp	r0, r1
	bhs	done
last_slice:
	ldr	r1, [r12, #PB_LOOPS_CURSOR_END]
	sub	r1, r1, r0
	bic	r1, r1, #(PB_LOOPS_SHORT - 1)
	add	lr, r0, r1
	cmp	r0, lr
	bhs	done
rest:
	ldrd	r1, r2, [r0], #PB_LOOPS_SHORT
	compute
	ittt	lo
	cmplo	r8, r7
	cmplo	r2, r12
	strdlo	r9, r11, [r10]
	bhs	irregular
	cmp	r0, lr
	blo	rest
done:
	ldr	r12, [sp, #CURSOR]
	str	r0, [r12, #PB_LOOPS_CURSOR_WORDS]
	movs	r0, #PB_LOOPS_DONE
	add	sp, sp, #8
	pop	{r4-r11, pc}

irregular:
	ldr	r12, [sp, #CURSOR]
	str	r1, [r12, #PB_LOOPS_CURSOR_IRREGULAR_SLOT]
	str	r2, [r12, #PB_LOOPS_CURSOR_IRREGULAR_ALLOCATION_OFFSET]
	sub	r0, r0, #PB_LOOPS_SHORT
	str	r0, [r12, #PB_LOOPS_CURSOR_WORDS]
	movs	r0, #PB_LOOPS_IRREGULAR
	add	sp, sp, #8
	pop	{r4-r11, pc}
	.size	pb_core_run_compact_64, . - pb_core_run_compact_64
