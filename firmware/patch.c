/* SPDX-License-Identifier: MIT */
/*
 * Step 3: the patch list. One loop a format, entered anew where DriverId
 * changes; each word of an entry is read once, checked, and the address is
 * written in place. Old bytes are never an addend, so patching again gives the
 * same bytes.
 *
 * A check that trips in a loop hands its values to the exact path, which names
 * the error; so the loops hold compares only, no reasons.
 */
#include "firmware/core.h"

#define WORDS_PER_ENTRY (sizeof(struct pb_patch_location) / sizeof(uint32_t))

/** What one entry says, in private memory. */
struct entry {
	uint32_t allocation_index;
	uint32_t slot;
	uint32_t driver_id;
	uint32_t allocation_offset;
	uint32_t patch_offset;
};

/** What a loop needs from the job, and where it is in the list. */
struct cursor {
	const struct pb_core_slot *slots;
	const uint32_t *limits; /**< slots[0].limit[0] or [1], as the format claims a write or not */
	uint32_t count;         /**< allocations */
	uint8_t *target;
	uint32_t start;        /**< PatchOffset of target */
	uint32_t bytes;        /**< of the submission */
	uint32_t positions;    /**< 4-byte aligned places at which the format's width fits */
	const uint32_t *words; /**< shared; the entry to carry out */
	const uint32_t *end;   /**< shared; of this slice */
	uint32_t driver_id;    /**< of the entry at `words`: already read, not to be read again */
	struct entry failed;   /**< the entry that tripped a check */
};

enum outcome {
	SLICE_DONE,   /**< words == end */
	OTHER_FORMAT, /**< driver_id is the next entry's */
	TRIPPED,      /**< failed holds the entry at `words` */
};

struct format {
	uint32_t width;  /**< bytes */
	bool bounded;    /**< AllocationOffset must lie inside the allocation */
	uint32_t writes; /**< column of pb_core_slot.limit */
};

#define BOUND_INSIDE                                           true
#define BOUND_NONE                                             false
#define FORMAT_ROW(name, number, width, bound, write, meaning) [number] = {width, BOUND_##bound, write},
static const struct format formats[] = {PB_PATCH_FORMATS(FORMAT_ROW)};

static inline uint32_t rotate_right_2(uint32_t value)
{
	return value >> 2 | value << 30;
}

/**
 * Carries out the entry at `words`, whose DriverId is known.
 * `width` and `bounded` are constants in every call, so that each loop has only its own checks.
 * @return false: a check tripped, nothing was written
 */
static inline __attribute__((always_inline)) bool apply(struct cursor *cursor, const uint32_t *words,
							uint32_t width, bool bounded)
{
	const uint32_t index = pb_shared_read32(&words[0]);
	const uint32_t slot_id = pb_shared_read32(&words[1]);
	const uint32_t offset = pb_shared_read32(&words[3]);
	const uint32_t place = pb_shared_read32(&words[4]);
	const uint32_t relative = place - cursor->start;
	const struct pb_core_slot *slot = &cursor->slots[index];

	/* One compare for range, width and alignment: low bits set rotate to the top. */
	if (rotate_right_2(relative) < cursor->positions && slot_id <= ~PB_PATCH_RESERVED_MASK &&
	    index < cursor->count) {
		const uint32_t limit = cursor->limits[index * (sizeof(*slot) / sizeof(uint32_t))];
		uint32_t *target = (uint32_t *)(void *)(cursor->target + relative);

		if (bounded ? offset < limit : limit != 0) {
			const uint32_t low = slot->address_low + offset;

			if (width == 8) {
				/* An unbounded offset is signed. */
				const uint32_t sign = bounded ? 0 : (uint32_t)((int32_t)offset >> 31);
				const uint64_t sum = pb_core_wide(slot->address_low, slot->address_high) +
						     pb_core_wide(offset, sign);

				pb_shared_write32(target, (uint32_t)sum);
				pb_shared_write32(target + 1, (uint32_t)(sum >> 32));
				return true;
			}
			if (!bounded || (slot->address_high | (uint32_t)(low < offset)) == 0) {
				pb_shared_write32(target, low);
				return true;
			}
		}
	}
	cursor->failed = (struct entry){index, slot_id, cursor->driver_id, offset, place};
	return false;
}

/** Runs entries of one format until the slice ends, the format changes or a check trips. */
static inline __attribute__((always_inline)) enum outcome run(struct cursor *shared_cursor, uint32_t width,
							      bool bounded)
{
	struct cursor cursor = *shared_cursor;
	const uint32_t driver_id = cursor.driver_id;
	enum outcome outcome = SLICE_DONE;

	for (;;) {
		if (!apply(&cursor, cursor.words, width, bounded)) {
			outcome = TRIPPED;
			break;
		}
		cursor.words += WORDS_PER_ENTRY;
		if (cursor.words == cursor.end)
			break;
		cursor.driver_id = pb_shared_read32(&cursor.words[2]);
		if (cursor.driver_id != driver_id) {
			outcome = OTHER_FORMAT;
			break;
		}
	}
	shared_cursor->words = cursor.words;
	shared_cursor->driver_id = cursor.driver_id;
	shared_cursor->failed = cursor.failed;
	return outcome;
}

