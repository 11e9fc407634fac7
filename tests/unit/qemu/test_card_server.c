/* SPDX-License-Identifier: MIT */
/* What hosts of the card see of it, by hand and through the link. */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hal/shared.h"
#include "host/link_protocol.h"
#include "patchbay/abi/channel.h"
#include "tests/unit/patience.h"
#include "tests/unit/qemu/card_bench.h"
#include "tests/unit/qemu/raw_host.h"
#include "tests/unit/unit.h"

static int start(void **state)
{
	static struct card_bench bench;

	*state = &bench;
	card_bench_make(&bench);
	return card_bench_start(&bench);
}

static int stop(void **state)
{
	card_bench_end(*state);
	return 0;
}

/* Receives a peer's vectors. */
static void expect_vectors(int host, int64_t peer)
{
	for (uint32_t v = 0; v < PB_SOCKET_VECTORS; v++) {
		struct raw_message message;

		assert_true(raw_receive(host, &message));
		assert_int_equal(message.value, peer);
		assert_true(message.fd >= 0);
		close(message.fd);
	}
}

static void expect_number(int host, int64_t value)
{
	struct raw_message message;

	assert_true(raw_receive(host, &message));
	assert_int_equal(message.value, value);
	assert_int_equal(message.fd, -1);
}

/* Receives version, id and memory. */
static void expect_greeting(int host, int64_t id)
{
	struct raw_message message;
	struct stat status;

	expect_number(host, 0);
	expect_number(host, id);
	assert_true(raw_receive(host, &message));
	assert_int_equal(message.value, -1);
	assert_int_equal(fstat(message.fd, &status), 0);
	assert_int_equal(status.st_size, 16 << 20);
	close(message.fd);
}

static void test_handshake(void **state)
{
	const struct card_bench *bench = *state;
	int first = raw_connect(bench->socket);
	int second;
	int third;

	expect_greeting(first, 1);
	expect_vectors(first, 0);
	expect_vectors(first, 1);
	assert_false(raw_has_news(first));

	second = raw_connect(bench->socket);
	expect_greeting(second, 2);
	expect_vectors(second, 0);
	expect_vectors(second, 2);
	assert_false(raw_has_news(second));

	/* Once a third has been greeted, the card has handled that the second came and left. */
	close(second);
	third = raw_connect(bench->socket);
	expect_number(third, 0);
	assert_false(raw_has_news(first));
	close(third);
	close(first);
}

static void test_doorbell_and_interrupt(void **state)
{
	struct pb_link *one = card_bench_open(*state);
	struct pb_link *two = card_bench_open(*state);
	const struct fake_mailbox *mailbox = card_bench_mailbox(one);

	assert_int_equal(one->channel, 1);
	assert_int_equal(two->channel, 2);
	assert_int_equal(one->memory_bytes, PB_CARD_MEMORY_BYTES);
	card_bench_quiet(one);
	card_bench_quiet(two);
	for (uint32_t i = 1; i <= 100; i++) {
		two->ops->doorbell(two);
		assert_int_equal(two->ops->wait(two, UNIT_PATIENCE_US), PB_ERROR_OK);
		assert_int_equal(pb_shared_read32(&mailbox->doorbells[2]), i);
	}
	assert_int_equal(pb_shared_read32(&mailbox->doorbells[1]), 0);
	assert_int_equal(one->ops->wait(one, 0), PB_ERROR_TIMEOUT);
	one->ops->doorbell(one);
	assert_int_equal(one->ops->wait(one, UNIT_PATIENCE_US), PB_ERROR_OK);
	assert_int_equal(pb_shared_read32(&mailbox->doorbells[1]), 1);
	assert_int_equal(two->ops->wait(two, 0), PB_ERROR_TIMEOUT);
	one->ops->close(one);
	two->ops->close(two);
}

static void test_engines(void **state)
{
	struct pb_link *link = card_bench_open(*state);
	struct fake_mailbox *mailbox = card_bench_mailbox(link);

	for (uint32_t node = 0; node < PB_CARD_NODES; node++) {
		pb_shared_write32(&mailbox->feed, node + 1);
		link->ops->doorbell(link);
		card_bench_await(&mailbox->nodes[node], 1);
	}
	link->ops->close(link);
}

