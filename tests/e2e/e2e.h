/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the end-to-end tests share: a folder and a card for each test, the
 * patchbay command, and processes that are hosts of the card. Everything that
 * a test starts ends with it, also when it fails or is killed.
 */
#ifndef PB_TESTS_E2E_E2E_H
#define PB_TESTS_E2E_E2E_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/unit/unit.h"

/** Long enough for any step on a busy machine; only a hang takes this long. */
#define E2E_PATIENCE_US 60000000u

/* ---- one test ---- */

#define E2E_PATH_BYTES 256u

/** Writes the path of a file in the running test's own folder. */
void e2e_path(char path[E2E_PATH_BYTES], const char *name);

/** Group setup: fails, and says what to build, if there is no firmware image. */
int e2e_group_setup(void **state);
/** Makes the folder, and adopts processes whose parent dies. */
int e2e_setup(void **state);
/** Ends all processes and removes the folder; fails if a process or a file of a card was left. */
int e2e_teardown(void **state);

#define e2e_test(function)   cmocka_unit_test_setup_teardown(function, e2e_setup, e2e_teardown)
#define e2e_run_tests(tests) cmocka_run_group_tests(tests, e2e_group_setup, NULL)

/** Microseconds on the monotonic clock, the same for all processes. */
uint64_t e2e_now(void);
/** Sleeps a little. @return false: patience since `start` is over */
bool e2e_patience(uint64_t start);

/** A file's contents, zero-terminated; the caller frees it. */
uint8_t *e2e_read_file(const char *path, size_t *bytes);
void e2e_write_file(const char *path, const void *data, size_t bytes);

/* ---- processes ---- */

/** Living child processes of a process, at most `most` of them. @return how many there are */
size_t e2e_children(pid_t parent, pid_t *children, size_t most);

/** A client process and the pipes to talk to it; both sides hold one. */
struct e2e_process {
	pid_t pid;
	int to;   /**< written by this side */
	int from; /**< read by this side */
};

/** Runs body in a child, which ends with its parent; what it returns is the exit code. */
void e2e_process_start(struct e2e_process *process, int (*body)(struct e2e_process *self, void *argument),
		       void *argument);
void e2e_say(const struct e2e_process *process, char word);
/** Waits for the other side's next word. @return '\0': the other side has ended */
char e2e_hear(const struct e2e_process *process);
/** Waits for its end. @return its wait status */
int e2e_process_end(struct e2e_process *process);
/** Kills it, and waits until it is gone. */
void e2e_process_kill(struct e2e_process *process);

/* ---- the command ---- */

struct e2e_output {
	int code; /**< exit code; -1: it was killed by a signal */
	char out[8192];
	char err[8192];
};

/**
 * Starts a program with its output going to files of the folder. A card that a
 * patchbay command starts has the board of the tests (e2e_board.h).
 * @param search NULL, or its PATH
 */
pid_t e2e_spawn(const char *program, const char *const *arguments, const char *search);
/** Waits for it and takes its output. */
void e2e_collect(pid_t pid, struct e2e_output *output);

#define E2E_ARGUMENTS 14u
/** The arguments behind the program's name, up to a NULL. */
#define E2E_ARGUMENT_LIST(...) ((const char *const[E2E_ARGUMENTS]){__VA_ARGS__})
/** Runs the patchbay command to its end. */
#define e2e_patchbay(output, ...)                                                                            \
	e2e_collect(e2e_spawn(E2E_PATCHBAY, E2E_ARGUMENT_LIST(__VA_ARGS__), NULL), (output))

/** The last line, without its newline; the text is cut there. */
const char *e2e_last_line(char *text);

/* ---- a card ---- */

struct e2e_card {
	pid_t pid;
	char socket[E2E_PATH_BYTES];
};

void e2e_card_start(struct e2e_card *card, uint32_t restarts);
/** The same with another image than its board's. @param image its path */
void e2e_card_start_image(struct e2e_card *card, const char *image, uint32_t restarts);
/** Stops it; the test fails if it did not end well. */
void e2e_card_stop(struct e2e_card *card);
/** The process that emulates its MCU. */
pid_t e2e_card_mcu(const struct e2e_card *card);

#endif
