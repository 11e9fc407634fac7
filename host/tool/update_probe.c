/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/update_probe.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/link_gdb_flash.h"
#include "host/tool/probe_flash.h"
#include "loader/update.h"
#include "patchbay/abi/boot.h"
#include "patchbay/abi/image.h"
#include "patchbay/names.h"

/* For how long the MCU runs between two looks at it, in microseconds. */
#define LOOK_US 20000u
/* Looks until an image must be up, and how long its heartbeat must move then: 5 s and 100 ms of running, as of a card. */
#define TRIAL_LOOKS   250u
#define CONFIRM_LOOKS 5u

/* What the MCU reports. */
struct sight {
	uint32_t stage, heartbeat, incarnation, slot, reasons[PB_SLOTS];
	uint32_t reached; /**< looks at which the heartbeat had moved since the last one */
};

struct session {
	const char *program;
	const struct pb_update_probe_order *order;
	struct pb_gdb gdb;
	struct pb_probe_flash flash;
	struct pb_updater updater;
	uint32_t boot_block; /**< its address; 0: there is no image that says where it is */
};

static char slot_name(uint32_t slot)
{
	return (char)('A' + slot);
}

/* Says why something failed. @return exit code */
static int fail(const struct session *session, enum pb_error error)
{
	if (error == PB_ERROR_UNSUPPORTED)
		fprintf(stderr,
			"%s: the stub at %s programs no flash; give that of a probe's server that knows the "
			"flash of "
			"the "
			"board. An emulated card takes updates with --card\n",
			session->program, session->order->stub);
	else
		fprintf(stderr, "%s: %s: %s\n", session->program, session->order->stub,
			error == PB_ERROR_BAD_RANGE ? "the stub reports an error of memory or flash"
						    : pb_error_meaning((uint32_t)error));
	return 1;
}

static bool connect_stub(struct session *session)
{
	int socket;
	enum pb_error error = pb_gdb_connect(session->order->stub, &socket);

	session->gdb.wire.socket = socket;
	if (error == PB_ERROR_OK)
		error = pb_gdb_greet(&session->gdb, socket, PB_GDB_PATIENCE_US);
	if (error == PB_ERROR_OK)
		return true;
	fprintf(stderr, "%s: no gdb stub answers at %s: %s\n", session->program, session->order->stub,
		error == PB_ERROR_SYSTEM ? strerror(errno) : pb_error_meaning((uint32_t)error));
	return false;
}

/* Finds the boot block, by the header of the image that is loaded now. */
static void find_boot_block(struct session *session)
{
	struct pb_image_header header = {0};

	session->boot_block = 0;
	if (pb_gdb_read(&session->gdb, session->order->machine->load_address + PB_IMAGE_HEADER_OFFSET,
			&header, sizeof(header)) == PB_ERROR_OK &&
	    header.magic == PB_IMAGE_MAGIC)
		session->boot_block = header.card_memory + PB_BOOT_OFFSET;
}

/* Reads what the halted MCU has reported. All zero: nothing. */
static enum pb_error look(struct session *session, struct sight *sight)
{
	struct pb_boot_block block = {0};
	enum pb_error error = PB_ERROR_OK;
	const uint32_t heartbeat = sight->heartbeat;

	find_boot_block(session);
	if (session->boot_block != 0)
		error = pb_gdb_read(&session->gdb, session->boot_block, &block, sizeof(block));
	sight->stage = block.boot_stage;
	sight->heartbeat = block.heartbeat;
	sight->incarnation = block.incarnation;
	sight->slot = block.loader_slot - 1u;
	memcpy(sight->reasons, block.loader_reasons, sizeof(sight->reasons));
	sight->reached += sight->heartbeat != heartbeat;
	return error;
}

/* Resets the MCU and waits until an image has been up for a while. @param before its incarnation before that */
static enum pb_error restart(struct session *session, uint32_t before, struct sight *sight)
{
	enum pb_error error = pb_gdb_reset(&session->gdb);

