/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "qemu/card_observers.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "hal/shared.h"
#include "patchbay/abi/boot.h"
#include "patchbay/abi/trace.h"
#include "qemu/card_message.h"
#include "qemu/card_watch.h"
#include "qemu/mcu/layout.h"

/* ---- places ---- */

static bool is_here(const struct pb_card_observer *observer)
{
	return observer->state == PB_CARD_OBSERVER_IDLE || observer->state == PB_CARD_OBSERVER_ASKS ||
	       observer->state == PB_CARD_OBSERVER_ASKED;
}

/* Reads from an observer only while it may ask: its further questions wait in its socket. Its end shows in any case. */
static bool listen_to(const struct pb_card_observers *observers, uint32_t index)
{
	const struct pb_card_observer *observer = &observers->places[index];
	const uint32_t events = observer->state == PB_CARD_OBSERVER_IDLE ? EPOLLIN : 0;

	return pb_card_watch_change(observers->epoll, observer->socket, events, PB_CARD_WATCH_OBSERVER,
				    index);
}

/* Finds another observer that has set trace levels. @return NULL: there is none */
static const struct pb_card_observer *other_tracer(const struct pb_card_observers *observers,
						   const struct pb_card_observer *but)
{
	for (uint32_t i = 0; i < PB_SOCKET_OBSERVERS_MOST; i++) {
		const struct pb_card_observer *one = &observers->places[i];

		if (one != but && one->traces && is_here(one))
			return one;
	}
	return NULL;
}

static uint64_t nanoseconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Begins to set trace levels back: to those of another observer that traces, else to those from before. */
static void set_back(struct pb_card_observers *observers, struct pb_card_observer *observer)
{
	const struct pb_card_observer *other = other_tracer(observers, observer);
	const uint64_t now = nanoseconds_now();

	observer->traces = false;
	observer->question =
		(struct pb_command){.code = PB_COMMAND_TRACE,
				    .arguments = {other != NULL ? other->levels : observers->levels,
						  (uint32_t)now, (uint32_t)(now >> 32)}};
	observer->state = PB_CARD_OBSERVER_RESTORES;
}

/* What follows when an observer has left and the firmware has none of its questions. */
static void end_place(struct pb_card_observers *observers, struct pb_card_observer *observer)
{
	if (observer->traces)
		set_back(observers, observer);
	else
		observer->state = PB_CARD_OBSERVER_FREE;
}

static void dismiss(struct pb_card_observers *observers, struct pb_card_observer *observer)
{
	const bool asked = observer->state == PB_CARD_OBSERVER_ASKED;

	close(observer->socket);
	observer->socket = -1;
	observer->state = PB_CARD_OBSERVER_LEFT;
	if (!asked)
		end_place(observers, observer);
}

/* ---- questions ---- */

/* An observer changes nothing but the levels of the trace. */
static bool may_ask(uint32_t code)
{
	return code == PB_COMMAND_QUERY || code == PB_COMMAND_TRACE || code == PB_COMMAND_PING;
}

/* Sends a reply. One that cannot be sent, because its observer reads nothing, ends the connection. */
static void reply_to(struct pb_card_observers *observers, uint32_t index, const struct pb_reply *reply)
{
	struct pb_card_observer *observer = &observers->places[index];

	observer->state = PB_CARD_OBSERVER_IDLE;
	observer->bytes = 0;
	if (send(observer->socket, reply, sizeof(*reply), MSG_DONTWAIT | MSG_NOSIGNAL) !=
		    (ssize_t)sizeof(*reply) ||
	    !listen_to(observers, index))
		dismiss(observers, observer);
}

static void refuse(struct pb_card_observers *observers, uint32_t index, enum pb_error error)
{
	const struct pb_command *question = &observers->places[index].question;
	const struct pb_reply reply = {.code = question->code, .tag = question->tag, .error = error};

	reply_to(observers, index, &reply);
}

/* Returns the trace levels that the firmware has now; 0 if it has no trace. */
static uint32_t present_levels(const uint8_t *memory)
{
	const struct pb_boot_block *boot = (const void *)(memory + PB_BOOT_OFFSET);
	const uint32_t offset = pb_shared_read32(&boot->trace_offset);
	const struct pb_trace_ring *ring;

	if (offset == 0 || offset % sizeof(uint32_t) != 0 || offset > PB_CARD_MEMORY_BYTES - sizeof(*ring))
		return 0;
	ring = (const void *)(memory + offset);
	return pb_shared_read32(&ring->levels);
}

/* Notes levels that an observer is about to set. */
static void note_levels(struct pb_card_observers *observers, struct pb_card_observer *observer)
{
	if (!observer->traces && other_tracer(observers, observer) == NULL)
		observers->levels = present_levels(observers->admin->config.memory);
	observer->traces = true;
	observer->levels = observer->question.arguments[0];
}

/* Asks the firmware, or leaves the question waiting. */
static void ask(struct pb_card_observers *observers, uint32_t index)
{
	struct pb_card_observer *observer = &observers->places[index];
	const bool here = is_here(observer);
	enum pb_error error;

	if (here && observer->question.code == PB_COMMAND_TRACE)
		note_levels(observers, observer);
	error = pb_card_admin_ask(observers->admin, index, observer->question.code,
				  observer->question.arguments);
	if (error == PB_ERROR_OK)
		observer->state = here ? PB_CARD_OBSERVER_ASKED : PB_CARD_OBSERVER_LEFT;
	else if (error != PB_ERROR_BUSY && here)
		refuse(observers, index, error);
	else if (error != PB_ERROR_BUSY)
		observer->state = PB_CARD_OBSERVER_FREE;
}

