/* SPDX-License-Identifier: MIT */
/* A link to the emulated card over its Unix socket. Everything received is checked before use. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "hal/shared.h"
#include "host/link_message.h"
#include "host/link_protocol.h"
#include "host/link_system.h"
#include "host/link_trace.h"
#include "patchbay/abi/channel.h"
#include "patchbay/link.h"

/* Messages accepted in a handshake: nine peers of nine vectors, and hosts that connect and disconnect meanwhile. */
#define HANDSHAKE_MESSAGES 1024u
/* Messages read in one wait, so that a flood of messages cannot delay its return. */
#define MESSAGES_IN_ONE_WAIT 128u

struct link_socket {
	struct pb_link link; /* first: what callers hold */
	int socket;
	int doorbell;  /* eventfd of the card's vector for this host's channel; -1 until known */
	int interrupt; /* eventfd of this host's vector 0; -1 until known */
	bool gone;     /* the card has disconnected; atomic: several threads may wait */
};

/* ---- handshake ---- */

/* Takes over an eventfd and sets it non-blocking. */
static enum pb_error keep(int *kept, struct pb_message *message)
{
	int flags = fcntl(message->fd, F_GETFL);
	struct stat status;

	/* An eventfd has no file type. Writing to a closed pipe or socket would kill this process with a signal. */
	if (fstat(message->fd, &status) != 0)
		return PB_ERROR_SYSTEM;
	if ((status.st_mode & S_IFMT) != 0)
		return PB_ERROR_PROTOCOL;
	if (flags < 0 || fcntl(message->fd, F_SETFL, flags | O_NONBLOCK) != 0)
		return PB_ERROR_SYSTEM;
	*kept = message->fd;
	message->fd = -1;
	return PB_ERROR_OK;
}

/* Receives vectors until this host has its doorbell and its interrupt. The host's own vectors come last. */
static enum pb_error expect_vectors(struct link_socket *card, uint64_t deadline)
{
	uint32_t card_vectors = 0;

	for (uint32_t i = 0; i < HANDSHAKE_MESSAGES && card->interrupt < 0; i++) {
		struct pb_message message;
		enum pb_error error = pb_message_receive(card->socket, deadline, &message);

		if (error != PB_ERROR_OK)
			return error;
		if (message.value < 0 || message.value > PB_SOCKET_PEER_MAX)
			error = PB_ERROR_PROTOCOL;
		else if (message.fd < 0)
			error = message.value == PB_SOCKET_CARD ? PB_ERROR_NO_CARD : PB_ERROR_OK;
		else if (message.value == PB_SOCKET_CARD && card_vectors++ == card->link.channel)
			error = keep(&card->doorbell, &message);
		else if (message.value == card->link.channel)
			error = keep(&card->interrupt, &message);
		pb_message_drop(&message.fd);
		if (error != PB_ERROR_OK)
			return error;
	}
	return card->interrupt >= 0 && card->doorbell >= 0 ? PB_ERROR_OK : PB_ERROR_PROTOCOL;
}

static enum pb_error shake_hands(struct link_socket *card)
{
	uint64_t deadline = pb_clock_us() + PB_HANDSHAKE_US;
	int64_t value;
	enum pb_error error;

	error = pb_message_greeting(card->socket, deadline);
	if (error == PB_ERROR_OK)
		error = pb_message_number(card->socket, deadline, 1, PB_SOCKET_CLIENTS, &value);
	if (error != PB_ERROR_OK)
		return error;
	card->link.channel = (uint32_t)value;
	error = pb_message_memory(card->socket, deadline, PROT_READ | PROT_WRITE, &card->link);
	return error == PB_ERROR_OK ? expect_vectors(card, deadline) : error;
}

/* ---- operations ---- */

static void doorbell(struct pb_link *link)
{
	const struct link_socket *card = (struct link_socket *)link;
	const uint64_t one = 1;
	ssize_t written;

	pb_shared_barrier();
	do {
		written = write(card->doorbell, &one, sizeof(one));
	} while (written < 0 && errno == EINTR);
	/* EAGAIN: the counter is at its maximum, so that the doorbell is already rung. */
}

