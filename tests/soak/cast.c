/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/soak/cast.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hal/shared.h"
#include "tests/e2e/e2e_queues.h"

#define FIRST_WILD (1u + PB_SOAK_WORKERS)
#define CHANNELS   9u
/* One death of the MCU in so many is followed by the death of the restarted MCU, as soon as it runs. */
#define DOUBLE_KILLS 4u
/* Points of e2e_victim_dies_at() from which one is chosen for a client to die at. */
#define POINTS 64u

uint32_t pb_soak_choose(struct pb_soak_cast *cast, uint32_t below)
{
	cast->random = cast->random * 1664525u + 1013904223u;
	return (cast->random >> 16) % below;
}

static void *shared(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(memory != MAP_FAILED);
	return memory;
}

/* ---- clients ---- */

static void log_name(char path[E2E_PATH_BYTES], uint32_t client)
{
	char name[32];

	snprintf(name, sizeof(name), "client-%u.log", (unsigned)client);
	e2e_path(path, name);
}

struct life {
	struct pb_soak_cast *cast;
	uint32_t client;
	uint32_t seed;
};

/* A client's error messages count only if they are not about a death. */
static int live(struct e2e_process *self, void *argument)
{
	const struct life *life = argument;
	const struct pb_soak_client client = {.socket = life->cast->card.socket,
					      .seed = life->seed,
					      .book = &life->cast->books[life->client]};
	const struct e2e_victim wild = {.socket = life->cast->card.socket,
					.seed = life->seed,
					.steps = E2E_VICTIM_FOREVER,
					.points = &life->cast->books[life->client].points,
					.counts = life->cast->steps};
	char path[E2E_PATH_BYTES];
	int log;

	(void)self;
	log_name(path, life->client);
	log = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
	if (log < 0 || dup2(log, STDERR_FILENO) < 0 || close(log) != 0)
		return 1;
	return life->client < FIRST_WILD ? pb_soak_client_live(&client) : e2e_victim_live(&wild);
}

static void start(struct pb_soak_cast *cast, uint32_t client)
{
	struct life life = {.cast = cast, .client = client, .seed = pb_soak_choose(cast, 0x10000)};

	cast->books[client] = (struct pb_soak_book){.stop = 0};
	cast->clients[client].mcu_kills = cast->totals.mcu_kills;
	e2e_process_start(&cast->clients[client].process, live, &life);
}

static const struct pb_channel_entry *directory(const struct pb_soak_cast *cast)
{
	struct pb_card_info card;

	assert_int_equal(pb_card_read(cast->link, &card), PB_ERROR_OK);
	return (const void *)(cast->link->memory + card.channel_directory_offset);
}

static uint32_t state_of(const struct pb_soak_cast *cast, uint32_t channel)
{
	return pb_shared_read32(&directory(cast)[channel].state);
}

/* Prints what a person needs to find the cause. */
static void print_card(const struct pb_soak_cast *cast)
{
	struct pb_card_info card;

	if (pb_card_read(cast->link, &card) != PB_ERROR_OK)
		return;
	print_error("MCU state %u, stage %u, waypoint %u, heartbeat %u, incarnation %u, deaths %u\n",
		    (unsigned)card.mcu_state, (unsigned)card.boot_stage, (unsigned)card.waypoint,
		    (unsigned)card.heartbeat, (unsigned)card.incarnation, (unsigned)card.mcu_deaths);
	for (uint32_t c = 0; c < CHANNELS; c++) {
		const struct pb_channel_entry *entry = &directory(cast)[c];

		print_error("channel %u: state %u, epoch %u, control put %u, reply put %u\n", (unsigned)c,
			    (unsigned)entry->state, (unsigned)entry->epoch, (unsigned)entry->control_put,
			    (unsigned)entry->reply_put);
	}
}

static void print_failure(const struct pb_soak_cast *cast, uint32_t client, int status)
{
	char path[E2E_PATH_BYTES];
	uint8_t *text;
	size_t bytes;

	log_name(path, client);
	text = e2e_read_file(path, &bytes);
	print_error("client %u ended with wait status 0x%x; the end of its log:\n%s\n", (unsigned)client,
		    (unsigned)status, (const char *)text + (bytes > 2000 ? bytes - 2000 : 0));
	free(text);
	print_card(cast);
	fail_msg("client %u", (unsigned)client);
}

