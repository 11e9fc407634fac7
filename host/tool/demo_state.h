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
#include "host/render.h"
#include "host/residency.h"
#include "host/tool/demo.h"
#include "host/tool/image.h"
#include "host/tool/scene.h"

/** What nobody has written to yet: an opaque magenta, seen at once where it should not be. */
#define PB_DEMO_POISON 0xffff00ffu
/** Screens that frames are drawn into in turn. */
#define PB_DEMO_SCREENS 4u

/** The images of the scene, by their own numbers, the vertices, and the screens beside PB_SCENE_SCREEN. */
enum {
	PB_DEMO_VERTICES = PB_SCENE_IMAGES,
	PB_DEMO_MORE_SCREENS,
	PB_DEMO_RESOURCES = PB_DEMO_MORE_SCREENS + (int)PB_DEMO_SCREENS - 1
};

/** System memory, two segments of video memory, and an aperture. */
enum { PB_DEMO_SYSTEM, PB_DEMO_LARGE, PB_DEMO_SMALL, PB_DEMO_APERTURE, PB_DEMO_SEGMENTS };

/** An allocation: its inset, then its rows. */
struct pb_demo_resource {
	struct pb_memory backing; /**< its backing store */
	uint32_t handle;
	uint32_t inset; /**< bytes before the first row */
	uint32_t row_bytes;
	uint32_t rows;
};

enum pb_demo_engine { PB_DEMO_3D, PB_DEMO_COPY, PB_DEMO_ENGINES };

/** One node's queue. The copy node has the paging buffers. */
struct pb_demo_queue {
	const char *name;
	struct pb_queue queue;
	struct pb_fence fence; /**< as last read */
};

/** DMA buffers: one is rendered while the other runs. */
#define PB_DEMO_BUFFERS 2u

/** A DMA buffer and what belongs to it, in segment 0. */
struct pb_demo_buffer {
	struct pb_memory
		memory; /**< one page: the buffer, then private data, allocation list, patch-location list */
	uint64_t timeline; /**< of its last submission */
};

/** Of each page, what the DMA buffer takes: little, so that one pass of the scene takes several calls of Render. */
#define PB_DEMO_DMA_BYTES 512u

/** The most words that one pass's commands take: a FILL, a TARGET, and TEXTURE and DRAW for each batch. */
#define PB_DEMO_COMMAND_WORDS                                                                                \
	(PB_PACKET_FILL_WORDS + PB_PACKET_TARGET_WORDS +                                                     \
	 PB_SCENE_BATCHES_MAX * (PB_PACKET_TEXTURE_WORDS + PB_PACKET_DRAW_WORDS))

struct pb_demo {
	const struct pb_demo_options *options;
	struct pb_channel channel;
	struct pb_segment segments[PB_DEMO_SEGMENTS];
	uint32_t segment_count; /**< made so far */
	uint32_t context;
	struct pb_demo_queue queues[PB_DEMO_ENGINES];
	uint32_t queue_count; /**< made so far */
	struct pb_residency residency;
	struct pb_residency_segment managed[PB_DEMO_SEGMENTS - 1];
	struct pb_residency_allocation allocations[PB_DEMO_RESOURCES];
	struct pb_demo_resource resources[PB_DEMO_RESOURCES];
	struct pb_demo_buffer buffers[PB_DEMO_BUFFERS];
	uint32_t next_buffer;
	uint32_t commands[PB_DEMO_COMMAND_WORDS]; /**< as user mode writes them */
	uint64_t staging[1024];
	uint32_t *shadow; /**< room for what a segment of video memory should hold */
	uint32_t frame;
	uint32_t submissions; /**< of DMA buffers, parts of them included */
	struct pb_scene scene;
	struct pb_image
		expected[PB_DEMO_RESOURCES]; /**< what each image should hold now; none for the vertices */
	struct pb_image found;               /**< what the card drew */
	struct pb_image sheet;               /**< all of that, small */
};

/** Prints "patchbay demo: frame N: what: error". @return false */
bool pb_demo_fail(const struct pb_demo *demo, const char *what, enum pb_error error);

/* ---- demo_card.c: attaching, segments, queues ---- */

bool pb_demo_open(struct pb_demo *demo);
/** Undoes as much of pb_demo_open as was done. */
void pb_demo_close(struct pb_demo *demo);

/* ---- demo_memory.c: what is in memory ---- */

/** The image of the scene that a resource is; not for the vertices. */
enum pb_scene_image pb_demo_image_of(uint32_t resource);
/** The resource that stands for an image in this frame. */
uint32_t pb_demo_resource_of(const struct pb_demo *demo, enum pb_scene_image image);
/** Where a resource's parts lie, but for its memory. */
struct pb_demo_resource pb_demo_layout(uint32_t number, uint32_t shrink);
/** What a resource takes of segment 0: the vertices whole pages, and aligned to them; all others whole lines. */
uint32_t pb_demo_backing_bytes(uint32_t number, uint32_t shrink);
/** Poisons video memory, makes the memory manager and all resources, and writes the fixed images. */
bool pb_demo_fill_memory(struct pb_demo *demo);
/** Takes a resource out of video memory and gives it new contents. */
bool pb_demo_write(struct pb_demo *demo, uint32_t resource, const uint32_t *words);
/**
 * Where the host sees a resource now, its inset included.
 * @param found NULL, or where the manager says that it is
 */
const uint32_t *pb_demo_contents(struct pb_demo *demo, uint32_t resource, struct pb_render_allocation *found);

/* ---- demo_draw.c: work for the 3D node ---- */

/** Has the 3D node draw one pass of the scene, and does not wait for it. */
bool pb_demo_draw(struct pb_demo *demo, uint32_t pass);
/** Waits for all submissions, and checks that they completed without error. */
bool pb_demo_wait(struct pb_demo *demo);

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

/**
 * Compares both segments of video memory word by word with what should be
 * there: every resident resource, and poison around them. So a wrong patch is
 * found even where it spoils nothing that the picture shows. What is paged out
 * is compared in its backing store.
 */
bool pb_demo_audit(struct pb_demo *demo);

/* ---- demo_show.c: what to look at when it is over ---- */

/** Makes an empty sheet. @return false: there is not enough memory, which it has not said */
bool pb_demo_sheet_make(struct pb_demo *demo);
/** Puts the frame that was found onto the sheet. */
void pb_demo_sheet_add(struct pb_demo *demo);
/** Writes the sheet, and a timeline if the board has a trace; says where they are, unless it is to be quiet. */
bool pb_demo_show(const struct pb_demo *demo);

#endif
