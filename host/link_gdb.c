/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/link_gdb.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "firmware/abi/boot.h"
#include "firmware/abi/image.h"
#include "hal/shared.h"

/* A wait gives the MCU so long at least, or as long as the last exchange halted it. */
#define PACE_US 2000u
/* A host that polls sees what is no older than this, or than four exchanges. */
#define STALE_US 10000u
/* Firmware that has come out of reset needs milliseconds; an emulator that others keep busy, more. */
#define BOOT_US 5000000u
/* Main loop that stands still while the MCU had so much time to run: nobody supervises a board. */
#define SILENCE_US 2000000u
/* What one turn of waiting counts for at most: it may have been long because this process did not run. */
#define SILENCE_STEP_US 20000u
/* More is no MCU's. */
#define MEMORY_BYTES_MAX 0x10000000u

struct link_gdb {
	struct pb_link link; /* first: what callers hold */
	struct pb_gdb gdb;
	struct pb_gdb_memory memory;
	uint32_t heartbeat;
	uint64_t silence_us; /* that it has been standing still, the MCU running */
	bool open;           /* memory is */
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

/* What callers are to make of a probe's failure: a stub that falls silent is as good as gone. */
static enum pb_error failure_of(enum pb_error error)
{
	return error == PB_ERROR_TIMEOUT     ? PB_ERROR_NO_CARD
	       : error == PB_ERROR_BAD_RANGE ? PB_ERROR_PROTOCOL
					     : error;
}

/* Whether the main loop stands still although it had time, on a card that no supervisor watches. */
static bool heart_stopped(struct link_gdb *board, uint64_t ran_us)
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

/* One turn: the MCU runs for a while, then there may be news. */
static enum pb_error wait_for_news(struct pb_link *link, uint64_t timeout_us)
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
	if (error == PB_ERROR_OK && heart_stopped(board, pause))
		return PB_ERROR_FIRMWARE_DEAD;
	return failure_of(error);
}

static uint64_t now(struct pb_link *link)
{
	(void)link;
	return pb_gdb_clock_us();
}

static enum pb_error look(struct pb_link *link)
{
	struct pb_gdb_memory *memory = &gdb_of(link)->memory;
	const uint64_t age = pb_gdb_clock_us() - memory->synced_us;

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
	.wait = wait_for_news,
	.now = now,
	.look = look,
	.close = close_link,
};

/* ---- opening ---- */

