/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Facts of C's unsigned arithmetic and bits that WP does not pass to its
 * provers. Each line is proved in tests/proofs/arithmetic.smt2, by Z3 on bit
 * vectors. That the two files agree must be checked by reading them.
 */
#ifndef PB_PROOFS_ARITHMETIC_H
#define PB_PROOFS_ARITHMETIC_H

#include <stdint.h>

/*@
  axiomatic pb_arithmetic {
    axiom wrap8: \forall integer x; 0 <= x < 0x10000000000000000 ==> (uint8_t)x == x % 0x100;
    axiom wrap16: \forall integer x; 0 <= x < 0x10000000000000000 ==> (uint16_t)x == x % 0x10000;
    axiom wrap32: \forall integer x; 0 <= x < 0x10000000000000000 ==> (uint32_t)x == x % 0x100000000;
    axiom wrap32_below: \forall integer x; -0x100000000 <= x < 0 ==> (uint32_t)x == x + 0x100000000;
    axiom wrap32_above: \forall integer x; 0x100000000 <= x < 0x200000000 ==> (uint32_t)x == x - 0x100000000;
    axiom wrap64_below: \forall integer x; -0x10000000000000000 <= x < 0 ==>
      (uint64_t)x == x + 0x10000000000000000;
    axiom wrap64_above: \forall integer x; 0x10000000000000000 <= x < 0x20000000000000000 ==>
      (uint64_t)x == x - 0x10000000000000000;
    axiom right_1: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x >> 1) == x / 0x2;
    axiom right_2: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x >> 2) == x / 0x4;
    axiom right_4: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x >> 4) == x / 0x10;
    axiom right_6: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x >> 6) == x / 0x40;
    axiom right_8: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x >> 8) == x / 0x100;
    axiom right_10: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x >> 10) == x / 0x400;
    axiom right_16: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x >> 16) == x / 0x10000;
    axiom right_24: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x >> 24) == x / 0x1000000;
    axiom right_30: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x >> 30) == x / 0x40000000;
    axiom right_31: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x >> 31) == x / 0x80000000;
    axiom right_32: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x >> 32) == x / 0x100000000;
    axiom left_1: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x << 1) == x * 0x2;
    axiom left_2: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x << 2) == x * 0x4;
    axiom left_4: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x << 4) == x * 0x10;
    axiom left_8: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x << 8) == x * 0x100;
    axiom left_10: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x << 10) == x * 0x400;
    axiom left_16: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x << 16) == x * 0x10000;
    axiom left_24: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x << 24) == x * 0x1000000;
    axiom left_30: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x << 30) == x * 0x40000000;
    axiom left_31: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x << 31) == x * 0x80000000;
    axiom left_32: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x << 32) == x * 0x100000000;
    axiom mask_1: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x & 0x1) == x % 0x2;
    axiom mask_2: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x & 0x3) == x % 0x4;
    axiom mask_3: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x & 0x7) == x % 0x8;
    axiom mask_8: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x & 0xff) == x % 0x100;
    axiom mask_10: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x & 0x3ff) == x % 0x400;
    axiom mask_12: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x & 0xfff) == x % 0x1000;
    axiom mask_22: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x & 0x3fffff) == x % 0x400000;
    axiom mask_32: \forall integer x; 0 <= x < 0x10000000000000000 ==> (x & 0xffffffff) == x % 0x100000000;
    axiom clear_0_12_of_32: \forall integer x; 0 <= x < 0x100000000 ==> (x & 0xfffff000) == x - x % 0x1000;
    axiom clear_0_10_of_32: \forall integer x; 0 <= x < 0x100000000 ==> (x & 0xfffffc00) == x - x % 0x400;
    axiom bit_1: \forall integer x; 0 <= x < 0x100000000 ==> (x & 0x2) == x / 0x2 % 2 * 0x2;
    axiom bit_2: \forall integer x; 0 <= x < 0x100000000 ==> (x & 0x4) == x / 0x4 % 2 * 0x4;
    axiom bit_3: \forall integer x; 0 <= x < 0x100000000 ==> (x & 0x8) == x / 0x8 % 2 * 0x8;
    axiom bit_4: \forall integer x; 0 <= x < 0x100000000 ==> (x & 0x10) == x / 0x10 % 2 * 0x10;
    axiom bit_5: \forall integer x; 0 <= x < 0x100000000 ==> (x & 0x20) == x / 0x20 % 2 * 0x20;
    axiom bit_6: \forall integer x; 0 <= x < 0x100000000 ==> (x & 0x40) == x / 0x40 % 2 * 0x40;
    axiom join_2: \forall integer y, z; 0 <= y < 0x10000000000000000 && 0 <= z < 0x4 && y % 0x4 == 0 ==>
      (y | z) == y + z;
    axiom join_2_too: \forall integer y, z; 0 <= z < 0x10000000000000000 && 0 <= y < 0x4 && z % 0x4 == 0 ==>
      (y | z) == y + z;
    axiom join_8: \forall integer y, z; 0 <= y < 0x10000000000000000 && 0 <= z < 0x100 && y % 0x100 == 0 ==>
      (y | z) == y + z;
    axiom join_8_too: \forall integer y, z; 0 <= z < 0x10000000000000000 && 0 <= y < 0x100 && z % 0x100 == 0 ==>
      (y | z) == y + z;
    axiom join_24: \forall integer y, z; 0 <= y < 0x10000000000000000 && 0 <= z < 0x1000000 && y % 0x1000000 == 0 ==>
      (y | z) == y + z;
    axiom join_24_too: \forall integer y, z; 0 <= z < 0x10000000000000000 && 0 <= y < 0x1000000 && z % 0x1000000 == 0 ==>
      (y | z) == y + z;
    axiom join_30: \forall integer y, z; 0 <= y < 0x10000000000000000 && 0 <= z < 0x40000000 && y % 0x40000000 == 0 ==>
      (y | z) == y + z;
    axiom join_30_too: \forall integer y, z; 0 <= z < 0x10000000000000000 && 0 <= y < 0x40000000 && z % 0x40000000 == 0 ==>
      (y | z) == y + z;
    axiom join_32: \forall integer y, z; 0 <= y < 0x10000000000000000 && 0 <= z < 0x100000000 && y % 0x100000000 == 0 ==>
      (y | z) == y + z;
    axiom join_32_too: \forall integer y, z; 0 <= z < 0x10000000000000000 && 0 <= y < 0x100000000 && z % 0x100000000 == 0 ==>
      (y | z) == y + z;
    axiom set_0_2: \forall integer x, y; 0 <= x < 0x100 && 0 <= y < 4 ==>
      ((x & 0xfc) | (uint8_t)y) / 4 == x / 4 && ((x & 0xfc) | (uint8_t)y) % 4 == y;
    axiom set_6_8: \forall integer x, y; 0 <= x < 0x100 && 0 <= y < 4 ==>
      ((x & 0x3f) | (uint8_t)(y << 6)) / 64 == y && ((x & 0x3f) | (uint8_t)(y << 6)) % 64 == x % 64;
    axiom or_is_zero: \forall integer y, z; 0 <= y < 0x10000000000000000 && 0 <= z < 0x10000000000000000 ==>
      ((y | z) == 0 <==> y == 0 && z == 0);
    axiom or_below_1024: \forall integer y, z; 0 <= y < 0x100000000 && 0 <= z < 0x100000000 ==>
      ((y | z) < 0x400 <==> y < 0x400 && z < 0x400);
    axiom differ_is_zero: \forall integer y, z; 0 <= y < 0x10000000000000000 && 0 <= z < 0x10000000000000000 ==>
      ((y ^ z) == 0 <==> y == z);
    axiom or_is_32: \forall integer y, z; 0 <= y < 0x100000000 && 0 <= z < 0x100000000 ==>
      0 <= (y | z) < 0x100000000;
    axiom and_is_32: \forall integer y, z; 0 <= y < 0x100000000 && 0 <= z < 0x100000000 ==>
      0 <= (y & z) < 0x100000000;
    axiom differ_is_32: \forall integer y, z; 0 <= y < 0x100000000 && 0 <= z < 0x100000000 ==>
      0 <= (y ^ z) < 0x100000000;
    axiom or_low_2: \forall integer y, z; 0 <= y < 0x100000000 && 0 <= z < 0x100000000 ==>
      ((y | z) % 4 == 0 <==> y % 4 == 0 && z % 4 == 0);
    axiom bits_1_to_5: \forall integer x; 0 <= x < 0x100000000 ==> (x & 0x3e) == x / 2 % 32 * 2;
    axiom clear_lowest: \forall integer x, y; 0 < x < 0x100000000 && y == x - 1 ==> 0 <= (x & y) < x;
    axiom power: \forall integer n; 0 <= n < 32 ==> 1 <= (1 << n) <= 0x80000000;
    axiom below: \forall integer n, y, b; 0 <= n < 32 && 0 <= b < 32 && y == (1 << n) - 1 ==>
      (((y >> b) & 1) == 1 <==> b < n);
    axiom sign32: \forall integer x; 0x80000000 <= x < 0x100000000 ==> (int32_t)x == x - 0x100000000;
    axiom sign16: \forall integer x; 0 <= x < 0x100000000 ==>
      (int16_t)x == (x % 0x10000 < 0x8000 ? x % 0x10000 : x % 0x10000 - 0x10000);
    axiom spread_sign: \forall integer x; 0x80000000 <= x < 0x100000000 ==>
      (uint32_t)((int32_t)x >> 31) == 0xffffffff;
    axiom rotate_2: \forall integer x; 0 <= x < 0x100000000 ==>
      ((x >> 2) | (uint32_t)(x << 30)) == x / 4 + x % 4 * 0x40000000;
  }
*/

#endif
