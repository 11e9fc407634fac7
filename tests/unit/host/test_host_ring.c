/* SPDX-License-Identifier: MIT */
/* The ring of a host's events: empty, full, overwritten, at the end of its counters, and beside other threads. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "patchbay/host_trace.h"
#include "patchbay/link.h"
#include "tests/unit/unit.h"

#define ROOM    8u
#define THREADS 4u
#define EACH    20000u

static struct pb_host_event events[64];
static struct pb_host_trace trace;

static void add(uint32_t from, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		pb_host_trace_add(&trace, &(const struct pb_host_event){.time_us = 1000u + from + i,
									.kind = PB_HOST_SUBMITTED,
									.index = from + i});
}

/** Reads up to `max` events: exactly `count`, whose indices count from one on. */
static void expect(uint32_t max, uint32_t from, uint32_t count)
{
	struct pb_host_event got[64];

	assert_int_equal(pb_host_trace_read(&trace, got, max), count);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(got[i].index, from + i);
		assert_int_equal(got[i].time_us, 1000u + from + i);
	}
}

static void a_ring_keeps_the_newest(void **state)
{
	static const struct {
		const char *name;
		uint32_t before;             /* events that were noted and read first */
		uint32_t added;              /* then */
		uint32_t first, count, lost; /* what is read */
	} cases[] = {
		{"nothing", 0, 0, 0, 0, 0},       {"one", 0, 1, 0, 1, 0},
		{"all but one", 0, 7, 0, 7, 0},   {"full", 0, 8, 0, 8, 0},
		{"one too many", 0, 9, 1, 8, 1},  {"twice", 0, 16, 8, 8, 8},
		{"round the end", 5, 8, 0, 8, 0}, {"over the end", 5, 12, 4, 8, 4},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("%s\n", cases[i].name);
		assert_int_equal(pb_host_trace_begin(&trace, events, ROOM, NULL), PB_ERROR_OK);
		add(0, cases[i].before);
		expect(64, 0, cases[i].before);
		add(0, cases[i].added);
		expect(64, cases[i].first, cases[i].count);
		assert_int_equal(trace.lost, cases[i].lost);
		expect(64, 0, 0);
	}
}

static void a_reader_takes_some(void **state)
{
	(void)state;
	assert_int_equal(pb_host_trace_begin(&trace, events, ROOM, NULL), PB_ERROR_OK);
	add(0, 6);
	expect(0, 0, 0);
	expect(4, 0, 4);
	add(6, 6);
	expect(1, 4, 1);
	expect(64, 5, 7);
	assert_int_equal(trace.lost, 0);
}

static void the_counters_go_round(void **state)
{
	(void)state;
	assert_int_equal(pb_host_trace_begin(&trace, events, ROOM, NULL), PB_ERROR_OK);
	trace.put = trace.get = UINT32_MAX - 2u;
	add(0, 11);
	expect(64, 3, 8);
	assert_int_equal(trace.lost, 3);
}

static uint64_t clock_us;

static uint64_t now(struct pb_link *link)
{
	(void)link;
	return clock_us;
}

static void a_frame_has_a_number_and_the_time_of_the_link(void **state)
{
	static const struct pb_link_ops ops = {.now = now};
	struct pb_link link = {.ops = &ops}, other = {.ops = &ops, .trace = &trace};
	struct pb_host_event got[4];

	(void)state;
	assert_int_equal(pb_host_trace_begin(&trace, events, 4, NULL), PB_ERROR_OK);
	pb_host_trace_frame(&link); /* without a ring */
	link.trace = &trace;
	for (clock_us = 50; clock_us < 56; clock_us++)
		pb_host_trace_frame(clock_us == 54 ? &other : &link);
	/* The ring has lost two of six, and their numbers stay. */
	assert_int_equal(pb_host_trace_read(&trace, got, 4), 4);
	assert_int_equal(trace.lost, 2);
	for (uint32_t i = 0; i < 4; i++)
		assert_memory_equal(&got[i],
				    &((const struct pb_host_event){
					    .time_us = 52 + i, .kind = PB_HOST_FRAME, .index = 3 + i}),
				    sizeof(got[i]));
	trace.frames = UINT32_MAX;
	pb_host_trace_frame(&link);
	assert_int_equal(pb_host_trace_read(&trace, got, 4), 1);
	assert_int_equal(got[0].index, 0);
}

static void a_room_is_a_power_of_two(void **state)
{
	static const uint32_t wrong[] = {0, 3, 7, 12, UINT32_MAX};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(pb_host_trace_begin(&trace, events, wrong[i], NULL), PB_ERROR_BAD_ARGUMENT);
	assert_int_equal(pb_host_trace_begin(&trace, events, 1, NULL), PB_ERROR_OK);
	add(0, 3);
	expect(64, 2, 1);
}

/** A lock of the system. */
struct lock {
	struct pb_lock lock;
	pthread_mutex_t mutex;
};

static void acquire(struct pb_lock *lock)
{
	(void)pthread_mutex_lock(&((struct lock *)(void *)lock)->mutex);
}

static void release(struct pb_lock *lock)
{
	(void)pthread_mutex_unlock(&((struct lock *)(void *)lock)->mutex);
}

static void *note(void *argument)
{
	const uint32_t queue = (uint32_t)(uintptr_t)argument;

	for (uint32_t i = 0; i < EACH; i++)
		pb_host_trace_add(&trace,
				  &(const struct pb_host_event){
					  .time_us = i, .kind = PB_HOST_SEEN, .queue = queue, .index = i});
	return NULL;
}

/** Reads what is there. @param next of each thread: its lowest index that may come @return how many */
static uint32_t read_all(uint32_t next[THREADS])
{
	struct pb_host_event got[16];
	uint32_t count = 0, some;

	while ((some = pb_host_trace_read(&trace, got, 16)) != 0) {
		for (uint32_t i = 0; i < some; i++) {
			assert_in_range(got[i].queue, 0, THREADS - 1u);
			assert_int_equal(got[i].time_us, got[i].index); /* of one event */
			assert_true(got[i].index >= next[got[i].queue]);
			next[got[i].queue] = got[i].index + 1u;
		}
		count += some;
	}
	return count;
}

static void threads_share_a_ring(void **state)
{
	static struct lock lock = {{acquire, release}, PTHREAD_MUTEX_INITIALIZER};
	uint32_t next[THREADS] = {0};
	pthread_t threads[THREADS];
	uint64_t count = 0;

	(void)state;
	assert_int_equal(pb_host_trace_begin(&trace, events, 64, &lock.lock), PB_ERROR_OK);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, note, (void *)i), 0);
	for (uint32_t i = 0; i < 1000; i++)
		count += read_all(next);
	for (uint32_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	count += read_all(next);
	assert_int_equal(count + trace.lost, THREADS * EACH);
}

UNIT_SUITE(test_host_ring)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_keeps_the_newest),
		cmocka_unit_test(a_reader_takes_some),
		cmocka_unit_test(the_counters_go_round),
		cmocka_unit_test(a_frame_has_a_number_and_the_time_of_the_link),
		cmocka_unit_test(a_room_is_a_power_of_two),
		cmocka_unit_test(threads_share_a_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
