/* SPDX-License-Identifier: MIT */
/**
 * @file
 * An account for tests: commands go in as words, and what they reach comes out as text.
 */
#ifndef PB_TESTS_GL_GL_BENCH_H
#define PB_TESTS_GL_GL_BENCH_H

#include "hal/gl/account.h"

#define BENCH_SUB_CONTEXTS 4u
#define BENCH_OBJECTS      64u

/** Words of a command: its header, made of number and kind, and what follows. */
#define C(number, kind, ...)                                                                                 \
	(const uint32_t[]){(number) | (kind) << 8, __VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4u

/** The account. */
extern struct pb_gl_account bench_account;

/** Starts the account anew. */
void bench_start(void);

/** Has the account follow one command; the length in its header is filled in. */
enum pb_gl_status bench_follow(const uint32_t *words, uint32_t length);

/** Follows a command that must be right, and compares what it reaches: "" or words such as "r5 w6 rw7", as reported. */
void bench_expect(const char *expected, const uint32_t *words, uint32_t length);

/** Resources that the account names, each once, in increasing order: "5 6 7". */
const char *bench_named(void);

/** How many reaches to allow before the bench stops the account; 0: all. */
extern uint32_t bench_allowed;

#endif
