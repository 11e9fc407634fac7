/* SPDX-License-Identifier: MIT */
/* Why a queue does not run: how it is named, asked after and told. */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "host/tool/why.h"
#include "tests/unit/fake_firmware.h"
#include "tests/unit/unit.h"

static void names_of_queues(void **state)
{
	static const struct {
		const char *text;
		bool right;
		uint32_t channel;
		uint32_t handle;
	} cases[] = {
		{"0x00010002", true, 0, 0x00010002},
		{"65538", true, 0, 0x00010002},
		{"0xffffffff", true, 0, 0xffffffff},
		{"1:0", true, 1, 0},
		{"31:65535", true, 31, 65535},
		{"2:0x10", true, 2, 16},
		{"0x100000000", false, 0, 0},
		{"99999999999999999999999", false, 0, 0},
		{"65535", false, 0, 0}, /* generation 0 is no handle */
		{"0", false, 0, 0},
		{"0:1", false, 0, 0}, /* the admin has no queues */
		{"32:1", false, 0, 0},
		{"1:65536", false, 0, 0},
		{"1:", false, 0, 0},
		{":1", false, 0, 0},
		{"1:2:3", false, 0, 0},
		{"1:2 ", false, 0, 0},
		{" 65538", false, 0, 0},
		{"-1", false, 0, 0},
		{"1:-1", false, 0, 0},
		{"", false, 0, 0},
		{"queue", false, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pb_why_queue queue;

		print_message("\"%s\"\n", cases[i].text);
		assert_int_equal(pb_why_parse(cases[i].text, &queue), cases[i].right);
		if (!cases[i].right)
			continue;
		assert_int_equal(queue.channel, cases[i].channel);
		assert_int_equal(queue.handle, cases[i].handle);
	}
}

static uint32_t questions;
static enum pb_error refusal;
static void count_questions(struct fake_firmware *fake, enum fake_moment moment)
{
	if (moment != FAKE_REPLY)
		return;
	questions++;
	if (refusal != PB_ERROR_OK)
		fake->reply.error = refusal;
}

/* The fake has channels 1 to 3; all queues are those of channel 2. */
static void whom_it_asks(void **state)
{
	static const struct {
		struct pb_why_queue queue;
		enum pb_error refusal;
		enum pb_error expected;
		uint32_t questions;
	} cases[] = {
		{{0, PB_HANDLE(0, 1)}, PB_ERROR_OK, PB_ERROR_OK, 2},
		{{2, PB_HANDLE(0, 1)}, PB_ERROR_OK, PB_ERROR_OK, 1},
		{{2, 0}, PB_ERROR_OK, PB_ERROR_OK, 1},
		{{3, PB_HANDLE(0, 1)}, PB_ERROR_OK, PB_ERROR_BAD_HANDLE, 1},
		{{2, 1}, PB_ERROR_OK, PB_ERROR_BAD_HANDLE, 1},
		{{0, PB_HANDLE(0, 2)}, PB_ERROR_OK, PB_ERROR_BAD_HANDLE, 3},
		{{0, PB_HANDLE(0, 1)}, PB_ERROR_NO_PERMISSION, PB_ERROR_NO_PERMISSION, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pb_why_queue queue = cases[i].queue;
		struct pb_queue_state got;
		struct fake_bench bench;

		fake_bench_start(&bench);
		bench.fake.work_limit = 1;
		assert_int_equal(fake_submit(&bench, 7), PB_ERROR_OK);
		assert_int_equal(fake_submit(&bench, 8), PB_ERROR_OK);
		questions = 0;
		refusal = cases[i].refusal;
		bench.fake.tamper = count_questions;
		assert_int_equal(pb_why_ask(&bench.channel, &queue, &got), cases[i].expected);
		assert_int_equal(questions, cases[i].questions);
		if (cases[i].expected == PB_ERROR_OK) {
			assert_int_equal(queue.channel, 2);
			assert_int_equal(got.put, 2);
		}
		fake_bench_stop(&bench);
	}
}

static const struct pb_why_queue by_handle = {3, 0x00010002};
static const struct pb_why_queue by_index = {4, 17};
static const struct pb_queue_state waiting = {
	.why = PB_WHY_WAITING,
	.waits_for_queue = 0x00050006,
	.waits_for_value = 0xfedcba9876543210,
	.put = 6,
	.admitted = 5,
	.completed = 4,
	.timeline = 9007199254740993, /* no double holds this one */
	.failed = true,
	.suspended = false,
	.node = 2,
	.priority = PB_PRIORITY_HIGH,
};
static const struct pb_queue_state running = {
	.why = PB_WHY_RUNNING, .put = 0xffffffff, .suspended = true, .priority = 9};

static void sentences(void **state)
{
	char text[PB_WHY_BYTES];

	(void)state;
	pb_why_sentence(&by_handle, &waiting, text);
	assert_string_equal(text,
			    "Queue 3:2 (node 2, priority HIGH) does not run: its next submission "
			    "waits for another queue (3:6 to reach 18364758544493064720); 6 submitted, 5 "
			    "admitted, 4 completed, timeline 9007199254740993; a submission failed.");
	pb_why_sentence(&by_index, &running, text);
	assert_string_equal(text,
			    "Queue 4:17 (node 0, priority ?) runs: a submission of it is at the engine; "
			    "4294967295 submitted, 0 admitted, 0 completed, timeline 0.");
}

static const cJSON *item(const cJSON *object, const char *name)
{
	const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, name);

	assert_non_null(found);
	return found;
}

static void as_json(void **state)
{
	char *text = pb_why_json(&by_handle, &waiting);
	cJSON *object = cJSON_Parse(text);

	(void)state;
	assert_non_null(object);
	assert_true(item(object, "channel")->valuedouble == 3);
	assert_true(item(object, "queue")->valuedouble == 0x00010002);
	assert_string_equal(item(object, "name")->valuestring, "3:2");
	assert_string_equal(item(item(object, "waits_for"), "name")->valuestring, "3:6");
	assert_string_equal(item(object, "why")->valuestring, "WAITING");
	assert_string_equal(item(object, "meaning")->valuestring,
			    "its next submission waits for another queue");
	assert_true(item(item(object, "waits_for"), "queue")->valuedouble == 0x00050006);
	assert_non_null(strstr(text, "18364758544493064720"));
	assert_true(item(object, "put")->valuedouble == 6);
	assert_true(item(object, "admitted")->valuedouble == 5);
	assert_true(item(object, "completed")->valuedouble == 4);
	assert_non_null(strstr(text, "9007199254740993"));
	assert_true(cJSON_IsTrue(item(object, "failed")));
	assert_true(cJSON_IsFalse(item(object, "suspended")));
	assert_true(item(object, "node")->valuedouble == 2);
	assert_string_equal(item(object, "priority")->valuestring, "HIGH");
	cJSON_Delete(object);
	free(text);
	text = pb_why_json(&by_index, &running);
	object = cJSON_Parse(text);
	assert_non_null(object);
	assert_true(cJSON_IsNull(item(object, "waits_for")));
	assert_true(cJSON_IsTrue(item(object, "suspended")));
	assert_true(cJSON_IsFalse(item(object, "failed")));
	cJSON_Delete(object);
	free(text);
}

UNIT_SUITE(test_why)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_queues),
		cmocka_unit_test(whom_it_asks),
		cmocka_unit_test(sentences),
		cmocka_unit_test(as_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
