/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "qemu/card_loader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "qemu/card_clock.h"
#include "qemu/card_say.h"
#include "qemu/mcu/flash.h"

static const char *reason_name(uint32_t reason)
{
	switch (reason) {
#define NAME_CASE(name, number, meaning)                                                                     \
	case (number):                                                                                       \
		return #name ": " meaning;
		PB_LOADER_REASONS(NAME_CASE)
#undef NAME_CASE
	default:
		return "unknown reason";
	}
}

static char slot_name(uint32_t slot)
{
	return (char)('A' + slot);
}

/** Gives a file all of its blocks, so that no write to it meets a full disk. */
static bool reserve(int file)
{
	errno = posix_fallocate(file, 0, PB_CARD_FLASH_BYTES);
	return errno == 0;
}

/** Whether a file is as large as a flash. */
static bool has_size(int file)
{
	struct stat status;

	return fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == PB_CARD_FLASH_BYTES;
}

/**
 * Locks a file for one card, and reads it: not a mapping, which ends the card when the file is truncated.
 * @return NULL: errno has the reason, or is 0 for a wrong size
 */
static uint8_t *load(int file)
{
	uint8_t *bytes;

	if (flock(file, LOCK_EX | LOCK_NB) != 0)
		return NULL;
	errno = 0;
	if (!has_size(file) || !reserve(file))
		return NULL;
	bytes = malloc(PB_CARD_FLASH_BYTES);
	if (bytes != NULL && pread(file, bytes, PB_CARD_FLASH_BYTES, 0) != (ssize_t)PB_CARD_FLASH_BYTES) {
		free(bytes);
		bytes = NULL;
	}
	return bytes;
}

/** Writes a range to the file. @return false: the file has another size now, or the disk fails */
static bool save(void *context, uint32_t offset, uint32_t bytes)
{
	const struct pb_card_loader *loader = context;

	return has_size(loader->file) &&
	       pwrite(loader->file, loader->model.bytes + offset, bytes, (off_t)offset) == (ssize_t)bytes;
}

/** Returns why a file cannot be a flash, by its errno. */
static const char *why_not(int error)
{
	if (error == EWOULDBLOCK)
		return "a card or an update uses it";
	return error != 0 ? strerror(error)
			  : "it is no file of a flash's size; scripts/sign --new-flash makes one";
}

bool pb_card_loader_open(struct pb_card_loader *loader, const char *path, const struct pb_machine *machine,
			 struct pb_card_lines *lines, bool quiet)
{
	uint8_t *bytes;

	*loader = (struct pb_card_loader){.lines = lines, .running = PB_SLOT_NONE, .quiet = quiet};
	if (path == NULL)
		return true;
	if (machine->flash_address == 0) {
		pb_card_say("board %s has no loader", machine->board);
		return false;
	}
	loader->file = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	bytes = loader->file >= 0 ? load(loader->file) : NULL;
	if (bytes == NULL) {
		pb_card_say("cannot use %s as the card's flash: %s", path, why_not(errno));
		if (loader->file >= 0)
			close(loader->file);
		return false;
	}
	pb_flash_model_init(&loader->model, bytes);
	pb_flash_model_keep(&loader->model, save, loader);
	loader->updater = (struct pb_updater){.slots = &loader->model.slots,
					      .fuses = &loader->model.fuses,
					      .board = machine->board,
					      .load_address = machine->load_address};
	loader->used = true;
	return true;
}

void pb_card_loader_close(struct pb_card_loader *loader)
{
	if (loader->used) {
		free(loader->model.bytes);
		close(loader->file);
	}
	loader->used = false;
}

void pb_card_loader_start(struct pb_card_loader *loader, uint32_t clock)
{
	loader->locked = !loader->used;
	loader->frame_bytes = 0;
	loader->starts++;
	loader->running = PB_SLOT_NONE;
	loader->confirmed = false;
	loader->up = false;
	loader->since = clock;
	memset(loader->reasons, 0, sizeof(loader->reasons));
	pb_card_lines_hold(loader->lines, loader->used);
}

/* ---- frames ---- */

