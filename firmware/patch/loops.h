/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the files of this folder share: the cursor of a patch list, entries, the
 * formats that have fast loops, and each file's functions. Main loop only.
 *
 *   patch.c           the job: slices, their ends, errors
 *   list.c            fast loops over the 24-byte list
 *   run_list.h        what these loops are made of
 *   run_list_64.c     the one of them that a board may replace
 *   compact.c         fast loops over the compact list
 *   run_compact.h     what these loops are made of
 *   run_compact_64.c  the one of them that a board may replace
 *   mixed.c           the loop over the 24-byte list where formats change, or have no fast loop
 *   kept.c            lists of which much is skipped, as their allocations are kept; the grouped list
 *   slow.c            the slow path: any entry of any format, check by check
 *   format.c          the formats
 *
 * A fast loop holds compares only. An irregular entry leaves it by value for a
 * slower path: no word of a list is read twice.
 */
#ifndef PB_FIRMWARE_PATCH_LOOPS_H
#define PB_FIRMWARE_PATCH_LOOPS_H

#include "firmware/compiler.h"
#include "firmware/patch/format.h"
#include "firmware/patch/job.h"
#include "firmware/wide.h"
#include "hal/lines.h"
#include "hal/shared_burst.h"
#include "patchbay/abi/errors.h"

struct pb_firmware;

/** What one entry says, in private memory. */
struct pb_core_entry {
	uint32_t allocation_index;
	uint32_t slot; /**< SlotId and Reserved */
	uint32_t driver_id;
	uint32_t allocation_offset;
	uint32_t patch_offset;
};

/*
 * Formats that have fast loops.
 * X(NAME, class, value, bounded, column, list, compact): the class of places
 * that it may write to, what it stores, whether AllocationOffset is bounded,
 * which limit of a slot counts, and whether its loops over the two kinds of
 * lists are unrolled. An entry costs 1 instruction more where they are not,
 * and the loop half the bytes.
 */
#define PB_CORE_COMMON_FORMATS(X)                                                                            \
	X(ADDRESS32, LOW, LOW, true, 0, true, true)                                                          \
	X(ADDRESS32_WRITE, LOW, LOW, true, 1, false, false)                                                  \
	X(ADDRESS64_WRITE, WIDE, WIDE, true, 1, true, false)                                                 \
	X(SUM32, ANY, LOW, false, 0, true, false)                                                            \
	X(SUM64_SIGNED, ANY_WIDE, WIDE, false, 0, true, false)                                               \
	X(SUM64_CANONICAL, ANY_WIDE, CANONICAL, false, 0, false, false)                                      \
	X(HIGH32, ANY, HIGH, false, 0, false, false)                                                         \
	X(SHIFT8, WORD, SHIFT8, true, 0, true, false)
/** The one whose loops over runs are files of their own. */
#define PB_CORE_RUN_64(X) X(ADDRESS64, WIDE, WIDE, true, 0, true, true)

#define PB_CORE_FAST_FORMATS(X) PB_CORE_COMMON_FORMATS(X) PB_CORE_RUN_64(X)

/**
 * Classes of formats that agree on where they may write: the number of 4-byte
 * aligned places in the submission, or 0 where this job's allocations need the
 * slow path.
 */
enum pb_core_class {
	PB_CORE_CLASS_LOW = 0,      /**< 4 bytes, the address must fit them */
	PB_CORE_CLASS_WORD = 1,     /**< 4 bytes, bounded */
	PB_CORE_CLASS_WIDE = 2,     /**< 8 bytes, bounded */
	PB_CORE_CLASS_ANY = 3,      /**< 4 bytes, nothing bounded */
	PB_CORE_CLASS_ANY_WIDE = 4, /**< 8 bytes, nothing bounded */
	PB_CORE_CLASSES
};

enum pb_core_value {
	PB_CORE_VALUE_LOW,
	PB_CORE_VALUE_WIDE,
	PB_CORE_VALUE_CANONICAL, /**< WIDE, sign-extended from bit 47 */
	PB_CORE_VALUE_HIGH,
	PB_CORE_VALUE_SHIFT8,
};

