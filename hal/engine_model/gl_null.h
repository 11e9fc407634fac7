/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Null renderers: a GL engine that draws nothing, for simulations, fuzzers and
 * machines without a renderer. All checks of the GL engine hold. What a
 * resource contains is one word, so that a test can tell which resource a
 * packet named:
 *
 *   GL_BIND, first             0
 *   GL_TRANSFER to it          the first word of the data
 *   RESOURCE_COPY_REGION to it that of the source
 *   CLEAR_TEXTURE of it        the first word of the colour
 *   GL_TRANSFER from it        each word of the data is that word
 *
 * Each word of a capability set is the set's number.
 */
#ifndef PB_HAL_ENGINE_MODEL_GL_NULL_H
#define PB_HAL_ENGINE_MODEL_GL_NULL_H

#include "hal/engine_model/gl.h"

/** One null renderer. */
struct pb_gl_null_renderer {
	uint32_t polls; /**< that it still takes */
	uint32_t data;  /**< first word of a PUT, or what a GET or CAPS loads */
};

/** All of them. The caller's; only the functions of this file touch it once they have started. */
struct pb_gl_null {
	struct pb_gl_null_renderer *renderers; /**< the caller's, one for each owner of the engine */
	uint32_t *words;         /**< the caller's: contents, `resource_count` of each renderer */
	uint32_t resource_count; /**< of each owner, as the engine has it */
	uint32_t delay;          /**< polls that an answer takes; 0: the first one has it */
	const uint32_t *clock;   /**< the card's clock */
};

/** For a GL engine whose context is a struct pb_gl_null. */
extern const struct pb_engine_gl_renderers pb_gl_null_renderers;

#endif
