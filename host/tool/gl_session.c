/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/gl_session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/tool/gl_socket.h"

#define ANSWER_WORDS 3u
/* A program that sends nothing for so long, in microseconds, is silent. */
#define SILENT_US 150u

/* ---- ends ---- */

static bool end_with(struct pb_gl_session *session, const char *text)
{
	(void)snprintf(session->message, sizeof(session->message), "%s", text);
	return false;
}

static bool end_message(struct pb_gl_session *session, const struct pb_vtest_message *message,
			enum pb_vtest_status status)
{
	(void)snprintf(session->message, sizeof(session->message), "message %u (%s) of length %u: %s",
		       (unsigned)message->command, pb_vtest_command_name(message->command),
		       (unsigned)message->length, pb_vtest_status_text(status));
	return false;
}

/* Keeps the result of a function of the backend, with its reason. */
static bool back(struct pb_gl_session *session, bool result)
{
	if (!result)
		session->backend->failure(session->backend->context, session->message);
	return result;
}

static bool read_all(struct pb_gl_session *session, void *to, size_t bytes)
{
	return pb_gl_read_all(session->socket, to, bytes) || end_with(session, "it left within a message");
}

static bool write_all(struct pb_gl_session *session, const void *from, size_t bytes)
{
	return pb_gl_write_all(session->socket, from, bytes) || end_with(session, "it left before an answer");
}

/* Makes the buffer as large as this. */
static bool grow(struct pb_gl_session *session, uint32_t bytes)
{
	uint8_t *data;

	if (bytes <= session->data_bytes)
		return true;
	data = realloc(session->data, bytes);
	if (data == NULL)
		return end_with(session, "out of memory");
	session->data = data;
	session->data_bytes = bytes;
	return true;
}

static bool read_data(struct pb_gl_session *session, uint32_t bytes)
{
	return grow(session, bytes) && read_all(session, session->data, bytes);
}

/* ---- messages ---- */

static bool take_name(struct pb_gl_session *session, uint32_t bytes)
{
	size_t length;

	if (!read_data(session, bytes))
		return false;
	length = strnlen((const char *)session->data, bytes);
	if (length >= sizeof(session->name))
		length = sizeof(session->name) - 1;
	session->name[length] = '\0';
	for (size_t i = 0; i < length; i++)
		session->name[i] =
			(char)(session->data[i] >= 0x20 && session->data[i] < 0x7f ? session->data[i] : '?');
	return true;
}

static bool answer(struct pb_gl_session *session, uint32_t length, uint32_t command, uint32_t word)
{
	const uint32_t words[ANSWER_WORDS] = {length, command, word};

	return write_all(session, words, (2u + length) * sizeof(words[0]));
}

/* The length of this answer counts bytes, and one more. */
static bool send_caps(struct pb_gl_session *session, uint32_t set, uint32_t bytes)
{
	uint32_t words[2u + PB_GL_CAPS2_BYTES / sizeof(uint32_t)] = {bytes + 1u, set};

	if (!back(session, session->backend->caps(session->backend->context, set, &words[2], bytes)))
		return false;
	return write_all(session, words, 2u * sizeof(words[0]) + bytes);
}

