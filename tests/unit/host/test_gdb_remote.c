/* SPDX-License-Identifier: MIT */
/* Commands to a gdb stub, against scripted ones: what is asked, and what is made of any answer. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/link_gdb_remote.h"
#include "tests/unit/unit.h"

static struct pb_gdb gdb;
static int ours;
static int other; /* the stub's end */

static void open_pair(void)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	ours = ends[0];
	other = ends[1];
}

static void close_pair(void)
{
	close(ours);
	close(other);
}

/* "$text#sum" for each text of a list that blanks separate, each behind a '+'; '_' stands for no text. */
static void says(const char *answers)
{
	char *list = strdup(answers);

	for (char *text = strtok(list, " "); text != NULL; text = strtok(NULL, " ")) {
		unsigned sum = 0;

		if (strcmp(text, "_") == 0)
			*text = '\0';
		for (const char *at = text; *at != '\0'; at++)
			sum += (unsigned char)*at;
		dprintf(other, "+$%s#%02x", text, sum & 0xffu);
	}
	free(list);
}

/* The contents of what this side has sent, each with a blank behind it; a break is "^C ". */
static void check_asked(const char *expected)
{
	char said[8192] = "";
	char asked[8192] = "";
	size_t length = 0;
	const ssize_t got = recv(other, said, sizeof(said) - 1, MSG_DONTWAIT);

	for (ssize_t i = 0; i < got; i++) {
		if (said[i] == 3) {
			length += (size_t)sprintf(asked + length, "^C ");
		} else if (said[i] == '$') {
			while (said[++i] != '#')
				asked[length++] = said[i];
			asked[length++] = ' ';
		}
	}
	asked[length] = '\0';
	assert_string_equal(asked, expected);
}

static void greet(const char *features, const char *binary)
{
	char answers[256];

	open_pair();
	(void)snprintf(answers, sizeof(answers), "%s T05thread:1; _ %s", features, binary);
	says(answers);
	assert_int_equal(pb_gdb_greet(&gdb, ours, PB_GDB_PATIENCE_US), PB_ERROR_OK);
	check_asked("qSupported ? Qqemu.PhyMemMode:1 X0,0: ");
}

/* ---- greeting ---- */

