/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Makes submissions of a client's commands: a DMA buffer of GL packets, with an allocation list that holds every resource
 * that a command can reach, and a patch list that names every word for an address.
 *
 * A batch is a sequence of units. A unit is what cannot be split: one packet of the engine, and behind a GL packet a NOP
 * whose words hold the pages of what the packet reaches by objects and bindings. The NOP is for residency, which keeps
 * resident what patch locations name; the engine skips it. SplitOffset of each location is the start of its unit.
 *
 * The caller owns all memory. Nothing here waits, submits, or knows where a resource lies.
 */
#ifndef PB_HOST_GL_BATCH_H
#define PB_HOST_GL_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "hal/gl/account.h"
#include "host/gl/resources.h"
#include "patchbay/abi/patch.h"
#include "patchbay/abi/submission.h"

/** The channel's own patch formats: a word that holds the page of a resource, which a command reads, or writes. */
#define PB_GL_FORMAT_PAGE       PB_FORMAT_OWN
#define PB_GL_FORMAT_PAGE_WRITE (PB_FORMAT_OWN + 1u)
extern const struct pb_patch_format pb_gl_formats[2];

/** Slots of a sub-context that can hold resources, and some; words of one command that name resources. */
#define PB_GL_REACH_MAX 900u
#define PB_GL_USES_MAX  256u

/** Handle of the staging memory: the first allocation that its owner adds to the manager. */
#define PB_GL_STAGING_HANDLE 1u

/** Memory of one batch: the lists are read by the firmware, so it is memory of segment 0. */
struct pb_gl_batch_memory {
	uint32_t *words;     /**< the DMA buffer */
	uint32_t word_count; /**< its words: at least a unit of any command, PB_GL_BATCH_WORDS_MIN */
	struct pb_allocation *allocations; /**< allocation list */
	uint32_t allocation_count;         /**< its elements */
	uint32_t *ids; /**< private memory: as many words; the id of each, 0: the staging memory */
	struct pb_patch_location *locations; /**< patch list */
	uint32_t location_count;             /**< its elements */
	uint64_t
		unit_bytes; /**< a GL packet ends behind the command with which its resources take more addresses */
};

/** Words with which any single command fits. */
#define PB_GL_BATCH_WORDS_MIN (PB_GL_COMMAND_WORDS + PB_GL_REACH_MAX + 2u)

/** A batch that is being made. Only the functions below write it. */
struct pb_gl_batch {
	struct pb_gl_batch_memory memory; /**< the caller's */
	uint32_t number;      /**< number of the batch, not 0: resources whose `batch` it is are listed */
	uint32_t words;       /**< words written */
	uint32_t allocations; /**< allocations listed */
	uint32_t locations;   /**< patch locations written */
	uint32_t staging;     /**< index of the staging memory in the list + 1; 0: it is not listed */
	uint32_t unit;        /**< first word of the open GL packet */
	bool open;            /**< a GL packet is open */
	uint32_t unit_number; /**< number of the open packet, of all batches in this memory */
	uint64_t unit_bytes;  /**< addresses of the resources that the open packet names or reaches */
	uint32_t reach_count; /**< elements of `reach` */
	struct {
		uint32_t id;      /**< resource */
		uint32_t access;  /**< enum pb_gl_access */
	} reach[PB_GL_REACH_MAX]; /**< what the open packet reaches by state */
};

/** One word of a command that names a resource, whose id it holds. */
struct pb_gl_batch_use {
	uint32_t word;   /**< index in the command */
	uint32_t access; /**< bits of enum pb_gl_access */
};

/** A client's context, as far as its submissions depend on it. */
struct pb_gl_batch_context {
	struct pb_gl_resources *resources; /**< its resources */
	struct pb_gl_account *account;     /**< its objects and bindings, by ids */
};

/** What became of a command. */
enum pb_gl_batch_result {
	PB_GL_BATCH_OK,      /**< it is in the batch */
	PB_GL_BATCH_FULL,    /**< submit the batch and call again with an empty one; nothing has changed */
	PB_GL_BATCH_REFUSED, /**< the client is wrong: `status` of the call says why */
};

/** Starts a batch in memory that no submission uses any more. @param number another one than before, not 0 */
void pb_gl_batch_start(struct pb_gl_batch *batch, const struct pb_gl_batch_memory *memory, uint32_t number);
/**
 * Appends a command to the open GL packet, or to a new one, and follows it in the account.
 * @param command whose words hold ids where they name resources
 * @param uses those words
 * @param status out: of PB_GL_BATCH_REFUSED
 */
enum pb_gl_batch_result pb_gl_batch_command(struct pb_gl_batch *batch,
					    const struct pb_gl_batch_context *context,
					    const struct pb_gl_command *command,
					    const struct pb_gl_batch_use *uses, uint32_t use_count,
					    enum pb_gl_status *status);
/** Ends the open GL packet, if there is one. Call it before the batch is submitted. */
void pb_gl_batch_close(struct pb_gl_batch *batch, const struct pb_gl_batch_context *context);
/** One transfer between staging memory and a resource. */
struct pb_gl_batch_transfer {
	uint32_t id;            /**< resource */
	bool to_resource;       /**< direction */
	uint32_t level;         /**< mipmap level */
	const uint32_t *box;    /**< six words */
	uint32_t offset;        /**< in the staging memory, multiple of 4 */
	uint32_t bytes;         /**< of it */
	uint32_t staging_bytes; /**< all of the staging memory */
	uint32_t stride;        /**< of rows in it */
	uint32_t layer_stride;  /**< of layers in it */
};
/** Appends a GL_TRANSFER packet. @return OK or FULL */
enum pb_gl_batch_result pb_gl_batch_transfer(struct pb_gl_batch *batch,
					     const struct pb_gl_batch_context *context,
					     const struct pb_gl_batch_transfer *transfer);
/** Appends a GL_CAPS packet. @param offset in the staging memory @param bytes of it, multiple of 4 @return OK or FULL */
enum pb_gl_batch_result pb_gl_batch_caps(struct pb_gl_batch *batch, const struct pb_gl_batch_context *context,
					 uint32_t set, uint32_t offset, uint32_t bytes,
					 uint32_t staging_bytes);
/** Returns whether a packet of so many words fits, with the locations that a packet has. */
bool pb_gl_batch_has_room(const struct pb_gl_batch *batch, uint32_t words);
/** Returns whether nothing was appended yet. */
static inline bool pb_gl_batch_is_empty(const struct pb_gl_batch *batch)
{
	return batch->words == 0;
}

#endif
