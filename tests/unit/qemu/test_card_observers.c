/* SPDX-License-Identifier: MIT */
/* Observers of the card: what they get when its channels are all in use, what they may not, and what they cost others. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hal/shared.h"
#include "host/link_protocol.h"
#include "patchbay/patchbay.h"
#include "patchbay/trace.h"
#include "tests/unit/patience.h"
#include "tests/unit/qemu/card_bench.h"
#include "tests/unit/qemu/raw_host.h"
#include "tests/unit/unit.h"

static struct pb_link *hosts[PB_SOCKET_CLIENTS];

/* A card whose channels are all in use. */
static int start(void **state)
{
	static struct card_bench bench;

	*state = &bench;
	card_bench_make(&bench);
	if (card_bench_start(&bench) != 0)
		return -1;
	for (uint32_t i = 0; i < PB_SOCKET_CLIENTS; i++)
		hosts[i] = card_bench_open(&bench);
	return 0;
}

static int stop(void **state)
{
	for (uint32_t i = 0; i < PB_SOCKET_CLIENTS; i++)
		if (hosts[i] != NULL)
			hosts[i]->ops->close(hosts[i]);
	card_bench_end(*state);
	return 0;
}

static struct fake_mailbox *mailbox(void)
{
	return card_bench_mailbox(hosts[7]);
}

static struct pb_link *observe(const struct card_bench *bench)
{
	struct pb_link *link;

	assert_int_equal(pb_link_open_observer(bench->socket, &link), PB_ERROR_OK);
	return link;
}

static void attach(struct pb_channel *channel, struct pb_link *link)
{
	assert_int_equal(pb_channel_attach(channel, link, UNIT_PATIENCE_US), PB_ERROR_OK);
}

/* Waits for the answer to a question. */
static enum pb_error finish(struct pb_channel *channel, uint32_t tag, uint32_t *results)
{
	enum pb_error error;

	unit_await((error = pb_channel_finish(channel, tag, results)) != PB_ERROR_TIMEOUT);
	return error;
}

static void expect_answer(struct pb_channel *channel, uint32_t number)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {PB_QUERY_NODE, number};
	uint32_t results[PB_REPLY_RESULTS];

	assert_int_equal(pb_channel_command(channel, PB_COMMAND_QUERY, arguments, results), PB_ERROR_OK);
	assert_int_equal(results[0], number + FAKE_ANSWER);
}

/* The host of the last channel and its firmware still talk to each other. */
static void expect_service(void)
{
	static uint32_t before;

	before = pb_shared_read32(&mailbox()->doorbells[8]);
	hosts[7]->ops->doorbell(hosts[7]);
	card_bench_await(&mailbox()->doorbells[8], before + 1u);
}

/* Connects by hand, and takes what an observer is greeted with. @return the socket; *memory: card memory's file */
static int connect_raw(const struct card_bench *bench, int *memory)
{
	struct raw_message message;
	char path[128];
	int host;

	snprintf(path, sizeof(path), "%s.observe", bench->socket);
	host = raw_connect(path);
	assert_true(raw_receive(host, &message));
	assert_int_equal(message.value, 0);
	assert_int_equal(message.fd, -1);
	assert_true(raw_receive(host, &message));
	assert_int_equal(message.value, -1);
	assert_true(message.fd >= 0);
	*memory = message.fd;
	return host;
}

