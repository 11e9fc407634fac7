/* SPDX-License-Identifier: MIT */
/* Residency: where allocations are, and what a packet needs before it is submitted. */
#include "host/tool/wddm_memory.h"

#include <stdlib.h>

static bool fail(struct pb_vidmm *manager, const char *what)
{
	return pb_os_fail(manager->os, "memory manager: %s", what);
}

/* ---- room in segments ---- */

static const struct pb_vidmm_allocation *overlap(const struct pb_vidmm *manager,
						 const struct pb_vidmm_segment *segment, uint64_t address,
						 uint64_t bytes, bool held_only)
{
	for (uint32_t i = 0; i < manager->allocation_count; i++) {
		const struct pb_vidmm_allocation *other = &manager->allocations[i];

		if (other->segment == segment && (!held_only || other->used > manager->held) &&
		    other->address < address + bytes && address < other->address + other->bytes)
			return other;
	}
	return NULL;
}

/** Finds the first room from an address of the segment on. @return false: there is none */
static bool find_from(const struct pb_vidmm *manager, const struct pb_vidmm_segment *segment, uint64_t bytes,
		      bool held_only, uint64_t *address)
{
	const struct pb_vidmm_allocation *other;

	do {
		if (*address - segment->base > segment->bytes ||
		    bytes > segment->bytes - (*address - segment->base))
			return false;
		other = overlap(manager, segment, *address, bytes, held_only);
		if (other != NULL)
			*address = other->address + other->bytes;
	} while (other != NULL);
	return true;
}

/** Finds room, at first behind what was placed last: so allocations move. */
static bool find_room(const struct pb_vidmm *manager, const struct pb_vidmm_segment *segment, uint64_t bytes,
		      bool held_only, uint64_t *address)
{
	*address = segment->rover;
	if (find_from(manager, segment, bytes, held_only, address))
		return true;
	*address = segment->base;
	return find_from(manager, segment, bytes, held_only, address);
}

static struct pb_vidmm_allocation *victim_of(struct pb_vidmm *manager, const struct pb_vidmm_segment *segment)
{
	struct pb_vidmm_allocation *victim = NULL;

	for (uint32_t i = 0; i < manager->allocation_count; i++) {
		struct pb_vidmm_allocation *other = &manager->allocations[i];

		if (other->segment == segment && other->used <= manager->held &&
		    (victim == NULL || other->used < victim->used))
			victim = other;
	}
	return victim;
}

/** Waits until no packet on a hardware queue names an allocation, and pages it out. */
static bool evict(struct pb_vidmm *manager, struct pb_vidmm_allocation *allocation, bool keep)
{
	while (allocation->pins != 0) {
		if (!pb_os_step(manager->os))
			return false;
	}
	return allocation->segment == NULL || pb_vidmm_page_out(manager, allocation, keep);
}

static struct pb_vidmm_segment *segment_of(struct pb_vidmm *manager, uint32_t id)
{
	for (uint32_t i = 0; i < manager->segment_count; i++) {
		if (manager->segments[i].id == id)
			return &manager->segments[i];
	}
	return NULL;
}

/** Returns the first preferred segment with free room, else the first one in which evictions can make room, or NULL. */
static struct pb_vidmm_segment *choose_segment(struct pb_vidmm *manager,
					       const struct pb_vidmm_allocation *allocation)
{
	for (uint32_t i = 0; i < 2 * PB_VIDMM_PREFERRED; i++) {
		struct pb_vidmm_segment *segment =
			segment_of(manager, allocation->preferred[i % PB_VIDMM_PREFERRED]);
		uint64_t address;

		if (segment != NULL &&
		    find_room(manager, segment, allocation->bytes, i >= PB_VIDMM_PREFERRED, &address))
			return segment;
	}
	return NULL;
}

/** Makes an allocation resident. @param room out: false: what this packet holds leaves no room */
static bool hold(struct pb_vidmm *manager, struct pb_vidmm_allocation *allocation, bool *room)
{
	struct pb_vidmm_segment *segment = allocation->segment;
	uint64_t address = allocation->address;

	if (segment == NULL) {
		segment = choose_segment(manager, allocation);
		*room = segment != NULL;
		if (!*room)
			return true;
		while (!find_room(manager, segment, allocation->bytes, false, &address)) {
			if (!evict(manager, victim_of(manager, segment), true))
				return false;
		}
		allocation->segment = segment;
		allocation->address = address;
		segment->rover = address + allocation->bytes;
		if (!pb_vidmm_page_in(manager, allocation))
			return false;
	}
	allocation->used = ++manager->clock;
	return true;
}