/* Eight fit, the ninth is sent away; a channel comes back only once the firmware has closed it. */
static void test_full(void **state)
{
	const struct card_bench *bench = *state;
	struct pb_link *links[PB_SOCKET_CLIENTS];
	struct pb_link *refused;
	struct fake_mailbox *mailbox;
	uint32_t rings;
	int ninth;

	for (uint32_t i = 0; i < PB_SOCKET_CLIENTS; i++)
		links[i] = card_bench_open(bench);
	assert_int_equal(pb_link_open_socket(bench->socket, &refused), PB_ERROR_CARD_FULL);
	assert_null(refused);

	mailbox = card_bench_mailbox(links[0]);
	pb_shared_write32(&mailbox->hold_closes, 1);
	links[4]->ops->close(links[4]);
	ninth = raw_connect(bench->socket);
	/* Whatever the card did about the two, it did before it heard the last of these. */
	for (rings = 1; rings <= 3; rings++) {
		links[7]->ops->doorbell(links[7]);
		card_bench_await(&mailbox->doorbells[8], rings);
	}
	assert_false(raw_has_news(ninth));
	assert_int_equal(pb_shared_read32(&mailbox->closes[5]), 0);

	pb_shared_write32(&mailbox->hold_closes, 0);
	expect_greeting(ninth, 5);
	assert_int_equal(pb_shared_read32(&mailbox->closes[5]), 1);
	/* The card gave it its privileges before it said hello. */
	assert_int_equal(pb_shared_read32(&mailbox->privileges[5]),
			 (PB_PRIVILEGE_PAGING | PB_PRIVILEGE_QUERY));
	close(ninth);
	for (uint32_t i = 0; i < PB_SOCKET_CLIENTS; i++) {
		if (i != 4)
			links[i]->ops->close(links[i]);
	}
}

/* More hosts leave at once than the admin's ring has room for. */
static void more_hosts_may_leave_at_once_than_the_ring_holds(void **state)
{
	const struct card_bench *bench = *state;
	struct pb_link *links[PB_SOCKET_CLIENTS];
	struct pb_link *last;

	for (uint32_t i = 0; i < PB_SOCKET_CLIENTS; i++)
		links[i] = card_bench_open(bench);
	pb_shared_write32(&card_bench_mailbox(links[0])->hold_closes, 1);
	for (uint32_t i = 0; i < PB_SOCKET_CLIENTS - 1; i++)
		links[i]->ops->close(links[i]);
	last = links[PB_SOCKET_CLIENTS - 1];
	pb_shared_write32(&card_bench_mailbox(last)->hold_closes, 0);
	for (uint32_t c = 1; c < PB_SOCKET_CLIENTS; c++)
		card_bench_await(&card_bench_mailbox(last)->closes[c], 1);
	last->ops->close(last);
}

static void test_killed_host(void **state)
{
	struct pb_link *witness = card_bench_open(*state);
	const struct fake_mailbox *mailbox = card_bench_mailbox(witness);
	struct pb_link *next;
	pid_t host = fork();

	if (host == 0) {
		struct pb_link *link;

		if (pb_link_open_socket(((const struct card_bench *)*state)->socket, &link) != PB_ERROR_OK)
			_exit(1);
		link->ops->doorbell(link);
		for (;;)
			pause();
	}
	card_bench_await(&mailbox->doorbells[2], 1);
	assert_int_equal(kill(host, SIGKILL), 0);
	assert_int_equal(waitpid(host, NULL, 0), host);
	card_bench_await(&mailbox->closes[2], 1);
	next = card_bench_open(*state);
	/* The reply may still be on its way when it connects: then it is the third. */
	assert_true(next->channel == 2 || next->channel == 3);
	next->ops->close(next);
	witness->ops->close(witness);
}

/* A host that reads nothing is not dropped while many come and go, and finds the messages that were for it. */
static void a_host_that_reads_nothing_is_kept(void **state)
{
	const struct card_bench *bench = *state;
	int slow = raw_connect(bench->socket);

	for (uint32_t i = 0; i < 300; i++) {
		struct pb_link *link = card_bench_open(bench);

		link->ops->close(link);
	}
	expect_greeting(slow, 1);
	expect_vectors(slow, 0);
	expect_vectors(slow, 1);
	assert_false(raw_has_news(slow));
	close(slow);
}

