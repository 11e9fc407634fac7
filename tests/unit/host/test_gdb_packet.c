/* SPDX-License-Identifier: MIT */
/* Packets of the gdb remote protocol, against another side that damages, cuts and invents them. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/link_gdb_packet.h"
#include "tests/unit/unit.h"

/* What has come is received; nothing is waited for. */
#define NO_PATIENCE_US 0u

static struct pb_gdb_wire wire;
static int other; /* the stub's end */

static void open_wire(bool acknowledge)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	memset(&wire, 0, sizeof(wire));
	wire.socket = ends[0];
	wire.patience_us = PB_GDB_PATIENCE_US;
	wire.acknowledge = acknowledge;
	other = ends[1];
}

static void close_wire(void)
{
	close(wire.socket);
	close(other);
}

/* What the other side says, before it is asked: the socket keeps it. */
static void says(const char *bytes)
{
	assert_int_equal(write(other, bytes, strlen(bytes)), (ssize_t)strlen(bytes));
}

/* What this side has said up to now. */
static void check_said(const char *expected)
{
	char said[4096] = "";
	const ssize_t got = recv(other, said, sizeof(said) - 1, MSG_DONTWAIT);

	assert_string_equal(got < 0 ? "" : said, expected);
}

/* ---- receiving ---- */

static void every_form_of_packet_is_received(void **state)
{
	static const struct {
		const char *in;
		const char *contents; /* NULL: none comes */
		const char *said;
		enum pb_error error; /* if none comes; the other side has closed then */
	} cases[] = {
		{"$#00", "", "+", PB_ERROR_OK},
		{"$OK#9a", "OK", "+", PB_ERROR_OK},
		{"$OK#9A", "OK", "+", PB_ERROR_OK},
		{"+++\r\n%Stop:x#00$OK#9a", "OK", "+", PB_ERROR_OK},
		/* 'X' repeated: "* " is 3 more, "*~" 97 more */
		{"$0* #7a", "0000", "+", PB_ERROR_OK},
		{"$ab}\x03#43", "ab#", "+", PB_ERROR_OK},
		{"$}]#da", "}", "+", PB_ERROR_OK},
		{"$}\x0a* #d1", "****", "+", PB_ERROR_OK},
		/* a packet that broke off, and the next */
		{"$brok$OK#9a", "OK", "+", PB_ERROR_OK},
		/* damaged, then whole */
		{"$OK#9b$OK#9a", "OK", "-+", PB_ERROR_OK},
		{"$OK#zz$OL#9a$OK#9a", "OK", "--+", PB_ERROR_OK},
		{"$OK#00$OK#00$OK#00$OK#00$OK#9a", "OK", "----+", PB_ERROR_OK},
		{"$OK#00$OK#00$OK#00$OK#00$OK#00", NULL, "-----", PB_ERROR_PROTOCOL},
		/* run lengths that are none: nothing to repeat, and out of range on both sides */
		{"$* #4a", NULL, "", PB_ERROR_PROTOCOL},
		{"$0*\x1f#79", NULL, "", PB_ERROR_PROTOCOL},
		{"$0*\x7f#d9", NULL, "", PB_ERROR_PROTOCOL},
		/* cut at every kind of place */
		{"", NULL, "", PB_ERROR_NO_CARD},
		{"+", NULL, "", PB_ERROR_NO_CARD},
		{"$", NULL, "", PB_ERROR_NO_CARD},
		{"$O", NULL, "", PB_ERROR_NO_CARD},
		{"$0*", NULL, "", PB_ERROR_NO_CARD},
		{"$}", NULL, "", PB_ERROR_NO_CARD},
		{"$OK#", NULL, "", PB_ERROR_NO_CARD},
		{"$OK#9", NULL, "", PB_ERROR_NO_CARD},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		open_wire(true);
		says(cases[i].in);
		shutdown(other, SHUT_WR);
		assert_int_equal(pb_gdb_receive(&wire), cases[i].error);
		if (cases[i].contents != NULL) {
			assert_int_equal(wire.packet_bytes, strlen(cases[i].contents));
			assert_string_equal(wire.packet, cases[i].contents);
		}
		check_said(cases[i].said);
		close_wire();
	}
}

static void the_longest_run_is_unpacked(void **state)
{
	(void)state;
	open_wire(true);
	says("$7*~#df");
	assert_int_equal(pb_gdb_receive(&wire), PB_ERROR_OK);
	assert_int_equal(wire.packet_bytes, 98);
	for (size_t i = 0; i < 98; i++)
		assert_int_equal(wire.packet[i], '7');
	close_wire();
}

