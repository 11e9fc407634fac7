/* SPDX-License-Identifier: MIT */
#include "loader/slot.h"

#include <stddef.h>

#define RECORD_WORDS ((uint32_t)(sizeof(struct pb_slot_record) / sizeof(uint32_t)))

uint32_t pb_slot_image_offset(const struct pb_slots *slots, uint32_t slot)
{
	return slots->offset[slot] + slots->flash->sector_bytes;
}

uint32_t pb_slot_image_bytes(const struct pb_slots *slots)
{
	return slots->bytes - slots->flash->sector_bytes;
}

static bool is_marked(const uint32_t words[2])
{
	return words[0] == PB_SLOT_MARK(0) && words[1] == PB_SLOT_MARK(1);
}

bool pb_slot_read(const struct pb_slots *slots, uint32_t slot, struct pb_slot_state *state)
{
	struct pb_slot_record record;

	*state = (struct pb_slot_state){0};
	if (!slots->flash->ops->read(slots->flash->context, slots->offset[slot], record.sequence,
				     RECORD_WORDS))
		return false;
	if (record.sequence[0] == ~record.sequence[1])
		state->sequence = record.sequence[0];
	state->written = is_marked(record.written);
	/* Half a mark counts: the image may have been started. */
	state->tried = record.tried[0] != PB_FLASH_ERASED || record.tried[1] != PB_FLASH_ERASED;
	state->confirmed = state->written && is_marked(record.confirmed);
	return true;
}

bool pb_slot_on_trial(const struct pb_slot_state *state)
{
	return state->written && !state->confirmed && !state->tried;
}

/** Returns how much a slot is to be preferred; 0: it is empty. */
static uint32_t rank(const struct pb_slot_state *state)
{
	if (!state->written)
		return 0;
	if (pb_slot_on_trial(state))
		return 3;
	return state->confirmed ? 2 : 1;
}

void pb_slot_order(const struct pb_slot_state states[PB_SLOTS], uint32_t order[PB_SLOTS])
{
	const uint32_t a = rank(&states[0]), b = rank(&states[1]);
	/* Numbers of updates are compared as those of a ring. */
	const bool b_is_later = (int32_t)(states[1].sequence - states[0].sequence) > 0;
	const uint32_t first = b > a || (b == a && b_is_later) ? 1 : 0;
	const uint32_t second = 1u - first;

	order[0] = rank(&states[first]) != 0 ? first : PB_SLOT_NONE;
	order[1] = rank(&states[second]) != 0 ? second : PB_SLOT_NONE;
}

/** Programs two words of a slot's record. */
static bool program_pair(const struct pb_slots *slots, uint32_t slot, size_t at, uint32_t first,
			 uint32_t second)
{
	const struct pb_flash *flash = slots->flash;
	const uint32_t offset = slots->offset[slot] + (uint32_t)at;

	return flash->ops->program(flash->context, offset, first) &&
	       flash->ops->program(flash->context, offset + (uint32_t)sizeof(uint32_t), second);
}

bool pb_slot_mark_tried(const struct pb_slots *slots, uint32_t slot)
{
	return program_pair(slots, slot, offsetof(struct pb_slot_record, tried), PB_SLOT_MARK(0),
			    PB_SLOT_MARK(1));
}

bool pb_slot_mark_confirmed(const struct pb_slots *slots, uint32_t slot)
{
	return program_pair(slots, slot, offsetof(struct pb_slot_record, confirmed), PB_SLOT_MARK(0),
			    PB_SLOT_MARK(1));
}

bool pb_slot_mark_written(const struct pb_slots *slots, uint32_t slot, uint32_t sequence)
{
	return program_pair(slots, slot, offsetof(struct pb_slot_record, sequence), sequence, ~sequence) &&
	       program_pair(slots, slot, offsetof(struct pb_slot_record, written), PB_SLOT_MARK(0),
			    PB_SLOT_MARK(1));
}
