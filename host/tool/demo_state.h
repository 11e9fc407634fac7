/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Declarations that the files of the demo share.
 *
 * Functions that return bool print the error before they return false.
 */
#ifndef PB_HOST_TOOL_DEMO_STATE_H
#define PB_HOST_TOOL_DEMO_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "host/tool/demo.h"
#include "host/tool/image.h"
#include "host/tool/scene.h"
#include "host/tool/trace_file.h"
#include "patchbay/patchbay.h"
#include "patchbay/render.h"
#include "patchbay/residency.h"

/** Value of memory that was not written yet: an opaque magenta, which is easily seen. */
#define PB_DEMO_POISON 0xffff00ffu
/** Screens that consecutive frames are drawn into. */
#define PB_DEMO_SCREENS 4u

/** Resources: the images of the scene, by enum pb_scene_image, the vertices, and further screens. */
enum {
	PB_DEMO_VERTICES = PB_SCENE_IMAGES,
	PB_DEMO_MORE_SCREENS,
	PB_DEMO_RESOURCES = PB_DEMO_MORE_SCREENS + (int)PB_DEMO_SCREENS - 1
};

/** Segments: system memory, two segments of video memory, and an aperture. */
enum { PB_DEMO_SYSTEM, PB_DEMO_LARGE, PB_DEMO_SMALL, PB_DEMO_APERTURE, PB_DEMO_SEGMENTS };

/** An allocation: its inset, then its rows. */
struct pb_demo_resource {
	struct pb_memory backing; /**< backing store */
	uint32_t handle;          /**< handle of the memory manager */
	uint32_t inset;           /**< bytes before the first row */
	uint32_t row_bytes;       /**< bytes of a row */
	uint32_t rows;            /**< number of rows */
};

enum pb_demo_engine { PB_DEMO_3D, PB_DEMO_COPY, PB_DEMO_ENGINES };

/** One node's queue. The copy node's queue takes the paging buffers. */
struct pb_demo_queue {
	const char *name;
	struct pb_queue queue;
	struct pb_fence fence; /**< fence record as last read */
};

/** Number of DMA buffers: one is rendered while the other runs. */
#define PB_DEMO_BUFFERS 2u

/** A DMA buffer, its private data and lists, in segment 0. */
struct pb_demo_buffer {
	/** One page: the buffer, then private data, allocation list, patch-location list. */
	struct pb_memory memory;
	uint64_t timeline; /**< timeline value of its last submission */
};

/** Size of the DMA buffer in its page: small, so that a pass of the scene needs several calls of Render. */
#define PB_DEMO_DMA_BYTES 512u

/** Largest number of command words of a pass: a FILL, a TARGET, and TEXTURE and DRAW for each batch. */
#define PB_DEMO_COMMAND_WORDS                                                                                \
	(PB_PACKET_FILL_WORDS + PB_PACKET_TARGET_WORDS +                                                     \
	 PB_SCENE_BATCHES_MAX * (PB_PACKET_TEXTURE_WORDS + PB_PACKET_DRAW_WORDS))

struct pb_demo;

/** Where a resource is. */
struct pb_demo_place {
	uint32_t segment;    /**< 0: paged out */
	uint64_t os_address; /**< in the segment */
};

/** How the demo reaches the card: with the host library, or as a WDDM kernel with the shim. Numbers are of resources. */
struct pb_demo_path {
	uint32_t unit; /**< bytes: resources occupy multiples of it */
	/** Bytes of segment 0. */
	uint32_t (*system_bytes)(const struct pb_demo *demo, uint32_t shrink);
	/** Bytes behind a segment of video memory that must hold so many bytes. */
	uint32_t (*video_bytes)(uint32_t bytes);
	/** Creates all that submits. Pre: the segments exist. */
	bool (*open)(struct pb_demo *demo);
	/** Creates all resources, without contents. Pre: video memory is poisoned. */
	bool (*create)(struct pb_demo *demo);
	/** Pages a resource out; its contents are lost. Afterwards the host may write to it. */
	bool (*page_out)(struct pb_demo *demo, uint32_t number);
	/** Returns the host's address of a byte, where the resource is now; valid to the end of the byte's page. */
	uint8_t *(*byte)(const struct pb_demo *demo, uint32_t number, uint32_t offset);
	struct pb_demo_place (*find)(struct pb_demo *demo, uint32_t number);
	/** Submits one pass of the scene to the 3D node, without waiting for its fence. */
	bool (*draw)(struct pb_demo *demo, uint32_t pass);
	/** Waits for all submissions, and checks that they completed without error. */
	bool (*wait)(struct pb_demo *demo);
	/** Called after each frame: the trace overwrites its oldest records. NULL: nothing to do. */
	bool (*keep_trace)(struct pb_demo *demo);
	/** Reads the trace that was kept. @return false: a file cannot be written. Valid if keep_trace is not NULL */
	bool (*read_trace)(struct pb_demo *demo, struct pb_trace_data *data);
	/** Prints a table of what was submitted and moved. */
	void (*print_table)(struct pb_demo *demo);
	/** Prints the figures of the last line. */
	void (*print_figures)(const struct pb_demo *demo);
	/** Detaches, which frees what was created on the card. May be called after a failed start. */
	void (*close)(struct pb_demo *demo);
};

/** With the host library. */
extern const struct pb_demo_path pb_demo_direct;
/** As a WDDM kernel. */
extern const struct pb_demo_path pb_demo_wddm;

struct pb_demo_wddm_state;