/** What a fast loop of a format is made for; constant wherever it is used. */
struct pb_core_fast {
	uint32_t id;
	enum pb_core_class places;
	enum pb_core_value value;
	bool bounded;
	uint32_t column;
	bool unroll_list;    /**< its loop over the 24-byte list is unrolled */
	bool unroll_compact; /**< its loop over the compact list is unrolled */
};
#define PB_CORE_FAST(name, class, value, bounded, column, list, compact)                                     \
	((struct pb_core_fast){PB_PATCH_FORMAT_##name, PB_CORE_CLASS_##class, PB_CORE_VALUE_##value,         \
			       bounded, column, list, compact})

/** The submission, and the place in its list. */
struct pb_core_cursor {
	const uint32_t *words; /**< shared; the next one to read */
	const uint32_t *slice; /**< shared; end of this slice */
	const uint32_t *pass;  /**< shared; where this pass ends, or a little later */
	const uint32_t *end;   /**< shared; of the list */
	const struct pb_core_slot *slots;
	uintptr_t origin; /**< address that PatchOffset counts from */
	uint32_t start;   /**< PatchOffset of the submission's byte 0 */
	uint32_t places[PB_CORE_CLASSES];
	const uint32_t *pending; /**< see hal/lines.h */
	uint32_t format_id;      /**< of the last entry */
	struct pb_core_entry
		irregular; /**< after PB_CORE_IRREGULAR: the entry before `words`; compact: the words there */
	uint32_t
		escapes; /**< words of this pass that are no entry's which is carried out, and third words of escapes */
	uint32_t mixed_slices; /**< to go until two neighbours are compared; 0: now, with `format_id` */
	bool fenced;           /**< an entry wrote the fence id */
	struct pb_firmware *firmware;
	struct pb_core_job *job;
};

/** How a loop ended. */
enum pb_core_run {
	PB_CORE_DONE,      /**< at the slice's end */
	PB_CORE_IRREGULAR, /**< `irregular` has been read and not carried out */
};

#define PB_CORE_ENTRY_WORDS ((uint32_t)(sizeof(struct pb_patch_location) / sizeof(uint32_t)))

/** Whether a format has fast loops. */
#define PB_CORE_FAST_BIT(name, ...) | 1u << PB_PATCH_FORMAT_##name
static inline bool pb_core_is_fast(uint32_t id)
{
	return id < 32u && (((0u PB_CORE_FAST_FORMATS(PB_CORE_FAST_BIT)) >> id) & 1u) != 0;
}

/** Reads the entry at `words`. @return the address of the next one */
/*@
  requires \valid(entry) && \valid_read(words + (0 .. 4));
  assigns \result \from words;
  assigns *entry;
  ensures \result == words + 6;
*/
static PB_CORE_INLINE const uint32_t *pb_core_read_entry(const uint32_t *words, struct pb_core_entry *entry)
{
	uint32_t six[PB_CORE_ENTRY_WORDS];

	words = pb_shared_read_five_of_six(words, six);
	entry->allocation_index = six[0];
	entry->slot = six[1];
	entry->driver_id = six[2];
	entry->allocation_offset = six[3];
	entry->patch_offset = six[4];
	return words;
}

/*@
  assigns \nothing;
  ensures \result == value / 4 + value % 4 * 0x40000000;
*/
static inline uint32_t pb_core_rotate_right_2(uint32_t value)
{
	return value >> 2 | value << 30;
}

/* An index that has bits above these is out of range; one that has none hits a slot, which may have limit 0. */
#define PB_CORE_INDEX_BITS ((uint32_t)__builtin_ctz(PB_LIMIT_ALLOCATIONS))
PB_STATIC_ASSERT(PB_LIMIT_ALLOCATIONS == 1u << PB_CORE_INDEX_BITS,
		 "every index of that many bits has a slot");

