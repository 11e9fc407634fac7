/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "qemu/card_server.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "qemu/card_watch.h"

enum outcome {
	SENT,
	HELD_UP, /**< the host has not read the messages before */
	BROKEN,
};

/* ---- messages ---- */

static enum outcome send_message(int socket, int64_t value, int fd)
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
	if (sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof(bytes))
		return SENT;
	return errno == EAGAIN || errno == EINTR ? HELD_UP : BROKEN;
}

/* Version, id, memory. */
static enum outcome greet(struct pb_card_server *server, uint32_t channel)
{
	struct pb_card_peer *host = &server->peers[channel];
	const struct {
		int64_t value;
		int fd;
	} greetings[] = {{PB_SOCKET_VERSION, -1}, {channel, -1}, {PB_SOCKET_MEMORY, server->memory_file}};

	while (host->greeting < sizeof(greetings) / sizeof(greetings[0])) {
		enum outcome outcome = send_message(host->socket, greetings[host->greeting].value,
						    greetings[host->greeting].fd);

		if (outcome != SENT)
			return outcome;
		host->greeting++;
	}
	return SENT;
}

/* Brings what a host knows of one peer up to date. */
static enum outcome announce(struct pb_card_server *server, uint32_t channel, uint32_t about)
{
	struct pb_card_peer *host = &server->peers[channel];
	const struct pb_card_peer *peer = &server->peers[about];
	enum outcome outcome = SENT;

	if (host->announced[about].vectors != 0 && host->announced[about].serial != peer->serial) {
		outcome = send_message(host->socket, about, -1);
		if (outcome != SENT)
			return outcome;
		host->announced[about].vectors = 0;
	}
	host->announced[about].serial = peer->serial;
	while (peer->serial != 0 && host->announced[about].vectors < PB_SOCKET_VECTORS) {
		outcome = send_message(host->socket, about, peer->vectors[host->announced[about].vectors]);
		if (outcome != SENT)
			return outcome;
		host->announced[about].vectors++;
	}
	return outcome;
}

/* Sends a host all that is new to it: the card and other hosts first, its own vectors last. */
static enum outcome tell_all(struct pb_card_server *server, uint32_t channel)
{
	enum outcome outcome = greet(server, channel);

	for (uint32_t about = 0; about < PB_SOCKET_PEERS && outcome == SENT; about++) {
		if (about != channel)
			outcome = announce(server, channel, about);
	}
	return outcome == SENT ? announce(server, channel, channel) : outcome;
}

/* ---- peers ---- */

static void close_vectors(struct pb_card_peer *peer)
{
	for (uint32_t v = 0; v < PB_SOCKET_VECTORS; v++) {
		if (peer->vectors[v] >= 0)
			close(peer->vectors[v]);
		peer->vectors[v] = -1;
	}
}

/* Makes a peer that is here. New vectors: those of a former host are not to be trusted. */
static bool make_peer(struct pb_card_server *server, struct pb_card_peer *peer, int socket)
{
	bool made = true;

	memset(peer->announced, 0, sizeof(peer->announced));
	peer->greeting = 0;
	peer->held_up = false;
	for (uint32_t v = 0; v < PB_SOCKET_VECTORS; v++) {
		peer->vectors[v] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		made = made && peer->vectors[v] >= 0;
	}
	if (!made) {
		close_vectors(peer);
		return false;
	}
	peer->socket = socket;
	peer->serial = ++server->serials;
	peer->state = PB_CARD_PEER_HERE;
	return true;
}

static void dismiss(struct pb_card_peer *peer)
{
	close_vectors(peer);
	if (peer->socket >= 0)
		close(peer->socket);
	peer->socket = -1;
	peer->serial = 0;
	peer->state = PB_CARD_PEER_GONE;
}

static void watch_for_room(struct pb_card_server *server, uint32_t channel, bool held_up)
{
	struct pb_card_peer *host = &server->peers[channel];

	if (host->held_up != held_up)
		pb_card_watch_change(server->epoll, host->socket, held_up ? EPOLLIN | EPOLLOUT : EPOLLIN,
				     PB_CARD_WATCH_HOST, channel);
	host->held_up = held_up;
}

/* Sends every host its news, again whenever that finds another host gone. */
static void spread(struct pb_card_server *server)
{
	uint32_t gone = 0;
	bool again = true;

	while (again) {
		again = false;
		for (uint32_t c = 1; c < PB_SOCKET_PEERS; c++) {
			enum outcome outcome;

			if (server->peers[c].state != PB_CARD_PEER_HERE)
				continue;
			outcome = tell_all(server, c);
			if (outcome != BROKEN) {
				watch_for_room(server, c, outcome == HELD_UP);
				continue;
			}
			dismiss(&server->peers[c]);
			gone |= 1u << c;
			again = true;
		}
	}
	for (uint32_t c = 1; c < PB_SOCKET_PEERS; c++) {
		if ((gone & 1u << c) != 0)
			server->gone(server->context, c);
	}
}

static uint32_t find_peer(const struct pb_card_server *server, enum pb_card_peer_state state)
{
	uint32_t c = 1;

	while (c < PB_SOCKET_PEERS && server->peers[c].state != state)
		c++;
	return c;
}

/* ---- for the card ---- */

