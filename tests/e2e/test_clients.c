/* SPDX-License-Identifier: MIT */
/* Eight clients at once, with the same addresses and different contents. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/wait.h>

#include "host/link_protocol.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_host.h"

#define CLIENTS PB_SOCKET_CLIENTS
#define ROUNDS  50u

struct client {
	const char *socket;
	uint32_t number;
};

/* Attaches, waits until all clients have, then runs rounds. Its memory must hold its own values. */
static int client_body(struct e2e_process *self, void *argument)
{
	const struct client *client = argument;
	const uint32_t base = (client->number + 1u) << 24;
	struct e2e_host host;

	if (!e2e_host_open(&host, client->socket) || !e2e_host_round(&host, base))
		return 1;
	e2e_send(self, (char)('0' + host.link->channel));
	if (e2e_receive(self) != 'g')
		return 1;
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		if (!e2e_host_round(&host, base + i))
			return 1;
	}
	e2e_send(self, 'd');
	/* No client writes into it while the others run. */
	if (e2e_receive(self) != 'e')
		return 1;
	return e2e_host_close(&host) ? 0 : 1;
}

static void check_ninth_is_refused(const char *socket)
{
	static struct e2e_output output;
	struct pb_link *link = NULL;

	assert_int_equal(pb_link_open_socket(socket, &link), PB_ERROR_CARD_FULL);
	assert_null(link);
	e2e_patchbay(&output, "replay", "--card", socket, E2E_DATA "/snb.subm.zst");
	assert_int_equal(output.code, 1);
	assert_non_null(strstr(output.err, "CARD_FULL: the card serves as many clients as it can"));
}

static void check_info_succeeds(const char *socket)
{
	static struct e2e_output output;

	e2e_patchbay(&output, "info", "--card", socket);
	assert_int_equal(output.code, 0);
}

static void eight_clients_run_at_once(void **state)
{
	struct e2e_process processes[CLIENTS];
	struct client clients[CLIENTS];
	struct e2e_card card;
	uint32_t channels = 0;

	(void)state;
	e2e_card_start(&card, 0);
	for (uint32_t i = 0; i < CLIENTS; i++) {
		clients[i] = (struct client){.socket = card.socket, .number = i};
		e2e_process_start(&processes[i], client_body, &clients[i]);
	}
	for (uint32_t i = 0; i < CLIENTS; i++)
		channels |= 1u << (e2e_receive(&processes[i]) - '0');
	/* Channels 1 to 8, each once. */
	assert_int_equal(channels, 0x1fe);
	for (uint32_t i = 0; i < CLIENTS; i++)
		e2e_send(&processes[i], 'g');
	check_ninth_is_refused(card.socket);
	for (uint32_t i = 0; i < CLIENTS; i++)
		assert_int_equal(e2e_receive(&processes[i]), 'd');
	check_ninth_is_refused(card.socket);
	for (uint32_t i = 0; i < CLIENTS; i++) {
		int status;

		e2e_send(&processes[i], 'e');
		status = e2e_process_end(&processes[i]);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	check_info_succeeds(card.socket);
	e2e_card_stop(&card);
}

/* Both clients name one GPU address. Each finds its own value there, whichever ran last. */
static void clients_with_equal_addresses_do_not_share_memory(void **state)
{
	struct e2e_host one, other;
	struct e2e_card card;

	(void)state;
	e2e_card_start(&card, 0);
	assert_true(e2e_host_open(&one, card.socket) && e2e_host_open(&other, card.socket));
	assert_true(e2e_target_gpu(&one, 0, 0) == e2e_target_gpu(&other, 0, 0));
	for (uint32_t round = 0; round < 20; round++) {
		struct pb_fence fence;

		/* Both have submissions in flight, on each node. */
		for (uint32_t n = 0; n < E2E_NODES; n++) {
			e2e_host_fill(&one, n, 0x11110000u + round);
			e2e_host_fill(&other, n, 0x22220000u + round);
			assert_int_equal(pb_dma_submit(&one.builders[n], round), PB_ERROR_OK);
			assert_int_equal(pb_dma_submit(&other.builders[n], round), PB_ERROR_OK);
		}
		for (uint32_t n = 0; n < E2E_NODES; n++) {
			assert_int_equal(pb_dma_wait(&one.builders[n], E2E_PATIENCE_US, &fence), PB_ERROR_OK);
			assert_int_equal(pb_dma_wait(&other.builders[n], E2E_PATIENCE_US, &fence),
					 PB_ERROR_OK);
		}
		for (uint32_t n = 0; n < E2E_NODES; n++) {
			assert_true(e2e_target_is(&one, n, 0x11110000u + round));
			assert_true(e2e_target_is(&other, n, 0x22220000u + round));
		}
	}
	assert_true(e2e_host_close(&one) && e2e_host_close(&other));
	e2e_card_stop(&card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(eight_clients_run_at_once),
		e2e_test(clients_with_equal_addresses_do_not_share_memory),
	};

	return e2e_run_tests(tests);
}
