/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/gl_registry.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/tool/gl_peer.h"

#define MIB_SHIFT 20u
#define MS_US     1000u

/* ---- records ---- */

static void forget(struct pb_gl_registration *record)
{
	if (record->connection >= 0)
		(void)close(record->connection);
	if (record->process >= 0)
		(void)close(record->process);
	*record = (struct pb_gl_registration){.connection = -1, .process = -1};
}

void pb_gl_registry_start(struct pb_gl_registry *registry, int listener,
			  const struct pb_gl_card_options *defaults)
{
	registry->defaults = *defaults;
	registry->listener = listener;
	for (uint32_t i = 0; i < PB_GL_REGISTRATIONS; i++)
		registry->records[i] = (struct pb_gl_registration){.connection = -1, .process = -1};
}

void pb_gl_registry_end(struct pb_gl_registry *registry)
{
	for (uint32_t i = 0; i < PB_GL_REGISTRATIONS; i++)
		forget(&registry->records[i]);
	(void)close(registry->listener);
}

static struct pb_gl_registration *find_free(struct pb_gl_registry *registry)
{
	for (uint32_t i = 0; i < PB_GL_REGISTRATIONS; i++) {
		if (registry->records[i].connection < 0)
			return &registry->records[i];
	}
	return NULL;
}

size_t pb_gl_registry_pollers(const struct pb_gl_registry *registry, struct pollfd *pollers)
{
	size_t count = 0;

	pollers[count++] = (struct pollfd){.fd = registry->listener, .events = POLLIN};
	for (uint32_t i = 0; i < PB_GL_REGISTRATIONS; i++) {
		if (registry->records[i].connection >= 0)
			pollers[count++] =
				(struct pollfd){.fd = registry->records[i].connection, .events = POLLIN};
	}
	return count;
}

/* ---- messages ---- */