static void without_acknowledgements_none_is_sent(void **state)
{
	(void)state;
	open_wire(false);
	says("$OK#9a$OK#9b");
	assert_int_equal(pb_gdb_receive(&wire), PB_ERROR_OK);
	/* The stub does not send it again. */
	assert_int_equal(pb_gdb_receive(&wire), PB_ERROR_PROTOCOL);
	check_said("");
	close_wire();
}

static void packets_may_come_in_fragments(void **state)
{
	static const char text[] = "+$OK#9a";

	(void)state;
	open_wire(true);
	/* All but the last byte are there, and time runs out; what came is not read twice. */
	wire.patience_us = NO_PATIENCE_US;
	for (size_t i = 0; i + 1 < sizeof(text) - 1; i++)
		assert_int_equal(write(other, &text[i], 1), 1);
	assert_int_equal(pb_gdb_receive(&wire), PB_ERROR_TIMEOUT);
	says("a$E01#a6");
	wire.patience_us = PB_GDB_PATIENCE_US;
	assert_int_equal(pb_gdb_receive(&wire), PB_ERROR_OK);
	assert_string_equal(wire.packet, "E01");
	close_wire();
}

/* Contents of exactly the longest length, and one more. */
static void the_longest_packet_fits_and_one_more_byte_does_not(void **state)
{
	static char long_packet[PB_GDB_PACKET_BYTES + 8];

	(void)state;
	for (uint32_t more = 0; more < 2; more++) {
		const size_t bytes = PB_GDB_PACKET_BYTES + more;

		open_wire(true);
		memset(long_packet, 'a', sizeof(long_packet));
		long_packet[0] = '$';
		(void)snprintf(long_packet + 1 + bytes, 4, "#%02x", (unsigned)(bytes * 'a') & 0xffu);
		says(long_packet);
		shutdown(other, SHUT_WR);
		assert_int_equal(pb_gdb_receive(&wire), more == 0 ? PB_ERROR_OK : PB_ERROR_PROTOCOL);
		if (more == 0)
			assert_int_equal(wire.packet_bytes, bytes);
		close_wire();
	}
}

/* Runs that would grow a packet beyond all bounds. */
static void runs_cannot_grow_a_packet_beyond_its_bound(void **state)
{
	static char bomb[1024];

	(void)state;
	open_wire(true);
	memcpy(bomb, "$0", 2);
	for (size_t i = 2; i + 2 < sizeof(bomb); i += 2)
		memcpy(bomb + i, "*~", 2);
	says(bomb);
	assert_int_equal(pb_gdb_receive(&wire), PB_ERROR_PROTOCOL);
	assert_true(wire.packet_bytes <= PB_GDB_PACKET_BYTES);
	close_wire();
}

static void endless_noise_is_given_up(void **state)
{
	static char noise[65536 + 1];

	(void)state;
	open_wire(true);
	memset(noise, '.', sizeof(noise) - 1);
	says(noise);
	assert_int_equal(pb_gdb_receive(&wire), PB_ERROR_PROTOCOL);
	close_wire();
}

/* ---- sending ---- */

static void test_send(void **state)
{
	static const struct {
		const char *contents;
		const char *answer;
		bool acknowledge;
		const char *said;
		enum pb_error error; /* the other side closes behind its answer */
	} cases[] = {
		{"", "+", true, "$#00", PB_ERROR_OK},
		{"OK", "+", true, "$OK#9a", PB_ERROR_OK},
		{"OK", "", false, "$OK#9a", PB_ERROR_OK},
		/* escaped, and the sum is over what is sent */
		{"#$}*", "+", true, "$}\x03}\x04}]}\x0a#62", PB_ERROR_OK},
		{"OK", "-+", true, "$OK#9a$OK#9a", PB_ERROR_OK},
		{"OK", "x.-y+", true, "$OK#9a$OK#9a", PB_ERROR_OK},
		{"OK", "----+", true, "$OK#9a$OK#9a$OK#9a$OK#9a$OK#9a", PB_ERROR_OK},
		{"OK", "-----", true, "$OK#9a$OK#9a$OK#9a$OK#9a$OK#9a", PB_ERROR_PROTOCOL},
		/* the answer is here, its acknowledgement is not */
		{"OK", "$E01#a6", true, "$OK#9a", PB_ERROR_OK},
		{"OK", "", true, "$OK#9a", PB_ERROR_NO_CARD},
		{"OK", "-", true, "$OK#9a$OK#9a", PB_ERROR_NO_CARD},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		open_wire(cases[i].acknowledge);
		says(cases[i].answer);
		shutdown(other, SHUT_WR);
		assert_int_equal(pb_gdb_send(&wire, cases[i].contents, strlen(cases[i].contents)),
				 cases[i].error);
		check_said(cases[i].said);
		close_wire();
	}
}

