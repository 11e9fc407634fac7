/* SPDX-License-Identifier: MIT */
/* The run of regular allocations. */
#include <stddef.h>
#include <string.h>

#include "tests/bench/twins.h"

#define ALLOCATIONS_MAX 80u
/** Slots and ids from here on are never written. Those before are compared. */
#define USED 96u
/** First contents of a window's lists. */
#define POISON 0x5a

enum kind {
	FLAGS,
	ADDRESS_HIGH,
	SIZE_HIGH,
	BEFORE_SEGMENT,
	BEHIND_SEGMENT,
	FAR_AWAY,
	SIZE_ZERO,
	SIZE_ONE_MORE,
	SIZE_TOO_LARGE,
	ANYTHING,
	KINDS
};

static struct pb_twins_ends ends;
static struct pb_core_job by_assembly, by_c;
static uint32_t line;

static struct pb_allocation *list(uint32_t count)
{
	return (struct pb_allocation *)PB_TWINS_MEMORY_END - count;
}

static struct pb_core_window any_window(void)
{
	const uint32_t legal =
		PB_ALLOCATION_WRITE | PB_ALLOCATION_SEGMENT_MASK | PB_ALLOCATION_ATTRIBUTE_MASK;
	struct pb_core_window window = {
		.flags = pb_twins_random() & legal,
		.os_high = pb_twins_edge_number(),
		.bytes = pb_twins_edge_number() | 1u,
		.gpu_delta = pb_twins_random(),
		.gpu_high = pb_twins_random(),
		.writable = pb_twins_below(2) != 0 ? UINT32_MAX : 0,
	};

	/* As low as possible, as high as possible (ending at 0), or between. */
	window.os_end = window.bytes + pb_twins_below(0u - window.bytes);
	if (pb_twins_below(3) == 0)
		window.os_end = pb_twins_below(2) != 0 ? window.bytes : 0;
	return window;
}

static struct pb_allocation regular(const struct pb_core_window *window)
{
	uint32_t room = 1u + pb_twins_below(window->bytes);
	uint32_t size;

	if (pb_twins_below(8) == 0)
		room = pb_twins_below(2) != 0 ? window->bytes : 1u;
	size = pb_twins_below(4) == 0 ? room : 1u + pb_twins_below(room);
	return (struct pb_allocation){
		.address_low = window->os_end - room,
		.address_high = window->os_high,
		.size_low = size,
		.flags = window->flags,
		.id = pb_twins_random() | 1u,
	};
}

static void spoil(const struct pb_core_window *window, struct pb_allocation *allocation, uint32_t kind)
{
	const uint32_t room = window->os_end - allocation->address_low;
	const uint32_t bit = 1u << pb_twins_below(32);

	if (kind == FLAGS)
		allocation->flags ^= bit;
	else if (kind == ADDRESS_HIGH)
		allocation->address_high ^= bit;
	else if (kind == SIZE_HIGH)
		allocation->size_high = bit;
	else if (kind == BEFORE_SEGMENT)
		allocation->address_low = window->os_end - window->bytes - 1u;
	else if (kind == BEHIND_SEGMENT)
		allocation->address_low = window->os_end;
	else if (kind == FAR_AWAY)
		allocation->address_low = window->os_end + pb_twins_below(0u - window->bytes);
	else if (kind == SIZE_ZERO)
		allocation->size_low = 0;
	else if (kind == SIZE_ONE_MORE)
		allocation->size_low = room + 1u;
	else if (kind == SIZE_TOO_LARGE)
		allocation->size_low = room + 1u + pb_twins_below(0u - room);
	else
		*allocation = (struct pb_allocation){pb_twins_edge_number(), pb_twins_edge_number(),
						     pb_twins_edge_number(), pb_twins_edge_number(),
						     pb_twins_edge_number(), pb_twins_edge_number()};
}

static void set_job(struct pb_core_job *job, uint32_t count, uint32_t first)
{
	memset(job, POISON, offsetof(struct pb_core_job, slots) + USED * sizeof(job->slots[0]));
	memset(job->ids, 0, USED * sizeof(job->ids[0]));
	job->allocations = list(count);
	job->allocation_count = count;
	job->resolved = first;
}

