/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target over its committed corpus, for builds that have no
 * libFuzzer. The corpus is a file that tests/fuzz/corpus.sh describes: a line
 * for each case.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CASE_BYTES_MAX 65536u
/** Two digits a byte, a name, a newline and the 0 behind it. */
#define LINE_BYTES (2u * CASE_BYTES_MAX + 256u)

/** @return the value of a hexadecimal digit; -1 for any other character */
static int digit(char character)
{
	static const char digits[] = "0123456789abcdef";
	const char *found = strchr(digits, character);

	return character != '\0' && found != NULL ? (int)(found - digits) : -1;
}

/** Reads the bytes of a case up to the first character that is no digit. @return how many */
static size_t bytes_of(const char *line, uint8_t bytes[CASE_BYTES_MAX])
{
	size_t count = 0;

	while (count < CASE_BYTES_MAX && digit(line[2 * count]) >= 0 && digit(line[2 * count + 1]) >= 0) {
		bytes[count] = (uint8_t)(16 * digit(line[2 * count]) + digit(line[2 * count + 1]));
		count++;
	}
	return count;
}

/** @return whether the line is a case: "-" or an even number of digits, then a space and a name or the line's end */
static bool is_case(const char *line, size_t bytes)
{
	const char *behind = line + 2 * bytes;

	if (bytes == 0 && *behind == '-')
		behind++;
	return behind != line && (*behind == '\n' || *behind == ' ');
}

/** Runs the case of a line. @return false: the line is no case */
static bool run_line(const char *line)
{
	static uint8_t buffer[CASE_BYTES_MAX];
	const size_t bytes = bytes_of(line, buffer);
	uint8_t *exact;

	if (!is_case(line, bytes))
		return false;
	/* A block of its own size, so that the sanitizer finds a read behind the case. */
	exact = malloc(bytes + (bytes == 0));
	if (exact == NULL)
		return false;
	memcpy(exact, buffer, bytes);
	(void)LLVMFuzzerTestOneInput(exact, bytes);
	free(exact);
	return true;
}

/** @return how many cases were run; -1: the file cannot be read, or a line is no case */
static int run_archive(const char *path)
{
	static char line[LINE_BYTES];
	FILE *file = fopen(path, "r");
	int done = 0;

	if (file == NULL)
		return -1;
	while (done >= 0 && fgets(line, sizeof(line), file) != NULL) {
		(void)fprintf(stderr, "%s:%d\n", path, done + 1);
		done = run_line(line) ? done + 1 : -1;
	}
	(void)fclose(file);
	return done;
}

int main(int argc, char **argv)
{
	int done;

	if (argc != 2) {
		(void)fprintf(stderr, "usage: %s CORPUS\n", argv[0]);
		return 2;
	}
	done = run_archive(argv[1]);
	(void)printf("%d cases\n", done);
	return done > 0 ? 0 : 1;
}
