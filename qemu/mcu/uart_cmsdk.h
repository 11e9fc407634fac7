/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Interrupt lines of the emulated card (qemu/mcu/lines.h) over an Arm CMSDK
 * APB UART: each byte names a line. Reference: Arm Cortex-M System Design Kit
 * Technical Reference Manual, section 4.3.
 */
#ifndef PB_QEMU_MCU_UART_CMSDK_H
#define PB_QEMU_MCU_UART_CMSDK_H

#include "qemu/mcu/uart_lines.h"

/** Their context is a struct pb_uart_lines. */
extern const struct pb_lines_ops pb_uart_cmsdk_ops;

/** Enables the UART. Called by the board, once, in thread context. */
void pb_uart_cmsdk_start(struct pb_uart_lines *lines);
/** Handler of the receive interrupt: records the line of the byte. */
void pb_uart_cmsdk_receive(struct pb_uart_lines *lines);
/** Handler of the transmit interrupt: sends the next byte that waits. */
void pb_uart_cmsdk_transmit(struct pb_uart_lines *lines);

#endif