static void compare(void)
{
	const uint32_t words =
		(uint32_t)(offsetof(struct pb_core_job, slots) + USED * sizeof(by_c.slots[0])) / 4u;

	pb_twins_require(by_assembly.resolved == by_c.resolved, "the number of allocations differs");
	pb_twins_require(pb_twins_equal(&by_assembly, &by_c, words), "the slots differ");
	pb_twins_require(pb_twins_equal(by_assembly.ids, by_c.ids, USED), "the ids differ");
}

/** @param raise an id whose store raises the interrupt; otherwise `line` is pending or not */
static void run(const struct pb_core_window *window, uint32_t count, uint32_t first, uint32_t raise)
{
	struct pb_core_listed one = {1, 2, 3, 4, 5, 6}, other = one;
	const bool by_id = raise < USED;
	bool irregular;

	set_job(&by_c, count, first);
	set_job(&by_assembly, count, first);
	irregular = pb_twin_run_resolve(&by_c, window, count, by_id ? &by_c.ids[raise] : &line, &one);
	pb_twins_require(pb_core_run_resolve(&by_assembly, window, count,
					     by_id ? &by_assembly.ids[raise] : &line, &other) == irregular,
			 "the result differs");
	compare();
	pb_twins_require(pb_twins_equal(&one, &other, sizeof(one) / sizeof(uint32_t)),
			 "the irregular allocation differs");
	ends.runs++;
	ends.entries += by_c.resolved - first;
	if (irregular)
		ends.irregular[(by_c.resolved - first) %
			       (sizeof(ends.irregular) / sizeof(ends.irregular[0]))]++;
	else if (by_c.resolved != count)
		ends.raised++;
	else
		ends.finished++;
}

static struct pb_core_window set_list(uint32_t count)
{
	const struct pb_core_window window = any_window();

	for (uint32_t i = 0; i < count; i++)
		list(count)[i] = regular(&window);
	line = 0;
	return window;
}

/** Each kind of irregular allocation, at each index of lists around one slice's and two slices' length. */
static void every_kind_at_every_index(void)
{
	static const uint32_t lengths[] = {1, 3, 4, 5, 15, 16, 17, 22, 31, 32, 33, 39};

	for (uint32_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
		for (uint32_t at = 0; at < lengths[l]; at++) {
			for (uint32_t kind = 0; kind < KINDS; kind++) {
				const struct pb_core_window window = set_list(lengths[l]);

				spoil(&window, &list(lengths[l])[at], kind);
				run(&window, lengths[l], 0, USED);
			}
		}
	}
}

/**
 * Lists of any length and start, with random irregular allocations, an interrupt that may be raised, and a
 * window that may be closed.
 */
static void random_lists(void)
{
	for (uint32_t i = 0; i < 4000u; i++) {
		const uint32_t count = 1u + pb_twins_below(ALLOCATIONS_MAX);
		const uint32_t rarity = 1u << pb_twins_below(9);
		struct pb_core_window window = set_list(count);

		for (uint32_t a = 0; a < count; a++) {
			while (pb_twins_below(rarity) == 0 && rarity != 1u)
				spoil(&window, &list(count)[a], pb_twins_below(KINDS - 1u));
		}
		if (pb_twins_below(16) == 0)
			window = (struct pb_core_window){.flags = PB_CORE_WINDOW_CLOSED};
		line = pb_twins_below(8) == 0;
		run(&window, count, pb_twins_below(count), pb_twins_below(2u * USED));
	}
}

/** With a closed window every allocation is irregular, even one that looks regular. */
static void closed_window(void)
{
	const struct pb_core_window window = {.flags = PB_CORE_WINDOW_CLOSED};
	static const uint32_t sizes[] = {0, 1, UINT32_MAX};

	line = 0;
	for (uint32_t i = 0; i < 2u * sizeof(sizes) / sizeof(sizes[0]); i++) {
		list(1)[0] = (struct pb_allocation){.size_low = sizes[i / 2u],
						    .flags = PB_CORE_WINDOW_CLOSED >> i % 2u};
		run(&window, 1, 0, USED);
		pb_twins_require(by_c.resolved == 0, "a closed window was used");
	}
}

void pb_twins_resolve(void)
{
	every_kind_at_every_index();
	random_lists();
	closed_window();
	pb_twins_report("resolve", &ends);
}