static void test_greet(void **state)
{
	static const struct {
		const char *answers; /* behind them the stub closes */
		const char *asked;
		enum pb_error error;
		uint32_t packet_bytes;
		bool binary;
		bool acknowledge;
	} cases[] = {
		{"PacketSize=1000 T05 _ _", "qSupported ? Qqemu.PhyMemMode:1 X0,0: ", PB_ERROR_OK, 4096,
		 false, true},
		{"PacketSize=1000 S05 OK OK", "qSupported ? Qqemu.PhyMemMode:1 X0,0: ", PB_ERROR_OK, 4096,
		 true, true},
		{"a+;PacketSize=3fff;b- T05 E01 E01", "qSupported ? Qqemu.PhyMemMode:1 X0,0: ", PB_ERROR_OK,
		 0x3fff, false, true},
		/* no size, and sizes that cannot be */
		{"_ T05 _ _", "qSupported ? Qqemu.PhyMemMode:1 X0,0: ", PB_ERROR_OK, 400, false, true},
		{"PacketSize=zz T05 _ _", "qSupported ? Qqemu.PhyMemMode:1 X0,0: ", PB_ERROR_OK, 400, false,
		 true},
		{"PacketSize=1 T05 _ _", "qSupported ? Qqemu.PhyMemMode:1 X0,0: ", PB_ERROR_OK, 64, false,
		 true},
		{"PacketSize=ffffffffffff T05 _ _", "qSupported ? Qqemu.PhyMemMode:1 X0,0: ", PB_ERROR_OK,
		 PB_GDB_PACKET_BYTES, false, true},
		/* without acknowledgements, if the stub agrees */
		{"QStartNoAckMode+ E01 T05 _ _",
		 "qSupported QStartNoAckMode ? Qqemu.PhyMemMode:1 X0,0: ", PB_ERROR_OK, 400, false, true},
		{"QStartNoAckMode- T05 _ _", "qSupported ? Qqemu.PhyMemMode:1 X0,0: ", PB_ERROR_OK, 400,
		 false, true},
		/* console output in between */
		{"_ O48 T05 O49 _ _", "qSupported ? Qqemu.PhyMemMode:1 X0,0: ", PB_ERROR_OK, 400, false,
		 true},
		/* no MCU, one that has ended, and what is no stub */
		{"_ E01", "qSupported ? ", PB_ERROR_PROTOCOL, 400, false, true},
		{"_ W00", "qSupported ? ", PB_ERROR_PROTOCOL, 400, false, true},
		{"", "qSupported ", PB_ERROR_NO_CARD, 0, false, true},
		{"_", "qSupported ? ", PB_ERROR_NO_CARD, 400, false, true},
		{"_ T05", "qSupported ? Qqemu.PhyMemMode:1 ", PB_ERROR_NO_CARD, 400, false, true},
		{"_ T05 _", "qSupported ? Qqemu.PhyMemMode:1 X0,0: ", PB_ERROR_NO_CARD, 400, false, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		open_pair();
		says(cases[i].answers);
		shutdown(other, SHUT_WR);
		assert_int_equal(pb_gdb_greet(&gdb, ours, PB_GDB_PATIENCE_US), cases[i].error);
		assert_int_equal(gdb.packet_bytes, cases[i].packet_bytes);
		assert_int_equal(gdb.binary, cases[i].binary);
		assert_int_equal(gdb.wire.acknowledge, cases[i].acknowledge);
		check_asked(cases[i].asked);
		close_pair();
	}
}

static void acknowledgements_end_when_the_stub_agrees(void **state)
{
	static const char answers[] = "+$QStartNoAckMode+#db+$OK#9a$T05#b9$#00$#00";
	char said[256] = "";

	(void)state;
	open_pair();
	assert_int_equal(write(other, answers, strlen(answers)), (ssize_t)strlen(answers));
	assert_int_equal(pb_gdb_greet(&gdb, ours, PB_GDB_PATIENCE_US), PB_ERROR_OK);
	assert_false(gdb.wire.acknowledge);
	assert_true(recv(other, said, sizeof(said) - 1, MSG_DONTWAIT) > 0);
	assert_string_equal(said, "$qSupported#37+$QStartNoAckMode#b0+$?#3f$Qqemu.PhyMemMode:1#77$X0,0:#1e");
	close_pair();
}

static void test_silence(void **state)
{
	(void)state;
	open_pair();
	assert_int_equal(pb_gdb_greet(&gdb, ours, 20), PB_ERROR_TIMEOUT);
	close_pair();
}

/* ---- halt and resume ---- */

static void test_run(void **state)
{
	(void)state;
	greet("_", "_");
	assert_true(gdb.halted);
	/* It is halted already: nothing is asked. */
	assert_int_equal(pb_gdb_halt(&gdb), PB_ERROR_OK);
	check_asked("");
	says("_");
	assert_int_equal(pb_gdb_resume(&gdb), PB_ERROR_OK);
	assert_false(gdb.halted);
	assert_int_equal(pb_gdb_resume(&gdb), PB_ERROR_OK);
	check_asked("c ");
	says("T02");
	/* The empty answer above is none to a break. */
	assert_int_equal(pb_gdb_halt(&gdb), PB_ERROR_PROTOCOL);
	assert_int_equal(pb_gdb_halt(&gdb), PB_ERROR_OK);
	assert_true(gdb.halted);
	check_asked("^C ^C ");
	says("OK");
	pb_gdb_leave(&gdb);
	check_asked("D ");
	close_pair();
}

static void a_target_is_left_running(void **state)
{
	(void)state;
	greet("_", "_");
	assert_int_equal(write(other, "+", 1), 1);
	assert_int_equal(pb_gdb_resume(&gdb), PB_ERROR_OK);
	says("O48 T02thread:01; OK");
	pb_gdb_leave(&gdb);
	check_asked("c ^C D ");
	close_pair();
}

/* ---- memory ---- */

static void test_read(void **state)
{
	static const struct {
		const char *answers;
		uint32_t bytes;
		const char *asked;
		enum pb_error error;
		uint8_t found[4];
	} cases[] = {
		{"01FEab00", 4, "m20000000,4 ", PB_ERROR_OK, {0x01, 0xfe, 0xab, 0x00}},
		{"0* ", 2, "m20000000,2 ", PB_ERROR_OK, {0, 0}},
		{"T02 O41 11", 1, "m20000000,1 ", PB_ERROR_OK, {0x11}},
		{"E14", 4, "m20000000,4 ", PB_ERROR_BAD_RANGE, {0}},
		/* shorter: memory ends there; longer, empty or no digits: no answer to that */
		{"0102", 4, "m20000000,4 ", PB_ERROR_BAD_RANGE, {0}},
		{"0102030405", 4, "m20000000,4 ", PB_ERROR_PROTOCOL, {0}},
		{"_", 4, "m20000000,4 ", PB_ERROR_PROTOCOL, {0}},
		{"0102030g", 4, "m20000000,4 ", PB_ERROR_PROTOCOL, {1, 2, 3}},
		{"OK", 1, "m20000000,1 ", PB_ERROR_PROTOCOL, {0}},
		{"", 4, "m20000000,4 ", PB_ERROR_NO_CARD, {0}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t found[4] = {0};
		char *blank;
		char answers[32];

		greet("_", "_");
		/* A blank that is a run's length is no separator. */
		(void)snprintf(answers, sizeof(answers), "%s", cases[i].answers);
		blank = strstr(answers, "* ");
		if (blank != NULL)
			dprintf(other, "+$0* #7a");
		else
			says(answers);
		shutdown(other, SHUT_WR);
		assert_int_equal(pb_gdb_read(&gdb, 0x20000000, found, cases[i].bytes), cases[i].error);
		assert_memory_equal(found, cases[i].found, sizeof(found));
		check_asked(cases[i].asked);
		close_pair();
	}
}

static void test_write(void **state)
{
	static const uint8_t bytes[] = {0x01, 0xfe, '#', '*'};
	static const struct {
		const char *binary; /* the answer to whether it takes bytes */
		const char *answers;
		const char *asked;
		enum pb_error error;
	} cases[] = {
		{"_", "OK", "M8,4:01fe232a ", PB_ERROR_OK},
		{"OK", "OK", "X8,4:\x01\xfe}\x03}\x0a ", PB_ERROR_OK},
		{"_", "E01", "M8,4:01fe232a ", PB_ERROR_BAD_RANGE},
		{"_", "_", "M8,4:01fe232a ", PB_ERROR_PROTOCOL},
		{"_", "ok", "M8,4:01fe232a ", PB_ERROR_PROTOCOL},
		{"_", "", "M8,4:01fe232a ", PB_ERROR_NO_CARD},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		greet("_", cases[i].binary);
		says(cases[i].answers);
		shutdown(other, SHUT_WR);
		assert_int_equal(pb_gdb_write(&gdb, 8, bytes, sizeof(bytes)), cases[i].error);
		check_asked(cases[i].asked);
		close_pair();
	}
}

/* A stub of 64 bytes a packet gets and gives 16 at a time. */
static void small_packets_split_reads_and_writes(void **state)
{
	uint8_t bytes[36], found[36];

	(void)state;
	for (uint8_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i;
	greet("PacketSize=40", "_");
	says("OK OK OK");
	assert_int_equal(pb_gdb_write(&gdb, 0xffff0000, bytes, sizeof(bytes)), PB_ERROR_OK);
	check_asked("Mffff0000,10:000102030405060708090a0b0c0d0e0f "
		    "Mffff0010,10:101112131415161718191a1b1c1d1e1f Mffff0020,4:20212223 ");
	says("000102030405060708090a0b0c0d0e0f 101112131415161718191A1B1C1D1E1F 20212223");
	assert_int_equal(pb_gdb_read(&gdb, 0, found, sizeof(found)), PB_ERROR_OK);
	check_asked("m0,10 m10,10 m20,4 ");
	assert_memory_equal(found, bytes, sizeof(bytes));
	/* The first part that fails is the last. */
	says("OK E02");
	assert_int_equal(pb_gdb_write(&gdb, 0, bytes, sizeof(bytes)), PB_ERROR_BAD_RANGE);
	says("000102030405060708090a0b0c0d0e0f E02");
	assert_int_equal(pb_gdb_read(&gdb, 0, found, sizeof(found)), PB_ERROR_BAD_RANGE);
	check_asked("M0,10:000102030405060708090a0b0c0d0e0f M10,10:101112131415161718191a1b1c1d1e1f m0,10 "
		    "m10,10 ");
	close_pair();
}

/* ---- addresses ---- */

static void test_connect(void **state)
{
	static const struct {
		const char *address;
		enum pb_error error;
	} cases[] = {
		{"", PB_ERROR_BAD_ARGUMENT},
		{"3333", PB_ERROR_BAD_ARGUMENT},
		{":3333", PB_ERROR_BAD_ARGUMENT},
		{"localhost:", PB_ERROR_BAD_ARGUMENT},
		{"[]:3333", PB_ERROR_BAD_ARGUMENT},
		{"127.0.0.1:no-such-service", PB_ERROR_NO_CARD},
		/* Port 1 of the loopback: no program listens there. */
		{"127.0.0.1:1", PB_ERROR_NO_CARD},
		{"[::1]:1", PB_ERROR_NO_CARD},
		{"/no/such/socket", PB_ERROR_NO_CARD},
		{"./no-such-socket", PB_ERROR_NO_CARD},
		{"/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/"
		 "0123456789/0123456789",
		 PB_ERROR_SYSTEM},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int found;

		assert_int_equal(pb_gdb_connect(cases[i].address, &found), cases[i].error);
		if (found >= 0)
			close(found);
	}
}

/* ---- noise ---- */

static uint32_t random_word(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33);
}

/* Well-formed answers in any order: nothing is read or written beyond what was asked for. */
static void any_answer_stays_within_what_was_asked_for(void **state)
{
	static const char *const answers[] = {"OK",
					      "E01",
					      "T05",
					      "S02",
					      "O41",
					      "_",
					      "00",
					      "0011",
					      "W00",
					      "zz",
					      "PacketSize=0;QStartNoAckMode+",
					      "PacketSize=fffffff0"};
	uint64_t seed = 7;

	(void)state;
	for (uint32_t i = 0; i < 3000; i++) {
		uint8_t protected[12] = {[8] = 0xa5, 0xa5, 0xa5, 0xa5};
		enum pb_error error;

		open_pair();
		for (uint32_t k = random_word(&seed) % 12u; k != 0; k--)
			says(answers[random_word(&seed) % (sizeof(answers) / sizeof(answers[0]))]);
		shutdown(other, SHUT_WR);
		error = pb_gdb_greet(&gdb, ours, PB_GDB_PATIENCE_US);
		assert_true(error == PB_ERROR_OK || error == PB_ERROR_PROTOCOL || error == PB_ERROR_NO_CARD);
		if (error == PB_ERROR_OK) {
			(void)pb_gdb_read(&gdb, 0, protected, random_word(&seed) % 9u);
			(void)pb_gdb_resume(&gdb);
			(void)pb_gdb_halt(&gdb);
			(void)pb_gdb_write(&gdb, 0, protected, 8);
			pb_gdb_leave(&gdb);
		}
		for (uint32_t k = 8; k < sizeof(protected); k++)
			assert_int_equal(protected[k], 0xa5);
		close_pair();
	}
}

UNIT_SUITE(test_gdb_remote)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_greet),
		cmocka_unit_test(acknowledgements_end_when_the_stub_agrees),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_run),
		cmocka_unit_test(a_target_is_left_running),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_write),
		cmocka_unit_test(small_packets_split_reads_and_writes),
		cmocka_unit_test(test_connect),
		cmocka_unit_test(any_answer_stays_within_what_was_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
