/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "qemu/card_update.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "qemu/card_watch.h"

/** An administrator that sends nothing for so long is left, so that the next one is served. */
#define SILENCE_US 10000000u

bool pb_card_update_start(struct pb_card_update *update, struct pb_card_loader *loader, int listener,
			  int epoll)
{
	update->loader = loader;
	update->epoll = epoll;
	update->listener = listener;
	update->socket = -1;
	update->got = 0;
	return listener < 0 || pb_card_watch(epoll, listener, EPOLLIN, PB_CARD_WATCH_ADMIN, 0);
}

static void leave(struct pb_card_update *update)
{
	close(update->socket);
	update->socket = -1;
	update->got = 0;
	/* The next one may wait already. */
	(void)pb_card_watch(update->epoll, update->listener, EPOLLIN, PB_CARD_WATCH_ADMIN, 0);
}

void pb_card_update_stop(struct pb_card_update *update)
{
	if (update->listener >= 0 && update->socket >= 0)
		leave(update);
}

/** Answers a request. @return false: the administrator does not read */
static bool answer(const struct pb_card_update *update, enum pb_update_error error, uint32_t slot)
{
	const struct pb_card_loader *loader = update->loader;
	struct pb_admin_answer answer = {.magic = PB_ADMIN_MAGIC,
					 .error = error,
					 .slot = slot,
					 .starts = loader->starts,
					 .running = loader->running,
					 .up = loader->up,
					 .confirmed = loader->confirmed,
					 .reasons = {loader->reasons[0], loader->reasons[1]}};

	(void)loader->model.fuses.ops->counter(loader->model.fuses.context, &answer.counter);
	return send(update->socket, &answer, sizeof(answer), MSG_DONTWAIT | MSG_NOSIGNAL) ==
	       (ssize_t)sizeof(answer);
}

static enum pb_update_error write_slot(struct pb_card_update *update, uint32_t *slot)
{
	const struct pb_card_loader *loader = update->loader;

	if (*slot >= PB_SLOTS)
		*slot = pb_update_free_slot(&loader->updater, loader->running);
	return pb_update_write(&loader->updater, update->file, update->request.bytes, *slot, loader->running);
}

/** Carries out a request that has come whole. @return whether the MCU is to be started again */
static bool carry_out(struct pb_card_update *update)
{
	const uint32_t operation = update->request.operation;
	enum pb_update_error error = PB_UPDATE_DONE;
	uint32_t slot = update->request.slot;

	update->got = 0;
	if (operation == PB_ADMIN_WRITE)
		error = write_slot(update, &slot);
	if (!answer(update, error, slot))
		leave(update);
	return operation == PB_ADMIN_RESTART;
}

/** Returns whether a request's head is one. */
static bool is_request(const struct pb_admin_request *request)
{
	if (request->magic != PB_ADMIN_MAGIC)
		return false;
	switch (request->operation) {
	case PB_ADMIN_STATUS:
	case PB_ADMIN_RESTART:
		return request->bytes == 0;
	case PB_ADMIN_WRITE:
		return request->bytes <= PB_CARD_SLOT_BYTES;
	default:
		return false;
	}
}

/** Receives what there is of a request. @return false: the connection has ended, or is no administrator's */
static bool receive(struct pb_card_update *update, uint64_t now)
{
	const uint32_t head = sizeof(update->request);
	uint8_t *to = update->got < head ? (uint8_t *)&update->request + update->got
					 : (uint8_t *)update->file + (update->got - head);
	const uint32_t wanted =
		update->got < head ? head - update->got : head + update->request.bytes - update->got;
	ssize_t got = recv(update->socket, to, wanted, MSG_DONTWAIT);

	if (got <= 0)
		return got < 0 && (errno == EAGAIN || errno == EINTR);
	update->got += (uint32_t)got;
	update->heard_us = now;
	return update->got < head || is_request(&update->request);
}

static void take_in(struct pb_card_update *update, uint64_t now)
{
	update->socket = pb_card_accept(update->listener);
	if (update->socket < 0)
		return;
	update->heard_us = now;
	pb_card_watch_end(update->epoll, update->listener);
	if (!pb_card_watch(update->epoll, update->socket, EPOLLIN, PB_CARD_WATCH_ADMIN, 0))
		leave(update);
}

bool pb_card_update_handle(struct pb_card_update *update, uint64_t now)
{
	if (update->socket < 0) {
		take_in(update, now);
		return false;
	}
	if (!receive(update, now)) {
		leave(update);
		return false;
	}
	return update->got >= sizeof(update->request) &&
	       update->got == sizeof(update->request) + update->request.bytes && carry_out(update);
}

void pb_card_update_turn(struct pb_card_update *update, uint64_t now)
{
	if (update->socket >= 0 && now - update->heard_us >= SILENCE_US)
		leave(update);
}
