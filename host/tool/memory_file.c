/* SPDX-License-Identifier: MIT */
#include "host/tool/memory_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** Returns whether the memory has no boot block of a firmware. */
static bool is_blank(const struct pb_dump *dump)
{
	const struct pb_link link = {.memory = dump->memory, .memory_bytes = dump->memory_bytes};
	struct pb_card_info info;

	return pb_card_read(&link, &info) == PB_ERROR_NO_CARD;
}

bool pb_memory_file_open(const char *program, const char *path, struct pb_dump *dump)
{
	FILE *file = fopen(path, "rb");
	const char *wrong;

	if (file == NULL) {
		fprintf(stderr, "%s: %s: %s\n", program, path, strerror(errno));
		return false;
	}
	wrong = pb_dump_read(file, dump);
	if (wrong == NULL && is_blank(dump)) {
		wrong = "no firmware has booted in this memory";
		free(dump->memory);
	}
	if (wrong != NULL)
		fprintf(stderr, "%s: %s: %s\n", program, path, wrong);
	(void)fclose(file);
	return wrong == NULL;
}

bool pb_memory_file_read(const char *program, const char *path, struct pb_link *link)
{
	struct pb_dump dump;

	if (!pb_memory_file_open(program, path, &dump))
		return false;
	*link = (struct pb_link){.memory = dump.memory, .memory_bytes = dump.memory_bytes};
	return true;
}
