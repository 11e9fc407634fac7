/* SPDX-License-Identifier: MIT */
#include "host/tool/ddi_calls.h"

#include <stdlib.h>

const char *pb_ddi_name(uint32_t function)
{
#define NAME(name, number, text) [PB_DDI_##name] = (text),
	static const char *const names[] = {[0] = "?", PB_DDI_CALLS(NAME)};
#undef NAME

	return names[function < sizeof(names) / sizeof(names[0]) ? function : 0];
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

size_t pb_ddi_began(struct pb_ddi_record *record, enum pb_ddi_function function, uint32_t node)
{
	record->incomplete = record->incomplete || !grow(record);
	if (record->incomplete)
		return record->count;
	record->calls[record->count] = (struct pb_ddi_call){
		.host_us = record->link->ops->now(record->link), .function = function, .node = node};
	return record->count++;
}

size_t pb_ddi_began_with(struct pb_ddi_record *record, enum pb_ddi_function function, uint32_t node,
			 uint32_t id)
{
	const bool preemption = function == PB_DDI_PREEMPT_COMMAND || function == PB_DDI_PREEMPTED;
	const size_t place = pb_ddi_began(record, function, node);

	if (place < record->count) {
		record->calls[place].names = preemption ? PB_DDI_NAMES_PREEMPTION : PB_DDI_NAMES_PACKET;
		record->calls[place].id = id;
	}
	return place;
}

uint32_t pb_ddi_ended(struct pb_ddi_record *record, size_t place, uint32_t status)
{
	if (place < record->count)
		record->calls[place].status = status;
	return status;
}

void pb_ddi_name_fence(struct pb_ddi_record *record, size_t place, uint32_t fence_id)
{
	if (place >= record->count)
		return;
	record->calls[place].names = PB_DDI_NAMES_PACKET;
	record->calls[place].id = fence_id;
}

void pb_ddi_name_built(struct pb_ddi_record *record, size_t from, size_t to, uint32_t fence_id)
{
	for (size_t i = from; i < to && i < record->count; i++) {
		if (record->calls[i].function == PB_DDI_RENDER ||
		    record->calls[i].function == PB_DDI_BUILD_PAGING_BUFFER)
			pb_ddi_name_fence(record, i, fence_id);
	}
}

void pb_ddi_record_free(struct pb_ddi_record *record)
{
	free(record->calls);
	record->calls = NULL;
	record->count = 0;
}
