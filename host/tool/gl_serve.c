/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/gl_serve.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/tool/gl_session.h"

#define BACKLOG 8

/* ---- the backend ---- */

static bool create(void *context, uint32_t handle, const uint32_t *template_words, uint8_t *memory,
		   uint32_t bytes)
{
	struct pb_gl_card *card = context;
	struct pb_gl_resource *resource = pb_gl_client_create(card->client, handle, template_words);

	if (resource == NULL)
		return false;
	resource->memory = memory;
	resource->memory_bytes = bytes;
	return true;
}

static bool drop(void *context, uint32_t handle, uint8_t **memory, uint32_t *bytes)
{
	struct pb_gl_card *card = context;
	const struct pb_gl_resource *resource = pb_gl_resources_find(&card->client->resources, handle);

	if (resource != NULL) {
		*memory = resource->memory;
		*bytes = (uint32_t)resource->memory_bytes;
	}
	return pb_gl_client_drop(card->client, handle);
}

static bool submit(void *context, uint32_t *words, uint32_t count)
{
	struct pb_gl_card *card = context;

	return pb_gl_client_submit(card->client, words, count);
}

/* Finds a resource by its handle. NULL: the failure is recorded. */
static struct pb_gl_resource *find(const struct pb_gl_card *card, uint32_t handle)
{
	struct pb_gl_resource *resource = pb_gl_resources_find(&card->client->resources, handle);

	if (resource == NULL)
		pb_gl_client_refuse(card->client, "a resource that does not exist");
	return resource;
}

static bool transfer(void *context, uint32_t handle, struct pb_gl_transfer_request *request, bool to_resource,
		     uint8_t *memory)
{
	const struct pb_gl_card *card = context;
	struct pb_gl_resource *resource = find(card, handle);

	if (resource == NULL)
		return false;
	if (memory == NULL) {
		memory = resource->memory;
		request->available = resource->memory_bytes;
	}
	request->template_words = resource->template_words;
	return pb_gl_client_transfer(card->client, resource, request, to_resource, memory);
}

static bool busy(void *context, uint32_t handle, bool wait, bool *result)
{
	const struct pb_gl_card *card = context;
	const struct pb_gl_resource *resource;

	/* Programs ask so before they have any resource, to find out which messages a server knows. */
	*result = false;
	if (handle == 0)
		return !wait || pb_gl_client_wait(card->client);
	resource = find(card, handle);
	return resource != NULL && pb_gl_client_busy(card->client, resource, wait, result);
}

static bool caps(void *context, uint32_t set, uint32_t *words, uint32_t bytes)
{
	struct pb_gl_card *card = context;

	return pb_gl_client_caps(card->client, set, words, bytes);
}

static bool idle(void *context)
{
	struct pb_gl_card *card = context;

	return pb_gl_client_flush(card->client);
}

static void failure(void *context, char *text)
{
	pb_gl_card_failure(context, text);
}

/* ---- connections ---- */

int pb_gl_listen(const char *program, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(address.sun_path)) {
		fprintf(stderr, "%s: %s: the path is too long for a socket\n", program, path);
		if (listener >= 0)
			(void)close(listener);
		return -1;
	}
	memcpy(address.sun_path, path, strlen(path) + 1);
	if (listener >= 0 && bind(listener, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
	    listen(listener, BACKLOG) == 0)
		return listener;
	fprintf(stderr, "%s: %s: %s\n", program, path, strerror(errno));
	if (listener >= 0)
		(void)close(listener);
	return -1;
}

int pb_gl_serve(const char *program, int connection, const struct pb_gl_card_options *options)
{
	struct pb_gl_card card;
	const struct pb_gl_backend backend = {
		.context = &card,
		.create = create,
		.drop = drop,
		.submit = submit,
		.transfer = transfer,
		.busy = busy,
		.caps = caps,
		.idle = idle,
		.failure = failure,
	};
	struct pb_gl_session session = {.socket = connection, .backend = &backend};
	bool good = pb_gl_card_open(&card, options, session.message);

	if (good)
		good = pb_gl_session_serve(&session);
	/* The program sees its end before the card has cleaned up. */
	(void)shutdown(connection, SHUT_RDWR);
	if (!good)
		fprintf(stderr, "%s: %s: %s\n", program, session.name[0] != '\0' ? session.name : "a program",
			session.message);
	pb_gl_card_close(&card);
	pb_gl_session_free(&session);
	return good ? 0 : 1;
}

pid_t pb_gl_accept(const char *program, int listener, const struct pb_gl_card_options *options)
{
	const int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	const pid_t parent = getpid();
	pid_t pid;

	if (connection < 0)
		return -1;
	(void)fflush(NULL);
	pid = fork();
	if (pid == 0) {
		/* It ends with its server, but for the time that it takes to leave the card. */
		(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(1);
		(void)close(listener);
		_exit(pb_gl_serve(program, connection, options));
	}
	if (pid < 0)
		fprintf(stderr, "%s: %s\n", program, strerror(errno));
	(void)close(connection);
	return pid;
}
