/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The cost of shifts on the MCU's CPU, for loops in which each instruction
 * counts: they choose the shorter of two equivalent checks.
 */
#ifndef PB_HAL_SHIFTS_H
#define PB_HAL_SHIFTS_H

/** 1: an instruction shifts or rotates its operand at no cost (Arm). 0: a shift is an instruction of its own. */
#ifdef __riscv
#define PB_SHIFTS_ARE_FREE 0
#else
#define PB_SHIFTS_ARE_FREE 1
#endif

#endif
