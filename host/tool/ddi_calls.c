/* SPDX-License-Identifier: MIT */
#include "host/tool/ddi_calls.h"

#include <stdlib.h>

#include "hal/shared.h"
#include "patchbay/abi/boot.h"

const char *pb_ddi_name(uint32_t function)
{
#define NAME(name, number, text) [PB_DDI_##name] = (text),
	static const char *const names[] = {[0] = "?", PB_DDI_CALLS(NAME)};
#undef NAME

	return names[function < sizeof(names) / sizeof(names[0]) ? function : 0];
}

static uint32_t clock_of(const struct pb_link *link)
{
	const struct pb_boot_block *boot = (const void *)(link->memory + PB_BOOT_OFFSET);

	return pb_shared_read32(&boot->clock);
}

/** Makes room for one more call. @return false: out of memory */
static bool grow(struct pb_ddi_record *record)
{
	struct pb_ddi_call *larger;

	/* Doubles whenever the count is a power of two. */
	if ((record->count & (record->count - 1u)) != 0)
		return true;
	larger = realloc(record->calls, (record->count == 0 ? 1u : 2u * record->count) * sizeof(*larger));
	if (larger == NULL)
		return false;
	record->calls = larger;
	return true;
}

size_t pb_ddi_began(struct pb_ddi_record *record, enum pb_ddi_function function, uint32_t node,
		    uint32_t fence_id)
{
	record->incomplete = record->incomplete || !grow(record);
	if (record->incomplete)
		return record->count;
	record->calls[record->count] = (struct pb_ddi_call){
		.clock = clock_of(record->link), .function = function, .node = node, .fence_id = fence_id};
	return record->count++;
}

uint32_t pb_ddi_ended(struct pb_ddi_record *record, size_t place, uint32_t status)
{
	if (place < record->count)
		record->calls[place].status = status;
	return status;
}

void pb_ddi_name_fence(struct pb_ddi_record *record, size_t place, uint32_t node, uint32_t fence_id)
{
	if (place >= record->count)
		return;
	record->calls[place].node = node;
	record->calls[place].fence_id = fence_id;
}

size_t pb_ddi_count(const struct pb_ddi_record *record, enum pb_ddi_function function)
{
	size_t count = 0;

	for (size_t i = 0; i < record->count; i++)
		count += record->calls[i].function == function ? 1u : 0u;
	return count;
}

void pb_ddi_record_free(struct pb_ddi_record *record)
{
	free(record->calls);
	record->calls = NULL;
	record->count = 0;
}
