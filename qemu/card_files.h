/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the card keeps in the file system while it runs: a directory with its
 * memory and the sockets of its interrupt lines and of the emulator's control, and
 * the socket for hosts.
 */
#ifndef PB_QEMU_CARD_FILES_H
#define PB_QEMU_CARD_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu/machines.h"

/** As long as the path of a Unix socket may be, with its zero. */
#define PB_CARD_PATH_BYTES 108u

/** The caller's; read-only for everyone but the functions below. */
struct pb_card_files {
	char directory[PB_CARD_PATH_BYTES];
	char memory_path[PB_CARD_PATH_BYTES];
	char lines_path[PB_CARD_PATH_BYTES];
	char monitor_path[PB_CARD_PATH_BYTES];
	char socket_path[PB_CARD_PATH_BYTES];
	uint8_t *memory;      /**< card memory and the host memory in its file, mapped */
	uint32_t mapped;      /**< bytes of it */
	int memory_file;      /**< the descriptor of that file */
	int lines_listener;   /**< where the MCU connects */
	int monitor_listener; /**< where its control interface connects */
	int socket_listener;  /**< where hosts connect */
	bool made_directory;
};

/**
 * Makes all of it. Says on standard error what went wrong, and leaves nothing
 * behind then.
 * @param directory NULL: a new one of its own
 * @param socket where hosts connect; refused while another card listens there, or if it is no socket
 * @param machine has what its memory file is like
 */
bool pb_card_files_make(struct pb_card_files *files, const char *directory, const char *socket,
			const struct pb_machine *machine);
/** Closes and removes all of it. */
void pb_card_files_remove(struct pb_card_files *files);

#endif
