/* SPDX-License-Identifier: MIT */
/* The card's end of the interrupt lines, against an MCU that follows qemu/mcu/lines.h step by step. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hal/lines.h"
#include "hal/shared.h"
#include "qemu/card_lines.h"
#include "tests/unit/patience.h"
#include "tests/unit/unit.h"

/* The MCU: where it is within a raise is a state, so that the card can act between any two steps. */
struct mcu {
	struct pb_card_line_block *block;
	int socket;
	uint32_t sent[PB_CARD_LINES];
	uint32_t taken[PB_CARD_LINES];
	uint32_t here; /* lines whose byte it has and has not taken */
	uint32_t line; /* being raised */
	uint32_t step; /* 0: none is */
};

/* Both ends, and what each side asks of the other: a counter a line, bumped before the raise. */
struct bench {
	struct pb_card_line_block block;
	struct pb_card_lines card;
	struct mcu mcu;
	uint32_t asked_mcu[PB_CARD_LINES];
	uint32_t seen_mcu[PB_CARD_LINES];
	uint32_t asked_card[PB_CARD_LINES];
	uint32_t seen_card[PB_CARD_LINES];
};

static void card_line(void *context, uint32_t line)
{
	struct bench *bench = context;

	bench->seen_card[line] = pb_shared_read32(&bench->asked_card[line]);
}

static void connect_both(struct bench *bench)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	bench->mcu.socket = ends[1];
	pb_card_lines_connect(&bench->card, ends[0]);
}

static void make_bench(struct bench *bench)
{
	memset(bench, 0, sizeof(*bench));
	bench->mcu.block = &bench->block;
	bench->mcu.socket = -1;
	pb_card_lines_init(&bench->card, &bench->block, card_line, bench);
}

static void end_bench(struct bench *bench)
{
	pb_card_lines_restart(&bench->card);
	close(bench->mcu.socket);
}

/* One step of the MCU's raise: barrier, look, send. */
static void mcu_raise_step(struct mcu *mcu)
{
	uint8_t byte = (uint8_t)mcu->line;

	switch (mcu->step++) {
	case 1:
		pb_shared_barrier();
		break;
	case 2:
		if (pb_shared_read32(&mcu->block->from_mcu_taken[mcu->line]) != mcu->sent[mcu->line])
			mcu->step = 0;
		break;
	default:
		mcu->sent[mcu->line]++;
		assert_int_equal(send(mcu->socket, &byte, 1, 0), 1);
		mcu->step = 0;
		break;
	}
}

static void mcu_raise_begin(struct mcu *mcu, uint32_t line)
{
	while (mcu->step != 0)
		mcu_raise_step(mcu);
	mcu->line = line;
	mcu->step = 1;
}

/* Looks at what a line stands for, without taking its byte. @return false: no byte is there */
static bool mcu_receive(struct bench *bench)
{
	struct mcu *mcu = &bench->mcu;
	uint8_t line;

	if (recv(mcu->socket, &line, 1, MSG_DONTWAIT) != 1)
		return false;
	assert_true(line < PB_CARD_LINES);
	mcu->here |= 1u << line;
	bench->seen_mcu[line] = pb_shared_read32(&bench->asked_mcu[line]);
	return true;
}

/* Takes the bytes that it has, and looks once more. */
static void mcu_rest(struct bench *bench)
{
	struct mcu *mcu = &bench->mcu;

	for (; mcu->here != 0; mcu->here &= mcu->here - 1u) {
		const uint32_t line = (uint32_t)__builtin_ctz(mcu->here);

		pb_shared_write32(&mcu->block->to_mcu_taken[line], ++mcu->taken[line]);
		pb_shared_barrier();
		bench->seen_mcu[line] = pb_shared_read32(&bench->asked_mcu[line]);
	}
}

/* @return false: no byte is there */
static bool mcu_take(struct bench *bench)
{
	const bool received = mcu_receive(bench);

	mcu_rest(bench);
	return received;
}

