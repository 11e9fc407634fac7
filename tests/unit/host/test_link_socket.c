/* SPDX-License-Identifier: MIT */
/* The socket link against servers that are no card, or a hostile one. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/link_protocol.h"
#include "patchbay/link.h"
#include "tests/unit/host/link_clock.h"
#include "tests/unit/patience.h"
#include "tests/unit/unit.h"

/* What goes with a message. */
enum gift {
	END = 0, /* closes the connection: the script's end */
	NUMBER,  /* nothing */
	MEMORY,  /* 64 KiB */
	SHORT,   /* memory, too short */
	SEALED,  /* memory that cannot be written */
	EVENT,   /* an eventfd */
	BELL,    /* the eventfd that the test watches */
	WAKE,    /* the eventfd that the test rings */
	PIPE,    /* no memory and no eventfd */
	TWICE,   /* two eventfds in one message */
	TORN,    /* a number, byte by byte */
	HALF,    /* three bytes of it */
	STAY,    /* keeps the connection open */
};

struct line {
	enum gift gift;
	int64_t value;
	uint32_t times; /* 0: once */
};

struct server {
	char directory[32];
	char path[64];
	const struct line *script;
	int listener;
	int connection; /* of a script that stays */
	int bell;
	int wake;
	pthread_t thread;
};

static int make_gift(const struct server *server, enum gift gift)
{
	int ends[2];
	int file;

	switch (gift) {
	case MEMORY:
	case SHORT:
		file = memfd_create("memory", MFD_CLOEXEC);
		assert_int_equal(ftruncate(file, gift == MEMORY ? 65536 : 4095), 0);
		return file;
	case SEALED:
		return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	case EVENT:
	case TWICE:
		return eventfd(0, EFD_CLOEXEC);
	case BELL:
		return dup(server->bell);
	case WAKE:
		return dup(server->wake);
	case PIPE:
		assert_int_equal(pipe(ends), 0);
		close(ends[0]);
		return ends[1];
	case END:
	case NUMBER:
	case TORN:
	case HALF:
	case STAY:
	default:
		return -1;
	}
}

/* Sends bytes with the same descriptor some times. The other side may have gone. */
static void send_bytes(int socket, const uint8_t *bytes, size_t count, int fd, size_t fds)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control = {.room = {0}};
	struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = count};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	int both[2] = {fd, fd};

	if (fd >= 0) {
		control.header.cmsg_len = CMSG_LEN(fds * sizeof(int));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		memcpy(CMSG_DATA(&control.header), both, fds * sizeof(int));
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(fds * sizeof(int));
	}
	if (sendmsg(socket, &message, MSG_NOSIGNAL) < 0)
		return;
}

static void send_line(const struct server *server, int socket, const struct line *line)
{
	int fd = make_gift(server, line->gift);
	size_t step = line->gift == TORN ? 1 : 8;
	uint8_t bytes[8];

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)((uint64_t)line->value >> (8u * i));
	for (size_t i = 0; i < sizeof(bytes); i += step)
		send_bytes(socket, bytes + i, line->gift == HALF ? 3 : step, fd, line->gift == TWICE ? 2 : 1);
	if (fd >= 0)
		close(fd);
}

static void *serve(void *argument)
{
	struct server *server = argument;
	const struct line *line = server->script;
	int socket = accept(server->listener, NULL, NULL);

	for (; line->gift != END && line->gift != STAY; line++) {
		for (uint32_t i = 0; i == 0 || i < line->times; i++)
			send_line(server, socket, line);
	}
	if (line->gift == STAY)
		server->connection = socket;
	else
		close(socket);
	return NULL;
}

static void start_server(struct server *server, const struct line *script)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	*server = (struct server){.directory = "/tmp/link-test-XXXXXX", .script = script, .connection = -1};
	assert_non_null(mkdtemp(server->directory));
	snprintf(server->path, sizeof(server->path), "%s/s", server->directory);
	strcpy(address.sun_path, server->path);
	server->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	server->wake = eventfd(0, EFD_CLOEXEC);
	server->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(server->listener, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(server->listener, 1), 0);
	assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

static void await_script(struct server *server)
{
	assert_int_equal(pthread_join(server->thread, NULL), 0);
}

static void end_server(struct server *server)
{
	close(server->listener);
	close(server->bell);
	close(server->wake);
	if (server->connection >= 0)
		close(server->connection);
	unlink(server->path);
	assert_int_equal(rmdir(server->directory), 0);
}

static uint32_t open_files(void)
{
	DIR *directory = opendir("/proc/self/fd");
	uint32_t count = 0;

	assert_non_null(directory);
	while (readdir(directory) != NULL)
		count++;
	closedir(directory);
	return count;
}

/* clang-format off */
#define GREETING {NUMBER, 0, 0}, {NUMBER, 3, 0}, {MEMORY, -1, 0}

