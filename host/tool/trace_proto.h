/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Messages in the encoding of Protocol Buffers, as far as Perfetto's traces need
 * it: varints, fixed 64-bit words, text, messages in messages. No memory is a
 * state of the message, reported when it is written.
 */
#ifndef PB_HOST_TOOL_TRACE_PROTO_H
#define PB_HOST_TOOL_TRACE_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** A message that is being built. Zero-initialized: empty. */
struct pb_proto {
	uint8_t *bytes; /**< heap memory, freed by pb_proto_free() */
	size_t count;   /**< bytes of the message so far */
	size_t room;    /**< bytes that `bytes` has room for */
	bool failed;    /**< the host was out of memory: the message is incomplete */
};

/** Appends a number: the types uint32, uint64, int32, int64, bool and enum. */
void pb_proto_number(struct pb_proto *proto, uint32_t field, uint64_t value);
/** Appends a number of the type fixed64. */
void pb_proto_fixed(struct pb_proto *proto, uint32_t field, uint64_t value);
/** Appends a string. @param text zero-terminated */
void pb_proto_text(struct pb_proto *proto, uint32_t field, const char *text);
/** Begins a message in the message. What follows belongs to it until pb_proto_end(). @return its place, for that call */
size_t pb_proto_begin(struct pb_proto *proto, uint32_t field);
/** Ends the message that began at `place`, the last one that is open. Pre: it has less than 256 MiB. */
void pb_proto_end(struct pb_proto *proto, size_t place);
/** Writes the message and empties it. @return false: writing failed, or the message is incomplete */
bool pb_proto_write(struct pb_proto *proto, FILE *file);
/** Frees the message. */
void pb_proto_free(struct pb_proto *proto);

#endif
