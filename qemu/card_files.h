/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the card keeps in the file system while it runs: a directory with its
 * memory and the sockets of its interrupt lines and of the emulator's control, and
 * the sockets for hosts and for observers.
 */
#ifndef PB_QEMU_CARD_FILES_H
#define PB_QEMU_CARD_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu/card_host_memory.h"
#include "qemu/machines.h"

struct pb_card_options;

/** As long as the path of a Unix socket may be, with its zero. */
#define PB_CARD_PATH_BYTES 108u

/** What is wrong with a size of card memory, in words for a user; NULL: nothing. */
const char *pb_card_memory_wrong(uint64_t bytes);

/** The caller's; read-only for everyone but the functions below. */
struct pb_card_files {
	char directory[PB_CARD_PATH_BYTES];
	char memory_path[PB_CARD_PATH_BYTES];
	char lines_path[PB_CARD_PATH_BYTES];
	char monitor_path[PB_CARD_PATH_BYTES];
	char socket_path[PB_CARD_PATH_BYTES];
	char admin_path[PB_CARD_PATH_BYTES];
	char observe_path[PB_CARD_PATH_BYTES];
	uint8_t *memory;                 /**< card memory and host memory, mapped */
	uint64_t mapped;                 /**< bytes of it */
	uint32_t host_offset;            /**< where host memory begins in it */
	uint32_t host_bytes;             /**< 0: there is none */
	uint32_t outer_offset;           /**< where outer memory begins in it (hal/outer_memory.h) */
	uint32_t outer_bytes;            /**< 0: there is none */
	struct pb_card_host_memory host; /**< its files, if it lies in files */
	int memory_file;                 /**< the descriptor of that file */
	int reading_file;                /**< another, which cannot be written */
	int lines_listener;              /**< where the MCU connects */
	int monitor_listener;            /**< where its control interface connects */
	int socket_listener;             /**< where hosts connect */
	int admin_listener;              /**< where the administrator connects; -1: the card has no loader */
	int observe_listener;            /**< where observers connect */
	bool made_directory;
};

/**
 * Makes all of it. Says on standard error what went wrong, and leaves nothing
 * behind then.
 * @param machine has what its memory file is like
 * @param options directory and socket, which is refused while another card listens there, or if it is no socket; sizes and
 * files of memory
 */
bool pb_card_files_make(struct pb_card_files *files, const struct pb_machine *machine,
			const struct pb_card_options *options);
/** Closes and removes all of it. */
void pb_card_files_remove(struct pb_card_files *files);

#endif
