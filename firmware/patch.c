/* SPDX-License-Identifier: MIT */
/*
 * Step 3: the patch list. Each word of an entry is read once, checked, and the
 * address is written in place. Old bytes are never an addend, so patching
 * again gives the same bytes.
 *
 * There is one loop a format. A loop holds compares only: an entry that trips
 * any of them goes, by value, to the exact path, which carries it out if it is
 * legal after all (another format, an unbound allocation) or names the error.
 */
#include "firmware/core.h"

#define WORDS_PER_ENTRY ((uint32_t)(sizeof(struct pb_patch_location) / sizeof(uint32_t)))
#define SLICE_WORDS     (PB_SLICE_PATCHES * WORDS_PER_ENTRY)
/** Entries between two looks at the end of the slice. */
#define UNROLL 4u

/** Tells the compiler nothing about a value, so that it stays in its register. Costs no instruction. */
#define PB_KEEP(value) __asm__("" : "+r"(value))

/** What one entry says, in private memory. */
struct entry {
	uint32_t allocation_index;
	uint32_t slot;
	uint32_t driver_id;
	uint32_t allocation_offset;
	uint32_t patch_offset;
};

/** The submission and the place in its list. */
struct cursor {
	const struct pb_core_slot *slots;
	uint32_t count;        /**< allocations */
	uintptr_t origin;      /**< address that PatchOffset counts from */
	uint32_t start;        /**< PatchOffset of the submission's byte 0 */
	uint32_t bytes;        /**< of the submission */
	uint32_t format_id;    /**< whose loop runs */
	uint32_t positions;    /**< 4-byte aligned places at which the format's width fits */
	const uint32_t *words; /**< shared; the next entry */
	const uint32_t *end;   /**< shared; of this slice */
	struct entry tripped;  /**< the entry before `words`, if a loop stopped there */
};

/* X(number, width, bounded, write) */
#define FAST_FORMATS(X)                                                                                      \
	X(0, 4, true, 0)                                                                                     \
	X(1, 8, true, 0) X(2, 4, true, 1) X(3, 8, true, 1) X(4, 4, false, 0) X(5, 8, false, 0)
#define FORMAT_ROW(number, width, bound, write) [number] = {width, bound, write},

struct format {
	uint32_t width;  /**< bytes */
	bool bounded;    /**< AllocationOffset must lie inside the allocation */
	uint32_t writes; /**< column of pb_core_slot.limit */
};

static const struct format formats[] = {FAST_FORMATS(FORMAT_ROW)};

static inline uint32_t rotate_right_2(uint32_t value)
{
	return value >> 2 | value << 30;
}

/** What AllocationOffset adds to the high word: nothing, or its sign where it is unbounded. */
static inline uint32_t extend(uint32_t offset, bool bounded)
{
	return bounded ? 0 : (uint32_t)((int32_t)offset >> 31);
}

/**
 * Reads the entry at `words` and carries it out if it is an ordinary one of the given format.
 * The format is a constant in every call, so that each loop has only its own checks.
 * @return false: it is not; nothing was written
 */
static inline __attribute__((always_inline)) bool apply(const struct cursor *cursor, const uint32_t *words,
							struct entry *entry, uint32_t id,
							struct format format)
{
	const uint32_t index = entry->allocation_index = pb_shared_read32(&words[0]);
	const uint32_t slot_id = entry->slot = pb_shared_read32(&words[1]);
	const uint32_t driver_id = entry->driver_id = pb_shared_read32(&words[2]);
	const uint32_t offset = entry->allocation_offset = pb_shared_read32(&words[3]);
	const uint32_t place = entry->patch_offset = pb_shared_read32(&words[4]);
	const struct pb_core_slot *slot;
	uint32_t low, high, limit;
	uint32_t *at;

