/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The table of one client's resources. A client names a resource by a handle of its own choice; everybody else by its
 * id, which no two resources have at one time. A resource that its client has dropped stays in the table as long as
 * objects of the context reach it: then it has an id and no handle.
 *
 * The caller owns all memory. All functions but pb_gl_resources_start() take O(1).
 */
#ifndef PB_HOST_GL_RESOURCES_H
#define PB_HOST_GL_RESOURCES_H

#include <stdbool.h>
#include <stdint.h>

#include "hal/engine/gl_packets.h"

/** One resource. `id` 0: the record is free. */
struct pb_gl_resource {
	uint32_t handle; /**< the client's; 0: dropped */
	uint32_t id;     /**< index of the record + 1 */
	uint32_t next;   /**< next of its chain, or next free record: index + 1; 0: none */
	uint32_t template_words[PB_GL_TEMPLATE_WORDS]; /**< what it is */
	uint64_t bytes;                                /**< of addresses: whole pages; the caller's */
	uint32_t residency; /**< handle of its allocation; 0: no submission has named it; the caller's */
	uint64_t timeline;  /**< value of the last submission that uses it; the caller's */
	uint32_t batch;     /**< number of the batch whose list has it; the caller's (host/gl/batch.h) */
	uint32_t index;     /**< its index there */
	uint32_t unit;      /**< number of the last packet that counts it; the caller\'s (host/gl/batch.h) */
	uint8_t *memory;    /**< the client's memory behind it; NULL: none; the caller's */
	uint64_t memory_bytes; /**< its size */
	bool reached;          /**< mark of a search for dropped resources; the caller's */
	bool shown;            /**< the program has read it behind a wait; the caller's */
	bool written; /**< a batch that was closed may write it, since the caller set this to false; the caller's (host/gl/batch.h) */
};

/** The table. Only the functions below write it, but for the memory that its caller fills in. */
struct pb_gl_resources {
	struct pb_gl_resource *records; /**< the caller's memory */
	uint32_t count;                 /**< records there: a power of two */
	uint32_t *chains;               /**< the caller's memory: `count` words */
	uint32_t free;                  /**< first free record: index + 1; 0: none */
	uint32_t used;                  /**< records in use */
	uint32_t dropped;               /**< of these, without a handle */
};

/** Empties a table. Pre: records, count and chains are set. */
void pb_gl_resources_start(struct pb_gl_resources *table);
/**
 * Adds a resource with an id, a handle and a template; all else is 0.
 * @param handle not 0
 * @return NULL: the handle is in use, or the table is full
 */
struct pb_gl_resource *pb_gl_resources_add(struct pb_gl_resources *table, uint32_t handle,
					   const uint32_t *template_words);
/** Finds a resource by its client's handle; NULL: there is none. */
struct pb_gl_resource *pb_gl_resources_find(const struct pb_gl_resources *table, uint32_t handle);
/** Finds a resource by its id, also a dropped one; NULL: there is none. */
struct pb_gl_resource *pb_gl_resources_at(const struct pb_gl_resources *table, uint32_t id);
/** Takes the handle from a resource: the client may use it again. Pre: it has one. */
void pb_gl_resources_drop(struct pb_gl_resources *table, struct pb_gl_resource *resource);
/** Removes a dropped resource: its id is free. */
void pb_gl_resources_remove(struct pb_gl_resources *table, struct pb_gl_resource *resource);
/**
 * Returns the bytes that a resource's contents would take, all levels, layers and samples together, in whole pages.
 * @param most upper limit of the result
 */
uint64_t pb_gl_resource_bytes(const uint32_t *template_words, uint64_t most);

#endif
