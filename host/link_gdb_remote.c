/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/link_gdb_remote.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/link_system.h"

/* Packet size in bytes if the stub reports none, and the smallest one used. */
#define PACKET_DEFAULT 400u
#define PACKET_LEAST   64u
/* Bytes of a packet besides the data: the command's letter, address, length, and the frame. */
#define COMMAND_ROOM 32u
/* Unrelated packets skipped before an answer counts as missing: console output, late stop replies. */
#define STRAY_MOST   1000u
#define ADDRESS_ROOM 256u

/* ---- numbers ---- */

static char *put_hex(char *at, uint32_t value)
{
	uint32_t digits = 1;

	while (digits < 8u && value >> 4u * digits != 0)
		digits++;
	while (digits-- != 0)
		*at++ = "0123456789abcdef"[value >> 4u * digits & 0xfu];
	return at;
}

/* Returns the value of a hex digit; -1: it is none. */
static int digit_value(uint8_t digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

/* ---- requests and replies ---- */

static bool reply_is(const struct pb_gdb *gdb, const char *text)
{
	return gdb->wire.packet_bytes == strlen(text) &&
	       memcmp(gdb->wire.packet, text, gdb->wire.packet_bytes) == 0;
}

static bool is_stop(const struct pb_gdb *gdb)
{
	return gdb->wire.packet[0] == 'T' || gdb->wire.packet[0] == 'S';
}

static bool is_console(const struct pb_gdb *gdb)
{
	return gdb->wire.packet[0] == 'O' && !reply_is(gdb, "OK");
}

/* Receives the next packet. Skips console output and, unless `stop`, stop replies. */
static enum pb_error receive(struct pb_gdb *gdb, bool stop)
{
	for (uint32_t i = 0; i < STRAY_MOST; i++) {
		enum pb_error error = pb_gdb_receive(&gdb->wire);

		if (error != PB_ERROR_OK || (!is_console(gdb) && is_stop(gdb) <= stop))
			return error;
	}
	return PB_ERROR_PROTOCOL;
}

enum pb_error pb_gdb_ask(struct pb_gdb *gdb, const void *question, size_t bytes)
{
	enum pb_error error = pb_gdb_send(&gdb->wire, question, bytes);

	return error == PB_ERROR_OK ? receive(gdb, false) : error;
}

static enum pb_error ask_text(struct pb_gdb *gdb, const char *question)
{
	return pb_gdb_ask(gdb, question, strlen(question));
}

/* Receives the stop reply: the MCU has halted. */
static enum pb_error await_stop(struct pb_gdb *gdb)
{
	enum pb_error error = receive(gdb, true);

	if (error != PB_ERROR_OK)
		return error;
	gdb->halted = is_stop(gdb);
	return gdb->halted ? PB_ERROR_OK : PB_ERROR_PROTOCOL;
}

/* ---- connection ---- */

/* Splits HOST:PORT. @return false: the text has another form */
static bool split(const char *address, char *host, const char **port)
{
	const char *colon = strrchr(address, ':');
	size_t length = colon == NULL ? 0 : (size_t)(colon - address);

	if (length == 0 || length >= ADDRESS_ROOM || colon[1] == '\0')
		return false;
	*port = colon + 1;
	if (address[0] == '[' && address[length - 1] == ']') {
		address++;
		length -= 2;
	}
	memcpy(host, address, length);
	host[length] = '\0';
	return length != 0;
}

static bool connect_one(const struct addrinfo *found, int *to)
{
	const int one = 1;

	*to = socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, found->ai_protocol);
	if (*to < 0)
		return false;
	/* Packets are short, and each one is answered before the next. */
	(void)setsockopt(*to, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(*to, found->ai_addr, found->ai_addrlen) == 0)
		return true;
	close(*to);
	*to = -1;
	return false;
}

enum pb_error pb_gdb_connect(const char *address, int *socket)
{
	const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	char host[ADDRESS_ROOM];
	const char *port;

