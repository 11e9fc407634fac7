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

/*
 * Attaches until the firmware lives long enough to furnish the channel. Where
 * the machine is so busy that the emulator is hardly run, the library may take
 * living firmware for dead: then, too, its contract is to attach again.
 */
static bool settle(struct pb_soak_work *work)
{
	struct e2e_host *host = &work->host;
	const uint64_t start = e2e_now();
	const uint32_t before = __atomic_load_n(&work->book->incarnation, __ATOMIC_SEQ_CST);

	do {
		*host = (struct e2e_host){.link = host->link};
		if (!e2e_ok("attach", pb_channel_attach(&host->channel, host->link, E2E_PATIENCE_US)))
			return false;
		if (host->channel.card.incarnation == before)
			pb_soak_count(&work->book->doubts, 1);
		if (pb_soak_furnish(work))
			return true;
	} while (e2e_patience(start));
	return e2e_fail("it is never furnished");
}

/* Whoever finds the firmware dead, or takes it for that, has nothing to give back: the card does it. */
static bool detach(struct pb_soak_work *work)
{
	const enum pb_error error = pb_channel_detach(&work->host.channel);

	return error == PB_ERROR_FIRMWARE_DEAD || e2e_ok("detach", error);
}

/* Gives all back and takes it again, when it is told to. */
static bool follow(struct pb_soak_work *work)
{
	uint32_t *anew = &work->book->anew;

	if (__atomic_load_n(anew, __ATOMIC_SEQ_CST) == 0)
		return true;
	if (!detach(work))
		return false;
	__atomic_store_n(&work->book->incarnation, 0, __ATOMIC_SEQ_CST);
	if (!settle(work))
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
	if (end == PB_SOAK_GOOD && !detach(&work))
		return 1;
	work.host.link->ops->close(work.host.link);
	return end == PB_SOAK_BAD ? 1 : 0;
}