	if (((driver_id ^ id) | slot_id >> PB_PATCH_RESERVED_SHIFT) != 0)
		return false;
	/* From here on these two are known, and free their registers. */
	entry->slot = 0;
	entry->driver_id = id;
	/* One compare for range, width and alignment: low bits that are set rotate to the top. */
	if (rotate_right_2(place - cursor->start) >= cursor->positions || index >= cursor->count)
		return false;
	slot = &cursor->slots[index];
	PB_KEEP(slot); /* computed once, not anew for each field */
	limit = slot->limit[format.writes];
	if (format.bounded ? offset >= limit : limit == 0)
		return false;
	low = slot->address_low + offset;
	high = slot->address_high + extend(offset, format.bounded) + (low < offset);
	/* The sum does not wrap 64 bits, as the allocation lies in a segment: high 0 says that it fits 32. */
	if (format.width == 4u && format.bounded && high != 0)
		return false;
	at = (uint32_t *)(cursor->origin + place);
	pb_shared_write32(at, low);
	if (format.width == 8u)
		pb_shared_write32(at + 1, high);
	return true;
}

/** Runs ordinary entries of one format. @return true: the slice is done; false: `tripped` is not ordinary */
static inline __attribute__((always_inline)) bool run(struct cursor *shared_cursor, uint32_t id,
						      struct format format)
{
	const struct cursor cursor = *shared_cursor;
	const uint32_t *words = cursor.words;
	struct entry entry;

	while ((uint32_t)(cursor.end - words) >= UNROLL * WORDS_PER_ENTRY) {
		if (!apply(&cursor, words, &entry, id, format))
			goto tripped_0;
		if (!apply(&cursor, words + WORDS_PER_ENTRY, &entry, id, format))
			goto tripped_1;
		if (!apply(&cursor, words + 2u * WORDS_PER_ENTRY, &entry, id, format))
			goto tripped_2;
		if (!apply(&cursor, words + 3u * WORDS_PER_ENTRY, &entry, id, format))
			goto tripped_3;
		words += UNROLL * WORDS_PER_ENTRY;
	}
	for (; words != cursor.end; words += WORDS_PER_ENTRY) {
		if (!apply(&cursor, words, &entry, id, format))
			goto tripped_0;
	}
	shared_cursor->words = words;
	return true;
	/* Kept apart from the loop, or the compiler works these addresses out with every entry. */
tripped_3:
	PB_KEEP(words);
	words += WORDS_PER_ENTRY;
tripped_2:
	PB_KEEP(words);
	words += WORDS_PER_ENTRY;
tripped_1:
	PB_KEEP(words);
	words += WORDS_PER_ENTRY;
tripped_0:
	shared_cursor->tripped = entry;
	shared_cursor->words = words + WORDS_PER_ENTRY;
	return false;
}

/* Functions of their own, so that each loop has all registers to itself. */
#define FORMAT_LOOP(number, width, bound, write)                                                             \
	static __attribute__((noinline)) bool run_##number(struct cursor *cursor)                            \
	{                                                                                                    \
		return run(cursor, number, (struct format){width, bound, write});                            \
	}
FAST_FORMATS(FORMAT_LOOP)

#define FORMAT_LOOP_ROW(number, width, bound, write) [number] = run_##number,
static bool (*const loops[])(struct cursor *cursor) = {FAST_FORMATS(FORMAT_LOOP_ROW)};

/** Whether a field of `width` bytes at the entry's place lies in the submission. */
static bool inside(const struct cursor *cursor, const struct entry *entry, uint32_t width)
{
	return entry->patch_offset >= cursor->start && cursor->bytes >= width &&
	       entry->patch_offset - cursor->start <= cursor->bytes - width;
}

/** The exact path: checks one by one, in the order of the error list. */
static enum pb_error carry_out(const struct cursor *cursor, const struct entry *entry)
{
	const struct pb_core_slot *slot;
	const struct format *format;
	uint32_t *at;
	uint64_t sum;

