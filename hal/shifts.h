/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the MCU's CPU makes of shifts, for loops in which each instruction
 * counts: they choose the shorter of two ways to check the same.
 */
#ifndef PB_HAL_SHIFTS_H
#define PB_HAL_SHIFTS_H

/** 1: another instruction shifts or rotates its operand as well (Arm). 0: each takes one of its own. */
#ifdef __riscv
#define PB_SHIFTS_ARE_FREE 0
#else
#define PB_SHIFTS_ARE_FREE 1
#endif

#endif