static void answer(int connection, uint32_t word)
{
	/* Who does not read it has no use for it. */
	(void)send(connection, &word, sizeof(word), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static bool is_right(const struct pb_gl_registration_request *request)
{
	return request->version == PB_GL_REGISTRATION_VERSION && request->priority < PB_PRIORITIES &&
	       request->weight - 1u < PB_WEIGHT_MAX && request->memory_mib - 1u < PB_GL_MEMORY_MIB_MAX &&
	       request->hang_ms <= PB_GL_HANG_MS_MAX;
}

/* Registers the process that has sent the request. It cannot have ended before: it is to answer for its id. */
static enum pb_gl_registration_answer enter(const struct pb_gl_registry *registry,
					    struct pb_gl_registration *record,
					    const struct pb_gl_registration_request *request)
{
	uid_t user;

	if (record->process >= 0 || !is_right(request))
		return PB_GL_REGISTRATION_WRONG;
	record->id = pb_gl_peer(record->connection, &user);
	if (user != geteuid() && user != 0)
		return PB_GL_REGISTRATION_USER;
	record->process = record->id > 0 ? pb_gl_process_open(record->id) : -1;
	/* The kernel says once more that it is that one, now that the descriptor holds it. */
	if (record->process < 0 || pb_gl_peer(record->connection, &user) != record->id)
		return PB_GL_REGISTRATION_WRONG;
	record->options = registry->defaults;
	record->options.priority = request->priority;
	record->options.weight = request->weight;
	record->options.memory_bytes = (uint64_t)request->memory_mib << MIB_SHIFT;
	record->options.hang_us = request->hang_ms * MS_US;
	return PB_GL_REGISTRATION_DONE;
}

/* Reads what has come from a process that has connected, or that it has left. */
static void read_one(const struct pb_gl_registry *registry, struct pb_gl_registration *record)
{
	struct pb_gl_registration_request request;
	const ssize_t got = recv(record->connection, &request, sizeof(request), MSG_DONTWAIT | MSG_TRUNC);
	enum pb_gl_registration_answer result = PB_GL_REGISTRATION_WRONG;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got == (ssize_t)sizeof(request))
		result = enter(registry, record, &request);
	if (got > 0)
		answer(record->connection, result);
	if (got <= 0 || result != PB_GL_REGISTRATION_DONE)
		forget(record);
}

static bool accept_one(struct pb_gl_registry *registry)
{
	const int connection = accept4(registry->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct pb_gl_registration *record = find_free(registry);

	if (connection < 0)
		return false;
	if (record != NULL) {
		record->connection = connection;
		return true;
	}
	answer(connection, PB_GL_REGISTRATION_FULL);
	(void)close(connection);
	return true;
}

void pb_gl_registry_poll(struct pb_gl_registry *registry)
{
	struct pollfd listener = {.fd = registry->listener, .events = POLLIN};

	for (uint32_t i = 0; i < PB_GL_REGISTRATIONS; i++) {
		if (registry->records[i].connection >= 0)
			read_one(registry, &registry->records[i]);
	}
	/* A few at a time: the programs' turn comes, too. */
	for (uint32_t i = 0; i < PB_GL_REGISTRATIONS && poll(&listener, 1, 0) > 0; i++) {
		if (!accept_one(registry))
			break;
	}
}

/* ---- programs ---- */

static const struct pb_gl_registration *find_process(struct pb_gl_registry *registry, pid_t id)
{
	for (uint32_t i = 0; i < PB_GL_REGISTRATIONS; i++) {
		struct pb_gl_registration *record = &registry->records[i];

		if (record->connection < 0 || record->process < 0 || record->id != id)
			continue;
		/* While it runs no other process has its id. */
		if (pb_gl_process_runs(record->process))
			return record;
		forget(record);
	}
	return NULL;
}

pid_t pb_gl_registry_find(struct pb_gl_registry *registry, int connection, struct pb_gl_card_options *options)
{
	pid_t chain[PB_GL_ANCESTORS_MAX];
	uid_t user;
	const pid_t program = pb_gl_peer(connection, &user);
	const size_t count = program > 0 ? pb_gl_ancestors(program, chain) : 0;

	*options = registry->defaults;
	for (size_t i = 0; i < count; i++) {
		const struct pb_gl_registration *record = find_process(registry, chain[i]);

		if (record == NULL)
			continue;
		*options = record->options;
		return record->id;
	}
	return program;
}

/* ---- the other side ---- */

static bool connect_to(int connection, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int length =
		snprintf(address.sun_path, sizeof(address.sun_path), "%s" PB_GL_REGISTRY_SUFFIX, path);

	if (length < 0 || (size_t)length >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return false;
	}
	return connect(connection, (const struct sockaddr *)&address, sizeof(address)) == 0;
}

static const char *answer_text(uint32_t word)
{
	static const char *const texts[] = {
#define TEXT(name, number, text) [number] = (text),
		PB_GL_REGISTRATION_ANSWERS(TEXT)
#undef TEXT
	};

	return word < PB_GL_REGISTRATION_ANSWER_COUNT ? texts[word] : "it gives no answer";
}

int pb_gl_register(const char *program, const char *path, const struct pb_gl_card_options *options)
{
	const struct pb_gl_registration_request request = {
		.version = PB_GL_REGISTRATION_VERSION,
		.priority = options->priority,
		.weight = options->weight,
		.memory_mib = (uint32_t)(options->memory_bytes >> MIB_SHIFT),
		.hang_ms = options->hang_us / MS_US,
	};
	const int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	uint32_t word = PB_GL_REGISTRATION_ANSWER_COUNT;

	if (connection < 0 || !connect_to(connection, path)) {
		fprintf(stderr, "%s: no `patchbay gl` serves at %s: %s\n", program, path, strerror(errno));
	} else {
		/* A server that has too many programs answers without having read. */
		(void)send(connection, &request, sizeof(request), MSG_NOSIGNAL);
		if (recv(connection, &word, sizeof(word), 0) == (ssize_t)sizeof(word) &&
		    word == PB_GL_REGISTRATION_DONE)
			return connection;
		fprintf(stderr, "%s: the server at %s refuses: %s\n", program, path, answer_text(word));
	}
	if (connection >= 0)
		(void)close(connection);
	return -1;
}
