/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hal/engine/packets.h"
#include "hal/shared.h"
#include "host/tool/demo_state.h"

/* Returns the expected rows of a resource, without its inset. */
static const uint32_t *rows_of(const struct pb_demo *demo, uint32_t number)
{
	if (number == PB_DEMO_VERTICES)
		return (const uint32_t *)(const void *)demo->scene.vertices;
	return demo->expected[number].pixels;
}

/* Writes the expected contents of a resource, inset and the rest of its last unit included. @return number of words */
static uint32_t lay_out(const struct pb_demo *demo, uint32_t number, uint32_t *words)
{
	const struct pb_demo_resource *resource = &demo->resources[number];
	const uint32_t unit = demo->path->unit;
	const uint32_t bytes = (pb_demo_bytes(resource) + unit - 1) / unit * unit;

	for (uint32_t i = 0; i < bytes / 4; i++)
		words[i] = PB_DEMO_POISON;
	memcpy(words + resource->inset / 4, rows_of(demo, number), resource->row_bytes * resource->rows);
	return bytes / 4;
}

/* Compares words with the shadow and prints the first difference. @param offset of the first word */
static bool compare(const struct pb_demo *demo, uint32_t segment, uint32_t offset, const uint32_t *found,
		    uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t word = pb_shared_read32(&found[i]);

		if (word == demo->shadow[i])
			continue;
		fprintf(stderr,
			"patchbay demo: frame %u: segment %u, offset 0x%x: expected 0x%08x, found 0x%08x\n",
			(unsigned)demo->frame, (unsigned)segment, (unsigned)(offset + 4 * i),
			(unsigned)demo->shadow[i], (unsigned)word);
		return false;
	}
	return true;
}

/* Audits a segment of video memory: resident resources, and the poison that DISCARD left around them. */
static bool audit_segment(struct pb_demo *demo, uint32_t number)
{
	const struct pb_segment *segment = &demo->segments[number];
	const uint32_t count = segment->request.backing_bytes / 4;

	for (uint32_t i = 0; i < count; i++)
		demo->shadow[i] = PB_ENGINE_POISON;
	for (uint32_t i = 0; i < PB_DEMO_RESOURCES; i++) {
		const struct pb_demo_place found = demo->path->find(demo, i);

		if (found.segment == number)
			(void)lay_out(demo, i,
				      demo->shadow + (found.os_address - segment->request.os_base) / 4);
	}
	return compare(demo, number, 0, (const void *)(demo->channel.link->memory + segment->memory_offset),
		       count);
}

/* Audits the backing store of a resource that is paged out or mapped by the aperture. */
static bool audit_backing(struct pb_demo *demo, uint32_t number)
{
	const struct pb_demo_place found = demo->path->find(demo, number);
	uint32_t count;

	if (found.segment == PB_DEMO_LARGE || found.segment == PB_DEMO_SMALL)
		return true;
	count = lay_out(demo, number, demo->shadow);
	pb_demo_read(demo, number, 0, demo->read, count);
	return compare(demo, PB_DEMO_SYSTEM, 0, demo->read, count);
}

static uint32_t largest_segment(const struct pb_demo *demo)
{
	const uint32_t large = demo->segments[PB_DEMO_LARGE].request.backing_bytes;
	const uint32_t small = demo->segments[PB_DEMO_SMALL].request.backing_bytes;

	return large > small ? large : small;
}

bool pb_demo_audit(struct pb_demo *demo)
{
	/* Both also fit each resource: none is larger than the largest segment. */
	if (demo->shadow == NULL) {
		demo->shadow = malloc(largest_segment(demo));
		demo->read = malloc(largest_segment(demo));
	}
	if (demo->shadow == NULL || demo->read == NULL)
		return pb_demo_fail(demo, "shadow of a segment", PB_ERROR_HOST_MEMORY);
	if (!audit_segment(demo, PB_DEMO_LARGE) || !audit_segment(demo, PB_DEMO_SMALL))
		return false;
	for (uint32_t i = 0; i < PB_DEMO_RESOURCES; i++) {
		if (!audit_backing(demo, i))
			return false;
	}
	return true;
}