bool pb_card_server_start(struct pb_card_server *server, int listener, int epoll, int memory_file,
			  void (*gone)(void *context, uint32_t channel), void *context)
{
	struct pb_card_peer *card = &server->peers[PB_SOCKET_CARD];
	bool watched;

	memset(server, 0, sizeof(*server));
	server->listener = listener;
	server->epoll = epoll;
	server->memory_file = memory_file;
	server->gone = gone;
	server->context = context;
	for (uint32_t p = 0; p < PB_SOCKET_PEERS; p++) {
		server->peers[p].socket = -1;
		memset(server->peers[p].vectors, 0xff, sizeof(server->peers[p].vectors));
	}
	watched = make_peer(server, card, -1) &&
		  pb_card_watch(epoll, listener, EPOLLIN, PB_CARD_WATCH_ACCEPT, 0);
	for (uint32_t v = 0; v < PB_SOCKET_VECTORS && watched; v++)
		watched = pb_card_watch(epoll, card->vectors[v], EPOLLIN, PB_CARD_WATCH_DOORBELL, v);
	return watched;
}

void pb_card_server_stop(struct pb_card_server *server)
{
	for (uint32_t p = 0; p < PB_SOCKET_PEERS; p++)
		dismiss(&server->peers[p]);
}

void pb_card_server_end(struct pb_card_server *server, uint32_t channels)
{
	for (uint32_t c = 1; c < PB_SOCKET_PEERS; c++) {
		if ((channels & 1u << c) != 0 && server->peers[c].state == PB_CARD_PEER_HERE)
			shutdown(server->peers[c].socket, SHUT_RDWR);
	}
}

/* Finds out whether a host has left. */
static void look_at(struct pb_card_server *server, uint32_t channel)
{
	struct pb_card_peer *host = &server->peers[channel];
	uint8_t ignored[64];
	ssize_t got;

	if (host->state != PB_CARD_PEER_HERE)
		return;
	got = recv(host->socket, ignored, sizeof(ignored), MSG_DONTWAIT);
	if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	dismiss(host);
	server->gone(server->context, channel);
}

/* @return a channel for a new host; PB_SOCKET_PEERS: none is free */
static uint32_t find_room(struct pb_card_server *server)
{
	uint32_t channel = find_peer(server, PB_CARD_PEER_FREE);

	/* A host may have left before this one came, although its end is handled only later in this pass of the loop. */
	for (uint32_t c = 1; c < PB_SOCKET_PEERS && channel == PB_SOCKET_PEERS; c++)
		look_at(server, c);
	return channel != PB_SOCKET_PEERS ? channel : find_peer(server, PB_CARD_PEER_FREE);
}

static bool accept_one(struct pb_card_server *server)
{
	uint32_t channel = find_room(server);
	int socket;

	/* A host that has left makes room soon: let the new one wait for that. */
	if (channel == PB_SOCKET_PEERS && find_peer(server, PB_CARD_PEER_GONE) != PB_SOCKET_PEERS) {
		server->full = true;
		pb_card_watch_end(server->epoll, server->listener);
		return false;
	}
	socket = accept4(server->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (socket < 0)
		return false;
	if (channel == PB_SOCKET_PEERS || !make_peer(server, &server->peers[channel], socket)) {
		close(socket);
	} else if (!pb_card_watch(server->epoll, socket, EPOLLIN, PB_CARD_WATCH_HOST, channel)) {
		dismiss(&server->peers[channel]);
		server->peers[channel].state = PB_CARD_PEER_FREE;
	}
	return true;
}

void pb_card_server_accept(struct pb_card_server *server)
{
	while (accept_one(server))
		spread(server);
	spread(server);
}

void pb_card_server_host(struct pb_card_server *server, uint32_t channel)
{
	look_at(server, channel);
	spread(server);
}

bool pb_card_server_doorbell(struct pb_card_server *server, uint32_t channel)
{
	uint64_t rings;

	return read(server->peers[PB_SOCKET_CARD].vectors[channel], &rings, sizeof(rings)) ==
	       (ssize_t)sizeof(rings);
}

void pb_card_server_interrupt(const struct pb_card_server *server, uint32_t channel)
{
	const uint64_t one = 1;

	/* Full is as good as rung. */
	if (channel < PB_SOCKET_PEERS && server->peers[channel].state == PB_CARD_PEER_HERE &&
	    write(server->peers[channel].vectors[0], &one, sizeof(one)) < 0)
		return;
}

void pb_card_server_interrupt_all(const struct pb_card_server *server)
{
	for (uint32_t c = 1; c < PB_SOCKET_PEERS; c++)
		pb_card_server_interrupt(server, c);
}

void pb_card_server_free(struct pb_card_server *server, uint32_t channel)
{
	if (server->peers[channel].state == PB_CARD_PEER_GONE)
		server->peers[channel].state = PB_CARD_PEER_FREE;
	if (server->full && pb_card_watch(server->epoll, server->listener, EPOLLIN, PB_CARD_WATCH_ACCEPT, 0))
		server->full = false;
}

bool pb_card_server_empty(const struct pb_card_server *server)
{
	uint32_t c = 1;

	while (c < PB_SOCKET_PEERS && server->peers[c].state == PB_CARD_PEER_FREE)
		c++;
	return c == PB_SOCKET_PEERS;
}
