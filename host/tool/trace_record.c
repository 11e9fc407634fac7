/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/trace_record.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "host/tool/card_failure.h"
#include "host/tool/trace_anchor.h"
#include "host/tool/trace_keep.h"
#include "patchbay/trace.h"

/** Period of reads in microseconds: far shorter than the time of 8,192 records. */
#define PERIOD_US         2000u
#define ATTACH_TIMEOUT_US 30000000u

static volatile sig_atomic_t interrupted;

struct run {
	const struct pb_trace_recording *recording;
	struct pb_link *link;
	struct pb_trace trace;
	struct pb_trace_schema schema;
	struct pb_trace_clock clock;
	struct pb_trace_anchoring anchoring;
	uint64_t reported;          /**< lost records that were reported */
	struct pb_channel *channel; /**< with which the levels were set; NULL: they were not */
	bool unnamed;               /**< records were lost: the queues of the card are to be listed again */
};

static struct pb_trace_record records[8192];

static void interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

void pb_trace_print(FILE *file, const struct pb_trace_schema *schema, const struct pb_trace_record *record,
		    uint64_t time)
{
	char text[PB_TRACE_TEXT_BYTES];

	pb_trace_schema_print(schema, record, text);
	fprintf(file, "%6" PRIu64 ".%06u  %s\n", time / 1000000u, (unsigned)(time % 1000000u), text);
}

static int fail(const struct run *run, const char *what, enum pb_error error)
{
	fprintf(stderr, "%s: %s%s: %s\n", run->recording->program, what, pb_error_name(error),
		pb_error_meaning(error));
	return 1;
}

static uint64_t nanoseconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool begin_output(struct run *run)
{
	static char text[PB_TRACE_SCHEMA_BYTES_MAX + 1u];

	if (!run->recording->text)
		return pb_trace_keep_head(run->recording->file, &run->trace, run->link);
	pb_trace_schema(&run->trace, text);
	/* Events that an invalid schema does not name are printed as numbers. */
	(void)pb_trace_schema_parse(text, &run->schema);
	return true;
}

static bool put_lost(struct run *run)
{
	const uint64_t fresh = run->trace.lost - run->reported;

	run->reported = run->trace.lost;
	if (fresh == 0)
		return true;
	run->unnamed = true;
	if (run->recording->text)
		return fprintf(run->recording->file, "       ...  %" PRIu64 " records were lost\n", fresh) >
		       0;
	return pb_trace_file_lost(run->recording->file, (uint32_t)fresh);
}

static bool put_records(struct run *run, uint32_t count)
{
	/* Whoever reads the file meanwhile finds whole pieces, also when this program is killed. */
	if (!run->recording->text)
		return pb_trace_file_records(run->recording->file, records, count) &&
		       fflush(run->recording->file) == 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct pb_trace_record *record = &records[i];
		const uint32_t event = run->schema.kinds[PB_TRACE_WHAT_EVENT(record->what)].event;
		uint64_t late;

		if (record->what != 0) /* 0: the record was never written */
			pb_trace_print(run->recording->file, &run->schema, record,
				       pb_trace_clock_record(&run->clock, event, record, &late));
	}
	return fflush(run->recording->file) == 0;
}

/** Writes all records since the last call. @return false: writing failed */
static bool put_new_records(struct run *run)
{
	uint32_t count;

	do {
		count = pb_trace_read(&run->trace, records, sizeof(records) / sizeof(records[0]));
		if (!put_lost(run) || (count != 0 && !put_records(run, count)))
			return false;
	} while (count != 0);
	return true;
}

/** Writes the first or the last anchor. */
static bool put_anchor(struct run *run)
{
	return run->recording->text ||
	       pb_trace_anchor_end(&run->anchoring, run->recording->file, &run->trace, run->link);
}

/** Writes another anchor if it is time. */
static bool put_anchor_between(struct run *run)
{
	return run->recording->text ||
	       pb_trace_anchor_between(&run->anchoring, run->recording->file, &run->trace, run->link);
}

static enum pb_error set_levels(const struct run *run, uint32_t levels)
{
	return pb_trace_set(run->channel, levels, nanoseconds_now());
}

/** Has the firmware list all queues again after a loss, so that later records of queues can be attributed. */
static void name_queues(struct run *run)
{
	if (run->unnamed && run->channel != NULL)
		(void)set_levels(run, run->recording->levels);
	run->unnamed = false;
}

/** Records for the time that the user asked for. @return false: writing failed */
static bool record_on(struct run *run)
{
	const struct pb_trace_recording *recording = run->recording;
	uint64_t end;
	bool good;

	if (run->link->ops == NULL || recording->seconds == 0)
		return true;
	end = nanoseconds_now() + (uint64_t)(recording->seconds * 1e9);
	do {
		/* Ends early if the card is gone; its memory can still be read once. */
		const bool gone = run->link->ops->wait(run->link, PERIOD_US) == PB_ERROR_NO_CARD;

		good = put_new_records(run) && (gone || put_anchor_between(run));
		if (gone)
			return good;
		name_queues(run);
	} while (good && interrupted == 0 && (recording->seconds < 0 || nanoseconds_now() < end));
	/* What was written up to the interruption belongs to the recording. */
	return good && put_new_records(run);
}

static int record(struct run *run)
{
	const bool written = begin_output(run) && put_new_records(run) && put_anchor(run) && record_on(run) &&
			     (run->recording->seconds == 0 || put_anchor(run));

	/* The end of the program reports what could not be written to standard output. */
	if (!written && run->recording->file != stdout)
		fprintf(stderr, "%s: %s: %s\n", run->recording->program, run->recording->name,
			strerror(errno));
	return written ? 0 : 1;
}

/** Records with other trace levels, and restores the former ones. */
static int record_at_levels(struct run *run)
{
	char text[PB_CARD_FAILURE_BYTES];
	enum pb_error error = pb_channel_attach(run->channel, run->link, ATTACH_TIMEOUT_US);
	int code;

	if (error == PB_ERROR_OK)
		error = set_levels(run, run->recording->levels);
	if (error != PB_ERROR_OK) {
		pb_card_failure(run->channel, error, text);
		fprintf(stderr, "%s: %s\n", run->recording->program, text);
		return 1;
	}
	code = record(run);
	/* A card sets the levels of an observer back, as soon as it has left. */
	if (run->link->ops->ask == NULL)
		(void)set_levels(run, run->trace.levels);
	(void)pb_channel_detach(run->channel);
	return code;
}

int pb_trace_record(const struct pb_trace_recording *recording, struct pb_link *link)
{
	const struct sigaction action = {.sa_handler = interrupt};
	struct pb_channel channel;
	struct run run = {.recording = recording, .link = link, .channel = recording->set ? &channel : NULL};
	enum pb_error error = PB_ERROR_OK;

	if (link->ops != NULL && link->ops->refresh != NULL)
		error = link->ops->refresh(link);
	if (error == PB_ERROR_OK)
		error = pb_trace_open(&run.trace, link);
	if (error != PB_ERROR_OK)
		return fail(&run, "", error);
	run.clock.hertz = run.trace.hertz;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	return recording->set ? record_at_levels(&run) : record(&run);
}
