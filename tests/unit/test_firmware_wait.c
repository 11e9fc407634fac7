/* SPDX-License-Identifier: MIT */
/* Waits of one queue for another: when they are over, how they fail, and who may go meanwhile. */
#include <string.h>

#include "tests/unit/card_queues.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define SYSTEM_END   ((uint32_t)CARD_SYSTEM_OS + CARD_SYSTEM_BYTES)
#define NODES        4u
/** Six queues on all nodes, and a second context for what is to fail. */
#define QUEUES 6u

struct bench {
	struct card card;
	struct pb_queue queues[QUEUES];
	uint32_t doomed; /**< context */
	uint32_t lists;  /**< used */
};

static void start(struct bench *bench)
{
	memset(bench, 0, sizeof(*bench));
	card_start(&bench->card);
	assert_int_equal(pb_context_create(&bench->card.channel, &bench->doomed), PB_ERROR_OK);
	for (uint32_t i = 0; i < QUEUES; i++)
		card_queue_make(&bench->queues[i], &bench->card,
				&(struct card_queue_request){
					.place = i, .node = i % NODES, .level = PB_PRIORITY_NORMAL});
}

static void wait_for(struct bench *bench, uint32_t waiter, uint32_t target, uint64_t value)
{
	const struct pb_descriptor descriptor =
		card_waiting_for(&bench->card, bench->lists++, &bench->queues[target], value);

	card_queue_submit(&bench->queues[waiter], &descriptor);
}

static void signal_next(struct bench *bench, uint32_t q)
{
	const struct pb_descriptor descriptor = card_nothing(&bench->card, 0);

	card_queue_submit(&bench->queues[q], &descriptor);
}

/** The next of a queue is refused; its context can work again at once. */
static void fail_next(struct bench *bench, uint32_t q)
{
	struct pb_descriptor descriptor = card_nothing(&bench->card, 0);

	descriptor.context = bench->doomed;
	descriptor.options = 2;
	card_queue_submit(&bench->queues[q], &descriptor);
	card_expect_completed(&bench->card, "to fail", &bench->queues[q], bench->queues[q].put,
			      PB_ERROR_BAD_OPTIONS);
	assert_int_equal(pb_context_clear(&bench->card.channel, bench->doomed), PB_ERROR_OK);
}

static void expect(struct bench *bench, const char *row, uint32_t q, uint32_t completed, enum pb_error status)
{
	card_expect_completed(&bench->card, row, &bench->queues[q], completed, status);
}

/* ---- waits that end well ---- */

static void wait_before_signal(void **state)
{
	struct bench bench;
	uint32_t results[PB_REPLY_RESULTS];

	(void)state;
	start(&bench);
	wait_for(&bench, 0, 1, 3);
	signal_next(&bench, 0); /* behind it, in order */
	expect(&bench, "nothing", 0, 0, PB_ERROR_OK);
	card_query(&bench.card.channel, PB_QUERY_QUEUE, bench.queues[0].handle, results);
	assert_int_equal(results[0], PB_WHY_WAITING);
	assert_int_equal(results[1], bench.queues[1].handle);
	assert_int_equal(results[2], 3);
	assert_int_equal(results[3], 0);
	signal_next(&bench, 1);
	signal_next(&bench, 1);
	expect(&bench, "two of three", 0, 0, PB_ERROR_OK);
	signal_next(&bench, 1);
	expect(&bench, "all", 0, 2, PB_ERROR_OK);
	card_expect_no_event(&bench.card.channel, "before signal");
	card_stop(&bench.card);
}

/** Values up to the one reached hold nobody up; they have 64 bits. */
static void value_that_is_reached(void **state)
{
	static const uint64_t values[] = {0, 1, 0x100000000, 0x7fffffffffffffff};
	struct bench bench;
	struct pb_descriptor descriptor;

	(void)state;
	start(&bench);
	descriptor = card_nothing(&bench.card, 0);
	descriptor.timeline_low = 0xffffffff;
	descriptor.timeline_high = 0x7fffffff;
	card_queue_submit(&bench.queues[1], &descriptor);
	expect(&bench, "signal", 1, 1, PB_ERROR_OK);
	for (uint32_t i = 0; i < COUNT(values); i++) {
		wait_for(&bench, 0, 1, values[i]);
		expect(&bench, "reached", 0, i + 1, PB_ERROR_OK);
	}
	wait_for(&bench, 0, 1, 0x8000000000000000);
	expect(&bench, "one more", 0, COUNT(values), PB_ERROR_OK);
	signal_next(&bench, 1);
	expect(&bench, "one more", 0, COUNT(values) + 1, PB_ERROR_OK);
	/* The last one that there is. */
	wait_for(&bench, 0, 1, UINT64_MAX);
	descriptor.timeline_high = 0xffffffff;
	card_queue_submit(&bench.queues[1], &descriptor);
	expect(&bench, "the last", 0, COUNT(values) + 2, PB_ERROR_OK);
	wait_for(&bench, 0, 1, UINT64_MAX);
	expect(&bench, "behind the last", 0, COUNT(values) + 3, PB_ERROR_OK);
	card_stop(&bench.card);
}

