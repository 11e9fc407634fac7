/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/link_gdb_packet.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "host/link_system.h"

#define BREAK  0x03u
#define ESCAPE 0x20u /* an escaped byte is sent XORed with this */
/* A run length n is sent as the printable character n + RUN_ZERO. */
#define RUN_ZERO 29
#define RUN_MIN  3
#define RUN_MAX  97
/* Bytes outside packets that are skipped before a packet counts as missing. */
#define NOISE_MOST 65536u

/* ---- bytes ---- */

static enum pb_error await(const struct pb_gdb_wire *wire, short events, uint64_t deadline)
{
	struct pollfd poller = {.fd = wire->socket, .events = events};
	const uint64_t now = pb_clock_us();
	int got;

	if (now >= deadline)
		return PB_ERROR_TIMEOUT;
	got = poll(&poller, 1, (int)((deadline - now) / 1000u) + 1);
	return got < 0 && errno != EINTR ? PB_ERROR_NO_CARD : PB_ERROR_OK;
}

static bool would_block(int error)
{
	return error == EAGAIN || error == EWOULDBLOCK;
}

static enum pb_error send_bytes(struct pb_gdb_wire *wire, const uint8_t *bytes, size_t count)
{
	const uint64_t deadline = pb_clock_us() + wire->patience_us;
	enum pb_error error = PB_ERROR_OK;

	while (count != 0 && error == PB_ERROR_OK) {
		const ssize_t sent = send(wire->socket, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent >= 0) {
			bytes += sent;
			count -= (size_t)sent;
		} else if (would_block(errno)) {
			error = await(wire, POLLOUT, deadline);
		} else if (errno != EINTR) {
			error = PB_ERROR_NO_CARD;
		}
	}
	return error;
}

static enum pb_error fill_input(struct pb_gdb_wire *wire, uint64_t deadline)
{
	for (;;) {
		const ssize_t got = recv(wire->socket, wire->input, sizeof(wire->input), MSG_DONTWAIT);
		enum pb_error error;

		if (got > 0) {
			wire->input_at = 0;
			wire->input_bytes = (size_t)got;
			return PB_ERROR_OK;
		}
		if (got == 0 || (!would_block(errno) && errno != EINTR))
			return PB_ERROR_NO_CARD;
		error = await(wire, POLLIN, deadline);
		if (error != PB_ERROR_OK)
			return error;
	}
}

static enum pb_error next_byte(struct pb_gdb_wire *wire, uint64_t deadline, uint8_t *byte)
{
	enum pb_error error = PB_ERROR_OK;

	if (wire->input_bytes == 0)
		error = fill_input(wire, deadline);
	if (error != PB_ERROR_OK)
		return error;
	*byte = wire->input[wire->input_at++];
	wire->input_bytes--;
	return PB_ERROR_OK;
}

/* Puts the last byte back into the input. */
static void unread(struct pb_gdb_wire *wire)
{
	wire->input_at--;
	wire->input_bytes++;
}

/* ---- sending ---- */

static uint8_t hex_digit(uint32_t value)
{
	return (uint8_t) "0123456789abcdef"[value & 0xfu];
}

/* Frames a packet: escapes, checksum. @return its length */
static size_t frame(uint8_t *output, const uint8_t *contents, size_t bytes)
{
	uint8_t *at = output;
	uint32_t sum = 0;

	*at++ = '$';
	for (size_t i = 0; i < bytes; i++) {
		uint8_t byte = contents[i];

		if (byte == '#' || byte == '$' || byte == '}' || byte == '*') {
			*at++ = '}';
			sum += '}';
			byte ^= ESCAPE;
		}
		*at++ = byte;
		sum += byte;
	}
	*at++ = '#';
	*at++ = hex_digit(sum >> 4);
	*at++ = hex_digit(sum);
	return (size_t)(at - output);
}

/* Waits for an acknowledgement. @param accepted out: false: the packet must be sent again */
static enum pb_error await_acknowledgement(struct pb_gdb_wire *wire, bool *accepted)
{
	const uint64_t deadline = pb_clock_us() + wire->patience_us;

	for (uint32_t i = 0; i < NOISE_MOST; i++) {
		uint8_t byte;
		enum pb_error error = next_byte(wire, deadline, &byte);

		if (error != PB_ERROR_OK)
			return error;
		*accepted = byte != '-';
		if (byte == '+' || byte == '-')
			return PB_ERROR_OK;
		if (byte == '$') {
			/* The answer itself: the acknowledgement was lost. */
			unread(wire);
			return PB_ERROR_OK;
		}
	}
	return PB_ERROR_PROTOCOL;
}

enum pb_error pb_gdb_send(struct pb_gdb_wire *wire, const void *contents, size_t bytes)
{
	const size_t length = frame(wire->output, contents, bytes);