/*@
  logic integer pb_core_width(struct pb_core_fast fast) =
    fast.value == PB_CORE_VALUE_WIDE || fast.value == PB_CORE_VALUE_CANONICAL ? 8 : 4;

  logic integer pb_core_address(struct pb_core_slot *slot) = slot->low + 0x100000000 * slot->high;

  // AllocationOffset as SIGNED formats take it.
  logic integer pb_core_signed(integer offset) = offset < 0x80000000 ? offset : offset - 0x100000000;

  // Slots of a job without places for bounded formats if some allocation crosses 4 GiB: none does.
  predicate pb_core_no_carry(struct pb_core_slot *slot, struct pb_core_fast fast) =
    fast.bounded != 0 && 0 < slot->limit[fast.column] ==> slot->low + slot->limit[fast.column] <= 0x100000000;

  // The stores of one entry: where, and what include/patchbay/abi/format.h says of it.
  predicate pb_core_stored_at(integer at, struct pb_core_fast fast) =
    pb_core_width(fast) == 8 ? pb_earlier_at == at && pb_last_at == at + 4 : pb_last_at == at;
  predicate pb_core_stored_low(struct pb_core_slot *slot, integer offset) =
    pb_last_value == (pb_core_address(slot) + offset) % 0x100000000;
  predicate pb_core_stored_wide(struct pb_core_slot *slot, integer offset) =
    pb_earlier_value + 0x100000000 * pb_last_value == pb_core_address(slot) + offset;
  predicate pb_core_stored_signed(struct pb_core_slot *slot, integer offset) =
    pb_earlier_value + 0x100000000 * pb_last_value ==
    (uint64_t)(pb_core_address(slot) + pb_core_signed(offset));
  predicate pb_core_stored_high(struct pb_core_slot *slot, integer offset) =
    pb_last_value == (pb_core_address(slot) + offset) / 0x100000000 % 0x100000000;
  predicate pb_core_stored_shift8(struct pb_core_slot *slot, integer offset) =
    pb_last_value == (pb_core_address(slot) + offset) / 0x100;
  // As signed, with bit 47 repeated above it.
  predicate pb_core_stored_canonical(struct pb_core_slot *slot, integer offset) = \let sum =
    (uint64_t)(pb_core_address(slot) + pb_core_signed(offset)) % 0x1000000000000;
    pb_earlier_value + 0x100000000 * pb_last_value ==
    (sum < 0x800000000000 ? sum : sum + 0xffff000000000000);
*/

/**
 * Writes an ordinary entry of a fast format. Its place has been checked.
 * @return false: it is not ordinary; nothing was written
 */
/*@
  requires \valid_read(slot) && fast.column < 2 && fast.value <= PB_CORE_VALUE_SHIFT8;
  requires pb_core_no_carry(slot, fast);
  requires in_range: pb_in_range((uint32_t)at, pb_core_width(fast)) && pb_range_at + pb_range_bytes <= 0x100000000;
  assigns pb_stores, pb_last_at, pb_last_value, pb_earlier_at, pb_earlier_value;
  ensures nothing: !\result ==> pb_stores == \old(pb_stores);
  ensures bound: \result ==>
    (fast.bounded ? offset < slot->limit[fast.column] : slot->limit[fast.column] != 0);
  ensures place: \result ==> pb_core_stored_at((uint32_t)at, fast);
  ensures low: \result && fast.value == PB_CORE_VALUE_LOW ==> pb_core_stored_low(slot, offset);
  ensures wide: \result && fast.value == PB_CORE_VALUE_WIDE && fast.bounded ==> pb_core_stored_wide(slot, offset);
  ensures signed: \result && fast.value == PB_CORE_VALUE_WIDE && !fast.bounded ==>
    pb_core_stored_signed(slot, offset);
  ensures canonical: \result && fast.value == PB_CORE_VALUE_CANONICAL && !fast.bounded ==>
    pb_core_stored_canonical(slot, offset);
  ensures high: \result && fast.value == PB_CORE_VALUE_HIGH && !fast.bounded ==> pb_core_stored_high(slot, offset);
  ensures shift8: \result && fast.value == PB_CORE_VALUE_SHIFT8 && fast.bounded ==>
    pb_core_stored_shift8(slot, offset);
*/
static PB_CORE_INLINE bool pb_core_store(const struct pb_core_slot *slot, uint32_t offset, uint32_t *at,
					 struct pb_core_fast fast, bool burst)
{
	/* One instruction reads what these formats need of a slot; the others are better off without. */
	const bool at_once = burst && PB_SHARED_BURSTS && fast.column == 0 &&
			     fast.value != PB_CORE_VALUE_LOW && fast.value != PB_CORE_VALUE_SHIFT8;
	uint32_t low, high, limit;

