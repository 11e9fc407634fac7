/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The firmware's trace, read from card memory without a command or a channel:
 * while the firmware runs, after a failed boot, after a crash. Offsets and
 * counts are range-checked; the records are not.
 */
#ifndef PB_HOST_TRACE_H
#define PB_HOST_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/abi/trace.h"
#include "patchbay/channel.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Largest schema that the library reads, in bytes. */
#define PB_TRACE_SCHEMA_BYTES_MAX 8192u

/** A reader of a trace. Any number of readers may read at once; none of them changes shared memory. */
struct pb_trace {
	const struct pb_link *link; /**< the caller's; must stay open while the reader is used */
	uint32_t entries;           /**< records that the ring holds, a power of two */
	uint32_t records_offset;    /**< of the ring, bytes from the start of card memory; range-checked */
	uint32_t schema_offset;     /**< of the schema, bytes from the start of card memory; range-checked */
	uint32_t schema_bytes;      /**< size of the schema, PB_TRACE_SCHEMA_BYTES_MAX at most */
	uint32_t levels;            /**< PB_TRACE_LEVELS_* at pb_trace_open() */
	uint32_t version;           /**< PB_TRACE_VERSION of the firmware, or an earlier one */
	uint32_t hertz; /**< rate of the records' clock; 0: it is the card's clock, in microseconds */
	uint32_t get;   /**< number of the next record to read, modulo 2^28 */
	bool begun;     /**< pb_trace_read() has been called */
	uint64_t lost;  /**< records overwritten since the first pb_trace_read(), before they were read */
};

/** One moment on two clocks. */
struct pb_trace_stamp {
	uint32_t clock;    /**< the records' clock */
	uint64_t host_us;  /**< the clock of the host's link, microseconds: the moment was then, or before */
	uint32_t error_us; /**< by so many microseconds at most, if the MCU was not stopped in between */
};

/**
 * Opens the trace and positions the reader at the oldest record. Never blocks. Nothing has to be closed.
 * @param trace out
 * @retval PB_ERROR_NO_CARD no firmware has ever booted in this memory
 * @retval PB_ERROR_UNSUPPORTED the board has no trace, or the trace has a later version
 * @retval PB_ERROR_PROTOCOL an offset or count of the trace is out of range
 */
enum pb_error pb_trace_open(struct pb_trace *trace, const struct pb_link *link);
/**
 * Copies the records written since the last call, the oldest first, and counts overwritten ones in trace->lost. Records
 * with event 0 were never written; the first calls may return some. Never blocks.
 * @param records out: room for `max` records
 * @return records copied; 0: there are no new ones
 */
uint32_t pb_trace_read(struct pb_trace *trace, struct pb_trace_record *records, uint32_t max);
/**
 * Copies the schema as zero-terminated text; bytes that are not printable become '?'.
 * @param text out: PB_TRACE_SCHEMA_BYTES_MAX + 1 bytes
 */
void pb_trace_schema(const struct pb_trace *trace, char *text);
/**
 * Sets the trace levels and writes a record with the host's clock. Blocks for at most PB_COMMAND_TIMEOUT_US.
 * Threads: commands; waits.
 * @param levels PB_TRACE_LEVELS_*
 * @param nanoseconds any clock of the host
 * @retval PB_ERROR_NO_PERMISSION the channel is not the admin's and lacks PB_PRIVILEGE_QUERY
 * @retval PB_ERROR_UNSUPPORTED the board has no trace
 * @retval PB_ERROR_BAD_ARGUMENT a level is above PB_TRACE_LEVEL_MAX
 */
enum pb_error pb_trace_set(struct pb_channel *channel, uint32_t levels, uint64_t nanoseconds);

/**
 * Compares the records' clock with the clock of the host's link. The firmware publishes the former at each tick, 5 ms;
 * this function waits for `count` ticks, reads the memory in quick succession around each, and returns the stamp that saw
 * the clock with the least delay. It sends nothing, and needs no channel. Two stamps tell how far the clocks drift apart.
 * Blocks for at most 20 ms for each tick and 20 ms more; half a millisecond of each is spent reading.
 * @param trace opened on `link`
 * @param link its doorbell is not rung; an interrupt that comes meanwhile may be lost to its other users
 * @param count of ticks, from 1; three make it unlikely that each was delayed
 * @param stamp out
 * @retval PB_ERROR_UNSUPPORTED the trace is of version 1, or the link has saved memory only
 * @retval PB_ERROR_TIMEOUT the firmware has published nothing: it does not run
 * @retval PB_ERROR_NO_CARD the card is gone for good
 */
enum pb_error pb_trace_stamp(const struct pb_trace *trace, struct pb_link *link, uint32_t count,
			     struct pb_trace_stamp *stamp);

#ifdef __cplusplus
}
#endif

#endif
