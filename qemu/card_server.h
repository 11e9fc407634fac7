/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The card's hosts: accepts them, and tells each of the card's vectors and its
 * own (host/link_protocol.h), never of those of other hosts. Never blocks.
 */
#ifndef PB_QEMU_CARD_SERVER_H
#define PB_QEMU_CARD_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "host/link_protocol.h"

enum pb_card_peer_state {
	PB_CARD_PEER_FREE = 0,
	PB_CARD_PEER_HERE = 1,
	PB_CARD_PEER_GONE = 2, /**< not given again before pb_card_server_free */
};

/** The card, or one host. */
struct pb_card_peer {
	enum pb_card_peer_state state;
	int socket; /**< -1: none */
	int vectors[PB_SOCKET_VECTORS];
	uint8_t request[8];     /**< of the host: what has come of it */
	uint32_t request_bytes; /**< of that */
};

/** What the server calls. */
struct pb_card_server_ops {
	/** A host has left. */
	void (*gone)(void *context, uint32_t channel);
	/** A host asks for a weight, which is 1 to PB_WEIGHT_MAX. */
	void (*weigh)(void *context, uint32_t channel, uint32_t weight);
};

/** The caller's; only the functions below touch it. */
struct pb_card_server {
	int listener;
	int epoll;
	int memory_file;
	const struct pb_card_server_ops *ops;
	void *context;
	bool full; /**< not accepting until a peer is freed */
	struct pb_card_peer peers[PB_SOCKET_PEERS];
};

/**
 * Starts to serve. The descriptors stay the caller's.
 * @param ops called with `context`
 */
bool pb_card_server_start(struct pb_card_server *server, int listener, int epoll, int memory_file,
			  const struct pb_card_server_ops *ops, void *context);
/** Leaves all hosts. */
void pb_card_server_stop(struct pb_card_server *server);
/** PB_CARD_WATCH_ACCEPT: takes in hosts that wait; refuses them while the card is full. */
void pb_card_server_accept(struct pb_card_server *server);
/** PB_CARD_WATCH_HOST: reads a host's requests, and finds out whether it has left. */
void pb_card_server_host(struct pb_card_server *server, uint32_t channel);
/** PB_CARD_WATCH_DOORBELL: @return whether the channel's doorbell has been rung since the last call */
bool pb_card_server_doorbell(struct pb_card_server *server, uint32_t channel);
/** Interrupts a host, if it is there. */
void pb_card_server_interrupt(const struct pb_card_server *server, uint32_t channel);
/** Interrupts every host that is there: something has happened to the card. */
void pb_card_server_interrupt_all(const struct pb_card_server *server);
/** Ends the connections of hosts, which then count as gone. @param channels mask */
void pb_card_server_end(struct pb_card_server *server, uint32_t channels);
/** Lets a channel whose host has gone be given again. */
void pb_card_server_free(struct pb_card_server *server, uint32_t channel);
/** Returns whether no host is connected and all that former hosts left has been cleared. */
bool pb_card_server_empty(const struct pb_card_server *server);

#endif
