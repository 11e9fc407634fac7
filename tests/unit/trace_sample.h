/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A trace as a busy card would leave it, without one: the same for the same
 * number of packets.
 */
#ifndef PB_TESTS_UNIT_TRACE_SAMPLE_H
#define PB_TESTS_UNIT_TRACE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define TRACE_SAMPLE_NODES  4u
#define TRACE_SAMPLE_QUEUES 12u

/** What a sample consists of. */
struct trace_sample {
	uint32_t render, present, paging, preempted, failed;
};

/** Writes a file of so many packets. Fences count from 1. @return false: it cannot be written */
bool trace_sample_write(FILE *file, uint32_t packets, struct trace_sample *sample);
/** As trace_sample_write(). @param waits whether the next queue has waited for each paging buffer */
bool trace_sample_write_waits(FILE *file, uint32_t packets, bool waits, struct trace_sample *sample);

#endif
