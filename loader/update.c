/* SPDX-License-Identifier: MIT */
#include "loader/update.h"

#include <string.h>

#define HEADER_WORDS ((uint32_t)(sizeof(struct pb_signed_header) / sizeof(uint32_t)))
/** Words that are read back at once. */
#define PIECE_WORDS 64u

/** Reads both records; a slot that cannot be read counts as empty. */
static void read_states(const struct pb_slots *slots, struct pb_slot_state states[PB_SLOTS])
{
	for (uint32_t slot = 0; slot < PB_SLOTS; slot++)
		(void)pb_slot_read(slots, slot, &states[slot]);
}

/**
 * Returns the slot that the card must keep: the one that runs, else the confirmed one that would be started first;
 * PB_SLOT_NONE: none came up.
 */
static uint32_t needed_slot(const struct pb_slot_state states[PB_SLOTS], uint32_t running)
{
	struct pb_slot_state confirmed[PB_SLOTS];
	uint32_t order[PB_SLOTS];

	if (running < PB_SLOTS)
		return running;
	for (uint32_t slot = 0; slot < PB_SLOTS; slot++)
		confirmed[slot] = states[slot].confirmed ? states[slot] : (struct pb_slot_state){0};
	pb_slot_order(confirmed, order);
	return order[0];
}

uint32_t pb_update_free_slot(const struct pb_updater *updater, uint32_t running)
{
	struct pb_slot_state states[PB_SLOTS];
	uint32_t order[PB_SLOTS], needed;

	read_states(updater->slots, states);
	needed = needed_slot(states, running);
	if (needed != PB_SLOT_NONE)
		return 1u - needed;
	pb_slot_order(states, order);
	return order[0] != PB_SLOT_NONE ? 1u - order[0] : 0;
}

/** Checks a file as far as that takes no key. */
static enum pb_update_error check_file(const struct pb_updater *updater, const uint32_t *file, uint32_t bytes)
{
	struct pb_signed_header header;
	uint32_t least = UINT32_MAX;

	if (bytes < sizeof(header))
		return PB_UPDATE_BAD_FILE;
	memcpy(&header, file, sizeof(header));
	if (header.magic != PB_SIGNED_MAGIC || header.version != PB_SIGNED_VERSION ||
	    header.image_bytes != bytes - sizeof(header) || header.image_bytes == 0 ||
	    header.image_bytes % sizeof(uint32_t) != 0 || header.load_address != updater->load_address ||
	    header.security_version > PB_FUSES_COUNTER_MAX)
		return PB_UPDATE_BAD_FILE;
	if (strncmp(header.board, updater->board, sizeof(header.board)) != 0)
		return PB_UPDATE_BAD_BOARD;
	if (bytes > pb_slot_image_bytes(updater->slots))
		return PB_UPDATE_TOO_LARGE;
	if (!updater->fuses->ops->counter(updater->fuses->context, &least))
		return PB_UPDATE_BAD_FLASH;
	return header.security_version < least ? PB_UPDATE_OLD_VERSION : PB_UPDATE_DONE;
}

/** Erases a slot, its record first: from then on the loader takes it for empty. */
static bool erase_slot(const struct pb_slots *slots, uint32_t slot, uint32_t bytes)
{
	const struct pb_flash *flash = slots->flash;
	const uint32_t end = flash->sector_bytes + bytes;

	for (uint32_t at = 0; at < end; at += flash->sector_bytes) {
		if (!flash->ops->erase(flash->context, slots->offset[slot] + at))
			return false;
	}
	return true;
}

/** Programs the signed image. */
static bool program_image(const struct pb_slots *slots, uint32_t slot, const uint32_t *file, uint32_t words)
{
	const struct pb_flash *flash = slots->flash;
	const uint32_t offset = pb_slot_image_offset(slots, slot);

	for (uint32_t i = 0; i < words; i++) {
		if (file[i] != PB_FLASH_ERASED &&
		    !flash->ops->program(flash->context, offset + i * (uint32_t)sizeof(*file), file[i]))
			return false;
	}
	return true;
}

/** Reads the signed image back. @return whether it is what was programmed */
static bool is_programmed(const struct pb_slots *slots, uint32_t slot, const uint32_t *file, uint32_t words)
{
	const struct pb_flash *flash = slots->flash;
	const uint32_t offset = pb_slot_image_offset(slots, slot);
	uint32_t piece[PIECE_WORDS];

	for (uint32_t i = 0; i < words; i += PIECE_WORDS) {
		const uint32_t count = words - i < PIECE_WORDS ? words - i : PIECE_WORDS;

		if (!flash->ops->read(flash->context, offset + i * (uint32_t)sizeof(*file), piece, count) ||
		    memcmp(piece, file + i, count * sizeof(*file)) != 0)
			return false;
	}
	return true;
}

enum pb_update_error pb_update_write(const struct pb_updater *updater, const uint32_t *file, uint32_t bytes,
				     uint32_t slot, uint32_t running)
{
	const struct pb_slots *slots = updater->slots;
	const uint32_t words = bytes / (uint32_t)sizeof(*file);
	const enum pb_update_error error = check_file(updater, file, bytes);
	struct pb_slot_state states[PB_SLOTS];

	if (error != PB_UPDATE_DONE)
		return error;
	read_states(slots, states);
	if (running < PB_SLOTS && !states[running].confirmed)
		return PB_UPDATE_ON_TRIAL;
	if (slot == PB_SLOT_NONE)
		slot = pb_update_free_slot(updater, running);
	if (slot >= PB_SLOTS)
		return PB_UPDATE_BAD_SLOT;
	if (slot == needed_slot(states, running))
		return PB_UPDATE_NEEDED;
	return erase_slot(slots, slot, bytes) && program_image(slots, slot, file, words) &&
			       is_programmed(slots, slot, file, words) &&
			       pb_slot_mark_written(slots, slot, states[1u - slot].sequence + 1u)
		       ? PB_UPDATE_DONE
		       : PB_UPDATE_BAD_FLASH;
}

bool pb_update_confirm(const struct pb_updater *updater, uint32_t slot)
{
	const struct pb_slots *slots = updater->slots;
	const struct pb_fuses *fuses = updater->fuses;
	struct pb_signed_header header;
	struct pb_slot_state state;
	uint32_t counter;

	if (!pb_slot_read(slots, slot, &state) || !state.written ||
	    !slots->flash->ops->read(slots->flash->context, pb_slot_image_offset(slots, slot), &header.magic,
				     HEADER_WORDS) ||
	    !fuses->ops->counter(fuses->context, &counter))
		return false;
	if (!state.confirmed && !pb_slot_mark_confirmed(slots, slot))
		return false;
	return header.security_version <= counter ||
	       fuses->ops->raise(fuses->context, header.security_version);
}
