/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/unit/host/gdb_stub.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define PACKET_BYTES 0x2000u

/* ---- bytes ---- */

/* @return -1: the host has closed */
static int next_byte(const struct gdb_stub *stub)
{
	uint8_t byte;

	return recv(stub->connection, &byte, 1, 0) == 1 ? byte : -1;
}

static void answer(struct gdb_stub *stub, const char *text)
{
	static _Thread_local char packet[2u * PACKET_BYTES];
	unsigned sum = 0;
	int length;

	for (const char *at = text; *at != '\0'; at++)
		sum += (unsigned char)*at;
	length = snprintf(packet, sizeof(packet), "$%s#%02x", text, sum & 0xffu);
	(void)send(stub->connection, packet, (size_t)length, MSG_NOSIGNAL);
}

/* Receives the contents of a packet, escapes taken out, behind its '$'. @return its length; -1: closed */
static int receive(struct gdb_stub *stub, char *contents)
{
	int length = 0;
	int byte;

	while ((byte = next_byte(stub)) != '#') {
		if (byte == '}')
			byte = next_byte(stub) ^ 0x20;
		if (byte < 0 || length == (int)PACKET_BYTES)
			return -1;
		contents[length++] = (char)byte;
	}
	contents[length] = '\0';
	return next_byte(stub) < 0 || next_byte(stub) < 0 ? -1 : length;
}

/* ---- packets ---- */

static uint8_t *find(const struct gdb_stub *stub, uint64_t address, uint64_t bytes)
{
	for (uint32_t i = 0; i < GDB_STUB_REGIONS; i++) {
		const struct gdb_stub_region *region = &stub->regions[i];

		if (region->memory != NULL && address >= region->address &&
		    address + bytes <= (uint64_t)region->address + region->bytes)
			return region->memory + (address - region->address);
	}
	return NULL;
}

static void read_memory(struct gdb_stub *stub, const char *contents)
{
	static const char hex[] = "0123456789abcdef";
	static _Thread_local char digits[2u * PACKET_BYTES];
	unsigned address, bytes;
	const uint8_t *from;

	if (sscanf(contents, "m%x,%x", &address, &bytes) != 2 || bytes > PACKET_BYTES / 2 ||
	    (from = find(stub, address, bytes)) == NULL) {
		answer(stub, "E14");
		return;
	}
	for (unsigned i = 0; i < bytes; i++) {
		digits[2u * i] = hex[from[i] >> 4];
		digits[2u * i + 1u] = hex[from[i] & 0xfu];
	}
	digits[2u * bytes] = '\0';
	answer(stub, digits);
}

static void write_memory(struct gdb_stub *stub, const char *contents, int length)
{
	const char *data = memchr(contents, ':', (size_t)length);
	unsigned address, bytes;
	uint8_t *to;

	if (data == NULL || sscanf(contents + 1, "%x,%x", &address, &bytes) != 2 ||
	    ((to = find(stub, address, bytes)) == NULL && bytes != 0)) {
		answer(stub, "E14");
		return;
	}
	stub->writes++;
	data++;
	for (unsigned i = 0; i < bytes; i++) {
		unsigned byte = (uint8_t)data[i];

		if (contents[0] == 'M')
			(void)sscanf(data + 2u * i, "%2x", &byte);
		to[i] = (uint8_t)byte;
	}
	answer(stub, "OK");
}

static void serve(struct gdb_stub *stub, const char *contents, int length)
{
	if (strcmp(contents, "qSupported") == 0) {
		answer(stub, stub->features);
	} else if (strcmp(contents, "?") == 0) {
		answer(stub, "T05");
	} else if (contents[0] == 'm') {
		read_memory(stub, contents);
	} else if (contents[0] == 'M' || (contents[0] == 'X' && stub->binary)) {
		write_memory(stub, contents, length);
	} else if (strcmp(contents, "D") == 0) {
		answer(stub, "OK");
		stub->left = true;
	} else if (strcmp(contents, "c") == 0) {
		stub->halted = false;
	} else {
		answer(stub, "");
	}
}

/* The MCU runs, a step at least, until there is a byte. */
static void run(struct gdb_stub *stub)
{
	struct pollfd poller = {.fd = stub->connection, .events = POLLIN};

	do {
		if (stub->run != NULL)
			stub->run(stub->context);
	} while (poll(&poller, 1, stub->run != NULL ? 0 : -1) == 0);
	/* Whatever it is, it is swallowed. */
	if (next_byte(stub) >= 0)
		answer(stub, "T02thread:01;");
	stub->halted = true;
}

static void *serve_all(void *argument)
{
	static _Thread_local char contents[PACKET_BYTES + 1u];
	struct gdb_stub *stub = argument;
	int byte = 0;

	stub->connection = accept(stub->listener, NULL, NULL);
	stub->halted = true;
	while (byte >= 0 && (stub->answers_most == 0 || stub->answers < stub->answers_most)) {
		int length;

		if (!stub->halted)
			run(stub);
		byte = next_byte(stub);
		if (byte != '$')
			continue;
		length = receive(stub, contents);
		if (length < 0)
			break;
		(void)send(stub->connection, "+", 1, MSG_NOSIGNAL);
		stub->answers++;
		serve(stub, contents, length);
	}
	close(stub->connection);
	return NULL;
}

void gdb_stub_start(struct gdb_stub *stub)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	strcpy(stub->folder, "/tmp/patchbay-stub-XXXXXX");
	assert_non_null(mkdtemp(stub->folder));
	(void)snprintf(stub->path, sizeof(stub->path), "%s/gdb", stub->folder);
	memcpy(address.sun_path, stub->path, strlen(stub->path) + 1);
	stub->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(stub->listener, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(stub->listener, 1), 0);
	if (stub->features == NULL)
		stub->features = "PacketSize=1000";
	assert_int_equal(pthread_create(&stub->thread, NULL, serve_all, stub), 0);
}

void gdb_stub_end(struct gdb_stub *stub)
{
	assert_int_equal(pthread_join(stub->thread, NULL), 0);
	close(stub->listener);
	(void)unlink(stub->path);
	(void)rmdir(stub->folder);
}
