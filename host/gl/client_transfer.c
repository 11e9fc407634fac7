/* SPDX-License-Identifier: MIT */
/* Transfers of a client, through staging memory. */
#include "hal/engine/gl_packets.h"
#include "host/gl/client_internal.h"

/** Appends one piece's packet; submits the batch first if it is full. @param offset of its staging memory */
static bool append(struct pb_gl_client *client, const struct pb_gl_batch_transfer *transfer)
{
	enum pb_gl_batch_result result = pb_gl_batch_transfer(&client->batch, &client->context, transfer);

	if (result == PB_GL_BATCH_OK)
		return true;
	return pb_gl_fail(client, "a transfer that does not fit", PB_ERROR_NO_SPACE);
}

/** Submits the batch if it may be too full for a packet, so that what is staged and the packet are in one batch. */
static bool make_room(struct pb_gl_client *client)
{
	if (pb_gl_batch_has_room(&client->batch, PB_PACKET_GL_TRANSFER_WORDS))
		return true;
	return pb_gl_client_flush(client);
}

static struct pb_gl_batch_transfer packet_of(const struct pb_gl_client *client,
					     const struct pb_gl_resource *resource,
					     const struct pb_gl_transfer *transfer,
					     const struct pb_gl_piece *piece, bool to_resource,
					     uint32_t offset)
{
	return (struct pb_gl_batch_transfer){
		.id = resource->id,
		.to_resource = to_resource,
		.level = transfer->level,
		.box = piece->box,
		.offset = offset,
		.bytes = piece->bytes,
		.staging_bytes = (uint32_t)client->setup.segments[PB_GL_SEGMENT_STAGING].bytes,
		.stride = piece->row_bytes,
		.layer_stride = piece->row_bytes * piece->rows,
	};
}

bool pb_gl_append_piece(struct pb_gl_client *client, const struct pb_gl_resource *resource,
			const struct pb_gl_transfer *transfer, const struct pb_gl_piece *piece,
			bool to_resource, uint32_t *offset)
{
	struct pb_gl_batch_transfer packet;

	if (!make_room(client) || !pb_gl_stage(client, piece->bytes, offset))
		return false;
	packet = packet_of(client, resource, transfer, piece, to_resource, *offset);
	return append(client, &packet);
}

/** Runs one piece. A piece from a resource is waited for. */
static bool run_piece(struct pb_gl_client *client, const struct pb_gl_resource *resource,
		      const struct pb_gl_transfer *transfer, const struct pb_gl_piece *piece,
		      bool to_resource, uint8_t *memory)
{
	uint32_t offset;

	if (!pb_gl_append_piece(client, resource, transfer, piece, to_resource, &offset))
		return false;
	if (to_resource) {
		pb_gl_piece_pack(transfer, piece, memory, client->setup.staging + offset);
		client->figures.bytes_to += piece->bytes;
		return true;
	}
	if (!pb_gl_client_wait(client))
		return false;
	pb_gl_piece_unpack(transfer, piece, client->setup.staging + offset, memory);
	client->figures.bytes_from += piece->bytes;
	return true;
}

bool pb_gl_run_transfer(struct pb_gl_client *client, struct pb_gl_resource *resource,
			const struct pb_gl_transfer_request *request, bool to_resource, uint8_t *memory)
{
	struct pb_gl_transfer transfer;
	struct pb_gl_piece piece;
	const char *why;

	if (!pb_gl_transfer_plan(request, &transfer, &why))
		return pb_gl_refuse(client, why);
	if (!pb_gl_touch(client, resource))
		return false;
	while (pb_gl_transfer_next(&transfer, pb_gl_staging_room(client), &piece)) {
		if (!run_piece(client, resource, &transfer, &piece, to_resource, memory))
			return false;
	}
	return true;
}

bool pb_gl_client_caps(struct pb_gl_client *client, uint32_t set, uint32_t *words, uint32_t bytes)
{
	const uint32_t *staged;
	uint32_t offset;

	if (!pb_gl_client_flush(client) || !pb_gl_stage(client, bytes, &offset))
		return false;
	if (pb_gl_batch_caps(&client->batch, &client->context, set, offset, bytes,
			     (uint32_t)client->setup.segments[PB_GL_SEGMENT_STAGING].bytes) != PB_GL_BATCH_OK)
		return pb_gl_fail(client, "a capability set that does not fit", PB_ERROR_NO_SPACE);
	if (!pb_gl_client_wait(client))
		return false;
	staged = (const uint32_t *)(const void *)(client->setup.staging + offset);
	for (uint32_t i = 0; i < bytes / sizeof(*words); i++)
		words[i] = staged[i];
	return true;
}
