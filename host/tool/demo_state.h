/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the files of the demo share and nobody else includes.
 *
 * Functions that return bool have printed what went wrong when it is false.
 */
#ifndef PB_HOST_TOOL_DEMO_STATE_H
#define PB_HOST_TOOL_DEMO_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "host/patchbay.h"
#include "host/tool/demo.h"
#include "host/tool/dma_builder.h"
#include "host/tool/image.h"
#include "host/tool/scene.h"

/**
 * What moved away leaves this behind, less up to 127: opaque magentas, seen at
 * once where they should not be, and another one with each move.
 */
#define PB_DEMO_POISON   0xffff00ffu
#define PB_DEMO_SEGMENTS 3u
/** Moves in one frame. */
#define PB_DEMO_LEFT_MAX 64u

/** The images of the scene, by their own numbers, and the vertices. */
enum { PB_DEMO_VERTICES = PB_SCENE_IMAGES, PB_DEMO_RESOURCES };

/** Something that lies in card memory, somewhere in segment 1 or 2, and moves. */
struct pb_demo_resource {
	struct pb_memory memory; /**< where it is now */
	uint32_t inset;          /**< its first byte, from the start of its memory */
	uint32_t pitch;
	uint32_t row_bytes;
	uint32_t rows;
};

enum pb_demo_engine { PB_DEMO_3D, PB_DEMO_COPY, PB_DEMO_ENGINES };

/** One node's queue, with one submission under way at most. */
struct pb_demo_queue {
	const char *name;
	struct pb_queue queue;
	struct pb_dma dma;
	struct pb_fence fence; /**< as last read */
	bool busy;             /**< submitted and not waited for */
	uint32_t submissions;
	uint32_t waited;
};

struct pb_demo {
	const struct pb_demo_options *options;
	struct pb_channel channel;
	struct pb_segment segments[PB_DEMO_SEGMENTS];
	uint32_t segment_count; /**< made so far */
	uint32_t context;
	struct pb_demo_queue queues[PB_DEMO_ENGINES];
	uint32_t queue_count; /**< made so far */
	struct pb_demo_resource resources[PB_DEMO_RESOURCES];
	struct pb_memory left[PB_DEMO_LEFT_MAX]; /**< places that this frame's moves left */
	uint32_t left_count;
	uint32_t *shadows[PB_DEMO_SEGMENTS]; /**< of segments 1 and 2 */
	uint32_t random;
	uint32_t frame;
	uint32_t moves;
	uint64_t bytes_moved;
	struct pb_scene scene;
	struct pb_image expected[PB_SCENE_IMAGES]; /**< what each image should hold now */
	struct pb_image found;                     /**< what the card drew */
};

/** Prints "patchbay demo: frame N: what: error". @return false */
bool pb_demo_fail(const struct pb_demo *demo, const char *what, enum pb_error error);

/* ---- demo_card.c: attaching, segments, queues ---- */

bool pb_demo_open(struct pb_demo *demo);
/** Undoes as much of pb_demo_open as was done. */
void pb_demo_close(struct pb_demo *demo);

/* ---- demo_memory.c: where things are ---- */

/** A bit for each resource. */
#define PB_DEMO_BIT(resource) (1u << (resource))

/** Poisons segments 1 and 2, then finds places for all resources and writes the fixed images there. */
bool pb_demo_fill_memory(struct pb_demo *demo);
/** Writes a resource where it is now. The engines must not be using it. */
void pb_demo_write(struct pb_demo *demo, uint32_t resource, const uint32_t *words);
/** Reads a resource from where it is now. */
void pb_demo_read(const struct pb_demo *demo, uint32_t resource, uint32_t *words);
/**
 * Has the copy node move resources to new places and poison the old ones, and
 * does not wait for it.
 * @param must bits of those that move
 * @param may bits of those that move or stay, as chance has it
 */
bool pb_demo_move(struct pb_demo *demo, uint32_t must, uint32_t may);
/** Frees the places that the frame's moves left. */
void pb_demo_free_left(struct pb_demo *demo);

/* ---- demo_draw.c: work for the engines ---- */

/** Has the 3D node draw one pass of the scene, and does not wait for it. */
bool pb_demo_draw(struct pb_demo *demo, uint32_t pass);
bool pb_demo_submit(struct pb_demo *demo, enum pb_demo_engine engine);
/** Waits for the engine's submission, if there is one, and checks that it completed without error. */
bool pb_demo_wait(struct pb_demo *demo, enum pb_demo_engine engine);

/* ---- demo_check.c: pictures ---- */

bool pb_demo_make_images(struct pb_demo *demo);
void pb_demo_free_images(struct pb_demo *demo);
/** Makes the folder that the files go to. */
bool pb_demo_make_folder(const struct pb_demo *demo);
/** Paints what the target of a pass should hold after it. */
void pb_demo_paint(struct pb_demo *demo, uint32_t number);
/** Writes the card's picture to a file and compares it with the painted one. */
bool pb_demo_check(struct pb_demo *demo);

/* ---- demo_audit.c: memory ---- */

/** Makes the shadows: what every word of segments 1 and 2 should be, poison at first. */
bool pb_demo_make_shadows(struct pb_demo *demo);
void pb_demo_free_shadows(struct pb_demo *demo);
/** Notes that a piece of memory has been filled. */
void pb_demo_shadow_fill(struct pb_demo *demo, const struct pb_memory *memory, uint32_t value);
/**
 * Compares segments 1 and 2 word by word with what should be there: every
 * resource in its place, and around them the poison of whatever left there. So
 * a wrong patch is found even where it spoils nothing that the picture shows.
 */
bool pb_demo_audit(struct pb_demo *demo);

#endif
