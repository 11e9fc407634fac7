/* SPDX-License-Identifier: MIT */
/*
 * firmware/patch/run_compact_64.c for Cortex-M7: 9.5 instructions an entry where the submission starts at its buffer's
 * byte 0, in pairs that one instruction reads; 11 elsewhere.
 *
 * While all is well LO holds. An entry that fails a check leaves HS, with which
 * nothing more is compared, stored or read from the list: what follows up to
 * the end of the slice computes numbers that are not used, and loads slots,
 * which every index has. The entry's words and the place behind it stay in
 * their registers, whichever of the slice's entries it was. Which entry of a
 * pair it was, its checks tell when they are done again.
 *
 *   r0        behind the entry at hand, or the pair
 *   r1, r2    the entry's words
 *   r3, r4    of a pair, those of the second; else: where the submission starts, as r1 has places; place and index
 *   r5        slots
 *   r6        the submission's byte 0
 *   r7        number of places, as r1 has them
 *   r8        1 << 22: takes place and index apart
 *   r9        the slot: address; low word
 *   r10       the place; the address to write to
 *   r11, r12  the slot: high word, limit
 *   lr        where the last slice ends
 */
#include "hal/cortex_m/loops.h"

	.syntax unified
	.thumb

#define SLICE (PB_LOOPS_SLICE_SHORT * PB_LOOPS_SHORT)
	.if PB_LOOPS_SLICE_SHORT % 2
	.error "a slice is pairs"
	.endif

/* On the stack. */
#define PENDING 0
#define STOP    4 /* a slice that starts here or further on is not full, or of the next pass */
#define FRAME   8
#define CURSOR  8

/* Of the entry whose place and index are in `word`. */
.macro compute word, offset
	umull	r9, r10, \word, r8	/* place to r10, index to the top of r9 */
	add	r9, r5, r9, lsr #(32 - PB_LOOPS_INDEX_BITS - PB_LOOPS_SLOT_SHIFT)
	ldm	r9, {r9, r11, r12}
	add	r9, r9, \offset
	add	r10, r6, r10, lsl #2
.endm

.macro first_of_pair
	compute	r1, r2
	ittt	lo
	cmplo	r1, r7
	cmplo	r2, r12
	strdlo	r9, r11, [r10]
	compute	r3, r4
.endm

	.section .text.pb_core_run_compact_64, "ax", %progbits
	.global	pb_core_run_compact_64
	.type	pb_core_run_compact_64, %function
	.p2align 2
pb_core_run_compact_64:
	push	{r0, r4-r11, lr}
	sub	sp, sp, #FRAME
	mov	r12, r0
	ldr	r0, [r12, #PB_LOOPS_CURSOR_PENDING]
	str	r0, [sp, #PENDING]
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
	mov	r8, #(1 << (32 - PB_LOOPS_INDEX_BITS))
	/* The first slice of a call starts even where the pass ends. */
	ldr	r1, [r12, #PB_LOOPS_CURSOR_END]
	sub	r1, r1, #(SLICE - 1)
	cmp	r3, #0
	bne	elsewhere
	cmp	r0, r1
	bhs	last_slice

full_slice:
	ldmia	r0!, {r1-r4}
	.rept	PB_LOOPS_SLICE_SHORT / 2 - 1
	first_of_pair
	itttt	lo
	cmplo	r3, r7
	cmplo	r4, r12
	strdlo	r9, r11, [r10]
	ldmialo	r0!, {r1-r4}
	.endr
	first_of_pair
	ittt	lo
	cmplo	r3, r7
	cmplo	r4, r12
	strdlo	r9, r11, [r10]
	bhs	irregular_pair
	ldrd	r1, r2, [sp, #PENDING]
	ldr	r1, [r1]
	cbnz	r1, done
	cmp	r0, r2
	blo	full_slice
stopped:
	ldr	r12, [sp, #CURSOR]
	ldr	r1, [r12, #PB_LOOPS_CURSOR_PASS]
	cmp	r0, r1
	bhs	done
last_slice:
	ldr	r12, [sp, #CURSOR]
	ldr	r3, [r12, #PB_LOOPS_CURSOR_START]
	lsl	r3, r3, #(PB_LOOPS_INDEX_BITS - 2)
	ldr	r1, [r12, #PB_LOOPS_CURSOR_END]
	sub	r1, r1, r0
	bic	r1, r1, #(PB_LOOPS_SHORT - 1)
	add	lr, r0, r1
	cmp	r0, lr
	bhs	done
rest:
	ldrd	r1, r2, [r0], #PB_LOOPS_SHORT
	sub	r4, r1, r3
	compute	r4, r2
	ittt	lo
	cmplo	r4, r7
	cmplo	r2, r12
	strdlo	r9, r11, [r10]
	bhs	irregular
	cmp	r0, lr
	blo	rest
done:
	ldr	r12, [sp, #CURSOR]
	str	r0, [r12, #PB_LOOPS_CURSOR_WORDS]
	movs	r0, #PB_LOOPS_DONE
	add	sp, sp, #(FRAME + 4)
	pop	{r4-r11, pc}

/* A submission that starts behind its buffer's byte 0. */
elsewhere:
	cmp	r0, r1
	bhs	last_slice
slice_elsewhere:
	ldrd	r1, r2, [r0], #PB_LOOPS_SHORT
	.rept	PB_LOOPS_SLICE_SHORT - 1
	sub	r4, r1, r3
	compute	r4, r2
	itttt	lo
	cmplo	r4, r7
	cmplo	r2, r12
	strdlo	r9, r11, [r10]
	ldrdlo	r1, r2, [r0], #PB_LOOPS_SHORT
	.endr
	sub	r4, r1, r3
	compute	r4, r2
	ittt	lo
	cmplo	r4, r7
	cmplo	r2, r12
	strdlo	r9, r11, [r10]
	bhs	irregular
	ldrd	r1, r2, [sp, #PENDING]
	ldr	r1, [r1]
	cmp	r1, #0
	bne	done
	cmp	r0, r2
	blo	slice_elsewhere
	b	stopped

irregular_pair:
	cmp	r1, r7
	bhs	first
	compute	r1, r2
	cmp	r2, r12
	bhs	first
	mov	r1, r3
	mov	r2, r4
	b	irregular
first:
	sub	r0, r0, #PB_LOOPS_SHORT
irregular:
	ldr	r12, [sp, #CURSOR]
	str	r1, [r12, #PB_LOOPS_CURSOR_IRREGULAR_SLOT]
	str	r2, [r12, #PB_LOOPS_CURSOR_IRREGULAR_ALLOCATION_OFFSET]
	sub	r0, r0, #PB_LOOPS_SHORT
	str	r0, [r12, #PB_LOOPS_CURSOR_WORDS]
	movs	r0, #PB_LOOPS_IRREGULAR
	add	sp, sp, #(FRAME + 4)
	pop	{r4-r11, pc}
	.size	pb_core_run_compact_64, . - pb_core_run_compact_64
