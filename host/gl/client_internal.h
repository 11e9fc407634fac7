/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the parts of a client share: batches (host/gl/client.c), transfers (host/gl/client_transfer.c), transfers that
 * are made ahead (host/gl/client_ahead.c), commands (host/gl/client_stream.c). Each part calls only those named before it.
 */
#ifndef PB_HOST_GL_CLIENT_INTERNAL_H
#define PB_HOST_GL_CLIENT_INTERNAL_H

#include "host/gl/client.h"

/** Records a failure, unless there is one. @return false */
bool pb_gl_fail(struct pb_gl_client *client, const char *what, enum pb_error error);
/** Records that the program is wrong. @return false */
bool pb_gl_refuse(struct pb_gl_client *client, const char *what);
/** Gives a resource an allocation, when it is named first. @return false: `failure` */
bool pb_gl_touch(struct pb_gl_client *client, struct pb_gl_resource *resource);
/** Returns the bytes of staging memory that one batch has. */
uint32_t pb_gl_staging_room(const struct pb_gl_client *client);
/**
 * Allocates staging memory for the open batch; submits that first if it has none left.
 * @param bytes pb_gl_staging_room() at most @param offset out: in the staging memory
 */
bool pb_gl_stage(struct pb_gl_client *client, uint32_t bytes, uint32_t *offset);
/** As pb_gl_client_busy(), with nothing read ahead. */
bool pb_gl_busy(struct pb_gl_client *client, const struct pb_gl_resource *resource, bool wait, bool *busy);
/** Waits for a timeline value of the program's queue. @return false: `failure` */
bool pb_gl_wait_for(struct pb_gl_client *client, uint64_t timeline);
/**
 * Appends the packet of a piece to the batch, and allocates its staging memory; submits the batch first if it is full.
 * @param offset out: in the staging memory
 */
bool pb_gl_append_piece(struct pb_gl_client *client, const struct pb_gl_resource *resource,
			const struct pb_gl_transfer *transfer, const struct pb_gl_piece *piece,
			bool to_resource, uint32_t *offset);
/** The program has sent commands, or changed a resource: what was transferred ahead is not valid any more. */
void pb_gl_ahead_forget(struct pb_gl_client *client);
/** Plans and runs a transfer, as pb_gl_client_transfer(). */
bool pb_gl_run_transfer(struct pb_gl_client *client, struct pb_gl_resource *resource,
			const struct pb_gl_transfer_request *request, bool to_resource, uint8_t *memory);

#endif
