/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A trace in a file: "PBTRACE1", then pieces, each of two words, its kind and
 * its length in bytes, and so many bytes. All words are little-endian. Readers
 * pass by pieces of a kind that they do not know.
 */
#ifndef PB_HOST_TOOL_TRACE_FILE_H
#define PB_HOST_TOOL_TRACE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "host/tool/trace_schema.h"

enum pb_trace_piece {
	PB_TRACE_PIECE_SCHEMA = 1,  /**< the image's text; before any record */
	PB_TRACE_PIECE_RECORDS = 2, /**< struct pb_trace_record */
	PB_TRACE_PIECE_LOST = 3,    /**< one word: records that are missing here */
	PB_TRACE_PIECE_ANCHOR = 4,  /**< three words: the host's clock in nanoseconds, and the card's then */
};

/** Bytes of a piece, at most. */
#define PB_TRACE_PIECE_BYTES_MAX 0x100000u

/** Begins a file. @return false: it cannot be written to */
bool pb_trace_file_begin(FILE *file, const char *schema);
bool pb_trace_file_records(FILE *file, const struct pb_trace_record *records, uint32_t count);
bool pb_trace_file_lost(FILE *file, uint32_t count);
bool pb_trace_file_anchor(FILE *file, uint64_t nanoseconds, uint32_t clock);

/** The card's clock, which wraps, as a time that does not: it goes on by less than half its range at a step. */
struct pb_trace_clock {
	bool running;
	uint32_t last;
	uint64_t time; /**< microseconds since the first step */
};

/** @return the time now; one before the last step counts as none: a card that starts again may count from 0 */
uint64_t pb_trace_clock_step(struct pb_trace_clock *clock, uint32_t now);

/** Two clocks at one moment. */
struct pb_trace_anchor {
	uint64_t nanoseconds; /**< the host's */
	uint64_t time;        /**< as that of records */
};

/** A record with a time that does not wrap. */
struct pb_trace_moment {
	uint64_t time; /**< microseconds since the first one */
	struct pb_trace_record record;
};

/** All of a file. */
struct pb_trace_data {
	struct pb_trace_schema schema;
	struct pb_trace_moment *moments;
	size_t count;
	struct pb_trace_anchor *anchors;
	size_t anchor_count;
	uint64_t lost;
};

/** @return NULL, or what is wrong; free it with pb_trace_data_free in both cases */
const char *pb_trace_file_read(FILE *file, struct pb_trace_data *data);
void pb_trace_data_free(struct pb_trace_data *data);

#endif
