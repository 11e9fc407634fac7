/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a board needs of an STM32F405's periphery: clocks of its blocks, pins,
 * and a USART that sends text. Reference: ST RM0090, sections 7 (RCC),
 * 8 (GPIO), 30 (USART) and 38 (debug). Nothing here waits without an end: emulators have
 * some of these registers as stubs that read 0.
 */
#ifndef PB_HAL_STM32F4_STM32F4_H
#define PB_HAL_STM32F4_STM32F4_H

#include <stdbool.h>
#include <stdint.h>

/** Core clock out of reset: the internal oscillator, within 1 %. Nothing here changes it. */
#define PB_STM32F4_HSI_HERTZ 16000000u

/** Address range of the registers of all blocks, without the core's own. */
#define PB_STM32F4_PERIPHERALS      0x40000000u
#define PB_STM32F4_PERIPHERAL_BYTES 0x80000u

/**
 * Keeps the buses clocked while the core sleeps, so that a debug probe reaches
 * memory then as well. Costs some of the power that sleep saves.
 */
void pb_stm32f4_debug_while_asleep(void);

/** A pin of port A to I: its port's letter, its number 0 to 15. */
struct pb_stm32f4_pin {
	char port;
	uint8_t number;
};

/** Turns the port's clock on and makes the pin a push-pull output, of that level from the first moment. */
void pb_stm32f4_pin_output(struct pb_stm32f4_pin pin, bool high);
/** Turns the port's clock on and gives the pin to a block. @param function its number, 0 to 15 */
void pb_stm32f4_pin_alternate(struct pb_stm32f4_pin pin, uint32_t function);
/** Sets the level of an output pin. */
void pb_stm32f4_pin_set(struct pb_stm32f4_pin pin, bool high);

/** Turns USART 1 on, to send: 8 bits, no parity, one stop bit. @param baud at least 245 */
void pb_stm32f4_usart1_start(uint32_t baud);
/** Sends text; returns when the last byte is in the transmitter. Gives up if the transmitter stays full. */
void pb_stm32f4_usart1_write(const char *text);

#endif
