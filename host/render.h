/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Render: an untrusted command buffer becomes a DMA buffer with its private
 * data, allocation list and patch-location list. The contract of
 * DXGKARG_RENDER, for DxgkDdiRender, DxgkDdiRenderKm and a blit of
 * DxgkDdiPresent. docs/render.md has the commands and the rules.
 *
 * This is the one place where bad work of a client can be refused: everything
 * is checked before the first byte of an output is written, so any status but
 * SUCCESS and INSUFFICIENT_DMA_BUFFER has written nothing and moved nothing.
 *
 * No heap, no operating system, no lock, no state of its own: calls with
 * different arguments may run at the same time. A driver whose reads of user
 * memory may fault wraps the call in its guard; nothing has to be undone.
 */
#ifndef PB_HOST_RENDER_H
#define PB_HOST_RENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/abi/base.h"
#include "firmware/abi/patch.h"
#include "firmware/abi/submission.h"

/*
 * X(NAME, number, NTSTATUS, meaning)
 * Where a command has several faults, the first of the order in docs/render.md counts.
 */
#define PB_RENDER_STATUSES(X)                                                                                \
	X(SUCCESS, 0, 0x00000000, "all of the command buffer is translated")                                 \
	X(NO_MEMORY, 1, 0xC0000017, "the staging memory is too small for a private copy")                    \
	X(INSUFFICIENT_DMA_BUFFER, 2, 0xC01E0001, "an output is full: call again with new ones")             \
	X(PRIVILEGED_INSTRUCTION, 3, 0xC0000096, "a command that only the kernel may use")                   \
	X(ILLEGAL_INSTRUCTION, 4, 0xC000001D, "an unknown command, or one that the node does not have")      \
	X(INVALID_PARAMETER, 5, 0xC000000D, "a known command, or a list entry, with a bad operand")          \
	X(INVALID_USER_BUFFER, 6, 0xC00000E8, "an input is misaligned, or ends inside a command")            \
	X(INVALID_HANDLE, 7, 0xC0000008, "the allocation list names an allocation that the device lacks")

/** What rendering came to, as the driver model names it. */
enum pb_render_status {
#define PB_RENDER_STATUS_ENUM(name, number, ntstatus, meaning) PB_RENDER_##name = (number),
	PB_RENDER_STATUSES(PB_RENDER_STATUS_ENUM)
#undef PB_RENDER_STATUS_ENUM
};

/** Name of a status, such as "INVALID_HANDLE"; "?" for a number not in the list. */
const char *pb_render_status_name(enum pb_render_status status);
/** The NTSTATUS that stands for it; STATUS_UNSUCCESSFUL for a number not in the list. */
uint32_t pb_render_ntstatus(enum pb_render_status status);

/** What stands in both words of an address that is not known yet; no segment may have it. */
#define PB_RENDER_POISON 0xdeadbeefu

/** What one command may need of the outputs: with this much room each call makes progress. */
#define PB_RENDER_DMA_BYTES_MIN 64u
#define PB_RENDER_PATCHES_MIN   3u /**< the same in patch locations */

/**
 * SlotId of the patch locations, by the role of an operand: an entry replaces
 * the one before it in its slot. MaxAllocationListSlotId is PB_RENDER_SLOTS.
 */
enum pb_render_slot_id {
	PB_RENDER_SLOT_SOURCE = 0,      /**< COPY, COPY_RECT, INDIRECT */
	PB_RENDER_SLOT_DESTINATION = 1, /**< FILL, COPY, COPY_RECT */
	PB_RENDER_SLOT_TARGET = 2,      /**< TARGET */
	PB_RENDER_SLOT_TEXTURE = 3,     /**< TEXTURE */
	PB_RENDER_SLOT_VERTICES = 4,    /**< DRAW */
	PB_RENDER_SLOTS = 5             /**< their number */
};

