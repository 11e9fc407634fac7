/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The firmware's trace, read with no command and no channel: while it runs,
 * after a boot that failed, after a crash. What it says is foreign.
 */
#ifndef PB_HOST_TRACE_H
#define PB_HOST_TRACE_H

#include "firmware/abi/trace.h"
#include "host/patchbay.h"

/** Bytes of a schema that the library reads, at most. */
#define PB_TRACE_SCHEMA_BYTES_MAX 8192u

/** A reader. Any number of them may read at once; none of them changes anything. */
struct pb_trace {
	const struct pb_link *link; /**< the caller's, for as long as it reads */
	uint32_t entries;           /**< of the ring, a power of two */
	uint32_t records_offset;    /**< from the start of card memory, in bytes, checked */
	uint32_t schema_offset;     /**< the same of the schema */
	uint32_t schema_bytes;      /**< PB_TRACE_SCHEMA_BYTES_MAX at most */
	uint32_t levels;            /**< PB_TRACE_LEVELS_*, when it was opened */
	uint32_t get;               /**< the next record to read, in records, modulo 2^28 */
	bool begun;                 /**< something has been read */
	uint64_t lost;              /**< records that were written over since then, before they were read */
};

/**
 * Finds the trace and begins with the oldest record that is left.
 * @retval PB_ERROR_NO_CARD no firmware has ever come up in this memory
 * @retval PB_ERROR_UNSUPPORTED the board has no room for a trace, or it is of another version
 * @retval PB_ERROR_PROTOCOL an offset or count in it is out of range
 */
enum pb_error pb_trace_open(struct pb_trace *trace, const struct pb_link *link);
/**
 * Copies records that were written since the last call, the oldest first, and counts those that are gone. At first
 * there may be some that were never written: their event is 0.
 * @return how many; 0: there are none now
 */
uint32_t pb_trace_read(struct pb_trace *trace, struct pb_trace_record *records, uint32_t max);
/**
 * Copies the schema, zero-terminated; what is not printable becomes '?'.
 * @param text PB_TRACE_SCHEMA_BYTES_MAX + 1 bytes
 */
void pb_trace_schema(const struct pb_trace *trace, char *text);
/**
 * Sets what is traced, PB_TRACE_LEVELS_*, and leaves a record of the host's clock.
 * @param nanoseconds any clock of the host
 * @retval PB_ERROR_NO_PERMISSION the channel is neither the admin's nor has PB_PRIVILEGE_QUERY
 * @retval PB_ERROR_UNSUPPORTED the board has no room for a trace
 * @retval PB_ERROR_BAD_ARGUMENT a level is none
 */
enum pb_error pb_trace_set(struct pb_channel *channel, uint32_t levels, uint64_t nanoseconds);

#endif
