/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A host that speaks the card's socket protocol by hand.
 */
#ifndef PB_TESTS_UNIT_RAW_HOST_H
#define PB_TESTS_UNIT_RAW_HOST_H

#include <stdbool.h>
#include <stdint.h>

struct raw_message {
	int64_t value;
	int fd; /* -1: none */
};

/** Connects; -1: not possible. */
int raw_connect(const char *path);
/** Receives one message; the caller closes its descriptor. @return false: the card has closed, or says nothing for long */
bool raw_receive(int socket, struct raw_message *message);
/** Whether anything, or the end, can be received now. */
bool raw_has_news(int socket);

#endif
