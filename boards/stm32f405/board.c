/* SPDX-License-Identifier: MIT */
/*
 * STM32F405 (Cortex-M4), a common part, and QEMU's netduinoplus2. The MCU is the
 * whole card: its engines are soft, card memory is 76 KiB of its SRAM, and hosts
 * access that through a debug probe. At boot the card tests itself.
 *
 * The core runs from the internal oscillator, as out of reset. Text goes out on
 * PA9 (USART 1, 115200 baud, 8N1). The light is PC12, which shines while low,
 * as on Olimex' STM32-H405: steady after the self-test has passed, blinking
 * after it has failed. Another board with this part differs in this file only.
 */
#include "boards/board.h"

#include "boards/image.h"
#include "boards/mcu_card.h"
#include "boards/stm32f405/app/self_test.h"
#include "hal/cortex_m/cortex_m.h"
#include "hal/stm32f4/stm32f4.h"
#include "patchbay/abi/boot.h"

#define CYCLES_PER_US   (PB_STM32F4_HSI_HERTZ / 1000000u)
#define CYCLES_PER_TICK (PB_TICK_MICROSECONDS * CYCLES_PER_US)
/** Ticks that the light is on, and off, after a failure. */
#define BLINK_TICKS 50u
#define USART1_PINS 7u /* the function of its pins */

static const struct pb_stm32f4_pin transmit = {'A', 9};
static const struct pb_stm32f4_pin light = {'C', 12};

const char pb_mcu_card_name[] = "stm32f405";

static struct pb_self_test self_test = {.memory = pb_card_memory, .memory_bytes = PB_MCU_CARD_MEMORY_BYTES};

static const struct pb_region regions[] = {
	{(uintptr_t)pb_card_memory, PB_MCU_CARD_MEMORY_BYTES, PB_REGION_SHARED},
	{PB_STM32F4_PERIPHERALS, PB_STM32F4_PERIPHERAL_BYTES, PB_REGION_DEVICE},
};

PB_BOARD_IMAGE("stm32f405", pb_card_memory, pb_card_memory_bytes);

/** Turns the light on or off. */
static void set_light(bool on)
{
	pb_stm32f4_pin_set(light, !on);
}

/** Runs one step of the self-test, until its verdict; then prints the verdict. @return true: the test is not done */
static bool local_host(void *context)
{
	struct pb_self_test *test = context;
	char text[PB_SELF_TEST_TEXT_BYTES];

	if (test->verdict != PB_SELF_TEST_RUNS)
		return false;
	pb_self_test_step(test);
	if (test->verdict == PB_SELF_TEST_RUNS)
		return true;
	pb_self_test_format(test, pb_mcu_card_name, text);
	pb_stm32f4_usart1_write(text);
	set_light(test->verdict == PB_SELF_TEST_PASSED);
	return false;
}

static void tick(void)
{
	pb_local_lines_tick(&pb_mcu_card_lines);
	if (self_test.verdict == PB_SELF_TEST_FAILED)
		set_light(pb_mcu_card_lines.ticks / BLINK_TICKS % 2u != 0);
}

extern uint32_t pb_stack_top[];

static const struct pb_cortex_m_vectors vectors __attribute__((section(".vectors"), used)) = {
	PB_CORTEX_M_EXCEPTIONS(tick),
	/* External interrupts are never enabled. */
};

const struct pb_firmware_config *pb_board_start(void)
{
	const struct pb_firmware_config *config;

	pb_cortex_m_on_fault(pb_firmware_fatal);
	pb_cortex_m_protect(regions, sizeof(regions) / sizeof(regions[0]));
	pb_stm32f4_debug_while_asleep();
	pb_stm32f4_pin_output(light, true);
	pb_stm32f4_pin_alternate(transmit, USART1_PINS);
	pb_stm32f4_usart1_start(115200);
	pb_mcu_card_lines.cycles_per_tick = CYCLES_PER_TICK;
	pb_mcu_card_lines.cycles_per_microsecond = CYCLES_PER_US;
	pb_mcu_card_lines.host = local_host;
	pb_mcu_card_lines.host_context = &self_test;
	config = pb_mcu_card_start();
	pb_cortex_m_tick_start(CYCLES_PER_TICK);
	return config;
}
