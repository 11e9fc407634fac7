/* SPDX-License-Identifier: MIT */
/*
 * What the host library costs on the host's own CPU: Render of a frame of the demo, submissions to the simulated card,
 * placements in video memory, and buffers that the manager of video memory submits again. Repeats one of them and prints
 * the number of units and the median time of one.
 * scripts/bench runs it again under callgrind, which counts the instructions of the one function.
 */
#define _POSIX_C_SOURCE 200809L
#include "tests/bench/host_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REPEATS_MAX 10000u

void pb_host_bench_require(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "host bench: failed: %s\n", what);
	exit(1);
}

uint64_t pb_host_bench_now_ns(void)
{
	struct timespec now;

	pb_host_bench_require(clock_gettime(CLOCK_MONOTONIC, &now) == 0, "clock");
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int compare(const void *left_, const void *right_)
{
	const uint64_t *left = left_, *right = right_;

	return (*left > *right) - (*left < *right);
}

static uint32_t place_1000(uint64_t *times, uint32_t repeats)
{
	return pb_host_bench_residency(times, repeats, 1000);
}

static uint32_t place_10000(uint64_t *times, uint32_t repeats)
{
	return pb_host_bench_residency(times, repeats, 10000);
}

static const struct work {
	const char *name;
	uint32_t (*run)(uint64_t *times, uint32_t repeats); /**< @return units in one repetition */
} works[] = {
	{"render", pb_host_bench_render},
	{"submit", pb_host_bench_submit},
	{"place-1000", place_1000},
	{"place-10000", place_10000},
	{"resubmit", pb_host_bench_resubmit_whole},
	{"resubmit-presumed", pb_host_bench_resubmit_presumed},
};

static const struct work *find_work(const char *name)
{
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		if (strcmp(works[i].name, name) == 0)
			return &works[i];
	}
	return NULL;
}

int main(int count, char **words)
{
	static uint64_t times[REPEATS_MAX];
	const struct work *work = count == 3 ? find_work(words[1]) : NULL;
	const uint32_t repeats = count == 3 ? (uint32_t)strtoul(words[2], NULL, 10) : 0;
	uint32_t units;

	if (work == NULL || repeats == 0 || repeats > REPEATS_MAX) {
		fprintf(stderr, "patchbay-host-bench WORK REPEATS\n");
		return 2;
	}
	units = work->run(times, repeats);
	qsort(times, repeats, sizeof(times[0]), compare);
	printf("%u %.1f\n", (unsigned)(units * repeats), (double)times[repeats / 2u] / units);
	return 0;
}
