/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Protocol between the emulated card and its hosts over a Unix socket. It is
 * that of QEMU's ivshmem server, so that an ivshmem-doorbell device of a
 * virtual machine (vectors=9) is a host like any native process.
 *
 * Each message of the card is a 64-bit little-endian number, some with one file
 * descriptor (SCM_RIGHTS). A host may send requests, which are such numbers, too; a device of a virtual machine sends
 * none. The card skips what it does not know.
 *
 *   0                     version of the protocol
 *   id                    number of this host, 1 to 8: its channel
 *   -1 + fd               card memory
 *   0 + eventfd           the card's vectors, one message each
 *   id + eventfd          the host's own vectors, last
 *
 * The card tells a host nothing of the others, so that none can interrupt
 * another. Servers of other devices do, also later: peer + eventfd when a host
 * connects, peer without a descriptor when it disconnects; the link skips
 * that. If all channels are in use, the card closes the connection at once.
 *
 * Peer 0 is the card. Its vector c is the doorbell of channel c. The card
 * interrupts a host on the host's vector 0; the other vectors are unused.
 *
 * The one request is PB_SOCKET_WEIGHT in the high word, and a weight, 1 to 64, in the low one: the channel has that
 * weight beside the others of its priority until its host leaves. It has no answer; a query of the channel shows it.
 *
 * Observers connect to a socket of their own, whose path is that of the hosts with PB_SOCKET_OBSERVERS behind it. An
 * observer has no channel and no vectors. The card sends it the version and card memory, as above, with a descriptor that
 * cannot be mapped for writing. Then the observer sends questions, each a struct pb_command, and the card answers each
 * with a struct pb_reply, in the order of the questions. The card reads the next question when it has answered the last
 * one. It leaves an observer that does not read its answers. If it has PB_SOCKET_OBSERVERS_MOST, the card closes the
 * connection at once.
 */
#ifndef PB_HOST_LINK_PROTOCOL_H
#define PB_HOST_LINK_PROTOCOL_H

#define PB_SOCKET_VERSION 0 /**< first word that the server sends */
/** Announces card memory. */
#define PB_SOCKET_MEMORY (-1)
/** Peer id of the card. */
#define PB_SOCKET_CARD 0u
/** Largest number of connected hosts; their ids start at 1. */
#define PB_SOCKET_CLIENTS 8u
#define PB_SOCKET_PEERS   (PB_SOCKET_CLIENTS + 1u) /**< the card and its hosts */
/** Vectors of each peer. */
#define PB_SOCKET_VECTORS (PB_SOCKET_CLIENTS + 1u)
/** High word of a request for a weight. */
#define PB_SOCKET_WEIGHT 0x57474854u
/** What the path of the observers' socket ends with. */
#define PB_SOCKET_OBSERVERS ".observe"
/** Largest number of connected observers. */
#define PB_SOCKET_OBSERVERS_MOST 16u
/** Largest peer id that the protocol knows. */
#define PB_SOCKET_PEER_MAX 65535

#endif
