/* SPDX-License-Identifier: MIT */
/*
 * Room in segments. Each segment has two trees of ranges: of all allocations in it, and of those that the present part
 * holds, so that both "what is free" and "what would be free" are found in O(log n). A list has them by their last use.
 */
#include "host/residency_internal.h"
#include "host/residency_tree.h"
#include "patchbay/residency.h"

static struct pb_residency_room *room_of(struct pb_residency *manager,
					 const struct pb_residency_segment *segment)
{
	return &manager->rooms[segment->id - 1];
}

static uint64_t align_up(uint64_t value, uint64_t alignment)
{
	return (value + alignment - 1) & ~(alignment - 1);
}

/** Returns the first offset from `from` on at which the segment has an allocation's alignment. */
static uint64_t align_offset(const struct pb_residency_segment *segment,
			     const struct pb_residency_request *request, uint64_t from)
{
	const uint64_t alignment = pb_residency_is_aperture(segment) && request->alignment < PB_PAGE_BYTES
					   ? PB_PAGE_BYTES
					   : request->alignment;

	return align_up(segment->gpu_base + from, alignment) - segment->gpu_base;
}

bool pb_residency_room_find(const struct pb_residency *manager, const struct pb_residency_segment *segment,
			    const struct pb_residency_request *request, bool held_only, uint64_t *offset)
{
	const struct pb_residency_room *room = &manager->rooms[segment->id - 1];
	const struct pb_residency_node *root = held_only ? room->held : room->placed;
	const uint64_t bytes = pb_residency_extent(segment, request);
	const struct pb_residency_node *gap = NULL;

	while ((gap = pb_residency_tree_gap(root, gap, bytes)) != NULL) {
		*offset = align_offset(segment, request, gap->offset - gap->gap);
		if (*offset <= gap->offset && bytes <= gap->offset - *offset)
			return true;
	}
	*offset = align_offset(segment, request, pb_residency_tree_end(root));
	return *offset <= segment->bytes && bytes <= segment->bytes - *offset;
}

/** Appends an allocation to the list of its segment, as the one used most recently. */
static void append(struct pb_residency_room *room, struct pb_residency_allocation *allocation)
{
	allocation->older = room->newest;
	allocation->newer = NULL;
	*(room->newest != NULL ? &room->newest->newer : &room->oldest) = allocation;
	room->newest = allocation;
}

static void unlink_from(struct pb_residency_room *room, const struct pb_residency_allocation *allocation)
{
	*(allocation->older != NULL ? &allocation->older->newer : &room->oldest) = allocation->newer;
	*(allocation->newer != NULL ? &allocation->newer->older : &room->newest) = allocation->older;
}

/** Inserts an allocation's range into a tree. The weight follows from its index. */
static void insert(const struct pb_residency *manager, struct pb_residency_node **root,
		   struct pb_residency_node *node, const struct pb_residency_allocation *allocation)
{
	pb_residency_tree_insert(root, node, allocation->offset,
				 allocation->offset +
					 pb_residency_extent(allocation->segment, &allocation->request),
				 (uint32_t)(allocation - manager->setup.allocations));
}

void pb_residency_room_place(struct pb_residency *manager, struct pb_residency_allocation *allocation,
			     const struct pb_residency_segment *segment)
{
	struct pb_residency_room *room = room_of(manager, segment);

	allocation->segment = segment;
	allocation->used = 0;
	insert(manager, &room->placed, &allocation->placed, allocation);
	append(room, allocation);
}

void pb_residency_room_remove(struct pb_residency *manager, struct pb_residency_allocation *allocation)
{
	struct pb_residency_room *room = room_of(manager, allocation->segment);

	if (pb_residency_is_held(manager, allocation))
		pb_residency_tree_remove(&room->held, &allocation->held);
	pb_residency_tree_remove(&room->placed, &allocation->placed);
	unlink_from(room, allocation);
	allocation->segment = NULL;
}

void pb_residency_room_hold(struct pb_residency *manager, struct pb_residency_allocation *allocation)
{
	struct pb_residency_room *room = room_of(manager, allocation->segment);

	if (!pb_residency_is_held(manager, allocation))
		insert(manager, &room->held, &allocation->held, allocation);
	allocation->used = ++manager->clock;
	unlink_from(room, allocation);
	append(room, allocation);
}

struct pb_residency_allocation *pb_residency_room_oldest(const struct pb_residency *manager,
							 const struct pb_residency_segment *segment)
{
	return manager->rooms[segment->id - 1].oldest;
}

void pb_residency_release(struct pb_residency *manager)
{
	manager->held = manager->clock;
	for (uint32_t i = 0; i < PB_RESIDENCY_SEGMENTS; i++)
		manager->rooms[i].held = NULL;
}
