/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The shim on a simulated card, under the model of the OS: a few contexts with allocations of their own, a
 * memory manager that moves them, a pool of DMA buffers, and a model of the contents in plain memory.
 */
#ifndef PB_TESTS_WDDM_WDDM_WORLD_H
#define PB_TESTS_WDDM_WDDM_WORLD_H

#include "patchbay/render.h"
#include "patchbay/wddm/wddm.h"
#include "qemu/engine.h"
#include "tests/unit/card_fixture.h"
#include "tests/wddm/os/vidsch.h"

#define VM_CONTEXTS    3u                    /**< 0 and 1 on node 0, 2 on node 1 */
#define VM_ALLOCATIONS 4u                    /**< of each context */
#define VM_LIST        (VM_ALLOCATIONS + 1u) /**< allocation list: NULL, then these */
#define VM_BYTES       4096u                 /**< of each allocation */
#define VM_PITCH       64u                   /**< of each, as a surface: 16 x 64 pixels */
#define VM_WORDS       256u                  /**< of a command buffer */
#define VM_BUFFERS     48u
#define VM_BUFFER      4096u
#define VM_PATCHES     64u
#define VM_PRIVATE     2048u       /**< private data of a DMA buffer */
#define VM_MDL         32u         /**< pages of a list */
#define VM_OLD_PATTERN 0x0d0d0d0du /**< contents of a page without an owner */
#define VM_HOME_PAGES  64u         /**< pages of both segments */

/*
 * Segment 1: starts at address 0 for the OS. Segment 24, an id that the misprinted mask would lose: its engine
 * addresses cross 4 GiB.
 */
#define VM_VIDEO      1u
#define VM_EDGE       24u
#define VM_EDGE_BYTES 0x20000u
#define VM_VIDEO_OS   UINT64_C(0)
#define VM_VIDEO_GPU  UINT64_C(0x180000000)
#define VM_EDGE_OS    UINT64_C(0x800000000)
#define VM_EDGE_GPU   UINT64_C(0xfffe0000)
/** Segment 5, an aperture of 16 pages: see vm_start_with_aperture(). */
#define VM_APERTURE     5u
#define VM_APERTURE_OS  UINT64_C(0x4000000)
#define VM_APERTURE_GPU UINT64_C(0x700000000)

struct vm_allocation {
	struct pb_wddm_allocation object; /**< object of the OS's handle */
	uint32_t segment;                 /**< 0: paged out */
	uint64_t address;
	uint32_t page; /**< index of its page */
	uint32_t model[VM_BYTES / 4];
};

struct vm_context {
	struct pb_wddm_context shim;
	uint64_t staging[512];
	struct vm_allocation allocations[VM_ALLOCATIONS];
	uint32_t outstanding; /**< packets that have not ended */
	bool tainted;         /**< its model is not valid any more */
};

/** A list of pages of system memory: an MDL. */
struct vm_mdl {
	struct pb_mdl mdl;
	uintptr_t frames[VM_MDL]; /**< frame numbers, behind it */
};

/** One DMA buffer with its private data, and what Render returned for it. */
struct vm_buffer {
	struct pb_memory memory;
	uint64_t private_data[VM_PRIVATE / 8];
	uint32_t private_start; /**< part of the private data that the packets get */
	uint32_t private_end;
	struct pb_patch_location patches[VM_PATCHES];
	uint32_t bytes;
	uint32_t patch_count;
	struct pb_dxgk_allocationlist rendered[VM_LIST]; /**< allocation list at Render */
	bool patched;               /**< Patch was called since: it holds other addresses than Render's */
	bool reserved;              /**< handed out, not queued yet */
	uint32_t parts;             /**< packets that have not ended; 0: free */
	struct vm_context *context; /**< NULL: a paging buffer */
};

struct vm {
	struct card card;        /**< simulation, link and channel */
	struct pb_channel admin; /**< sets the nodes' modes and timeouts */
	struct pb_segment segments[3];
	struct pb_wddm_adapter adapter;
	struct os_model os;
	struct vm_context contexts[VM_CONTEXTS];
	struct vm_buffer buffers[VM_BUFFERS];
	/** Where the OS maps paging buffers: not where the host maps the card's memory. */
	_Alignas(VM_BUFFER) uint8_t aliases[VM_BUFFERS][VM_BUFFER];
	bool leaving
		[VM_HOME_PAGES]; /**< used until vm_finish, because paging buffers may still write to them */
	struct pb_memory away;   /**< a page of system memory for transfers, for each page */
	uintptr_t away_frames[VM_HOME_PAGES];
	bool used_pages[VM_HOME_PAGES]; /**< used pages */
	/* Lists passed to Patch: filled anew for each call, so that the shim must copy what it needs. */
	struct pb_dxgk_allocationlist list[VM_LIST];
	struct pb_patch_location patches[VM_PATCHES];
	uint32_t words[VM_WORDS]; /**< the command buffer */
	uint32_t count;
	uint32_t seed;
	bool deaf;           /**< interrupts are lost */
	bool paging_aborted; /**< memory may hold anything */
	uint32_t skipped;    /**< submissions without Patch */
	uint32_t moved;      /**< allocations */
	uint32_t patched;    /**< calls of Patch */
	uint32_t leaks; /**< slots that a part of a buffer neither unbinds nor binds anew where it begins */
	/** Called last before a submission: damages what the OS passes to Patch and SubmitCommand. */
	void (*spoil)(struct vm *vm, struct os_packet *packet);
	bool hide; /**< allocations that a packet does not need look paged out */
};

