/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What is bound in one sub-context of a virgl context: for each slot the resource in it, and whether the slot was
 * reported already. hal/gl/account.h has the rules; this is its memory.
 */
#ifndef PB_HAL_GL_BINDINGS_H
#define PB_HAL_GL_BINDINGS_H

#include "hal/gl/commands.h"

/** Slots of a group; a group of fewer leaves the rest free. */
#define PB_GL_SLOTS 32u

/**
 * What calls back for each resource that is reached.
 * @param access bits of enum pb_gl_access
 * @return false: no more
 */
typedef bool pb_gl_reach(void *context, uint32_t resource, uint32_t access);

/** Slots of one group. Bit n of a mask is slot n. */
struct pb_gl_slots {
	uint32_t bound;                  /**< slots with a resource */
	uint32_t told;                   /**< of these, slots that were reported */
	uint32_t resources[PB_GL_SLOTS]; /**< by slot; defined where `bound` has the bit */
};

/** Groups of slots that every shader stage has. */
enum pb_gl_stage_group {
	PB_GL_GROUP_VIEWS,          /**< sampler views */
	PB_GL_GROUP_UNIFORMS,       /**< constant buffers that are resources */
	PB_GL_GROUP_BUFFERS,        /**< shader buffers */
	PB_GL_GROUP_IMAGES,         /**< shader images that may be read and written */
	PB_GL_GROUP_IMAGES_READ,    /**< shader images that are only read */
	PB_GL_GROUP_IMAGES_WRITTEN, /**< shader images that are only written */
	PB_GL_STAGE_GROUPS,
};

/** Groups of slots that a sub-context has once. */
enum pb_gl_group {
	PB_GL_GROUP_COLORS,    /**< color surfaces */
	PB_GL_GROUP_DEPTH,     /**< slot 0: the surface for depth and stencil */
	PB_GL_GROUP_VERTICES,  /**< vertex buffers */
	PB_GL_GROUP_INDEX,     /**< slot 0: the index buffer */
	PB_GL_GROUP_STREAMOUT, /**< stream-out targets */
	PB_GL_GROUP_ATOMICS,   /**< atomic buffers */
	PB_GL_GROUPS,
};

/** What is bound in a sub-context. */
struct pb_gl_bindings {
	struct pb_gl_slots groups[PB_GL_GROUPS]; /**< by enum pb_gl_group */
	struct pb_gl_slots stages[PB_GL_STAGES]
				 [PB_GL_STAGE_GROUPS]; /**< by stage and enum pb_gl_stage_group */
};

/** Binds nothing. */
void pb_gl_bindings_start(struct pb_gl_bindings *bindings);

/** Forgets what was reported. */
void pb_gl_bindings_begin(struct pb_gl_bindings *bindings);

/** Binds a resource to a slot; 0 unbinds it. Pre: slot < PB_GL_SLOTS. */
void pb_gl_slots_set(struct pb_gl_slots *slots, uint32_t slot, uint32_t resource);

/** Unbinds all slots from `first` on. */
void pb_gl_slots_cut(struct pb_gl_slots *slots, uint32_t first);

/** Reports the slots of a mask that are bound and were not reported. @return false: `reach` returned false */
bool pb_gl_slots_tell(struct pb_gl_slots *slots, uint32_t mask, uint32_t access, pb_gl_reach *reach,
		      void *context);

/** Reports what a draw reaches. @return false: `reach` returned false */
bool pb_gl_bindings_draw(struct pb_gl_bindings *bindings, bool indexed, pb_gl_reach *reach, void *context);

/** Reports what a compute dispatch reaches. @return false: `reach` returned false */
bool pb_gl_bindings_dispatch(struct pb_gl_bindings *bindings, pb_gl_reach *reach, void *context);

/** Calls back for every bound slot, with access 0; what was reported stays as it is. @return as for the others */
bool pb_gl_bindings_each(const struct pb_gl_bindings *bindings, pb_gl_reach *reach, void *context);

#endif