bool pb_vidmm_evict(struct pb_vidmm *manager, struct pb_vidmm_allocation *allocation, bool keep)
{
	return evict(manager, allocation, keep) && pb_vidmm_flush(manager);
}

/* ---- what a packet needs ---- */

static struct pb_vidmm_allocation *named(const struct pb_vidmm_buffer *buffer, uint32_t location)
{
	return buffer->named[buffer->locations[location].allocation_index];
}

/** Holds what the locations [first, end) name: what is resident already goes first. */
static bool hold_range(struct pb_vidmm *manager, const struct pb_vidmm_buffer *buffer, uint32_t first,
		       uint32_t end, bool *room)
{
	*room = true;
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t i = first; i != end && *room; i++) {
			struct pb_vidmm_allocation *allocation = named(buffer, i);

			if (allocation != NULL && (pass == 1 || allocation->segment != NULL) &&
			    !hold(manager, allocation, room))
				return false;
		}
	}
	return true;
}

/** Returns the location behind those of one SplitOffset. */
static uint32_t group_end(const struct pb_vidmm_buffer *buffer, uint32_t first, uint32_t last)
{
	uint32_t end = first;

	while (end != last && buffer->locations[end].split_offset == buffer->locations[first].split_offset)
		end++;
	return end;
}

/** One command alone may fit when all else is evicted, because free room may be in pieces. */
static bool hold_alone(struct pb_vidmm *manager, const struct pb_vidmm_buffer *buffer, uint32_t first,
		       uint32_t end)
{
	bool room;

	manager->held = manager->clock;
	for (uint32_t i = 0; i < manager->allocation_count; i++) {
		if (!evict(manager, &manager->allocations[i], true))
			return false;
	}
	if (!hold_range(manager, buffer, first, end, &room))
		return false;
	return room || fail(manager, "one command needs more than fits");
}

/** Holds as many commands of [first, end) as fit at once, at least one. @param next out: the first that does not fit */
static bool gather(struct pb_vidmm *manager, const struct pb_vidmm_buffer *buffer, uint32_t first,
		   uint32_t end, uint32_t *next)
{
	bool room = true;

	manager->held = manager->clock;
	*next = first;
	while (*next != end) {
		const uint32_t behind = group_end(buffer, *next, end);

		if (!hold_range(manager, buffer, *next, behind, &room))
			return false;
		if (!room && *next != first)
			return true;
		if (!room && !hold_alone(manager, buffer, first, behind))
			return false;
		*next = behind;
	}
	return true;
}

/** Makes the locations from `next` on a packet of their own. */
static bool split(struct pb_vidmm *manager, struct pb_os_packet *packet, uint32_t next)
{
	struct pb_vidmm_buffer *buffer = packet->owner;
	struct pb_dxgkarg_patch *whole = &packet->arguments;
	const uint32_t length = next - whole->PatchLocationListSubmissionStart;
	struct pb_os_packet *rest = malloc(sizeof(*rest));

	if (rest == NULL)
		return fail(manager, "out of memory");
	*rest = *packet;
	rest->built = rest->built_behind = 0;
	rest->arguments.DmaBufferSubmissionStartOffset = buffer->locations[next].split_offset;
	rest->arguments.PatchLocationListSubmissionStart = next;
	rest->arguments.PatchLocationListSubmissionLength -= length;
	whole->DmaBufferSubmissionEndOffset = buffer->locations[next].split_offset;
	whole->PatchLocationListSubmissionLength = length;
	buffer->packets++;
	manager->figures.splits++;
	pb_os_split(manager->os, packet, rest);
	return true;
}

/* ---- lists ---- */

void pb_vidmm_list(struct pb_vidmm_buffer *buffer, uint32_t index, struct pb_vidmm_allocation *allocation,
		   bool written)
{
	struct pb_dxgk_allocationlist *entry = &buffer->list[index];

	buffer->named[index] = allocation;
	*entry = (struct pb_dxgk_allocationlist){.Value = written ? PB_DXGK_ALLOCATION_WRITE : 0};
	if (allocation == NULL)
		return;
	entry->hDeviceSpecificAllocation = &allocation->object;
	if (allocation->segment != NULL) {
		entry->Value |= allocation->segment->id << PB_DXGK_ALLOCATION_SEGMENT_SHIFT;
		entry->PhysicalAddress = allocation->address;
	}
	buffer->rendered[index] = *entry;
}