	for (uint32_t i = 0; i < PB_GDB_TRIES; i++) {
		bool accepted = true;
		enum pb_error error = send_bytes(wire, wire->output, length);

		if (error == PB_ERROR_OK && wire->acknowledge)
			error = await_acknowledgement(wire, &accepted);
		if (error != PB_ERROR_OK || accepted)
			return error;
	}
	return PB_ERROR_PROTOCOL;
}

enum pb_error pb_gdb_send_break(struct pb_gdb_wire *wire)
{
	const uint8_t byte = BREAK;

	return send_bytes(wire, &byte, 1);
}

/* ---- receiving ---- */

static enum pb_error find_start(struct pb_gdb_wire *wire, uint64_t deadline)
{
	for (uint32_t i = 0; i < NOISE_MOST; i++) {
		uint8_t byte;
		enum pb_error error = next_byte(wire, deadline, &byte);

		if (error != PB_ERROR_OK || byte == '$')
			return error;
	}
	return PB_ERROR_PROTOCOL;
}

static bool put(struct pb_gdb_wire *wire, uint8_t byte, uint32_t times)
{
	if (times > PB_GDB_PACKET_BYTES - wire->packet_bytes)
		return false;
	memset(wire->packet + wire->packet_bytes, byte, times);
	wire->packet_bytes += times;
	return true;
}

/* Processes one byte of the contents, and the next one after an escape or a run. */
static enum pb_error receive_content(struct pb_gdb_wire *wire, uint64_t deadline, uint8_t byte, uint32_t *sum)
{
	const bool run = byte == '*';
	uint8_t second;
	enum pb_error error;

	*sum += byte;
	if (byte != '}' && !run)
		return put(wire, byte, 1) ? PB_ERROR_OK : PB_ERROR_PROTOCOL;
	error = next_byte(wire, deadline, &second);
	if (error != PB_ERROR_OK)
		return error;
	*sum += second;
	if (!run)
		return put(wire, second ^ ESCAPE, 1) ? PB_ERROR_OK : PB_ERROR_PROTOCOL;
	if (wire->packet_bytes == 0 || second < RUN_ZERO + RUN_MIN || second > RUN_ZERO + RUN_MAX)
		return PB_ERROR_PROTOCOL;
	return put(wire, wire->packet[wire->packet_bytes - 1], second - RUN_ZERO) ? PB_ERROR_OK
										  : PB_ERROR_PROTOCOL;
}

static enum pb_error receive_sum(struct pb_gdb_wire *wire, uint64_t deadline, uint32_t sum, bool *intact)
{
	const uint8_t expected[2] = {hex_digit(sum >> 4), hex_digit(sum)};
	uint8_t found[2];
	enum pb_error error = next_byte(wire, deadline, &found[0]);

	if (error == PB_ERROR_OK)
		error = next_byte(wire, deadline, &found[1]);
	if (error != PB_ERROR_OK)
		return error;
	for (uint32_t i = 0; i < 2; i++) {
		if (found[i] >= 'A' && found[i] <= 'F')
			found[i] = (uint8_t)(found[i] + ('a' - 'A'));
	}
	*intact = memcmp(found, expected, sizeof(found)) == 0;
	return PB_ERROR_OK;
}

static enum pb_error receive_once(struct pb_gdb_wire *wire, uint64_t deadline, bool *intact)
{
	uint32_t sum = 0;
	uint8_t byte = 0;
	enum pb_error error = find_start(wire, deadline);

	wire->packet_bytes = 0;
	while (error == PB_ERROR_OK) {
		error = next_byte(wire, deadline, &byte);
		if (error != PB_ERROR_OK || byte == '#')
			break;
		if (byte == '$') {
			/* The previous packet was cut off. */
			wire->packet_bytes = 0;
			sum = 0;
			continue;
		}
		error = receive_content(wire, deadline, byte, &sum);
	}
	if (error == PB_ERROR_OK)
		error = receive_sum(wire, deadline, sum, intact);
	wire->packet[wire->packet_bytes] = '\0';
	return error;
}

enum pb_error pb_gdb_receive(struct pb_gdb_wire *wire)
{
	const uint64_t deadline = pb_clock_us() + wire->patience_us;

	for (uint32_t i = 0; i < PB_GDB_TRIES; i++) {
		bool intact = false;
		enum pb_error error = receive_once(wire, deadline, &intact);

		if (error == PB_ERROR_OK && wire->acknowledge)
			error = send_bytes(wire, (const uint8_t *)(intact ? "+" : "-"), 1);
		if (error != PB_ERROR_OK || intact)
			return error;
		if (!wire->acknowledge)
			break;
	}
	return PB_ERROR_PROTOCOL;
}
