/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Messages of the vtest protocol, which Mesa's driver virpipe speaks over a Unix socket: what may come when, and how
 * long it is. A message is a header of two words, its length and its command; then a body of words; then data, a run of
 * bytes or of words. All words are little-endian. The client is not trusted: each message is checked before more of it
 * is read. The functions keep no state but that of struct pb_vtest_session.
 */
#ifndef PB_HOST_GL_VTEST_H
#define PB_HOST_GL_VTEST_H

#include <stdbool.h>
#include <stdint.h>

/** Words of a header: 0 the length, 1 the command. */
#define PB_VTEST_HEADER_WORDS 2u
/** Most words of a body. */
#define PB_VTEST_BODY_WORDS_MAX 11u
/** Highest version of the protocol that is spoken. Versions 0 and 2 exist. */
#define PB_VTEST_VERSION_MAX 2u
/** Longest name of a program, in bytes. */
#define PB_VTEST_NAME_BYTES_MAX 4096u
/** Most words of commands in one message. */
#define PB_VTEST_SUBMIT_WORDS_MAX 0x100000u
/** Most bytes of data behind a TRANSFER_PUT, of an answer to a TRANSFER_GET, and of a resource's shared memory. */
#define PB_VTEST_DATA_BYTES_MAX 0x40000000u

/* X(NAME, number, words of the body, first version, last version) */
#define PB_VTEST_COMMANDS(X)                                                                                 \
	X(GET_CAPS, 1, 0, 0, 2)                                                                              \
	X(RESOURCE_CREATE, 2, 10, 0, 0)                                                                      \
	X(RESOURCE_UNREF, 3, 1, 0, 2)                                                                        \
	X(TRANSFER_GET, 4, 11, 0, 0)                                                                         \
	X(TRANSFER_PUT, 5, 11, 0, 0)                                                                         \
	X(SUBMIT_CMD, 6, 0, 0, 2)                                                                            \
	X(RESOURCE_BUSY_WAIT, 7, 2, 0, 2)                                                                    \
	X(CREATE_RENDERER, 8, 0, 0, 2)                                                                       \
	X(GET_CAPS2, 9, 0, 0, 2)                                                                             \
	X(PING_PROTOCOL_VERSION, 10, 0, 0, 2)                                                                \
	X(PROTOCOL_VERSION, 11, 1, 0, 2)                                                                     \
	X(RESOURCE_CREATE2, 12, 11, 2, 2)                                                                    \
	X(TRANSFER_GET2, 13, 10, 2, 2)                                                                       \
	X(TRANSFER_PUT2, 14, 10, 2, 2)

/** Commands of the protocol. */
enum pb_vtest_command {
#define PB_VTEST_ENUM(name, number, words, first, last) PB_VTEST_##name = (number),
	PB_VTEST_COMMANDS(PB_VTEST_ENUM)
#undef PB_VTEST_ENUM
};

/** Words of RESOURCE_CREATE and RESOURCE_CREATE2: the handle, nine words of a template, the bytes of shared memory. */
#define PB_VTEST_CREATE_TEMPLATE 1u
#define PB_VTEST_CREATE_BYTES    10u /**< only in RESOURCE_CREATE2 */
/** Words of TRANSFER_GET and TRANSFER_PUT behind handle and level. */
#define PB_VTEST_TRANSFER_STRIDE       2u
#define PB_VTEST_TRANSFER_LAYER_STRIDE 3u
#define PB_VTEST_TRANSFER_BOX          4u /**< x, y, z, width, height, depth */
#define PB_VTEST_TRANSFER_BYTES        10u
/** Words of TRANSFER_GET2 and TRANSFER_PUT2 behind handle and level. */
#define PB_VTEST_TRANSFER2_BOX    2u
#define PB_VTEST_TRANSFER2_BYTES  8u
#define PB_VTEST_TRANSFER2_OFFSET 9u
/** Bit of RESOURCE_BUSY_WAIT's second word: answer when the resource is idle. */
#define PB_VTEST_WAIT 1u

/* X(NAME, what it says to a person) */
#define PB_VTEST_STATUSES(X)                                                                                 \
	X(OK, "no error")                                                                                    \
	X(UNKNOWN, "unknown message")                                                                        \
	X(LENGTH, "a message of the wrong length")                                                           \
	X(ORDER, "a message that may not come now")                                                          \
	X(VERSION, "a message of another version of the protocol")                                           \
	X(VALUE, "a value out of range")

/** Outcome of a check. */
enum pb_vtest_status {
#define PB_VTEST_ENUM(name, text) PB_VTEST_STATUS_##name,
	PB_VTEST_STATUSES(PB_VTEST_ENUM)
#undef PB_VTEST_ENUM
};

/** What was agreed with one client. All 0 at the start. Only the functions below write it. */
struct pb_vtest_session {
	uint32_t version; /**< version spoken: 0 until another one is agreed */
	bool named;       /**< CREATE_RENDERER has come */
	bool used;        /**< a resource was created: the version stays */
};

/** One message, as far as it is known. */
struct pb_vtest_message {
	uint32_t command; /**< enum pb_vtest_command */
	uint32_t length;  /**< as in the header */
	uint32_t words;   /**< words of the body, PB_VTEST_BODY_WORDS_MAX at most */
	uint32_t bytes;   /**< bytes of data behind the body; of TRANSFER_PUT known behind pb_vtest_body() */
};

/**
 * Checks a header.
 * @param header PB_VTEST_HEADER_WORDS words
 * @param message out; valid if the result is OK
 */
enum pb_vtest_status pb_vtest_begin(const struct pb_vtest_session *session, const uint32_t *header,
				    struct pb_vtest_message *message);
/**
 * Checks the body, and changes the session as the message does. Pre: pb_vtest_begin() was OK.
 * @param body message->words words
 */
enum pb_vtest_status pb_vtest_body(struct pb_vtest_session *session, struct pb_vtest_message *message,
				   const uint32_t *body);
/** Returns the name of a command; "unknown" if it has none. */
const char *pb_vtest_command_name(uint32_t command);
/** Returns the text of a status, for a message to a person. */
const char *pb_vtest_status_text(enum pb_vtest_status status);

#endif
