/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A board in QEMU, as over a debug probe: its memory is read and written while it runs, and nothing else
 * reaches the board.
 */
#ifndef PB_TESTS_E2E_PROBE_H
#define PB_TESTS_E2E_PROBE_H

#include "tests/e2e/e2e.h"

/** One machine. Its files are in the running test's folder. */
struct probe {
	pid_t pid;
	int socket;
};

/** What the machine is started with. */
struct probe_options {
	const char *machine;   /**< QEMU's name for it */
	const void *image;     /**< what is in its flash */
	size_t image_bytes;    /**< its size */
	const void *memory;    /**< contents of its memory at power-on; NULL: zeros */
	size_t memory_bytes;   /**< its size */
	uint32_t memory_start; /**< address of that memory */
};

/** Starts the machine. An error fails the test. */
void probe_start(struct probe *probe, const struct probe_options *options);
/** Ends it. */
void probe_stop(struct probe *probe);
uint32_t probe_read(const struct probe *probe, uint32_t address);
void probe_write(const struct probe *probe, uint32_t address, uint32_t value);
/** Waits until a word has a value. A timeout fails the test. */
void probe_await(const struct probe *probe, uint32_t address, uint32_t value);
/** Waits for the first line on the first UART. @param text receives it, without its end */
void probe_line(char *text, size_t bytes);

#endif
