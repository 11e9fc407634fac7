/* SPDX-License-Identifier: MIT */
/*
 * Clients and the MCU are killed at random, for minutes or for a number of kills, while other clients run. No
 * submission is lost, and no process's memory grows. A seed chooses the submissions, the victims and after how many rounds
 * and at which doorbell each of them dies.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/e2e_board.h"
#include "tests/soak/cast.h"
#include "tests/soak/usage.h"

/* Without --minutes: kills of clients, and of the MCU. */
#define SHORT_KILLS     16u
#define SHORT_MCU_KILLS 2u
#define SHORT_LIFE      8u
/* Most rounds of all clients between two events. */
#define GAP_ROUNDS 40u
/* Events in a life of the MCU. One life in LONG_LIVES is longer. */
#define MCU_LIFE   40u
#define LONG_LIFE  2000u
#define LONG_LIVES 12u
/* Events between two audits. */
#define AUDIT_EVENTS 150u

#define SAMPLE_US   1000000u
#define PROGRESS_US 30000000u
/* Rounds for which an emulator still translates its image. */
#define MCU_AGE_ROUNDS 800u
/* Allowed growth of the median from the second quarter to the last, in KiB. */
#define OWN_MARGIN_KIB 64u
#define MARGIN_KIB     512u
#define MCU_MARGIN_KIB 2048u

static struct {
	uint32_t minutes; /* 0: the short one */
	uint32_t seed;
	const char *record;   /* NULL: none */
	const char *revision; /* of the sources, for the record */
} options = {.seed = 1, .revision = "?"};

enum who { CARD, MCU, WITNESS, PARENT, WHO };

static const char *const names[WHO] = {"card", "MCU", "client", "parent"};

/* Figures of the run, in addition to those of the cast. */
struct run {
	struct pb_soak_cast cast;
	struct pb_series all[WHO]; /* mapped files included */
	struct pb_series own[WHO];
	struct pb_series life;    /* memory of the current MCU */
	struct pb_series longest; /* memory of the MCU that lived longest */
	uint32_t files[WHO];      /* open at the first audit */
	uint32_t audits;
	uint32_t events;
	uint32_t mcu_dies;  /* number of the event that kills the MCU */
	uint32_t mcu_start; /* in rounds */
	uint64_t start, sampled, printed;
	char build[33];
};

static pid_t process(struct run *run, enum who who)
{
	switch (who) {
	case CARD:
		return run->cast.card.pid;
	case MCU:
		return e2e_card_mcu(&run->cast.card);
	case WITNESS:
		return run->cast.clients[PB_SOAK_WITNESS].process.pid;
	case PARENT:
	case WHO:
	default:
		return getpid();
	}
}

/* ---- memory and files ---- */

static void sample(struct run *run)
{
	const uint64_t now = e2e_now();

	if (now - run->sampled < SAMPLE_US)
		return;
	run->sampled = now;
	for (enum who who = CARD; who < WHO; who++) {
		struct pb_usage usage;

		if (who == MCU && pb_soak_rounds(&run->cast) - run->mcu_start < MCU_AGE_ROUNDS)
			continue;
		assert_true(pb_usage_memory(process(run, who), &usage));
		pb_series_add(&run->all[who], usage.all);
		pb_series_add(&run->own[who], usage.own);
		if (who == MCU)
			pb_series_add(&run->life, usage.all);
	}
}

static void mcu_is_new(struct run *run)
{
	if (run->life.count > run->longest.count)
		run->longest = run->life;
	run->life = (struct pb_series){.count = 0};
	run->mcu_start = pb_soak_rounds(&run->cast);
}

