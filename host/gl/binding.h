/* SPDX-License-Identifier: MIT */
/**
 * @file
 * How resources get and lose their addresses: the packets GL_BIND and GL_UNBIND in the paging buffers of host/residency.
 * Contents of a resource are with its renderer all the time.
 */
#ifndef PB_HOST_GL_BINDING_H
#define PB_HOST_GL_BINDING_H

#include "host/gl/resources.h"
#include "patchbay/residency.h"

/** What the functions of pb_gl_bindings() need. The caller owns it and keeps it in place. */
struct pb_gl_binding {
	struct pb_gl_resources *resources; /**< the client's */
	uint32_t *ids;                     /**< id of each allocation, by handle - 1; 0: none */
	uint32_t owner;                    /**< PB_ENGINE_OWNER (hal/engine.h) of the client's context */
};

/** Returns the operations for a segment of resources. @param binding used by them */
struct pb_residency_bindings pb_gl_bindings(struct pb_gl_binding *binding);
/** Returns operations that do nothing: for memory that stands at one address all the time. */
struct pb_residency_bindings pb_gl_no_bindings(void);

#endif