static void a_full_card_answers_observers(void **state)
{
	struct pb_link *links[PB_SOCKET_OBSERVERS_MOST], *more;
	struct pb_channel channels[PB_SOCKET_OBSERVERS_MOST];

	assert_int_equal(pb_link_open_socket(((struct card_bench *)*state)->socket, &more),
			 PB_ERROR_CARD_FULL);
	for (uint32_t i = 0; i < PB_SOCKET_OBSERVERS_MOST; i++) {
		links[i] = observe(*state);
		attach(&channels[i], links[i]);
	}
	for (uint32_t round = 0; round < 3; round++)
		for (uint32_t i = 0; i < PB_SOCKET_OBSERVERS_MOST; i++)
			expect_answer(&channels[i], 100u * round + i);
	assert_int_equal(pb_link_open_observer(((struct card_bench *)*state)->socket, &more),
			 PB_ERROR_CARD_FULL);
	expect_service();
	/* No channel was touched. */
	for (uint32_t c = 1; c <= PB_SOCKET_CLIENTS; c++)
		assert_int_equal(pb_shared_read32(&mailbox()->closes[c]), 0);
	for (uint32_t i = 0; i < PB_SOCKET_OBSERVERS_MOST; i++) {
		assert_int_equal(pb_channel_detach(&channels[i]), PB_ERROR_OK);
		links[i]->ops->close(links[i]);
	}
}

/* Questions of one observer that were sent together are answered in their order. */
static void questions_may_be_sent_ahead(void **state)
{
	struct pb_link *link = observe(*state);
	struct pb_channel channel;
	uint32_t tags[PB_COMMANDS_PENDING], results[PB_REPLY_RESULTS], more;
	uint32_t arguments[PB_COMMAND_ARGUMENTS] = {PB_QUERY_NODE};

	attach(&channel, link);
	for (uint32_t i = 0; i < PB_COMMANDS_PENDING; i++) {
		arguments[1] = i;
		assert_int_equal(pb_channel_begin(&channel, PB_COMMAND_QUERY, arguments, &tags[i]),
				 PB_ERROR_OK);
	}
	assert_int_equal(pb_channel_begin(&channel, PB_COMMAND_QUERY, arguments, &more), PB_ERROR_NO_SPACE);
	for (uint32_t i = PB_COMMANDS_PENDING; i-- > 0;) {
		assert_int_equal(finish(&channel, tags[i], results), PB_ERROR_OK);
		assert_int_equal(results[0], i + FAKE_ANSWER);
	}
	link->ops->close(link);
}

static void an_observer_cannot_write_card_memory(void **state)
{
	struct pb_link *link = observe(*state);
	int memory, status, host = connect_raw(*state, &memory);
	pid_t child;

	assert_ptr_equal(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0), MAP_FAILED);
	assert_int_equal(errno, EACCES);
	assert_int_equal(pwrite(memory, "x", 1, 0), -1);
	assert_int_not_equal(ftruncate(memory, 1), 0);
	assert_int_not_equal(mprotect(link->memory, 4096, PROT_READ | PROT_WRITE), 0);
	child = fork();
	if (child == 0) {
		signal(SIGSEGV, SIG_DFL);
		pb_shared_write32((void *)link->memory, 1);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	close(memory);
	close(host);
	link->ops->close(link);
}

static void only_questions_are_passed_on(void **state)
{
	struct pb_link *link = observe(*state);
	struct pb_channel channel;
	uint32_t passed = pb_shared_read32(&mailbox()->commands);

	attach(&channel, link);
	for (uint32_t code = 0; code < 64; code++) {
		const bool question =
			code == PB_COMMAND_PING || code == PB_COMMAND_QUERY || code == PB_COMMAND_TRACE;
		const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {3, 0, 0, 0};

		assert_int_equal(pb_channel_command(&channel, code, arguments, NULL),
				 question ? PB_ERROR_OK : PB_ERROR_NO_PERMISSION);
		passed += question ? 1u : 0u;
		assert_int_equal(pb_shared_read32(&mailbox()->commands), passed);
	}
	assert_int_equal(pb_shared_read32(&mailbox()->closes[3]), 0);
	assert_false(pb_channel_event(&channel, &(struct pb_event){0}));
	assert_int_equal(pb_channel_dropped(&channel), 0);
	link->ops->close(link);
}