/* As many files are open as at the first audit, all in the test's own folder. */
static void check_files(struct run *run)
{
	char folder[E2E_PATH_BYTES], stray[E2E_PATH_BYTES];

	e2e_path(folder, "");
	folder[strlen(folder) - 1] = '\0';
	for (enum who who = CARD; who < WHO; who++) {
		const pid_t pid = process(run, who);
		uint32_t count;

		assert_true(pb_usage_files(pid, &count));
		if (run->audits == 0)
			run->files[who] = count;
		if (count != run->files[who])
			fail_msg("%s has %u files open, not %u", names[who], (unsigned)count,
				 (unsigned)run->files[who]);
		if (pb_usage_stray(pid, folder, stray, sizeof(stray)))
			fail_msg("%s uses %s", names[who], stray);
	}
}

static void judge_series(const char *name, const char *what, const struct pb_series *series, uint32_t margin)
{
	print_message("%-7s %-11s %6u KiB in the second quarter, %6u in the last, of %u samples\n", name,
		      what, (unsigned)pb_series_quarter(series, 1), (unsigned)pb_series_quarter(series, 3),
		      (unsigned)series->count);
	if (!pb_series_is_flat(series, margin))
		fail_msg("the memory of the %s grew by more than %u KiB", name, (unsigned)margin);
}

static void judge_memory(struct run *run)
{
	for (enum who who = CARD; who < WHO; who++) {
		judge_series(names[who], "in all", &run->all[who], who == MCU ? MCU_MARGIN_KIB : MARGIN_KIB);
		judge_series(names[who], "of its own", &run->own[who],
			     who == MCU ? MCU_MARGIN_KIB : OWN_MARGIN_KIB);
	}
	judge_series(names[MCU], "in one life", &run->longest, MCU_MARGIN_KIB);
}

/* ---- events ---- */

static void audit(struct run *run)
{
	pb_soak_leave(&run->cast);
	pb_soak_audit(&run->cast, run->build);
	check_files(run);
	run->audits++;
	pb_soak_enter(&run->cast);
}

static void plan_mcu(struct run *run)
{
	uint32_t life = 1u + pb_soak_choose(&run->cast, options.minutes != 0 ? MCU_LIFE : SHORT_LIFE);

	if (options.minutes != 0 && pb_soak_choose(&run->cast, LONG_LIVES) == 0)
		life = LONG_LIFE;
	run->mcu_dies = run->events + life;
}

static void happen(struct run *run)
{
	struct pb_soak_cast *cast = &run->cast;

	pb_soak_await_rounds(cast, pb_soak_choose(cast, GAP_ROUNDS));
	pb_soak_check_alive(cast);
	if (++run->events == run->mcu_dies) {
		pb_soak_kill_mcu(cast);
		mcu_is_new(run);
		plan_mcu(run);
	} else {
		pb_soak_kill_client(cast, 1u + pb_soak_choose(cast, PB_SOAK_CLIENTS - 1u));
	}
	if (run->events % AUDIT_EVENTS == 0)
		audit(run);
}

static bool over(const struct run *run)
{
	const struct pb_soak_totals *totals = &run->cast.totals;

	if (options.minutes != 0)
		return e2e_now() - run->start >= options.minutes * UINT64_C(60000000);
	return totals->client_kills >= SHORT_KILLS && totals->mcu_kills >= SHORT_MCU_KILLS;
}

static void print_progress(struct run *run)
{
	const struct pb_soak_totals *totals = &run->cast.totals;

	if (e2e_now() - run->printed < PROGRESS_US)
		return;
	run->printed = e2e_now();
	print_message("%4u s: %u clients killed, MCU %u times, %" PRIu64
		      " submissions in ended lives, %u audits\n",
		      (unsigned)((run->printed - run->start) / 1000000u), (unsigned)totals->client_kills,
		      (unsigned)totals->mcu_kills, totals->submitted, (unsigned)run->audits);
	fflush(stdout);
}

/* ---- the account ---- */