/* Bytes that wait in a socket: at most one of each line. */
static void check_outstanding(int socket)
{
	uint8_t bytes[1024];
	uint32_t seen = 0;
	ssize_t got = recv(socket, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_PEEK);

	for (ssize_t i = 0; i < got; i++) {
		assert_true(bytes[i] < PB_CARD_LINES);
		assert_int_equal(seen & 1u << bytes[i], 0);
		seen |= 1u << bytes[i];
	}
}

static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static void random_step(struct bench *bench, uint32_t *state)
{
	/* Few lines, so that they meet, of channels and of nodes. */
	uint32_t line = PB_LINE_NODE(0) - 2u + next_random(state) % 5u;

	switch (next_random(state) % 8u) {
	case 0:
		bench->asked_mcu[line]++;
		pb_card_lines_raise(&bench->card, line);
		break;
	case 1:
		mcu_take(bench);
		break;
	case 2:
		bench->asked_card[line]++;
		mcu_raise_begin(&bench->mcu, line);
		break;
	case 3:
		if (bench->mcu.step != 0)
			mcu_raise_step(&bench->mcu);
		break;
	case 4:
		mcu_receive(bench);
		break;
	case 5:
		pb_card_lines_poll(&bench->card);
		break;
	case 6:
		pb_card_lines_rest(&bench->card);
		break;
	default:
		assert_true(pb_card_lines_receive(&bench->card));
		break;
	}
}

static void settle(struct bench *bench)
{
	while (bench->mcu.step != 0)
		mcu_raise_step(&bench->mcu);
	while (mcu_take(bench))
		continue;
	assert_true(pb_card_lines_receive(&bench->card));
	pb_card_lines_rest(&bench->card);
}

static void random_interleavings_lose_no_raise(void **unused)
{
	(void)unused;
	for (uint32_t seed = 1; seed <= 200; seed++) {
		struct bench bench;
		uint32_t state = seed;

		make_bench(&bench);
		connect_both(&bench);
		for (uint32_t i = 0; i < 2000; i++) {
			random_step(&bench, &state);
			check_outstanding(bench.mcu.socket);
			check_outstanding(bench.card.socket);
		}
		settle(&bench);
		assert_memory_equal(bench.seen_mcu, bench.asked_mcu, sizeof(bench.seen_mcu));
		assert_memory_equal(bench.seen_card, bench.asked_card, sizeof(bench.seen_card));
		end_bench(&bench);
	}
}

/* Every raise is counted, a raise of a line whose byte is under way sends none. */
static void every_raise_counts_and_one_byte_is_under_way(void **unused)
{
	uint8_t bytes[8];
	struct bench bench;

	(void)unused;
	make_bench(&bench);
	connect_both(&bench);
	pb_card_lines_raise(&bench.card, 3);
	pb_card_lines_raise(&bench.card, 3);
	pb_card_lines_raise(&bench.card, 17);
	assert_int_equal(bench.block.to_mcu_raised[3], 2);
	assert_int_equal(recv(bench.mcu.socket, bytes, sizeof(bytes), MSG_PEEK), 2);
	assert_int_equal(bytes[0], 3);
	assert_int_equal(bytes[1], 17);
	assert_true(mcu_take(&bench));
	pb_card_lines_raise(&bench.card, 3);
	assert_int_equal(recv(bench.mcu.socket, bytes, sizeof(bytes), MSG_PEEK), 2);
	assert_int_equal(bytes[1], 3);
	end_bench(&bench);
}

/* What is raised before the MCU connects comes once it does. */
static void raises_before_the_mcu_connects_arrive(void **unused)
{
	struct bench bench;

	(void)unused;
	make_bench(&bench);
	bench.asked_mcu[0]++;
	pb_card_lines_raise(&bench.card, 0);
	pb_card_lines_raise(&bench.card, 0);
	connect_both(&bench);
	assert_true(mcu_take(&bench));
	assert_false(mcu_take(&bench));
	assert_int_equal(bench.seen_mcu[0], 1);
	end_bench(&bench);
}

