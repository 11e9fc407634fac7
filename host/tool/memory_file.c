/* SPDX-License-Identifier: MIT */
#include "host/tool/memory_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest file read, in bytes: no card has more memory. */
#define FILE_BYTES_MAX (64u << 20)

bool pb_memory_file_read(const char *program, const char *path, struct pb_link *link)
{
	FILE *stream = fopen(path, "rb");

	*link = (struct pb_link){.memory = stream != NULL ? calloc(1, FILE_BYTES_MAX) : NULL};
	if (link->memory == NULL) {
		fprintf(stderr, "%s: %s: %s\n", program, path, strerror(errno));
		if (stream != NULL)
			(void)fclose(stream);
		return false;
	}
	link->memory_bytes = (uint32_t)fread(link->memory, 1, FILE_BYTES_MAX, stream);
	(void)fclose(stream);
	return true;
}
