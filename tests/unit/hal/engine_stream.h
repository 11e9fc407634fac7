/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Random streams of packets that look almost right, for the memory of
 * engine_bench.h. The same seed makes the same ones.
 */
#ifndef PB_TESTS_UNIT_ENGINE_STREAM_H
#define PB_TESTS_UNIT_ENGINE_STREAM_H

#include "tests/unit/hal/engine_bench.h"

#define STREAM_WORDS 64u

/** A number below the limit. */
uint32_t stream_below(uint32_t *seed, uint32_t limit);
/** Packets of channel 1. @return how many words */
uint32_t stream_generate(uint32_t *seed, uint32_t words[STREAM_WORDS]);
/** Operands of TARGET or TEXTURE. */
void stream_surface(uint32_t *seed, uint32_t operands[PB_ENGINE_SURFACE_WORDS]);
/** Spoils some of the words, now and then. */
void stream_mutate(uint32_t *seed, uint32_t *words, uint32_t count);
/** The vertices that most DRAWs find: any word of data is one now and then. */
void stream_scatter_vertices(const struct bench *bench, uint32_t *seed);
/** Lists of pages, and a page table: some words of them are wrong, some not mapped. */
void stream_scatter_pages(const struct bench *bench, uint32_t *seed);
/** A word of a register, range, slot or page table: small, near the size of memory, or anything. */
uint32_t stream_word(uint32_t *seed);

#endif
