/* SPDX-License-Identifier: MIT */
/*
 * Runs a target over files instead of what libFuzzer makes up: the committed
 * corpus is an ordinary test of builds that have no libFuzzer.
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CASE_BYTES_MAX 65536u

static bool run_file(const char *path)
{
	static uint8_t buffer[CASE_BYTES_MAX];
	FILE *file = fopen(path, "rb");
	uint8_t *exact;
	size_t bytes;

	if (file == NULL)
		return false;
	bytes = fread(buffer, 1, sizeof(buffer), file);
	(void)fclose(file);
	/* A block of its own, so that the sanitizer sees where it ends. */
	exact = malloc(bytes + (bytes == 0));
	if (exact == NULL)
		return false;
	memcpy(exact, buffer, bytes);
	(void)fprintf(stderr, "%s\n", path);
	(void)LLVMFuzzerTestOneInput(exact, bytes);
	free(exact);
	return true;
}

/** @return how many files were run; -1: one could not be read */
static int run_folder(const char *folder)
{
	struct dirent **entries;
	const int count = scandir(folder, &entries, NULL, alphasort);
	int done = 0;

	for (int i = 0; i < count; i++) {
		char path[4096];

		(void)snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.' && done >= 0)
			done = run_file(path) ? done + 1 : -1;
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return done;
}

int main(int argc, char **argv)
{
	int done;

	if (argc != 2) {
		(void)fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	done = run_folder(argv[1]);
	(void)printf("%d cases\n", done);
	return done > 0 ? 0 : 1;
}
