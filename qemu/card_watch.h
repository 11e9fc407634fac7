/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the card's event loop watches. Closing a descriptor ends its watch.
 */
#ifndef PB_QEMU_CARD_WATCH_H
#define PB_QEMU_CARD_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/** Whose descriptor it is. */
enum pb_card_source {
	PB_CARD_WATCH_SIGNAL = 0,     /**< signals that end the card */
	PB_CARD_WATCH_ACCEPT = 1,     /**< a host connects */
	PB_CARD_WATCH_HOST = 2,       /**< a host's connection; index: its channel */
	PB_CARD_WATCH_DOORBELL = 3,   /**< the card's own vectors; index: the channel */
	PB_CARD_WATCH_MCU = 4,        /**< the MCU has ended */
	PB_CARD_WATCH_CONNECT = 5,    /**< the MCU's UART connects */
	PB_CARD_WATCH_LINES = 6,      /**< bytes from the MCU */
	PB_CARD_WATCH_CONTROL = 7,    /**< the control interface of its emulator connects */
	PB_CARD_WATCH_MONITOR = 8,    /**< answers from it */
	PB_CARD_WATCH_RENDERER = 9,   /**< a renderer answers, or has ended; index: its own */
	PB_CARD_WATCH_OBSERVERS = 10, /**< an observer connects */
	PB_CARD_WATCH_OBSERVER = 11,  /**< an observer's connection; index: its place */
	PB_CARD_WATCH_ADMIN = 12,     /**< the administrator connects, asks, or has left */
	PB_CARD_WATCH_SOURCES
};

/** Adds a descriptor; @param events EPOLLIN */
bool pb_card_watch(int epoll, int fd, uint32_t events, enum pb_card_source source, uint32_t index);
/** Watches a descriptor that is watched for other events. @param events EPOLLIN, or 0: its end only */
bool pb_card_watch_change(int epoll, int fd, uint32_t events, enum pb_card_source source, uint32_t index);
/** Ends the watch of a descriptor that stays open. */
void pb_card_watch_end(int epoll, int fd);

/** Takes a connection that waits at a listening socket. @return its descriptor; -1: none waits */
int pb_card_accept(int listener);
/** Closes all connections that wait there. */
void pb_card_refuse(int listener);

#endif
