/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A gdb stub in a thread, as QEMU's is: it reads and writes only while its MCU
 * stands, any byte halts it, and a write beyond what is there is refused.
 */
#ifndef PB_TESTS_UNIT_GDB_STUB_H
#define PB_TESTS_UNIT_GDB_STUB_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define GDB_STUB_REGIONS 2u

/** Memory of the MCU. */
struct gdb_stub_region {
	uint32_t address;
	uint32_t bytes;
	uint8_t *memory;
};

/** Fill the first part, then start. */
struct gdb_stub {
	struct gdb_stub_region regions[GDB_STUB_REGIONS];
	void (*run)(void *context); /**< NULL, or a step of the MCU while it runs; at least one each time */
	void *context;
	const char *features;  /**< the answer to qSupported */
	bool binary;           /**< it takes bytes */
	uint32_t answers_most; /**< 0, or it closes after so many packets */

	char folder[32];
	char path[64]; /**< where it listens */
	int listener;
	int connection;
	bool halted;
	bool left;        /**< the host has taken its leave, and the MCU runs */
	uint32_t answers; /**< packets answered */
	uint32_t writes;  /**< packets that wrote */
	pthread_t thread;
};

/** Listens, and serves the first that connects until it closes. */
void gdb_stub_start(struct gdb_stub *stub);
/** Waits until the host has closed. */
void gdb_stub_end(struct gdb_stub *stub);

#endif
