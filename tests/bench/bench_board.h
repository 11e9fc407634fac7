/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the bench needs from a board: bytes into the firmware's line UART from
 * outside, a counter of instructions, and the moment an interrupt is taken.
 */
#ifndef PB_TESTS_BENCH_BENCH_BOARD_H
#define PB_TESTS_BENCH_BENCH_BOARD_H

#include <stdbool.h>
#include <stdint.h>

/** Starts the counter, and lets interrupts of the line UART be noted. After pb_board_start. */
void pb_bench_board_start(void);
/** Sends the byte of a line to the firmware, by way of the emulator's host side. */
void pb_bench_board_send(uint32_t line);
/** The counter, now: counts down, modulo 2^24. */
uint32_t pb_bench_board_counter(void);
/** The counter when the line UART's last interrupt was taken. */
uint32_t pb_bench_board_interrupt(void);
/** The handler of that interrupt, as if it did nothing but note the counter. */
void pb_bench_board_interrupt_empty(void);
/** Instructions between two counter values, times 1000. */
uint32_t pb_bench_board_instructions_milli(uint32_t from, uint32_t to);
/** Lets an alarm ring again and again, the first time after ever other numbers of instructions. */
void pb_bench_board_alarm_start(void);
/** A word that is not 0 while an alarm has rung that pb_bench_board_alarm_rang has not told of. */
const uint32_t *pb_bench_board_alarms(void);
void pb_bench_board_alarm_stop(void);
/** Whether it has rung since the last call. @param counter the counter then */
bool pb_bench_board_alarm_rang(uint32_t *counter);
/** Prints text to whoever runs the emulator. */
void pb_bench_board_print(const char *text);
/** The same for a number, in decimal. Not the board's: bench_number.c has it for all. */
void pb_bench_print_number(uint32_t value);
/** Ends the emulation. */
_Noreturn void pb_bench_board_exit(uint32_t code);

#endif