/** One allocation that the device knows. The driver keeps these; they are trusted. */
struct pb_render_allocation {
	uint64_t size;        /**< bytes, not 0 */
	uint64_t os_address;  /**< the segment's base included; 0 is valid */
	uint64_t gpu_address; /**< where the engine sees it, multiple of 4; 0 is valid */
	uint32_t segment;     /**< 1..31; 0: paged out, and both addresses mean nothing */
};

/** Whose allocations, and for which node. */
struct pb_render_device {
	/**
	 * Looks up an allocation. Must not read user memory.
	 * @param context the field below
	 * @param handle never 0
	 * @param allocation filled in if found
	 * @return false: the device has no such allocation
	 */
	bool (*find)(void *context, uint32_t handle, struct pb_render_allocation *allocation);
	void *context; /**< first argument of find */
	uint32_t node; /**< PB_NODE_3D or PB_NODE_COPY: the kind of the node that the work is for */
};

/*
 * RenderUserAllocation.flags:
 *
 *   31                               1 0
 *  +----------------------------------+-+
 *  |           reserved, 0            |W|   W WriteOperation
 *  +----------------------------------+-+
 */
#define PB_RENDER_USER_WRITE 0x1u /**< W */

/** One entry of the user's allocation list, 8 bytes, as D3DDDI_ALLOCATIONLIST. Written by the user. */
struct pb_render_user_allocation {
	uint32_t handle; /**< 0 is the NULL allocation: listed as unbind, of no use to a command */
	uint32_t flags;  /**< PB_RENDER_USER_WRITE */
};
PB_SIZE(pb_render_user_allocation, 8);
PB_AT(pb_render_user_allocation, handle, 0);
PB_AT(pb_render_user_allocation, flags, 4);

#define PB_RENDER_MAGIC   0x44524250u /**< "PBRD" */
#define PB_RENDER_VERSION 1u          /**< of struct pb_render_record */

/**
 * The private data of one DMA buffer, 36 bytes: what it holds. Written here,
 * never seen by the user, not read by the firmware.
 */
struct pb_render_record {
	uint32_t magic;            /**< PB_RENDER_MAGIC */
	uint32_t version;          /**< PB_RENDER_VERSION */
	uint32_t flags;            /**< PB_FLAG_* of its descriptor: Present or none */
	uint32_t command_start;    /**< first byte of the command buffer translated into this one */
	uint32_t command_end;      /**< the first byte after it */
	uint32_t dma_bytes;        /**< written to the DMA buffer; may be 0 */
	uint32_t allocation_count; /**< entries of its allocation list */
	uint32_t patch_count;      /**< entries of its patch-location list */
	uint32_t unresolved_count; /**< of these, poison; 0: it runs as it is, with a patch length of 0 */
};
PB_SIZE(pb_render_record, 36);
PB_AT(pb_render_record, magic, 0);
PB_AT(pb_render_record, version, 4);
PB_AT(pb_render_record, flags, 8);
PB_AT(pb_render_record, command_start, 12);
PB_AT(pb_render_record, command_end, 16);
PB_AT(pb_render_record, dma_bytes, 20);
PB_AT(pb_render_record, allocation_count, 24);
PB_AT(pb_render_record, patch_count, 28);
PB_AT(pb_render_record, unresolved_count, 32);

/**
 * Where the results go. Card memory or plain memory, 4-byte aligned, not
 * visible to the user. The four pointers are advanced past the last element
 * written; the sizes stay as they were given. Unused room is left alone.
 */
struct pb_render_output {
	uint32_t *dma_buffer;                /**< byte 0 of a DMA buffer: patch offsets count from here */
	uint32_t dma_size;                   /**< its bytes */
	uint32_t *private_data;              /**< for one struct pb_render_record */
	uint32_t private_data_size;          /**< its bytes */
	struct pb_allocation *allocations;   /**< one for each entry of the user's list, in its order */
	uint32_t allocations_size;           /**< its elements */
	struct pb_patch_location *locations; /**< of every address in the DMA buffer, in order */
	uint32_t locations_size;             /**< its elements */
	struct pb_render_record record;      /**< out: a copy of the private data, if any was written */
};

