/* SPDX-License-Identifier: MIT */
/*
 * Whoever answers on the socket of a card: messages of the ivshmem server
 * protocol with any numbers and any descriptors, cut off anywhere. The link
 * refuses them or works, and no descriptor is left open.
 *
 * Aims at: host/link_socket.c
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/link_protocol.h"
#include "patchbay/patchbay.h"
#include "tests/fuzz/fuzz.h"

#define MESSAGES_MAX 64u

/** What the card has said, for the next one who connects. */
static int answer = -1;

/** Stands in for connect() in the link: the other end has spoken already. */
int fuzz_connect(int socket, const struct sockaddr *address, socklen_t length);
int fuzz_connect(int socket, const struct sockaddr *address, socklen_t length)
{
	(void)address;
	(void)length;
	FUZZ_CHECK(dup2(answer, socket) == socket);
	return 0;
}

static int memory_of(off_t bytes)
{
	const int descriptor = memfd_create("card", MFD_CLOEXEC);

	FUZZ_CHECK(descriptor >= 0 && ftruncate(descriptor, bytes) == 0);
	return descriptor;
}

/** One end of a pipe whose other end is gone. */
static int half_a_pipe(uint32_t end)
{
	int ends[2];

	FUZZ_CHECK(pipe2(ends, O_CLOEXEC) == 0);
	(void)close(ends[1u - end]);
	return ends[end];
}

/** A descriptor to go with a message; -1: none. */
static int descriptor(uint32_t kind)
{
	switch (kind % 16u) {
	case 0:
	case 1:
	case 2:
	case 3:
	case 4:
		return eventfd(0, EFD_CLOEXEC);
	case 5:
	case 6:
		return memory_of(4096);
	case 7:
		return memory_of(0x10000);
	case 8:
		return memory_of(4095);
	case 9:
		return memory_of(0);
	case 10:
		return half_a_pipe(kind / 16u % 2u);
	case 11:
		return open("/dev/null", O_RDWR | O_CLOEXEC);
	case 12:
		return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	case 13: {
		const int sealed = memory_of(4096);
		const int read_only = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

		(void)close(sealed);
		return read_only;
	}
	default:
		return -1;
	}
}

static void send_message(int socket, int64_t value, int with, size_t bytes)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	uint8_t data[8];
	struct iovec part = {.iov_base = data, .iov_len = bytes};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	for (uint32_t i = 0; i < 8; i++)
		data[i] = (uint8_t)((uint64_t)value >> 8u * i);
	if (with >= 0) {
		memset(&control, 0, sizeof(control));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &with, sizeof(int));
		message.msg_control = &control;
		message.msg_controllen = CMSG_LEN(sizeof(int));
	}
	(void)sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (with >= 0)
		(void)close(with);
}

/** The greeting as it should be, up to the vectors, unless the case says otherwise. */
static void greet(int socket, struct fuzz_input *input)
{
	const uint32_t channel = 1u + fuzz_below(input, PB_SOCKET_CLIENTS);

	send_message(socket, PB_SOCKET_VERSION, -1, 8);
	send_message(socket, channel, -1, 8);
	send_message(socket, PB_SOCKET_MEMORY, memory_of(0x10000), 8);
	for (uint32_t v = 0; v <= channel; v++)
		send_message(socket, PB_SOCKET_CARD, eventfd(0, EFD_CLOEXEC), 8);
	if (fuzz_below(input, 2) == 0)
		send_message(socket, channel, eventfd(0, EFD_CLOEXEC), 8);
}

static int64_t number(struct fuzz_input *input)
{
	const uint32_t kind = fuzz_byte(input);

	if (kind < 0xc0)
		return kind % 12u;
	if (kind < 0xe0)
		return -(int64_t)(kind % 3u);
	return (int64_t)((uint64_t)fuzz_number(input) << 32 | fuzz_number(input));
}

static void speak(struct fuzz_input *input)
{
	int ends[2];

	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	answer = ends[0];
	if (fuzz_below(input, 2) == 0)
		greet(ends[1], input);
	for (uint32_t i = 0; i < MESSAGES_MAX && fuzz_more(input); i++) {
		const uint32_t kind = fuzz_byte(input);
		const int64_t value = number(input);

		send_message(ends[1], value, descriptor(kind), kind < 0xf0 ? 8 : 1u + kind % 8u);
	}
	(void)close(ends[1]);
}

/** A link that was made is one that can be used. */
static void use(struct pb_link *link)
{
	struct pb_card_info info;

	FUZZ_CHECK(link->channel >= 1u && link->channel <= PB_SOCKET_CLIENTS && link->memory_bytes >= 4096u);
	link->memory[0] = 1;
	link->memory[link->memory_bytes - 1u] = 1;
	(void)pb_card_read(link, &info);
	link->ops->doorbell(link);
	for (uint32_t i = 0; i < 4; i++)
		(void)link->ops->wait(link, 0);
	FUZZ_CHECK(link->ops->wait(link, 0) == PB_ERROR_NO_CARD);
	link->ops->close(link);
}

/** The lowest number that is free: the same before and after, or something was left open. */
static int free_descriptor(void)
{
	const int lowest = dup(STDERR_FILENO);

	(void)close(lowest);
	return lowest;
}

void fuzz_one(struct fuzz_input *input)
{
	const int before = free_descriptor();
	struct pb_link *link;

	speak(input);
	if (pb_link_open_socket("/card", &link) == PB_ERROR_OK)
		use(link);
	else
		FUZZ_CHECK(link == NULL);
	(void)close(answer);
	FUZZ_CHECK(free_descriptor() == before);
}
