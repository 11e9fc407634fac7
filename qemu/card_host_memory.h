/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Host memory of the emulated card in files of its hosts: which file each
 * channel has, where the card's window shows it, and whether the board can have
 * it. A file may be the whole RAM of a virtual machine (memory-backend-file with
 * share=on). A client that shortens its file while the card runs has left: its
 * channel gets memory of the card's own in place of the file, for good.
 */
#ifndef PB_QEMU_CARD_HOST_MEMORY_H
#define PB_QEMU_CARD_HOST_MEMORY_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "hal/card_admin/admin.h"
#include "qemu/machines.h"

/** Files, one for each channel of a client. */
#define PB_CARD_HOST_FILES 8u
/** The smallest file, in bytes. */
#define PB_CARD_HOST_BYTES_MIN 0x100000u

/** A channel and its file, as the user names them. */
struct pb_card_host_option {
	uint32_t channel; /**< 1 to PB_CARD_HOST_FILES */
	const char *path;
};

/** One file in the window. */
struct pb_card_host_file {
	uint32_t channel;
	const char *path;             /**< the caller's; of a lost file, `own` */
	int file;                     /**< its descriptor */
	uint32_t bytes;               /**< its size, a power of two */
	uint32_t offset;              /**< in the window, a multiple of its size */
	bool lost;                    /**< its owner has shortened it */
	volatile sig_atomic_t struck; /**< an access found no page; set in the signal handler */
	char own[48];                 /**< path of the memory that has replaced it */
};

/** All files. The caller's; only the functions below change it. */
struct pb_card_host_memory {
	struct pb_card_host_file files[PB_CARD_HOST_FILES];
	uint32_t count;                     /**< of them */
	uint32_t bytes;                     /**< of the window, up to the end of the last file */
	struct pb_card_admin_shares shares; /**< what that gives each channel */
	uint8_t *window;                    /**< where the files are mapped; NULL: nowhere */
};

/**
 * Opens and checks the files, and gives each its place. Says on standard error
 * what is wrong with one, and leaves none open then.
 */
bool pb_card_host_memory_open(struct pb_card_host_memory *host, const struct pb_machine *machine,
			      const struct pb_card_host_option *options, uint32_t count);
/**
 * Maps the files over a mapping. From here on this process survives an access to a page that a file has lost: it finds
 * zeros. One card at a time. @param window where the window begins in it @return false: errno has the reason
 */
bool pb_card_host_memory_map(struct pb_card_host_memory *host, uint8_t *window);
/**
 * Finds files that were shortened, and replaces each by memory of the card's own, in this process's mapping and for the
 * next MCU. Its channel is granted no host memory any more.
 * @return mask of the channels that have lost theirs since the last call
 */
uint32_t pb_card_host_memory_check(struct pb_card_host_memory *host);
/** Closes the files; what is mapped stays. */
void pb_card_host_memory_close(struct pb_card_host_memory *host);

#endif
