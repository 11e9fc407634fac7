/* SPDX-License-Identifier: MIT */
/*
 * A session with a program that a table plays: what it hears, what the card is asked for, and how it ends. Messages are
 * cut off at every byte.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/tool/gl_session.h"
#include "tests/unit/unit.h"

#define TEXT       1024u
#define WORDS_MAX  64u
#define ANSWER_MAX 4096u

/* ---- a backend that writes down what it is asked ---- */

struct notes {
	char text[TEXT];
	uint8_t *memory; /* of the last resource that was created */
	uint32_t bytes;
	bool fails;
	uint32_t opens;
};

static bool note(struct notes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool note(struct notes *notes, const char *format, ...)
{
	const size_t length = strlen(notes->text);
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(notes->text + length, TEXT - length, format, arguments);
	va_end(arguments);
	return !notes->fails;
}

static bool open_share(void *context, const char *name, char *message)
{
	struct notes *notes = context;

	(void)message;
	/* Once, behind the name, which is printable. */
	assert_true(strcmp(name, "x") == 0 || strcmp(name, "a?[?b") == 0);
	assert_int_equal(notes->opens, 0);
	notes->opens++;
	return true;
}

static bool create(void *context, uint32_t handle, const uint32_t *words, uint8_t *memory, uint32_t bytes)
{
	struct notes *notes = context;

	assert_int_equal(words[9], 0);
	notes->memory = memory;
	notes->bytes = bytes;
	return note(notes, "create %u w%u m%u; ", handle, words[3], bytes);
}

static bool drop(void *context, uint32_t handle, uint8_t **memory, uint32_t *bytes)
{
	struct notes *notes = context;

	*memory = notes->memory;
	*bytes = notes->bytes;
	notes->memory = NULL;
	return note(notes, "drop %u; ", handle);
}

static bool submit(void *context, uint32_t *words, uint32_t count)
{
	return note(context, "submit %u %u; ", count, count != 0 ? words[count - 1] : 0);
}

static bool transfer(void *context, uint32_t handle, struct pb_gl_transfer_request *request, bool to_resource,
		     uint8_t *memory)
{
	struct notes *notes = context;

	if (memory != NULL && !to_resource)
		memory[0] = 0x5a;
	(void)note(notes, "%s %u l%u x%u ", to_resource ? "put" : "get", handle, request->level,
		   request->box[0]);
	(void)note(notes, "s%u d%u o%u ", request->stride, request->box[5], (uint32_t)request->offset);
	if (memory == NULL)
		return note(notes, "shared; ");
	return note(notes, "%u bytes %u; ", (uint32_t)request->available, memory[0]);
}

static bool busy(void *context, uint32_t handle, bool wait, bool *result)
{
	*result = !wait && handle == 9;
	return note(context, "%s %u; ", wait ? "wait" : "busy", handle);
}

static bool caps(void *context, uint32_t set, uint32_t *words, uint32_t bytes)
{
	memset(words, (int)set, bytes);
	return note(context, "caps %u %u; ", set, bytes);
}

static bool idle(void *context)
{
	(void)context;
	return true;
}

static void failure(void *context, char *text)
{
	(void)context;
	(void)snprintf(text, PB_GL_SESSION_TEXT, "the card says no");
}

/* ---- a program ---- */

struct play {
	struct notes notes;
	struct pb_gl_session session;
	bool left;
	uint8_t answer[ANSWER_MAX];
	size_t answered;
	uint32_t files;
};

static void read_answers(struct play *play, int socket)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	ssize_t got;

	do {
		struct iovec part = {.iov_base = play->answer + play->answered,
				     .iov_len = ANSWER_MAX - play->answered};
		struct msghdr message = {.msg_iov = &part,
					 .msg_iovlen = 1,
					 .msg_control = &control,
					 .msg_controllen = sizeof(control)};
		int file;

		got = recvmsg(socket, &message, MSG_DONTWAIT);
		if (got > 0)
			play->answered += (size_t)got;
		if (got > 0 && CMSG_FIRSTHDR(&message) != NULL) {
			memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(file));
			/* The program cannot shorten what the server reads. */
			assert_int_not_equal(ftruncate(file, 1), 0);
			close(file);
			play->files++;
		}
	} while (got > 0);
}

