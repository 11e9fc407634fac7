/* SPDX-License-Identifier: MIT */
#include "hal/stm32f4/stm32f4.h"

#include "hal/mmio.h"

#define DEBUG_CONTROL       0xe0042004u
#define DEBUG_CONTROL_SLEEP 1u

#define RCC_AHB1_ENABLE    0x40023830u /* bit n: port n */
#define RCC_APB2_ENABLE    0x40023844u
#define APB2_ENABLE_USART1 (1u << 4)

#define GPIO_BASE      0x40020000u
#define GPIO_STRIDE    0x400u
#define GPIO_MODE      0x00u /* two bits a pin */
#define GPIO_SET_RESET 0x18u
#define GPIO_FUNCTION  0x20u /* four bits a pin, in two words */
#define MODE_OUTPUT    1u
#define MODE_ALTERNATE 2u

#define USART1_STATUS      0x40011000u
#define USART1_DATA        0x40011004u
#define USART1_BAUD        0x40011008u
#define USART1_CONTROL_1   0x4001100cu
#define STATUS_EMPTY       (1u << 7)
#define CONTROL_1_TRANSMIT (1u << 3)
#define CONTROL_1_ENABLE   (1u << 13)
/** Polls of the transmitter for one byte: some ten times what a byte takes at 115,200 baud. */
#define POLLS_MAX 4000u

/** Sets a field of a register whose other bits stay. */
static void set_field(uintptr_t address, uint32_t shift, uint32_t width, uint32_t value)
{
	const uint32_t mask = ((1u << width) - 1u) << shift;

	pb_mmio_write32(address, (pb_mmio_read32(address) & ~mask) | value << shift);
}

void pb_stm32f4_debug_while_asleep(void)
{
	set_field(DEBUG_CONTROL, 0, 1, DEBUG_CONTROL_SLEEP);
}

static void enable(uintptr_t address, uint32_t bit)
{
	pb_mmio_write32(address, pb_mmio_read32(address) | bit);
	/* The block takes two cycles of its bus to wake up; a read takes longer (errata sheet ES0182). */
	(void)pb_mmio_read32(address);
}

static uintptr_t port_of(struct pb_stm32f4_pin pin)
{
	return GPIO_BASE + (uint32_t)(pin.port - 'A') * GPIO_STRIDE;
}

static void enable_port(struct pb_stm32f4_pin pin)
{
	enable(RCC_AHB1_ENABLE, 1u << (uint32_t)(pin.port - 'A'));
}

static void set_mode(struct pb_stm32f4_pin pin, uint32_t mode)
{
	set_field(port_of(pin) + GPIO_MODE, 2u * pin.number, 2, mode);
}

void pb_stm32f4_pin_output(struct pb_stm32f4_pin pin, bool high)
{
	enable_port(pin);
	pb_stm32f4_pin_set(pin, high);
	set_mode(pin, MODE_OUTPUT);
}

void pb_stm32f4_pin_alternate(struct pb_stm32f4_pin pin, uint32_t function)
{
	enable_port(pin);
	set_field(port_of(pin) + GPIO_FUNCTION + pin.number / 8u * 4u, pin.number % 8u * 4u, 4, function);
	set_mode(pin, MODE_ALTERNATE);
}

void pb_stm32f4_pin_set(struct pb_stm32f4_pin pin, bool high)
{
	pb_mmio_write32(port_of(pin) + GPIO_SET_RESET, 1u << (pin.number + (high ? 0u : 16u)));
}

void pb_stm32f4_usart1_start(uint32_t baud)
{
	enable(RCC_APB2_ENABLE, APB2_ENABLE_USART1);
	/* 16 times oversampling: the divider in sixteenths is the clock by the rate. */
	pb_mmio_write32(USART1_BAUD, (PB_STM32F4_HSI_HERTZ + baud / 2u) / baud);
	pb_mmio_write32(USART1_CONTROL_1, CONTROL_1_ENABLE | CONTROL_1_TRANSMIT);
}

void pb_stm32f4_usart1_write(const char *text)
{
	for (; *text != '\0'; text++) {
		uint32_t polls = 0;

		while ((pb_mmio_read32(USART1_STATUS) & STATUS_EMPTY) == 0 && polls < POLLS_MAX)
			polls++;
		pb_mmio_write32(USART1_DATA, (uint8_t)*text);
	}
}
