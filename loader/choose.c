/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "loader/loader.h"

/** Copies and checks a slot's image. @return the reason for which it is refused, or PB_LOADER_STARTED with both verdicts */
static enum pb_loader_reason examine(const struct pb_loader *loader, uint32_t slot,
				     struct pb_loader_choice *choice)
{
	enum pb_loader_reason reason = pb_verify_stage(loader->slots, slot, loader->rules, loader->image);

	if (reason != PB_LOADER_STARTED)
		return reason;
	choice->first = pb_verify_check(loader->rules, loader->image, PB_VERIFY_FIRST);
	if (choice->first != PB_VERIFY_FIRST)
		return (enum pb_loader_reason)choice->first;
	choice->second = pb_verify_check(loader->rules, loader->image, PB_VERIFY_SECOND);
	return choice->second == PB_VERIFY_SECOND ? PB_LOADER_STARTED : PB_LOADER_BAD_VERDICT;
}

/** Tries one slot. @return whether its image may run */
static bool try_slot(const struct pb_loader *loader, uint32_t slot, bool on_trial,
		     struct pb_loader_choice *choice)
{
	enum pb_loader_reason reason;

	*choice = (struct pb_loader_choice){.slot = PB_SLOT_NONE};
	reason = on_trial && !pb_slot_mark_tried(loader->slots, slot) ? PB_LOADER_BAD_FLASH
								      : examine(loader, slot, choice);
	loader->ops->report(slot, reason);
	if (reason == PB_LOADER_STARTED)
		choice->slot = slot;
	return reason == PB_LOADER_STARTED;
}

void pb_loader_choose(const struct pb_loader *loader, struct pb_loader_choice *choice)
{
	struct pb_slot_state states[PB_SLOTS];
	uint32_t order[PB_SLOTS];

	*choice = (struct pb_loader_choice){.slot = PB_SLOT_NONE};
	for (uint32_t slot = 0; slot < PB_SLOTS; slot++) {
		if (!pb_slot_read(loader->slots, slot, &states[slot]))
			loader->ops->report(slot, PB_LOADER_BAD_FLASH);
		else if (!states[slot].written)
			loader->ops->report(slot, PB_LOADER_EMPTY);
	}
	pb_slot_order(states, order);
	for (uint32_t i = 0; i < PB_SLOTS && order[i] != PB_SLOT_NONE; i++) {
		if (try_slot(loader, order[i], pb_slot_on_trial(&states[order[i]]), choice))
			return;
	}
}
