/* SPDX-License-Identifier: MIT */
/*
 * Which submission a record is about, where several are open: the order of the records is the firmware's (the suite
 * test_trace shows it), and what a timeline must have of each submission is written out.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "host/tool/trace_timeline.h"
#include "patchbay/abi/channel.h"
#include "patchbay/abi/errors.h"
#include "patchbay/abi/submission.h"
#include "tests/unit/unit.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define NEVER        PB_TRACE_NEVER
#define STEPS        20u
#define PACKETS      4u

/** One record; its time is its number. SUBMIT of two: only the last one was put with this doorbell for certain. */
struct step {
	uint32_t event, object, first, second;
};

/** What a timeline has of a submission. */
struct shown {
	uint32_t fence, flags, feeds;
	enum pb_packet_kind kind;
	uint64_t submit, patch, feed, end;
};

#define CREATED(slot, node)                                                                                  \
	{                                                                                                    \
		PB_TRACE_QUEUE, slot, 1, node                                                                \
	}
#define SUBMIT(put)                                                                                          \
	{                                                                                                    \
		PB_TRACE_SUBMIT, 0, put, 0                                                                   \
	}
#define KIND(fence, flags)                                                                                   \
	{                                                                                                    \
		PB_TRACE_KIND, 0, fence, PB_FLAG_##flags                                                     \
	}
#define PATCH(fence)                                                                                         \
	{                                                                                                    \
		PB_TRACE_PATCH, 0, fence, 3                                                                  \
	}
#define PATCHED(fence)                                                                                       \
	{                                                                                                    \
		PB_TRACE_PATCHED, 0, fence, PB_ERROR_OK                                                      \
	}
#define FEED(fence)                                                                                          \
	{                                                                                                    \
		PB_TRACE_FEED, 0, fence, 0                                                                   \
	}
#define COMPLETE(fence)                                                                                      \
	{                                                                                                    \
		PB_TRACE_COMPLETE, 0, fence, PB_TRACE_DONE(0, PB_ERROR_OK)                                   \
	}
/* The engine of a node is stopped, and runs again. */
#define STOPPED(node)                                                                                        \
	{PB_TRACE_NODE, node, PB_NODE_STATE_STOPPING, 0},                                                    \
	{                                                                                                    \
		PB_TRACE_NODE, node, PB_NODE_STATE_RUNNING, 1                                                \
	}

