/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/unit/qemu/raw_host.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/unit.h"

int raw_connect(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int host = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	if (connect(host, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return host;
	close(host);
	return -1;
}

bool raw_receive(int socket, struct raw_message *message)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	uint8_t bytes[8];
	struct iovec part = {.iov_base = bytes, .iov_len = sizeof(bytes)};
	struct msghdr head = {.msg_iov = &part,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control)};
	struct pollfd poller = {.fd = socket, .events = POLLIN};
	uint64_t value = 0;

	if (poll(&poller, 1, UNIT_PATIENCE_US / 1000) <= 0)
		return false;
	if (recvmsg(socket, &head, MSG_WAITALL | MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(bytes))
		return false;
	for (unsigned i = 0; i < sizeof(bytes); i++)
		value |= (uint64_t)bytes[i] << (8u * i);
	message->value = (int64_t)value;
	message->fd = -1;
	if (CMSG_FIRSTHDR(&head) != NULL)
		memcpy(&message->fd, CMSG_DATA(CMSG_FIRSTHDR(&head)), sizeof(int));
	return true;
}

bool raw_has_news(int socket)
{
	struct pollfd poller = {.fd = socket, .events = POLLIN};

	return poll(&poller, 1, 0) > 0;
}
