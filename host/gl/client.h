/* SPDX-License-Identifier: MIT */
/**
 * @file
 * One OpenGL program on a card with a GL engine: its resources, its commands, its transfers, as submissions to one queue
 * of one context. Resources are allocations of a segment of addresses, which host/residency gives them and takes away.
 *
 * A kernel driver can use it: no heap, no operating system. The caller owns all memory. One thread uses a client. The
 * program is not trusted: what it gets wrong is a failure of its client and of nothing else. Behind a failure only
 * pb_gl_client_end() may be called.
 */
#ifndef PB_HOST_GL_CLIENT_H
#define PB_HOST_GL_CLIENT_H

#include "host/gl/batch.h"
#include "host/gl/binding.h"
#include "host/gl/transfer.h"
#include "patchbay/patchbay.h"
#include "patchbay/residency.h"

/** Resources that can be created while a batch is made, until it is submitted for their sake. */
#define PB_GL_CREATED_MAX 64u
/**
 * Batches in turn: one is made while the others run. With as many as a node has in flight and three more, the queue has
 * always one that is ready while the program goes on: what a channel's weight decides is who is next of those.
 */
#define PB_GL_CLIENT_SLOTS     6u
#define PB_GL_CLIENT_SLOTS_MIN 2u
/** Bytes of a batch's memory in segment 0: the DMA buffer, and behind that the two lists. */
#define PB_GL_DMA_BYTES      (300u * 1024u)
#define PB_GL_ALLOCATIONS    1024u
#define PB_GL_LOCATIONS      4096u
#define PB_GL_ALLOCATIONS_AT PB_GL_DMA_BYTES
#define PB_GL_LOCATIONS_AT   (PB_GL_ALLOCATIONS_AT + PB_GL_ALLOCATIONS * (uint32_t)sizeof(struct pb_allocation))
#define PB_GL_SLOT_BYTES     (PB_GL_LOCATIONS_AT + PB_GL_LOCATIONS * (uint32_t)sizeof(struct pb_patch_location))
/** Least staging memory of a client, in bytes for each batch. */
#define PB_GL_STAGING_BYTES_MIN 65536u

/** Segments of a client's manager. */
enum pb_gl_segment {
	PB_GL_SEGMENT_RESOURCES, /**< addresses of resources */
	PB_GL_SEGMENT_STAGING,   /**< staging memory */
	PB_GL_SEGMENTS
};

/** What a client works with. All memory is the caller's, and stays in place. */
struct pb_gl_client_setup {
	struct pb_queue *queue;  /**< on a 3D node: the program's submissions */
	struct pb_queue *paging; /**< on a 3D node: paging buffers */
	uint32_t context;        /**< handle of the program's context */
	/** Both segments, by enum pb_gl_segment; `bindings` are set by pb_gl_client_start(). */
	struct pb_residency_segment segments[PB_GL_SEGMENTS];
	uint8_t *staging;    /**< all bytes of the staging segment, as the host sees them */
	uint32_t slot_count; /**< batches in turn: PB_GL_CLIENT_SLOTS_MIN to PB_GL_CLIENT_SLOTS */
	struct pb_memory slots[PB_GL_CLIENT_SLOTS]; /**< PB_GL_SLOT_BYTES of segment 0 each, 4 KiB aligned */
	uint32_t *slot_ids[PB_GL_CLIENT_SLOTS];     /**< PB_GL_ALLOCATIONS words each */
	struct pb_memory buffer;          /**< one page of segment 0, 4 KiB aligned, for paging buffers */
	uint32_t resource_count;          /**< resources at most: a power of two */
	struct pb_gl_resource *resources; /**< resource_count records */
	uint32_t *chains;                 /**< resource_count words */
	uint32_t *ids;                    /**< resource_count + 1 words */
	struct pb_residency_allocation *allocations; /**< resource_count + 1 records */
	struct pb_gl_object *objects;                /**< PB_GL_OBJECTS records */
	struct pb_gl_sub_context *sub_contexts;      /**< PB_GL_SUB_CONTEXTS records */
	uint64_t timeout_us;                         /**< for each wait */
};

/** What went wrong. */
struct pb_gl_failure {
	const char *what;    /**< NULL: nothing */
	bool program;        /**< the program is wrong, not the card */
	enum pb_error error; /**< of the card or its library; OK: none */
	uint32_t command;    /**< number of the virgl command; PB_GL_COMMAND_COUNT: none */
	uint32_t word;       /**< where it began, in words from the start of its message */
};

/** One batch's memory, and when it is free. */
struct pb_gl_slot {
	uint64_t timeline; /**< value behind which its memory is free */
};

/**
 * A transfer from a resource that the program asked for behind a wait. Programs that show their frames in a window do so
 * behind each frame's wait. So it is submitted with the frame, before the program asks for it.
 */
