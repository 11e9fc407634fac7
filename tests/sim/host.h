/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A host comes and goes: attach, segments, contexts, queues; detach.
 */
#ifndef PB_TESTS_SIM_HOST_H
#define PB_TESTS_SIM_HOST_H

#include "tests/sim/run.h"

/** Attaches and makes what a host needs; steps until it is there. */
void pb_host_open(struct pb_run *run, struct pb_host *host);
/** Forgets all that its channel's last host knew. */
void pb_host_begin(struct pb_run *run, struct pb_host *host);
/** Asks for one segment, at any address. */
void pb_host_make_segment(struct pb_run *run, struct pb_host *host, uint32_t segment, uint32_t bytes);
/** Asks for all of them. */
void pb_host_make_segments(struct pb_run *run, struct pb_host *host);
/** A segment for marks has come: nothing is stored in it. */
void pb_host_mark_segment(struct pb_host *host, uint32_t segment);
/** Has its last segment made anew at other addresses, unless there is work that may name it. */
void pb_host_move(struct pb_run *run, struct pb_host *host);
/** Asks for one queue, if a node has room for one; the reply opens it. */
void pb_host_make_queue(struct pb_run *run, struct pb_host *host, uint32_t queue);
/** Asks for a second queue of a node that takes only one, and has one of this host: that is refused. */
void pb_host_ask_too_much(struct pb_run *run, struct pb_host *host, const struct pb_queue_view *queue);
/** Asks to detach; what it has submitted goes with it. */
void pb_host_leave(struct pb_run *run, struct pb_host *host);
/** Notes when it is gone: nothing of it runs any more. */
void pb_host_look_gone(struct pb_run *run, struct pb_host *host);
/** Dies without a word: its share and all that it had are garbage from now on. */
void pb_host_die(struct pb_run *run, struct pb_host *host);
/** The supervisor has closed its channel: another one may come. */
void pb_host_buried(struct pb_run *run, struct pb_host *host);

#endif
