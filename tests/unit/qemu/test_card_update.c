/* SPDX-License-Identifier: MIT */
/* The card's administrator: what it may send, and that one who falls silent keeps no other one away. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "qemu/card_update.h"
#include "tests/unit/unit.h"

#define SECOND_US 1000000u

static struct pb_card_update update;
static struct pb_card_loader loader;
static uint32_t flash[PB_CARD_FLASH_BYTES / sizeof(uint32_t)];
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static socklen_t address_bytes;
static int listener, epoll;

static int start(void **state)
{
	(void)state;
	/* A name that no file has. */
	address_bytes = (socklen_t)(sizeof(sa_family_t) + 1u +
				    (size_t)snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1u,
						     "patchbay-test-update-%d", (int)getpid()));
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, address_bytes), 0);
	assert_int_equal(listen(listener, 4), 0);
	memset(flash, 0xff, sizeof(flash));
	loader = (struct pb_card_loader){.used = true, .running = PB_SLOT_NONE};
	pb_flash_model_init(&loader.model, (uint8_t *)flash);
	loader.updater = (struct pb_updater){
		.slots = &loader.model.slots, .fuses = &loader.model.fuses, .board = "mps2_an500"};
	assert_true(pb_card_update_start(&update, &loader, listener, epoll));
	return 0;
}

static int stop(void **state)
{
	(void)state;
	pb_card_update_stop(&update);
	close(listener);
	close(epoll);
	return 0;
}

static int join(void)
{
	const int admin = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(admin, (struct sockaddr *)&address, address_bytes), 0);
	return admin;
}

static void put(int admin, const void *data, size_t bytes)
{
	assert_int_equal(send(admin, data, bytes, MSG_NOSIGNAL), bytes);
}

/** Returns what an administrator gets: 40, an answer; 0, the end of the connection; -1, nothing yet. */
static ssize_t get(int admin)
{
	struct pb_admin_answer answer;

	return recv(admin, &answer, sizeof(answer), MSG_DONTWAIT);
}

#define M PB_ADMIN_MAGIC

static const struct {
	struct pb_admin_request request;
	bool restarts;
	ssize_t got;
} requests[] = {
	{{M, PB_ADMIN_STATUS, 0, 0}, false, 40},
	{{M, PB_ADMIN_RESTART, 0, 0}, true, 40},
	{{M, PB_ADMIN_WRITE, 0, 0}, false, 40},
	{{M, PB_ADMIN_WRITE, 0, PB_CARD_SLOT_BYTES}, false, -1},
	{{M, PB_ADMIN_WRITE, 0, PB_CARD_SLOT_BYTES + 1u}, false, 0},
	{{M, PB_ADMIN_WRITE, 0, UINT32_MAX}, false, 0},
	{{M, PB_ADMIN_STATUS, 0, 4}, false, 0},
	{{M, PB_ADMIN_RESTART, 0, 4}, false, 0},
	{{M, 0, 0, 0}, false, 0},
	{{M, 4, 0, 0}, false, 0},
	{{M, UINT32_MAX, 0, 0}, false, 0},
	{{M + 1u, PB_ADMIN_RESTART, 0, 0}, false, 0},
};

static void what_is_no_request_ends_the_connection_and_does_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		/* In two halves. */
		const uint8_t *head = (const uint8_t *)&requests[i].request;
		const int admin = join();
		bool restarts;
		ssize_t got;

		assert_false(pb_card_update_handle(&update, 0));
		put(admin, head, 7);
		assert_false(pb_card_update_handle(&update, 0));
		assert_int_equal(get(admin), -1);
		put(admin, head + 7, sizeof(requests[i].request) - 7u);
		restarts = pb_card_update_handle(&update, 0);
		got = get(admin);
		if (restarts != requests[i].restarts || got != requests[i].got)
			fail_msg("request %zu: restarts %d, got %zd", i, restarts, got);
		close(admin);
		pb_card_update_stop(&update);
	}
}

static void one_who_falls_silent_is_left_and_the_next_one_is_served(void **state)
{
	static const struct pb_admin_request head = {PB_ADMIN_MAGIC, PB_ADMIN_WRITE, 0, 5000};
	static const struct pb_admin_request ask = {PB_ADMIN_MAGIC, PB_ADMIN_STATUS, 0, 0};
	int silent, next;

	(void)state;
	silent = join();
	assert_false(pb_card_update_handle(&update, 100 * SECOND_US));
	put(silent, &head, sizeof(head));
	assert_false(pb_card_update_handle(&update, 101 * SECOND_US));
	next = join();
	put(next, &ask, sizeof(ask));
	pb_card_update_turn(&update, 111 * SECOND_US - 1u);
	assert_int_equal(get(silent), -1);
	pb_card_update_turn(&update, 111 * SECOND_US);
	assert_int_equal(get(silent), 0);
	assert_false(pb_card_update_handle(&update, 111 * SECOND_US));
	assert_false(pb_card_update_handle(&update, 111 * SECOND_US));
	assert_int_equal(get(next), sizeof(struct pb_admin_answer));
	pb_card_update_turn(&update, 121 * SECOND_US - 1u);
	assert_int_equal(get(next), -1);
	close(silent);
	close(next);
}

UNIT_SUITE(test_card_update)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_no_request_ends_the_connection_and_does_nothing,
						start, stop),
		cmocka_unit_test_setup_teardown(one_who_falls_silent_is_left_and_the_next_one_is_served,
						start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