/* A host asks for weights: in pieces, several at once, behind one that there is not. The next host has 1 again. */
static void a_host_has_the_weight_that_it_asks_for(void **state)
{
	static const uint8_t asked[] = {3,    0,    0,    0,    0x54, 0x48, 0x47, 0x57, 65,   0,
					0,    0,    0x54, 0x48, 0x47, 0x57, 0,    0,    0,    0,
					0x54, 0x48, 0x47, 0x57, 9,    0,    0,    0,    0x55, 0x48,
					0x47, 0x57, 7,    0,    0,    0,    0x54, 0x48, 0x47, 0x57};
	struct pb_link *witness = card_bench_open(*state);
	const struct fake_mailbox *mailbox = card_bench_mailbox(witness);
	struct pb_link *link;
	int host = raw_connect(((const struct card_bench *)*state)->socket);

	expect_greeting(host, 2);
	assert_int_equal(write(host, asked, 5), 5);
	assert_int_equal(mailbox->weights[2], 1);
	assert_int_equal(write(host, asked + 5, 3), 3);
	card_bench_await(&mailbox->weights[2], 3);
	assert_int_equal(write(host, asked + 8, sizeof(asked) - 8), (ssize_t)sizeof(asked) - 8);
	card_bench_await(&mailbox->weights[2], 7);
	assert_int_equal(mailbox->weights[1], 1);
	close(host);
	card_bench_await(&mailbox->closes[2], 1);
	card_bench_await(&mailbox->weights[2], 1);
	link = card_bench_open(*state);
	assert_int_equal(pb_link_ask_weight(link, 0), PB_ERROR_BAD_ARGUMENT);
	assert_int_equal(pb_link_ask_weight(link, 65), PB_ERROR_BAD_ARGUMENT);
	assert_int_equal(pb_link_ask_weight(link, 64), PB_ERROR_OK);
	card_bench_await(&mailbox->weights[link->channel], 64);
	link->ops->close(link);
	witness->ops->close(witness);
}

/* What is no request is skipped. */
static void messages_of_hosts_are_skipped(void **state)
{
	int host = raw_connect(((const struct card_bench *)*state)->socket);

	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(write(host, "abcdefghijklm", 13), 13);
	expect_greeting(host, 1);
	expect_vectors(host, 0);
	expect_vectors(host, 1);
	close(host);
}

static void test_card_leaves(void **state)
{
	struct card_bench *bench = *state;
	struct pb_link *link;

	card_bench_make(bench);
	assert_int_equal(card_bench_start(bench), 0);
	link = card_bench_open(bench);
	card_bench_end(bench);
	unit_await(link->ops->wait(link, UNIT_PATIENCE_US) == PB_ERROR_NO_CARD);
	assert_int_equal(link->ops->wait(link, UNIT_PATIENCE_US), PB_ERROR_NO_CARD);
	link->ops->doorbell(link);
	link->ops->close(link);
}

/* An emulator that wants a larger file gets one; card memory is as large as ever, and so is what the file takes. */
static void a_larger_file_keeps_the_size_of_card_memory(void **unused)
{
	struct pb_machine machine;
	struct card_bench bench;
	struct stat status;
	struct pb_link *link;
	char path[128];

	(void)unused;
	card_bench_make(&bench);
	machine = *bench.options.machine;
	machine.memory_file_bytes = 0x80000000u;
	bench.options.machine = &machine;
	assert_int_equal(card_bench_start(&bench), 0);
	snprintf(path, sizeof(path), "%s/memory", bench.files);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_size, 0x80000000);
	assert_in_range(status.st_blocks * 512, 16 << 20, 17 << 20);
	assert_true(card_bench_said(&bench, ", memory 16 MiB, MCU pid "));
	link = card_bench_open(&bench);
	assert_int_equal(link->memory_bytes, 0x80000000);
	link->ops->close(link);
	card_bench_end(&bench);
}

UNIT_SUITE(test_card_server)
{
	static struct card_bench own;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_handshake, start, stop),
		cmocka_unit_test_setup_teardown(test_doorbell_and_interrupt, start, stop),
		cmocka_unit_test_setup_teardown(test_engines, start, stop),
		cmocka_unit_test_setup_teardown(test_full, start, stop),
		cmocka_unit_test_setup_teardown(more_hosts_may_leave_at_once_than_the_ring_holds, start,
						stop),
		cmocka_unit_test_setup_teardown(test_killed_host, start, stop),
		cmocka_unit_test_setup_teardown(a_host_that_reads_nothing_is_kept, start, stop),
		cmocka_unit_test_setup_teardown(messages_of_hosts_are_skipped, start, stop),
		cmocka_unit_test_setup_teardown(a_host_has_the_weight_that_it_asks_for, start, stop),
		cmocka_unit_test_prestate(test_card_leaves, &own),
		cmocka_unit_test(a_larger_file_keeps_the_size_of_card_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
