/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/unit/qemu/card_bench.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hal/shared.h"
#include "patchbay/abi/boot.h"
#include "tests/unit/patience.h"
#include "tests/unit/unit.h"

/* Interrupts that a host takes before it must have found what it waits for. */
#define WAKES_MOST 1000u

static const char *const arguments[] = {"{memory}", "{lines}", "{image}", NULL};
static const struct pb_machine fake_machine = {
	.board = "fake", .program = FAKE_MCU, .package = "none", .arguments = arguments};

/* The linker gives callers of the name without the prefix these functions (--wrap). */
uint64_t __real_pb_card_wall_us(void);
uint64_t __wrap_pb_card_wall_us(void);

uint32_t card_bench_wall_step_us;

uint64_t __wrap_pb_card_wall_us(void)
{
	static uint64_t wall_us;

	if (card_bench_wall_step_us == 0)
		return __real_pb_card_wall_us();
	return wall_us += card_bench_wall_step_us;
}

void card_bench_make(struct card_bench *bench)
{
	memset(bench, 0, sizeof(*bench));
	strcpy(bench->directory, "/tmp/card-bench-XXXXXX");
	assert_non_null(mkdtemp(bench->directory));
	snprintf(bench->files, sizeof(bench->files), "%s/files", bench->directory);
	snprintf(bench->socket, sizeof(bench->socket), "%s/socket", bench->directory);
	snprintf(bench->log, sizeof(bench->log), "%s/log", bench->directory);
	bench->options = PB_CARD_OPTIONS_DEFAULT;
	bench->options.machine = &fake_machine;
	bench->options.image = FAKE_MCU;
	bench->options.socket = bench->socket;
	bench->options.directory = bench->files;
	bench->options.boot_us = UNIT_PATIENCE_US;
}

int card_bench_start(struct card_bench *bench)
{
	int error = dup(STDERR_FILENO);
	int log = open(bench->log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	int result;

	assert_true(error >= 0 && log >= 0 && dup2(log, STDERR_FILENO) >= 0);
	result = pb_card_start(&bench->options, &bench->card);
	assert_true(dup2(error, STDERR_FILENO) >= 0);
	close(error);
	close(log);
	return result;
}

void card_bench_end(struct card_bench *bench)
{
	assert_int_equal(pb_card_stop(bench->card), 0);
	unlink(bench->log);
	/* Fails if anything else is left in it. */
	assert_int_equal(rmdir(bench->directory), 0);
}

static bool said_by_now(const struct card_bench *bench, const char *text)
{
	char said[8192] = "";
	int log = open(bench->log, O_RDONLY);

	assert_true(log >= 0 && read(log, said, sizeof(said) - 1) >= 0);
	close(log);
	return strstr(said, text) != NULL;
}

bool card_bench_said(const struct card_bench *bench, const char *text)
{
	const uint64_t start = unit_now();

	while (!said_by_now(bench, text)) {
		if (!unit_patience(start))
			return false;
	}
	return true;
}

bool card_bench_kept_quiet(const struct card_bench *bench)
{
	return !said_by_now(bench, "card:");
}

struct pb_link *card_bench_open(const struct card_bench *bench)
{
	struct pb_link *link = NULL;

	assert_int_equal(pb_link_open_socket(bench->socket, &link), PB_ERROR_OK);
	return link;
}

struct fake_mailbox *card_bench_mailbox(const struct pb_link *link)
{
	return (void *)(link->memory + FAKE_OFFSET);
}

void card_bench_quiet(struct pb_link *link)
{
	for (uint32_t i = 0; link->ops->wait(link, 1000) == PB_ERROR_OK; i++)
		assert_true(i < WAKES_MOST);
}

void card_bench_await(const uint32_t *word, uint32_t value)
{
	unit_await(pb_shared_read32(word) == value);
}

void card_bench_await_woken(struct pb_link *link, const uint32_t *word, uint32_t value)
{
	for (uint32_t i = 0; pb_shared_read32(word) != value; i++) {
		assert_true(i < WAKES_MOST);
		assert_int_equal(link->ops->wait(link, UNIT_PATIENCE_US), PB_ERROR_OK);
	}
}

uint32_t card_bench_stood(const struct pb_link *link)
{
	const struct pb_boot_block *block = (const void *)(link->memory + PB_BOOT_OFFSET);
	const uint32_t seen = pb_shared_read32(&block->heartbeat_clock);

	return pb_shared_read32(&block->clock) - seen;
}