	*socket = -1;
	if (address[0] == '/' || address[0] == '.')
		return pb_connect_unix(address, socket);
	if (!split(address, host, &port))
		return PB_ERROR_BAD_ARGUMENT;
	if (getaddrinfo(host, port, &wanted, &found) != 0)
		return PB_ERROR_NO_CARD;
	for (const struct addrinfo *one = found; one != NULL && *socket < 0; one = one->ai_next)
		(void)connect_one(one, socket);
	freeaddrinfo(found);
	return *socket >= 0 ? PB_ERROR_OK : PB_ERROR_NO_CARD;
}

/* ---- greeting ---- */

/* Reads the value of a name in the stub's feature list. @return 0: the name is missing, or its value is no number */
static uint32_t feature_number(const struct pb_gdb *gdb, const char *name)
{
	const char *at = strstr((const char *)gdb->wire.packet, name);
	uint32_t value = 0;

	if (at == NULL)
		return 0;
	for (at += strlen(name); digit_value((uint8_t)*at) >= 0; at++) {
		if (value > UINT32_MAX >> 4)
			return UINT32_MAX;
		value = value << 4 | (uint32_t)digit_value((uint8_t)*at);
	}
	return value;
}

static void set_packet_size(struct pb_gdb *gdb)
{
	uint32_t bytes = feature_number(gdb, "PacketSize=");

	if (bytes == 0)
		bytes = PACKET_DEFAULT;
	if (bytes < PACKET_LEAST)
		bytes = PACKET_LEAST;
	gdb->packet_bytes = bytes < PB_GDB_PACKET_BYTES ? bytes : PB_GDB_PACKET_BYTES;
}

static enum pb_error agree(struct pb_gdb *gdb)
{
	enum pb_error error = ask_text(gdb, "qSupported");
	bool quiet;

	if (error != PB_ERROR_OK)
		return error;
	set_packet_size(gdb);
	quiet = strstr((const char *)gdb->wire.packet, "QStartNoAckMode+") != NULL;
	if (quiet)
		error = ask_text(gdb, "QStartNoAckMode");
	if (error == PB_ERROR_OK && quiet && reply_is(gdb, "OK"))
		gdb->wire.acknowledge = false;
	return error;
}

/*
 * Selects physical memory. A probe accesses the bus; QEMU's stub accesses memory as the CPU does, with its protection
 * unit, unless PhyMemMode is on ("QEMU User Documentation", GDB usage). Other stubs answer with an empty packet.
 */
static enum pb_error see_all_memory(struct pb_gdb *gdb)
{
	return ask_text(gdb, "Qqemu.PhyMemMode:1");
}

/* Finds out whether the stub accepts binary writes. Other stubs answer with an empty packet. */
static enum pb_error find_binary(struct pb_gdb *gdb)
{
	enum pb_error error = ask_text(gdb, "X0,0:");

	gdb->binary = error == PB_ERROR_OK && reply_is(gdb, "OK");
	return error;
}

enum pb_error pb_gdb_greet(struct pb_gdb *gdb, int socket, uint64_t patience_us)
{
	enum pb_error error;

	memset(gdb, 0, sizeof(*gdb));
	gdb->wire.socket = socket;
	gdb->wire.patience_us = patience_us;
	gdb->wire.acknowledge = true;
	error = agree(gdb);
	/* A stub halts the MCU when a client connects; '?' requests the stop reply. */
	if (error == PB_ERROR_OK)
		error = pb_gdb_send(&gdb->wire, "?", 1);
	if (error == PB_ERROR_OK)
		error = await_stop(gdb);
	if (error == PB_ERROR_OK)
		error = see_all_memory(gdb);
	return error == PB_ERROR_OK ? find_binary(gdb) : error;
}

void pb_gdb_leave(struct pb_gdb *gdb)
{
	if (pb_gdb_halt(gdb) == PB_ERROR_OK)
		(void)ask_text(gdb, "D");
	gdb->halted = false;
}

/* ---- the MCU ---- */

enum pb_error pb_gdb_halt(struct pb_gdb *gdb)
{
	enum pb_error error;

	if (gdb->halted)
		return PB_ERROR_OK;
	error = pb_gdb_send_break(&gdb->wire);
	return error == PB_ERROR_OK ? await_stop(gdb) : error;
}

