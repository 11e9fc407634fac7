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
#include "host/link_protocol.h"
#include "host/link_system.h"
#include "patchbay/abi/channel.h"
#include "patchbay/link.h"

/* Time for the whole handshake, in microseconds. */
#define HANDSHAKE_US 10000000u
/* Messages accepted in a handshake: nine peers of nine vectors, and hosts that connect and disconnect meanwhile. */
#define HANDSHAKE_MESSAGES 1024u
/* Smallest card memory accepted, in bytes: it must hold the boot block. */
#define MEMORY_BYTES_MIN 4096
/* Messages read in one wait, so that a flood of messages cannot delay its return. */
#define MESSAGES_IN_ONE_WAIT 128u

struct link_socket {
	struct pb_link link; /* first: what callers hold */
	int socket;
	int doorbell;  /* eventfd of the card's vector for this host's channel; -1 until known */
	int interrupt; /* eventfd of this host's vector 0; -1 until known */
	bool gone;     /* the card has disconnected; atomic: several threads may wait */
};

struct message {
	int64_t value;
	int fd; /* -1: none */
};

/* Closes a descriptor, if it is open. */
static void drop(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* ---- messages ---- */

/* Receives up to `bytes` and at most one descriptor. The kernel drops a second one, because the buffer has no room. */
static ssize_t receive_some(int socket, void *to, size_t bytes, int *fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = {.iov_base = to, .iov_len = bytes};
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_LEN(sizeof(int)),
	};
	ssize_t got = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *header = got < 0 ? NULL : CMSG_FIRSTHDR(&message);

	if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(sizeof(int))) {
		drop(fd);
		memcpy(fd, CMSG_DATA(header), sizeof(int));
	}
	return got;
}

static int64_t little_endian(const uint8_t *bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < sizeof(value); i++)
		value |= (uint64_t)bytes[i] << (8u * i);
	return (int64_t)value;
}

/* Sleeps until the socket is readable. @retval PB_ERROR_NO_CARD the deadline has passed */
static enum pb_error await_socket(int socket, uint64_t deadline)
{
	struct pollfd poller = {.fd = socket, .events = POLLIN};
	uint64_t now = pb_clock_us();
	int got;

	if (now >= deadline)
		return PB_ERROR_NO_CARD;
	got = poll(&poller, 1, (int)((deadline - now) / 1000u) + 1);
	return got < 0 && errno != EINTR ? PB_ERROR_SYSTEM : PB_ERROR_OK;
}

/*
 * Receives one message. The caller owns its descriptor.
 * @param deadline 0: do not wait
 * @retval PB_ERROR_TIMEOUT no message is there (deadline 0 only)
 * @retval PB_ERROR_NO_CARD the card closed the connection, or the deadline has passed
 */
static enum pb_error receive(int socket, uint64_t deadline, struct message *message)
{
	uint8_t bytes[sizeof(int64_t)];
	size_t have = 0;
	enum pb_error error = PB_ERROR_OK;

	message->fd = -1;
	while (have < sizeof(bytes) && error == PB_ERROR_OK) {
		ssize_t got = receive_some(socket, bytes + have, sizeof(bytes) - have, &message->fd);

		if (got > 0)
			have += (size_t)got;
		else if (got < 0 && errno == EINTR)
			continue;
		else if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK))
			error = PB_ERROR_NO_CARD;
		else if (deadline == 0)
			/* A partial message means that the sender is no card. */
			error = have == 0 ? PB_ERROR_TIMEOUT : PB_ERROR_NO_CARD;
		else
			error = await_socket(socket, deadline);
	}
	if (error != PB_ERROR_OK)
		drop(&message->fd);
	else
		message->value = little_endian(bytes);
	return error;
}

/* ---- handshake ---- */

/* Receives a message that must carry no descriptor, and a value in [low, high]. */
static enum pb_error expect_number(int socket, uint64_t deadline, int64_t low, int64_t high, int64_t *value)
{
	struct message message;
	enum pb_error error = receive(socket, deadline, &message);

	if (error != PB_ERROR_OK)
		return error;
	if (message.fd >= 0 || message.value < low || message.value > high)
		error = PB_ERROR_PROTOCOL;
	drop(&message.fd);
	*value = message.value;
	return error;
}

static enum pb_error map_memory(struct pb_link *link, int fd)
{
	struct stat status;
	void *memory;

	if (fstat(fd, &status) != 0)
		return PB_ERROR_SYSTEM;
	if (!S_ISREG(status.st_mode) || status.st_size < MEMORY_BYTES_MIN || status.st_size > UINT32_MAX)
		return PB_ERROR_PROTOCOL;
	memory = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return errno == EACCES ? PB_ERROR_PROTOCOL : PB_ERROR_SYSTEM;
	link->memory = memory;
	link->memory_bytes = (uint32_t)status.st_size;
	return PB_ERROR_OK;
}

static enum pb_error expect_memory(struct link_socket *card, uint64_t deadline)
{
	struct message message;
	enum pb_error error = receive(card->socket, deadline, &message);

	if (error != PB_ERROR_OK)
		return error;
	if (message.value != PB_SOCKET_MEMORY || message.fd < 0)
		error = PB_ERROR_PROTOCOL;
	else
		error = map_memory(&card->link, message.fd);
	drop(&message.fd);
	return error;
}

/* Takes over an eventfd and sets it non-blocking. */
static enum pb_error keep(int *kept, struct message *message)
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
		struct message message;
		enum pb_error error = receive(card->socket, deadline, &message);

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
		drop(&message.fd);
		if (error != PB_ERROR_OK)
			return error;
	}
	return card->interrupt >= 0 && card->doorbell >= 0 ? PB_ERROR_OK : PB_ERROR_PROTOCOL;
}

static enum pb_error shake_hands(struct link_socket *card)
{
	uint64_t deadline = pb_clock_us() + HANDSHAKE_US;
	int64_t value;
	enum pb_error error;

	error = expect_number(card->socket, deadline, PB_SOCKET_VERSION, PB_SOCKET_VERSION, &value);
	if (error == PB_ERROR_OK)
		error = expect_number(card->socket, deadline, 1, PB_SOCKET_CLIENTS, &value);
	if (error != PB_ERROR_OK)
		return error;
	card->link.channel = (uint32_t)value;
	error = expect_memory(card, deadline);
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
		struct message message;
		enum pb_error error = receive(card->socket, 0, &message);
		bool card_left = error == PB_ERROR_OK && message.fd < 0 && message.value == PB_SOCKET_CARD;

		drop(&message.fd);
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

	if (link->memory != NULL)
		munmap(link->memory, link->memory_bytes);
	drop(&card->doorbell);
	drop(&card->interrupt);
	drop(&card->socket);
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
	*link = &card->link;
	return PB_ERROR_OK;
}