static const struct {
	const char *name;
	enum pb_error error;
	struct line script[8];
} hostile[] = {
	{"closes at once", PB_ERROR_CARD_FULL, {{END, 0, 0}}},
	{"another version", PB_ERROR_PROTOCOL, {{NUMBER, 1, 0}}},
	{"version with a descriptor", PB_ERROR_PROTOCOL, {{EVENT, 0, 0}}},
	{"only a version", PB_ERROR_NO_CARD, {{NUMBER, 0, 0}}},
	{"half a version", PB_ERROR_NO_CARD, {{HALF, 0, 0}}},
	{"id of the card", PB_ERROR_PROTOCOL, {{NUMBER, 0, 0}, {NUMBER, 0, 0}}},
	{"id too large", PB_ERROR_PROTOCOL, {{NUMBER, 0, 0}, {NUMBER, 9, 0}}},
	{"id beyond 32 bits", PB_ERROR_PROTOCOL, {{NUMBER, 0, 0}, {NUMBER, 0x100000001, 0}}},
	{"negative id", PB_ERROR_PROTOCOL, {{NUMBER, 0, 0}, {NUMBER, -1, 0}}},
	{"id with a descriptor", PB_ERROR_PROTOCOL, {{NUMBER, 0, 0}, {EVENT, 1, 0}}},
	{"half an id", PB_ERROR_NO_CARD, {{NUMBER, 0, 0}, {HALF, 1, 0}}},
	{"no memory", PB_ERROR_PROTOCOL, {{NUMBER, 0, 0}, {NUMBER, 3, 0}, {NUMBER, -1, 0}}},
	{"memory not announced", PB_ERROR_PROTOCOL, {{NUMBER, 0, 0}, {NUMBER, 3, 0}, {MEMORY, 0, 0}}},
	{"short memory", PB_ERROR_PROTOCOL, {{NUMBER, 0, 0}, {NUMBER, 3, 0}, {SHORT, -1, 0}}},
	{"memory read-only", PB_ERROR_PROTOCOL, {{NUMBER, 0, 0}, {NUMBER, 3, 0}, {SEALED, -1, 0}}},
	{"memory is a pipe", PB_ERROR_PROTOCOL, {{NUMBER, 0, 0}, {NUMBER, 3, 0}, {PIPE, -1, 0}}},
	{"memory is an eventfd", PB_ERROR_PROTOCOL, {{NUMBER, 0, 0}, {NUMBER, 3, 0}, {EVENT, -1, 0}}},
	{"nothing after memory", PB_ERROR_NO_CARD, {GREETING}},
	{"negative peer", PB_ERROR_PROTOCOL, {GREETING, {EVENT, -5, 0}}},
	{"peer too large", PB_ERROR_PROTOCOL, {GREETING, {EVENT, 65536, 0}}},
	{"the card has gone", PB_ERROR_NO_CARD, {GREETING, {EVENT, 0, 9}, {NUMBER, 0, 0}, {EVENT, 3, 9}}},
	{"no vector of the card", PB_ERROR_PROTOCOL, {GREETING, {EVENT, 3, 9}, {EVENT, 0, 9}}},
	{"too few of them", PB_ERROR_PROTOCOL, {GREETING, {EVENT, 0, 3}, {EVENT, 3, 9}}},
	{"its doorbell is a pipe", PB_ERROR_PROTOCOL, {GREETING, {PIPE, 0, 9}, {EVENT, 3, 9}}},
	{"the interrupt is a pipe", PB_ERROR_PROTOCOL, {GREETING, {EVENT, 0, 9}, {PIPE, 3, 9}}},
	{"half a vector", PB_ERROR_NO_CARD, {GREETING, {EVENT, 0, 9}, {HALF, 3, 0}}},
	{"talks without end", PB_ERROR_PROTOCOL, {GREETING, {NUMBER, 5, 1100}, {EVENT, 0, 9}, {EVENT, 3, 9}}},
};
/* clang-format on */

static void hostile_servers_are_refused(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		uint32_t before = open_files();
		struct pb_link *link = (void *)1;
		struct server server;
		enum pb_error error;

		start_server(&server, hostile[i].script);
		error = pb_link_open_socket(server.path, &link);
		if (error != hostile[i].error)
			print_error("%s: error %u, not %u\n", hostile[i].name, error, hostile[i].error);
		assert_int_equal(error, hostile[i].error);
		assert_null(link);
		await_script(&server);
		end_server(&server);
		assert_int_equal(open_files(), before);
	}
}

