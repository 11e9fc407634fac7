/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "patchbay/link_gdb.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hal/shared.h"
#include "host/link_gdb_memory.h"
#include "host/link_system.h"
#include "patchbay/abi/boot.h"
#include "patchbay/abi/image.h"

/* Shortest time that the MCU runs between two exchanges, in microseconds; or as long as the last exchange halted it. */
#define PACE_US 2000u
/* Largest age of what a polling host reads, in microseconds; or the time of four exchanges. */
#define STALE_US 10000u
/* Time for the firmware's boot, in microseconds: milliseconds on hardware, more on a busy emulator. */
#define BOOT_US 5000000u
/* Time for which the MCU may run without a heartbeat, in microseconds. A board has no supervisor to detect that. */
#define SILENCE_US 2000000u
/* Largest share of one wait in that time, in microseconds: the wait may be long because this process did not run. */
#define SILENCE_STEP_US 20000u
/* Largest card memory accepted, in bytes. */
#define MEMORY_BYTES_MAX 0x10000000u

struct link_gdb {
	struct pb_link link; /* first: what callers hold */
	struct pb_gdb gdb;
	struct pb_gdb_memory memory;
	uint32_t heartbeat;  /* last one seen */
	uint64_t silence_us; /* time that the MCU ran since then */
	bool open;           /* `memory` is open */
};

static struct link_gdb *gdb_of(struct pb_link *link)
{
	return (struct link_gdb *)(void *)link;
}

/* ---- operations ---- */

static void doorbell(struct pb_link *link)
{
	(void)pb_gdb_memory_push(&gdb_of(link)->memory);
}

static void sleep_us(uint64_t us)
{
	const struct timespec time = {.tv_sec = (time_t)(us / 1000000u),
				      .tv_nsec = (long)(us % 1000000u) * 1000};

	(void)nanosleep(&time, NULL);
}

/* Converts an error of the probe for users of the link: a stub that does not answer counts as gone. */
static enum pb_error failure_of(enum pb_error error)
{
	return error == PB_ERROR_TIMEOUT     ? PB_ERROR_NO_CARD
	       : error == PB_ERROR_BAD_RANGE ? PB_ERROR_PROTOCOL
					     : error;
}

/* Returns whether the main loop of a board without a supervisor made no progress for SILENCE_US of running time. */
static bool main_loop_stopped(struct link_gdb *board, uint64_t ran_us)
{
	uint32_t state, stage, heartbeat;

	if (!pb_gdb_memory_peek(&board->memory, offsetof(struct pb_boot_block, mcu_state), &state) ||
	    !pb_gdb_memory_peek(&board->memory, offsetof(struct pb_boot_block, boot_stage), &stage) ||
	    !pb_gdb_memory_peek(&board->memory, offsetof(struct pb_boot_block, heartbeat), &heartbeat))
		return false;
	if (state != PB_MCU_UNKNOWN || stage != PB_BOOT_STAGE_RUNNING || heartbeat != board->heartbeat)
		board->silence_us = 0;
	else
		board->silence_us += ran_us < SILENCE_STEP_US ? ran_us : SILENCE_STEP_US;
	board->heartbeat = heartbeat;
	return board->silence_us >= SILENCE_US;
}

/* Lets the MCU run for a while, then updates the copy of its memory. */
static enum pb_error wait_exchange(struct pb_link *link, uint64_t timeout_us)
{
	struct link_gdb *board = gdb_of(link);
	struct pb_gdb_memory *memory = &board->memory;
	uint64_t pause = timeout_us < PACE_US ? timeout_us : PACE_US;
	enum pb_error error = pb_gdb_memory_push(memory);

	if (pause < memory->cost_us)
		pause = memory->cost_us;
	if (error == PB_ERROR_OK) {
		sleep_us(pause);
		error = pb_gdb_memory_sync(memory);
	}
	if (error == PB_ERROR_OK && main_loop_stopped(board, pause))
		return PB_ERROR_FIRMWARE_DEAD;
	return failure_of(error);
}

static uint64_t now(struct pb_link *link)
{
	(void)link;
	return pb_clock_us();
}

static enum pb_error refresh(struct pb_link *link)
{
	struct pb_gdb_memory *memory = &gdb_of(link)->memory;
	const uint64_t age = pb_clock_us() - memory->synced_us;

	if (age > STALE_US && age > 4u * memory->cost_us)
		(void)pb_gdb_memory_sync(memory);
	return failure_of(memory->error);
}

