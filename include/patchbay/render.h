/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Render: translates an untrusted command buffer into a DMA buffer with its
 * private data, allocation list and patch-location list. It implements the
 * contract of DXGKARG_RENDER, for DxgkDdiRender, DxgkDdiRenderKm and a blit of
 * DxgkDdiPresent. docs/render.md has the commands and the rules.
 *
 * Only Render can refuse invalid commands of a client. It checks all input
 * before it writes the first byte of an output: after any status but SUCCESS
 * and INSUFFICIENT_DMA_BUFFER no output and no pointer has changed.
 *
 * The functions use no heap, no operating system, no lock and no state: calls
 * with different arguments may run at the same time. If reads of user memory
 * may fault, the driver wraps the call in an exception handler; nothing has to
 * be undone.
 */
#ifndef PB_HOST_RENDER_H
#define PB_HOST_RENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/abi/base.h"
#include "patchbay/abi/patch.h"
#include "patchbay/abi/submission.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * X(NAME, number, NTSTATUS, meaning)
 * If a command has several faults, the first in the order of docs/render.md is reported.
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

/** Result of Render, named as in the driver model. */
enum pb_render_status {
#define PB_RENDER_STATUS_ENUM(name, number, ntstatus, meaning) PB_RENDER_##name = (number),
	PB_RENDER_STATUSES(PB_RENDER_STATUS_ENUM)
#undef PB_RENDER_STATUS_ENUM
};

/** Returns the name of a status, such as "INVALID_HANDLE"; "?" for a number that is not in the list. */
const char *pb_render_status_name(enum pb_render_status status);
/** Returns the NTSTATUS of a status; STATUS_UNSUCCESSFUL for a number that is not in the list. */
uint32_t pb_render_ntstatus(enum pb_render_status status);

/** Value of both words of an address that is not known yet. No segment may contain that address. */
#define PB_RENDER_POISON 0xdeadbeefu

/** Bytes of DMA buffer with which each call makes progress: the most that one command needs. */
#define PB_RENDER_DMA_BYTES_MIN 64u
/** Patch locations with which each call makes progress: the most that one command needs. */
#define PB_RENDER_PATCHES_MIN 3u

/**
 * SlotId of a patch location, by the role of its operand. An entry replaces the
 * previous entry of its slot. MaxAllocationListSlotId is PB_RENDER_SLOTS.
 */
enum pb_render_slot_id {
	PB_RENDER_SLOT_SOURCE = 0,      /**< operand of COPY, COPY_RECT, INDIRECT */
	PB_RENDER_SLOT_DESTINATION = 1, /**< operand of FILL, COPY, COPY_RECT */
	PB_RENDER_SLOT_TARGET = 2,      /**< operand of TARGET */
	PB_RENDER_SLOT_TEXTURE = 3,     /**< operand of TEXTURE */
	PB_RENDER_SLOT_VERTICES = 4,    /**< operand of DRAW */
	PB_RENDER_SLOTS = 5             /**< number of slots */
};

/** An allocation of the device, as the driver knows it. The values are trusted. */
struct pb_render_allocation {
	uint64_t size;        /**< size in bytes, not 0 */
	uint64_t os_address;  /**< address as the OS names it, segment base included; 0 is valid */
	uint64_t gpu_address; /**< address as the engine sees it, multiple of 4; 0 is valid */
	uint32_t segment;     /**< 1 to 31; 0: paged out, and both addresses are unused */
};

/** The device that a command buffer belongs to. */
struct pb_render_device {
	/**
	 * Finds an allocation. Must not read user memory.
	 * @param context the field `context` of this struct
	 * @param handle never 0
	 * @param allocation out
	 * @return false: the device has no allocation of this handle
	 */
	bool (*find)(void *context, uint32_t handle, struct pb_render_allocation *allocation);
	void *context; /**< first argument of find */
	uint32_t node; /**< kind of the node that will run the buffer: PB_NODE_3D or PB_NODE_COPY */
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

/** One entry of the user's allocation list, as D3DDDI_ALLOCATIONLIST. Written by the user. */
struct pb_render_user_allocation {
	uint32_t handle; /**< handle; 0 is the NULL allocation: listed as unbind, no command may use it */
	uint32_t flags;  /**< PB_RENDER_USER_WRITE */
};
PB_SIZE(pb_render_user_allocation, 8);
PB_AT(pb_render_user_allocation, handle, 0);
PB_AT(pb_render_user_allocation, flags, 4);

#define PB_RENDER_MAGIC   0x44524250u /**< "PBRD" */
#define PB_RENDER_VERSION 1u          /**< version of struct pb_render_record */

/** Private data of one DMA buffer. Written by Render; neither the user nor the firmware reads it. */
struct pb_render_record {
	uint32_t magic;            /**< PB_RENDER_MAGIC */
	uint32_t version;          /**< PB_RENDER_VERSION */
	uint32_t flags;            /**< PB_FLAG_* for the descriptor: Present or none */
	uint32_t command_start;    /**< offset of the first translated byte of the command buffer */
	uint32_t command_end;      /**< offset behind the last translated byte */
	uint32_t dma_bytes;        /**< bytes written to the DMA buffer; may be 0 */
	uint32_t allocation_count; /**< entries of the allocation list */
	uint32_t patch_count;      /**< entries of the patch-location list */
	/** Entries whose address is still PB_RENDER_POISON; 0: the buffer may run unpatched. */
	uint32_t unresolved_count;
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
 * Buffers for the results: card memory or plain memory, 4-byte aligned, not
 * visible to the user. A call advances the four pointers behind the last
 * element written and leaves the sizes unchanged. Unused room is not written.
 */
struct pb_render_output {
	uint32_t *dma_buffer;                /**< byte 0 of a DMA buffer: patch offsets count from it */
	uint32_t dma_size;                   /**< size of the DMA buffer in bytes */
	uint32_t *private_data;              /**< room for one struct pb_render_record */
	uint32_t private_data_size;          /**< size of the private data in bytes */
	struct pb_allocation *allocations;   /**< one for each entry of the user's list, in the same order */
	uint32_t allocations_size;           /**< elements of `allocations` */
	struct pb_patch_location *locations; /**< one for each address in the DMA buffer, ascending */
	uint32_t locations_size;             /**< elements of `locations` */
	/**
	 * 0, or 1 + the index of a NULL allocation in the user's list: where a command does not use a slot of the one before
	 * it, a patch location of the NULL allocation unbinds the slot. Each part of a split buffer then needs only what its
	 * own locations name.
	 */
	uint32_t unbind;
	struct pb_render_record record; /**< out: a copy of the private data, if it was written */
};

/** Arguments of one call. User memory may change at any time: a call reads each word of it exactly once. */
struct pb_render_arguments {
	const struct pb_render_device *device; /**< owner of the allocations */
	void *staging;                         /**< private memory for this call, 8-byte aligned, not NULL */
	uint32_t staging_size;                 /**< in bytes, at least pb_render_staging_bytes() */