enum pb_error pb_gdb_resume(struct pb_gdb *gdb)
{
	enum pb_error error;

	if (!gdb->halted)
		return PB_ERROR_OK;
	error = pb_gdb_send(&gdb->wire, "c", 1);
	if (error == PB_ERROR_OK)
		gdb->halted = false;
	return error;
}

/* ---- memory ---- */

/*
 * Returns how many bytes one packet carries as hex digits: whole words, so that the MCU's bus sees only word accesses.
 */
static uint32_t digits_most(const struct pb_gdb *gdb)
{
	return (gdb->packet_bytes - COMMAND_ROOM) / 2u & ~3u;
}

static char *put_command(char *at, char letter, uint32_t address, uint32_t bytes)
{
	*at++ = letter;
	at = put_hex(at, address);
	*at++ = ',';
	return put_hex(at, bytes);
}

/* Decodes the reply to a read. A shorter reply ends at the end of memory. */
static enum pb_error decode_digits(const struct pb_gdb *gdb, uint8_t *to, uint32_t bytes)
{
	const uint8_t *digits = gdb->wire.packet;

	if (digits[0] == 'E' && gdb->wire.packet_bytes == 3u)
		return PB_ERROR_BAD_RANGE;
	if (gdb->wire.packet_bytes != 2u * (size_t)bytes)
		return gdb->wire.packet_bytes < 2u * (size_t)bytes && gdb->wire.packet_bytes != 0
			       ? PB_ERROR_BAD_RANGE
			       : PB_ERROR_PROTOCOL;
	for (uint32_t i = 0; i < bytes; i++) {
		const int high = digit_value(digits[2u * i]);
		const int low = digit_value(digits[2u * i + 1u]);

		if (high < 0 || low < 0)
			return PB_ERROR_PROTOCOL;
		to[i] = (uint8_t)(high << 4 | low);
	}
	return PB_ERROR_OK;
}

enum pb_error pb_gdb_read(struct pb_gdb *gdb, uint32_t address, void *to, uint32_t bytes)
{
	uint8_t *at = to;
	enum pb_error error = PB_ERROR_OK;

	while (bytes != 0 && error == PB_ERROR_OK) {
		const uint32_t part = bytes < digits_most(gdb) ? bytes : digits_most(gdb);
		char command[COMMAND_ROOM];
		const char *end = put_command(command, 'm', address, part);

		error = pb_gdb_ask(gdb, command, (size_t)(end - command));
		if (error == PB_ERROR_OK)
			error = decode_digits(gdb, at, part);
		address += part;
		at += part;
		bytes -= part;
	}
	return error;
}

/* Appends data to a command. @return the end of the data */
static char *put_data(const struct pb_gdb *gdb, char *at, const uint8_t *from, uint32_t bytes)
{
	*at++ = ':';
	for (uint32_t i = 0; i < bytes; i++) {
		if (gdb->binary) {
			*at++ = (char)from[i];
			continue;
		}
		*at++ = "0123456789abcdef"[from[i] >> 4];
		*at++ = "0123456789abcdef"[from[i] & 0xfu];
	}
	return at;
}

enum pb_error pb_gdb_write(struct pb_gdb *gdb, uint32_t address, const void *from, uint32_t bytes)
{
	const uint8_t *at = from;
	enum pb_error error = PB_ERROR_OK;

	while (bytes != 0 && error == PB_ERROR_OK) {
		/* A binary byte may take two bytes, too: escapes. */
		const uint32_t part = bytes < digits_most(gdb) ? bytes : digits_most(gdb);
		char command[PB_GDB_PACKET_BYTES];
		char *end = put_command(command, gdb->binary ? 'X' : 'M', address, part);

		end = put_data(gdb, end, at, part);
		error = pb_gdb_ask(gdb, command, (size_t)(end - command));
		if (error == PB_ERROR_OK && !reply_is(gdb, "OK"))
			error = gdb->wire.packet[0] == 'E' ? PB_ERROR_BAD_RANGE : PB_ERROR_PROTOCOL;
		address += part;
		at += part;
		bytes -= part;
	}
	return error;
}