__attribute__((format(printf, 3, 4))) static enum pb_error say(char message[PB_GDB_MESSAGE_BYTES],
							       enum pb_error error, const char *format, ...)
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
		return say(message, error, "%s is no address of a gdb stub: HOST:PORT, or a path", stub);
	if (error == PB_ERROR_NO_CARD)
		return say(message, error,
			   "no gdb stub answers at %s; start the probe's server (OpenOCD: port 3333, J-Link: "
			   "2331, pyOCD: 3333) and give its address",
			   stub);
	if (error != PB_ERROR_OK)
		return say(message, error, "%s: %s", stub, strerror(errno));
	error = pb_gdb_greet(&board->gdb, socket, PB_GDB_PATIENCE_US);
	if (error == PB_ERROR_NO_CARD || error == PB_ERROR_TIMEOUT)
		return say(message, PB_ERROR_NO_CARD,
			   "%s is taken, or is no gdb stub: it %s; end the other debugger, or give another "
			   "address",
			   stub, error == PB_ERROR_TIMEOUT ? "says nothing" : "closed the connection");
	if (error != PB_ERROR_OK)
		return say(message, error,
			   "what answers at %s is no gdb stub, or has no MCU at its probe; look at what the "
			   "probe's server says",
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
 * Looks for an image in one place.
 * @retval PB_ERROR_BAD_RANGE there is none
 */
static enum pb_error read_header(struct pb_gdb *gdb, uint32_t load_address, struct pb_gdb_place *place)
{
	struct pb_image_header header;
	enum pb_error error =
		pb_gdb_read(gdb, load_address + PB_IMAGE_HEADER_OFFSET, &header, sizeof(header));

	if (error != PB_ERROR_OK)
		return error;
	if (header.magic != PB_IMAGE_MAGIC || header.version != PB_IMAGE_VERSION ||
	    !memory_is_possible(header.card_memory, header.card_memory_bytes))
		return PB_ERROR_BAD_RANGE;
	place->address = header.card_memory;
	place->bytes = header.card_memory_bytes;
	return PB_ERROR_OK;
}

static enum pb_error find_memory(struct pb_gdb *gdb, struct pb_gdb_place *place,
				 char message[PB_GDB_MESSAGE_BYTES])
{
	/* Where images are linked: Arm's code memory, flash of STM32 and its like, and RISC-V's. */
	static const uint32_t load_addresses[] = {0x00000000, 0x08000000, 0x80000000};
	enum pb_error error = PB_ERROR_BAD_RANGE;

	if (place->bytes != 0)
		return memory_is_possible(place->address, place->bytes)
			       ? PB_ERROR_OK
			       : say(message, PB_ERROR_BAD_ARGUMENT,
				     "0x%x bytes at 0x%x cannot be card memory", place->bytes,
				     place->address);
	for (size_t i = 0; i < 3 && error == PB_ERROR_BAD_RANGE; i++)
		error = read_header(gdb, load_addresses[i], place);
	if (error == PB_ERROR_BAD_RANGE)
		return say(message, PB_ERROR_PROTOCOL,
			   "the board at %s has no Patchbay image: no header at 0x200 behind 0x0, 0x08000000 "
			   "or 0x80000000; flash one, or say where card memory is: %s,ADDRESS,BYTES",
			   place->stub, place->stub);
	if (error != PB_ERROR_OK)
		return say(message, failure_of(error), "%s broke off while the image was looked for",
			   place->stub);
	return PB_ERROR_OK;
}

/* Waits for the boot block's magic, which the firmware writes last. */
static enum pb_error await_block(struct link_gdb *board, const struct pb_gdb_place *place,
				 char message[PB_GDB_MESSAGE_BYTES])
{
	const struct pb_boot_block *block = (const void *)(board->link.memory + PB_BOOT_OFFSET);
	const uint64_t deadline = pb_gdb_clock_us() + BOOT_US;
	uint32_t channels;

	while (pb_shared_read32(&block->magic) != PB_BOOT_MAGIC) {
		enum pb_error error = wait_for_news(&board->link, PACE_US);

		if (error != PB_ERROR_OK)
			return say(message, error, "%s broke off while the firmware was waited for",
				   place->stub);
		if (pb_gdb_clock_us() > deadline)
			return say(message, PB_ERROR_FIRMWARE_DEAD,
				   "the firmware of the board at %s does not come up: no boot block at 0x%x; "
				   "look at it with gdb, or flash it again",
				   place->stub, place->address);
	}
	pb_shared_acquire();
	channels = pb_shared_read32(&block->channel_count);
	board->link.channel = channels != 0 ? channels - 1u : 0;
	return PB_ERROR_OK;
}

static enum pb_error open_board(struct link_gdb *board, struct pb_gdb_place *place,
				char message[PB_GDB_MESSAGE_BYTES])
{
	enum pb_error error = reach_stub(board, place->stub, message);

	if (error == PB_ERROR_OK)
		error = find_memory(&board->gdb, place, message);
	if (error != PB_ERROR_OK)
		return error;
	error = pb_gdb_memory_open(&board->memory, &board->gdb, place->address, place->bytes);
	if (error != PB_ERROR_OK)
		return say(message, error, "no room for a copy of card memory: %s", strerror(errno));
	board->open = true;
	board->link.memory = board->memory.view;
	board->link.memory_bytes = place->bytes;
	return await_block(board, place, message);
}

enum pb_error pb_link_open_gdb(const struct pb_gdb_place *place, struct pb_link **link,
			       char message[PB_GDB_MESSAGE_BYTES])
{
	struct link_gdb *board = calloc(1, sizeof(*board));
	struct pb_gdb_place found = *place;
	enum pb_error error;

	*link = NULL;
	if (board == NULL)
		return say(message, PB_ERROR_HOST_MEMORY, "out of memory");
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

/* Reads a number and the byte behind it. @return behind that; NULL: it is none */
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

bool pb_gdb_place_parse(char *text, struct pb_gdb_place *place)
{
	char *comma = strchr(text, ',');
	const char *at;

	*place = (struct pb_gdb_place){.stub = text};
	if (comma == NULL)
		return *text != '\0';
	*comma = '\0';
	at = parse_number(comma + 1, ',', &place->address);
	if (at != NULL)
		at = parse_number(at, '\0', &place->bytes);
	return at != NULL && place->bytes != 0 && *text != '\0';
}
