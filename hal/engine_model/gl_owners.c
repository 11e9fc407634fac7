/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "hal/engine_model/gl_internal.h"

#define HANDLE_INDEX 0xffffu
#define HANDLE_AGAIN 0x10000u

/* ---- owners ---- */

uint32_t pb_gl_index(const struct pb_engine_gl *gl, const struct pb_engine_gl_owner *owner)
{
	return (uint32_t)(owner - gl->config.owners);
}

struct pb_engine_gl_owner *pb_gl_owner_find(const struct pb_engine_gl *gl, uint32_t name)
{
	for (uint32_t i = 0; i < gl->config.owner_count; i++) {
		struct pb_engine_gl_owner *owner = &gl->config.owners[i];

		if (owner->used && owner->owner == name)
			return owner;
	}
	return NULL;
}

/* Forgets resources, objects and bindings. */
static void empty(const struct pb_engine_gl *gl, struct pb_engine_gl_owner *owner)
{
	const struct pb_engine_gl_config *config = &gl->config;
	const uint32_t index = pb_gl_index(gl, owner);

	memset(owner->by_id, 0, sizeof(owner->by_id));
	memset(owner->by_page, 0, sizeof(owner->by_page));
	owner->resources = config->resources + (size_t)index * config->resource_count;
	owner->fresh = 0;
	owner->free = 0;
	owner->account = (struct pb_gl_account){
		.sub_contexts = config->sub_contexts + (size_t)index * config->sub_context_count,
		.sub_context_count = config->sub_context_count,
		.objects = {.records = config->objects + (size_t)index * config->object_count,
			    .count = config->object_count}};
	pb_gl_account_start(&owner->account);
}

struct pb_engine_gl_owner *pb_gl_owner_get(const struct pb_engine_gl *gl, uint32_t name)
{
	struct pb_engine_gl_owner *owner = pb_gl_owner_find(gl, name);

	for (uint32_t i = 0; i < gl->config.owner_count && owner == NULL; i++) {
		if (gl->config.owners[i].used)
			continue;
		owner = &gl->config.owners[i];
		owner->used = true;
		owner->lost = false;
		owner->owner = name;
		owner->holder = NULL;
		empty(gl, owner);
	}
	return owner;
}

void pb_gl_owner_lose(const struct pb_engine_gl *gl, struct pb_engine_gl_owner *owner)
{
	gl->config.renderers->end(gl->config.context, pb_gl_index(gl, owner));
	owner->lost = true;
	empty(gl, owner);
}

void pb_gl_owner_forget(const struct pb_engine_gl *gl, struct pb_engine_gl_owner *owner)
{
	gl->config.renderers->end(gl->config.context, pb_gl_index(gl, owner));
	owner->used = false;
}

/* ---- resources ---- */

static uint32_t *bucket_of(uint32_t *buckets, uint32_t key)
{
	return &buckets[key % PB_ENGINE_GL_BUCKETS];
}

struct pb_engine_gl_resource *pb_gl_resource_find(const struct pb_engine_gl_owner *owner, uint32_t id)
{
	uint32_t place = owner->by_id[id % PB_ENGINE_GL_BUCKETS];

	while (place != 0 && owner->resources[place - 1u].id != id)
		place = owner->resources[place - 1u].next_by_id;
	return place != 0 ? &owner->resources[place - 1u] : NULL;
}

struct pb_engine_gl_resource *pb_gl_resource_at(const struct pb_engine_gl_owner *owner, uint32_t page)
{
	uint32_t place = owner->by_page[page % PB_ENGINE_GL_BUCKETS];

	while (place != 0 && owner->resources[place - 1u].page != page)
		place = owner->resources[place - 1u].next_by_page;
	return place != 0 ? &owner->resources[place - 1u] : NULL;
}

struct pb_engine_gl_resource *pb_gl_resource_of(const struct pb_engine_gl_owner *owner, uint32_t handle)
{
	const uint32_t place = handle & HANDLE_INDEX;

	if (place == 0 || place > owner->fresh || owner->resources[place - 1u].id == 0 ||
	    owner->resources[place - 1u].handle != handle)
		return NULL;
	return &owner->resources[place - 1u];
}

bool pb_gl_resource_overlaps(const struct pb_engine_gl_owner *owner, uint32_t page, uint32_t pages,
			     const struct pb_engine_gl_resource *except)
{
	for (uint32_t i = 0; i < owner->fresh; i++) {
		const struct pb_engine_gl_resource *other = &owner->resources[i];

		if (other != except && other->bound &&
		    (uint64_t)page < (uint64_t)other->page + other->pages &&
		    (uint64_t)other->page < (uint64_t)page + pages)
			return true;
	}
	return false;
}

struct pb_engine_gl_resource *pb_gl_resource_new(const struct pb_engine_gl *gl,
						 struct pb_engine_gl_owner *owner, uint32_t id)
{
	uint32_t place = owner->free;
	uint32_t *bucket = bucket_of(owner->by_id, id);
	struct pb_engine_gl_resource *resource;

	if (place != 0) {
		owner->free = owner->resources[place - 1u].next_by_id;
	} else if (owner->fresh < gl->config.resource_count) {
		place = ++owner->fresh;
		owner->resources[place - 1u].handle = place;
	} else {
		return NULL;
	}
	resource = &owner->resources[place - 1u];
	*resource = (struct pb_engine_gl_resource){
		.id = id, .handle = resource->handle + HANDLE_AGAIN, .next_by_id = *bucket};
	*bucket = place;
	return resource;
}

void pb_gl_resource_bind(struct pb_engine_gl_owner *owner, struct pb_engine_gl_resource *resource,
			 uint32_t page, uint32_t pages)
{
	uint32_t *bucket = bucket_of(owner->by_page, page);

	resource->page = page;
	resource->pages = pages;
	resource->bound = true;
	resource->next_by_page = *bucket;
	*bucket = resource->handle & HANDLE_INDEX;
}

void pb_gl_resource_unbind(struct pb_engine_gl_owner *owner, struct pb_engine_gl_resource *resource)
{
	const uint32_t place = resource->handle & HANDLE_INDEX;
	uint32_t *link = bucket_of(owner->by_page, resource->page);

	if (!resource->bound)
		return;
	while (*link != place)
		link = &owner->resources[*link - 1u].next_by_page;
	*link = resource->next_by_page;
	resource->bound = false;
}

void pb_gl_resource_free(struct pb_engine_gl_owner *owner, struct pb_engine_gl_resource *resource)
{
	const uint32_t place = resource->handle & HANDLE_INDEX;
	uint32_t *link = bucket_of(owner->by_id, resource->id);

	while (*link != place)
		link = &owner->resources[*link - 1u].next_by_id;
	*link = resource->next_by_id;
	resource->id = 0;
	resource->next_by_id = owner->free;
	owner->free = place;
}
