/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A GL engine (hal/engine_model/gl.h) in a program that has a heap.
 */
#ifndef PB_QEMU_ENGINE_GL_H
#define PB_QEMU_ENGINE_GL_H

#include "hal/engine_model/gl.h"

/** How much a GL engine keeps. */
struct pb_engine_gl_sizes {
	uint32_t owners;       /**< contexts of all channels that have a renderer */
	uint32_t resources;    /**< of each, PB_ENGINE_GL_RESOURCES_MAX at most */
	uint32_t objects;      /**< of each, a power of two */
	uint32_t sub_contexts; /**< of each */
};

/** NULL when out of memory. Memory that no owner uses costs addresses only. */
struct pb_engine_gl *pb_engine_gl_create(const struct pb_engine_gl_renderers *renderers, void *context,
					 const struct pb_engine_gl_sizes *sizes);
/** Ends all renderers. The models of the nodes are gone. NULL is allowed. */
void pb_engine_gl_destroy(struct pb_engine_gl *gl);
/** A node's part, to be freed with free() behind the node's model. NULL when out of memory. */
struct pb_engine_gl_node *pb_engine_gl_node_create(struct pb_engine_gl *gl);

#endif
