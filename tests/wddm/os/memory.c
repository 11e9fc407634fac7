/* SPDX-License-Identifier: MIT */
#include "tests/wddm/os/memory.h"

#include <string.h>

#define PATTERN 0x0d0d0000u /**< contents of a cell without an owner, beside its number */

void os_memory_start(struct os_memory *memory)
{
	for (uint32_t cell = 0; cell < OS_CELLS; cell++) {
		os_memory_fill(memory, cell, PATTERN + cell);
		memcpy(memory->real[cell], memory->words[cell], OS_PAGE_BYTES);
		memory->unknown[cell] = false;
		memory->touched[cell] = false;
	}
	for (uint32_t page = 0; page < OS_APERTURE_PAGES; page++)
		memory->aperture[page] = OS_NO_CELL;
}

void os_memory_write(struct os_memory *memory, uint32_t cell, uint32_t word, uint32_t value)
{
	memory->words[cell][word] = value;
	memory->touched[cell] = true;
}

void os_memory_copy(struct os_memory *memory, uint32_t to, uint32_t from)
{
	memcpy(memory->words[to], memory->words[from], OS_PAGE_BYTES);
	memory->unknown[to] = memory->unknown[from];
	memory->touched[to] = true;
}

void os_memory_fill(struct os_memory *memory, uint32_t cell, uint32_t value)
{
	for (uint32_t word = 0; word < OS_PAGE_WORDS; word++)
		memory->words[cell][word] = value;
	memory->unknown[cell] = false;
	memory->touched[cell] = true;
}

void os_memory_load(struct os_memory *memory, uint32_t cell, const uint32_t *words)
{
	memcpy(memory->words[cell], words, OS_PAGE_BYTES);
	memcpy(memory->real[cell], words, OS_PAGE_BYTES);
	memory->unknown[cell] = false;
}

void os_memory_forget(struct os_memory *memory, uint32_t cell)
{
	memory->unknown[cell] = true;
}

void os_memory_learn(struct os_memory *memory)
{
	for (uint32_t cell = 0; cell < OS_CELLS; cell++) {
		if (memory->unknown[cell])
			memcpy(memory->words[cell], memory->real[cell], OS_PAGE_BYTES);
		memory->unknown[cell] = false;
		memory->touched[cell] = false;
	}
}

uint32_t os_memory_wrong(const struct os_memory *memory, uint32_t first, uint32_t *word)
{
	for (uint32_t cell = first; cell < OS_CELLS; cell++) {
		if (memory->unknown[cell] ||
		    memcmp(memory->words[cell], memory->real[cell], OS_PAGE_BYTES) == 0)
			continue;
		for (*word = 0; memory->words[cell][*word] == memory->real[cell][*word]; (*word)++)
			;
		return cell;
	}
	return OS_NO_CELL;
}
