/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/soak/usage.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUARTERS 4u
/* Fewer samples are too few for a statement. */
#define SAMPLES_MIN 8u

/* ---- a series ---- */

static void thin_out(struct pb_series *series)
{
	series->count /= 2;
	for (uint32_t i = 0; i < series->count; i++)
		series->samples[i] = series->samples[2u * i + 1u];
	series->stride *= 2;
}

void pb_series_add(struct pb_series *series, uint32_t sample)
{
	if (series->stride == 0)
		series->stride = 1;
	if (++series->offered < series->stride)
		return;
	series->offered = 0;
	if (series->count == PB_SERIES_SAMPLES)
		thin_out(series);
	series->samples[series->count++] = sample;
}

static int compare(const void *a, const void *b)
{
	const uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	return (first > second) - (first < second);
}

uint32_t pb_series_quarter(const struct pb_series *series, uint32_t quarter)
{
	const uint32_t each = series->count / QUARTERS;
	uint32_t sorted[PB_SERIES_SAMPLES / QUARTERS];

	if (series->count < SAMPLES_MIN)
		return 0;
	memcpy(sorted, &series->samples[quarter * each], each * sizeof(sorted[0]));
	qsort(sorted, each, sizeof(sorted[0]), compare);
	return sorted[each / 2];
}

bool pb_series_is_flat(const struct pb_series *series, uint32_t margin)
{
	return pb_series_quarter(series, 3) <= pb_series_quarter(series, 1) + margin;
}

/* ---- a process ---- */

bool pb_usage_memory(pid_t pid, struct pb_usage *usage)
{
	char path[64], line[256];
	int found = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	file = fopen(path, "r");
	if (file == NULL)
		return false;
	while (found < 2 && fgets(line, sizeof(line), file) != NULL)
		found += sscanf(line, "Rss: %u kB", &usage->all) == 1 ||
			 sscanf(line, "Anonymous: %u kB", &usage->own) == 1;
	fclose(file);
	return found == 2;
}

/* Calls `each` with the target of every open file. @return their number, or -1 */
static int for_open_files(pid_t pid, bool (*each)(void *context, const char *target), void *context)
{
	char path[512], target[512];
	const struct dirent *entry;
	int count = 0;
	DIR *files;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	files = opendir(path);
	if (files == NULL)
		return -1;
	while ((entry = readdir(files)) != NULL) {
		ssize_t length;

		if (entry->d_name[0] == '.')
			continue;
		count++;
		snprintf(path, sizeof(path), "/proc/%d/fd/%s", (int)pid, entry->d_name);
		length = readlink(path, target, sizeof(target) - 1);
		target[length > 0 ? length : 0] = '\0';
		if (!each(context, target))
			break;
	}
	closedir(files);
	return count;
}

static bool pass(void *context, const char *target)
{
	(void)context;
	(void)target;
	return true;
}

bool pb_usage_files(pid_t pid, uint32_t *count)
{
	const int found = for_open_files(pid, pass, NULL);

	*count = found > 0 ? (uint32_t)found : 0;
	return found >= 0;
}

struct stray {
	const char *folder;
	char *path; /* "": none yet */
	size_t bytes;
};

/* @return whether to continue: the file is allowed */
static bool check_target(void *context, const char *target)
{
	const struct stray *stray = context;
	const size_t length = strlen(stray->folder);
	const bool temporary =
		strncmp(target, "/tmp/patchbay-", 14) == 0 || strncmp(target, "/dev/shm/", 9) == 0;

	if (!temporary || (strncmp(target, stray->folder, length) == 0 && target[length] == '/'))
		return true;
	snprintf(stray->path, stray->bytes, "%s", target);
	return false;
}

static void check_mappings(pid_t pid, struct stray *stray)
{
	char path[64], line[1024];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = fopen(path, "r");
	if (file == NULL)
		return;
	while (stray->path[0] == '\0' && fgets(line, sizeof(line), file) != NULL) {
		const char *name = strchr(line, '/');

		line[strcspn(line, "\n")] = '\0';
		if (name != NULL)
			(void)check_target(stray, name);
	}
	fclose(file);
}

bool pb_usage_stray(pid_t pid, const char *folder, char *path, size_t bytes)
{
	struct stray stray = {.folder = folder, .path = path, .bytes = bytes};

	path[0] = '\0';
	(void)for_open_files(pid, check_target, &stray);
	check_mappings(pid, &stray);
	return path[0] != '\0';
}
