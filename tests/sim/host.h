/* SPDX-License-Identifier: MIT */
/**
 * @file
 * How a host comes and goes: attach, segments, contexts, queues, detach.
 */
#ifndef PB_TESTS_SIM_HOST_H
#define PB_TESTS_SIM_HOST_H

#include "tests/sim/run.h"

/** Attaches and creates what a host needs. Steps until all of it exists. */
void pb_host_attach(struct pb_run *run, struct pb_host *host);
/** Forgets all that the channel's last host knew. */
void pb_host_begin(struct pb_run *run, struct pb_host *host);
/** Posts the creation of one segment, at a random address. */
void pb_host_create_segment(struct pb_run *run, struct pb_host *host, uint32_t segment, uint32_t bytes);
/** Posts the creation of all segments. */
void pb_host_create_segments(struct pb_run *run, struct pb_host *host);
/** Marks a new segment's words as not stored to. */
void pb_host_mark_segment(struct pb_host *host, uint32_t segment);
/** Destroys the host's last segment and creates it at other addresses, unless a submission may name it. */
void pb_host_move(struct pb_run *run, struct pb_host *host);
/** Posts the creation of one queue, if a node has room for one. The reply opens it. */
void pb_host_create_queue(struct pb_run *run, struct pb_host *host, uint32_t queue);
/**
 * Posts the creation of a second queue on a host-ordered node that has one of this host. The firmware must
 * refuse.
 */
void pb_host_ask_too_much(struct pb_run *run, struct pb_host *host, const struct pb_queue_view *queue);
/** Requests a detach. Submissions that are outstanding are cancelled. */
void pb_host_detach(struct pb_run *run, struct pb_host *host);
/** Polls for the end of the detach. Then nothing of the host runs any more. */
void pb_host_poll_detach(struct pb_run *run, struct pb_host *host);
/** The host dies without a detach. Its share of memory is filled with garbage from now on. */
void pb_host_die(struct pb_run *run, struct pb_host *host);
/** The supervisor has closed the host's channel: another host may attach. */
void pb_host_closed(struct pb_run *run, struct pb_host *host);

#endif
