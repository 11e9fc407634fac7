/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Random formats, allocations and patch lists for tests. Everything follows
 * from the seed, so that one list can be made again by itself.
 */
#ifndef PB_TESTS_UNIT_PATCH_RANDOM_H
#define PB_TESTS_UNIT_PATCH_RANDOM_H

#include "tests/unit/patch_oracle.h"

#define RANDOM_ALLOCATIONS 1024u
#define RANDOM_PATCHES     40000u
/** Own formats that a list has; the slots behind them are never set. */
#define RANDOM_FORMATS 14u

/** How far allocations reach. The firmware has short ways for lists without far ones. */
enum random_reach {
	RANDOM_LOW,       /**< below 4 GiB for the engine, unbound ones aside */
	RANDOM_UNCROSSED, /**< anywhere, none across a multiple of 4 GiB as far as an offset reaches */
	RANDOM_ANYWHERE,
	RANDOM_REACHES
};

struct random_world {
	uint32_t seed; /**< moves on with every draw; never 0 */
	enum random_reach reach;
	uint32_t segment; /**< of the last allocation, and its flags: often the next has the same */
	uint32_t flags;
	struct oracle_formats own;
	struct pb_allocation allocations[RANDOM_ALLOCATIONS];
	struct pb_presumed presumed[RANDOM_ALLOCATIONS]; /**< half of them as listed */
	struct pb_patch_location patches[RANDOM_PATCHES];
	uint32_t entries; /**< that random_list made of them */
	uint32_t words
		[RANDOM_PATCHES *
		 PB_COMPACT_ESCAPE_WORDS]; /**< the patches, or most of them, in a compact or a grouped list */
	struct oracle_list list;           /**< of those; the caller chooses counts and ranges */
};

/** 0 to bound - 1. */
uint32_t random_below(struct random_world *world, uint32_t bound);
/** Whether a chance of one in `odds` came. */
bool random_once_in(struct random_world *world, uint32_t odds);
/** The channel's own formats: any that FORMAT_SET takes. */
void random_formats(struct random_world *world);
/** An allocation in a segment within reach; edges come more often than by chance. One in 8 is unbound. */
struct pb_allocation random_allocation(struct random_world *world);
/** A part of a buffer of up to `most` bytes to patch, with room for every format. */
void random_range(struct random_world *world, uint32_t most);
/** The number of a format that exists. */
uint32_t random_format(struct random_world *world);
/** An entry of the format at a good place in the list's range. Its allocation, offset and value may be bad. */
struct pb_patch_location random_entry(struct random_world *world, uint32_t format);
/** Breaks one word of an entry, or none if it happens to stay legal. */
void random_fault(struct random_world *world, struct pb_patch_location *patch);

/**
 * All of a list, of either encoding, with own formats and a few faults. One in
 * eight is as long as the card takes at once here; the others are short.
 */
void random_list(struct random_world *world, uint32_t seed);
/** Where it starts: as a rule with its first entry. */
void random_start(struct random_world *world);
/** How much of what is left is submitted: as a rule all. */
void random_length(struct random_world *world);

#endif
