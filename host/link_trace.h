/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The trace of a host (patchbay/host_trace.h), written to a file when a link is closed, if the environment asks for it.
 *
 * The file has sections, one for each link. Each program that ends appends its own, so that a file may have several
 * processes. A section begins with its magic; words are little-endian:
 *   words 2 to 5   process id, channel, number of events, events lost
 *   words 6 to 9   the process's name, 16 bytes with a zero
 *   then           events of 10 words as struct pb_host_event: time, value (low half first), kind, queue, node, index,
 *                  fence id, 0
 */
#ifndef PB_HOST_LINK_TRACE_H
#define PB_HOST_LINK_TRACE_H

#include <stdbool.h>
#include <stdio.h>

#include "patchbay/link.h"

#define PB_HOST_TRACE_MAGIC       "PBHOST01" /**< of a section */
#define PB_HOST_TRACE_HEAD_WORDS  10u        /**< of a section without its events, the magic included */
#define PB_HOST_TRACE_EVENT_WORDS 10u        /**< of an event */
#define PB_HOST_TRACE_NAME_WORD   6u         /**< first word of the process's name */
#define PB_HOST_TRACE_VARIABLE    "PATCHBAY_TRACE_HOST" /**< the environment's variable with the path */

/** Traces a link that was opened, if the environment asks for it. Without memory it is not, and an error is printed. */
void pb_link_trace_begin(struct pb_link *link);
/**
 * Appends the section of a link that pb_link_trace_begin() traces, and ends the trace. If the file cannot be written, an
 * error is printed, and the file is as it was before. Pre: no other thread uses the link.
 */
void pb_link_trace_end(struct pb_link *link);
/**
 * Writes the section of a link that pb_link_trace_begin() traces, with the events so far, and nothing of another link. The
 * trace goes on, and keeps its events. @return false: writing failed
 */
bool pb_link_trace_write(const struct pb_link *link, FILE *file);
/**
 * Ends the trace of a link to a card that ends with this process, and that no other one records. The file of the
 * environment is not touched. If pb_link_trace_write() has not written the events, prints that they are lost. Pre: as above.
 */
void pb_link_trace_end_alone(struct pb_link *link);
/** Returns whether one of the functions above has printed an error in this process. Any thread that has closed its links. */
bool pb_link_trace_has_failed(void);

#endif
