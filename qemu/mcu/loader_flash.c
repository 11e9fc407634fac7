/* SPDX-License-Identifier: MIT */
#include "qemu/mcu/loader_flash.h"

#include <string.h>

#include "qemu/mcu/flash.h"

static void put_word(uint32_t word)
{
	for (uint32_t i = 0; i < sizeof(word); i++)
		pb_loader_serial_put((uint8_t)(word >> 8u * i));
}

static bool flash_read(void *context, uint32_t offset, uint32_t *words, uint32_t count)
{
	const struct pb_loader_flash *flash = context;

	if (offset > PB_CARD_FLASH_BYTES || count > (PB_CARD_FLASH_BYTES - offset) / sizeof(*words))
		return false;
	memcpy(words, flash->window + offset / sizeof(*words), count * sizeof(*words));
	return true;
}

static bool flash_program(void *context, uint32_t offset, uint32_t value)
{
	const struct pb_loader_flash *flash = context;

	pb_loader_serial_put(PB_CARD_FLASH_PROGRAM);
	put_word(offset);
	put_word(value);
	if (pb_loader_serial_get() != PB_CARD_FLASH_DONE)
		return false;
	flash->window[offset / sizeof(value)] &= value;
	return true;
}

static const struct pb_card_fuses *fuses_of(void *context)
{
	const struct pb_loader_flash *flash = context;

	return (const struct pb_card_fuses *)(const void *)flash->window;
}

static bool fuses_key(void *context, uint8_t key[PB_FUSES_KEY_BYTES])
{
	memcpy(key, fuses_of(context)->key, PB_FUSES_KEY_BYTES);
	return true;
}

static bool fuses_counter(void *context, uint32_t *value)
{
	*value = pb_card_counter_value(fuses_of(context)->counter);
	return true;
}

const struct pb_flash_ops pb_loader_flash_ops = {.read = flash_read, .program = flash_program};
const struct pb_fuses_ops pb_loader_fuses_ops = {.key = fuses_key, .counter = fuses_counter};

void pb_loader_flash_report(uint32_t slot, uint32_t reason)
{
	pb_loader_serial_put(PB_CARD_FLASH_REPORT);
	pb_loader_serial_put((uint8_t)slot);
	pb_loader_serial_put((uint8_t)reason);
}

void pb_loader_flash_lock(void)
{
	pb_loader_serial_put(PB_CARD_FLASH_LOCK);
}
