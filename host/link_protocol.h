/* SPDX-License-Identifier: MIT */
/**
 * @file
 * How hosts reach the emulated card over its Unix socket: the protocol of
 * QEMU's ivshmem server, so that an ivshmem-doorbell device of a virtual
 * machine (vectors=9) is a host like any native process.
 *
 * Every message of the card is a 64-bit little-endian number, at times with one
 * file descriptor (SCM_RIGHTS). A host sends nothing.
 *
 *   0                     version of the protocol
 *   id                    of this host, 1..8: its channel
 *   -1 + fd               card memory
 *   peer + eventfd        for each peer that is there, one message a vector
 *   id + eventfd          the host's own vectors, last
 *
 * Later: peer + eventfd when another host has come, peer without a descriptor
 * when it has gone. The card closes the connection at once if it is full.
 *
 * Peer 0 is the card. Its vector c is the doorbell of channel c. The card
 * interrupts a host on the host's vector 0; the other vectors are unused.
 */
#ifndef PB_HOST_LINK_PROTOCOL_H
#define PB_HOST_LINK_PROTOCOL_H

#define PB_SOCKET_VERSION 0 /**< first word that the server sends */
/** Announces card memory. */
#define PB_SOCKET_MEMORY (-1)
/** Peer id of the card. */
#define PB_SOCKET_CARD 0u
/** Hosts at once; their ids are 1 and up. */
#define PB_SOCKET_CLIENTS 8u
#define PB_SOCKET_PEERS   (PB_SOCKET_CLIENTS + 1u) /**< the card and its hosts */
/** Vectors of each peer. */
#define PB_SOCKET_VECTORS (PB_SOCKET_CLIENTS + 1u)
/** Largest peer id that the protocol knows. */
#define PB_SOCKET_PEER_MAX 65535

#endif
