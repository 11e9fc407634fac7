/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hal/shared.h"
#include "host/tool/demo_state.h"

/* What a resource should hold now, row after row. */
static const uint32_t *contents(const struct pb_demo *demo, uint32_t resource)
{
	if (resource == PB_DEMO_VERTICES)
		return (const uint32_t *)(const void *)demo->scene.vertices;
	return demo->expected[resource].pixels;
}

/* Puts a resource where it lies in its segment, given the segment's shadow. */
static void lay_out(const struct pb_demo_resource *resource, const uint32_t *words, uint32_t *shadow)
{
	uint32_t *row = shadow + (resource->memory.offset + resource->inset) / 4;

	for (uint32_t i = 0; i < resource->rows; i++) {
		memcpy(row, words, resource->row_bytes);
		row += resource->pitch / 4;
		words += resource->row_bytes / 4;
	}
}

static bool compare(const struct pb_demo *demo, uint32_t number)
{
	const struct pb_segment *segment = &demo->segments[number];
	const struct pb_memory *skipped = &demo->queues[PB_DEMO_3D].dma.buffer;
	const uint32_t *found = (const void *)(segment->channel->link->memory + segment->memory_offset);
	const uint32_t *expected = demo->shadows[number];

	for (uint32_t i = 0; i < segment->request.backing_bytes / 4; i++) {
		uint32_t word = pb_shared_read32(&found[i]);

		if (word == expected[i] ||
		    (skipped->segment == segment && 4 * i - skipped->offset < skipped->bytes))
			continue;
		fprintf(stderr,
			"patchbay demo: frame %u: segment %u, offset 0x%x: expected 0x%08x, found 0x%08x\n",
			(unsigned)demo->frame, (unsigned)number, (unsigned)(4 * i), (unsigned)expected[i],
			(unsigned)word);
		return false;
	}
	return true;
}

bool pb_demo_make_shadows(struct pb_demo *demo)
{
	for (uint32_t i = 1; i < PB_DEMO_SEGMENTS; i++) {
		uint32_t bytes = demo->segments[i].request.backing_bytes;

		demo->shadows[i] = malloc(bytes);
		if (demo->shadows[i] == NULL)
			return pb_demo_fail(demo, "shadow of a segment", PB_ERROR_HOST_MEMORY);
		for (uint32_t j = 0; j < bytes / 4; j++)
			demo->shadows[i][j] = PB_DEMO_POISON;
	}
	return true;
}

void pb_demo_free_shadows(struct pb_demo *demo)
{
	for (uint32_t i = 1; i < PB_DEMO_SEGMENTS; i++)
		free(demo->shadows[i]);
}

void pb_demo_shadow_fill(struct pb_demo *demo, const struct pb_memory *memory, uint32_t value)
{
	uint32_t *words = demo->shadows[memory->segment->request.id] + memory->offset / 4;

	for (uint32_t i = 0; i < memory->bytes / 4; i++)
		words[i] = value;
}

bool pb_demo_audit(struct pb_demo *demo)
{
	for (uint32_t i = 0; i < PB_DEMO_RESOURCES; i++) {
		const struct pb_demo_resource *resource = &demo->resources[i];

		lay_out(resource, contents(demo, i), demo->shadows[resource->memory.segment->request.id]);
	}
	for (uint32_t i = 1; i < PB_DEMO_SEGMENTS; i++) {
		if (!compare(demo, i))
			return false;
	}
	return true;
}
