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

/* Puts a resource where it lies in its segment. */
static void lay_out(const struct pb_demo_resource *resource, const uint32_t *words, uint32_t *segment)
{
	uint32_t *row = segment + (resource->memory.offset + resource->inset) / 4;

	for (uint32_t i = 0; i < resource->rows; i++) {
		memcpy(row, words, resource->row_bytes);
		row += resource->pitch / 4;
		words += resource->row_bytes / 4;
	}
}

static bool compare(const struct pb_demo *demo, const struct pb_segment *segment, const uint32_t *expected)
{
	const struct pb_memory *skipped = &demo->queues[PB_DEMO_3D].dma.buffer;
	const uint32_t *found = (const void *)(segment->channel->link->memory + segment->memory_offset);

	for (uint32_t i = 0; i < segment->request.backing_bytes / 4; i++) {
		uint32_t word = pb_shared_read32(&found[i]);

		if (word == expected[i] ||
		    (skipped->segment == segment && 4 * i - skipped->offset < skipped->bytes))
			continue;
		fprintf(stderr,
			"patchbay demo: frame %u: segment %u, offset 0x%x: expected 0x%08x, found 0x%08x\n",
			(unsigned)demo->frame, (unsigned)segment->request.id, (unsigned)(4 * i),
			(unsigned)expected[i], (unsigned)word);
		return false;
	}
	return true;
}

static bool audit_segment(struct pb_demo *demo, const struct pb_segment *segment, uint32_t *expected)
{
	for (uint32_t i = 0; i < segment->request.backing_bytes / 4; i++)
		expected[i] = PB_DEMO_POISON;
	for (uint32_t i = 0; i < PB_DEMO_RESOURCES; i++) {
		if (demo->resources[i].memory.segment == segment)
			lay_out(&demo->resources[i], contents(demo, i), expected);
	}
	return compare(demo, segment, expected);
}

bool pb_demo_audit(struct pb_demo *demo)
{
	bool good = true;

	for (uint32_t i = 1; good && i < PB_DEMO_SEGMENTS; i++) {
		const struct pb_segment *segment = &demo->segments[i];
		uint32_t *expected = malloc(segment->request.backing_bytes);

		if (expected == NULL)
			return pb_demo_fail(demo, "audit", PB_ERROR_HOST_MEMORY);
		good = audit_segment(demo, segment, expected);
		free(expected);
	}
	return good;
}