struct pb_demo {
	const struct pb_demo_options *options;
	const struct pb_demo_path *path;
	struct pb_demo_wddm_state *wddm; /**< of path pb_demo_wddm */
	struct pb_channel channel;
	struct pb_segment segments[PB_DEMO_SEGMENTS];
	uint32_t segment_count; /**< created so far */
	uint32_t context;
	struct pb_demo_queue queues[PB_DEMO_ENGINES];
	uint32_t queue_count; /**< created so far */
	struct pb_residency residency;
	struct pb_residency_segment managed[PB_DEMO_SEGMENTS - 1];
	struct pb_residency_allocation allocations[PB_DEMO_RESOURCES];
	struct pb_demo_resource resources[PB_DEMO_RESOURCES];
	struct pb_demo_buffer buffers[PB_DEMO_BUFFERS];
	uint32_t next_buffer;
	uint32_t commands[PB_DEMO_COMMAND_WORDS]; /**< command buffer of user mode */
	uint64_t staging[1024];
	uint32_t *shadow; /**< expected contents of a segment of video memory */
	uint32_t *read;   /**< contents of a resource, as large */
	uint32_t frame;
	uint32_t submissions; /**< submissions of DMA buffers; each part counts */
	struct pb_scene scene;
	/** Expected contents of each image; none for the vertices. */
	struct pb_image expected[PB_DEMO_RESOURCES];
	struct pb_image found; /**< picture that the card drew */
	uint32_t found_frame;  /**< frame of it */
	bool unkept;           /**< it is neither in its file nor on the sheet yet */
	struct pb_image sheet; /**< all pictures, reduced */
};

/** Prints "patchbay demo: frame N: what: error". @return false */
bool pb_demo_fail(const struct pb_demo *demo, const char *what, enum pb_error error);

/* ---- demo_card.c: attaching and segments ---- */

/** Attaches, chooses the size of the pictures, and creates the segments and what submits. */
bool pb_demo_open(struct pb_demo *demo);
/** Returns bytes rounded up to whole pages. */
uint32_t pb_demo_whole_pages(uint32_t bytes);
/** Returns the first node of a kind, or the number of nodes if there is none. */
uint32_t pb_demo_find_node(const struct pb_card_info *card, uint32_t kind);

/* ---- demo_memory.c: contents of memory ---- */

/** Returns the image of a resource. Pre: the resource is not the vertices. */
enum pb_scene_image pb_demo_image_of(uint32_t resource);
/** Returns the resource of an image in the present frame. */
uint32_t pb_demo_resource_of(const struct pb_demo *demo, enum pb_scene_image image);
/** Returns the layout of a resource; backing and handle are unset. */
struct pb_demo_resource pb_demo_layout(uint32_t number, uint32_t shrink);
/** Returns the bytes of a resource: inset and rows. */
uint32_t pb_demo_bytes(const struct pb_demo_resource *resource);
/** Poisons video memory, creates all resources, and writes the fixed images. */
bool pb_demo_fill_memory(struct pb_demo *demo);
/** Pages a resource out and writes new contents to its backing store. */
bool pb_demo_write(struct pb_demo *demo, uint32_t resource, const uint32_t *words);
/** Copies words of a resource from where it is now. @param offset in bytes, inset included */
void pb_demo_read(const struct pb_demo *demo, uint32_t resource, uint32_t offset, uint32_t *words,
		  uint32_t count);

/* ---- demo_commands.c: command buffers of user mode ---- */

/** Writes the commands of a pass, which name allocations by their index in a list. @return bytes */
uint32_t pb_demo_write_commands(struct pb_demo *demo, const struct pb_scene_pass *pass);
/** Returns whether a resource is drawn into. */
bool pb_demo_is_drawn(uint32_t resource);

/* ---- demo_check.c: pictures ---- */

/** Allocates the pictures. */
bool pb_demo_make_images(struct pb_demo *demo);
/** Frees the pictures. */
void pb_demo_free_images(struct pb_demo *demo);
/** Creates the output folder. */
bool pb_demo_make_folder(const struct pb_demo *demo);
/** Paints the expected contents of a pass's target. */
void pb_demo_paint(struct pb_demo *demo, uint32_t number);
/** Compares the card's picture with the painted picture; pb_demo_keep() keeps it. Pre: the one before is kept. */
bool pb_demo_check(struct pb_demo *demo);
/** Writes the card's last picture to its file, and copies it to the sheet, unless that was done. */
bool pb_demo_keep(struct pb_demo *demo);

/* ---- demo_audit.c: memory ---- */

/**
 * Compares both segments of video memory word by word with the expected contents: the resident resources, and poison
 * around them. So a wrong patch is found even if it does not change the picture. Paged-out resources are compared in
 * their backing stores.
 */
bool pb_demo_audit(struct pb_demo *demo);

/* ---- demo_show.c: results for people ---- */

/** Allocates an empty sheet. @return false: out of memory; nothing was printed */
bool pb_demo_sheet_make(struct pb_demo *demo);
/** Copies the card's picture of a frame to the sheet, reduced. */
void pb_demo_sheet_add(struct pb_demo *demo, uint32_t frame);
/** Writes the sheet, and a timeline if the board has a trace. Prints their paths, unless the demo is quiet. */
bool pb_demo_show(struct pb_demo *demo);
/** Writes the timeline, also of a demo that failed. Pre: pb_demo_open() has succeeded. @return false: the error was printed */
bool pb_demo_show_timeline(struct pb_demo *demo);

#endif
