/* SPDX-License-Identifier: MIT */
#include "host/tool/trace_proto.h"

#include <stdlib.h>
#include <string.h>

/** Wire types. */
#define VARINT    0u
#define FIXED64   1u
#define DELIMITED 2u
/** Longest varint, in bytes. */
#define VARINT_BYTES 10u
/** Length of a message in a message: a varint of always so many bytes, so that it can be written afterwards. */
#define LENGTH_BYTES 4u

static void append(struct pb_proto *proto, const void *bytes, size_t count)
{
	if (proto->count + count > proto->room) {
		const size_t room = 2u * (proto->count + count);
		uint8_t *larger = realloc(proto->bytes, room);

		if (larger == NULL) {
			proto->failed = true;
			return;
		}
		proto->bytes = larger;
		proto->room = room;
	}
	memcpy(proto->bytes + proto->count, bytes, count);
	proto->count += count;
}

static void append_varint(struct pb_proto *proto, uint64_t value)
{
	uint8_t bytes[VARINT_BYTES];
	size_t count = 0;

	for (; value > 0x7fu; value >>= 7)
		bytes[count++] = (uint8_t)(value | 0x80u);
	bytes[count++] = (uint8_t)value;
	append(proto, bytes, count);
}

static void append_tag(struct pb_proto *proto, uint32_t field, uint32_t type)
{
	append_varint(proto, (uint64_t)field << 3 | type);
}

void pb_proto_number(struct pb_proto *proto, uint32_t field, uint64_t value)
{
	append_tag(proto, field, VARINT);
	append_varint(proto, value);
}

void pb_proto_fixed(struct pb_proto *proto, uint32_t field, uint64_t value)
{
	uint8_t bytes[sizeof(value)];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(value >> 8u * i);
	append_tag(proto, field, FIXED64);
	append(proto, bytes, sizeof(bytes));
}

void pb_proto_text(struct pb_proto *proto, uint32_t field, const char *text)
{
	append_tag(proto, field, DELIMITED);
	append_varint(proto, strlen(text));
	append(proto, text, strlen(text));
}

size_t pb_proto_begin(struct pb_proto *proto, uint32_t field)
{
	append_tag(proto, field, DELIMITED);
	append(proto, (const uint8_t[LENGTH_BYTES]){0}, LENGTH_BYTES);
	return proto->count;
}

void pb_proto_end(struct pb_proto *proto, size_t place)
{
	const size_t length = proto->count - place;

	if (proto->failed)
		return;
	for (size_t i = 0; i < LENGTH_BYTES; i++)
		proto->bytes[place - LENGTH_BYTES + i] =
			(uint8_t)((length >> 7u * i & 0x7fu) | (i + 1u < LENGTH_BYTES ? 0x80u : 0));
}

bool pb_proto_write(struct pb_proto *proto, FILE *file)
{
	const size_t count = proto->count;

	proto->count = 0;
	return !proto->failed && (count == 0 || fwrite(proto->bytes, count, 1, file) == 1);
}

void pb_proto_free(struct pb_proto *proto)
{
	free(proto->bytes);
	*proto = (struct pb_proto){.bytes = NULL};
}
