/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Walks a run of virgl commands from an untrusted client: checks each command against the table of hal/gl/commands.h, and
 * calls back for each word that names a resource, so that the caller can note or replace it.
 *
 * The run lies in private memory: no other agent writes it meanwhile. No word outside of the run is read. The work is
 * bounded by the run's length: no word is read more than a fixed number of times.
 */
#ifndef PB_HAL_GL_STREAM_H
#define PB_HAL_GL_STREAM_H

#include "hal/gl/commands.h"

/** One command of a run, whose header, length and values were checked. */
struct pb_gl_command {
	const uint32_t *words;                   /**< its words; words[0] is the header */
	uint32_t word;                           /**< index of the header in the run */
	uint32_t count;                          /**< words with the header */
	uint32_t number;                         /**< enum pb_gl_number */
	uint32_t kind;                           /**< enum pb_gl_kind */
	const struct pb_gl_operation *operation; /**< its description */
};

/** One word that names a resource. Operands that are optional and 0 are not called back for. */
struct pb_gl_use {
	uint32_t word;    /**< index in the run */
	uint32_t access;  /**< bits of enum pb_gl_access; 0: only named */
	uint32_t number;  /**< enum pb_gl_number of the command */
	uint32_t command; /**< index of the command's header in the run */
};

/** Where and why a walk ended early. All 0 behind a walk without an error. */
struct pb_gl_error {
	enum pb_gl_status status; /**< why */
	uint32_t word;            /**< index of the command's header in the run */
	uint32_t header;          /**< that word; its number is pb_gl_number_of(header) */
};

/** What a walk calls. A member that is NULL is not called. */
struct pb_gl_walk_ops {
	/**
	 * Called for each word that names a resource, in the order of the run.
	 * @param value the word; what is stored here replaces it in the run
	 * @return false: the walk ends with STOPPED
	 */
	bool (*resource)(void *context, const struct pb_gl_use *use, uint32_t *value);
	/** Called for each command behind its resources, whose words were replaced. @return OK, or why the walk ends */
	enum pb_gl_status (*command)(void *context, const struct pb_gl_command *command);
};

/**
 * Checks the command at words[at].
 * @param count words of the run
 * @param command set if the result is OK
 * @return OK, TRUNCATED, UNKNOWN, REFUSED, KIND, LENGTH, VALUE or RESOURCE
 */
enum pb_gl_status pb_gl_read(const uint32_t *words, uint32_t count, uint32_t at,
			     struct pb_gl_command *command);

/**
 * Walks a run to its end, or to the first error.
 * @param words the run; only the words that name resources are written, and only by `resource`
 * @param error set in any case
 * @return error->status
 */
enum pb_gl_status pb_gl_walk(uint32_t *words, uint32_t count, const struct pb_gl_walk_ops *ops, void *context,
			     struct pb_gl_error *error);

/**
 * Returns the words of the whole commands that fit in `limit` words from words[0] on; 0 if the first one alone does not
 * fit, or is not complete in the run. Reads headers only.
 */
uint32_t pb_gl_fit(const uint32_t *words, uint32_t count, uint32_t limit);

#endif