/* Adds up what a client left. @param killed it may have had submissions in flight */
static void settle(struct pb_soak_cast *cast, uint32_t client, bool killed)
{
	struct pb_soak_book *book = &cast->books[client];
	struct pb_soak_totals *totals = &cast->totals;
	const uint32_t open = book->submitted - pb_soak_ended(book);

	if (open > (killed ? PB_SOAK_SLOTS : 0))
		fail_msg("client %u: %u submissions of %u are unaccounted for", (unsigned)client,
			 (unsigned)open, (unsigned)book->submitted);
	totals->submitted += book->submitted;
	totals->completed += book->completed;
	totals->failed += book->failed;
	totals->returned += book->returned;
	totals->unseen += book->unseen;
	totals->lost += book->lost;
	totals->rounds += book->rounds;
	totals->doubts += book->doubts;
	totals->died += open;
	*book = (struct pb_soak_book){.stop = 0};
}

/* A wild client ends by itself when its firmware dies. */
static bool may_have_ended(const struct pb_soak_cast *cast, uint32_t client)
{
	return client >= FIRST_WILD && cast->clients[client].mcu_kills != cast->totals.mcu_kills;
}

enum way {
	STOP, /* after its round; of a wild one: DIE */
	DIE,  /* at a doorbell */
	KILL, /* at once */
};

static void end(struct pb_soak_cast *cast, uint32_t client, enum way way)
{
	const bool killed = way != STOP || client >= FIRST_WILD;
	int status;

	if (way == KILL)
		kill(cast->clients[client].process.pid, SIGKILL);
	else if (killed)
		__atomic_store_n(&cast->books[client].points, 1u + pb_soak_choose(cast, POINTS),
				 __ATOMIC_SEQ_CST);
	else
		__atomic_store_n(&cast->books[client].stop, 1, __ATOMIC_SEQ_CST);
	status = e2e_process_end(&cast->clients[client].process);
	if (killed ? !WIFSIGNALED(status) && !may_have_ended(cast, client) : status != 0)
		print_failure(cast, client, status);
	if (WIFSIGNALED(status))
		cast->totals.client_kills++;
	settle(cast, client, killed);
}

void pb_soak_check_alive(struct pb_soak_cast *cast)
{
	for (uint32_t c = 0; c < PB_SOAK_CLIENTS; c++) {
		siginfo_t info = {.si_pid = 0};

		assert_int_equal(
			waitid(P_PID, (id_t)cast->clients[c].process.pid, &info, WEXITED | WNOHANG | WNOWAIT),
			0);
		if (info.si_pid == 0)
			continue;
		if (!may_have_ended(cast, c))
			print_failure(cast, c, info.si_status);
		(void)e2e_process_end(&cast->clients[c].process);
		start(cast, c);
	}
}

void pb_soak_kill_client(struct pb_soak_cast *cast, uint32_t client)
{
	end(cast, client, DIE);
	start(cast, client);
}

uint32_t pb_soak_rounds(const struct pb_soak_cast *cast)
{
	uint32_t rounds = cast->totals.rounds;

	for (uint32_t c = 0; c < PB_SOAK_CLIENTS; c++)
		rounds += __atomic_load_n(&cast->books[c].rounds, __ATOMIC_SEQ_CST);
	return rounds;
}

void pb_soak_await_rounds(struct pb_soak_cast *cast, uint32_t rounds)
{
	const uint32_t start = pb_soak_rounds(cast);
	const uint64_t begin = e2e_now();

	while (pb_soak_rounds(cast) - start < rounds) {
		pb_soak_check_alive(cast);
		assert_true(e2e_patience(begin));
	}
}

void pb_soak_enter(struct pb_soak_cast *cast)
{
	for (uint32_t c = 1; c < PB_SOAK_CLIENTS; c++)
		start(cast, c);
}

void pb_soak_leave(struct pb_soak_cast *cast)
{
	pb_soak_check_alive(cast);
	for (uint32_t c = 1; c < PB_SOAK_CLIENTS; c++)
		end(cast, c, pb_soak_choose(cast, 2) != 0 ? DIE : STOP);
}

/* ---- the MCU ---- */

/* Whether a client has run on firmware newer than the last one that all of them ran on. */
static bool runs_again(const struct pb_soak_cast *cast, uint32_t client)
{
	return __atomic_load_n(&cast->books[client].incarnation, __ATOMIC_SEQ_CST) > cast->incarnation;
}

