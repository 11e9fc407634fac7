/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "qemu/card_server.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "patchbay/abi/channel.h"
#include "qemu/card_message.h"
#include "qemu/card_say.h"
#include "qemu/card_watch.h"

/* The rest of what a host has sent is read when the loop comes by again. */
#define REQUESTS_AT_ONCE 8u

static bool send_vectors(const struct pb_card_server *server, int socket, uint32_t peer)
{
	bool sent = true;

	for (uint32_t v = 0; v < PB_SOCKET_VECTORS && sent; v++)
		sent = pb_card_message(socket, peer, server->peers[peer].vectors[v]);
	return sent;
}

/* Sends a host all that it is ever told. A connection that is new has room for it. */
static bool greet(const struct pb_card_server *server, uint32_t channel)
{
	const int socket = server->peers[channel].socket;

	return pb_card_message(socket, PB_SOCKET_VERSION, -1) && pb_card_message(socket, channel, -1) &&
	       pb_card_message(socket, PB_SOCKET_MEMORY, server->memory_file) &&
	       send_vectors(server, socket, PB_SOCKET_CARD) && send_vectors(server, socket, channel);
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
static bool make_peer(struct pb_card_peer *peer, int socket)
{
	bool made = true;

	for (uint32_t v = 0; v < PB_SOCKET_VECTORS; v++) {
		peer->vectors[v] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		made = made && peer->vectors[v] >= 0;
	}
	if (!made) {
		close_vectors(peer);
		return false;
	}
	peer->socket = socket;
	peer->state = PB_CARD_PEER_HERE;
	peer->request_bytes = 0;
	return true;
}

static void dismiss(struct pb_card_peer *peer)
{
	close_vectors(peer);
	if (peer->socket >= 0)
		close(peer->socket);
	peer->socket = -1;
	peer->state = PB_CARD_PEER_GONE;
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
			  const struct pb_card_server_ops *ops, void *context)
{
	struct pb_card_peer *card = &server->peers[PB_SOCKET_CARD];
	bool watched;

	memset(server, 0, sizeof(*server));
	server->listener = listener;
	server->epoll = epoll;
	server->memory_file = memory_file;
	server->ops = ops;
	server->context = context;
	for (uint32_t p = 0; p < PB_SOCKET_PEERS; p++) {
		server->peers[p].socket = -1;
		memset(server->peers[p].vectors, 0xff, sizeof(server->peers[p].vectors));
	}
	watched = make_peer(card, -1) && pb_card_watch(epoll, listener, EPOLLIN, PB_CARD_WATCH_ACCEPT, 0);
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

/* Carries out a request that has come whole; skips one that there is not. */
static void carry_out(const struct pb_card_server *server, uint32_t channel)
{
	const uint8_t *bytes = server->peers[channel].request;
	uint32_t words[2] = {0, 0};

	for (uint32_t i = 0; i < sizeof(words); i++)
		words[i / 4u] |= (uint32_t)bytes[i] << (i % 4u * 8u);
	if (words[1] == PB_SOCKET_WEIGHT && words[0] - 1u < PB_WEIGHT_MAX)
		server->ops->weigh(server->context, channel, words[0]);
}

/* Reads a few requests of a host. @return false: it has left */
static bool read_requests(struct pb_card_server *server, uint32_t channel)
{
	struct pb_card_peer *host = &server->peers[channel];

	for (uint32_t i = 0; i < REQUESTS_AT_ONCE; i++) {
		const ssize_t got = recv(host->socket, host->request + host->request_bytes,
					 sizeof(host->request) - host->request_bytes, MSG_DONTWAIT);

		if (got <= 0)
			return got < 0 && (errno == EAGAIN || errno == EINTR);
		host->request_bytes += (uint32_t)got;
		if (host->request_bytes == sizeof(host->request)) {
			host->request_bytes = 0;
			carry_out(server, channel);
		}
	}
	return true;
}

void pb_card_server_host(struct pb_card_server *server, uint32_t channel)
{
	struct pb_card_peer *host = &server->peers[channel];

	if (host->state != PB_CARD_PEER_HERE || read_requests(server, channel))
		return;
	dismiss(host);
	server->ops->gone(server->context, channel);
}

/* @return a channel for a new host; PB_SOCKET_PEERS: none is free */
static uint32_t find_room(struct pb_card_server *server)
{
	uint32_t channel = find_peer(server, PB_CARD_PEER_FREE);

	/* A host may have left before this one came, although its end is handled only later in this pass of the loop. */
	for (uint32_t c = 1; c < PB_SOCKET_PEERS && channel == PB_SOCKET_PEERS; c++)
		pb_card_server_host(server, c);
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
	if (channel == PB_SOCKET_PEERS || !make_peer(&server->peers[channel], socket)) {
		close(socket);
	} else if (!pb_card_watch(server->epoll, socket, EPOLLIN, PB_CARD_WATCH_HOST, channel) ||
		   !greet(server, channel)) {
		/* One that has left at once is no failure. */
		if (errno != EPIPE && errno != ECONNRESET)
			pb_card_say("cannot greet the host of channel %u: %s", (unsigned)channel,
				    strerror(errno));
		dismiss(&server->peers[channel]);
		server->ops->gone(server->context, channel);
	}
	return true;
}

void pb_card_server_accept(struct pb_card_server *server)
{
	while (accept_one(server))
		continue;
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