	if (at_once)
		pb_burst_get_three(&slot->low, &low, &high, &limit);
	else
		limit = slot->limit[fast.column];
	if (fast.bounded ? offset >= limit : limit == 0)
		return false;
	if (!at_once)
		low = slot->low;
	if (fast.value == PB_CORE_VALUE_LOW) {
		pb_shared_write32(at, low + offset);
		return true;
	}
	if (!at_once)
		high = slot->high;
	if (fast.bounded && !at_once)
		PB_CORE_PAIR(low, high);
	low += offset;
	/* No carry where the offset is bounded: no allocation of this job crosses 4 GiB, or there were no places. */
	if (!fast.bounded && fast.value != PB_CORE_VALUE_HIGH)
		high += (uint32_t)((int32_t)offset >> 31);
	/*@ assert minus: !fast.bounded && fast.value != PB_CORE_VALUE_HIGH && offset >= 0x80000000 ==>
	      high == (slot->high == 0 ? 0xffffffff : slot->high - 1); */
	/*@ assert low: low == (slot->low + offset < 0x100000000 ? slot->low + offset : slot->low + offset - 0x100000000); */
	/*@ assert carry: low < offset <==> slot->low + offset >= 0x100000000; */
	if (!fast.bounded)
		high += low < offset;
	/*@ assert plain: !fast.bounded && fast.value != PB_CORE_VALUE_HIGH && offset < 0x80000000 ==>
	      high == (low >= offset ? slot->high : (slot->high == 0xffffffff ? 0 : slot->high + 1)); */
	/*@ assert signed: !fast.bounded && fast.value != PB_CORE_VALUE_HIGH && offset >= 0x80000000 ==>
	      high == (low < offset ? slot->high : (slot->high == 0 ? 0xffffffff : slot->high - 1)); */
	/*@ assert sum: !fast.bounded && fast.value != PB_CORE_VALUE_HIGH ==>
	      low + 0x100000000 * high == (uint64_t)(pb_core_address(slot) + pb_core_signed(offset)); */
	/*@ assert (low + 0x100000000 * high) % 0x1000000000000 == low + 0x100000000 * (high % 0x10000); */
	/*@ assert (uint32_t)(int16_t)high == (high % 0x10000 < 0x8000 ? high % 0x10000 : high % 0x10000 + 0xffff0000); */
	if (fast.value == PB_CORE_VALUE_HIGH) {
		pb_shared_write32(at, high);
	} else if (fast.value == PB_CORE_VALUE_SHIFT8) {
		if (high > 0xffu)
			return false;
		pb_shared_write32(at, low >> 8 | high << 24);
	} else {
		pb_shared_write_pair(at, low,
				     fast.value == PB_CORE_VALUE_WIDE ? high : (uint32_t)(int16_t)high);
	}
	return true;
}

/* ---- list.c ---- */

/** The next slices of a 24-byte list. @return what is wrong with the entry at `words` */
enum pb_error pb_core_list_slices(struct pb_core_cursor *cursor);

/* ---- run_list_64.c, run_compact_64.c: may be replaced by the files of a CPU, see firmware/CMakeLists.txt ---- */

/**
 * Runs ordinary entries of format ADDRESS64 in the 24-byte list, slice after
 * slice, from `words` on; sets `words`, and what PB_CORE_IRREGULAR describes.
 * In `irregular` SlotId need not be the one read. Then `slice` is set, too.
 */
enum pb_core_run pb_core_run_list_64(struct pb_core_cursor *cursor);
/** As pb_core_run_list_64(), for short entries of a compact list. `slice` stays as it is, and so may all but two words of `irregular`. */
enum pb_core_run pb_core_run_compact_64(struct pb_core_cursor *cursor);

/* ---- compact.c ---- */

/** The next slices of a compact list. @return what is wrong with the entry at `words` */
enum pb_error pb_core_compact_slices(struct pb_core_cursor *cursor);

/* ---- kept.c ---- */

/** As pb_core_list_slices(), without entries of allocations that are kept. */
enum pb_error pb_core_kept_slices(struct pb_core_cursor *cursor);
/** The next slices of a grouped list. @return what is wrong with the entry, or the head of a group, at `words` */
enum pb_error pb_core_group_slices(struct pb_core_cursor *cursor);

/* ---- mixed.c ---- */

/**
 * Applies the irregular entry and those behind it, of any formats, slice after slice. Stops where two neighbours are of
 * one fast format, which is `format_id` then; and where other loops stop, too.
 * @param search whether the first two are looked at for that
 * @return what is wrong with the entry before `words`
 */
enum pb_error pb_core_list_mixed(struct pb_core_cursor *cursor, bool search);

/* ---- slow.c ---- */

/** Applies any entry. @return OK, or what is wrong with the entry */
enum pb_error pb_core_slow_path(struct pb_core_cursor *cursor, const struct pb_core_entry *entry);

#endif
