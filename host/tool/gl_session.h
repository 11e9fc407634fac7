/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Serves one program: reads its vtest messages from a socket, carries them out on the card, answers. The program is not
 * trusted; whatever it sends, the session ends with a message and a closed socket at worst.
 */
#ifndef PB_HOST_TOOL_GL_SESSION_H
#define PB_HOST_TOOL_GL_SESSION_H

#include <stdbool.h>

#include "host/gl/client.h"
#include "host/gl/vtest.h"

/** What carries out messages: the card, or what a test puts in its place. Each function returns false for the end. */
struct pb_gl_backend {
	void *context; /**< passed to the functions */
	/**
	 * The program has told its name: makes ready what the other functions need. Called before them, once.
	 * @param name printable @param message out: why it returned false, PB_GL_SESSION_TEXT bytes
	 */
	bool (*open)(void *context, const char *name, char *message);
	/** Creates a resource. @param memory of the program, mapped here; NULL: none */
	bool (*create)(void *context, uint32_t handle, const uint32_t *template_words, uint8_t *memory,
		       uint32_t bytes);
	/** Drops a resource. @param memory out: what create() got, which is not used any more; NULL: none */
	bool (*drop)(void *context, uint32_t handle, uint8_t **memory, uint32_t *bytes);
	/** Runs commands. */
	bool (*submit)(void *context, uint32_t *words, uint32_t count);
	/** Transfers. @param memory NULL: the resource's own; else request->available bytes */
	bool (*transfer)(void *context, uint32_t handle, struct pb_gl_transfer_request *request,
			 bool to_resource, uint8_t *memory);
	/** Reads whether a resource is in use. @param handle 0: whether anything is */
	bool (*busy)(void *context, uint32_t handle, bool wait, bool *busy);
	/** Reads a capability set. @param bytes multiple of 4 */
	bool (*caps)(void *context, uint32_t set, uint32_t *words, uint32_t bytes);
	/** The program is silent: what was collected is to be submitted. Called before open(), too. */
	bool (*idle)(void *context);
	/** Writes why a function returned false. @param text PB_GL_SESSION_TEXT bytes */
	void (*failure)(void *context, char *text);
};

/** Bytes of a message to a person. */
#define PB_GL_SESSION_TEXT 512u
/** Bytes of the capability sets 1 and 2 of virglrenderer 0.10. */
#define PB_GL_CAPS1_BYTES 308u
#define PB_GL_CAPS2_BYTES 1376u

/** One session. */
struct pb_gl_session {
	int socket;                          /**< connection to the program; the caller's */
	const struct pb_gl_backend *backend; /**< the caller's */
	struct pb_vtest_session vtest;       /**< what was agreed */
	char name[64];                       /**< the program, as it calls itself: printable */
	char message[PB_GL_SESSION_TEXT];    /**< why it ended; empty: the program left */
	uint8_t *data;                       /**< buffer for data of messages */
	uint32_t data_bytes;                 /**< its size */
};

/**
 * Serves until the program leaves or goes wrong. The backend's resources are the caller's to end, behind
 * pb_gl_session_free().
 * @param session socket and backend are set, all else is 0
 * @return true: the program left between two messages
 */
bool pb_gl_session_serve(struct pb_gl_session *session);
/** Frees the session's buffer. */
void pb_gl_session_free(struct pb_gl_session *session);

#endif
