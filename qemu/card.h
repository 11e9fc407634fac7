/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The emulated card: memory, engines, interrupt lines and a socket for hosts,
 * around an MCU that runs the real firmware image in an emulator.
 */
#ifndef PB_QEMU_CARD_H
#define PB_QEMU_CARD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "qemu/card_host_memory.h"
#include "qemu/machines.h"
#include "qemu/mcu/layout.h"

/** What to emulate, and where. Start from PB_CARD_OPTIONS_DEFAULT. */
struct pb_card_options {
	const char *board;                /**< which MCU: a folder of boards/ */
	const struct pb_machine *machine; /**< NULL: the one of that board */
	const char *image;                /**< firmware image, ELF */
	const char *flash;  /**< NULL, or the file of the card's flash: then `image` is the board's loader */
	const char *socket; /**< path where hosts connect; at most 99 bytes */
	const char *gdb; /**< NULL, or where the MCU, halted at reset, waits for gdb: HOST:PORT or a path */
	const char *directory; /**< for the card's files; NULL: a new one, removed at the end */
	uint32_t restarts;     /**< how often an MCU that died is started again */
	uint32_t dead_us;      /**< firmware whose heartbeat stood for so long on the card's clock is dead */
	uint32_t
		boot_us; /**< firmware that does not run so long after its MCU has started is dead; not with gdb */
	uint32_t memory_bytes; /**< card memory: a power of two from 16 to 256 MiB */
	struct pb_card_host_option host[PB_CARD_HOST_FILES]; /**< host memory in files */
	uint32_t host_count;                                 /**< of them */
	const char *
		renderer; /**< program of the renderers, for GL engines on the 3D nodes; NULL: reference engines */
	bool quiet;       /**< say nothing on standard error but what went wrong */
	int ready_fd; /**< -1, or gets one '\n' when the firmware runs; closed then or at the end */
};

/** How long a GL engine may be without progress, and take for an answer: what a queue has that asks for nothing. */
#define PB_CARD_GL_LIMIT_US 10000000u
/** As long as Windows waits for a GPU. */
#define PB_CARD_DEAD_US 2000000u

/** A boot takes milliseconds of an MCU; a loaded machine takes a few seconds to start the emulator. */
#define PB_CARD_BOOT_US 30000000u

#define PB_CARD_OPTIONS_DEFAULT                                                                              \
	((struct pb_card_options){.board = "mps2_an500",                                                     \
				  .restarts = 3,                                                             \
				  .dead_us = PB_CARD_DEAD_US,                                                \
				  .boot_us = PB_CARD_BOOT_US,                                                \
				  .memory_bytes = PB_CARD_MEMORY_BYTES,                                      \
				  .ready_fd = -1})

/**
 * Runs a card until SIGTERM, SIGINT or SIGHUP, in the calling thread, which
 * gets its signal mask back at the end. It also ends when the very first MCU
 * does before its firmware runs; one that dies later leaves the card up, so
 * that hosts can look. Firmware that stops with a fatal record is dead: its
 * MCU is ended, and the record stays until the next incarnation clears it. So
 * is firmware whose heartbeat stands still for dead_us; not so while a debugger
 * may hold it.
 * @return exit code: 0 asked to stop, 1 failed and said why on standard error
 */
int pb_card_run(const struct pb_card_options *options);

/**
 * Runs a card in a child process, which ends with the calling thread. Returns
 * when the firmware runs. Not for programs with several threads.
 * @param options ready_fd is not used
 * @return 0, or -1: it failed, and the child has said why and ended
 */
int pb_card_start(const struct pb_card_options *options, pid_t *pid);

/** Stops that child and waits for it. @return its exit code, or -1: it had to be killed */
int pb_card_stop(pid_t pid);

#endif