/** Four waits are over when the last is, whichever that is. */
static void four_waits(void **state)
{
	(void)state;
	for (uint32_t order = 0; order < 4u * 3u * 2u; order++) {
		struct bench bench;
		struct pb_wait waits[PB_WAITS_MAX];
		struct pb_descriptor descriptor;
		uint32_t left[] = {1, 2, 3, 4}, rest = order;

		start(&bench);
		for (uint32_t i = 0; i < PB_WAITS_MAX; i++)
			waits[i] = card_wait_on(&bench.queues[i + 1], 1);
		descriptor = card_waiting(&bench.card, 0, waits, PB_WAITS_MAX);
		card_queue_submit(&bench.queues[0], &descriptor);
		for (uint32_t n = 4; n != 0; n--) {
			const uint32_t pick = rest % n;

			expect(&bench, "not yet", 0, 0, PB_ERROR_OK);
			signal_next(&bench, left[pick]);
			left[pick] = left[n - 1];
			rest /= n;
		}
		expect(&bench, "all four", 0, 1, PB_ERROR_OK);
		card_stop(&bench.card);
	}
}

/* ---- bad lists ---- */

static const struct {
	const char *name;
	enum pb_error error;
	struct card_edit edits[CARD_EDITS];
} lists[] = {
	{"five", PB_ERROR_BAD_WAIT, {CARD_SET(wait_count, 5)}},
	{"2^32 - 1", PB_ERROR_BAD_WAIT, {CARD_SET(wait_count, -1)}},
	{"2^28, which is no bytes", PB_ERROR_BAD_WAIT, {CARD_SET(wait_count, 0x10000000)}},
	{"at 0", PB_ERROR_BAD_WAIT, {CARD_SET(wait_address_low, 0)}},
	{"off by 4", PB_ERROR_BAD_WAIT, {CARD_SET(wait_address_low, CARD_SYSTEM_OS + CARD_PATCHES + 4)}},
	{"4 GiB up", PB_ERROR_BAD_WAIT, {CARD_SET(wait_address_high, 1)}},
	{"beyond the end",
	 PB_ERROR_BAD_WAIT,
	 {CARD_SET(wait_address_low, SYSTEM_END - 56), CARD_SET(wait_count, 4)}},
	{"wraps 2^64", PB_ERROR_BAD_WAIT, {CARD_SET(wait_address_low, -8), CARD_SET(wait_address_high, -1)}},
	{"in video memory",
	 PB_ERROR_BAD_WAIT,
	 {CARD_SET(wait_address_low, 0), CARD_SET(wait_address_high, CARD_VIDEO_OS >> 32)}},
	{"at the very end",
	 PB_ERROR_OK,
	 {CARD_SET(wait_address_low, SYSTEM_END - 64), CARD_SET(wait_count, 4)}},
	{"none, wherever", PB_ERROR_OK, {CARD_SET(wait_address_low, 1), CARD_SET(wait_count, 0)}},
};

static void every_list(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(lists); i++) {
		struct bench bench;
		struct pb_descriptor descriptor;
		const char *row = lists[i].name;

		start(&bench);
		signal_next(&bench, 1);
		expect(&bench, row, 1, 1, PB_ERROR_OK);
		for (uint32_t n = 0; n < 4; n++) {
			const struct pb_wait wait = card_wait_on(&bench.queues[1], 1);

			memcpy(card_bytes(&bench.card, 0, CARD_SYSTEM_BYTES - 64 + n * 16), &wait, 16);
		}
		descriptor = card_waiting_for(&bench.card, 0, &bench.queues[1], 1);
		card_edit(&descriptor, lists[i].edits);
		card_queue_submit(&bench.queues[0], &descriptor);
		expect(&bench, row, 0, 1, lists[i].error);
		/* A list that cannot be is the context's fault. */
		signal_next(&bench, 0);
		expect(&bench, row, 0, 2,
		       lists[i].error == PB_ERROR_OK ? PB_ERROR_OK : PB_ERROR_CONTEXT_LOST);
		card_stop(&bench.card);
	}
}