/* Sends so many bytes, leaves, and has them served. */
static void play_bytes(struct play *play, const void *bytes, size_t count, bool fails)
{
	static const struct pb_gl_backend functions = {.open = open_share,
						       .create = create,
						       .drop = drop,
						       .submit = submit,
						       .transfer = transfer,
						       .busy = busy,
						       .caps = caps,
						       .idle = idle,
						       .failure = failure};
	struct pb_gl_backend backend = functions;
	int sockets[2];

	memset(play, 0, sizeof(*play));
	play->notes.fails = fails;
	backend.context = &play->notes;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	assert_int_equal(send(sockets[0], bytes, count, 0), (ssize_t)count);
	assert_int_equal(shutdown(sockets[0], SHUT_WR), 0);
	play->session.socket = sockets[1];
	play->session.backend = &backend;
	play->left = pb_gl_session_serve(&play->session);
	read_answers(play, sockets[0]);
	pb_gl_session_free(&play->session);
	if (play->notes.memory != NULL)
		munmap(play->notes.memory, play->notes.bytes);
	close(sockets[0]);
	close(sockets[1]);
}

#define NAME    2, 8 /* then "x" and a zero, as two bytes */
#define VERSION 1, 11, 2

/* Puts a name in front of words. @return bytes */
static size_t with_name(uint8_t *bytes, const uint32_t *words, size_t count)
{
	static const uint32_t name[] = {2, 8};

	memcpy(bytes, name, sizeof(name));
	memcpy(bytes + 8, "x", 2);
	memcpy(bytes + 10, words, count * sizeof(*words));
	return 10 + count * sizeof(*words);
}

struct row {
	uint32_t words[WORDS_MAX];
	size_t count;
	const char *asked;
	uint32_t answer[4];
	size_t answer_words;
	uint32_t files;
	const char *message; /* "": the program left */
};

static const struct row rows[] = {
	{{0, 10}, 2, "", {0, 10}, 2, 0, ""},
	{{1, 11, 3}, 3, "", {1, 11, 2}, 3, 0, ""},
	{{1, 11, 1}, 3, "", {1, 11, 0}, 3, 0, ""},
	{{2, 7, 0, 0}, 4, "busy 0; ", {1, 7, 0}, 3, 0, ""},
	{{2, 7, 9, 0}, 4, "busy 9; ", {1, 7, 1}, 3, 0, ""},
	{{2, 7, 9, 1}, 4, "wait 9; ", {1, 7, 0}, 3, 0, ""},
	{{10, 2, 5, 2, 67, 8, 64, 32, 1, 1, 0, 0}, 12, "create 5 w64 m0; ", {0}, 0, 0, ""},
	{{11, 12, 5, 2, 67, 8, 64, 32, 1, 1, 0, 0, 8192},
	 13,
	 "",
	 {0},
	 0,
	 0,
	 "message 12 (RESOURCE_CREATE2) of length 11: a message of another version of the protocol"},
	{{1, 3, 5}, 3, "drop 5; ", {0}, 0, 0, ""},
	{{3, 6, 1, 2, 77}, 5, "submit 3 77; ", {0}, 0, 0, ""},
	{{0, 6}, 2, "submit 0 0; ", {0}, 0, 0, ""},
	/* Four bytes come, and four go. */
	{{12, 5, 5, 1, 40, 0, 3, 0, 0, 1, 1, 1, 4, 0x99},
	 14,
	 "put 5 l1 x3 s40 d1 o0 4 bytes 153; ",
	 {0},
	 0,
	 0,
	 ""},
	{{11, 4, 5, 1, 40, 0, 3, 0, 0, 1, 1, 1, 4},
	 13,
	 "get 5 l1 x3 s40 d1 o0 4 bytes 90; ",
	 {0x5a},
	 1,
	 0,
	 ""},
	{{1, 99, 0}, 3, "", {0}, 0, 0, "message 99 (unknown) of length 1: unknown message"},
	{{2, 8, 0},
	 3,
	 "",
	 {0},
	 0,
	 0,
	 "message 8 (CREATE_RENDERER) of length 2: a message that may not come now"},
	{{9, 2, 5},
	 3,
	 "",
	 {0},
	 0,
	 0,
	 "message 2 (RESOURCE_CREATE) of length 9: a message of the wrong length"},
	{{10, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
	 12,
	 "",
	 {0},
	 0,
	 0,
	 "message 2 (RESOURCE_CREATE) of length 10: a value out of range"},
	/* With version 2. */
	{{VERSION, 11, 12, 5, 2, 67, 8, 64, 32, 1, 1, 0, 0, 0},
	 16,
	 "create 5 w64 m0; ",
	 {1, 11, 2},
	 3,
	 0,
	 ""},
	{{VERSION, 10, 14, 5, 1, 3, 4, 5, 6, 7, 8, 99, 16},
	 15,
	 "put 5 l1 x3 s0 d8 o16 shared; ",
	 {1, 11, 2},
	 3,
	 0,
	 ""},
	{{VERSION, 35, 14, 5, 1, 3, 4, 5, 6, 7, 8, 99, 16},
	 15,
	 "put 5 l1 x3 s0 d8 o16 shared; ",
	 {1, 11, 2},
	 3,
	 0,
	 ""},
	{{VERSION, 10, 13, 5, 1, 3, 4, 5, 6, 7, 8, 99, 16},
	 15,
	 "get 5 l1 x3 s0 d8 o16 shared; ",
	 {1, 11, 2},
	 3,
	 0,
	 ""},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void messages_and_answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		const struct row *row = &rows[i];
		uint8_t bytes[10 + sizeof(row->words)];
		struct play play;

		play_bytes(&play, bytes, with_name(bytes, row->words, row->count), false);
		if (strcmp(play.notes.text, row->asked) != 0 ||
		    strcmp(play.session.message, row->message) != 0)
			fail_msg("row %zu: %s| %s", i, play.notes.text, play.session.message);
		assert_int_equal(play.left, row->message[0] == '\0');
		assert_int_equal(play.answered, row->answer_words * 4);
		assert_memory_equal(play.answer, row->answer, play.answered);
		assert_int_equal(play.files, row->files);
		assert_string_equal(play.session.name, "x");
	}
}

