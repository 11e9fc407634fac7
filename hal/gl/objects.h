/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The objects of a virgl context, by sub-context and handle: a hash table in its caller's memory. An object has one of
 * PB_GL_OBJECT_PLACES records, which its handle selects, so that each operation visits that many records at most,
 * whatever handles a client chooses.
 */
#ifndef PB_HAL_GL_OBJECTS_H
#define PB_HAL_GL_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

/** Records that an object may be in. */
#define PB_GL_OBJECT_PLACES 64u

/** One object. */
struct pb_gl_object {
	uint32_t sub_context; /**< number of its sub-context */
	uint32_t handle;      /**< 0: the record is free */
	uint32_t kind;        /**< enum pb_gl_kind */
	uint32_t resource;    /**< what it is a view of, or where a query's result goes; 0: it has none */
};

/** A table of objects. */
struct pb_gl_objects {
	struct pb_gl_object *records; /**< the caller's memory */
	uint32_t count;               /**< records there: a power of two, PB_GL_OBJECT_PLACES or more */
	uint32_t used;                /**< records in use */
};

/** Empties the table. Pre: `records` and `count` are set. */
void pb_gl_objects_start(struct pb_gl_objects *objects);

/** Finds an object. @return NULL: it does not exist */
const struct pb_gl_object *pb_gl_objects_find(const struct pb_gl_objects *objects, uint32_t sub_context,
					      uint32_t handle);

/**
 * Adds an object, in place of one with its sub-context and handle if there is one. The table is full for a handle when
 * all records that the handle selects are in use: likely only when more than half of all records are.
 * @param object its handle is not 0
 * @return false: no record is free for it
 */
bool pb_gl_objects_add(struct pb_gl_objects *objects, const struct pb_gl_object *object);

/** Removes an object, if it exists. */
void pb_gl_objects_remove(struct pb_gl_objects *objects, uint32_t sub_context, uint32_t handle);

/** Removes all objects of a sub-context. Visits every record. */
void pb_gl_objects_remove_all(struct pb_gl_objects *objects, uint32_t sub_context);

#endif
