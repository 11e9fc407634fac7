/* SPDX-License-Identifier: MIT */
/* Messages of an emulated card's sockets, and card memory that comes with one. */
#define _GNU_SOURCE
#include "host/link_message.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/link_protocol.h"
#include "host/link_system.h"

/* Smallest card memory accepted, in bytes: it must hold the boot block. */
#define MEMORY_BYTES_MIN 4096

void pb_message_drop(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

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
		pb_message_drop(fd);
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

enum pb_error pb_message_receive(int socket, uint64_t deadline, struct pb_message *message)
{
	uint8_t bytes[sizeof(int64_t)];
	size_t have = 0;
	enum pb_error error = PB_ERROR_OK;

	*message = (struct pb_message){.fd = -1};
	while (have < sizeof(bytes) && error == PB_ERROR_OK) {
		ssize_t got = receive_some(socket, bytes + have, sizeof(bytes) - have, &message->fd);

		message->closed = got == 0 && have == 0;
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
		pb_message_drop(&message->fd);
	else
		message->value = little_endian(bytes);
	return error;
}

/* Returns whether a message carries no descriptor, and a value in [low, high]. Closes a descriptor. */
static bool is_number(struct pb_message *message, int64_t low, int64_t high)
{
	const bool is = message->fd < 0 && message->value >= low && message->value <= high;

	pb_message_drop(&message->fd);
	return is;
}

enum pb_error pb_message_greeting(int socket, uint64_t deadline)
{
	struct pb_message message;
	enum pb_error error = pb_message_receive(socket, deadline, &message);

	if (error != PB_ERROR_OK)
		return message.closed ? PB_ERROR_CARD_FULL : error;
	return is_number(&message, PB_SOCKET_VERSION, PB_SOCKET_VERSION) ? PB_ERROR_OK : PB_ERROR_PROTOCOL;
}

enum pb_error pb_message_number(int socket, uint64_t deadline, int64_t low, int64_t high, int64_t *value)
{
	struct pb_message message;
	enum pb_error error = pb_message_receive(socket, deadline, &message);

	if (error != PB_ERROR_OK)
		return error;
	*value = message.value;
	return is_number(&message, low, high) ? PB_ERROR_OK : PB_ERROR_PROTOCOL;
}

static enum pb_error map_memory(struct pb_link *link, int protection, int fd)
{
	struct stat status;
	void *memory;

	if (fstat(fd, &status) != 0)
		return PB_ERROR_SYSTEM;
	if (!S_ISREG(status.st_mode) || status.st_size < MEMORY_BYTES_MIN || status.st_size > UINT32_MAX)
		return PB_ERROR_PROTOCOL;
	memory = mmap(NULL, (size_t)status.st_size, protection, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return errno == EACCES ? PB_ERROR_PROTOCOL : PB_ERROR_SYSTEM;
	link->memory = memory;
	link->memory_bytes = (uint32_t)status.st_size;
	return PB_ERROR_OK;
}

enum pb_error pb_message_memory(int socket, uint64_t deadline, int protection, struct pb_link *link)
{
	struct pb_message message;
	enum pb_error error = pb_message_receive(socket, deadline, &message);

	if (error != PB_ERROR_OK)
		return error;
	if (message.value != PB_SOCKET_MEMORY || message.fd < 0)
		error = PB_ERROR_PROTOCOL;
	else
		error = map_memory(link, protection, message.fd);
	pb_message_drop(&message.fd);
	return error;
}