static enum outcome run_address32(struct cursor *cursor)
{
	return run(cursor, 4, true);
}

static enum outcome run_address64(struct cursor *cursor)
{
	return run(cursor, 8, true);
}

static enum outcome run_sum32(struct cursor *cursor)
{
	return run(cursor, 4, false);
}

static enum outcome run_sum64(struct cursor *cursor)
{
	return run(cursor, 8, false);
}

/** The exact path: what an entry that tripped a check is. OK: it unbinds and writes nothing. */
static enum pb_error judge(const struct cursor *cursor, const struct entry *entry,
			   const struct format *format)
{
	const uint32_t relative = entry->patch_offset - cursor->start;
	const struct pb_core_slot *slot;

	if ((entry->slot & PB_PATCH_RESERVED_MASK) != 0)
		return PB_ERROR_PATCH_RESERVED;
	if (entry->allocation_index >= cursor->count)
		return PB_ERROR_PATCH_INDEX;
	if (relative % 4u != 0)
		return PB_ERROR_PATCH_ALIGNMENT;
	if (entry->patch_offset < cursor->start || cursor->bytes < format->width ||
	    relative > cursor->bytes - format->width)
		return PB_ERROR_PATCH_RANGE;
	slot = &cursor->slots[entry->allocation_index];
	if (slot->limit[0] == 0)
		return PB_ERROR_OK;
	if (slot->limit[format->writes] == 0)
		return PB_ERROR_PATCH_WRITE;
	if (format->bounded && entry->allocation_offset >= slot->limit[0])
		return PB_ERROR_PATCH_OFFSET;
	/* All that is left: the address does not fit 32 bits. */
	return PB_ERROR_PATCH_VALUE;
}

static enum outcome run_format(struct cursor *cursor, const struct format *format)
{
	cursor->limits = &cursor->slots[0].limit[format->writes];
	cursor->positions = cursor->bytes < format->width ? 0 : (cursor->bytes - format->width) / 4u + 1u;
	if (format->bounded)
		return format->width == 4u ? run_address32(cursor) : run_address64(cursor);
	return format->width == 4u ? run_sum32(cursor) : run_sum64(cursor);
}

/** Steps over an entry that unbinds. @return whether the slice has more */
static bool skip(struct cursor *cursor)
{
	cursor->words += WORDS_PER_ENTRY;
	if (cursor->words == cursor->end)
		return false;
	cursor->driver_id = pb_shared_read32(&cursor->words[2]);
	return true;
}

/** @return OK: the slice is done; else what is wrong with the entry at `words` */
static enum pb_error run_slice(struct cursor *cursor)
{
	cursor->driver_id = pb_shared_read32(&cursor->words[2]);
	for (;;) {
		const struct format *format;
		enum outcome outcome;
		enum pb_error error;

		if (cursor->driver_id >= PB_PATCH_FORMAT_COUNT)
			return PB_ERROR_PATCH_FORMAT;
		format = &formats[cursor->driver_id];
		outcome = run_format(cursor, format);
		if (outcome == SLICE_DONE)
			return PB_ERROR_OK;
		if (outcome == OTHER_FORMAT)
			continue;
		error = judge(cursor, &cursor->failed, format);
		if (error != PB_ERROR_OK)
			return error;
		if (!skip(cursor))
			return PB_ERROR_OK;
	}
}

void pb_core_patch(struct pb_firmware *firmware, struct pb_core_job *job)
{
	const uint32_t count = job->patches_left < PB_SLICE_PATCHES ? job->patches_left : PB_SLICE_PATCHES;
	const uint32_t *first = &job->patches->allocation_index;
	struct cursor cursor = {
	    .slots = job->slots,
	    .count = job->allocation_count,
	    .target = job->target,
	    .start = job->start,
	    .bytes = job->bytes,
	    .words = first,
	    .end = first + count * WORDS_PER_ENTRY,
	};
	const enum pb_error error = run_slice(&cursor);
	const uint32_t done = (uint32_t)(cursor.words - first) / WORDS_PER_ENTRY;

	job->work.patches += done;
	job->patch_index += done;
	if (error != PB_ERROR_OK) {
		pb_core_job_fail(firmware, job, error, job->patch_index);
		return;
	}
	job->patches += count;
	job->patches_left -= count;
	if (job->patches_left == 0)
		job->state = PB_CORE_JOB_READY;
}