/* Observers that end anywhere: before a question, inside one, behind one that is unanswered. */
static void an_observer_that_dies_leaves_its_place(void **state)
{
	static const uint32_t parts[] = {0, 1, 63, 64, 65, 200};
	static const struct pb_command question = {.code = PB_COMMAND_QUERY, .arguments = {PB_QUERY_NODE, 7}};
	uint8_t bytes[256];
	struct pb_link *link;
	struct pb_channel channel;

	for (uint32_t i = 0; i < sizeof(bytes); i += sizeof(question))
		memcpy(bytes + i, &question, sizeof(question));
	for (uint32_t round = 0; round < 60; round++) {
		const uint32_t part = parts[round % 6u];
		int memory, host = connect_raw(*state, &memory);

		pb_shared_write32(&mailbox()->hold_closes, round % 2u);
		assert_int_equal(write(host, bytes, part), part);
		if (round % 3u == 0)
			expect_service();
		close(memory);
		close(host);
		pb_shared_write32(&mailbox()->hold_closes, 0);
		expect_service();
	}
	link = observe(*state);
	attach(&channel, link);
	expect_answer(&channel, 9);
	link->ops->close(link);
}

/* One that asks and asks, and reads nothing: it waits, and is sent away in the end; no other notices. */
static void an_observer_that_stalls_costs_no_other(void **state)
{
	static const struct pb_command question = {.code = PB_COMMAND_PING};
	struct pb_link *link = observe(*state);
	int memory, stalled = connect_raw(*state, &memory);
	struct pb_channel channel;
	uint32_t sent = 0;

	signal(SIGPIPE, SIG_IGN);
	attach(&channel, link);
	while (write(stalled, &question, sizeof(question)) == (ssize_t)sizeof(question)) {
		assert_true(++sent < 1000000);
		if (sent % 64u == 0) {
			expect_service();
			expect_answer(&channel, sent);
		}
	}
	assert_true(errno == EPIPE || errno == ECONNRESET);
	expect_answer(&channel, 1);
	close(memory);
	close(stalled);
	link->ops->close(link);
}

/* Questions never take the entries that the card's own commands need. */
static void the_card_comes_before_its_observers(void **state)
{
	struct pb_link *links[6], *next;
	struct pb_channel channels[6];
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {PB_QUERY_NODE, 5};
	uint32_t tags[6], results[PB_REPLY_RESULTS];
	struct pb_channel_entry *admin =
		(void *)(hosts[7]->memory + PB_CARD_CHANNELS_OFFSET + PB_CHANNEL_ADMIN * sizeof(*admin));
	uint32_t before;

	for (uint32_t i = 0; i < 6; i++) {
		links[i] = observe(*state);
		attach(&channels[i], links[i]);
	}
	before = pb_shared_read32(&admin->control_put);
	pb_shared_write32(&mailbox()->hold_closes, 1);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(pb_channel_begin(&channels[i], PB_COMMAND_QUERY, arguments, &tags[i]),
				 PB_ERROR_OK);
	/* Half of four entries. */
	card_bench_await(&admin->control_put, before + 2u);
	hosts[2]->ops->close(hosts[2]);
	card_bench_await(&admin->control_put, before + 3u);
	expect_service();
	assert_int_equal(pb_shared_read32(&admin->control_put), before + 3u);
	pb_shared_write32(&mailbox()->hold_closes, 0);
	card_bench_await(&mailbox()->closes[3], 1);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(finish(&channels[i], tags[i], results), PB_ERROR_OK);
		assert_int_equal(results[0], 5 + FAKE_ANSWER);
		links[i]->ops->close(links[i]);
	}
	unit_await(pb_link_open_socket(((struct card_bench *)*state)->socket, &next) == PB_ERROR_OK);
	assert_int_equal(next->channel, 3);
	hosts[2] = next;
}

