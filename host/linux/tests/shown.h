/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What the driver shows of itself, read by tests of several programs. */
#ifndef PBD_TEST_SHOWN_H
#define PBD_TEST_SHOWN_H

#include <stdint.h>

/* All of a file; until the next call. */
const char *shown_file(const char *path);
/* The value of a key in the fdinfo of an open file, which must have it once; with its unit. */
uint64_t shown_key(int fd, const char *name, const char *unit);
/* All of a file of the driver's in debugfs; until the next call. */
const char *shown_debugfs(const char *file);
/* The line of the queue of a node of an open file; NULL: there is none. Until the next call. */
const char *shown_queue(int fd, uint32_t node);
/* Ends the test if the line has no such text. @line: NULL: there is no line */
void shown_has(const char *line, const char *wanted);

#endif