/** One call. User memory may change at any time: each of its words is read exactly once in a call. */
struct pb_render_arguments {
	const struct pb_render_device *device; /**< whose allocations */
	void *staging;                         /**< private memory for the call, 8-byte aligned, not NULL */
	uint32_t staging_size;                 /**< at least what pb_render_staging_bytes says */

	const uint32_t *command;                                  /**< user memory; unused if there is none */
	uint32_t command_length;                                  /**< bytes */
	const struct pb_render_user_allocation *user_allocations; /**< user memory */
	uint32_t user_allocation_count;                           /**< its entries */
	/**
	 * User memory: a patch list for the command buffer, PatchOffset ascending.
	 * It may leave addresses out, but not contradict the commands. What goes
	 * into the output comes from the commands alone.
	 */
	const struct pb_patch_location *user_locations;
	uint32_t user_location_count; /**< its entries */

	struct pb_render_output output; /**< where it goes */
	/** 0 in the first call for a command buffer; after that, as the last call left it. Not the user's. */
	uint32_t multipass_offset;
};

/**
 * How much staging memory a call needs: a private copy of its inputs.
 * pb_render_km copies no commands and no patch list: 0 for both.
 */
uint64_t pb_render_staging_bytes(uint32_t command_length, uint32_t allocation_count, uint32_t location_count);

/**
 * Translates the command buffer from multipass_offset on, as far as the outputs
 * go. All of the command buffer is checked in each call.
 *
 * @retval PB_RENDER_SUCCESS the outputs hold the rest of the command buffer
 * @retval PB_RENDER_INSUFFICIENT_DMA_BUFFER they hold a part that ends between
 *         two commands, and multipass_offset has moved: submit it and call again
 *         with new outputs. If it has not moved, nothing was written: one of the
 *         outputs has no room for its smallest part, see PB_RENDER_*_MIN.
 * @retval others as PB_RENDER_STATUSES says
 */
enum pb_render_status pb_render(struct pb_render_arguments *arguments);

/**
 * The same for commands of the kernel itself: inputs are trusted memory that
 * does not change meanwhile, and INDIRECT, HANG, FAULT and BUSY are allowed.
 * What the commands say is checked all the same. Returns neither
 * PRIVILEGED_INSTRUCTION nor ILLEGAL_INSTRUCTION: an unknown command is an
 * INVALID_PARAMETER.
 */
enum pb_render_status pb_render_km(struct pb_render_arguments *arguments);

/** One side of a blit: pixels of 4 bytes. */
struct pb_render_surface {
	uint32_t handle; /**< not 0 */
	uint32_t pitch;  /**< bytes from row to row, multiple of 4 */
	uint32_t left;   /**< first column of the rectangle, in pixels */
	uint32_t top;    /**< first row */
};

/** One blit to the screen, or to what stands for it. */
struct pb_render_present {
	const struct pb_render_device *device; /**< whose allocations */
	struct pb_render_surface source;       /**< read */
	struct pb_render_surface destination;  /**< written */
	uint32_t width;                        /**< pixels a row; no row may reach beyond its pitch */
	uint32_t height;                       /**< rows */
	struct pb_render_output output;        /**< where it goes */
};

/**
 * Makes a DMA buffer of one COPY_RECT. Its allocation list is by convention:
 * element 0 NULL, 1 the source, 2 the destination, for writing. The record's
 * flags say Present.
 * @retval PB_RENDER_INSUFFICIENT_DMA_BUFFER nothing was written: one output is too small
 * @retval PB_RENDER_INVALID_HANDLE the device lacks source or destination
 * @retval PB_RENDER_INVALID_PARAMETER a rectangle does not lie in its allocation, or a pitch is bad
 */
enum pb_render_status pb_render_present(struct pb_render_present *present);

/**
 * Fills in what a descriptor says of a rendered buffer: flags, ranges and
 * counts, for all of it. Addresses and sizes of the memory, context and fence
 * are the caller's, as are all other fields, which are left alone.
 */
void pb_render_describe(const struct pb_render_record *record, struct pb_descriptor *descriptor);

#endif