/** The reserved word of each is looked at, when it comes to that one. */
static void reserved_words(void **state)
{
	(void)state;
	for (uint32_t bad = 0; bad < PB_WAITS_MAX; bad++) {
		struct bench bench;
		struct pb_wait waits[PB_WAITS_MAX];
		struct pb_descriptor descriptor;

		start(&bench);
		for (uint32_t i = 0; i < PB_WAITS_MAX; i++)
			waits[i] = card_wait_on(&bench.queues[1], 0);
		waits[bad].reserved = 0x80000000;
		descriptor = card_waiting(&bench.card, 0, waits, PB_WAITS_MAX);
		card_queue_submit(&bench.queues[0], &descriptor);
		expect(&bench, "reserved", 0, 1, PB_ERROR_BAD_WAIT);
		card_stop(&bench.card);
	}
}

/** A handle that names no queue of the channel is a queue that is gone. */
static void handles_that_name_nothing(void **state)
{
	struct bench bench;
	struct card_client other;
	uint32_t done = 0;

	(void)state;
	start(&bench);
	card_join_client(&bench.card, &other, 2);
	const uint32_t handles[] = {
		0,
		bench.queues[1].handle + 0x10000,
		bench.queues[5].handle + 1,
		PB_HANDLE(4096, 1),
		-1u,
		other.queue.handle,
	};
	for (uint32_t i = 0; i < COUNT(handles); i++) {
		const struct pb_wait wait = {.queue = handles[i]};
		const struct pb_descriptor descriptor = card_waiting(&bench.card, i, &wait, 1);

		card_queue_submit(&bench.queues[0], &descriptor);
		expect(&bench, "no queue", 0, ++done, PB_ERROR_DEP_FAILED);
		/* No context is lost by that. */
		signal_next(&bench, 0);
		expect(&bench, "next", 0, ++done, PB_ERROR_OK);
		card_expect_event(&bench.card.channel, "no queue",
				  &(struct pb_event){.type = PB_EVENT_SUBMISSION_FAILED,
						     .queue = bench.queues[0].handle,
						     .error = PB_ERROR_DEP_FAILED,
						     .index = PB_INDEX_NONE});
		card_expect_no_event(&bench.card.channel, "no queue");
	}
	card_leave(&other.channel);
	card_stop(&bench.card);
}

/* ---- signallers that fail ---- */

/** What was reached before the first error that is not acknowledged is good; what comes after is not. */
static void failed_signaller(void **state)
{
	struct bench bench;

	(void)state;
	start(&bench);
	wait_for(&bench, 0, 1, 2);
	wait_for(&bench, 2, 1, 1);
	wait_for(&bench, 3, 1, 3);
	signal_next(&bench, 1);
	fail_next(&bench, 1);
	expect(&bench, "the one that failed", 0, 1, PB_ERROR_DEP_FAILED);
	expect(&bench, "before it", 2, 1, PB_ERROR_OK);
	signal_next(&bench, 1);
	expect(&bench, "behind it", 3, 1, PB_ERROR_DEP_FAILED);
	wait_for(&bench, 2, 1, 1);
	expect(&bench, "before it, later", 2, 2, PB_ERROR_OK);
	wait_for(&bench, 2, 1, 2);
	expect(&bench, "the one that failed, later", 2, 3, PB_ERROR_DEP_FAILED);
	assert_int_equal(pb_queue_clear(&bench.queues[1]), PB_ERROR_OK);
	wait_for(&bench, 2, 1, 3);
	expect(&bench, "cleared", 2, 4, PB_ERROR_OK);
	/* An error after that counts from where it is. */
	fail_next(&bench, 1);
	wait_for(&bench, 3, 1, 3);
	expect(&bench, "before the next", 3, 2, PB_ERROR_OK);
	wait_for(&bench, 3, 1, 4);
	expect(&bench, "the next", 3, 3, PB_ERROR_DEP_FAILED);
	card_stop(&bench.card);
}

/** A fault in the engine, and what depends on it, over three queues. */
static void failure_is_passed_on(void **state)
{
	struct bench bench;
	struct pb_descriptor descriptor;

	(void)state;
	start(&bench);
	wait_for(&bench, 0, 1, 1);
	wait_for(&bench, 2, 0, 1);
	wait_for(&bench, 3, 2, 1);
	card_dma(&bench.card, 0)[0] = PB_PACKET(PB_PACKET_FAULT, PB_PACKET_FAULT_WORDS);
	descriptor = card_descriptor(&bench.card, 0, 4, 0, 0);
	descriptor.context = bench.doomed;
	card_queue_submit(&bench.queues[1], &descriptor);
	expect(&bench, "fault", 1, 1, PB_ERROR_ENGINE_FAULT);
	for (uint32_t q = 0; q < 4; q++)
		expect(&bench, "chain", q, 1, q == 1 ? PB_ERROR_ENGINE_FAULT : PB_ERROR_DEP_FAILED);
	card_stop(&bench.card);
}

