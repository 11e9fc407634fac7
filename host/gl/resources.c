/* SPDX-License-Identifier: MIT */
#include "host/gl/resources.h"

#include <stddef.h>
#include <string.h>

#include "host/gl/formats.h"

#define PAGE_BYTES 4096u
/* Most samples and levels that are counted. */
#define SAMPLES_MAX 32u
#define LEVELS_MAX  16u

void pb_gl_resources_start(struct pb_gl_resources *table)
{
	table->free = 0;
	table->used = 0;
	table->dropped = 0;
	memset(table->chains, 0, table->count * sizeof(*table->chains));
	for (uint32_t i = table->count; i != 0; i--) {
		table->records[i - 1] = (struct pb_gl_resource){.next = table->free};
		table->free = i;
	}
}

/** Returns the head of a handle's chain. Handles count up, so that the low bits spread them. */
static uint32_t *chain_of(const struct pb_gl_resources *table, uint32_t handle)
{
	return &table->chains[handle & (table->count - 1u)];
}

struct pb_gl_resource *pb_gl_resources_at(const struct pb_gl_resources *table, uint32_t id)
{
	if (id == 0 || id > table->count || table->records[id - 1].id != id)
		return NULL;
	return &table->records[id - 1];
}

struct pb_gl_resource *pb_gl_resources_find(const struct pb_gl_resources *table, uint32_t handle)
{
	struct pb_gl_resource *resource = pb_gl_resources_at(table, *chain_of(table, handle));

	while (resource != NULL && resource->handle != handle)
		resource = pb_gl_resources_at(table, resource->next);
	return resource;
}

struct pb_gl_resource *pb_gl_resources_add(struct pb_gl_resources *table, uint32_t handle,
					   const uint32_t *template_words)
{
	uint32_t *const chain = chain_of(table, handle);
	const uint32_t id = table->free;
	struct pb_gl_resource *resource;

	if (handle == 0 || id == 0 || pb_gl_resources_find(table, handle) != NULL)
		return NULL;
	resource = &table->records[id - 1];
	table->free = resource->next;
	*resource = (struct pb_gl_resource){.handle = handle, .id = id, .next = *chain};
	memcpy(resource->template_words, template_words, sizeof(resource->template_words));
	*chain = id;
	table->used++;
	return resource;
}

void pb_gl_resources_drop(struct pb_gl_resources *table, struct pb_gl_resource *resource)
{
	uint32_t *at = chain_of(table, resource->handle);

	while (*at != resource->id)
		at = &table->records[*at - 1].next;
	*at = resource->next;
	resource->handle = 0;
	resource->next = 0;
	table->dropped++;
}

void pb_gl_resources_remove(struct pb_gl_resources *table, struct pb_gl_resource *resource)
{
	const uint32_t id = resource->id;

	*resource = (struct pb_gl_resource){.next = table->free};
	table->free = id;
	table->used--;
	table->dropped--;
}

/** Returns the product, or `most` if it is greater. */
static uint64_t times(uint64_t a, uint64_t b, uint64_t most)
{
	return b != 0 && a > most / b ? most : a * b;
}

static uint32_t blocks_of(uint32_t side, uint32_t level, uint32_t block)
{
	const uint32_t small = side >> level != 0 ? side >> level : 1u;

	return small / block + (small % block != 0 ? 1u : 0u);
}

uint64_t pb_gl_resource_bytes(const uint32_t *template_words, uint64_t most)
{
	struct pb_gl_block block = pb_gl_block_of(template_words[PB_GL_TEMPLATE_FORMAT]);
	const uint32_t samples = template_words[PB_GL_TEMPLATE_SAMPLES];
	const uint32_t layers = template_words[PB_GL_TEMPLATE_ARRAY_SIZE];
	uint64_t bytes = 0;

	if (block.bytes == 0)
		block.bytes = sizeof(uint32_t);
	for (uint32_t level = 0; level <= template_words[PB_GL_TEMPLATE_LAST_LEVEL] && level < LEVELS_MAX;
	     level++) {
		uint64_t part = times(blocks_of(template_words[PB_GL_TEMPLATE_WIDTH], level, block.width),
				      block.bytes, most);

		part = times(part, blocks_of(template_words[PB_GL_TEMPLATE_HEIGHT], level, block.height),
			     most);
		part = times(part, blocks_of(template_words[PB_GL_TEMPLATE_DEPTH], level, 1), most);
		bytes = part > most - bytes ? most : bytes + part;
	}
	bytes = times(bytes, layers != 0 ? layers : 1u, most);
	bytes = times(bytes, samples > 1 && samples <= SAMPLES_MAX ? samples : 1u, most);
	return bytes > most - PAGE_BYTES ? most : (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}