	if ((entry->slot & PB_PATCH_RESERVED_MASK) != 0)
		return PB_ERROR_PATCH_RESERVED;
	if (entry->driver_id >= 6u)
		return PB_ERROR_PATCH_FORMAT;
	format = &formats[entry->driver_id];
	if (entry->allocation_index >= cursor->count)
		return PB_ERROR_PATCH_INDEX;
	if ((entry->patch_offset - cursor->start) % 4u != 0)
		return PB_ERROR_PATCH_ALIGNMENT;
	if (!inside(cursor, entry, format->width))
		return PB_ERROR_PATCH_RANGE;
	slot = &cursor->slots[entry->allocation_index];
	if (slot->limit[0] == 0)
		return PB_ERROR_OK; /* unbound: legal, and writes nothing */
	if (slot->limit[format->writes] == 0)
		return PB_ERROR_PATCH_WRITE;
	if (format->bounded && entry->allocation_offset >= slot->limit[0])
		return PB_ERROR_PATCH_OFFSET;
	sum = pb_core_wide(slot->address_low, slot->address_high) +
	      pb_core_wide(entry->allocation_offset, extend(entry->allocation_offset, format->bounded));
	if (format->width == 4u && format->bounded && sum > UINT32_MAX)
		return PB_ERROR_PATCH_VALUE;
	at = (uint32_t *)(cursor->origin + entry->patch_offset);
	pb_shared_write32(at, (uint32_t)sum);
	if (format->width == 8u)
		pb_shared_write32(at + 1, (uint32_t)(sum >> 32));
	return PB_ERROR_OK;
}

static void set_format(struct cursor *cursor, uint32_t id)
{
	const uint32_t width = formats[id].width;

	cursor->format_id = id;
	cursor->positions = cursor->bytes < width ? 0 : (cursor->bytes - width) / 4u + 1u;
}

/** @return OK: the slice is done; else what is wrong with the entry before `words` */
static enum pb_error run_slice(struct cursor *cursor)
{
	while (!loops[cursor->format_id](cursor)) {
		const enum pb_error error = carry_out(cursor, &cursor->tripped);

		if (error != PB_ERROR_OK)
			return error;
		set_format(cursor, cursor->tripped.driver_id);
	}
	return PB_ERROR_OK;
}

/** Slices, until the list ends, an entry fails, a line is raised, or the other nodes have waited long enough. */
static enum pb_error run_slices(struct cursor *cursor, const uint32_t *last, const struct pb_lines *lines)
{
	for (uint32_t slices = 0; slices < PB_PASS_SLICES; slices++) {
		const uint32_t left = (uint32_t)(last - cursor->words);
		enum pb_error error;

		cursor->end = cursor->words + (left < SLICE_WORDS ? left : SLICE_WORDS);
		error = run_slice(cursor);
		if (error != PB_ERROR_OK || cursor->words == last || lines->ops->waiting(lines->context))
			return error;
	}
	return PB_ERROR_OK;
}

void pb_core_patch(struct pb_firmware *firmware, struct pb_core_job *job)
{
	const uint32_t *const first = &job->patches->allocation_index;
	struct cursor cursor = {
		.slots = job->slots,
		.count = job->allocation_count,
		.origin = (uintptr_t)job->target - job->start,
		.start = job->start,
		.bytes = job->bytes,
		.words = first,
	};
	enum pb_error error;
	uint32_t done;

	set_format(&cursor, job->format_id);
	error = run_slices(&cursor, first + job->patches_left * WORDS_PER_ENTRY, firmware->config->lines);
	done = (uint32_t)(cursor.words - first) / WORDS_PER_ENTRY - (error != PB_ERROR_OK ? 1u : 0u);
	job->format_id = cursor.format_id;
	job->work.patches += done;
	job->patch_index += done;
	job->patches += done;
	job->patches_left -= done;
	if (error != PB_ERROR_OK)
		pb_core_job_fail(firmware, job, error, job->patch_index);
	else if (job->patches_left == 0)
		job->state = PB_CORE_JOB_READY;
}
