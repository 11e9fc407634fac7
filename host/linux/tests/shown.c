// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "shown.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"

const char *shown_file(const char *path)
{
	static char text[1 << 18];
	size_t bytes = 0;
	ssize_t got;
	int fd = open(path, O_RDONLY);

	CHECK(fd >= 0);
	while ((got = read(fd, text + bytes, sizeof(text) - 1 - bytes)) > 0)
		bytes += (size_t)got;
	CHECK_EQ(got, 0);
	close(fd);
	text[bytes] = 0;
	return text;
}

uint64_t shown_key(int fd, const char *name, const char *unit)
{
	char path[64], wanted[64];
	const char *text, *line;
	char *rest;
	uint64_t value;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	snprintf(wanted, sizeof(wanted), "\n%s:\t", name);
	text = shown_file(path);
	line = strstr(text, wanted);
	if (line == NULL)
		printf("  no %s in:\n%s", name, text);
	CHECK(line != NULL);
	CHECK(strstr(line + 1, wanted) == NULL);
	value = strtoull(line + strlen(wanted), &rest, 10);
	CHECK_EQ(strncmp(rest, unit, strlen(unit)), 0);
	CHECK_EQ(rest[strlen(unit)], '\n');
	return value;
}

const char *shown_debugfs(const char *file)
{
	char path[96];

	for (int i = 0; i < 8; i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%d/%s", i, file);
		if (access(path, R_OK) == 0)
			return shown_file(path);
	}
	CHECK(false);
	return "";
}

const char *shown_queue(int fd, uint32_t node)
{
	static char line[512];
	char wanted[64];
	const char *found;

	snprintf(wanted, sizeof(wanted), " file=%llu node=%u ", (unsigned long long)shown_key(fd, "drm-client-id", ""), node);
	found = strstr(shown_debugfs("patchbay_queues"), wanted);
	if (found == NULL)
		return NULL;
	while (found[-1] != '\n' && strncmp(found, "queue=", 6) != 0)
		found--;
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(found, "\n"), found);
	return line;
}

void shown_has(const char *line, const char *wanted)
{
	if (line == NULL || strstr(line, wanted) == NULL)
		printf("  no \"%s\" in: %s\n", wanted, line == NULL ? "(nothing)" : line);
	CHECK(line != NULL && strstr(line, wanted) != NULL);
}
