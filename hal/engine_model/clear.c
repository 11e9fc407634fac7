/* SPDX-License-Identifier: MIT */
#include "hal/engine_model/clear.h"

#include "hal/engine/registers.h"
#include "hal/shared.h"

static struct pb_engine_clear *registers_of(const struct pb_clear_unit *unit)
{
	return (struct pb_engine_clear *)(void *)(unit->memory + unit->registers_offset);
}

void pb_clear_unit_start(struct pb_clear_unit *unit)
{
	pb_shared_write32(&registers_of(unit)->outer_bytes, unit->outer_bytes);
}

/* Takes a new request, whose words are read once: a host may have written them. @return false: it is none to carry out */
static bool take(struct pb_clear_unit *unit, uint32_t request)
{
	const struct pb_engine_clear *registers = registers_of(unit);
	uint32_t offset, bytes;

	pb_shared_acquire();
	offset = pb_shared_read32(&registers->offset);
	bytes = pb_shared_read32(&registers->bytes);
	unit->request = request;
	unit->bytes = 0;
	if (bytes == 0 || (offset | bytes) % PB_PAGE_BYTES != 0 || bytes > unit->outer_bytes ||
	    offset < unit->outer_offset || offset - unit->outer_offset > unit->outer_bytes - bytes)
		return false;
	unit->offset = offset;
	unit->bytes = bytes;
	return true;
}

bool pb_clear_unit_step(struct pb_clear_unit *unit)
{
	struct pb_engine_clear *registers = registers_of(unit);
	const uint32_t request = pb_shared_read32(&registers->request);
	const uint32_t *end;
	uint32_t slice;

	if ((request != unit->request && !take(unit, request)) || unit->bytes == 0)
		return false;
	slice = unit->bytes < PB_CLEAR_UNIT_SLICE ? unit->bytes : PB_CLEAR_UNIT_SLICE;
	end = (const uint32_t *)(const void *)(unit->memory + unit->offset + slice);
	for (uint32_t *word = (uint32_t *)(void *)(unit->memory + unit->offset); word != end; word++)
		pb_shared_write32(word, 0);
	unit->offset += slice;
	unit->bytes -= slice;
	if (unit->bytes != 0)
		return true;
	pb_shared_release();
	pb_shared_write32(&registers->done, request);
	return false;
}