static void close_link(struct pb_link *link)
{
	struct link_gdb *board = gdb_of(link);

	if (board->open)
		pb_gdb_memory_close(&board->memory);
	if (board->gdb.wire.socket >= 0) {
		pb_gdb_leave(&board->gdb);
		close(board->gdb.wire.socket);
	}
	free(board);
}

static const struct pb_link_ops gdb_ops = {
	.doorbell = doorbell,
	.wait = wait_exchange,
	.now = now,
	.refresh = refresh,
	.close = close_link,
};

/* ---- opening ---- */

/* Formats a message. @return error, for the caller to return */
__attribute__((format(printf, 3, 4))) static enum pb_error
fail_with(char message[PB_GDB_MESSAGE_BYTES], enum pb_error error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(message, PB_GDB_MESSAGE_BYTES, format, arguments);
	va_end(arguments);
	return error;
}

static enum pb_error reach_stub(struct link_gdb *board, const char *stub, char message[PB_GDB_MESSAGE_BYTES])
{
	int socket;
	enum pb_error error = pb_gdb_connect(stub, &socket);

	board->gdb.wire.socket = socket;
	if (error == PB_ERROR_BAD_ARGUMENT)
		return fail_with(
			message, error,
			"%s is no address of a gdb stub; give HOST:PORT or the path of a Unix socket", stub);
	if (error == PB_ERROR_NO_CARD)
		return fail_with(
			message, error,
			"no gdb stub answers at %s; start the probe's server (OpenOCD: port 3333, J-Link: "
			"2331, pyOCD: 3333) and give its address",
			stub);
	if (error != PB_ERROR_OK)
		return fail_with(message, error, "%s: %s", stub, strerror(errno));
	error = pb_gdb_greet(&board->gdb, socket, PB_GDB_PATIENCE_US);
	if (error == PB_ERROR_NO_CARD || error == PB_ERROR_TIMEOUT)
		return fail_with(message, PB_ERROR_NO_CARD,
				 "%s is in use by another debugger, or is no gdb stub: it %s; end the other "
				 "debugger, or give another address",
				 stub,
				 error == PB_ERROR_TIMEOUT ? "does not answer" : "closed the connection");
	if (error != PB_ERROR_OK)
		return fail_with(
			message, error,
			"what answers at %s is no gdb stub, or has no MCU at its probe; read the messages of "
			"the probe's server",
			stub);
	return PB_ERROR_OK;
}

static bool memory_is_possible(uint32_t address, uint32_t bytes)
{
	return address % sizeof(uint32_t) == 0 && bytes % sizeof(uint32_t) == 0 &&
	       bytes >= sizeof(struct pb_boot_block) && bytes <= MEMORY_BYTES_MAX &&
	       address <= UINT32_MAX - bytes;
}

/*
 * Reads the image header at one load address.
 * @retval PB_ERROR_BAD_RANGE no image is there
 */
static enum pb_error read_header(struct pb_gdb *gdb, uint32_t load_address, struct pb_gdb_target *target)
{
	struct pb_image_header header;
	enum pb_error error =
		pb_gdb_read(gdb, load_address + PB_IMAGE_HEADER_OFFSET, &header, sizeof(header));

	if (error != PB_ERROR_OK)
		return error;
	if (header.magic != PB_IMAGE_MAGIC || header.version != PB_IMAGE_VERSION ||
	    !memory_is_possible(header.card_memory, header.card_memory_bytes))
		return PB_ERROR_BAD_RANGE;
	target->address = header.card_memory;
	target->bytes = header.card_memory_bytes;
	return PB_ERROR_OK;
}

static enum pb_error find_memory(struct pb_gdb *gdb, struct pb_gdb_target *target,
				 char message[PB_GDB_MESSAGE_BYTES])
{
	/* Load addresses of images: Arm code memory, STM32 flash, RISC-V memory. */
	static const uint32_t load_addresses[] = {0x00000000, 0x08000000, 0x80000000};
	enum pb_error error = PB_ERROR_BAD_RANGE;

	if (target->bytes != 0)
		return memory_is_possible(target->address, target->bytes)
			       ? PB_ERROR_OK
			       : fail_with(message, PB_ERROR_BAD_ARGUMENT,
					   "0x%x bytes at 0x%x cannot be card memory", target->bytes,
					   target->address);
	for (size_t i = 0; i < 3 && error == PB_ERROR_BAD_RANGE; i++)
		error = read_header(gdb, load_addresses[i], target);
	if (error == PB_ERROR_BAD_RANGE)
		return fail_with(
			message, PB_ERROR_PROTOCOL,
			"the board at %s has no Patchbay image: no header at 0x200, 0x08000200 or "
			"0x80000200; flash an image, or give the address of card memory: %s,ADDRESS,BYTES",
			target->stub, target->stub);
	if (error != PB_ERROR_OK)
		return fail_with(message, failure_of(error),
				 "the connection to %s failed during the search "
				 "for the image",
				 target->stub);
	return PB_ERROR_OK;
}

