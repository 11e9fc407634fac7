/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Interrupt lines of the emulated card (hal/card/lines.h) over an Arm CMSDK
 * APB UART: each byte names a line. Reference: Arm Cortex-M System Design Kit
 * Technical Reference Manual, section 4.3.
 */
#ifndef PB_HAL_UART_CMSDK_LINES_H
#define PB_HAL_UART_CMSDK_LINES_H

#include "hal/card/uart_lines.h"

extern const struct pb_lines_ops pb_uart_cmsdk_ops;

/** Turns the UART on. Thread context, once. */
void pb_uart_cmsdk_start(struct pb_uart_lines *lines);
/** Interrupt handlers: byte received, transmitter empty. They record and no more. */
void pb_uart_cmsdk_receive(struct pb_uart_lines *lines);
void pb_uart_cmsdk_transmit(struct pb_uart_lines *lines);

#endif
