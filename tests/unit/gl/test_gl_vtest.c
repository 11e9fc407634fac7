/* SPDX-License-Identifier: MIT */
/* Every message of the vtest protocol: right, short, long, too early, of the other version, with values out of range. */
#include <string.h>

#include "host/gl/vtest.h"
#include "tests/unit/unit.h"

/* Sessions by letter: nothing said yet, named, version 2 agreed. */
static struct pb_vtest_session session_of(char letter)
{
	return (struct pb_vtest_session){.named = letter != 'n', .version = letter == '2' ? 2u : 0u};
}

#define OK      PB_VTEST_STATUS_OK
#define UNKNOWN PB_VTEST_STATUS_UNKNOWN
#define LENGTH  PB_VTEST_STATUS_LENGTH
#define ORDER   PB_VTEST_STATUS_ORDER
#define VERSION PB_VTEST_STATUS_VERSION
#define VALUE   PB_VTEST_STATUS_VALUE

static const struct {
	char session;
	uint32_t length, command;
	enum pb_vtest_status status;
	uint32_t words, bytes;
} header_cases[] = {
	/* The name comes first, and once; its length counts bytes. */
	{'n', 1, 8, OK, 0, 1},
	{'n', 4096, 8, OK, 0, 4096},
	{'n', 4097, 8, LENGTH, 0, 0},
	{'n', 0, 8, LENGTH, 0, 0},
	{'0', 5, 8, ORDER, 0, 0},
	{'n', 0, 10, ORDER, 0, 0},
	{'n', 0, 1, ORDER, 0, 0},
	{'n', 10, 2, ORDER, 0, 0},
	{'n', 4, 6, ORDER, 0, 0},
	/* Numbers that are none, and those of version 3. */
	{'0', 0, 0, UNKNOWN, 0, 0},
	{'2', 6, 18, UNKNOWN, 0, 0},
	{'2', 1, 15, UNKNOWN, 0, 0},
	{'2', 0, 0xffffffff, UNKNOWN, 0, 0},
	/* Fixed lengths, in words. */
	{'0', 0, 1, OK, 0, 0},
	{'0', 1, 1, LENGTH, 0, 0},
	{'2', 0, 9, OK, 0, 0},
	{'2', 1, 9, LENGTH, 0, 0},
	{'0', 0, 10, OK, 0, 0},
	{'0', 1, 10, LENGTH, 0, 0},
	{'0', 1, 11, OK, 1, 0},
	{'0', 0, 11, LENGTH, 0, 0},
	{'0', 2, 11, LENGTH, 0, 0},
	{'0', 10, 2, OK, 10, 0},
	{'0', 9, 2, LENGTH, 0, 0},
	{'0', 11, 2, LENGTH, 0, 0},
	{'2', 10, 2, VERSION, 0, 0},
	{'2', 11, 12, OK, 11, 0},
	{'2', 10, 12, LENGTH, 0, 0},
	{'2', 12, 12, LENGTH, 0, 0},
	{'0', 11, 12, VERSION, 0, 0},
	{'0', 1, 3, OK, 1, 0},
	{'0', 0, 3, LENGTH, 0, 0},
	{'2', 2, 3, LENGTH, 0, 0},
	{'0', 2, 7, OK, 2, 0},
	{'0', 1, 7, LENGTH, 0, 0},
	{'2', 3, 7, LENGTH, 0, 0},
	{'0', 11, 4, OK, 11, 0},
	{'0', 10, 4, LENGTH, 0, 0},
	{'0', 12, 4, LENGTH, 0, 0},
	{'2', 11, 4, VERSION, 0, 0},
	{'2', 10, 13, OK, 10, 0},
	{'2', 9, 13, LENGTH, 0, 0},
	{'2', 11, 13, LENGTH, 0, 0},
	{'0', 10, 13, VERSION, 0, 0},
	/* Their length counts the data, which only the body names. */
	{'0', 11, 5, OK, 11, 0},
	{'0', 4000, 5, OK, 11, 0},
	{'0', 10, 5, LENGTH, 0, 0},
	{'2', 11, 5, VERSION, 0, 0},
	{'2', 10, 14, OK, 10, 0},
	{'2', 4000, 14, OK, 10, 0},
	{'2', 9, 14, LENGTH, 0, 0},
	{'0', 10, 14, VERSION, 0, 0},
	/* Commands: words of data. */
	{'0', 0, 6, OK, 0, 0},
	{'2', 3, 6, OK, 0, 12},
	{'2', 0x100000, 6, OK, 0, 0x400000},
	{'2', 0x100001, 6, LENGTH, 0, 0},
	{'2', 0x40000001, 6, LENGTH, 0, 0},
	{'2', 0xffffffff, 6, LENGTH, 0, 0},
};