static uint32_t word_at(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

/** The loader may mark a slot as tried, and nothing else. */
static bool is_tried_mark(const struct pb_card_loader *loader, uint32_t offset)
{
	for (uint32_t slot = 0; slot < PB_SLOTS; slot++) {
		const uint32_t at =
			loader->model.slots.offset[slot] + (uint32_t)offsetof(struct pb_slot_record, tried);

		if (offset == at || offset == at + sizeof(uint32_t))
			return true;
	}
	return false;
}

static void program(struct pb_card_loader *loader)
{
	const struct pb_flash *flash = &loader->model.flash;
	const uint32_t offset = word_at(loader->frame + 1), value = word_at(loader->frame + 5);
	const bool done = is_tried_mark(loader, offset) && flash->ops->program(flash->context, offset, value);

	pb_card_lines_answer(loader->lines, done ? PB_CARD_FLASH_DONE : PB_CARD_FLASH_REFUSED);
}

static void report(struct pb_card_loader *loader)
{
	const uint32_t slot = loader->frame[1], reason = loader->frame[2];
	struct pb_slot_state state;

	if (slot >= PB_SLOTS)
		return;
	loader->reasons[slot] = reason;
	if (reason == PB_LOADER_STARTED) {
		loader->running = slot;
		loader->confirmed = pb_slot_read(&loader->model.slots, slot, &state) && state.confirmed;
	}
	if (reason == PB_LOADER_EMPTY || (reason == PB_LOADER_STARTED && loader->quiet))
		return;
	if (reason == PB_LOADER_STARTED)
		pb_card_say("the loader starts slot %c%s", slot_name(slot),
			    loader->confirmed ? "" : ", on trial");
	else
		pb_card_say("the loader refuses slot %c: %s", slot_name(slot), reason_name(reason));
}

static uint32_t frame_length(uint8_t first)
{
	return first == PB_CARD_FLASH_PROGRAM ? 9u : first == PB_CARD_FLASH_REPORT ? 3u : 1u;
}

bool pb_card_loader_byte(struct pb_card_loader *loader, uint8_t byte)
{
	if (loader->locked)
		return false;
	loader->frame[loader->frame_bytes++] = byte;
	if (loader->frame_bytes < frame_length(loader->frame[0]))
		return true;
	loader->frame_bytes = 0;
	if (loader->frame[0] == PB_CARD_FLASH_PROGRAM)
		program(loader);
	else if (loader->frame[0] == PB_CARD_FLASH_REPORT)
		report(loader);
	else if (loader->frame[0] == PB_CARD_FLASH_LOCK) {
		loader->locked = true;
		pb_card_lines_hold(loader->lines, false);
	}
	return true;
}

/* ---- trial ---- */

void pb_card_loader_up(struct pb_card_loader *loader, uint32_t clock)
{
	loader->up = true;
	loader->since = clock;
}

uint32_t pb_card_loader_trial(const struct pb_card_loader *loader)
{
	return loader->used && !loader->confirmed ? loader->running : PB_SLOT_NONE;
}

/** Confirms the image that runs, or tries again in a while. */
static void confirm(struct pb_card_loader *loader, uint32_t clock)
{
	loader->confirmed = pb_update_confirm(&loader->updater, loader->running);
	loader->since = clock;
	if (loader->confirmed && !loader->quiet)
		pb_card_say("slot %c is confirmed", slot_name(loader->running));
}

enum pb_card_loader_news pb_card_loader_turn(struct pb_card_loader *loader, uint32_t clock, uint32_t still)
{
	const uint32_t passed = clock - loader->since;

	if (pb_card_loader_trial(loader) == PB_SLOT_NONE)
		return PB_CARD_LOADER_NOTHING;
	if (!loader->up)
		return passed >= PB_CARD_TRIAL_US ? PB_CARD_LOADER_LATE : PB_CARD_LOADER_NOTHING;
	if (passed >= PB_CARD_CONFIRM_US && still < PB_CARD_CLOCK_DOUBT_US)
		confirm(loader, clock);
	return PB_CARD_LOADER_NOTHING;
}
