/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_victim.h"
#include "tests/soak/soak.h"

void pb_soak_count(uint32_t *count, uint32_t more)
{
	__atomic_fetch_add(count, more, __ATOMIC_SEQ_CST);
}

uint32_t pb_soak_ended(const struct pb_soak_book *book)
{
	return __atomic_load_n(&book->completed, __ATOMIC_SEQ_CST) +
	       __atomic_load_n(&book->failed, __ATOMIC_SEQ_CST) +
	       __atomic_load_n(&book->returned, __ATOMIC_SEQ_CST) +
	       __atomic_load_n(&book->unseen, __ATOMIC_SEQ_CST) +
	       __atomic_load_n(&book->lost, __ATOMIC_SEQ_CST);
}

/* While the card closes dead clients' channels there may be no free channel. */
static bool connect_to_card(struct pb_link **link, const char *socket)
{
	const uint64_t start = e2e_now();
	enum pb_error error;

	while ((error = pb_link_open_socket(socket, link)) == PB_ERROR_CARD_FULL) {
		if (!e2e_patience(start))
			return e2e_fail("no channel is free");
	}
	return e2e_ok("connect", error);
}

/*
 * Attaches until the firmware lives long enough to furnish the channel. On a busy machine that hardly runs
 * the emulator the library may take living firmware for dead. Then, too, its contract is to attach again.
 */
static bool settle(struct pb_soak_state *state)
{
	struct e2e_host *host = &state->host;
	const uint64_t start = e2e_now();
	const uint32_t before = __atomic_load_n(&state->book->incarnation, __ATOMIC_SEQ_CST);

	do {
		*host = (struct e2e_host){.link = host->link};
		if (!e2e_ok("attach", pb_channel_attach(&host->channel, host->link, E2E_PATIENCE_US)))
			return false;
		if (host->channel.card.incarnation == before)
			pb_soak_count(&state->book->doubts, 1);
		if (pb_soak_furnish(state))
			return true;
	} while (e2e_patience(start));
	return e2e_fail("the channel is never furnished");
}

/* A client whose firmware is dead, or seems so, need not free anything: the card does it. */
static bool detach(struct pb_soak_state *state)
{
	const enum pb_error error = pb_channel_detach(&state->host.channel);

	return error == PB_ERROR_FIRMWARE_DEAD || e2e_ok("detach", error);
}

/* Frees everything and allocates it again, when the parent requests it. */
static bool reattach_if_requested(struct pb_soak_state *state)
{
	uint32_t *reattach = &state->book->reattach;

	if (__atomic_load_n(reattach, __ATOMIC_SEQ_CST) == 0)
		return true;
	if (!detach(state))
		return false;
	__atomic_store_n(&state->book->incarnation, 0, __ATOMIC_SEQ_CST);
	if (!settle(state))
		return false;
	__atomic_store_n(reattach, 0, __ATOMIC_SEQ_CST);
	return true;
}

int pb_soak_client_live(const struct pb_soak_client *client)
{
	static struct pb_soak_state state;
	enum pb_soak_end end = PB_SOAK_GONE;

	state.book = client->book;
	state.random = client->seed * 2654435761u;
	if (!connect_to_card(&state.host.link, client->socket))
		return 1;
	e2e_victim_dies_at(state.host.link, &client->book->points);
	while (end != PB_SOAK_BAD && __atomic_load_n(&client->book->stop, __ATOMIC_SEQ_CST) == 0) {
		if (end == PB_SOAK_GONE && !settle(&state))
			return 1;
		end = pb_soak_round(&state);
		if (end == PB_SOAK_GOOD && !reattach_if_requested(&state))
			return 1;
	}
	if (end == PB_SOAK_GOOD && !detach(&state))
		return 1;
	state.host.link->ops->close(state.host.link);
	return end == PB_SOAK_BAD ? 1 : 0;
}
