/* SPDX-License-Identifier: MIT */
/* telemetry_image FILE: writes card memory of firmware that has counted, for `patchbay stats --memory`. */
#include <stdio.h>

#include "tests/unit/telemetry_sample.h"

int main(int argc, char **argv)
{
	static union {
		uint8_t bytes[SAMPLE_BYTES];
		uint32_t words[SAMPLE_BYTES / 4u];
	} memory;
	FILE *file = argc == 2 ? fopen(argv[1], "wb") : NULL;

	sample_write(memory.bytes);
	return file != NULL && fwrite(memory.bytes, 1, SAMPLE_BYTES, file) == SAMPLE_BYTES &&
			       fclose(file) == 0
		       ? 0
		       : 1;
}
