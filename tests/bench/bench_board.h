/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the bench needs from a board: bytes into the firmware's doorbell UART from outside, a counter of
 * instructions, and the moment an interrupt is accepted.
 */
#ifndef PB_TESTS_BENCH_BENCH_BOARD_H
#define PB_TESTS_BENCH_BENCH_BOARD_H

#include <stdbool.h>
#include <stdint.h>

/** Starts the counter, and lets interrupts of the doorbell UART be noted. Pre: pb_board_start was called. */
void pb_bench_board_start(void);
/** Sends the byte of an interrupt line to the firmware, by the emulator's host side. */
void pb_bench_board_send(uint32_t line);
/** Waits for a byte that the firmware has sent, and drops it: a socket that is never read fills up. */
void pb_bench_board_receive(void);
/** The counter now: counts down, modulo 2^24. */
uint32_t pb_bench_board_counter(void);
/** The counter when the doorbell UART's last interrupt was accepted. */
uint32_t pb_bench_board_interrupt(void);
/** The handler of that interrupt, doing nothing but note the counter. */
void pb_bench_board_interrupt_empty(void);
/** Instructions between two counter values, times 1000. */
uint32_t pb_bench_board_instructions_milli(uint32_t from, uint32_t to);
/** Lets an alarm ring repeatedly. The first delay varies from call to call. */
void pb_bench_board_alarm_start(void);
/** Not 0 while an alarm has rung that pb_bench_board_alarm_rang has not reported. */
const uint32_t *pb_bench_board_alarms(void);
void pb_bench_board_alarm_stop(void);
/** Whether the alarm has rung since the last call. @param counter the counter then */
bool pb_bench_board_alarm_rang(uint32_t *counter);

/* ---- bench_print.c, for all boards ---- */

/** Prints text to the emulator's console. */
void pb_bench_print_text(const char *text);
/** Prints a number in decimal. */
void pb_bench_print_number(uint32_t value);
/** Ends the emulation. */
_Noreturn void pb_bench_exit(uint32_t code);

#endif