static const struct {
	const char *name;
	struct step steps[STEPS];
	struct shown shown[PACKETS];
} cases[] = {
	{"KIND behind PATCH, of the first of two that wait",
	 {CREATED(0, 0), SUBMIT(2), PATCH(5), PATCHED(5), KIND(5, PRESENT), FEED(5), PATCH(6), PATCHED(6),
	  FEED(6), COMPLETE(5), COMPLETE(6)},
	 {{5, PB_FLAG_PRESENT, 1, PB_PACKET_PRESENT, NEVER, 2, 5, 9},
	  {6, 0, 1, PB_PACKET_RENDER, 1, 6, 8, 10}}},
	{"KIND within patching that takes more than one slice",
	 {CREATED(0, 0), PATCH(5), KIND(5, PRESENT), PATCHED(5), FEED(5), COMPLETE(5)},
	 {{5, PB_FLAG_PRESENT, 1, PB_PACKET_PRESENT, NEVER, 1, 4, 5}}},
	{"KIND before PATCH, as earlier firmware has written it",
	 {CREATED(0, 0), SUBMIT(2), KIND(5, PRESENT), PATCH(5), PATCHED(5), FEED(5), FEED(6), COMPLETE(5),
	  COMPLETE(6)},
	 {{5, PB_FLAG_PRESENT, 1, PB_PACKET_PRESENT, NEVER, 3, 5, 7},
	  {6, 0, 1, PB_PACKET_RENDER, 1, NEVER, 6, 8}}},
	{"a present is recalled from the engine, with another one behind it that has no name yet",
	 {CREATED(0, 0), SUBMIT(2), KIND(5, PRESENT), FEED(5), STOPPED(0), KIND(5, PRESENT), FEED(5), FEED(6),
	  COMPLETE(5), COMPLETE(6)},
	 {{5, PB_FLAG_PRESENT, 2, PB_PACKET_PRESENT, NEVER, NEVER, 3, 9},
	  {6, 0, 1, PB_PACKET_RENDER, 1, NEVER, 8, 10}}},
	{"a present is recalled from the engine, and no other one is known",
	 {CREATED(0, 0), KIND(5, PRESENT), FEED(5), STOPPED(0), KIND(5, PRESENT), FEED(5), COMPLETE(5)},
	 {{5, PB_FLAG_PRESENT, 2, PB_PACKET_PRESENT, NEVER, NEVER, 2, 7}}},
	{"a present is recalled before it was fed",
	 {CREATED(0, 0), SUBMIT(2), PATCH(5), KIND(5, PRESENT), PATCH(5), PATCHED(5), KIND(5, PRESENT),
	  FEED(5), FEED(6), COMPLETE(5), COMPLETE(6)},
	 {{5, PB_FLAG_PRESENT, 1, PB_PACKET_PRESENT, NEVER, 4, 7, 9},
	  {6, 0, 1, PB_PACKET_RENDER, 1, NEVER, 8, 10}}},
	{"a submission that was suspended is patched once more",
	 {CREATED(0, 0), SUBMIT(2), PATCH(5), PATCHED(5), FEED(5), STOPPED(0), PATCH(5), PATCHED(5), FEED(5),
	  FEED(6), COMPLETE(5), COMPLETE(6)},
	 {{5, 0, 2, PB_PACKET_RENDER, NEVER, 2, 4, 11}, {6, 0, 1, PB_PACKET_RENDER, 1, NEVER, 10, 12}}},
	{"a client that gives all submissions one fence id",
	 {CREATED(0, 0), KIND(0, PRESENT), FEED(0), KIND(0, PRESENT), FEED(0), FEED(0), COMPLETE(0),
	  COMPLETE(0), COMPLETE(0)},
	 {{0, PB_FLAG_PRESENT, 1, PB_PACKET_PRESENT, NEVER, NEVER, 2, 6},
	  {0, PB_FLAG_PRESENT, 1, PB_PACKET_PRESENT, NEVER, NEVER, 4, 7},
	  {0, 0, 1, PB_PACKET_RENDER, NEVER, NEVER, 5, 8}}},
	{"a stop of another node recalls nothing of this one",
	 {CREATED(0, 0), FEED(0), STOPPED(1), FEED(0), COMPLETE(0), COMPLETE(0)},
	 {{0, 0, 1, PB_PACKET_RENDER, NEVER, NEVER, 1, 5}, {0, 0, 1, PB_PACKET_RENDER, NEVER, NEVER, 4, 6}}},
	{"stops are not recorded: what is fed again was recalled",
	 {{PB_TRACE_LEVELS, PB_TRACE_NONE, 0x110111, 0x111111},
	  CREATED(0, 0),
	  KIND(5, PRESENT),
	  FEED(5),
	  KIND(5, PRESENT),
	  FEED(5),
	  COMPLETE(5)},
	 {{5, PB_FLAG_PRESENT, 2, PB_PACKET_PRESENT, NEVER, NEVER, 3, 6}}},
};

static void build(const struct step *steps, struct pb_trace_data *data, struct pb_timeline *timeline)
{
	FILE *file = tmpfile();

	assert_non_null(file);
	assert_true(pb_trace_file_begin(file, PB_TRACE_SCHEMA, 0));
	for (uint32_t i = 0; i < STEPS && steps[i].event != 0; i++) {
		const struct pb_trace_record record = {.clock = i,
						       .what = PB_TRACE_WHAT(steps[i].event, steps[i].object),
						       .arguments = {steps[i].first, steps[i].second}};

		assert_true(pb_trace_file_records(file, &record, 1));
	}
	rewind(file);
	assert_null(pb_trace_file_read(file, data));
	fclose(file);
	assert_true(pb_timeline_build(data, timeline));
}

static void each_record_is_of_its_submission(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(cases); i++) {
		struct pb_timeline timeline;
		struct pb_trace_data data;
		size_t count = 0;

		print_message("%s\n", cases[i].name);
		build(cases[i].steps, &data, &timeline);
		while (count < PACKETS && cases[i].shown[count].end != 0)
			count++;
		assert_int_equal(timeline.packet_count, count);
		for (size_t p = 0; p < count; p++) {
			const struct pb_packet *packet = &timeline.packets[p];
			const struct shown *shown = &cases[i].shown[p];

			assert_int_equal(packet->fence_id, shown->fence);
			assert_int_equal(packet->flags, shown->flags);
			assert_int_equal(packet->feeds, shown->feeds);
			assert_int_equal(packet->kind, shown->kind);
			assert_int_equal(packet->submit, shown->submit);
			assert_int_equal(packet->patch, shown->patch);
			assert_int_equal(packet->feed, shown->feed);
			assert_int_equal(packet->end, shown->end);
			assert_true(packet->patch == NEVER || packet->patch <= packet->patched);
		}
		pb_timeline_free(&timeline);
		pb_trace_data_free(&data);
	}
}

UNIT_SUITE(test_trace_open)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_record_is_of_its_submission),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