/** The shim's functions. */
void vm_miniport(struct vm *vm, struct os_miniport *miniport);
/**
 * Sets the timeouts for a hang and an answer of a node, in microseconds; 0: unchanged. Sets the node to
 * HOST_ORDERED.
 */
void vm_node_times(struct vm *vm, uint32_t node, uint32_t hang_us, uint32_t answer_us);
void vm_break_engine(const struct vm *vm, uint32_t node, const struct pb_engine_model_defects *defects);

/** @param first_fence of each node */
void vm_start(struct vm *vm, uint32_t first_fence);
/** The same under an OS of an older interface, which pages on one node. */
void vm_start_version(struct vm *vm, uint32_t first_fence, uint32_t version, uint32_t paging_node);
/** The same with an aperture, which the shim knows, too. */
void vm_start_with_aperture(struct vm *vm, struct pb_segment *segment);
/** Whether paging of a context's allocations is in order with its packets. */
bool vm_can_page(const struct vm *vm, const struct vm_context *context);
/** Buffer of a packet; NULL: none. */
struct vm_buffer *vm_buffer_of(struct vm *vm, const void *private_data);
void vm_stop(struct vm *vm);
uint32_t vm_random(struct vm *vm, uint32_t bound);
/** A new context with allocations of random contents. */
void vm_context_start(struct vm *vm, uint32_t number);
void vm_context_stop(struct vm *vm, uint32_t number);

/** Memory of an allocation, where it is now. */
uint32_t *vm_memory(const struct vm *vm, const struct vm_allocation *allocation);
/** Gives an allocation a free page. */
void vm_settle(struct vm *vm, struct vm_allocation *allocation);
/** Moves an allocation to another page, and fills the old page with a pattern. Pre: nothing uses it. */
void vm_move(struct vm *vm, struct vm_allocation *allocation);
/** Pages an allocation out: the model keeps its contents. */
void vm_page_out(struct vm *vm, struct vm_allocation *allocation);
void vm_page_in(struct vm *vm, struct vm_allocation *allocation);
/** Fails if an allocation of a context differs from its model. */
void vm_compare(const struct vm *vm, const char *row);

/** Starts a command buffer. */
void vm_begin(struct vm *vm);
/** Appends commands; `to` and `from` are 1 to VM_ALLOCATIONS, offsets and sizes multiples of 4. */
void vm_fill(struct vm *vm, uint32_t to, uint32_t offset, uint32_t bytes, uint32_t value);
void vm_copy(struct vm *vm, uint32_t to, uint32_t to_offset, uint32_t from, uint32_t from_offset,
	     uint32_t bytes);
/** Fills the command buffer with random valid commands. */
void vm_random_commands(struct vm *vm, uint32_t commands);
/** Carries the command buffer out in the model of a context. */
void vm_model(struct vm *vm, struct vm_context *context);

/** The allocation list as the memory manager has it now. */
void vm_list(const struct vm *vm, const struct vm_context *context, struct pb_dxgk_allocationlist *list);
/** A free DMA buffer, reserved until it is queued and has ended; NULL: none. */
struct vm_buffer *vm_buffer(struct vm *vm, struct vm_context *context);
/** Arguments of Render for the command buffer, into one DMA buffer, which gets the allocation list. */
struct pb_dxgkarg_render vm_render_arguments(const struct vm *vm, const struct vm_context *context,
					     struct vm_buffer *buffer);
/** Arguments of Present into one DMA buffer, without what is to be drawn. */
struct pb_dxgkarg_present vm_present_arguments(struct vm_buffer *buffer,
					       struct pb_dxgk_allocationlist list[3]);
/**
 * Calls Render for the command buffer, into one DMA buffer.
 * @return its NTSTATUS
 */
uint32_t vm_render(struct vm *vm, struct vm_context *context, struct vm_buffer *buffer);
/** A packet of bytes [start, end) of a buffer, with the patches in that range. */
struct os_packet vm_packet(const struct vm_buffer *buffer, uint32_t flags, uint32_t start, uint32_t end);
void vm_queue(struct vm *vm, const struct os_packet *packet);
/**
 * Builds an operation into as many paging buffers of `room` bytes as it takes,
 * and queues them on a node. @return how many
 */
uint32_t vm_page(struct vm *vm, uint32_t node, struct pb_dxgkarg_buildpagingbuffer build, uint32_t room);
/** As vm_move, by paging buffers after all submitted packets. Pre: no packet of the node waits to be submitted. */
void vm_move_in_order(struct vm *vm, struct vm_allocation *allocation, uint32_t node);
/** Render, one packet, and the model. Fails if Render refuses. */
void vm_draw(struct vm *vm, uint32_t context);
/** Runs the OS until nothing is left to do. Fails after a minute of the card's time. */
void vm_finish(struct vm *vm);
/** Creates contexts again whose models are not valid any more. Pre: vm_finish was called. */
void vm_repair(struct vm *vm);
/** Fails if the OS has stopped. */
void vm_alive(const struct vm *vm, const char *row);

#endif
