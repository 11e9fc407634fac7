/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Counts of what exists, of all devices: debugfs shows them, and tests compare them with those before. */
#ifndef PBD_LIVE_H
#define PBD_LIVE_H

#include <linux/atomic.h>

enum {
	PBD_LIVE_OBJECTS,
	PBD_LIVE_QUEUES,
	PBD_LIVE_FENCES,
	PBD_LIVE_COUNT,
};

extern atomic_t pbd_live[PBD_LIVE_COUNT]; /* pbd_show.c */

#endif
