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

#include "hal/gl/bindings.h"
#include "hal/gl/objects.h"
#include "hal/gl/stream.h"

/** Advice: sub-contexts and objects that suffice for the programs that were recorded. */
#define PB_GL_SUB_CONTEXTS 64u
#define PB_GL_OBJECTS      32768u

/** One sub-context. Only the account writes it. */
struct pb_gl_sub_context {
	uint32_t number;                /**< as the stream names it */
	bool used;                      /**< false: the record is free */
	struct pb_gl_bindings bindings; /**< what is bound */
};

/** Account of one context. Only the functions below write it, but for the memory that its caller fills in. */
struct pb_gl_account {
	struct pb_gl_sub_context *sub_contexts; /**< the caller's memory */
	uint32_t sub_context_count;             /**< records there, 1 or more */
	struct pb_gl_objects
		objects;      /**< objects of all sub-contexts; their records are the caller's memory */
	uint32_t current_sub; /**< index of the current sub-context */
};

/**
 * Starts an account: sub-context 0 exists and is current. Pre: sub_contexts, sub_context_count, objects.records and
 * objects.count are set.
 */
void pb_gl_account_start(struct pb_gl_account *account);

/**
 * Forgets what was reported. Call it before each submission (or packet): a binding that did not change is reported by
 * the first command of the submission that reaches it, and by no later one.
 */
void pb_gl_account_begin(struct pb_gl_account *account);

/**
 * Follows one command: reports what it reaches, and changes objects and bindings as it does. Pre: pb_gl_read() or
 * pb_gl_walk() gave the command. Behind an error the account is of no more use.
 * @param reach called for each resource; NULL: nothing is asked
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
