/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Physical memory, and what it must hold: each page of the card's segments and
 * each frame of system memory is a cell. Every operation that completes is
 * carried out here a second time, at the places that the OS assigned; the
 * driver, the firmware and the engine have no part in it.
 */
#ifndef PB_TESTS_WDDM_OS_MEMORY_H
#define PB_TESTS_WDDM_OS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#define OS_PAGE_BYTES     4096u
#define OS_PAGE_WORDS     1024u
#define OS_VIDEO_PAGES    12u
#define OS_EDGE_PAGES     8u
#define OS_FRAMES         60u
#define OS_APERTURE_PAGES 12u

/* Cells: pages of the video segment, of the edge segment, then frames. */
#define OS_CELL_EDGE  OS_VIDEO_PAGES
#define OS_CELL_FRAME (OS_CELL_EDGE + OS_EDGE_PAGES)
#define OS_CELLS      (OS_CELL_FRAME + OS_FRAMES)
#define OS_NO_CELL    UINT32_MAX

struct os_memory {
	uint32_t *real[OS_CELLS];                /**< the card's memory of each cell */
	uint32_t words[OS_CELLS][OS_PAGE_WORDS]; /**< what it must hold */
	bool unknown[OS_CELLS];               /**< it may hold anything: a submission ended before its end */
	bool touched[OS_CELLS];               /**< written since the last comparison */
	uint32_t aperture[OS_APERTURE_PAGES]; /**< cell of each page of the aperture; OS_NO_CELL: none */
};

/** Fills all cells with patterns. Pre: `real` is set. */
void os_memory_start(struct os_memory *memory);
/** Writes a word of a cell. */
void os_memory_write(struct os_memory *memory, uint32_t cell, uint32_t word, uint32_t value);
/** Copies a whole cell. */
void os_memory_copy(struct os_memory *memory, uint32_t to, uint32_t from);
/** Fills a whole cell. */
void os_memory_fill(struct os_memory *memory, uint32_t cell, uint32_t value);
/** Writes a whole cell, and the card's memory, as the CPU does. */
void os_memory_load(struct os_memory *memory, uint32_t cell, const uint32_t *words);
/** Notes that a cell may hold anything. */
void os_memory_forget(struct os_memory *memory, uint32_t cell);
/** Takes unknown cells as they are. */
void os_memory_learn(struct os_memory *memory);
/** Returns the first cell at or behind `first` that is not as it must be; OS_NO_CELL: none. @param word out */
uint32_t os_memory_wrong(const struct os_memory *memory, uint32_t first, uint32_t *word);

#endif
