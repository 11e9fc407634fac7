/* SPDX-License-Identifier: MIT */
/**
 * @file
 * An update over a debug probe, where this process is the card's supervisor: it writes the flash through the probe's server,
 * resets the MCU, and confirms the image that came up. For a card whose flash is laid out as qemu/mcu/flash.h has it.
 */
#ifndef PB_HOST_TOOL_UPDATE_PROBE_H
#define PB_HOST_TOOL_UPDATE_PROBE_H

#include "host/tool/update_card.h"
#include "qemu/machines.h"

/** What is to be done. */
struct pb_update_probe_order {
	const char *stub; /**< address of the probe's gdb stub, as pb_gdb_connect() takes it */
	const struct pb_machine *machine; /**< the board: where its flash is, and its images */
	const char *path;                 /**< of the file, for messages */
	uint32_t slot; /**< where to write; PB_SLOT_NONE: the slot that the card does not need */
	bool later;    /**< do not reset the MCU */
};

/** Updates a card, and says what became of it. @return exit code */
int pb_update_probe(const char *program, const struct pb_update_probe_order *order,
		    const struct pb_update_file *file);

#endif
