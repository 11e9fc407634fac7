/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Lines of the card for people, on standard error.
 */
#ifndef PB_QEMU_CARD_SAY_H
#define PB_QEMU_CARD_SAY_H

/** Prints "card: ", the text and a newline, in one piece. */
__attribute__((format(printf, 1, 2))) void pb_card_say(const char *format, ...);

#endif
