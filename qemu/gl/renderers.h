/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The renderers of a card with a GL engine: a process for each owner, whose
 * program is qemu/gl/renderer.c. What one of them does or says costs its own
 * owner only: an answer that is none, its end, or no answer at all.
 */
#ifndef PB_QEMU_GL_RENDERERS_H
#define PB_QEMU_GL_RENDERERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "hal/engine_model/gl.h"

/** Owners of a card: contexts of all channels that have a renderer at a time. */
#define PB_RENDERERS_MAX 64u

/** One process, or none. */
struct pb_renderer {
	pid_t pid;                       /**< 0: none */
	int socket;                      /**< -1: none */
	uint8_t *window;                 /**< mapped; NULL: none */
	uint32_t serial;                 /**< of the last request */
	bool asked;                      /**< it has not answered that one */
	enum pb_engine_gl_answer answer; /**< to the last request, if it was answered */
	bool lost;                       /**< it ended or failed, until the engine ends it */
	uint32_t worked;                 /**< processor time of all its threads, in microseconds */
	uint32_t starved;                /**< how often it wanted a processor and was given none */
	uint32_t since;                  /**< the card's clock when one of the two moved, or was looked for */
};

/** All of them. The caller's, at a fixed address; only the functions below touch it. */
struct pb_renderers {
	const char *program;   /**< path of the renderers' program */
	int epoll;             /**< watches their sockets; -1: nothing does */
	const uint32_t *clock; /**< the card's, in card memory */
	struct pb_renderer renderers[PB_RENDERERS_MAX];
};

/** For a GL engine whose context is a struct pb_renderers. */
extern const struct pb_engine_gl_renderers pb_process_renderers;

/** Checks that the program is there and can draw. @return false: no, and standard error has why */
bool pb_renderers_check(const char *program);
/** Starts without a process. @param program stays the caller's */
void pb_renderers_init(struct pb_renderers *renderers, const char *program, int epoll, const uint32_t *clock);
/** Something has come from a renderer, or it has ended. */
void pb_renderers_event(struct pb_renderers *renderers, uint32_t index);

#endif
