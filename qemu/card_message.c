/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "qemu/card_message.h"

#include <string.h>
#include <sys/socket.h>

bool pb_card_message(int socket, int64_t value, int fd)
{
	uint8_t bytes[sizeof(value)];
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.room = {0}};
	struct iovec part = {.iov_base = bytes, .iov_len = sizeof(bytes)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)((uint64_t)value >> (8u * i));
	if (fd >= 0) {
		control.header = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.room);
	}
	/* So few bytes go whole or not at all. */
	return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof(bytes);
}
