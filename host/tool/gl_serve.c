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
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/tool/gl_session.h"

/* Connections that wait, beside those that the server has accepted. */
#define BACKLOG 64
/* For a program to tell its name. */
#define NAME_SECONDS 10
/* Behind the standard ones. */
#define FIRST_FILE 3

/* A program, and its share of the card. */
struct share {
	const struct pb_gl_program *program;
	struct pb_gl_card card;
	char name[64]; /* of the program */
};

/* ---- the backend ---- */

static struct pb_gl_card *card_of(void *context)
{
	struct share *share = context;

	return &share->card;
}

static void tell_share(const struct share *share)
{
	static const char *const priorities[PB_PRIORITIES] = {"idle", "low", "normal", "high", "realtime"};
	const struct pb_gl_program *program = share->program;

	fprintf(stderr, "%s: %s, process %d: channel %u, priority %s, weight %u\n", program->server,
		share->name, (int)program->id, (unsigned)share->card.link->channel,
		priorities[program->options.priority], (unsigned)program->options.weight);
}

static void tell_figures(const struct share *share)
{
	const struct pb_gl_client *client = share->card.client;

	fprintf(stderr, "%s: %s, process %d: %llu submissions, %llu commands, %llu patches, %u evictions\n",
		share->program->server, share->name, (int)share->program->id,
		(unsigned long long)client->figures.submissions, (unsigned long long)client->figures.commands,
		(unsigned long long)client->figures.patches, (unsigned)client->manager.figures.evictions);
}

/* A program has told its name. Before that it has nothing of the card, and little time. */
static bool open_share(void *context, const char *name, char *message)
{
	static const struct timeval no_limit = {0, 0};
	struct share *share = context;
	const struct pb_gl_program *program = share->program;

	(void)snprintf(share->name, sizeof(share->name), "%s", name);
	(void)setsockopt(program->connection, SOL_SOCKET, SO_RCVTIMEO, &no_limit, sizeof(no_limit));
	if (!pb_gl_card_open(&share->card, &program->options, message))
		return false;
	if (program->tells)
		tell_share(share);
	return true;
}

static bool create(void *context, uint32_t handle, const uint32_t *template_words, uint8_t *memory,
		   uint32_t bytes)
{
	struct pb_gl_card *card = card_of(context);
	struct pb_gl_resource *resource = pb_gl_client_create(card->client, handle, template_words);

	if (resource == NULL)
		return false;
	resource->memory = memory;
	resource->memory_bytes = bytes;
	return true;
}

static bool drop(void *context, uint32_t handle, uint8_t **memory, uint32_t *bytes)
{
	struct pb_gl_card *card = card_of(context);
	const struct pb_gl_resource *resource = pb_gl_resources_find(&card->client->resources, handle);

	if (resource != NULL) {
		*memory = resource->memory;
		*bytes = (uint32_t)resource->memory_bytes;
	}
	return pb_gl_client_drop(card->client, handle);
}

static bool submit(void *context, uint32_t *words, uint32_t count)
{
	struct pb_gl_card *card = card_of(context);

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
	const struct pb_gl_card *card = card_of(context);
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
	const struct pb_gl_card *card = card_of(context);
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
	struct pb_gl_card *card = card_of(context);

	return pb_gl_client_caps(card->client, set, words, bytes);
}

static bool idle(void *context)
{
	struct pb_gl_card *card = card_of(context);

	return !card->started || pb_gl_client_flush(card->client);
}

static void failure(void *context, char *text)
{
	pb_gl_card_failure(card_of(context), text);
}

/* ---- connections ---- */

/* Makes a path free whose server has been killed: a connection is refused there. */
static void remove_stale(const struct sockaddr_un *address, int kind)
{
	const int probe = socket(AF_UNIX, kind, 0);

	if (probe >= 0 && connect(probe, (const struct sockaddr *)address, sizeof(*address)) != 0 &&
	    errno == ECONNREFUSED)
		(void)unlink(address->sun_path);
	if (probe >= 0)
		(void)close(probe);
}