/* An MCU that starts anew goes on from the words in memory, and so does the card. */
static void a_new_mcu_continues_from_the_words_in_memory(void **unused)
{
	struct bench bench;
	uint8_t byte = 2;

	(void)unused;
	make_bench(&bench);
	connect_both(&bench);
	pb_card_lines_raise(&bench.card, 1); /* is never taken */
	assert_int_equal(send(bench.mcu.socket, &byte, 1, 0), 1);
	close(bench.mcu.socket);
	pb_card_lines_restart(&bench.card);
	assert_int_equal(bench.card.socket, -1);
	connect_both(&bench);
	assert_false(mcu_take(&bench));
	bench.asked_mcu[1]++;
	pb_card_lines_raise(&bench.card, 1);
	assert_true(mcu_take(&bench));
	assert_int_equal(bench.seen_mcu[1], 1);
	assert_int_equal(bench.block.from_mcu_taken[2], 0);
	end_bench(&bench);
}

static void noise_is_skipped_and_the_end_is_noticed(void **unused)
{
	const uint8_t noise[] = {PB_CARD_LINES, 0xff, 31, 0};
	struct bench bench;

	(void)unused;
	make_bench(&bench);
	connect_both(&bench);
	bench.asked_card[31] = 7;
	bench.asked_card[0] = 9;
	assert_int_equal(send(bench.mcu.socket, noise, sizeof(noise), 0), sizeof(noise));
	assert_true(pb_card_lines_receive(&bench.card));
	assert_int_equal(bench.seen_card[31], 7);
	assert_int_equal(bench.seen_card[0], 9);
	assert_int_equal(bench.block.from_mcu_taken[31], 1);
	assert_int_equal(bench.block.from_mcu_taken[0], 1);
	assert_false(pb_card_lines_rest(&bench.card));
	assert_true(pb_card_lines_receive(&bench.card)); /* nothing there */
	close(bench.mcu.socket);
	bench.mcu.socket = -1;
	assert_false(pb_card_lines_receive(&bench.card));
	end_bench(&bench);
}

/* Until it rests the card looks at a node whose byte it keeps, and the MCU sends no other. */
static void a_polled_node_gets_no_bytes_until_the_card_rests(void **unused)
{
	const uint32_t line = PB_LINE_NODE(0), other = PB_LINE_NODE(1);
	struct bench bench;

	(void)unused;
	make_bench(&bench);
	connect_both(&bench);
	bench.asked_card[line] = 4;
	mcu_raise_begin(&bench.mcu, line);
	mcu_raise_begin(&bench.mcu, other); /* ends the first */
	pb_card_lines_poll(&bench.card);
	assert_int_equal(bench.seen_card[line], 0);
	assert_true(pb_card_lines_receive(&bench.card));
	pb_card_lines_poll(&bench.card);
	assert_int_equal(bench.seen_card[line], 4);
	assert_int_equal(bench.block.from_mcu_taken[line], 0);
	bench.asked_card[line] = 5;
	mcu_raise_begin(&bench.mcu, line); /* ends the second */
	mcu_raise_begin(&bench.mcu, 4);
	assert_int_equal(bench.mcu.sent[line], 1);
	pb_card_lines_poll(&bench.card);
	assert_int_equal(bench.seen_card[line], 5);
	/* One that comes between the last look and the rest. */
	bench.asked_card[line] = 6;
	mcu_raise_begin(&bench.mcu, line);
	mcu_raise_begin(&bench.mcu, 4);
	assert_true(pb_card_lines_rest(&bench.card));
	assert_int_equal(bench.seen_card[line], 6);
	assert_int_equal(bench.block.from_mcu_taken[line], 1);
	assert_false(pb_card_lines_rest(&bench.card));
	/* From here on there is a byte again. */
	mcu_raise_begin(&bench.mcu, line);
	mcu_raise_begin(&bench.mcu, 4);
	assert_int_equal(bench.mcu.sent[line], 2);
	end_bench(&bench);
}

