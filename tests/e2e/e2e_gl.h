/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A client of a card with a GL engine that knows no OpenGL library: it writes GL packets and virgl commands by hand. The
 * functions fail the test.
 */
#ifndef PB_TESTS_E2E_E2E_GL_H
#define PB_TESTS_E2E_E2E_GL_H

#include "qemu/card.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_host.h"

/** Pictures of the tests: 4 bytes a pixel. */
#define E2E_GL_WIDTH  16u
#define E2E_GL_HEIGHT 16u
#define E2E_GL_BYTES  (E2E_GL_WIDTH * E2E_GL_HEIGHT * 4u)
/** Headers of virgl commands, and the pictures' format. */
#define E2E_GL_CREATE_SURFACE  0x00050801u
#define E2E_GL_SET_FRAMEBUFFER 0x00030005u
#define E2E_GL_FORMAT          1u

/** One context with its queue on the 3D node, and the page of its picture. */
struct e2e_gl {
	struct e2e_host *host;
	uint32_t context;        /**< handle */
	uint32_t owner;          /**< as packets name it */
	struct pb_queue queue;   /**< of the context's submissions */
	struct pb_dma builder;   /**< of them */
	struct pb_memory pixels; /**< card memory for transfers */
};

/** What a picture is, and a resource that is no picture: operands of GL_BIND. */
struct e2e_gl_shape {
	uint32_t target, format, bind, width, height;
};
extern const struct e2e_gl_shape e2e_gl_picture;

/** Whether virglrenderer can draw on this machine. If not, a message says so. */
bool e2e_gl_possible(void);
/** Starts a card with a GL engine. */
void e2e_gl_card_start(struct e2e_card *card, uint32_t restarts);
/** As e2e_gl_card_start(). @param directory where the card keeps its files; NULL: where it likes */
void e2e_gl_card_start_in(struct e2e_card *card, uint32_t restarts, const char *directory);
/** Options of such a card, for pb_card_start(). Valid as long as the card's name and the image paths. */
struct pb_card_options e2e_gl_card_options(struct e2e_card *card);
/** A context of a host that is open, and its queue. */
void e2e_gl_open(struct e2e_gl *gl, struct e2e_host *host);
/** As e2e_gl_open(). @param priority enum pb_priority, of the queue */
void e2e_gl_open_with(struct e2e_gl *gl, struct e2e_host *host, uint32_t priority);
/** The processes that are renderers of a card, oldest first. @return their number */
size_t e2e_gl_renderers(const struct e2e_card *card, pid_t *pids, size_t most);

/** The page number of the video segment's page so far from its start. */
uint32_t e2e_gl_page(const struct e2e_gl *gl, uint32_t page);
/** Submits words to the paging queue and waits. @return the fence's status */
enum pb_error e2e_gl_paging(struct e2e_gl *gl, const uint32_t *words, uint32_t count);
/** Binds a resource at a page. */
enum pb_error e2e_gl_bind(struct e2e_gl *gl, uint32_t id, uint32_t page, const struct e2e_gl_shape *shape);
/** Takes its address. @param flags of GL_UNBIND */
enum pb_error e2e_gl_unbind(struct e2e_gl *gl, uint32_t id, uint32_t flags);
/** Starts a buffer with a GL packet of these commands. */
void e2e_gl_begin(struct e2e_gl *gl, const uint32_t *commands, uint32_t count);
/** Submits it and waits. @return the fence's status, or the error of waiting */
enum pb_error e2e_gl_finish(struct e2e_gl *gl);
/** Makes a picture the framebuffer: surface `handle` of the page. */
enum pb_error e2e_gl_draw_to(struct e2e_gl *gl, uint32_t handle, uint32_t page);
/** Appends a packet that clears the framebuffer. */
void e2e_gl_add_clear(struct e2e_gl *gl, bool red, bool green, bool blue);
/** Clears the framebuffer to a colour, each channel 0 or 1. */
enum pb_error e2e_gl_clear(struct e2e_gl *gl, bool red, bool green, bool blue);
/** Transfers a picture into card memory. @return the status */
enum pb_error e2e_gl_read(struct e2e_gl *gl, uint32_t page);
/** Whether every pixel that was read has this value. */
bool e2e_gl_is(const struct e2e_gl *gl, uint32_t pixel);
/** Draws with a fragment shader that takes hours; does not wait. Pre: a framebuffer is set. */
void e2e_gl_draw_without_end(struct e2e_gl *gl);

#endif
