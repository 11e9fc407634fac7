/* SPDX-License-Identifier: MIT */
#include "host/tool/memory_file.h"

#include <errno.h>
#include <string.h>

bool pb_memory_file_open(const char *program, const char *path, struct pb_dump *dump)
{
	FILE *file = fopen(path, "rb");
	const char *wrong;

	if (file == NULL) {
		fprintf(stderr, "%s: %s: %s\n", program, path, strerror(errno));
		return false;
	}
	wrong = pb_dump_read(file, dump);
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
