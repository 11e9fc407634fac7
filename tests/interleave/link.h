/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The link of the hosts of an interleaving.
 */
#ifndef PB_TESTS_INTERLEAVE_LINK_H
#define PB_TESTS_INTERLEAVE_LINK_H

#include "tests/interleave/card.h"

/** Initialises a host's link. It need not be closed. */
struct pb_link *pb_weave_link_open(uint32_t host);

#endif