/* A question has come whole. */
static void begin(struct pb_card_observers *observers, uint32_t index)
{
	struct pb_card_observer *observer = &observers->places[index];

	if (!may_ask(observer->question.code)) {
		refuse(observers, index, PB_ERROR_NO_PERMISSION);
		return;
	}
	observer->state = PB_CARD_OBSERVER_ASKS;
	if (listen_to(observers, index))
		ask(observers, index);
	else
		dismiss(observers, observer);
}

/* ---- for the card ---- */

bool pb_card_observers_start(struct pb_card_observers *observers, int listener, int epoll, int memory_file,
			     struct pb_card_admin *admin)
{
	*observers = (struct pb_card_observers){
		.listener = listener, .epoll = epoll, .memory_file = memory_file, .admin = admin};
	return memory_file >= 0 && pb_card_watch(epoll, listener, EPOLLIN, PB_CARD_WATCH_OBSERVERS, 0);
}

void pb_card_observers_stop(struct pb_card_observers *observers)
{
	for (uint32_t i = 0; i < PB_SOCKET_OBSERVERS_MOST; i++) {
		if (is_here(&observers->places[i]))
			close(observers->places[i].socket);
		observers->places[i].state = PB_CARD_OBSERVER_FREE;
	}
}

static bool greet(const struct pb_card_observers *observers, int socket, uint32_t index)
{
	return pb_card_watch(observers->epoll, socket, EPOLLIN, PB_CARD_WATCH_OBSERVER, index) &&
	       pb_card_message(socket, PB_SOCKET_VERSION, -1) &&
	       pb_card_message(socket, PB_SOCKET_MEMORY, observers->memory_file);
}

void pb_card_observers_accept(struct pb_card_observers *observers)
{
	for (int socket = pb_card_accept(observers->listener); socket >= 0;
	     socket = pb_card_accept(observers->listener)) {
		uint32_t i = 0;

		while (i < PB_SOCKET_OBSERVERS_MOST && observers->places[i].state != PB_CARD_OBSERVER_FREE)
			i++;
		if (i == PB_SOCKET_OBSERVERS_MOST || !greet(observers, socket, i))
			close(socket);
		else
			observers->places[i] =
				(struct pb_card_observer){.state = PB_CARD_OBSERVER_IDLE, .socket = socket};
	}
}

void pb_card_observers_read(struct pb_card_observers *observers, uint32_t index)
{
	struct pb_card_observer *observer = &observers->places[index];
	uint8_t *const to = (uint8_t *)&observer->question;
	ssize_t got;

	/* One whose place was given up in this pass of the loop. */
	if (!is_here(observer))
		return;
	/* It was not to be read from: its connection has ended. */
	if (observer->state != PB_CARD_OBSERVER_IDLE) {
		dismiss(observers, observer);
		return;
	}
	got = recv(observer->socket, to + observer->bytes, sizeof(observer->question) - observer->bytes,
		   MSG_DONTWAIT);
	if (got > 0)
		observer->bytes += (uint32_t)got;
	else if (got == 0 || (errno != EAGAIN && errno != EINTR))
		dismiss(observers, observer);
	if (observer->bytes == sizeof(observer->question) && observer->state == PB_CARD_OBSERVER_IDLE)
		begin(observers, index);
}

/* The firmware is gone, and its trace levels with it: answers every question. */
static void give_up(struct pb_card_observers *observers)
{
	for (uint32_t i = 0; i < PB_SOCKET_OBSERVERS_MOST; i++) {
		struct pb_card_observer *observer = &observers->places[i];

		observer->traces = false;
		if (observer->state == PB_CARD_OBSERVER_ASKED || observer->state == PB_CARD_OBSERVER_ASKS)
			refuse(observers, i, PB_ERROR_FIRMWARE_DEAD);
		else if (!is_here(observer))
			observer->state = PB_CARD_OBSERVER_FREE;
	}
}

static void pass_on(struct pb_card_observers *observers)
{
	for (uint32_t i = 0; i < PB_SOCKET_OBSERVERS_MOST; i++) {
		const enum pb_card_observer_state state = observers->places[i].state;

		if (state == PB_CARD_OBSERVER_ASKS || state == PB_CARD_OBSERVER_RESTORES)
			ask(observers, i);
	}
}

void pb_card_observers_poll(struct pb_card_observers *observers)
{
	const enum pb_card_admin_state state = observers->admin->state;

	if (state == PB_CARD_ADMIN_OFF || state == PB_CARD_ADMIN_LOST)
		give_up(observers);
	else
		pass_on(observers);
}

void pb_card_observers_answer(struct pb_card_observers *observers, uint32_t index,
			      const struct pb_reply *reply)
{
	struct pb_card_observer *observer = &observers->places[index];
	struct pb_reply own = *reply;

	if (observer->state == PB_CARD_OBSERVER_LEFT) {
		end_place(observers, observer);
	} else if (observer->state == PB_CARD_OBSERVER_ASKED) {
		own.tag = observer->question.tag;
		reply_to(observers, index, &own);
	}
}
