/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The administrator's side of an update: of a running card over its socket, or of the file of a flash.
 */
#ifndef PB_HOST_TOOL_UPDATE_CARD_H
#define PB_HOST_TOOL_UPDATE_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/update_protocol.h"

/** A signed image as it was read. */
struct pb_update_file {
	uint32_t *words; /**< the caller frees them */
	size_t bytes;    /**< of the file */
};

/** Returns the text of an enum pb_update_error, or of an enum pb_loader_reason. */
const char *pb_update_error_text(uint32_t error);
const char *pb_update_reason_text(uint32_t reason);
/** Reads a file that may be an update. Says on standard error what went wrong. */
bool pb_update_file_read(const char *program, const char *path, struct pb_update_file *file);
/** Connects to the administrator's socket of a card. @param socket where its hosts connect @return -1: it has said why not */
int pb_update_connect(const char *program, const char *socket);
/** Asks, and waits for the answer. @param data of WRITE, `request->bytes` of them */
bool pb_update_ask(int connection, const struct pb_admin_request *request, const void *data,
		   struct pb_admin_answer *answer);
/**
 * Writes an update to the file of a flash whose card does not run.
 * @param slot in: the slot, or another number for the one that is not needed; out: where it was written
 * @return enum pb_update_error; -1: the file cannot be used, which it has said
 */
int pb_update_flash(const char *program, const char *flash, const char *board,
		    const struct pb_update_file *file, uint32_t *slot);

#endif
