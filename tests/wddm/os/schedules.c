/* SPDX-License-Identifier: MIT */
/*
 * Random schedules of the OS that checks. Each depends on its number; a failure prints the number and the command that
 * repeats it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/wddm/os/machine.h"

static void usage(FILE *to)
{
	fprintf(to, "wddm_schedules [--first N] [--count N] [--record REVISION]   runs schedules, of which "
		    "each eight share a "
		    "machine\n"
		    "wddm_schedules --seed N                  runs one again and prints what happens\n");
}

static void print_counts(const struct os_counts *c)
{
	printf("%" PRIu64 " schedules, %" PRIu64 " of them with host memory: %" PRIu64 " packets, %" PRIu64
	       " recalled by %" PRIu64 " preemptions, %" PRIu64 " aborted by %" PRIu64
	       " resets of engines and %" PRIu64 " of the adapter; %" PRIu64 " page-ins, %" PRIu64
	       " page-outs, %" PRIu64 " splits, %" PRIu64 " patched, %" PRIu64 " unpatched, %" PRIu64
	       " faults, %" PRIu64 " presents, %" PRIu64 " ordered between contexts, %" PRIu64
	       " overtaken, %" PRIu64 " power transitions, %" PRIu64 " of them with packets that wait\n",
	       c->schedules, c->hosts, c->packets, c->recalled, c->preemptions, c->aborted, c->engine_resets,
	       c->adapter_resets, c->page_ins, c->evictions, c->splits, c->patched, c->unpatched, c->faults,
	       c->presents, c->ordered, c->overtaken, c->powers, c->suspended);
}

/** A line of tests/records/wddm_schedules.tsv. */
static void print_record(const struct os_counts *c, uint64_t first, uint64_t count, const char *revision)
{
	printf("%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
	       "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t0\t%s\n",
	       first, first + count - 1, c->schedules, c->packets, c->recalled, c->engine_resets,
	       c->adapter_resets, c->page_ins, c->splits, c->faults, revision);
}

static int report(const struct os_machine *m)
{
	const struct os_stop *stop = &m->os.stop;

	if (stop->rule == OS_RULE_NONE)
		return 0;
	printf("schedule %" PRIu64 ": the driver %s (rule %s, bugcheck 0x%x", m->seed,
	       os_rule_text(stop->rule), os_rule_name(stop->rule), stop->bugcheck);
	for (uint32_t p = 0; p < OS_STOP_PARAMETERS; p++)
		printf(", 0x%" PRIx64, stop->parameters[p]);
	printf("; %s)\nagain: wddm_schedules --seed %" PRIu64 "\n", os_rule_source(stop->rule), m->seed);
	return 1;
}

int main(int count, char **words)
{
	static struct os_machine machine;
	uint64_t first = 0;
	uint64_t schedules = 1000;
	const char *revision = NULL;
	bool one = false;

	for (int w = 1; w < count; w += 2) {
		const bool valued = w + 1 < count;

		if (valued && (strcmp(words[w], "--first") == 0 || strcmp(words[w], "--seed") == 0)) {
			first = strtoull(words[w + 1], NULL, 10);
			one = one || words[w][2] == 's';
		} else if (valued && strcmp(words[w], "--count") == 0) {
			schedules = strtoull(words[w + 1], NULL, 10);
		} else if (valued && strcmp(words[w], "--record") == 0) {
			revision = words[w + 1];
		} else {
			usage(strcmp(words[w], "--help") == 0 ? stdout : stderr);
			return strcmp(words[w], "--help") == 0 ? 0 : 2;
		}
	}
	if (one)
		os_run(&machine, first, true, NULL);
	else if (!os_run_many(&machine, first, schedules, NULL))
		return report(&machine);
	else if (revision != NULL)
		print_record(&machine.counts, first, schedules, revision);
	else
		print_counts(&machine.counts);
	return report(&machine);
}
