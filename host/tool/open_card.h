/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Access of the commands to a card: a running one, one that they start
 * themselves, one simulated in their process, a board at a debug probe, or the
 * device that the card is in a virtual machine.
 */
#ifndef PB_HOST_TOOL_OPEN_CARD_H
#define PB_HOST_TOOL_OPEN_CARD_H

#include <stdbool.h>

#include "host/tool/dump.h"
#include "patchbay/link.h"
#include "patchbay/link_gdb.h"
#include "patchbay/patchbay.h"

/** Card that the user asked for. At most one field but the last is set. */
struct pb_open_options {
	const char *board;          /**< NULL, or the name of an existing board: start its card */
	const char *socket;         /**< NULL, or the socket of a running card */
	bool sim;                   /**< simulate a card in this process */
	struct pb_gdb_target probe; /**< a board at a debug probe; stub NULL: none */
	const char *vfio;           /**< NULL, or the address of a PCI device that vfio-pci holds */
	const char *pci;            /**< NULL, or the address of a PCI device that no driver holds */
	const char *memory;         /**< NULL, or a file with saved card memory */
	uint32_t memory_bytes;      /**< of a card that is started or simulated; 0: 16 MiB */
};

/** What the command needs of a card. */
enum pb_open_needs {
	PB_OPEN_LINK, /**< a client's channel */
	PB_OPEN_HOST_MEMORY, /**< and of a card that is started host memory in a file of this process, if the board can map one */
	PB_OPEN_READ, /**< card memory to read; no channel */
	PB_OPEN_ASK,  /**< card memory to read, and commands by the channel of the card's supervisor */
};

/** An open card. */
struct pb_open_card {
	struct pb_link *link; /**< the open link */
	struct pb_sim *sim;   /**< the simulation; NULL: none */
	int pid;              /**< process of a card started by pb_open_card(); 0: none */
	char socket[108];     /**< socket of the started card */
	uint8_t *host_memory; /**< host memory that the card maps from this process; NULL: none */
	uint32_t host_bytes;  /**< its size */
	int host_file;        /**< its file; meaningless if host_memory is NULL */
	struct pb_dump dump;  /**< a saved card; memory NULL: none */
	struct pb_link saved; /**< link of a saved card that is only read: without operations */
};

/** Returns whether the user named a card that exists: at a socket, at a probe, or as a device. */
bool pb_names_running_card(const struct pb_open_options *options);
/** Returns whether the user named a card. */
bool pb_names_card(const struct pb_open_options *options);
/**
 * Opens a link to the card that the options name, else to a new card of the default board.
 * @return 0, or the exit code of the command: the error has been printed
 */
int pb_open_card(const struct pb_open_options *options, enum pb_open_needs needs, struct pb_open_card *card);
/** Closes the link, and stops the card that pb_open_card() started. */
void pb_close_card(struct pb_open_card *card);
/**
 * Opens a card that answers commands (PB_OPEN_ASK), runs a function on it, and closes it.
 * @param run returns the command's exit code @param program,context for `run`
 * @return exit code: that of `run`, or of pb_open_card() if there is no card
 */
int pb_ask_card(const struct pb_open_options *options,
		int (*run)(const char *program, struct pb_link *link, void *context), const char *program,
		void *context);
/** Reads the boot block. On a link with operations, waits for the end of a boot in progress, for up to a second. @return as pb_card_read() */
enum pb_error pb_card_read_running(struct pb_link *link, struct pb_card_info *info);

#endif
