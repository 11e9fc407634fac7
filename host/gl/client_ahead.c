/* SPDX-License-Identifier: MIT */
/* A transfer that a program makes behind each of its waits is submitted before it asks: one way to the card less a frame. */
#include <string.h>

#include "host/gl/client_internal.h"

/* So often in a row a program has to ask for the same transfer: one that reads single pixels asks for others each time. */
#define SEEN_MIN 2u

static bool is_equal(const struct pb_gl_transfer_request *a, const struct pb_gl_transfer_request *b)
{
	return a->level == b->level && a->stride == b->stride && a->layer_stride == b->layer_stride &&
	       a->offset == b->offset && memcmp(a->box, b->box, sizeof(a->box)) == 0;
}

/** Plans a transfer. @return whether it is one piece */
static bool plan(const struct pb_gl_client *client, const struct pb_gl_transfer_request *request,
		 struct pb_gl_transfer *transfer, struct pb_gl_piece *piece)
{
	const char *why;

	return pb_gl_transfer_plan(request, transfer, &why) &&
	       pb_gl_transfer_next(transfer, pb_gl_staging_room(client), piece) &&
	       transfer->layer == transfer->box[PB_GL_BOX_WORDS - 1u];
}

void pb_gl_ahead_forget(struct pb_gl_client *client)
{
	struct pb_gl_ahead *ahead = &client->ahead;

	/* It was not asked for, so the program does not do that behind each wait. */
	if (ahead->ready)
		ahead->seen = 0;
	ahead->ready = false;
	ahead->waited = false;
}

/** Notes a transfer that was run: one from a resource behind a wait is expected behind the next wait. */
static void note(struct pb_gl_client *client, struct pb_gl_resource *resource,
		 const struct pb_gl_transfer_request *request, bool to_resource)
{
	struct pb_gl_ahead *ahead = &client->ahead;

	if (to_resource) {
		pb_gl_ahead_forget(client);
	} else if (ahead->waited && !ahead->ready) {
		if (ahead->id != resource->id || !resource->shown || !is_equal(&ahead->request, request))
			ahead->seen = 0;
		if (ahead->seen < SEEN_MIN)
			ahead->seen++;
		ahead->id = resource->id;
		ahead->request = *request;
		resource->shown = true;
	}
}

/** The program begins to wait: submits the transfer that is expected behind the wait, if there is one. */
static bool read_ahead(struct pb_gl_client *client)
{
	struct pb_gl_ahead *ahead = &client->ahead;
	const struct pb_gl_resource *resource = pb_gl_resources_at(&client->resources, ahead->id);
	struct pb_gl_transfer transfer;
	struct pb_gl_piece piece;

	if (ahead->waited)
		return true;
	ahead->waited = true;
	/* Not another resource to which the id was given meanwhile. */
	if (ahead->seen < SEEN_MIN || resource == NULL || resource->handle == 0 || !resource->shown)
		return true;
	ahead->request.template_words = resource->template_words;
	if (!plan(client, &ahead->request, &transfer, &piece))
		return true;
	if (!pb_gl_append_piece(client, resource, &transfer, &piece, false, &ahead->offset))
		return false;
	ahead->number = client->number;
	if (!pb_gl_client_flush(client))
		return false;
	ahead->timeline = client->setup.queue->timeline;
	ahead->ready = true;
	return true;
}

/** Serves a transfer from a resource by what was read ahead. @param served out @return false: `failure` */
static bool serve(struct pb_gl_client *client, const struct pb_gl_resource *resource,
		  const struct pb_gl_transfer_request *request, uint8_t *memory, bool *served)
{
	struct pb_gl_ahead *ahead = &client->ahead;
	struct pb_gl_transfer transfer;
	struct pb_gl_piece piece;

	*served = false;
	/* The batch behind the next one uses its staging memory. */
	if (!ahead->ready || ahead->id != resource->id || !resource->shown ||
	    !is_equal(&ahead->request, request) ||
	    client->number - ahead->number >= client->setup.slot_count ||
	    !plan(client, request, &transfer, &piece))
		return true;
	ahead->ready = false;
	if (!pb_gl_wait_for(client, ahead->timeline))
		return false;
	pb_gl_piece_unpack(&transfer, &piece, client->setup.staging + ahead->offset, memory);
	client->figures.bytes_from += piece.bytes;
	client->figures.ahead++;
	*served = true;
	return true;
}

bool pb_gl_client_transfer(struct pb_gl_client *client, struct pb_gl_resource *resource,
			   const struct pb_gl_transfer_request *request, bool to_resource, uint8_t *memory)
{
	bool served = false;

	if (!to_resource && !serve(client, resource, request, memory, &served))
		return false;
	if (served)
		return true;
	if (!pb_gl_run_transfer(client, resource, request, to_resource, memory))
		return false;
	note(client, resource, request, to_resource);
	return true;
}

bool pb_gl_client_busy(struct pb_gl_client *client, const struct pb_gl_resource *resource, bool wait,
		       bool *busy)
{
	*busy = false;
	return (!wait || read_ahead(client)) && pb_gl_busy(client, resource, wait, busy);
}