/* An MCU that polls is sent no bytes, but counts all raises. One that starts anew does not poll. */
static void a_polling_mcu_gets_no_bytes(void **unused)
{
	const uint32_t rows[] = {PB_LINE_NODE(3), PB_LINE_CHANNEL(5)};
	struct bench bench;

	(void)unused;
	make_bench(&bench);
	connect_both(&bench);
	for (uint32_t i = 0; i < 2u; i++) {
		pb_shared_write32(&bench.block.mcu_polls, 1);
		pb_card_lines_raise(&bench.card, rows[i]);
		assert_int_equal(bench.block.to_mcu_raised[rows[i]], 1);
		assert_int_equal(bench.block.to_mcu_raises, 1u + 2u * i);
		assert_false(mcu_take(&bench));
		pb_shared_write32(&bench.block.mcu_polls, 0);
		pb_card_lines_raise(&bench.card, rows[i]);
		assert_int_equal(bench.block.to_mcu_raised[rows[i]], 2);
		assert_int_equal(bench.block.to_mcu_raises, 2u + 2u * i);
		assert_true(mcu_take(&bench));
		assert_int_equal(bench.block.to_mcu_taken[rows[i]], 1);
	}
	pb_shared_write32(&bench.block.mcu_polls, 1);
	end_bench(&bench);
	assert_int_equal(bench.block.mcu_polls, 0);
}

/* ---- the same with two threads ---- */

#define THREAD_RAISES 20000u
#define THREAD_LINE   PB_LINE_NODE(2)

static void *mcu_thread(void *argument)
{
	struct bench *bench = argument;
	uint64_t start;

	for (uint32_t i = 0; i < THREAD_RAISES; i++) {
		pb_shared_write32(&bench->asked_card[THREAD_LINE], i + 1u);
		pb_shared_release();
		mcu_raise_begin(&bench->mcu, THREAD_LINE);
		mcu_take(bench);
	}
	while (bench->mcu.step != 0)
		mcu_raise_step(&bench->mcu);
	start = unit_now();
	do
		mcu_take(bench);
	while (bench->seen_mcu[THREAD_LINE] != THREAD_RAISES && unit_patience(start));
	return NULL;
}

static void threads_lose_no_raise(void **unused)
{
	struct bench bench;
	pthread_t thread;
	uint64_t start;

	(void)unused;
	make_bench(&bench);
	connect_both(&bench);
	assert_int_equal(pthread_create(&thread, NULL, mcu_thread, &bench), 0);
	for (uint32_t i = 0; i < THREAD_RAISES; i++) {
		pb_shared_write32(&bench.asked_mcu[THREAD_LINE], i + 1u);
		pb_card_lines_raise(&bench.card, THREAD_LINE);
		assert_true(pb_card_lines_receive(&bench.card));
		pb_card_lines_poll(&bench.card);
		if (i % 8u == 0)
			pb_card_lines_rest(&bench.card);
	}
	start = unit_now();
	while (bench.seen_card[THREAD_LINE] != THREAD_RAISES && unit_patience(start)) {
		assert_true(pb_card_lines_receive(&bench.card));
		pb_card_lines_rest(&bench.card);
	}
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(bench.seen_card[THREAD_LINE], THREAD_RAISES);
	assert_int_equal(bench.seen_mcu[THREAD_LINE], THREAD_RAISES);
	end_bench(&bench);
}

UNIT_SUITE(test_card_lines)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_raise_counts_and_one_byte_is_under_way),
		cmocka_unit_test(raises_before_the_mcu_connects_arrive),
		cmocka_unit_test(a_new_mcu_continues_from_the_words_in_memory),
		cmocka_unit_test(noise_is_skipped_and_the_end_is_noticed),
		cmocka_unit_test(a_polled_node_gets_no_bytes_until_the_card_rests),
		cmocka_unit_test(a_polling_mcu_gets_no_bytes),
		cmocka_unit_test(threads_lose_no_raise),
		cmocka_unit_test(random_interleavings_lose_no_raise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
