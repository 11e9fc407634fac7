/* SPDX-License-Identifier: MIT */
#include "host/tool/probe_flash.h"

#include <stddef.h>

#include "host/link_gdb_flash.h"
#include "qemu/mcu/flash.h"

#define WORD_BYTES ((uint32_t)sizeof(uint32_t))

/** Notes an error. @return whether there was none, now and before */
static bool note(struct pb_probe_flash *flash, enum pb_error error)
{
	if (flash->error == PB_ERROR_OK)
		flash->error = error;
	return flash->error == PB_ERROR_OK;
}

bool pb_probe_flash_flush(struct pb_probe_flash *flash)
{
	const uint32_t count = flash->count;

	flash->count = 0;
	if (count == 0 || flash->error != PB_ERROR_OK)
		return flash->error == PB_ERROR_OK;
	return note(flash, pb_gdb_flash_program(flash->gdb, flash->address + flash->first, flash->words,
						count * WORD_BYTES));
}

/** Reads what is in the flash, once all that waits is there too. */
static bool read_bytes(struct pb_probe_flash *flash, uint32_t offset, void *to, uint32_t bytes)
{
	return pb_probe_flash_flush(flash) &&
	       note(flash, pb_gdb_read(flash->gdb, flash->address + offset, to, bytes));
}

static bool flash_read(void *context, uint32_t offset, uint32_t *words, uint32_t count)
{
	return read_bytes(context, offset, words, count * WORD_BYTES);
}

/** Whether an offset lies in a slot's image: not in its record, nor in the fuses. */
static bool is_of_image(const struct pb_probe_flash *flash, uint32_t offset)
{
	for (uint32_t slot = 0; slot < PB_SLOTS; slot++) {
		const uint32_t image = pb_slot_image_offset(&flash->slots, slot);

		if (offset >= image && offset - image < pb_slot_image_bytes(&flash->slots))
			return true;
	}
	return false;
}

static bool flash_program(void *context, uint32_t offset, uint32_t value)
{
	struct pb_probe_flash *flash = context;

	if (flash->count == PB_PROBE_FLASH_WORDS || flash->first + flash->count * WORD_BYTES != offset)
		(void)pb_probe_flash_flush(flash);
	if (flash->count == 0)
		flash->first = offset;
	flash->words[flash->count++] = value;
	return is_of_image(flash, offset) ? flash->error == PB_ERROR_OK : pb_probe_flash_flush(flash);
}

static bool flash_erase(void *context, uint32_t offset)
{
	struct pb_probe_flash *flash = context;

	return pb_probe_flash_flush(flash) &&
	       note(flash,
		    pb_gdb_flash_erase(flash->gdb, flash->address + offset, flash->flash.sector_bytes));
}

static bool fuses_key(void *context, uint8_t key[PB_FUSES_KEY_BYTES])
{
	return read_bytes(context, (uint32_t)offsetof(struct pb_card_fuses, key), key, PB_FUSES_KEY_BYTES);
}

static bool read_counter(struct pb_probe_flash *flash, uint32_t words[PB_CARD_COUNTER_WORDS])
{
	return read_bytes(flash, (uint32_t)offsetof(struct pb_card_fuses, counter), words,
			  PB_CARD_COUNTER_WORDS * WORD_BYTES);
}

static bool fuses_counter(void *context, uint32_t *value)
{
	uint32_t words[PB_CARD_COUNTER_WORDS];
	const bool read = read_counter(context, words);

	if (read)
		*value = pb_card_counter_value(words);
	return read;
}

static bool fuses_raise(void *context, uint32_t value)
{
	uint32_t words[PB_CARD_COUNTER_WORDS];

	if (value > PB_FUSES_COUNTER_MAX || !read_counter(context, words))
		return false;
	for (uint32_t now = pb_card_counter_value(words); now < value; now++) {
		const uint32_t i = pb_card_counter_raise(words);

		if (!flash_program(context,
				   (uint32_t)offsetof(struct pb_card_fuses, counter) + i * WORD_BYTES,
				   words[i]))
			return false;
	}
	return true;
}

static const struct pb_flash_ops flash_ops = {
	.read = flash_read, .program = flash_program, .erase = flash_erase};
static const struct pb_fuses_ops fuses_ops = {
	.key = fuses_key, .counter = fuses_counter, .raise = fuses_raise};

void pb_probe_flash_init(struct pb_probe_flash *flash, struct pb_gdb *gdb, uint32_t address)
{
	*flash = (struct pb_probe_flash){
		.gdb = gdb,
		.address = address,
		.flash = {.ops = &flash_ops, .context = flash, .sector_bytes = PB_CARD_FLASH_SECTOR_BYTES},
		.fuses = {.ops = &fuses_ops, .context = flash},
		.slots = {.flash = &flash->flash,
			  .offset = {PB_CARD_SLOT_A_OFFSET, PB_CARD_SLOT_B_OFFSET},
			  .bytes = PB_CARD_SLOT_BYTES},
	};
}
