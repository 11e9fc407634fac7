/* SPDX-License-Identifier: MIT */
/*
 * firmware/patch/run_list_64.c for Cortex-M7: 14 instructions an entry.
 *
 * All five checks of an entry hang on the flags: each compare is done only if
 * those before it came out well, and one branch follows the last. While all is
 * well LS holds (C clear or Z set); every failure leaves HI, or HS at the last.
 * No word of the entry is changed before that branch, but PatchOffset, which
 * can be worked out again. A load in an IT block that an interrupt breaks off
 * starts anew, so a word may go over the bus twice; only the last value counts.
 *
 *   r0        behind the entry at hand
 *   r1 - r4   AllocationIndex, SlotId and Reserved, DriverId, AllocationOffset
 *   r5        PatchOffset, then the 4-byte place in the submission
 *   r6        SplitOffset, of no use; then index and Reserved, then the address
 *   r7        place at which the submission starts
 *   r8        slots
 *   r9        1023: the last index; its top bit is the DriverId, and the next the carry
 *   r10       the last place
 *   r11       the submission's byte 0
 *   r12, lr   the slot: address; high word, limit
 */
#include "hal/cortex_m/loops.h"

	.syntax unified
	.thumb

#define SLICE (PB_LOOPS_SLICE_PATCHES * PB_LOOPS_ENTRY)
/* The index bits that are above it are the format's number. */
#define FORMAT_SHIFT (PB_LOOPS_INDEX_BITS - 1)
	.if ((1 << PB_LOOPS_INDEX_BITS) - 1) >> FORMAT_SHIFT != PB_LOOPS_FORMAT
	.error "the last index does not hold the format"
	.endif

/* On the stack. */
#define PENDING 0
#define STOP    4 /* a slice that starts here or further on is not full, or of the next pass */
#define FRAME   8
#define CURSOR  8

.macro entry
	ldmia	r0!, {r1-r6}
	rsb	r5, r7, r5, ror #2	/* of a place that is not aligned: too large */
	orr	r6, r1, r2, lsr #(PB_LOOPS_RESERVED_SHIFT - PB_LOOPS_INDEX_BITS)	/* Reserved onto the bits above an index */
	add	lr, r8, r1, lsl #PB_LOOPS_SLOT_SHIFT
	teq	r3, r9, lsr #FORMAT_SHIFT	/* C is set */
	itttt	ls
	cmpls	r5, r10
	cmpls	r6, r9
	ldmls	lr, {r6, r12, lr}	/* low, high, limit */
	cmpls	r4, lr
	bhs	irregular
	add	r6, r6, r4
	add	lr, r11, r5, lsl #2
	strd	r6, r12, [lr]
.endm

	.section .text.pb_core_run_list_64, "ax", %progbits
	.global	pb_core_run_list_64
	.type	pb_core_run_list_64, %function
	.p2align 2
pb_core_run_list_64:
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
	ldr	r8, [r12, #PB_LOOPS_CURSOR_SLOTS]
	ldr	r11, [r12, #PB_LOOPS_CURSOR_ORIGIN]
	ldr	r7, [r12, #PB_LOOPS_CURSOR_START]
	add	r11, r11, r7
	lsr	r7, r7, #2
	movw	r9, #((1 << PB_LOOPS_INDEX_BITS) - 1)
	ldr	r10, [r12, #PB_LOOPS_CURSOR_WIDE_PLACES]
	subs	r10, r10, #1
	blo	no_place

	/* The first slice of a call starts even where the pass ends. */
	ldr	r1, [r12, #PB_LOOPS_CURSOR_END]
	sub	r1, r1, #(SLICE - 1)
	cmp	r0, r1
	bhs	last_slice

full_slice:
	.rept	PB_LOOPS_SLICE_PATCHES
	entry
	.endr
	ldrd	r1, r2, [sp, #PENDING]
	ldr	r1, [r1]
	cbnz	r1, done
	cmp	r0, r2
	blo	full_slice
	ldr	r12, [sp, #CURSOR]
	ldr	r1, [r12, #PB_LOOPS_CURSOR_PASS]
	cmp	r0, r1
	blo	last_slice
done:
	ldr	r12, [sp, #CURSOR]
	str	r0, [r12, #PB_LOOPS_CURSOR_WORDS]
	movs	r0, #PB_LOOPS_DONE
	add	sp, sp, #(FRAME + 4)
	pop	{r4-r11, pc}

last_slice:
	ldr	r12, [sp, #CURSOR]
	ldr	r2, [r12, #PB_LOOPS_CURSOR_END]
	cmp	r0, r2
	beq	done
rest:
	entry
	ldr	r12, [sp, #CURSOR]
	ldr	r1, [r12, #PB_LOOPS_CURSOR_END]
	cmp	r0, r1
	bne	rest
	b	done

/* All trip: the first one does, if there is one. */
no_place:
	ldr	r2, [r12, #PB_LOOPS_CURSOR_END]
	cmp	r0, r2
	beq	done
	ldmia	r0!, {r1-r6}
	rsb	r5, r7, r5, ror #2

irregular:
	add	r5, r5, r7
	ror	r5, r5, #30		/* PatchOffset again */
	ldr	r12, [sp, #CURSOR]
	add	r6, r12, #PB_LOOPS_CURSOR_IRREGULAR
	stmia	r6, {r1-r5}
	/* The end of its slice: slices are counted from where the call began. */
	ldr	r3, [r12, #PB_LOOPS_CURSOR_WORDS]
	mov	r2, #SLICE
	subs	r1, r0, r3
	subs	r1, r1, #1
	udiv	r1, r1, r2
	mla	r1, r1, r2, r2
	add	r1, r1, r3
	ldr	r2, [r12, #PB_LOOPS_CURSOR_END]
	cmp	r1, r2
	it	hi
	movhi	r1, r2
	strd	r0, r1, [r12, #PB_LOOPS_CURSOR_WORDS]
	movs	r0, #PB_LOOPS_IRREGULAR
	add	sp, sp, #(FRAME + 4)
	pop	{r4-r11, pc}
	.size	pb_core_run_list_64, . - pb_core_run_list_64
