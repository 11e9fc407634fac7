/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A whole card around the stand-in MCU, in a child process.
 */
#ifndef PB_TESTS_UNIT_CARD_BENCH_H
#define PB_TESTS_UNIT_CARD_BENCH_H

#include "patchbay/link.h"
#include "qemu/card.h"
#include "tests/unit/qemu/fake_mcu.h"

struct card_bench {
	char directory[64]; /* of the test; the card's own is inside */
	char files[96];
	char socket[96];
	char log[96]; /* standard error of the card */
	struct pb_card_options options;
	pid_t card;
};

/**
 * 0, or what the wall's clock advances by, in microseconds, whenever a card that is started then reads it: its clock counts
 * turns of its loop, however busy the machine is.
 */
extern uint32_t card_bench_wall_step_us;

/** Makes the directory and the options. */
void card_bench_make(struct card_bench *bench);
/** Starts the card. @return as pb_card_start */
int card_bench_start(struct card_bench *bench);
/** Stops the card, and checks that it left nothing behind. */
void card_bench_end(struct card_bench *bench);
/** Waits until the card has said this: hosts see what happened before people read of it. @return false: it has not */
bool card_bench_said(const struct card_bench *bench, const char *text);
/** Whether the card has said nothing so far. */
bool card_bench_kept_quiet(const struct card_bench *bench);

/** A link that must open. */
struct pb_link *card_bench_open(const struct card_bench *bench);
struct fake_mailbox *card_bench_mailbox(const struct pb_link *link);
/** Takes interrupts until there is none, and news of other hosts with them. */
void card_bench_quiet(struct pb_link *link);
/** Reads a word of card memory until it has a value. */
void card_bench_await(const uint32_t *word, uint32_t value);
/** Sleeps on the link, as hosts do, until the word has the value. */
void card_bench_await_woken(struct pb_link *link, const uint32_t *word, uint32_t value);
/** How long the heartbeat has stood, as the card has seen it, in microseconds of the card's clock. */
uint32_t card_bench_stood(const struct pb_link *link);

#endif
