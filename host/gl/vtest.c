/* SPDX-License-Identifier: MIT */
#include "host/gl/vtest.h"

#include <stddef.h>

static const struct kind {
	const char *name;
	uint32_t number, words, first, last;
} kinds[] = {
#define ROW(name, number, words, first, last) {#name, (number), (words), (first), (last)},
	PB_VTEST_COMMANDS(ROW)
#undef ROW
};

static const struct kind *kind_of(uint32_t command)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].number == command)
			return &kinds[i];
	}
	return NULL;
}

/** Checks a length that depends on the data behind the body, and returns how many bytes of that are known. */
static enum pb_vtest_status length_of(struct pb_vtest_message *message, uint32_t words)
{
	switch (message->command) {
	case PB_VTEST_CREATE_RENDERER:
		/* Its length counts bytes. */
		message->bytes = message->length;
		return message->length != 0 && message->length <= PB_VTEST_NAME_BYTES_MAX
			       ? PB_VTEST_STATUS_OK
			       : PB_VTEST_STATUS_LENGTH;
	case PB_VTEST_SUBMIT_CMD:
		message->bytes = message->length * (uint32_t)sizeof(uint32_t);
		return message->length <= PB_VTEST_SUBMIT_WORDS_MAX ? PB_VTEST_STATUS_OK
								    : PB_VTEST_STATUS_LENGTH;
	case PB_VTEST_TRANSFER_PUT:
	case PB_VTEST_TRANSFER_PUT2:
		/* Counts the data, which pb_vtest_body() knows; behind TRANSFER_PUT2 it does not come. */
		return message->length >= words ? PB_VTEST_STATUS_OK : PB_VTEST_STATUS_LENGTH;
	default:
		return message->length == words ? PB_VTEST_STATUS_OK : PB_VTEST_STATUS_LENGTH;
	}
}

enum pb_vtest_status pb_vtest_begin(const struct pb_vtest_session *session, const uint32_t *header,
				    struct pb_vtest_message *message)
{
	const struct kind *kind = kind_of(header[1]);

	*message = (struct pb_vtest_message){.command = header[1], .length = header[0]};
	if (kind == NULL)
		return PB_VTEST_STATUS_UNKNOWN;
	if (session->named == (header[1] == PB_VTEST_CREATE_RENDERER))
		return PB_VTEST_STATUS_ORDER;
	if (session->version < kind->first || session->version > kind->last)
		return PB_VTEST_STATUS_VERSION;
	message->words = kind->words;
	return length_of(message, kind->words);
}

/** Checks the data behind a transfer. @param counted the length must count it @param sent it comes */
static enum pb_vtest_status check_data(struct pb_vtest_message *message, uint32_t bytes, bool counted,
				       bool sent)
{
	const uint32_t words = bytes / (uint32_t)sizeof(uint32_t) + (bytes % sizeof(uint32_t) != 0 ? 1u : 0u);

	if (bytes > PB_VTEST_DATA_BYTES_MAX)
		return PB_VTEST_STATUS_VALUE;
	/* A TRANSFER_PUT2 that does not count its data is as right as one that does. */
	if (counted && message->length - message->words != words &&
	    (sent || message->length != message->words))
		return PB_VTEST_STATUS_LENGTH;
	message->bytes = sent ? bytes : 0;
	return PB_VTEST_STATUS_OK;
}

/** Agrees on the highest version that both speak. Version 1 was given up: it is version 0. */
static enum pb_vtest_status agree(struct pb_vtest_session *session, uint32_t version)
{
	if (session->used)
		return PB_VTEST_STATUS_ORDER;
	session->version = version < PB_VTEST_VERSION_MAX ? 0 : PB_VTEST_VERSION_MAX;
	return PB_VTEST_STATUS_OK;
}

enum pb_vtest_status pb_vtest_body(struct pb_vtest_session *session, struct pb_vtest_message *message,
				   const uint32_t *body)
{
	switch (message->command) {
	case PB_VTEST_CREATE_RENDERER:
		session->named = true;
		return PB_VTEST_STATUS_OK;
	case PB_VTEST_PROTOCOL_VERSION:
		return agree(session, body[0]);
	case PB_VTEST_RESOURCE_CREATE2:
		session->used = true;
		return body[0] != 0 && body[PB_VTEST_CREATE_BYTES] <= PB_VTEST_DATA_BYTES_MAX
			       ? PB_VTEST_STATUS_OK
			       : PB_VTEST_STATUS_VALUE;
	case PB_VTEST_RESOURCE_CREATE:
		session->used = true;
		return body[0] != 0 ? PB_VTEST_STATUS_OK : PB_VTEST_STATUS_VALUE;
	case PB_VTEST_TRANSFER_GET:
		return check_data(message, body[PB_VTEST_TRANSFER_BYTES], false, false);
	case PB_VTEST_TRANSFER_PUT:
		return check_data(message, body[PB_VTEST_TRANSFER_BYTES], true, true);
	case PB_VTEST_TRANSFER_GET2:
		return check_data(message, body[PB_VTEST_TRANSFER2_BYTES], false, false);
	case PB_VTEST_TRANSFER_PUT2:
		return check_data(message, body[PB_VTEST_TRANSFER2_BYTES], true, false);
	default:
		return PB_VTEST_STATUS_OK;
	}
}

const char *pb_vtest_command_name(uint32_t command)
{
	const struct kind *kind = kind_of(command);

	return kind != NULL ? kind->name : "unknown";
}

const char *pb_vtest_status_text(enum pb_vtest_status status)
{
	static const char *const texts[] = {
#define ROW(name, text) text,
		PB_VTEST_STATUSES(ROW)
#undef ROW
	};

	return texts[status];
}
