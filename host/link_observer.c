/* SPDX-License-Identifier: MIT */
/*
 * A link of an observer to the emulated card: card memory, mapped read-only, and questions to the card's supervisor.
 * Everything received is checked before use. Wire structs are little-endian; hosts of the emulated card are, too.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "host/link_message.h"
#include "host/link_protocol.h"
#include "host/link_system.h"
#include "patchbay/abi/channel.h"
#include "patchbay/link.h"

struct link_observer {
	struct pb_link link; /* first: what callers hold */
	int socket;
	uint8_t reply[sizeof(struct pb_reply)]; /* what has come of the next one */
	uint32_t reply_bytes;                   /* of that */
	bool gone;                              /* the card has disconnected */
};

static struct link_observer *observer_of(struct pb_link *link)
{
	return (struct link_observer *)(void *)link;
}

static enum pb_error leave(struct link_observer *card)
{
	card->gone = true;
	return PB_ERROR_NO_CARD;
}

/* An observer has no doorbell. */
static void doorbell(struct pb_link *link)
{
	(void)link;
}

static enum pb_error ask(struct pb_link *link, const struct pb_command *question)
{
	struct link_observer *card = observer_of(link);
	ssize_t sent;

	do {
		sent = send(card->socket, question, sizeof(*question), MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)sizeof(*question) ? PB_ERROR_OK : leave(card);
}

static enum pb_error answer(struct pb_link *link, struct pb_reply *reply)
{
	struct link_observer *card = observer_of(link);

	while (card->reply_bytes < sizeof(card->reply)) {
		const ssize_t got = recv(card->socket, card->reply + card->reply_bytes,
					 sizeof(card->reply) - card->reply_bytes, MSG_DONTWAIT);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return PB_ERROR_NO_SPACE;
		if (got <= 0)
			return leave(card);
		card->reply_bytes += (uint32_t)got;
	}
	memcpy(reply, card->reply, sizeof(*reply));
	card->reply_bytes = 0;
	return PB_ERROR_OK;
}

/* Returns whether the card has left, by the end of the socket behind all replies that were not read yet. */
static bool has_left(const struct link_observer *card)
{
	char byte;
	const ssize_t got = recv(card->socket, &byte, sizeof(byte), MSG_DONTWAIT | MSG_PEEK);

	return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

/* A reply ends a wait. The card sends no interrupt to a host without a channel. */
static enum pb_error wait_reply(struct pb_link *link, uint64_t timeout_us)
{
	struct link_observer *card = observer_of(link);
	struct pollfd poller = {.fd = card->socket, .events = POLLIN};
	const struct timespec timeout = {.tv_sec = (time_t)(timeout_us / 1000000u),
					 .tv_nsec = (long)(timeout_us % 1000000u) * 1000};
	int got;

	if (card->gone)
		return PB_ERROR_NO_CARD;
	got = ppoll(&poller, 1, &timeout, NULL);
	if (got == 0)
		return PB_ERROR_TIMEOUT;
	return got > 0 && has_left(card) ? leave(card) : PB_ERROR_OK;
}

static uint64_t now(struct pb_link *link)
{
	(void)link;
	return pb_clock_us();
}

static void close_link(struct pb_link *link)
{
	struct link_observer *card = observer_of(link);

	if (link->memory != NULL)
		munmap(link->memory, link->memory_bytes);
	pb_message_drop(&card->socket);
	free(card);
}

static const struct pb_link_ops observer_ops = {
	.doorbell = doorbell,
	.wait = wait_reply,
	.now = now,
	.close = close_link,
	.ask = ask,
	.answer = answer,
};

static enum pb_error connect_card(struct link_observer *card, const char *path)
{
	const uint64_t deadline = pb_clock_us() + PB_HANDSHAKE_US;
	char observers[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	const int length = snprintf(observers, sizeof(observers), "%s%s", path, PB_SOCKET_OBSERVERS);
	enum pb_error error;

	if (length < 0 || (size_t)length >= sizeof(observers)) {
		errno = ENAMETOOLONG;
		return PB_ERROR_SYSTEM;
	}
	error = pb_connect_unix(observers, &card->socket);
	if (error == PB_ERROR_OK)
		error = pb_message_greeting(card->socket, deadline);
	return error == PB_ERROR_OK ? pb_message_memory(card->socket, deadline, PROT_READ, &card->link)
				    : error;
}

enum pb_error pb_link_open_observer(const char *path, struct pb_link **link)
{
	struct link_observer *card = calloc(1, sizeof(*card));
	enum pb_error error;

	*link = NULL;
	if (card == NULL)
		return PB_ERROR_HOST_MEMORY;
	*card = (struct link_observer){.link = {.ops = &observer_ops, .channel = PB_CHANNEL_ADMIN},
				       .socket = -1};
	error = connect_card(card, path);
	if (error != PB_ERROR_OK) {
		const int reason = errno;

		close_link(&card->link);
		errno = reason;
		return error;
	}
	*link = &card->link;
	return PB_ERROR_OK;
}
