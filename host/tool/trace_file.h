/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Trace files: "PBTRACE2", then pieces ("PBTRACE1": the records' clock is the card's, in microseconds). A piece has two words, its kind and its
 * length in bytes, then its contents. All words are little-endian. Readers skip
 * pieces of an unknown kind.
 */
#ifndef PB_HOST_TOOL_TRACE_FILE_H
#define PB_HOST_TOOL_TRACE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "host/tool/ddi_calls.h"
#include "host/tool/guest_trace.h"
#include "host/tool/trace_clock.h"
#include "host/tool/trace_schema.h"

/** Kinds of pieces. */
enum pb_trace_piece {
	PB_TRACE_PIECE_SCHEMA = 1,  /**< schema text of the image; before any record */
	PB_TRACE_PIECE_RECORDS = 2, /**< struct pb_trace_record */
	PB_TRACE_PIECE_LOST = 3,    /**< one word: number of records lost here */
	/**
	 * Six words: the host's clock of day in nanoseconds (low, high), the records' clock at that time, by how many
	 * microseconds the former may be late, and the clock of the host's link in microseconds (low, high). Older files
	 * have the first three.
	 */
	PB_TRACE_PIECE_ANCHOR = 4,
	PB_TRACE_PIECE_RATE = 6,  /**< one word: rate of the records' clock in hertz; before any record */
	PB_TRACE_PIECE_CALLS = 7, /**< DDI calls of a WDDM kernel, behind the records */
	PB_TRACE_PIECE_NODES = 8, /**< one word: number of the card's nodes */
	PB_TRACE_PIECE_GUEST =
		16, /**< events of a guest, behind the records; words as pb_trace_file_guest() has them */
	PB_TRACE_PIECE_HOST = 17, /**< events of a host, with the words of a guest's */
};

/** Largest piece, in bytes. */
#define PB_TRACE_PIECE_BYTES_MAX 0x100000u

/** The host's clocks and trace time at one moment. */
struct pb_trace_anchor {
	uint64_t nanoseconds; /**< the host's clock of day, since 1970 */
	uint64_t host_us;     /**< the clock of the host's link, microseconds; 0: not noted */
	uint32_t error_us;    /**< both may be later than the moment by this many microseconds */
	uint64_t time;        /**< microseconds since the first record */
};

/**
 * Writes the start of a file and its schema. @param hertz rate of the records' clock; 0: it is the card's clock
 * @return false: writing failed
 */
bool pb_trace_file_begin(FILE *file, const char *schema, uint32_t hertz);
/** Writes the number of the card's nodes. @return false: writing failed */
bool pb_trace_file_nodes(FILE *file, uint32_t nodes);
/** Writes records. @return false: writing failed */
bool pb_trace_file_records(FILE *file, const struct pb_trace_record *records, uint32_t count);
/** Writes a number of lost records. @return false: writing failed */
bool pb_trace_file_lost(FILE *file, uint32_t count);
/**
 * Writes the host's clocks and the records' clock at one moment. @param anchor its time is not used
 * @param clock the records' clock @return false: writing failed
 */
bool pb_trace_file_anchor(FILE *file, const struct pb_trace_anchor *anchor, uint32_t clock);
/** Writes DDI calls. @return false: writing failed */
bool pb_trace_file_calls(FILE *file, const struct pb_ddi_call *calls, size_t count);

/**
 * Writes events of a guest, or of a host. @param guest its number: events with one number have one clock
 * @return false: writing failed
 */
bool pb_trace_file_guest(FILE *file, uint32_t guest, const struct pb_guest_event *events, size_t count);

/** A record with its time. */
struct pb_trace_moment {
	uint64_t time;                 /**< microseconds since the first record */
	struct pb_trace_record record; /**< as in the file */
	bool after_loss;               /**< records were lost just before it */
	uint64_t lost;                 /**< records lost before it, since the trace began */
};

/** A DDI call with its time. */
struct pb_trace_call {
	uint64_t time;           /**< microseconds since the first record */
	struct pb_ddi_call call; /**< as in the file */
};

#define PB_TRACE_GUEST_ALONE UINT32_MAX /**< an event of no submission of the trace */

/** An event of a guest or of a host with its time. */
struct pb_trace_guest {
	uint64_t
		time; /**< microseconds since the first record, by the card's clock in the event; of a host by the anchors */
	uint32_t guest; /**< number of the guest, or of a host's link */
	uint32_t
		packet; /**< its submission, an index of pb_timeline.packets, or PB_TRACE_GUEST_ALONE: none is known */
	struct pb_guest_event event; /**< as in the file */
};

/** Contents of a file. */
struct pb_trace_data {
	struct pb_trace_schema schema;   /**< names of events */
	struct pb_trace_moment *moments; /**< records in file order */
	size_t count;                    /**< number of records */
	struct pb_trace_anchor *anchors; /**< in file order */
	size_t anchor_count;             /**< number of anchors */
	struct pb_trace_call *calls;  /**< in the order in which they began; none before the first record */
	size_t call_count;            /**< number of calls */
	struct pb_trace_guest *guest; /**< events of guests, by time */
	size_t guest_count;           /**< number of events of guests */
	uint64_t guest_end;           /**< one more than the largest number of a guest in the file */
	uint64_t lost;                /**< records lost */
	uint32_t nodes;               /**< of the card, 256 at most; 0: the file does not have it */
	uint32_t hertz;               /**< rate of the records' clock; 0: it is the card's clock */
	bool losing;                  /**< while a file is read: records were lost behind the last moment */
};

/**
 * Reads a file. @param data out: to be freed with pb_trace_data_free() also after an error @return NULL, or the error
 */
const char *pb_trace_file_read(FILE *file, struct pb_trace_data *data);
/** Frees the contents and clears them. */
void pb_trace_data_free(struct pb_trace_data *data);

#endif
