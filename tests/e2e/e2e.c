/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/e2e/e2e.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/e2e/e2e_board.h"
#include "tests/e2e/e2e_process.h"

static char folder[] = "/tmp/patchbay-e2e-XXXXXX";
static bool leftovers;

void e2e_path(char path[E2E_PATH_BYTES], const char *name)
{
	assert_true((size_t)snprintf(path, E2E_PATH_BYTES, "%s/%s", folder, name) < E2E_PATH_BYTES);
}

int e2e_group_setup(void **state)
{
	(void)state;
	if (access(e2e_image(), R_OK) == 0)
		return 0;
	fprintf(stderr,
		"no firmware image at %s: %s\n"
		"Build it with: cmake -B build/%s -G Ninja -DPB_BOARD=%s && cmake --build build/%s\n",
		e2e_image(), strerror(errno), e2e_board(), e2e_board(), e2e_board());
	return -1;
}

int e2e_setup(void **state)
{
	(void)state;
	memcpy(folder + sizeof(folder) - 7, "XXXXXX", 6);
	/* Orphaned processes become children of the test, so that the teardown finds them. */
	if (mkdtemp(folder) == NULL || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
		return -1;
	signal(SIGPIPE, SIG_IGN);
	return setenv("XDG_RUNTIME_DIR", folder, 1);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *position)
{
	const char *name = path + position->base;

	(void)type;
	/* Cards remove their own folders, which carry the prefix of the test's folder. */
	if (S_ISSOCK(status->st_mode) || (position->level != 0 && strncmp(name, "patchbay-", 9) == 0)) {
		fprintf(stderr, "left behind: %s\n", path);
		leftovers = true;
	}
	return remove(path);
}

int e2e_teardown(void **state)
{
	bool removed;

	(void)state;
	leftovers = e2e_end_children() != 0;
	removed = nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0;
	return removed && !leftovers ? 0 : -1;
}

uint64_t e2e_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

bool e2e_patience(uint64_t start)
{
	usleep(1000);
	return e2e_now() - start < E2E_PATIENCE_US;
}

uint8_t *e2e_read_file(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "rb");
	struct stat status;
	uint8_t *data;

	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &status), 0);
	*bytes = (size_t)status.st_size;
	data = malloc(*bytes + 1);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, *bytes, file), *bytes);
	data[*bytes] = '\0';
	fclose(file);
	return data;
}

void e2e_write_file(const char *path, const void *data, size_t bytes)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
}

/* ---- a card ---- */

void e2e_card_start(struct e2e_card *card, uint32_t restarts)
{
	e2e_card_start_image(card, NULL, restarts);
}

void e2e_card_start_image(struct e2e_card *card, const char *image, uint32_t restarts)
{
	struct pb_card_options options = e2e_card_options();

	e2e_path(card->socket, "card");
	if (image != NULL)
		options.image = image;
	options.socket = card->socket;
	options.restarts = restarts;
	options.quiet = true;
	assert_int_equal(pb_card_start(&options, &card->pid), 0);
}

void e2e_card_stop(struct e2e_card *card)
{
	assert_int_equal(pb_card_stop(card->pid), 0);
}

pid_t e2e_card_mcu(const struct e2e_card *card)
{
	const uint64_t start = e2e_now();
	pid_t mcu;

	/* No MCU exists between two MCUs. */
	while (e2e_children(card->pid, &mcu, 1) == 0)
		assert_true(e2e_patience(start));
	return mcu;
}