static void headers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(header_cases) / sizeof(header_cases[0]); i++) {
		const struct pb_vtest_session session = session_of(header_cases[i].session);
		const uint32_t header[] = {header_cases[i].length, header_cases[i].command};
		struct pb_vtest_message message;
		const enum pb_vtest_status status = pb_vtest_begin(&session, header, &message);

		if (status != header_cases[i].status)
			fail_msg("row %zu: %s", i, pb_vtest_status_text(status));
		if (status != OK)
			continue;
		assert_int_equal(message.words, header_cases[i].words);
		assert_int_equal(message.bytes, header_cases[i].bytes);
	}
}

static void bodies(void **state)
{
	static const struct {
		char session;
		uint32_t length, command;
		uint32_t word, value; /* of the body; all others are 1 */
		enum pb_vtest_status status;
		uint32_t bytes;
	} cases[] = {
		{'0', 10, 2, 0, 1, OK, 0},
		{'0', 10, 2, 0, 0, VALUE, 0},
		{'2', 11, 12, 10, 0, OK, 0},
		{'2', 11, 12, 10, 0x40000000, OK, 0},
		{'2', 11, 12, 10, 0x40000001, VALUE, 0},
		{'2', 11, 12, 0, 0, VALUE, 0},
		/* 5 bytes are two words of the length, and 5 bytes of data. */
		{'0', 13, 5, 10, 5, OK, 5},
		{'0', 12, 5, 10, 5, LENGTH, 0},
		{'0', 14, 5, 10, 5, LENGTH, 0},
		{'0', 11, 5, 10, 5, LENGTH, 0},
		{'0', 11, 5, 10, 0, OK, 0},
		{'0', 11 + 0x10000000, 5, 10, 0x40000000, OK, 0x40000000},
		{'0', 11 + 0x10000001, 5, 10, 0x40000001, VALUE, 0},
		{'0', 10, 5, 10, 0xffffffff, VALUE, 0},
		/* The data of TRANSFER_PUT2 are counted and do not come. */
		{'2', 12, 14, 8, 5, OK, 0},
		{'2', 10, 14, 8, 5, OK, 0},
		{'2', 11, 14, 8, 5, LENGTH, 0},
		{'2', 10, 14, 8, 0x40000001, VALUE, 0},
		{'0', 11, 4, 10, 0x40000000, OK, 0},
		{'0', 11, 4, 10, 0x40000001, VALUE, 0},
		{'2', 10, 13, 8, 0x40000001, VALUE, 0},
		{'2', 10, 13, 8, 7, OK, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pb_vtest_session session = session_of(cases[i].session);
		struct pb_vtest_message message = {
			.command = cases[i].command,
			.length = cases[i].length,
			.words = cases[i].command == 14 || cases[i].command == 13 ? 10u : 11u};
		uint32_t body[PB_VTEST_BODY_WORDS_MAX];

		for (uint32_t k = 0; k < PB_VTEST_BODY_WORDS_MAX; k++)
			body[k] = 1;
		body[cases[i].word] = cases[i].value;
		if (pb_vtest_body(&session, &message, body) != cases[i].status)
			fail_msg("row %zu", i);
		if (cases[i].status == OK)
			assert_int_equal(message.bytes, cases[i].bytes);
	}
}

/* Version 1 was given up, 3 is not spoken; once a resource exists, the version stays. */
static void versions(void **state)
{
	static const uint32_t cases[][2] = {{0, 0}, {1, 0}, {2, 2}, {3, 2}, {0xffffffff, 2}};
	struct pb_vtest_message message = {.command = PB_VTEST_PROTOCOL_VERSION, .length = 1, .words = 1};
	struct pb_vtest_message resource = {.command = PB_VTEST_RESOURCE_CREATE, .length = 10, .words = 10};
	const uint32_t one[PB_VTEST_BODY_WORDS_MAX] = {1};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pb_vtest_session session = {.named = true};

		assert_int_equal(pb_vtest_body(&session, &message, cases[i]), OK);
		assert_int_equal(session.version, cases[i][1]);
		assert_int_equal(pb_vtest_body(&session, &resource, one), OK);
		assert_int_equal(pb_vtest_body(&session, &message, cases[i]), ORDER);
		assert_int_equal(session.version, cases[i][1]);
	}
}

static void names(void **state)
{
	(void)state;
	assert_string_equal(pb_vtest_command_name(6), "SUBMIT_CMD");
	assert_string_equal(pb_vtest_command_name(18), "unknown");
	assert_string_equal(pb_vtest_status_text(ORDER), "a message that may not come now");
}

UNIT_SUITE(test_gl_vtest)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers),
		cmocka_unit_test(bodies),
		cmocka_unit_test(versions),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