/** Refreshes the entries that a packet names, and pins them. The others keep what they had, which may be stale. */
static void refresh(struct pb_os_packet *packet)
{
	struct pb_vidmm_buffer *buffer = packet->owner;
	const uint32_t first = packet->arguments.PatchLocationListSubmissionStart;
	bool moved = buffer->patched;

	for (uint32_t i = first; i != first + packet->arguments.PatchLocationListSubmissionLength; i++) {
		const uint32_t index = buffer->locations[i].allocation_index;
		struct pb_vidmm_allocation *allocation = buffer->named[index];
		struct pb_dxgk_allocationlist *entry = &buffer->list[index];

		if (allocation == NULL)
			continue;
		entry->Value = (entry->Value & PB_DXGK_ALLOCATION_WRITE) |
			       allocation->segment->id << PB_DXGK_ALLOCATION_SEGMENT_SHIFT;
		entry->PhysicalAddress = allocation->address;
		moved = moved || entry->Value != buffer->rendered[index].Value ||
			entry->PhysicalAddress != buffer->rendered[index].PhysicalAddress;
		allocation->pins++;
		allocation->changed = allocation->changed || (entry->Value & PB_DXGK_ALLOCATION_WRITE) != 0;
	}
	/* What Render wrote is still right: the OS may leave Patch out. */
	packet->patch = moved;
}

static void unpin(const struct pb_os_packet *packet)
{
	const struct pb_vidmm_buffer *buffer = packet->owner;
	const uint32_t first = packet->arguments.PatchLocationListSubmissionStart;

	for (uint32_t i = first; i != first + packet->arguments.PatchLocationListSubmissionLength; i++) {
		if (named(buffer, i) != NULL)
			named(buffer, i)->pins--;
	}
}

/* ---- the scheduler's client ---- */

static bool prepare(void *context, struct pb_os_packet *packet)
{
	struct pb_vidmm *manager = context;
	struct pb_vidmm_buffer *buffer = packet->owner;
	const uint32_t first = packet->arguments.PatchLocationListSubmissionStart;
	const uint32_t end = first + packet->arguments.PatchLocationListSubmissionLength;
	uint32_t next;

	if (!gather(manager, buffer, first, end, &next) || !pb_vidmm_flush(manager) ||
	    (next != end && !split(manager, packet, next)))
		return false;
	refresh(packet);
	if (manager->without_patches)
		packet->patch = false;
	buffer->patched = buffer->patched || packet->patch;
	manager->figures.prepatched += packet->patch ? 0u : 1u;
	return true;
}

static void left(void *context, struct pb_os_packet *packet, enum pb_os_end end)
{
	struct pb_vidmm *manager = context;
	struct pb_vidmm_buffer *buffer = packet->owner;

	if (packet == &manager->paging.packet) {
		manager->paging.running = manager->paging.running && end == PB_OS_RECALLED;
		if (end == PB_OS_ABORTED)
			(void)fail(manager, "a paging buffer was aborted");
		return;
	}
	if (end != PB_OS_DROPPED)
		unpin(packet);
	if (end == PB_OS_RECALLED)
		return;
	buffer->packets--;
	free(packet);
}

struct pb_os_client pb_vidmm_client(struct pb_vidmm *manager)
{
	return (struct pb_os_client){.prepare = prepare, .left = left, .context = manager};
}

struct pb_os_packet *pb_vidmm_submit(struct pb_vidmm *manager, struct pb_wddm_context *context,
				     struct pb_vidmm_buffer *buffer, size_t built)
{
	struct pb_os_packet *packet = malloc(sizeof(*packet));

	if (packet == NULL) {
		(void)fail(manager, "out of memory");
		return NULL;
	}
	*packet = (struct pb_os_packet){
		.arguments = {.hContext = context,
			      .DmaBufferSegmentId = PB_SEGMENT_SYSTEM,
			      .DmaBufferPhysicalAddress = buffer->memory.os_address,
			      .pDmaBuffer = buffer->memory.bytes_host,
			      .DmaBufferSize = buffer->memory.bytes,
			      .DmaBufferSubmissionEndOffset = buffer->dma_end,
			      .pDmaBufferPrivateData = buffer->private_data,
			      .DmaBufferPrivateDataSize = buffer->private_size,
			      .DmaBufferPrivateDataSubmissionEndOffset = buffer->private_end,
			      .pAllocationList = buffer->list,
			      .AllocationListSize = buffer->allocation_room,
			      .pPatchLocationList = buffer->locations,
			      .PatchLocationListSize = buffer->location_count,
			      .PatchLocationListSubmissionLength = buffer->location_count},
		.node = context->node,
		.built = built,
		.built_behind = built + 1,
		.owner = buffer,
	};
	buffer->patched = false;
	buffer->packets++;
	pb_os_enqueue(manager->os, packet);
	return packet;
}
