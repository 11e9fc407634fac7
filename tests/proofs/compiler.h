/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Included before each proved file: contracts for the extensions of GCC and Clang.
 */
#ifndef PB_PROOFS_COMPILER_H
#define PB_PROOFS_COMPILER_H

#include "tests/proofs/arithmetic.h"

/* Empty statements that keep a value in a register: they change nothing. */
#define __asm__(...)
/* The compiler checks these assertions. */
#define _Static_assert(condition, text) struct pb_proofs_asserted
/* Frama-C's own contracts of these do not specify the bit. */
#define __builtin_ctz pb_proofs_ctz
#define __builtin_clz pb_proofs_clz

/*@
  requires not_zero: mask != 0;
  assigns \result \from mask;
  ensures 0 <= \result < 32;
  ensures ((mask >> \result) & 1) == 1;
  ensures \forall integer bit; 0 <= bit < \result ==> ((mask >> bit) & 1) == 0;
  ensures mask == 1024 ==> \result == 10; // provers do not find that this follows
*/
int pb_proofs_ctz(unsigned int mask);

/*@
  requires not_zero: mask != 0;
  assigns \result \from mask;
  ensures 0 <= \result < 32;
  ensures ((mask >> (31 - \result)) & 1) == 1;
  ensures \forall integer bit; 31 - \result < bit < 32 ==> ((mask >> bit) & 1) == 0;
*/
int pb_proofs_clz(unsigned int mask);

#endif
