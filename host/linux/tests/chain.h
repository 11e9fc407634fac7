/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A generator of calls whose results are the arguments of later calls: chain.c; the calls: chain_objects.c, _syncs.c, _display.c. */
#ifndef PBD_TEST_CHAIN_H
#define PBD_TEST_CHAIN_H

#include <stdatomic.h>

#include "guest.h"

/* What calls return. All but file descriptors are shared by all processes, which have the same files open. */
enum chain_kind {
	CHAIN_OBJECT,
	CHAIN_QUEUE,
	CHAIN_SYNCOBJ,
	CHAIN_FRAMEBUFFER,
	CHAIN_FENCE,  /* sync_file, or syncobj as a file */
	CHAIN_BUFFER, /* dma_buf */
	CHAIN_KINDS,
};

#define CHAIN_FILES 3 /* The first one is the display's master. */
#define CHAIN_SLOTS 24
#define CHAIN_CALLS 64
#define CHAIN_BYTES_MAX (4u << 20) /* of an object that is mapped */
#define CHAIN_ERRNOS 134
#define CHAIN_REFUSALS 64
/* "Call" had nothing to be done with. */
#define CHAIN_NOTHING (-1)

struct chain_shared {
	_Atomic uint32_t slots[CHAIN_FILES][CHAIN_KINDS][CHAIN_SLOTS];
	_Atomic uint32_t points[CHAIN_FILES]; /* of timelines, and values of queues, that have been used */
	_Atomic uint32_t counts[CHAIN_CALLS][CHAIN_ERRNOS];
	_Atomic uint32_t refusals[CHAIN_REFUSALS]; /* of submissions, by enum pb_render_status */
};

struct chain {
	struct chain_shared *shared;
	int files[CHAIN_FILES];
	int vgem;
	int fds[CHAIN_KINDS][CHAIN_SLOTS]; /* of this process */
	uint32_t file;			   /* which one the present call is for */
	uint64_t chance;
	uint32_t connector, crtc;
	struct drm_mode_modeinfo mode;
};

struct chain_call {
	const char *name;
	int (*run)(struct chain *chain); /* 0, an errno, or CHAIN_NOTHING */
	uint32_t weight;
};

/* Opens the files and finds the display. */
void chain_open(struct chain *chain);

/* The calls; the last one of each table has no name. */
extern const struct chain_call chain_objects[];
extern const struct chain_call chain_syncs[];
extern const struct chain_call chain_displays[];

uint32_t chain_some(struct chain *chain, uint32_t below);
/* A number that is likely to be near a limit. */
uint64_t chain_odd(struct chain *chain);
/* A size of an object: small, large, or absurd. */
uint64_t chain_size(struct chain *chain);
/* A result of an earlier call, seldom something else. 0: there is none. */
uint32_t chain_take(struct chain *chain, enum chain_kind kind);
/* Keeps a result. @return what it takes the place of; 0: nothing */
uint32_t chain_keep(struct chain *chain, enum chain_kind kind, uint32_t number);
/* Takes a result for a call that ends it. In one case of four it is kept: what has ended is an argument, too. */
uint32_t chain_forget(struct chain *chain, enum chain_kind kind);
/* As above, for file descriptors: -1 for none; the one that leaves is closed. */
int chain_take_fd(struct chain *chain, enum chain_kind kind);
void chain_keep_fd(struct chain *chain, enum chain_kind kind, int fd);
/* The call: seldom with spoilt arguments, or another size. @return 0 or the errno; what has come back is in `argument` */
int chain_ioctl(struct chain *chain, int fd, unsigned long request, void *argument);
/* The call with its arguments as they are. */
int chain_ioctl_plain(int fd, unsigned long request, void *argument);
/* Both, of the file that the present call is for. */
int chain_do(struct chain *chain, unsigned long request, void *argument);
int chain_do_plain(struct chain *chain, unsigned long request, void *argument);
/* A time limit: over, short, or none. */
int64_t chain_limit(struct chain *chain);
/* A point that has been used, or 0; one that has not. */
uint32_t chain_point(struct chain *chain);
uint32_t chain_next_point(struct chain *chain);
int chain_close_object(struct chain *chain, uint32_t handle);

#endif
