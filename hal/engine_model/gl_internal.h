/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the files of the GL engine share. No other file includes it.
 *
 *   gl.c           the packet table, and a packet's way to a renderer and back
 *   gl_owners.c    owners, and the resources of each: by identifier, handle and page
 *   gl_run.c       GL: pages become resources, and what each command reaches
 *   gl_resources.c GL_BIND, GL_UNBIND, GL_END
 */
#ifndef PB_HAL_ENGINE_MODEL_GL_INTERNAL_H
#define PB_HAL_ENGINE_MODEL_GL_INTERNAL_H

#include "hal/engine_model/gl.h"
#include "hal/engine_model/internal.h"

/** The index of an owner, and of its renderer. */
uint32_t pb_gl_index(const struct pb_engine_gl *gl, const struct pb_engine_gl_owner *owner);
/** The owner of that name; NULL: it has no renderer, and is not lost. */
struct pb_engine_gl_owner *pb_gl_owner_find(const struct pb_engine_gl *gl, uint32_t name);
/** The owner of that name, a new one if there is none; NULL: no room. */
struct pb_engine_gl_owner *pb_gl_owner_get(const struct pb_engine_gl *gl, uint32_t name);
/** Ends an owner's renderer, and forgets all resources: its packets fault from now on. */
void pb_gl_owner_lose(const struct pb_engine_gl *gl, struct pb_engine_gl_owner *owner);
/** Ends an owner's renderer and forgets the owner. */
void pb_gl_owner_forget(const struct pb_engine_gl *gl, struct pb_engine_gl_owner *owner);

/** The resource of that identifier; NULL: none. */
struct pb_engine_gl_resource *pb_gl_resource_find(const struct pb_engine_gl_owner *owner, uint32_t id);
/** The resource of that handle; NULL: none. */
struct pb_engine_gl_resource *pb_gl_resource_of(const struct pb_engine_gl_owner *owner, uint32_t handle);
/** The resource that stands at that page; NULL: none. */
struct pb_engine_gl_resource *pb_gl_resource_at(const struct pb_engine_gl_owner *owner, uint32_t page);
/** Whether one but `except` stands on one of these pages. Looks at all resources. */
bool pb_gl_resource_overlaps(const struct pb_engine_gl_owner *owner, uint32_t page, uint32_t pages,
			     const struct pb_engine_gl_resource *except);
/** A new resource of that identifier, bound nowhere; NULL: no room. */
struct pb_engine_gl_resource *pb_gl_resource_new(const struct pb_engine_gl *gl,
						 struct pb_engine_gl_owner *owner, uint32_t id);
/** Gives a resource its pages. It has none, and they are free. */
void pb_gl_resource_bind(struct pb_engine_gl_owner *owner, struct pb_engine_gl_resource *resource,
			 uint32_t page, uint32_t pages);
/** Takes the pages of a resource, if it has some. */
void pb_gl_resource_unbind(struct pb_engine_gl_owner *owner, struct pb_engine_gl_resource *resource);
/** Forgets a resource that is bound nowhere. */
void pb_gl_resource_free(struct pb_engine_gl_owner *owner, struct pb_engine_gl_resource *resource);

/** Whether pages lie in one range of the running channel. */
bool pb_gl_pages_lie(const struct pb_engine_model *model, uint32_t page, uint32_t pages);
/**
 * Turns the pages of a run of commands into handles and follows the owner's account. The words are the node's.
 * @return PB_MODEL_DONE or PB_MODEL_FAULTED
 */
enum pb_model_status pb_gl_run_check(struct pb_engine_model *model);
/** The resource at a page that a packet names. NULL: the engine has stopped with ADDRESS or PAGE */
const struct pb_engine_gl_resource *pb_gl_page_check(struct pb_engine_model *model, uint32_t page);

/**
 * Carry out GL_BIND, GL_UNBIND and GL_END, whose words and owner are the node's.
 * @return PB_MODEL_MORE: the node's request is to be made
 */
enum pb_model_status pb_gl_bind(struct pb_engine_model *model);
enum pb_model_status pb_gl_unbind(struct pb_engine_model *model);
enum pb_model_status pb_gl_end(struct pb_engine_model *model);

#endif
