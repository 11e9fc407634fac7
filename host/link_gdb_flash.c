/* SPDX-License-Identifier: MIT */
#include "host/link_gdb_flash.h"

#include <stdio.h>
#include <string.h>

/* Asks what is answered with OK, with an error, or with nothing by a stub that does not know it. */
static enum pb_error demand(struct pb_gdb *gdb, const void *question, size_t bytes)
{
	const enum pb_error error = pb_gdb_ask(gdb, question, bytes);
	const char *answer = (const char *)gdb->wire.packet;

	if (error != PB_ERROR_OK)
		return error;
	if (strcmp(answer, "OK") == 0)
		return PB_ERROR_OK;
	if (answer[0] == '\0')
		return PB_ERROR_UNSUPPORTED;
	return answer[0] == 'E' ? PB_ERROR_BAD_RANGE : PB_ERROR_PROTOCOL;
}

enum pb_error pb_gdb_flash_erase(struct pb_gdb *gdb, uint32_t address, uint32_t bytes)
{
	char question[48];
	const int length =
		snprintf(question, sizeof(question), "vFlashErase:%x,%x", (unsigned)address, (unsigned)bytes);

	return demand(gdb, question, (size_t)length);
}

/* Sends a part of what is to be programmed. */
static enum pb_error write_part(struct pb_gdb *gdb, uint32_t address, const uint8_t *from, uint32_t bytes)
{
	char question[PB_GDB_PACKET_BYTES];
	const int length = snprintf(question, sizeof(question), "vFlashWrite:%x:", (unsigned)address);

	memcpy(question + length, from, bytes);
	return demand(gdb, question, (size_t)length + bytes);
}

enum pb_error pb_gdb_flash_program(struct pb_gdb *gdb, uint32_t address, const void *from, uint32_t bytes)
{
	/* Each byte may take two, escaped. */
	const uint32_t most = (gdb->packet_bytes - 32u) / 2u & ~3u;
	const uint8_t *at = from;
	enum pb_error error = PB_ERROR_OK;

	for (uint32_t done = 0; done < bytes && error == PB_ERROR_OK;) {
		const uint32_t part = bytes - done < most ? bytes - done : most;

		error = write_part(gdb, address + done, at + done, part);
		done += part;
	}
	return error == PB_ERROR_OK ? demand(gdb, "vFlashDone", strlen("vFlashDone")) : error;
}

enum pb_error pb_gdb_reset(struct pb_gdb *gdb)
{
	/* Of OpenOCD, pyOCD and J-Link: what a user types as "monitor reset halt". */
	static const char command[] = "reset halt";
	char question[64] = "qRcmd,";
	char *at = question + strlen(question);

	for (const char *letter = command; *letter != '\0'; letter++)
		at += sprintf(at, "%02x", (unsigned char)*letter);
	return demand(gdb, question, strlen(question));
}
