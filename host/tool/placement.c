/* SPDX-License-Identifier: MIT */
#include "host/tool/placement.h"

#define PAGE_BYTES 4096u

static uint64_t grid(const struct pb_subm_object *object)
{
	return object->alignment > PAGE_BYTES ? object->alignment : PAGE_BYTES;
}

/** Places an object at or above `from`. @return its end; 0: the end would be above `top` */
static uint64_t place(const struct pb_subm_object *object, uint64_t from, uint64_t top, uint64_t *address)
{
	uint64_t step = grid(object);

	if (from > top || step > top || object->size > top)
		return 0;
	*address = (from + step - 1) / step * step;
	return *address + object->size <= top ? *address + object->size : 0;
}

bool pb_placement_fixed(const struct pb_subm_submission *submission, uint32_t reloc_bits, uint64_t *addresses)
{
	uint64_t next = reloc_bits == 64 ? UINT64_C(0x100000000) : UINT64_C(0x00100000);

	for (uint32_t i = 0; i < submission->object_count; i++) {
		next = place(&submission->objects[i], next, PB_PLACEMENT_TOP, &addresses[i]);
		if (next == 0)
			return false;
	}
	return true;
}

/** Returns the next number of splitmix64. */
static uint64_t draw(uint64_t *random)
{
	uint64_t mixed = *random += UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
	return mixed ^ mixed >> 31;
}

/** Returns the largest room that an object needs, including alignment. */
static uint64_t room(const struct pb_subm_object *object)
{
	return object->size + grid(object);
}

/** Computes the address space left beside all objects. @return false: they do not fit */
static bool free_room(const struct pb_subm_submission *submission, uint64_t top, uint64_t *left)
{
	*left = top;
	for (uint32_t i = 0; i < submission->object_count; i++) {
		const struct pb_subm_object *object = &submission->objects[i];

		if (object->size > top || grid(object) > top || room(object) > *left)
			return false;
		*left -= room(object);
	}
	return true;
}

/** Fills `order` with 0 .. count - 1, shuffled. */
static void shuffle(uint32_t *order, uint32_t count, uint64_t *random)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t j = (uint32_t)(draw(random) % (i + 1u));

		order[i] = order[j];
		order[j] = i;
	}
}

bool pb_placement_random(const struct pb_subm_submission *submission, uint32_t reloc_bits, uint64_t *random,
			 uint32_t *order, uint64_t *addresses)
{
	uint64_t top = reloc_bits == 64 ? PB_PLACEMENT_TOP : UINT64_C(1) << 32;
	uint32_t count = submission->object_count;
	uint64_t next = 0;
	uint64_t left;

	if (!free_room(submission, top, &left))
		return false;
	shuffle(order, count, random);
	for (uint32_t i = 0; i < count; i++) {
		/* On average an equal share of the room left. */
		uint64_t gap = draw(random) % (2 * left / count + 1);

		if (gap > left)
			gap = left;
		left -= gap;
		next = place(&submission->objects[order[i]], next + gap, top, &addresses[order[i]]);
		if (next == 0)
			return false;
	}
	return true;
}
