/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "qemu/card_watch.h"

#include <stddef.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

bool pb_card_watch(int epoll, int fd, uint32_t events, enum pb_card_source source, uint32_t index)
{
	struct epoll_event event = {.events = events, .data = {.u64 = (uint64_t)source << 32 | index}};

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

bool pb_card_watch_change(int epoll, int fd, uint32_t events, enum pb_card_source source, uint32_t index)
{
	struct epoll_event event = {.events = events, .data = {.u64 = (uint64_t)source << 32 | index}};

	return epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event) == 0;
}

void pb_card_watch_end(int epoll, int fd)
{
	epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
}

int pb_card_accept(int listener)
{
	return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

void pb_card_refuse(int listener)
{
	for (int waiting = pb_card_accept(listener); waiting >= 0; waiting = pb_card_accept(listener))
		close(waiting);
}
