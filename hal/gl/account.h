/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The account of one virgl context: its sub-contexts, objects and bindings, as far as they decide which resources a
 * command can reach beyond those that it names. A front end finds with it what a submission needs; an engine finds with
 * it whether a draw reaches a resource that has no address.
 *
 * A resource is a number that the caller chooses, not 0: what stands in the words that the account is shown. So a caller
 * that replaces these words shows the account either all commands before, or all commands behind the replacement.
 *
 * Bindings hold resources, not objects: a surface that is destroyed while it is bound is still drawn to. What a draw can
 * reach is a superset: shaders are not read, so every slot that is bound counts.
 *
 * The caller owns all memory. A command's work is bounded: by its length, and by the slots of one sub-context; destroying
 * a sub-context visits every object once.
 */
#ifndef PB_HAL_GL_ACCOUNT_H
#define PB_HAL_GL_ACCOUNT_H

#include "hal/gl/stream.h"

/** Advice: sub-contexts and objects that suffice for the programs that were recorded. */
#define PB_GL_SUB_CONTEXTS 64u
#define PB_GL_OBJECTS      32768u

/** One object. Only the account writes it. */
struct pb_gl_object {
	uint32_t sub_context; /**< number of its sub-context */
	uint32_t handle;      /**< 0: the record is free */
	uint32_t resource;    /**< what it is a view of, or where its results go; of VERTEX_ELEMENTS the vertex buffers used */
	uint32_t kind;        /**< enum pb_gl_kind */
};

/** Slots of one group. Bit n of a mask is slot n. */
struct pb_gl_slots {
	uint32_t bound;         /**< slots with a resource */
	uint32_t told;          /**< of these, slots reported since pb_gl_account_begin() */
	uint32_t resources[32]; /**< by slot; defined where `bound` has the bit */
};

/** Bindings of one shader stage. */
struct pb_gl_stage {
	struct pb_gl_slots views;    /**< sampler views */
	struct pb_gl_slots uniforms; /**< constant buffers that are resources */
	struct pb_gl_slots buffers;  /**< shader buffers */
	struct pb_gl_slots images;   /**< shader images */
	uint32_t images_read;        /**< images that may be read, by slot */
	uint32_t images_written;     /**< images that may be written, by slot */
};

/** One sub-context. Only the account writes it. */
struct pb_gl_sub_context {
	uint32_t number;                        /**< as the stream names it */
	bool used;                              /**< false: the record is free */
	bool depth_told;                        /**< `depth` was reported since pb_gl_account_begin() */
	bool index_told;                        /**< `index` was reported since pb_gl_account_begin() */
	uint32_t depth;                         /**< resource of the depth and stencil surface; 0: none */
	uint32_t index;                         /**< index buffer; 0: none */
	struct pb_gl_slots colors;              /**< resources of the color surfaces */
	struct pb_gl_slots vertices;            /**< vertex buffers */
	struct pb_gl_slots atomics;             /**< atomic buffers */
	struct pb_gl_slots streamout;           /**< resources of the stream-out targets */
	struct pb_gl_stage stages[PB_GL_STAGES]; /**< by shader stage */
};

/** Account of one context. Only the functions below write it, but for the memory that its caller fills in. */
struct pb_gl_account {
	struct pb_gl_sub_context *sub_contexts; /**< the caller's memory */
	uint32_t sub_context_count;             /**< records there, 1 or more */
	struct pb_gl_object *objects;           /**< the caller's memory: a hash table */
	uint32_t object_count;                  /**< records there, a power of two, 2 or more; one stays free */
	uint32_t objects_used;                  /**< records in use */
	uint32_t current;                       /**< index of the current sub-context */
};

/**
 * What calls back for each resource that a command reaches by objects or bindings, not by a word of its own.
 * @return false: the account ends with STOPPED
 */
typedef bool pb_gl_reach(void *context, uint32_t resource, uint32_t access);

/** Starts an account: sub-context 0 exists and is current. Pre: the four members for memory are set. */
void pb_gl_account_start(struct pb_gl_account *account);

/**
 * Forgets what was reported. Call it before each submission (or packet): a binding that did not change is reported by
 * the first command of the submission that reaches it, and by no later one.
 */
void pb_gl_account_begin(struct pb_gl_account *account);

/**
 * Follows one command: reports what it reaches, and changes objects and bindings as it does. Pre: pb_gl_read() or
 * pb_gl_walk() gave the command. Behind an error the account is of no more use.
 * @param reach called for each resource; NULL: nobody asks
 * @return OK, KIND, OBJECT, SUB_CONTEXT, FULL, or STOPPED
 */
enum pb_gl_status pb_gl_account_follow(struct pb_gl_account *account, const struct pb_gl_command *command,
                                       pb_gl_reach *reach, void *context);

/**
 * Calls back for each resource that an object or a binding of any sub-context names, once or more often, with access 0.
 * A resource that is not among them is reached by no later command that does not name it: it can be destroyed.
 * Visits all objects and slots.
 * @return false: `reach` returned false
 */
bool pb_gl_account_each(const struct pb_gl_account *account, pb_gl_reach *reach, void *context);

#endif