/* Levels of the trace: each row is who sets what, or who leaves (0), and what the firmware has then. */
static void levels_of_an_observer_end_with_it(void **state)
{
	static const struct {
		uint32_t who, levels, expected;
	} rows[] = {
		{0, 0x777, 0x777}, {0, 0, FAKE_LEVELS}, /* alone */
		{0, 0x111, 0x111}, {1, 0x222, 0x222},   {0, 0, 0x222},       {1, 0, FAKE_LEVELS},
		{0, 0x111, 0x111}, {1, 0x222, 0x222},   {1, 0, 0x111},       {0, 0, FAKE_LEVELS},
		{0, 0x333, 0x333}, {0, 0x444, 0x444},   {0, 0, FAKE_LEVELS},
	};
	struct pb_link *links[2] = {NULL, NULL};
	struct pb_channel channels[2];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const uint32_t who = rows[i].who;

		if (rows[i].levels == 0) {
			links[who]->ops->close(links[who]);
			links[who] = NULL;
		} else {
			if (links[who] == NULL) {
				links[who] = observe(*state);
				attach(&channels[who], links[who]);
			}
			assert_int_equal(pb_trace_set(&channels[who], rows[i].levels, 0), PB_ERROR_OK);
		}
		card_bench_await(&mailbox()->levels, rows[i].expected);
		expect_service();
		assert_int_equal(pb_shared_read32(&mailbox()->levels), rows[i].expected);
	}
}

/* The firmware dies with a question, and again: what was asked is answered, and the next boot answers again. */
static void a_question_outlives_its_firmware(void **state)
{
	struct pb_link *link = observe(*state);
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {PB_QUERY_NODE, 5};
	struct pb_channel channel;
	uint32_t tag, results[PB_REPLY_RESULTS];

	for (uint32_t round = 1; round < 3; round++) {
		attach(&channel, link);
		pb_shared_write32(&mailbox()->hold_closes, 1);
		assert_int_equal(pb_channel_begin(&channel, PB_COMMAND_QUERY, arguments, &tag), PB_ERROR_OK);
		assert_int_equal(kill((pid_t)pb_shared_read32(&mailbox()->pid), SIGKILL), 0);
		assert_int_equal(finish(&channel, tag, results), PB_ERROR_FIRMWARE_DEAD);
		pb_shared_write32(&mailbox()->hold_closes, 0);
	}
	attach(&channel, link);
	expect_answer(&channel, 3);
	link->ops->close(link);
}

static void the_end_of_the_card_is_seen(void **unused)
{
	static struct card_bench bench;
	struct pb_channel channel;
	struct pb_link *link;

	(void)unused;
	card_bench_make(&bench);
	assert_int_equal(card_bench_start(&bench), 0);
	link = observe(&bench);
	attach(&channel, link);
	card_bench_end(&bench);
	unit_await(link->ops->wait(link, UNIT_PATIENCE_US) == PB_ERROR_NO_CARD);
	assert_int_equal(link->ops->wait(link, UNIT_PATIENCE_US), PB_ERROR_NO_CARD);
	link->ops->close(link);
	assert_int_equal(pb_link_open_observer(bench.socket, &link), PB_ERROR_NO_CARD);
	assert_null(link);
}

UNIT_SUITE(test_card_observers)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_full_card_answers_observers, start, stop),
		cmocka_unit_test_setup_teardown(questions_may_be_sent_ahead, start, stop),
		cmocka_unit_test_setup_teardown(an_observer_cannot_write_card_memory, start, stop),
		cmocka_unit_test_setup_teardown(only_questions_are_passed_on, start, stop),
		cmocka_unit_test_setup_teardown(an_observer_that_dies_leaves_its_place, start, stop),
		cmocka_unit_test_setup_teardown(an_observer_that_stalls_costs_no_other, start, stop),
		cmocka_unit_test_setup_teardown(the_card_comes_before_its_observers, start, stop),
		cmocka_unit_test_setup_teardown(levels_of_an_observer_end_with_it, start, stop),
		cmocka_unit_test_setup_teardown(a_question_outlives_its_firmware, start, stop),
		cmocka_unit_test(the_end_of_the_card_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