/* Makes memory that the program maps, too, and cannot shorten. @return -1: errno */
static int make_memory(uint32_t bytes, uint8_t **memory)
{
	const int file = memfd_create("patchbay resource", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *mapped = MAP_FAILED;

	if (file >= 0 && ftruncate(file, (off_t)bytes) == 0 &&
	    fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (mapped != MAP_FAILED) {
		*memory = mapped;
		return file;
	}
	if (file >= 0)
		(void)close(file);
	return -1;
}

static bool create(struct pb_gl_session *session, const uint32_t *body, uint32_t bytes)
{
	const struct pb_gl_backend *backend = session->backend;
	uint32_t template_words[PB_GL_TEMPLATE_WORDS] = {0};
	uint8_t *memory = NULL;
	int file = -1;
	bool good;

	/* The last word is flags, which vtest does not have. */
	memcpy(template_words, &body[PB_VTEST_CREATE_TEMPLATE],
	       (PB_GL_TEMPLATE_WORDS - 1u) * sizeof(template_words[0]));
	if (bytes != 0) {
		file = make_memory(bytes, &memory);
		if (file < 0)
			return end_with(session, "out of memory for a resource");
	}
	good = back(session, backend->create(backend->context, body[0], template_words, memory, bytes));
	if (!good && memory != NULL)
		(void)munmap(memory, bytes);
	if (good && file >= 0)
		good = pb_gl_send_file(session->socket, file) ||
		       end_with(session, "it left before an answer");
	if (file >= 0)
		(void)close(file);
	return good;
}

static bool drop(struct pb_gl_session *session, uint32_t handle)
{
	uint8_t *memory = NULL;
	uint32_t bytes = 0;
	const bool good =
		back(session, session->backend->drop(session->backend->context, handle, &memory, &bytes));

	if (memory != NULL)
		(void)munmap(memory, bytes);
	return good;
}

/* TRANSFER_GET and TRANSFER_PUT: the data come and go through the socket. */
static bool transfer(struct pb_gl_session *session, const uint32_t *body, bool to_resource)
{
	const uint32_t bytes = body[PB_VTEST_TRANSFER_BYTES];
	struct pb_gl_transfer_request request = {
		.level = body[1],
		.stride = body[PB_VTEST_TRANSFER_STRIDE],
		.layer_stride = body[PB_VTEST_TRANSFER_LAYER_STRIDE],
		.available = bytes,
	};

	memcpy(request.box, &body[PB_VTEST_TRANSFER_BOX], sizeof(request.box));
	if (!grow(session, bytes != 0 ? bytes : 1u))
		return false;
	if (to_resource && !read_all(session, session->data, bytes))
		return false;
	if (!to_resource)
		memset(session->data, 0, bytes);
	if (!back(session, session->backend->transfer(session->backend->context, body[0], &request,
						      to_resource, session->data)))
		return false;
	return to_resource || write_all(session, session->data, bytes);
}

/* TRANSFER_GET2 and TRANSFER_PUT2: the data are in shared memory. */
static bool transfer_shared(struct pb_gl_session *session, const uint32_t *body, bool to_resource)
{
	struct pb_gl_transfer_request request = {.level = body[1], .offset = body[PB_VTEST_TRANSFER2_OFFSET]};

	memcpy(request.box, &body[PB_VTEST_TRANSFER2_BOX], sizeof(request.box));
	return back(session, session->backend->transfer(session->backend->context, body[0], &request,
							to_resource, NULL));
}

static bool submit(struct pb_gl_session *session, uint32_t bytes)
{
	if (!read_data(session, bytes))
		return false;
	return back(session,
		    session->backend->submit(session->backend->context, (uint32_t *)(void *)session->data,
					     bytes / (uint32_t)sizeof(uint32_t)));
}

static bool busy_wait(struct pb_gl_session *session, const uint32_t *body)
{
	bool busy = false;

	if (!back(session, session->backend->busy(session->backend->context, body[0],
						  (body[1] & PB_VTEST_WAIT) != 0, &busy)))
		return false;
	return answer(session, 1, PB_VTEST_RESOURCE_BUSY_WAIT, busy ? 1u : 0u);
}

static bool carry_out(struct pb_gl_session *session, const struct pb_vtest_message *message,
		      const uint32_t *body)
{
	switch (message->command) {
	case PB_VTEST_CREATE_RENDERER:
		return take_name(session, message->bytes) &&
		       session->backend->open(session->backend->context, session->name, session->message);
	case PB_VTEST_GET_CAPS:
		return send_caps(session, 1, PB_GL_CAPS1_BYTES);
	case PB_VTEST_GET_CAPS2:
		return send_caps(session, 2, PB_GL_CAPS2_BYTES);
	case PB_VTEST_PING_PROTOCOL_VERSION:
		return answer(session, 0, message->command, 0);
	case PB_VTEST_PROTOCOL_VERSION:
		return answer(session, 1, message->command, session->vtest.version);
	case PB_VTEST_RESOURCE_CREATE:
		return create(session, body, 0);
	case PB_VTEST_RESOURCE_CREATE2:
		return create(session, body, body[PB_VTEST_CREATE_BYTES]);
	case PB_VTEST_RESOURCE_UNREF:
		return drop(session, body[0]);
	case PB_VTEST_TRANSFER_GET:
	case PB_VTEST_TRANSFER_PUT:
		return transfer(session, body, message->command == PB_VTEST_TRANSFER_PUT);
	case PB_VTEST_TRANSFER_GET2:
	case PB_VTEST_TRANSFER_PUT2:
		return transfer_shared(session, body, message->command == PB_VTEST_TRANSFER_PUT2);
	case PB_VTEST_SUBMIT_CMD:
		return submit(session, message->bytes);
	case PB_VTEST_RESOURCE_BUSY_WAIT:
	default:
		return busy_wait(session, body);
	}
}

/* Reads and carries out one message. @param left out: the program left before it */
static bool serve_one(struct pb_gl_session *session, bool *left)
{
	uint32_t header[PB_VTEST_HEADER_WORDS];
	uint32_t body[PB_VTEST_BODY_WORDS_MAX] = {0};
	struct pb_vtest_message message;
	enum pb_vtest_status status;

	*left = false;
	/* A frame is several messages, one after the other: they become one submission. */
	if (!pb_gl_await_shortly(session->socket, SILENT_US) &&
	    !back(session, session->backend->idle(session->backend->context)))
		return false;
	*left = !pb_gl_await(session->socket);
	if (*left)
		return false;
	if (!read_all(session, header, sizeof(header)))
		return false;
	status = pb_vtest_begin(&session->vtest, header, &message);
	if (status != PB_VTEST_STATUS_OK)
		return end_message(session, &message, status);
	if (!read_all(session, body, message.words * sizeof(body[0])))
		return false;
	status = pb_vtest_body(&session->vtest, &message, body);
	if (status != PB_VTEST_STATUS_OK)
		return end_message(session, &message, status);
	return carry_out(session, &message, body);
}

bool pb_gl_session_serve(struct pb_gl_session *session)
{
	bool left = false;

	(void)snprintf(session->name, sizeof(session->name), "a program");
	while (serve_one(session, &left))
		;
	return left;
}

void pb_gl_session_free(struct pb_gl_session *session)
{
	free(session->data);
	session->data = NULL;
	session->data_bytes = 0;
}