static void await_progress(struct pb_soak_cast *cast)
{
	const uint64_t begin = e2e_now();

	for (uint32_t c = 0; c < FIRST_WILD; c++) {
		while (!runs_again(cast, c)) {
			pb_soak_check_alive(cast);
			if (!e2e_patience(begin))
				fail_msg("client %u does not run again", (unsigned)c);
		}
	}
	cast->incarnation = __atomic_load_n(&cast->books[PB_SOAK_WITNESS].incarnation, __ATOMIC_SEQ_CST);
}

static pid_t kill_one_mcu(struct pb_soak_cast *cast, pid_t before)
{
	const uint64_t begin = e2e_now();
	pid_t mcu;

	while ((mcu = e2e_card_mcu(&cast->card)) == before)
		assert_true(e2e_patience(begin));
	cast->totals.mcu_kills++;
	assert_int_equal(kill(mcu, SIGKILL), 0);
	return mcu;
}

void pb_soak_kill_mcu(struct pb_soak_cast *cast)
{
	const bool again = pb_soak_choose(cast, DOUBLE_KILLS) == 0;
	const pid_t mcu = kill_one_mcu(cast, 0);

	if (again)
		(void)kill_one_mcu(cast, mcu);
	/* A client dies before it was notified of the death. */
	if (pb_soak_choose(cast, 2) != 0) {
		const uint32_t client = 1u + pb_soak_choose(cast, PB_SOAK_CLIENTS - 1u);

		end(cast, client, KILL);
		start(cast, client);
	}
	await_progress(cast);
}

/* ---- the whole soak ---- */

void pb_soak_open(struct pb_soak_cast *cast, uint32_t seed)
{
	const uint64_t begin = e2e_now();

	*cast = (struct pb_soak_cast){.random = seed * 2654435761u,
				      .books = shared(PB_SOAK_CLIENTS * sizeof(struct pb_soak_book)),
				      .steps = shared(E2E_VICTIM_STEPS * sizeof(uint32_t))};
	e2e_card_start(&cast->card, UINT32_MAX);
	assert_int_equal(pb_link_open_socket(cast->card.socket, &cast->link), PB_ERROR_OK);
	start(cast, PB_SOAK_WITNESS);
	while (!runs_again(cast, PB_SOAK_WITNESS))
		assert_true(e2e_patience(begin));
	/* No other client is connected. */
	for (uint32_t c = 1; c < CHANNELS; c++) {
		if (state_of(cast, c) == PB_CHANNEL_OPEN)
			cast->witness = c;
	}
	assert_int_not_equal(cast->witness, 0);
	pb_soak_enter(cast);
	await_progress(cast);
}

void pb_soak_audit(struct pb_soak_cast *cast, char build[33])
{
	const uint64_t begin = e2e_now();
	struct pb_channel channel;

	for (uint32_t c = 1; c < CHANNELS; c++) {
		while (c != cast->witness && state_of(cast, c) != PB_CHANNEL_CLOSED)
			assert_true(e2e_patience(begin));
	}
	/* The MCU's last death may have left its memory anywhere. Now no other client has any. */
	__atomic_store_n(&cast->books[PB_SOAK_WITNESS].reattach, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&cast->books[PB_SOAK_WITNESS].reattach, __ATOMIC_SEQ_CST) != 0)
		assert_true(e2e_patience(begin));
	assert_int_equal(pb_channel_attach(&channel, cast->link, E2E_PATIENCE_US), PB_ERROR_OK);
	for (uint32_t c = 1; c < CHANNELS; c++) {
		if (c != cast->witness && c != cast->link->channel)
			e2e_channel_is_empty(&channel, c);
	}
	memcpy(build, channel.card.build, sizeof(channel.card.build));
	assert_int_equal(channel.card.mcu_deaths, cast->totals.mcu_kills);
	assert_int_equal(pb_channel_detach(&channel), PB_ERROR_OK);
	e2e_all_is_free(cast->link);
}

void pb_soak_close(struct pb_soak_cast *cast)
{
	end(cast, PB_SOAK_WITNESS, STOP);
	cast->link->ops->close(cast->link);
	e2e_card_stop(&cast->card);
	munmap(cast->books, PB_SOAK_CLIENTS * sizeof(struct pb_soak_book));
	munmap(cast->steps, E2E_VICTIM_STEPS * sizeof(uint32_t));
}
