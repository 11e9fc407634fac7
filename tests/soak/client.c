/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <unistd.h>

#include "tests/e2e/e2e.h"
#include "tests/soak/soak.h"

/* Between two rounds a client rests for less than this, so that several share a machine. */
#define REST_US 4000u

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

/* While dead clients are being buried there may be no place. */
static bool connect_to_card(struct pb_link **link, const char *socket)
{
	const uint64_t start = e2e_now();
	enum pb_error error;

	while ((error = pb_link_open_socket(socket, link)) == PB_ERROR_NO_CARD) {
		if (!e2e_patience(start))
			return e2e_fail("there is no place");
	}
	return e2e_ok("connect", error);
}

static bool firmware_is_gone(const struct pb_channel *channel)
{
	const enum pb_error error = pb_channel_check(channel, NULL);

	return error == PB_ERROR_FIRMWARE_DEAD || error == PB_ERROR_DETACHED;
}

/* Attaches until the firmware lives long enough to furnish the channel. */
static bool settle(struct pb_soak_work *work)
{
	struct e2e_host *host = &work->host;
	const uint64_t start = e2e_now();

	for (;;) {
		*host = (struct e2e_host){.link = host->link};
		if (!e2e_ok("attach", pb_channel_attach(&host->channel, host->link, E2E_PATIENCE_US)))
			return false;
		pb_soak_count(&work->book->attaches, 1);
		if (pb_soak_furnish(work))
			return true;
		if (!firmware_is_gone(&host->channel))
			return e2e_fail("it cannot be furnished, and the firmware lives");
		if (!e2e_patience(start))
			return e2e_fail("it is never furnished");
	}
}

/* Gives all back and takes it again, when it is told to. */
static bool follow(struct pb_soak_work *work)
{
	uint32_t *anew = &work->book->anew;

	if (__atomic_load_n(anew, __ATOMIC_SEQ_CST) == 0)
		return true;
	if (!e2e_ok("detach", pb_channel_detach(&work->host.channel)) || !settle(work))
		return false;
	__atomic_store_n(anew, 0, __ATOMIC_SEQ_CST);
	return true;
}

int pb_soak_client_live(const struct pb_soak_client *client)
{
	static struct pb_soak_work work;
	enum pb_soak_end end = PB_SOAK_GONE;

	work.book = client->book;
	work.random = client->seed * 2654435761u;
	if (!connect_to_card(&work.host.link, client->socket))
		return 1;
	while (end != PB_SOAK_BAD && __atomic_load_n(&client->book->stop, __ATOMIC_SEQ_CST) == 0) {
		if (end == PB_SOAK_GONE && !settle(&work))
			return 1;
		end = pb_soak_round(&work);
		if (end == PB_SOAK_GOOD && !follow(&work))
			return 1;
		usleep(pb_soak_draw(&work, REST_US));
	}
	/* If the firmware died since the last round there is nothing to detach from. */
	if (end == PB_SOAK_GOOD && !e2e_host_close(&work.host) && !firmware_is_gone(&work.host.channel))
		return 1;
	return end == PB_SOAK_BAD ? 1 : 0;
}