/* Reads messages about other hosts. @return false: the card has disconnected */
static bool socket_alive(const struct link_socket *card)
{
	for (uint32_t i = 0; i < MESSAGES_IN_ONE_WAIT; i++) {
		struct pb_message message;
		enum pb_error error = pb_message_receive(card->socket, 0, &message);
		bool card_left = error == PB_ERROR_OK && message.fd < 0 && message.value == PB_SOCKET_CARD;

		pb_message_drop(&message.fd);
		if (error == PB_ERROR_TIMEOUT)
			return true;
		if (error != PB_ERROR_OK || card_left)
			return false;
	}
	return true;
}

static enum pb_error wait_interrupt(struct pb_link *link, uint64_t timeout_us)
{
	struct link_socket *card = (struct link_socket *)link;
	struct pollfd pollers[2] = {{.fd = card->interrupt, .events = POLLIN},
				    {.fd = card->socket, .events = POLLIN}};
	const struct timespec timeout = {.tv_sec = (time_t)(timeout_us / 1000000u),
					 .tv_nsec = (long)(timeout_us % 1000000u) * 1000};
	uint64_t rings;
	int got;

	if (__atomic_load_n(&card->gone, __ATOMIC_RELAXED))
		return PB_ERROR_NO_CARD;
	got = ppoll(pollers, 2, &timeout, NULL);
	if (got == 0)
		return PB_ERROR_TIMEOUT;
	if (got < 0)
		return errno == EINTR ? PB_ERROR_OK : PB_ERROR_NO_CARD;
	if (pollers[1].revents != 0 && !socket_alive(card))
		__atomic_store_n(&card->gone, true, __ATOMIC_RELAXED);
	if (pollers[0].revents != 0 && read(card->interrupt, &rings, sizeof(rings)) == sizeof(rings))
		return PB_ERROR_OK;
	return __atomic_load_n(&card->gone, __ATOMIC_RELAXED) ? PB_ERROR_NO_CARD : PB_ERROR_OK;
}

static uint64_t now(struct pb_link *link)
{
	(void)link;
	return pb_clock_us();
}

static void close_link(struct pb_link *link)
{
	struct link_socket *card = (struct link_socket *)link;

	pb_link_trace_end(link);
	if (link->memory != NULL)
		munmap(link->memory, link->memory_bytes);
	pb_message_drop(&card->doorbell);
	pb_message_drop(&card->interrupt);
	pb_message_drop(&card->socket);
	free(card);
}

static const struct pb_link_ops socket_ops = {
	.doorbell = doorbell,
	.wait = wait_interrupt,
	.now = now,
	.close = close_link,
};

enum pb_error pb_link_ask_weight(struct pb_link *link, uint32_t weight)
{
	const struct link_socket *card = (const struct link_socket *)link;
	const uint64_t request = (uint64_t)PB_SOCKET_WEIGHT << 32 | weight;
	uint8_t bytes[sizeof(request)];
	ssize_t sent;

	if (link->ops != &socket_ops)
		return PB_ERROR_UNSUPPORTED;
	if (weight - 1u >= PB_WEIGHT_MAX)
		return PB_ERROR_BAD_ARGUMENT;
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(request >> (8u * i));
	do {
		sent = send(card->socket, bytes, sizeof(bytes), MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)sizeof(bytes) ? PB_ERROR_OK : PB_ERROR_NO_CARD;
}

enum pb_error pb_link_open_socket(const char *path, struct pb_link **link)
{
	struct link_socket *card = calloc(1, sizeof(*card));
	enum pb_error error;

	*link = NULL;
	if (card == NULL)
		return PB_ERROR_HOST_MEMORY;
	*card = (struct link_socket){
		.link = {.ops = &socket_ops}, .socket = -1, .doorbell = -1, .interrupt = -1};
	error = pb_connect_unix(path, &card->socket);
	if (error == PB_ERROR_OK)
		error = shake_hands(card);
	if (error != PB_ERROR_OK) {
		int reason = errno;

		close_link(&card->link);
		errno = reason;
		return error;
	}
	pb_link_trace_begin(&card->link);
	*link = &card->link;
	return PB_ERROR_OK;
}
