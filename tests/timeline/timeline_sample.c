/* SPDX-License-Identifier: MIT */
/* timeline_sample PACKETS FILE [waits]: writes a trace of that many packets, some of which wait, and prints their counts. */
#include <stdlib.h>

#include "tests/unit/trace_sample.h"

int main(int argc, char **argv)
{
	struct trace_sample sample;
	FILE *file = argc == 3 || argc == 4 ? fopen(argv[2], "wb") : NULL;

	if (file == NULL ||
	    !trace_sample_write_waits(file, (uint32_t)strtoul(argv[1], NULL, 10), argc == 4, &sample) ||
	    fclose(file) != 0)
		return 1;
	printf("%u %u %u %u %u\n", sample.render, sample.present, sample.paging, sample.preempted,
	       sample.failed);
	return 0;
}
