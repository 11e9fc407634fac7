/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A card's flash with signed images of a few words, and the loader that boots it.
 */
#ifndef PB_TESTS_UNIT_LOADER_BENCH_H
#define PB_TESTS_UNIT_LOADER_BENCH_H

#include "loader/loader.h"
#include "loader/update.h"
#include "qemu/flash_model.h"

#define BENCH_BOARD       "bench"
#define BENCH_LOAD        0x10000u
#define BENCH_IMAGE_WORDS 40u
#define BENCH_FILE_BYTES  (sizeof(struct pb_signed_header) + BENCH_IMAGE_WORDS * sizeof(uint32_t))

/** A signed image. */
struct bench_file {
	struct pb_signed_header header;
	uint32_t words[BENCH_IMAGE_WORDS];
};

/** The card; `reported` is what the loader reported of each slot at the last boot. */
struct bench {
	struct pb_flash_model model;
	struct pb_updater updater;
	struct pb_verify_rules rules;
	struct pb_staged_image staged;
	struct pb_loader loader;
	uint32_t staged_words[BENCH_IMAGE_WORDS];
	enum pb_loader_reason reported[PB_SLOTS];
};

/** Sets up a new card with the key of the bench. One card at a time. */
void bench_start(struct bench *bench);
/** Frees the card's flash. */
void bench_stop(struct bench *bench);
/** Makes a signed image. @param tag is in each word of it */
void bench_sign(struct bench_file *file, uint32_t version, uint32_t tag);
/** Signs the header again, as it is. @param own false: with a key that is not the card's */
void bench_sign_again(struct bench_file *file, bool own);
/** Writes a file to a slot, as the updater does. */
enum pb_update_error bench_write(struct bench *bench, const struct bench_file *file, uint32_t slot);
/** Copies a file and the marks of a slot into the flash, whatever they are. */
void bench_place(struct bench *bench, uint32_t slot, const struct bench_file *file, bool tried,
		 bool confirmed);
/** Boots. @return the slot that is started, with the choice checked; PB_SLOT_NONE: none */
uint32_t bench_boot(struct bench *bench);
/** Returns the counter. */
uint32_t bench_counter(struct bench *bench);

#endif