	const uint32_t *command; /**< command buffer, in user memory; unused if its length is 0 */
	uint32_t command_length; /**< in bytes */
	const struct pb_render_user_allocation *user_allocations; /**< allocation list, in user memory */
	uint32_t user_allocation_count;                           /**< entries of the list */
	/**
	 * Patch list for the command buffer, in user memory, PatchOffset ascending. It may omit addresses, but must
	 * not contradict the commands. The output is made from the commands alone.
	 */
	const struct pb_patch_location *user_locations;
	uint32_t user_location_count; /**< entries of the list */

	struct pb_render_output output; /**< buffers for the results */
	/** In: 0 in the first call for a command buffer, else as the last call left it. Kept from the user. */
	uint32_t multipass_offset;
};

/**
 * Returns the staging memory that a call needs for private copies of its inputs, in bytes. pb_render_km() copies
 * neither commands nor patch list: pass 0 for both lengths.
 */
uint64_t pb_render_staging_bytes(uint32_t command_length, uint32_t allocation_count, uint32_t location_count);

/**
 * Translates the command buffer from multipass_offset on, as far as the outputs have room. Each call checks the whole
 * command buffer.
 * @retval PB_RENDER_SUCCESS the outputs hold the rest of the command buffer
 * @retval PB_RENDER_INSUFFICIENT_DMA_BUFFER the outputs hold a part that ends between two commands, and
 *   multipass_offset has advanced: submit the part and call again with new outputs. If multipass_offset did not
 *   change, nothing was written: an output has less room than PB_RENDER_DMA_BYTES_MIN, PB_RENDER_PATCHES_MIN, or its
 *   list or record need.
 * @return else as PB_RENDER_STATUSES describes
 */
enum pb_render_status pb_render(struct pb_render_arguments *arguments);

/**
 * Translates commands of the kernel as pb_render() does those of a user. The inputs are trusted memory that does not
 * change during the call; INDIRECT, HANG, FAULT and BUSY are allowed. The commands are checked as in pb_render().
 * Returns neither PRIVILEGED_INSTRUCTION nor ILLEGAL_INSTRUCTION: an unknown command is an INVALID_PARAMETER.
 */
enum pb_render_status pb_render_km(struct pb_render_arguments *arguments);

/** One side of a blit. Pixels have 4 bytes. */
struct pb_render_surface {
	uint32_t handle; /**< handle of the allocation, not 0 */
	uint32_t pitch;  /**< bytes from one row to the next, multiple of 4 */
	uint32_t left;   /**< first column of the rectangle, in pixels */
	uint32_t top;    /**< first row of the rectangle */
};

/** Arguments of one blit to the screen or to a redirection surface, or of a colour fill. */
struct pb_render_present {
	const struct pb_render_device *device; /**< owner of the allocations */
	bool fill;                       /**< the destination is filled with `color`; else it is a blit */
	uint32_t color;                  /**< of a fill: value of each pixel */
	struct pb_render_surface source; /**< side that is read; of a fill: unused */
	struct pb_render_surface destination; /**< side that is written */
	uint32_t width;                       /**< pixels in a row; no row may extend beyond its pitch */
	uint32_t height;                      /**< number of rows */
	struct pb_render_output output;       /**< buffers for the results */
};

/**
 * Translates a blit into a DMA buffer of one COPY_RECT, a fill into a FILL or a FILL and a COPY_RECT. Its allocation
 * list has three elements: 0 is NULL, 1 the source (of a fill: NULL), 2 the destination, writable. The record's flags are
 * PB_FLAG_PRESENT. A blit within one allocation is not checked for an overlap: rows are copied from the first to the last.
 * @retval PB_RENDER_INSUFFICIENT_DMA_BUFFER no pointer has advanced: an output is too small
 * @retval PB_RENDER_INVALID_HANDLE the device lacks source or destination
 * @retval PB_RENDER_INVALID_PARAMETER a rectangle does not lie in its allocation, or a pitch is invalid
 */
enum pb_render_status pb_render_present(struct pb_render_present *present);

/**
 * Fills in a descriptor's flags, ranges and counts for a whole rendered buffer. The caller fills in addresses and sizes
 * of the memory, context, fence id and all other fields; they are left unchanged.
 */
void pb_render_describe(const struct pb_render_record *record, struct pb_descriptor *descriptor);

#ifdef __cplusplus
}
#endif

#endif