int pb_gl_listen(const char *program, const char *path, int kind)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int listener = socket(AF_UNIX, kind, 0);

	if (strlen(path) >= sizeof(address.sun_path)) {
		fprintf(stderr, "%s: %s: the path is too long for a socket\n", program, path);
		if (listener >= 0)
			(void)close(listener);
		return -1;
	}
	memcpy(address.sun_path, path, strlen(path) + 1);
	remove_stale(&address, kind);
	if (listener >= 0 && bind(listener, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
	    listen(listener, BACKLOG) == 0)
		return listener;
	fprintf(stderr, "%s: %s: %s\n", program, path, strerror(errno));
	if (listener >= 0)
		(void)close(listener);
	return -1;
}

/* Serves the program in this process, and prints why it ended if not because the program left. @return exit code */
static int serve(const struct pb_gl_program *program)
{
	static const struct timeval limit = {NAME_SECONDS, 0};
	static struct share share;
	const struct pb_gl_backend backend = {
		.context = &share,
		.open = open_share,
		.create = create,
		.drop = drop,
		.submit = submit,
		.transfer = transfer,
		.busy = busy,
		.caps = caps,
		.idle = idle,
		.failure = failure,
	};
	struct pb_gl_session session = {.socket = program->connection, .backend = &backend};
	bool good;

	share = (struct share){.program = program, .card = PB_GL_CARD_CLOSED};
	(void)setsockopt(program->connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	good = pb_gl_session_serve(&session);
	/* The program sees its end before the card has cleaned up. */
	(void)shutdown(program->connection, SHUT_RDWR);
	if (!good)
		fprintf(stderr, "%s: %s: %s\n", program->server, session.name, session.message);
	if (program->tells && share.card.started)
		tell_figures(&share);
	pb_gl_card_close(&share.card);
	pb_gl_session_free(&session);
	return good ? 0 : 1;
}

/* Leaves this process the program's connection, and standard output and error, of all that its server has. */
static bool keep_connection(struct pb_gl_program *program)
{
	if (program->connection != FIRST_FILE && dup2(program->connection, FIRST_FILE) < 0)
		return false;
	program->connection = FIRST_FILE;
	return close_range(FIRST_FILE + 1, ~0u, 0) == 0;
}

pid_t pb_gl_start(const struct pb_gl_program *program)
{
	struct pb_gl_program own = *program;
	const pid_t parent = getpid();
	pid_t pid;

	(void)fflush(NULL);
	pid = fork();
	if (pid == 0) {
		/* It ends with its server, but for the time that it takes to leave the card. */
		(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
		(void)signal(SIGTERM, SIG_DFL);
		(void)signal(SIGINT, SIG_DFL);
		if (getppid() != parent || !keep_connection(&own))
			_exit(1);
		_exit(serve(&own));
	}
	if (pid < 0)
		fprintf(stderr, "%s: %s\n", program->server, strerror(errno));
	return pid;
}

bool pb_gl_try(const char *program, const struct pb_gl_card_options *options)
{
	static struct pb_gl_card card;
	uint32_t words[PB_GL_CAPS1_BYTES / sizeof(uint32_t)];
	char message[PB_GL_MESSAGE_BYTES];
	bool good = pb_gl_card_open(&card, options, message);
	const bool found = card.link != NULL;

	/* Another engine does not know the command. */
	if (good && !pb_gl_client_caps(card.client, 1, words, sizeof(words))) {
		pb_gl_card_failure(&card, message);
		good = false;
	}
	pb_gl_card_close(&card);
	if (!good)
		fprintf(stderr, "%s: %s%s%s%s\n", program, found ? options->socket : "", found ? ": " : "",
			message,
			found ? "; `patchbay card --engine gl` starts a card that draws OpenGL" : "");
	return good;
}