/* Other peers, vectors beyond need, torn messages, a second descriptor: all legal or harmless. */
static void legal_and_harmless_servers_are_accepted(void **unused)
{
	static const struct line script[] = {{TORN, 0, 0},  {TORN, 3, 0},  {MEMORY, -1, 0}, {EVENT, 0, 3},
					     {BELL, 0, 0},  {TWICE, 0, 5}, {EVENT, 1, 9},   {NUMBER, 1, 0},
					     {EVENT, 7, 0}, {WAKE, 3, 0},  {EVENT, 3, 8},   {EVENT, 4, 9},
					     {STAY, 0, 0}};
	uint32_t before = open_files();
	struct server server;
	struct pb_link *link;
	uint64_t rings;

	(void)unused;
	start_server(&server, script);
	assert_int_equal(pb_link_open_socket(server.path, &link), PB_ERROR_OK);
	await_script(&server);
	assert_int_equal(link->channel, 3);
	assert_int_equal(link->memory_bytes, 65536);
	link->memory[65535] = 1;

	link->ops->doorbell(link);
	link->ops->doorbell(link);
	assert_int_equal(read(server.bell, &rings, sizeof(rings)), sizeof(rings));
	assert_int_equal(rings, 2);

	/* The news of peer 4 is one wake-up for no reason. */
	assert_int_equal(link->ops->wait(link, UNIT_PATIENCE_US), PB_ERROR_OK);
	assert_int_equal(link->ops->wait(link, 0), PB_ERROR_TIMEOUT);
	assert_int_equal(link->ops->wait(link, 2000), PB_ERROR_TIMEOUT);
	rings = 5;
	assert_int_equal(write(server.wake, &rings, sizeof(rings)), sizeof(rings));
	assert_int_equal(link->ops->wait(link, UNIT_PATIENCE_US), PB_ERROR_OK);
	assert_int_equal(link->ops->wait(link, 0), PB_ERROR_TIMEOUT);
	link->ops->close(link);
	end_server(&server);
	assert_int_equal(open_files(), before);
}

/* Opens a link to a server that then sends one more message and leaves. */
static void check_after(const struct line *last, bool sticky)
{
	static const struct line script[] = {GREETING, {EVENT, 0, 9}, {EVENT, 3, 9}, {STAY, 0, 0}};
	uint32_t before = open_files();
	struct server server;
	struct pb_link *link;

	start_server(&server, script);
	assert_int_equal(pb_link_open_socket(server.path, &link), PB_ERROR_OK);
	await_script(&server);
	assert_int_equal(link->ops->wait(link, UNIT_PATIENCE_US), PB_ERROR_OK); /* vectors beyond need */
	assert_int_equal(link->ops->wait(link, 0), PB_ERROR_TIMEOUT);
	send_line(&server, server.connection, last);
	assert_int_equal(link->ops->wait(link, UNIT_PATIENCE_US), sticky ? PB_ERROR_NO_CARD : PB_ERROR_OK);
	assert_int_equal(link->ops->wait(link, 0), sticky ? PB_ERROR_NO_CARD : PB_ERROR_TIMEOUT);
	close(server.connection);
	server.connection = -1;
	assert_int_equal(link->ops->wait(link, UNIT_PATIENCE_US), PB_ERROR_NO_CARD);
	assert_int_equal(link->ops->wait(link, UNIT_PATIENCE_US), PB_ERROR_NO_CARD);
	link->ops->doorbell(link);
	link->ops->close(link);
	end_server(&server);
	assert_int_equal(open_files(), before);
}

static void test_later_messages(void **unused)
{
	static const struct {
		struct line line;
		bool ends;
	} cases[] = {
		{{EVENT, 8, 0}, false},  {{NUMBER, 8, 0}, false},         {{MEMORY, -1, 0}, false},
		{{PIPE, -99, 0}, false}, {{NUMBER, INT64_MIN, 0}, false}, {{NUMBER, 0, 0}, true},
		{{HALF, 0, 0}, true},
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_after(&cases[i].line, cases[i].ends);
}

static void no_card_listens(void **unused)
{
	char path[200];
	struct pb_link *link;

	(void)unused;
	assert_int_equal(pb_link_open_socket("/no/such/socket", &link), PB_ERROR_NO_CARD);
	assert_null(link);
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(pb_link_open_socket(path, &link), PB_ERROR_SYSTEM);
	assert_int_equal(errno, ENAMETOOLONG);
}

static void test_clock(void **unused)
{
	static const struct line script[] = {GREETING, {EVENT, 0, 9}, {EVENT, 3, 9}, {STAY, 0, 0}};
	struct server server;
	struct pb_link *link;
	uint64_t before;

	(void)unused;
	start_server(&server, script);
	assert_int_equal(pb_link_open_socket(server.path, &link), PB_ERROR_OK);
	await_script(&server);
	assert_int_equal(link->ops->wait(link, UNIT_PATIENCE_US), PB_ERROR_OK);
	link_clock_slower = 1;
	before = link->ops->now(link);
	assert_int_equal(link->ops->wait(link, 3000), PB_ERROR_TIMEOUT);
	assert_true(link->ops->now(link) - before >= 3000);
	link_clock_slower = LINK_CLOCK_SLOWER;
	link->ops->close(link);
	end_server(&server);
}

UNIT_SUITE(test_link_socket)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(legal_and_harmless_servers_are_accepted),
		cmocka_unit_test(test_later_messages),
		cmocka_unit_test(no_card_listens),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(hostile_servers_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