static void print_totals(const struct run *run)
{
	const struct pb_soak_totals *t = &run->cast.totals;

	print_message("seed %u, firmware %s: %u clients killed, MCU %u times, %u audits\n",
		      (unsigned)options.seed, run->build, (unsigned)t->client_kills, (unsigned)t->mcu_kills,
		      (unsigned)run->audits);
	print_message("%" PRIu64 " submissions: %" PRIu64 " completed and verified, %" PRIu64
		      " failed as they must, %" PRIu64 " returned,\n    %" PRIu64
		      " completed unseen and %" PRIu64 " lost with the MCU, %" PRIu64
		      " died with their client\n",
		      t->submitted, t->completed, t->failed, t->returned, t->unseen, t->lost, t->died);
	assert_true(t->completed + t->failed + t->returned + t->unseen + t->lost + t->died == t->submitted);
}

static void write_record(const struct run *run)
{
	const struct pb_soak_totals *t = &run->cast.totals;
	FILE *file = options.record != NULL ? fopen(options.record, "a") : NULL;

	if (options.record == NULL)
		return;
	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	if (ftell(file) == 0)
		fputs("board\tbuild\trevision\tminutes\tseed\tclient_kills\tmcu_kills\taudits\trounds\t"
		      "submitted\tcompleted\tfailed\treturned\tunseen\tlost_with_mcu\tdied_with_"
		      "client\tdoubts\t"
		      "card_kib\tcard_own_kib\tmcu_kib\tmcu_own_kib\tlongest_mcu_kib\tclient_kib\tclient_own_"
		      "kib\n",
		      file);
	fprintf(file,
		"%s\t%s\t%s\t%u\t%u\t%u\t%u\t%u\t%u\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
		"\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%u",
		e2e_board(), run->build, options.revision, (unsigned)options.minutes, (unsigned)options.seed,
		(unsigned)t->client_kills, (unsigned)t->mcu_kills, (unsigned)run->audits, (unsigned)t->rounds,
		t->submitted, t->completed, t->failed, t->returned, t->unseen, t->lost, t->died,
		(unsigned)t->doubts);
	for (const struct pb_series *const *series =
		     (const struct pb_series *const[]){&run->all[CARD], &run->own[CARD], &run->all[MCU],
						       &run->own[MCU], &run->longest, &run->all[WITNESS],
						       &run->own[WITNESS], NULL};
	     *series != NULL; series++)
		fprintf(file, "\t%u..%u", (unsigned)pb_series_quarter(*series, 1),
			(unsigned)pb_series_quarter(*series, 3));
	fputc('\n', file);
	assert_int_equal(fclose(file), 0);
}

static void no_submission_is_lost_and_no_memory_grows(void **state)
{
	static struct run run;

	(void)state;
	run.start = run.printed = e2e_now();
	pb_soak_open(&run.cast, options.seed);
	audit(&run);
	plan_mcu(&run);
	while (!over(&run)) {
		happen(&run);
		sample(&run);
		print_progress(&run);
	}
	mcu_is_new(&run);
	pb_soak_leave(&run.cast);
	pb_soak_audit(&run.cast, run.build);
	check_files(&run);
	run.audits++;
	pb_soak_close(&run.cast);
	print_totals(&run);
	/* Too few samples for a statement. */
	if (options.minutes != 0)
		judge_memory(&run);
	write_record(&run);
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		e2e_test(no_submission_is_lost_and_no_memory_grows),
	};

	for (int i = 1; i + 1 < count; i += 2) {
		if (strcmp(arguments[i], "--minutes") == 0)
			options.minutes = (uint32_t)strtoul(arguments[i + 1], NULL, 10);
		else if (strcmp(arguments[i], "--seed") == 0)
			options.seed = (uint32_t)strtoul(arguments[i + 1], NULL, 10);
		else if (strcmp(arguments[i], "--record") == 0)
			options.record = arguments[i + 1];
		else if (strcmp(arguments[i], "--revision") == 0)
			options.revision = arguments[i + 1];
	}
	return e2e_run_tests(tests);
}
