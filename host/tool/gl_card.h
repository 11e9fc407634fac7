/* SPDX-License-Identifier: MIT */
/**
 * @file
 * One OpenGL program's share of a card: a channel with a context, queues, segments and the memory of a client
 * (host/gl/client.h). Each program has a process of its own, so that one that goes wrong takes nothing with it.
 */
#ifndef PB_HOST_TOOL_GL_CARD_H
#define PB_HOST_TOOL_GL_CARD_H

#include "host/gl/client.h"

/** What a program gets. */
struct pb_gl_card_options {
	const char *socket;    /**< of the card */
	uint32_t priority;     /**< enum pb_priority */
	uint32_t weight;       /**< of its channel: 1 to PB_WEIGHT_MAX */
	uint32_t hang_us;      /**< time without progress that counts as a hang; 0: the card's */
	uint64_t memory_bytes; /**< addresses for its resources; less if the card has less */
};

/** Bounds of these. */
#define PB_GL_MEMORY_MIB_MAX 128u
#define PB_GL_HANG_MS_MAX    10000u

/** Default of memory_bytes. */
#define PB_GL_MEMORY_BYTES 0x4000000u
/** Card memory of a card that is started for OpenGL programs: room for the addresses of three. */
#define PB_GL_CARD_BYTES 0x10000000u

/** A program's share. */
struct pb_gl_card {
	struct pb_link *link;                       /**< NULL: not open */
	struct pb_channel channel;                  /**< attached, if `link` is */
	struct pb_segment system;                   /**< segment 0 */
	struct pb_segment segments[PB_GL_SEGMENTS]; /**< by enum pb_gl_segment */
	struct pb_queue queue;                      /**< the program's submissions */
	struct pb_queue paging;                     /**< paging buffers */
	struct pb_gl_client *client;                /**< with its memory */
	struct pb_gl_client_setup setup;            /**< of the client */
	bool started;                               /**< the client has started */
};

/** A share that is not open. */
#define PB_GL_CARD_CLOSED ((struct pb_gl_card){.link = NULL})

/** Opens a share. @param message out: 512 bytes; why it failed @return false: close it nevertheless */
bool pb_gl_card_open(struct pb_gl_card *card, const struct pb_gl_card_options *options, char *message);
/** Ends the client, leaves the card, and frees the memory. */
void pb_gl_card_close(struct pb_gl_card *card);
/** Writes a client's failure as a sentence. @param text out: 512 bytes */
void pb_gl_card_failure(const struct pb_gl_card *card, char *text);

#define PB_GL_MESSAGE_BYTES 512u

#endif