static void test_answer_kept(void **state)
{
	(void)state;
	open_wire(true);
	says("$E01#a6");
	assert_int_equal(pb_gdb_send(&wire, "OK", 2), PB_ERROR_OK);
	assert_int_equal(pb_gdb_receive(&wire), PB_ERROR_OK);
	assert_string_equal(wire.packet, "E01");
	close_wire();
}

static void test_send_failures(void **state)
{
	static uint8_t full[PB_GDB_PACKET_BYTES];
	enum pb_error error = PB_ERROR_OK;

	(void)state;
	open_wire(true);
	wire.patience_us = NO_PATIENCE_US;
	assert_int_equal(pb_gdb_send(&wire, "OK", 2), PB_ERROR_TIMEOUT);
	close_wire();
	open_wire(false);
	wire.patience_us = NO_PATIENCE_US;
	/* No peer reads: the socket fills up. All bytes are escaped, so that the room for them is used. */
	memset(full, '$', sizeof(full));
	for (uint32_t i = 0; i < 1000 && error == PB_ERROR_OK; i++)
		error = pb_gdb_send(&wire, full, sizeof(full));
	assert_int_equal(error, PB_ERROR_TIMEOUT);
	close(other);
	assert_int_equal(pb_gdb_send_break(&wire), PB_ERROR_NO_CARD);
	close(wire.socket);
}

static void test_break(void **state)
{
	(void)state;
	open_wire(true);
	assert_int_equal(pb_gdb_send_break(&wire), PB_ERROR_OK);
	check_said("\x03");
	close_wire();
}

/* ---- noise ---- */

static uint32_t random_word(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33);
}

/* Whatever comes ends in a packet that fits, or in an error, and is read to its end in bounded time. */
static void any_bytes_end_in_a_packet_or_an_error(void **state)
{
	static const char likely[] = "$$##+-*}0aEOT~ \x03";
	uint64_t seed = 1;

	(void)state;
	for (uint32_t i = 0; i < 5000; i++) {
		char noise[256];
		const uint32_t bytes = random_word(&seed) % sizeof(noise);
		enum pb_error error = PB_ERROR_OK;
		uint32_t packets = 0;

		for (uint32_t k = 0; k < bytes; k++)
			noise[k] = random_word(&seed) % 4u == 0
					   ? (char)random_word(&seed)
					   : likely[random_word(&seed) % (sizeof(likely) - 1)];
		open_wire(random_word(&seed) % 2u == 0);
		assert_int_equal(write(other, noise, bytes), (ssize_t)bytes);
		shutdown(other, SHUT_WR);
		for (; error == PB_ERROR_OK || error == PB_ERROR_PROTOCOL; packets++) {
			assert_true(packets <= sizeof(noise));
			error = pb_gdb_receive(&wire);
			assert_true(wire.packet_bytes <= PB_GDB_PACKET_BYTES);
			assert_int_equal(wire.packet[wire.packet_bytes], '\0');
		}
		assert_int_equal(error, PB_ERROR_NO_CARD);
		close_wire();
	}
}

UNIT_SUITE(test_gdb_packet)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_of_packet_is_received),
		cmocka_unit_test(the_longest_run_is_unpacked),
		cmocka_unit_test(without_acknowledgements_none_is_sent),
		cmocka_unit_test(packets_may_come_in_fragments),
		cmocka_unit_test(the_longest_packet_fits_and_one_more_byte_does_not),
		cmocka_unit_test(runs_cannot_grow_a_packet_beyond_its_bound),
		cmocka_unit_test(endless_noise_is_given_up),
		cmocka_unit_test(test_send),
		cmocka_unit_test(test_answer_kept),
		cmocka_unit_test(test_send_failures),
		cmocka_unit_test(test_break),
		cmocka_unit_test(any_bytes_end_in_a_packet_or_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
