/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Shared by the end-to-end tests: a folder and a card for each test, the patchbay command, and processes that
 * are hosts of the card. Everything that a test starts ends with the test, also when it fails or is killed.
 */
#ifndef PB_TESTS_E2E_E2E_H
#define PB_TESTS_E2E_E2E_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/unit/unit.h"

/** Long enough for any step on a busy machine. Only a hang takes this long. */
#define E2E_PATIENCE_US UNIT_PATIENCE_US
/** A timeout that a test never lives to see: a call that must not wait for its timeout returns before. */
#define E2E_HOUR_US 3600000000u

/* ---- one test ---- */

#define E2E_PATH_BYTES 256u

/** Writes the path of a file in the running test's own folder. */
void e2e_path(char path[E2E_PATH_BYTES], const char *name);

/** Group setup: fails, and prints how to build it, if there is no firmware image. */
int e2e_group_setup(void **state);
/** Makes the folder, and adopts orphaned processes. */
int e2e_setup(void **state);
/** Ends all processes and removes the folder. Fails if a process or a file of a card was left. */
int e2e_teardown(void **state);

#define e2e_test(function)   cmocka_unit_test_setup_teardown(function, e2e_setup, e2e_teardown)
#define e2e_run_tests(tests) cmocka_run_group_tests(tests, e2e_group_setup, NULL)

/** Microseconds on the monotonic clock, which all processes share. */
uint64_t e2e_now(void);
/** Sleeps a little. @return false: the patience that began at `start` is over */
bool e2e_patience(uint64_t start);

/** Reads a file, zero-terminated. The caller frees the result. */
uint8_t *e2e_read_file(const char *path, size_t *bytes);
void e2e_write_file(const char *path, const void *data, size_t bytes);

/* ---- processes ---- */

/** Lists living child processes of a process, at most `most`. @return their number */
size_t e2e_children(pid_t parent, pid_t *children, size_t most);
/** Waits until a process listens at a Unix socket. Its file is there a moment before. */
void e2e_await_listener(const char *path);
/** Waits until a process is in a state of /proc: 'S' it sleeps, 'T' it is stopped. */
void e2e_await_state(pid_t pid, char process_state);
/** Waits until a process has gone to sleep so many times more: a card does in each turn of its loop, if it is idle. */
void e2e_await_sleeps(pid_t pid, uint32_t count);

/** A client process and the pipes between it and the test. Both sides hold one. */
struct e2e_process {
	pid_t pid;
	int to;   /**< written by this side */
	int from; /**< read by this side */
};

/** Runs `body` in a child, which ends with its parent. The result of `body` is the exit code. */
void e2e_process_start(struct e2e_process *process, int (*body)(struct e2e_process *self, void *argument),
		       void *argument);
void e2e_send(const struct e2e_process *process, char word);
/** Waits for the other side's next word. @return '\0': the other side has ended */
char e2e_receive(const struct e2e_process *process);
/** Waits for the process to end. @return its wait status */
int e2e_process_end(struct e2e_process *process);
/** Kills the process, and waits until it is gone. */
void e2e_process_kill(struct e2e_process *process);

/* ---- the command ---- */

struct e2e_output {
	int code; /**< exit code; -1: it was killed by a signal */
	char out[8192];
	char err[8192];
};

/**
 * Starts a program with its output redirected to files of the folder. A card that a patchbay command starts
 * has the board of the tests (e2e_board.h).
 * @param search NULL, or PATH for the program
 */
pid_t e2e_spawn(const char *program, const char *const *arguments, const char *search);
/** Waits for the program and reads its output. */
void e2e_collect(pid_t pid, struct e2e_output *output);

#define E2E_ARGUMENTS 14u
/** The arguments after the program's name, ending with NULL. */
#define E2E_ARGUMENT_LIST(...) ((const char *const[E2E_ARGUMENTS]){__VA_ARGS__})
/** Runs the patchbay command to its end. */
#define e2e_patchbay(output, ...)                                                                            \
	e2e_collect(e2e_spawn(E2E_PATCHBAY, E2E_ARGUMENT_LIST(__VA_ARGS__), NULL), (output))

/** A command that must fail, and a part of its message. */
struct e2e_refusal {
	const char *arguments[E2E_ARGUMENTS];
	int code; /**< exit code */
	const char *message;
};

/** Runs each command. Fails the test unless it ends with its code, its message, and no standard output. */
void e2e_check_refusals(const struct e2e_refusal *cases, size_t count);

/** The last line, without its newline. The text is cut there. */
const char *e2e_last_line(char *text);

/* ---- a card ---- */

struct e2e_card {
	pid_t pid;
	char socket[E2E_PATH_BYTES];
};

void e2e_card_start(struct e2e_card *card, uint32_t restarts);
/** As e2e_card_start(), with another image than the board's. @param image its path */
void e2e_card_start_image(struct e2e_card *card, const char *image, uint32_t restarts);
/** Stops the card. The test fails if it did not end well. */
void e2e_card_stop(struct e2e_card *card);
/** The process that emulates the card's MCU. */
pid_t e2e_card_mcu(const struct e2e_card *card);

#endif