/* Waits for the boot block's magic word, which the firmware writes last. */
static enum pb_error await_block(struct link_gdb *board, const struct pb_gdb_target *target,
				 char message[PB_GDB_MESSAGE_BYTES])
{
	const struct pb_boot_block *block = (const void *)(board->link.memory + PB_BOOT_OFFSET);
	const uint64_t deadline = pb_clock_us() + BOOT_US;
	uint32_t channels;

	while (pb_shared_read32(&block->magic) != PB_BOOT_MAGIC) {
		enum pb_error error = wait_exchange(&board->link, PACE_US);

		if (error != PB_ERROR_OK)
			return fail_with(message, error,
					 "the connection to %s failed during the wait for "
					 "the firmware",
					 target->stub);
		if (pb_clock_us() > deadline)
			return fail_with(message, PB_ERROR_FIRMWARE_DEAD,
					 "the firmware of the board at %s does not finish its boot: no boot "
					 "block at 0x%x; "
					 "debug it with gdb, or flash it again",
					 target->stub, target->address);
	}
	pb_shared_acquire();
	channels = pb_shared_read32(&block->channel_count);
	board->link.channel = channels != 0 ? channels - 1u : 0;
	return PB_ERROR_OK;
}

static enum pb_error open_board(struct link_gdb *board, struct pb_gdb_target *target,
				char message[PB_GDB_MESSAGE_BYTES])
{
	enum pb_error error = reach_stub(board, target->stub, message);

	if (error == PB_ERROR_OK)
		error = find_memory(&board->gdb, target, message);
	if (error != PB_ERROR_OK)
		return error;
	error = pb_gdb_memory_open(&board->memory, &board->gdb, target->address, target->bytes);
	if (error != PB_ERROR_OK)
		return fail_with(message, error, "cannot allocate the copy of card memory: %s",
				 strerror(errno));
	board->open = true;
	board->link.memory = board->memory.view;
	board->link.memory_bytes = target->bytes;
	return await_block(board, target, message);
}

enum pb_error pb_link_open_gdb(const struct pb_gdb_target *target, struct pb_link **link,
			       char message[PB_GDB_MESSAGE_BYTES])
{
	struct link_gdb *board = calloc(1, sizeof(*board));
	struct pb_gdb_target found = *target;
	enum pb_error error;

	*link = NULL;
	if (board == NULL)
		return fail_with(message, PB_ERROR_HOST_MEMORY, "out of memory");
	board->link.ops = &gdb_ops;
	error = open_board(board, &found, message);
	if (error == PB_ERROR_OK)
		*link = &board->link;
	else
		close_link(&board->link);
	return error;
}

struct pb_gdb_figures pb_link_gdb_figures(const struct pb_link *link)
{
	return ((const struct link_gdb *)(const void *)link)->memory.figures;
}

/* ---- the address ---- */

/* Parses a number that `end` follows. @return the text behind `end`; NULL: there is no such number */
static const char *parse_number(const char *text, char end, uint32_t *number)
{
	unsigned long long value;
	char *stop;

	if (isdigit((unsigned char)*text) == 0)
		return NULL;
	errno = 0;
	value = strtoull(text, &stop, 0);
	if (errno != 0 || value > UINT32_MAX || *stop != end)
		return NULL;
	*number = (uint32_t)value;
	return stop + 1;
}

bool pb_gdb_target_parse(char *text, struct pb_gdb_target *target)
{
	char *comma = strchr(text, ',');
	const char *at;

	*target = (struct pb_gdb_target){.stub = text};
	if (comma == NULL)
		return *text != '\0';
	*comma = '\0';
	at = parse_number(comma + 1, ',', &target->address);
	if (at != NULL)
		at = parse_number(at, '\0', &target->bytes);
	return at != NULL && target->bytes != 0 && *text != '\0';
}
