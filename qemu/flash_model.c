/* SPDX-License-Identifier: MIT */
#include "qemu/flash_model.h"

#include <stddef.h>
#include <string.h>

#include "qemu/mcu/flash.h"

/** Words of the fuses: no operation of the flash reaches them. */
#define FUSES_END PB_CARD_FLASH_SECTOR_BYTES

static uint32_t read_word(const struct pb_flash_model *model, uint32_t offset)
{
	uint32_t word;

	memcpy(&word, model->bytes + offset, sizeof(word));
	return word;
}

static void write_word(struct pb_flash_model *model, uint32_t offset, uint32_t word)
{
	memcpy(model->bytes + offset, &word, sizeof(word));
}

/** The next number of a sequence (xorshift, Marsaglia 2003). */
static uint32_t draw(struct pb_flash_model *model)
{
	uint32_t seed = model->seed != 0 ? model->seed : 1u;

	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	model->seed = seed;
	return seed;
}

/** Counts an operation. @return which of its bits are changed: all, or what a power cut leaves */
static uint32_t changed_bits(struct pb_flash_model *model)
{
	if (model->power != 0)
		return ~0u;
	if (model->tear == PB_FLASH_TEAR_SOME)
		return draw(model);
	return model->tear == PB_FLASH_TEAR_ALL ? ~0u : 0;
}

/** Begins an operation. @return whether there is power for it, or for a part of it */
static bool begin(struct pb_flash_model *model, bool *whole)
{
	if (model->power == UINT32_MAX) {
		model->operations++;
		*whole = true;
		return true;
	}
	/* One more than the last whole operation is the one in which the power is cut. */
	if (model->power == UINT32_MAX - 1u)
		return false;
	*whole = model->power != 0;
	model->operations++;
	return true;
}

/** Ends an operation on a range. @return whether it was carried out as a whole, and is permanent */
static bool end(struct pb_flash_model *model, bool whole, uint32_t offset, uint32_t bytes)
{
	if (model->power != UINT32_MAX)
		model->power = whole ? model->power - 1u : UINT32_MAX - 1u;
	return (model->save == NULL || model->save(model->context, offset, bytes)) && whole;
}

static bool inside(uint32_t offset, uint32_t bytes)
{
	return offset % sizeof(uint32_t) == 0 && bytes <= PB_CARD_FLASH_BYTES &&
	       offset <= PB_CARD_FLASH_BYTES - bytes;
}

static bool flash_read(void *context, uint32_t offset, uint32_t *words, uint32_t count)
{
	const struct pb_flash_model *model = context;

	if (count > PB_CARD_FLASH_BYTES / sizeof(*words) || !inside(offset, count * (uint32_t)sizeof(*words)))
		return false;
	memcpy(words, model->bytes + offset, count * sizeof(*words));
	return true;
}

static bool flash_program(void *context, uint32_t offset, uint32_t value)
{
	struct pb_flash_model *model = context;
	bool whole;

	if (offset < FUSES_END || !inside(offset, sizeof(value)) || !begin(model, &whole))
		return false;
	write_word(model, offset, read_word(model, offset) & (value | ~changed_bits(model)));
	return end(model, whole, offset, sizeof(value));
}

static bool flash_erase(void *context, uint32_t offset)
{
	struct pb_flash_model *model = context;
	bool whole;

	if (offset < FUSES_END || offset % PB_CARD_FLASH_SECTOR_BYTES != 0 ||
	    !inside(offset, PB_CARD_FLASH_SECTOR_BYTES) || !begin(model, &whole))
		return false;
	for (uint32_t at = offset; at < offset + PB_CARD_FLASH_SECTOR_BYTES; at += (uint32_t)sizeof(uint32_t))
		write_word(model, at, read_word(model, at) | changed_bits(model));
	return end(model, whole, offset, PB_CARD_FLASH_SECTOR_BYTES);
}

static bool fuses_key(void *context, uint8_t key[PB_FUSES_KEY_BYTES])
{
	const struct pb_flash_model *model = context;

	memcpy(key, model->bytes + offsetof(struct pb_card_fuses, key), PB_FUSES_KEY_BYTES);
	return true;
}

static bool fuses_counter(void *context, uint32_t *value)
{
	const struct pb_flash_model *model = context;
	uint32_t words[PB_CARD_COUNTER_WORDS];

	memcpy(words, model->bytes + offsetof(struct pb_card_fuses, counter), sizeof(words));
	*value = pb_card_counter_value(words);
	return true;
}

/** Clears one more bit of the counter. @param words the counter as it is; out: as it is to be */
static bool raise_by_one(struct pb_flash_model *model, uint32_t words[PB_CARD_COUNTER_WORDS])
{
	const uint32_t i = pb_card_counter_raise(words);
	const uint32_t offset = (uint32_t)offsetof(struct pb_card_fuses, counter) + i * 4u;
	bool whole;

	if (!begin(model, &whole))
		return false;
	write_word(model, offset, read_word(model, offset) & (words[i] | ~changed_bits(model)));
	return end(model, whole, offset, sizeof(words[i]));
}

static bool fuses_raise(void *context, uint32_t value)
{
	struct pb_flash_model *model = context;
	uint32_t words[PB_CARD_COUNTER_WORDS];

	memcpy(words, model->bytes + offsetof(struct pb_card_fuses, counter), sizeof(words));
	if (value > PB_FUSES_COUNTER_MAX)
		return false;
	for (uint32_t now = pb_card_counter_value(words); now < value; now++) {
		if (!raise_by_one(model, words))
			return false;
	}
	return true;
}

static const struct pb_flash_ops flash_ops = {
	.read = flash_read, .program = flash_program, .erase = flash_erase};
static const struct pb_fuses_ops fuses_ops = {
	.key = fuses_key, .counter = fuses_counter, .raise = fuses_raise};

void pb_flash_model_init(struct pb_flash_model *model, uint8_t *bytes)
{
	*model = (struct pb_flash_model){
		.bytes = bytes,
		.flash = {.ops = &flash_ops, .context = model, .sector_bytes = PB_CARD_FLASH_SECTOR_BYTES},
		.fuses = {.ops = &fuses_ops, .context = model},
		.slots = {.flash = &model->flash,
			  .offset = {PB_CARD_SLOT_A_OFFSET, PB_CARD_SLOT_B_OFFSET},
			  .bytes = PB_CARD_SLOT_BYTES},
		.power = UINT32_MAX,
		.seed = 1,
	};
}

void pb_flash_model_keep(struct pb_flash_model *model,
			 bool (*save)(void *context, uint32_t offset, uint32_t bytes), void *context)
{
	model->save = save;
	model->context = context;
}

void pb_flash_model_power_on(struct pb_flash_model *model)
{
	model->power = UINT32_MAX;
}

void pb_flash_model_new(struct pb_flash_model *model, const uint8_t key[PB_FUSES_KEY_BYTES])
{
	memset(model->bytes, 0xff, PB_CARD_FLASH_BYTES);
	memcpy(model->bytes + offsetof(struct pb_card_fuses, key), key, PB_FUSES_KEY_BYTES);
}