struct pb_gl_ahead {
	uint32_t id;                           /**< resource; 0: none */
	struct pb_gl_transfer_request request; /**< the transfer, as it was asked for last */
	uint32_t seen;     /**< how often in a row; behind the second time it is expected */
	bool waited;       /**< the program has waited behind its last commands */
	bool ready;        /**< it was submitted behind the last commands */
	uint64_t timeline; /**< the value behind which its data is there */
	uint32_t number;   /**< batch that it is in */
	uint32_t offset;   /**< of its data in the staging memory */
};

/** Counters of a client. */
struct pb_gl_client_figures {
	uint64_t submissions; /**< submissions, each part counts */
	uint64_t commands;    /**< virgl commands */
	uint64_t words;       /**< words of DMA buffers */
	uint64_t patches;     /**< patch locations */
	uint64_t bytes_to;    /**< bytes transferred to resources */
	uint64_t bytes_from;  /**< bytes transferred from resources */
	uint64_t ahead;       /**< transfers that were there when the program asked */
};

/** One client. The caller owns the memory and keeps it in place; only the functions below write it. */
struct pb_gl_client {
	struct pb_gl_client_setup setup;                       /**< a copy of the caller's */
	struct pb_residency manager;                           /**< of resources and staging memory */
	struct pb_residency_bindings bindings[PB_GL_SEGMENTS]; /**< of the segments */
	struct pb_gl_binding binding;                          /**< for these */
	struct pb_gl_resources resources;                      /**< the program's */
	struct pb_gl_account account;                          /**< the program's */
	struct pb_gl_batch_context context;                    /**< for the batch */
	struct pb_gl_batch batch;                              /**< the batch that is being made */
	struct pb_gl_batch_use uses[PB_GL_USES_MAX]; /**< words of the present command for resources */
	struct pb_gl_slot slots[PB_GL_CLIENT_SLOTS]; /**< memory of batches */
	uint32_t slot;                               /**< the one that the batch is made in */
	uint32_t staging_used; /**< bytes of the slot's part of the staging memory in use */
	uint32_t number;       /**< batches begun */
	uint32_t fence_id;     /**< of the next submission */
	uint32_t created
		[PB_GL_CREATED_MAX];  /**< ids of resources that were created behind the batch\'s beginning */
	uint32_t created_count;       /**< of them */
	uint64_t reached;             /**< timeline value read last */
	uint32_t kept;                /**< dropped resources that objects reached at the last search */
	struct pb_gl_ahead ahead;     /**< the transfer that is expected */
	struct pb_gl_failure failure; /**< why it ended */
	struct pb_gl_client_figures figures; /**< what it did */
};

/** Starts a client. @param setup copied @return false: `failure` */
bool pb_gl_client_start(struct pb_gl_client *client, const struct pb_gl_client_setup *setup);
/**
 * Ends a client: waits for its submissions, and ends its renderer, which frees the resources there.
 * @return false: the card failed
 */
bool pb_gl_client_end(struct pb_gl_client *client);
/** Creates a resource. @param template_words PB_GL_TEMPLATE_WORDS words @return NULL: `failure` */
struct pb_gl_resource *pb_gl_client_create(struct pb_gl_client *client, uint32_t handle,
					   const uint32_t *template_words);
/** Drops a resource: its handle is free, its memory is not used any more. @return false: `failure` */
bool pb_gl_client_drop(struct pb_gl_client *client, uint32_t handle);
/**
 * Runs virgl commands. They may wait for more, until pb_gl_client_flush().
 * @param words private memory; it is written to
 * @return false: `failure`
 */
bool pb_gl_client_submit(struct pb_gl_client *client, uint32_t *words, uint32_t count);
/**
 * Transfers between memory and a resource. To the resource: the memory has been read at return. From the resource:
 * everything before has completed, and the memory has been written.
 * @param request its template is the resource's
 * @param memory request->available bytes
 */
bool pb_gl_client_transfer(struct pb_gl_client *client, struct pb_gl_resource *resource,
			   const struct pb_gl_transfer_request *request, bool to_resource, uint8_t *memory);
/**
 * Reads whether a submission uses a resource, or one was on its way when the resource was created.
 * @param wait returns when there is none any more
 */
bool pb_gl_client_busy(struct pb_gl_client *client, const struct pb_gl_resource *resource, bool wait,
		       bool *busy);
/** Reads a capability set. @param bytes multiple of 4, PB_GL_CAPS_BYTES_MAX at most */
bool pb_gl_client_caps(struct pb_gl_client *client, uint32_t set, uint32_t *words, uint32_t bytes);
/** Records that the program is wrong, for what the caller finds. @param what why */
void pb_gl_client_refuse(struct pb_gl_client *client, const char *what);
/**
 * Submits what was collected. The functions above do so where they must; call it when the program is silent.
 * @return false: `failure`
 */
bool pb_gl_client_flush(struct pb_gl_client *client);
/** Waits until everything that was submitted has completed. */
bool pb_gl_client_wait(struct pb_gl_client *client);

#endif
