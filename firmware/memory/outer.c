/* SPDX-License-Identifier: MIT */
#include "firmware/memory/outer.h"

#include "firmware/compiler.h"
#include "firmware/instance.h"

PB_CORE_COLD bool pb_core_outer_clear(struct pb_firmware *firmware, uint32_t slot, bool gone)
{
	const struct pb_engine_memory *memory = firmware->config->engine_memory;
	const struct pb_core_piece *piece = &firmware->pool.pieces[slot];
	struct pb_core_outer *outer = &firmware->outer;
	const bool runs = outer->clearing == slot;

	if (!runs && (gone || outer->clearing != 0))
		return gone;
	if (!memory->ops->clear(memory->context, piece->offset, runs ? 0 : piece->bytes))
		return false;
	outer->clearing = runs ? 0 : slot;
	return runs;
}
