/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A replay on a simulated card, which may be sabotaged.
 */
#ifndef PB_TESTS_UNIT_REPLAY_CARD_H
#define PB_TESTS_UNIT_REPLAY_CARD_H

#include <stdint.h>

#include "host/tool/replay.h"

/** NULL, or what happens to the card's pool just before each doorbell. */
extern void (*replay_sabotage)(uint8_t *pool);

/** Scans a file and replays it on a new card. @return as pb_replay_run() */
int replay_on_card(const struct pb_replay_options *options, struct pb_replay_summary *summary);

#endif
