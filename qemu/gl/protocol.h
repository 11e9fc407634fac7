/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a card and one of its renderers tell each other. A renderer is a child
 * process with a socket, on which messages keep their borders, and a window: a
 * file of memory that both map. It gets one request at a time and answers each
 * with one reply. It sees no memory of the card.
 */
#ifndef PB_QEMU_GL_PROTOCOL_H
#define PB_QEMU_GL_PROTOCOL_H

#include <stdint.h>

#include "hal/engine/gl_packets.h"

/** Descriptors of a renderer. */
#define PB_RENDERER_SOCKET 3
#define PB_RENDERER_WINDOW 4
/** The window: words of a run, then data. */
#define PB_RENDERER_DATA_OFFSET  (PB_GL_PACKET_WORDS_MAX * 4u)
#define PB_RENDERER_WINDOW_BYTES (PB_RENDERER_DATA_OFFSET + PB_GL_TRANSFER_BYTES_MAX)

/** What a renderer may have: bytes of memory of its own, and open files. One that needs more ends, or refuses, alone. */
#define PB_RENDERER_MEMORY_BYTES 0x40000000u
#define PB_RENDERER_FILES        256u

/** From the card. */
struct pb_renderer_request {
	uint32_t serial;                      /**< counts requests, from 1 */
	uint32_t kind;                        /**< enum pb_engine_gl_kind */
	uint32_t resource;                    /**< as there */
	uint32_t count;                       /**< words: of a run in the window, else below */
	uint32_t bytes;                       /**< of data in the window */
	uint32_t words[PB_GL_TEMPLATE_WORDS]; /**< as there */
};

/** From the renderer. */
struct pb_renderer_reply {
	uint32_t serial; /**< of the request */
	uint32_t status; /**< PB_RENDERER_DONE or PB_RENDERER_REFUSED */
};
#define PB_RENDERER_DONE    0u
#define PB_RENDERER_REFUSED 1u

#endif