/* A message that is cut off at any byte is carried out in no part. */
static void closed_in_the_middle(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		const struct row *row = &rows[i];
		uint8_t bytes[10 + sizeof(row->words)];
		const size_t all = with_name(bytes, row->words, row->count);

		if (row->message[0] != '\0')
			continue;
		for (size_t count = 11; count < all; count++) {
			struct play play;

			play_bytes(&play, bytes, count, false);
			/* The version is a message of its own, which may be whole. */
			if (count == 22 && row->words[1] == 11)
				continue;
			assert_false(play.left);
			assert_string_equal(play.session.message, "it left within a message");
			assert_string_equal(play.notes.text, "");
		}
	}
}

/* What the card refuses ends the session with the card's reason. */
static void the_cards_refusal_is_the_end(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		const struct row *row = &rows[i];
		uint8_t bytes[10 + sizeof(row->words)];
		struct play play;

		if (row->asked[0] == '\0')
			continue;
		play_bytes(&play, bytes, with_name(bytes, row->words, row->count), true);
		assert_false(play.left);
		assert_string_equal(play.session.message, "the card says no");
	}
}

static void shared_memory(void **state)
{
	static const uint32_t words[] = {VERSION, 11, 12, 5, 2, 67, 8, 64, 32, 1, 1, 0, 0, 8192};
	uint8_t bytes[10 + sizeof(words)];
	struct play play;

	(void)state;
	play_bytes(&play, bytes, with_name(bytes, words, sizeof(words) / 4), false);
	assert_true(play.left);
	assert_string_equal(play.notes.text, "create 5 w64 m8192; ");
	assert_int_equal(play.files, 1);
	assert_int_equal(play.answered, 13);
	assert_int_equal(play.answer[12], 0);
}

/* Lengths of these answers count bytes, and one more, as Mesa reads them. */
static void capability_sets(void **state)
{
	static const uint32_t words[] = {0, 9, 0, 1};
	uint8_t bytes[10 + sizeof(words)];
	uint32_t header[2];
	struct play play;

	(void)state;
	play_bytes(&play, bytes, with_name(bytes, words, 4), false);
	assert_true(play.left);
	assert_string_equal(play.notes.text, "caps 2 1376; caps 1 308; ");
	assert_int_equal(play.answered, 8 + 1376 + 8 + 308);
	memcpy(header, play.answer, 8);
	assert_int_equal(header[0], 1377);
	assert_int_equal(header[1], 2);
	memcpy(header, play.answer + 8 + 1376, 8);
	assert_int_equal(header[0], 309);
	assert_int_equal(header[1], 1);
}

/* A name is shown to people: nothing of it can write to their terminal. */
static void a_name_is_printable(void **state)
{
	static const uint8_t bytes[] = {5, 0, 0, 0, 8, 0, 0, 0, 'a', 0x1b, '[', 0xff, 'b'};
	struct play play;

	(void)state;
	play_bytes(&play, bytes, sizeof(bytes), false);
	assert_true(play.left);
	assert_string_equal(play.session.name, "a?[?b");
}

UNIT_SUITE(test_gl_session)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_and_answers),
		cmocka_unit_test(closed_in_the_middle),
		cmocka_unit_test(the_cards_refusal_is_the_end),
		cmocka_unit_test(shared_memory),
		cmocka_unit_test(capability_sets),
		cmocka_unit_test(a_name_is_printable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
