/* SPDX-License-Identifier: MIT */
#include "tests/target/heap.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hal/halt.h"

#define BLOCKS 128u
#define ALIGN  16u

/** From memory.ld: the part of DATA that the image does not use. */
extern uint64_t heap_data_start[], heap_data_end[];

struct block {
	uintptr_t start;
	size_t bytes;
	bool used;
	bool first; /**< first of its memory: not to be merged with the block before it */
};

/** All blocks of all memories, in the order of their addresses within each. */
static struct block blocks[BLOCKS];
static size_t count;
static size_t in_use, most;

static void add_memory(uintptr_t start, uintptr_t end)
{
	start = (start + ALIGN - 1) / ALIGN * ALIGN;
	blocks[count++] =
		(struct block){.start = start, .bytes = (end - start) / ALIGN * ALIGN, .first = true};
}

void heap_start(void)
{
	add_memory((uintptr_t)heap_data_start, (uintptr_t)heap_data_end);
#ifdef HEAP_MORE_START
	add_memory(HEAP_MORE_START, HEAP_MORE_START + HEAP_MORE_BYTES);
#endif
}

size_t heap_used(void)
{
	return in_use;
}

size_t heap_most(void)
{
	return most;
}

/** The smallest block that is large enough, so that the large ones stay whole; `count` if there is none. */
static size_t find(size_t bytes)
{
	size_t best = count;

	for (size_t i = 0; i < count; i++) {
		if (!blocks[i].used && blocks[i].bytes >= bytes &&
		    (best == count || blocks[i].bytes < blocks[best].bytes))
			best = i;
	}
	return best;
}

/** Splits off the surplus as a free block. */
static void split(size_t at, size_t bytes)
{
	struct block *block = &blocks[at];

	if (block->bytes == bytes || count == BLOCKS)
		return;
	memmove(block + 2, block + 1, (count - at - 1) * sizeof(*block));
	block[1] = (struct block){.start = block->start + bytes, .bytes = block->bytes - bytes};
	block->bytes = bytes;
	count++;
}

void *malloc(size_t bytes)
{
	size_t at;

	if (bytes > SIZE_MAX - ALIGN)
		return NULL;
	bytes = bytes == 0 ? ALIGN : (bytes + ALIGN - 1) / ALIGN * ALIGN;
	at = find(bytes);
	if (at == count)
		return NULL;
	split(at, bytes);
	blocks[at].used = true;
	in_use += blocks[at].bytes;
	most = in_use > most ? in_use : most;
	return (void *)blocks[at].start;
}

void *calloc(size_t number, size_t bytes)
{
	void *memory;

	if (bytes != 0 && number > SIZE_MAX / bytes)
		return NULL;
	memory = malloc(number * bytes);
	if (memory != NULL)
		memset(memory, 0, number * bytes);
	return memory;
}

/** Merges two neighbours if both are free. */
static void join(size_t at)
{
	struct block *block = &blocks[at];

	if (at + 1 >= count || block->used || block[1].used || block[1].first)
		return;
	block->bytes += block[1].bytes;
	count--;
	memmove(block + 1, block + 2, (count - at - 1) * sizeof(*block));
}

void free(void *memory)
{
	size_t at = 0;

	if (memory == NULL)
		return;
	while (at < count && blocks[at].start != (uintptr_t)memory)
		at++;
	if (at == count || !blocks[at].used)
		pb_hal_halt();
	blocks[at].used = false;
	in_use -= blocks[at].bytes;
	join(at);
	if (at > 0)
		join(at - 1);
}
