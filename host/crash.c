/* SPDX-License-Identifier: MIT */
/* The crash record: its writer is dead, so that its counts must be checked before use. */
#include <string.h>

#include "host/internal.h"

/* Attempts to copy the record. A crash during one attempt is rare; during each of three it is no crash. */
#define TRIES 3

/* Copies the record. @return false: the record was overwritten during the copy */
static bool copy(const struct pb_crash_record *shared, struct pb_crash_record *record)
{
	memset(record, 0, sizeof(*record));
	if (pb_shared_read32(&shared->magic) != PB_CRASH_MAGIC)
		return true;
	pb_shared_acquire();
	pb_shared_copy_in(record, shared, sizeof(*record));
	pb_shared_acquire();
	return pb_shared_read32(&shared->magic) == PB_CRASH_MAGIC && record->magic == PB_CRASH_MAGIC &&
	       pb_shared_read32(&shared->incarnation) == record->incarnation;
}

/* Returns whether the counts and the stack range are consistent. */
static bool sound(const struct pb_crash_record *record)
{
	return record->bytes >= sizeof(*record) && record->stack_words <= PB_CRASH_STACK_WORDS &&
	       record->stack_bottom <= record->stack_top && record->stack_address % sizeof(uint32_t) == 0 &&
	       (record->stack_words == 0 ||
		(record->stack_address >= record->stack_bottom &&
		 record->stack_address <= record->stack_top &&
		 record->stack_words <= (record->stack_top - record->stack_address) / sizeof(uint32_t)));
}

enum pb_error pb_crash_read(const struct pb_link *link, struct pb_crash_record *record)
{
	const struct pb_boot_block *block = pb_at(link, PB_BOOT_OFFSET);
	uint32_t offset;
	bool whole = false;

	memset(record, 0, sizeof(*record));
	if (link->memory_bytes < sizeof(*block) || pb_shared_read32(&block->magic) != PB_BOOT_MAGIC)
		return PB_ERROR_NO_CARD;
	pb_shared_acquire();
	if (pb_shared_read32(&block->abi_version) >> 16 != PB_ABI_MAJOR)
		return PB_ERROR_BAD_VERSION;
	offset = pb_shared_read32(&block->crash_offset);
	if (offset == 0)
		return PB_ERROR_OK;
	if (pb_shared_read32(&block->crash_bytes) < sizeof(*record) ||
	    !pb_inside(link, offset, sizeof(*record)))
		return PB_ERROR_PROTOCOL;
	for (int i = 0; i < TRIES && !whole; i++)
		whole = copy(pb_at(link, offset), record);
	if (whole && (record->magic == 0 || sound(record)))
		return PB_ERROR_OK;
	memset(record, 0, sizeof(*record));
	return PB_ERROR_PROTOCOL;
}