	for (uint32_t i = 0; i < TRIAL_LOOKS && error == PB_ERROR_OK; i++) {
		error = pb_gdb_resume(&session->gdb);
		usleep(LOOK_US);
		if (error == PB_ERROR_OK)
			error = pb_gdb_halt(&session->gdb);
		if (error == PB_ERROR_OK)
			error = look(session, sight);
		/* What the former image has left says nothing. */
		if (sight->incarnation == before)
			sight->reached = 0;
		if (sight->reached > CONFIRM_LOOKS ||
		    (sight->incarnation != before && sight->stage == PB_BOOT_STAGE_FATAL))
			break;
	}
	return error;
}

static bool is_up(const struct sight *sight)
{
	return sight->reached > CONFIRM_LOOKS && sight->slot < PB_SLOTS;
}

/* Confirms the image that runs. @return exit code */
static int confirm(struct session *session, const struct sight *sight)
{
	uint32_t counter = 0;

	if (!pb_update_confirm(&session->updater, sight->slot) || !pb_probe_flash_flush(&session->flash) ||
	    !session->updater.fuses->ops->counter(session->updater.fuses->context, &counter))
		return fail(session, session->flash.error);
	printf("slot %c runs and is confirmed; the card's counter is %" PRIu32 "\n", slot_name(sight->slot),
	       counter);
	return 0;
}

/* Has the MCU try a slot. @return exit code */
static int try_slot(struct session *session, uint32_t slot, uint32_t incarnation)
{
	struct sight sight = {0};
	enum pb_error error = restart(session, incarnation, &sight);
	uint32_t reason;

	if (error == PB_ERROR_OK && is_up(&sight) && sight.slot == slot)
		return confirm(session, &sight);
	reason = sight.reasons[slot];
	/* An image that hangs is reset; the loader starts the former one then. */
	if (error == PB_ERROR_OK && !is_up(&sight)) {
		incarnation = sight.incarnation;
		sight = (struct sight){0};
		error = restart(session, incarnation, &sight);
	}
	if (error != PB_ERROR_OK)
		return fail(session, error);
	fprintf(stderr, "%s: slot %c did not come up (%s); ", session->program, slot_name(slot),
		pb_update_reason_text(reason));
	if (is_up(&sight))
		fprintf(stderr, "slot %c runs\n", slot_name(sight.slot));
	else
		fprintf(stderr, "no image runs\n");
	return 1;
}

/* @return exit code */
static int update(struct session *session, const struct pb_update_file *file)
{
	const struct pb_update_probe_order *order = session->order;
	struct sight sight = {0};
	enum pb_error error = look(session, &sight);
	enum pb_update_error result;
	uint32_t slot = order->slot, running;

	if (error != PB_ERROR_OK)
		return fail(session, error);
	running = sight.slot < PB_SLOTS ? sight.slot : PB_SLOT_NONE;
	if (slot >= PB_SLOTS)
		slot = pb_update_free_slot(&session->updater, running);
	result = pb_update_write(&session->updater, file->words, (uint32_t)file->bytes, slot, running);
	if (!pb_probe_flash_flush(&session->flash))
		return fail(session, session->flash.error);
	if (result != PB_UPDATE_DONE) {
		fprintf(stderr, "%s: %s: %s\n", session->program, order->path, pb_update_error_text(result));
		return 1;
	}
	printf("%s is written to slot %c\n", order->path, slot_name(slot));
	return order->later ? 0 : try_slot(session, slot, sight.incarnation);
}

int pb_update_probe(const char *program, const struct pb_update_probe_order *order,
		    const struct pb_update_file *file)
{
	struct session session = {.program = program, .order = order};
	int code = 1;

	if (order->machine->flash_address == 0) {
		fprintf(stderr, "%s: board %s has no loader\n", program, order->machine->board);
		return 1;
	}
	if (connect_stub(&session)) {
		pb_probe_flash_init(&session.flash, &session.gdb, order->machine->flash_address);
		session.updater = (struct pb_updater){.slots = &session.flash.slots,
						      .fuses = &session.flash.fuses,
						      .board = order->machine->board,
						      .load_address = order->machine->load_address};
		code = update(&session, file);
		pb_gdb_leave(&session.gdb);
	}
	if (session.gdb.wire.socket >= 0)
		close(session.gdb.wire.socket);
	return code;
}
