/* SPDX-License-Identifier: MIT */
/*
 * Messages of an OpenGL program: any headers and bodies, and transfers with any numbers. Nothing is carried out before a
 * name has come; no message makes a server read more than it may; no transfer leaves the program's memory, and its pieces
 * have the room that they were given.
 *
 * Aims at: host/gl/vtest.c host/gl/transfer.c host/gl/resources.c host/gl/formats.c
 */
#include <string.h>

#include "host/gl/resources.h"
#include "host/gl/transfer.h"
#include "host/gl/vtest.h"
#include "tests/fuzz/fuzz.h"

#define MEMORY_BYTES 4096u
#define PIECES_MAX   300u
#define ROOM_MAX     2048u

static uint8_t memory[MEMORY_BYTES];
static uint8_t packed[ROOM_MAX];

/* Small numbers most often, so that boxes fit now and then. */
static uint32_t number(struct fuzz_input *input)
{
	const uint32_t kind = fuzz_byte(input);

	return kind < 0xe0 ? kind % 40u : fuzz_number(input);
}

static void check_piece(const struct pb_gl_transfer *transfer, const struct pb_gl_piece *piece, uint32_t room,
			uint64_t available)
{
	const uint64_t last = piece->offset + (piece->layers - 1u) * transfer->layer_stride +
			      (piece->rows - 1u) * transfer->stride + piece->row_bytes;

	FUZZ_CHECK(piece->bytes != 0 && piece->bytes <= room);
	FUZZ_CHECK(piece->bytes == piece->row_bytes * piece->rows * piece->layers);
	FUZZ_CHECK(last <= available);
	pb_gl_piece_pack(transfer, piece, memory, packed);
	pb_gl_piece_unpack(transfer, piece, packed, memory);
}

static void try_transfer(struct fuzz_input *input)
{
	uint32_t words[PB_GL_TEMPLATE_WORDS];
	struct pb_gl_transfer_request request = {.template_words = words};
	const uint32_t room = 64u + fuzz_byte(input) * 7u;
	struct pb_gl_transfer transfer;
	struct pb_gl_piece piece;
	uint64_t bytes;
	const char *why;

	for (uint32_t i = 0; i < PB_GL_TEMPLATE_WORDS; i++)
		words[i] = number(input);
	for (uint32_t i = 0; i < PB_GL_BOX_WORDS; i++)
		request.box[i] = number(input);
	request.level = number(input);
	request.stride = number(input) * (fuzz_byte(input) % 9u);
	request.layer_stride = number(input) * (fuzz_byte(input) % 9u);
	request.offset = number(input);
	request.available = MEMORY_BYTES - fuzz_byte(input) * 16u;
	bytes = pb_gl_resource_bytes(words, 1u << 20);
	FUZZ_CHECK(bytes != 0 && bytes % 4096u == 0 && bytes <= 1u << 20);
	if (!pb_gl_transfer_plan(&request, &transfer, &why))
		return;
	for (uint32_t i = 0; i < PIECES_MAX && pb_gl_transfer_next(&transfer, room, &piece); i++)
		check_piece(&transfer, &piece, room, request.available);
}

/* @return false: the session is over */
static bool try_message(struct fuzz_input *input, struct pb_vtest_session *session)
{
	const uint32_t header[] = {number(input), fuzz_below(input, 18)};
	const struct pb_vtest_session before = *session;
	uint32_t body[PB_VTEST_BODY_WORDS_MAX];
	struct pb_vtest_message message;

	if (pb_vtest_begin(session, header, &message) != PB_VTEST_STATUS_OK)
		return false;
	FUZZ_CHECK(memcmp(&before, session, sizeof(before)) == 0);
	FUZZ_CHECK(before.named || message.command == PB_VTEST_CREATE_RENDERER);
	FUZZ_CHECK(message.words <= PB_VTEST_BODY_WORDS_MAX);
	for (uint32_t i = 0; i < PB_VTEST_BODY_WORDS_MAX; i++)
		body[i] = number(input);
	if (pb_vtest_body(session, &message, body) != PB_VTEST_STATUS_OK)
		return false;
	FUZZ_CHECK(message.bytes <= PB_VTEST_DATA_BYTES_MAX);
	FUZZ_CHECK(session->named && (session->version == 0 || session->version == PB_VTEST_VERSION_MAX));
	FUZZ_CHECK(!before.used || (session->used && session->version == before.version));
	return true;
}

void fuzz_one(struct fuzz_input *input)
{
	struct pb_vtest_session session = {.named = false};
	bool going = true;

	while (fuzz_more(input)) {
		if (fuzz_below(input, 3) == 0)
			try_transfer(input);
		else
			going = going && try_message(input, &session);
	}
}
