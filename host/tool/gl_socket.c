/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/gl_socket.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

bool pb_gl_await_shortly(int socket, unsigned microseconds)
{
	struct pollfd poller = {.fd = socket, .events = POLLIN};
	const struct timespec timeout = {.tv_nsec = (long)microseconds * 1000};

	return ppoll(&poller, 1, &timeout, NULL) > 0;
}

bool pb_gl_await(int socket)
{
	uint8_t byte;
	ssize_t got;

	do {
		got = recv(socket, &byte, 1, MSG_PEEK);
	} while (got < 0 && errno == EINTR);
	return got > 0;
}

bool pb_gl_read_all(int socket, void *to, size_t bytes)
{
	uint8_t *at = to;

	while (bytes != 0) {
		const ssize_t got = recv(socket, at, bytes, MSG_WAITALL);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		bytes -= (size_t)got;
	}
	return true;
}

bool pb_gl_write_all(int socket, const void *from, size_t bytes)
{
	const uint8_t *at = from;

	while (bytes != 0) {
		const ssize_t sent = send(socket, at, bytes, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		at += sent;
		bytes -= (size_t)sent;
	}
	return true;
}

bool pb_gl_send_file(int socket, int file)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.room = {0}};
	uint8_t byte = 0;
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	ssize_t sent;

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &file, sizeof(int));
	do {
		sent = sendmsg(socket, &message, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent == 1;
}