static void break_put(struct bench *bench, uint32_t q)
{
	struct pb_queue *queue = &bench->queues[q];
	struct pb_descriptor descriptor = card_nothing(&bench->card, 0);

	card_queue_submit(queue, &descriptor);
	((struct pb_queue_page *)(void *)queue->memory.bytes_host)->put = 0x80000000;
	card_run(&bench->card, 1000);
}

/** A queue whose put is broken: what it had done is done, what it had taken comes, the rest never does. */
static void faulted_signaller(void **state)
{
	struct bench bench;
	struct pb_descriptor descriptor;

	(void)state;
	start(&bench);
	signal_next(&bench, 1);
	expect(&bench, "done", 1, 1, PB_ERROR_OK);
	descriptor = card_busy(&bench.card, 0, 20000);
	card_queue_submit(&bench.queues[1], &descriptor);
	card_run(&bench.card, 1000);
	wait_for(&bench, 0, 1, 1);
	wait_for(&bench, 2, 1, 2);
	wait_for(&bench, 3, 1, 3);
	card_run(&bench.card, 1000);
	break_put(&bench, 1);
	expect(&bench, "done before", 0, 1, PB_ERROR_OK);
	expect(&bench, "taken before", 2, 0, PB_ERROR_OK);
	expect(&bench, "never", 3, 1, PB_ERROR_DEP_FAILED);
	wait_for(&bench, 3, 1, 3);
	expect(&bench, "never, later", 3, 2, PB_ERROR_DEP_FAILED);
	wait_for(&bench, 3, 1, 1);
	expect(&bench, "done before, later", 3, 3, PB_ERROR_OK);
	card_run(&bench.card, 20000);
	expect(&bench, "taken before", 2, 1, PB_ERROR_OK);
	card_stop(&bench.card);
}

/** Work that a faulted queue had taken, and that fails after that. */
static void faulted_signaller_that_fails(void **state)
{
	struct bench bench;
	struct pb_descriptor descriptor;

	(void)state;
	start(&bench);
	descriptor = card_busy(&bench.card, 0, 5000);
	card_dma(&bench.card, 0)[2] = PB_PACKET(PB_PACKET_FAULT, PB_PACKET_FAULT_WORDS);
	descriptor.dma_end += 4;
	descriptor.context = bench.doomed;
	card_queue_submit(&bench.queues[1], &descriptor);
	card_run(&bench.card, 1000);
	wait_for(&bench, 0, 1, 1);
	card_run(&bench.card, 1000);
	break_put(&bench, 1);
	expect(&bench, "not yet", 0, 0, PB_ERROR_OK);
	card_run(&bench.card, 10000);
	expect(&bench, "failed after the fault", 0, 1, PB_ERROR_DEP_FAILED);
	card_stop(&bench.card);
}

/** Paging work that waits in vain fails, and halts nothing: it was not wrong itself. */
static void paging_waits_too(void **state)
{
	struct bench bench;
	struct pb_descriptor descriptor;

	(void)state;
	start(&bench);
	descriptor = card_waiting_for(&bench.card, 0, &bench.queues[1], 1);
	descriptor.flags = PB_FLAG_PAGING;
	descriptor.context = 0;
	card_queue_submit(&bench.queues[0], &descriptor);
	expect(&bench, "waits", 0, 0, PB_ERROR_OK);
	fail_next(&bench, 1);
	expect(&bench, "fails", 0, 1, PB_ERROR_DEP_FAILED);
	signal_next(&bench, 0);
	expect(&bench, "goes on", 0, 2, PB_ERROR_OK);
	card_stop(&bench.card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wait_before_signal), cmocka_unit_test(value_that_is_reached),
		cmocka_unit_test(four_waits),         cmocka_unit_test(every_list),
		cmocka_unit_test(reserved_words),     cmocka_unit_test(handles_that_name_nothing),
		cmocka_unit_test(failed_signaller),   cmocka_unit_test(failure_is_passed_on),
		cmocka_unit_test(faulted_signaller),  cmocka_unit_test(faulted_signaller_that_fails),
		cmocka_unit_test(paging_waits_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
