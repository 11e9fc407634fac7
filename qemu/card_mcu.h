/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The process that emulates the card's MCU.
 */
#ifndef PB_QEMU_CARD_MCU_H
#define PB_QEMU_CARD_MCU_H

#include <stdbool.h>
#include <sys/types.h>

#include "qemu/machines.h"

/** The caller's. */
struct pb_card_mcu {
	pid_t pid;   /**< 0: none runs */
	int process; /**< pidfd, readable when it has ended; -1: none runs */
};

/**
 * Starts it. It dies with the calling thread. Says on standard error what is
 * missing.
 * @param gdb NULL, or where it listens for gdb, HOST:PORT or the path of a Unix socket; then it stands at reset
 */
bool pb_card_mcu_start(struct pb_card_mcu *mcu, const struct pb_machine *machine,
		       const struct pb_machine_files *files, const char *gdb);
/** Collects an MCU that has ended. @return its wait status */
int pb_card_mcu_collect(struct pb_card_mcu *mcu);
/** Ends it, if one runs. */
void pb_card_mcu_stop(struct pb_card_mcu *mcu);
/** How it ended, in words. */
void pb_card_mcu_status(int status, char *text, size_t bytes);

#endif
