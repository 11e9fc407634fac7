/* SPDX-License-Identifier: MIT */
/* Objects by sub-context and handle. */
#include "hal/gl/objects.h"

#include <stddef.h>

void pb_gl_objects_start(struct pb_gl_objects *objects)
{
	for (uint32_t n = 0; n < objects->count; n++)
		objects->records[n] = (struct pb_gl_object){0};
	objects->used = 0;
}

/** Returns the first record that an object may be in. Handles that follow one another are spread over the table. */
static uint32_t first_place(uint32_t sub_context, uint32_t handle)
{
	const uint32_t mixed = (handle ^ sub_context * 0x85ebca6bu) * 0x9e3779b1u;

	return mixed ^ mixed >> 15;
}

static struct pb_gl_object *place(const struct pb_gl_objects *objects, uint32_t first, uint32_t n)
{
	return &objects->records[(first + n) & (objects->count - 1u)];
}

static struct pb_gl_object *find(const struct pb_gl_objects *objects, uint32_t sub_context, uint32_t handle)
{
	const uint32_t first = first_place(sub_context, handle);

	for (uint32_t n = 0; n < PB_GL_OBJECT_PLACES; n++) {
		struct pb_gl_object *object = place(objects, first, n);

		if (object->handle == handle && object->sub_context == sub_context)
			return object->handle != 0 ? object : NULL;
	}
	return NULL;
}

const struct pb_gl_object *pb_gl_objects_find(const struct pb_gl_objects *objects, uint32_t sub_context,
					      uint32_t handle)
{
	return find(objects, sub_context, handle);
}

static struct pb_gl_object *find_free(const struct pb_gl_objects *objects, uint32_t first)
{
	for (uint32_t n = 0; n < PB_GL_OBJECT_PLACES; n++) {
		struct pb_gl_object *object = place(objects, first, n);

		if (object->handle == 0)
			return object;
	}
	return NULL;
}

bool pb_gl_objects_add(struct pb_gl_objects *objects, const struct pb_gl_object *object)
{
	struct pb_gl_object *record = find(objects, object->sub_context, object->handle);

	if (!record) {
		record = find_free(objects, first_place(object->sub_context, object->handle));
		if (!record)
			return false;
		objects->used++;
	}
	*record = *object;
	return true;
}

void pb_gl_objects_remove(struct pb_gl_objects *objects, uint32_t sub_context, uint32_t handle)
{
	struct pb_gl_object *record = find(objects, sub_context, handle);

	if (!record)
		return;
	record->handle = 0;
	objects->used--;
}

void pb_gl_objects_remove_all(struct pb_gl_objects *objects, uint32_t sub_context)
{
	for (uint32_t n = 0; n < objects->count; n++) {
		struct pb_gl_object *record = &objects->records[n];

		if (record->handle == 0 || record->sub_context != sub_context)
			continue;
		record->handle = 0;
		objects->used--;
	}
}
