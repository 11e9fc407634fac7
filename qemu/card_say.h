/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Lines of the card for people, on standard error.
 */
#ifndef PB_QEMU_CARD_SAY_H
#define PB_QEMU_CARD_SAY_H

#include <stdint.h>
#include <sys/types.h>

struct pb_card_options;

/** Prints "card: ", the text and a newline, in one piece. */
__attribute__((format(printf, 1, 2))) void pb_card_say(const char *format, ...);
/** Says that the card runs, unless it is to be quiet. */
void pb_card_say_started(const struct pb_card_options *options, const char *socket, pid_t mcu);
/** Reports that hosts may attach by a newline, and closes the descriptor. @param ready_fd -1: nothing, and at the end */
void pb_card_say_ready(int *ready_fd);
/** Says that the firmware refused the administrator's command about a channel, or about a node. */
void pb_card_say_refused(void *context, uint32_t code, uint32_t channel, uint32_t error);

#endif
