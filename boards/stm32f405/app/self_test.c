/* SPDX-License-Identifier: MIT */
#include "boards/stm32f405/app/self_test.h"

#include "boards/stm32f405/app/self_test_work.h"
#include "hal/shared.h"
#include "patchbay/abi/boot.h"
#include "patchbay/abi/errors.h"

/** The client's channel; the first one behind the admin's. */
#define CHANNEL 1u
/** All of it takes a small part of this; on the card's clock, in microseconds. */
#define LONGEST_US 2000000u

static const struct pb_boot_block *boot_of(const struct pb_self_test *test)
{
	return (const struct pb_boot_block *)(const void *)(test->memory + PB_BOOT_OFFSET);
}

/** @return false, as a step that has not ended */
static bool fail(struct pb_self_test *test, uint32_t got, uint32_t wanted)
{
	test->verdict = PB_SELF_TEST_FAILED;
	test->got = got;
	test->wanted = wanted;
	return false;
}

/* ---- steps: each returns true when it has ended well ---- */

static bool boots(struct pb_self_test *test)
{
	if (pb_shared_read32(&boot_of(test)->boot_stage) != PB_BOOT_STAGE_RUNNING)
		return false;
	pb_local_admin_start(&test->admin, test->memory, test->memory_bytes);
	return true;
}

static bool grants(struct pb_self_test *test)
{
	pb_card_admin_poll(&test->admin.admin);
	if (test->admin.admin.state == PB_CARD_ADMIN_LOST)
		return fail(test, PB_CARD_ADMIN_LOST, PB_CARD_ADMIN_ATTACHED);
	if (test->admin.refused != PB_ERROR_OK)
		return fail(test, test->admin.refused, PB_ERROR_OK);
	return pb_card_admin_settled(&test->admin.admin);
}

/** Whether the channel's last attach or detach has been answered, with that state. */
static bool is_now(struct pb_self_test *test, uint32_t wanted)
{
	uint32_t state;

	if (!pb_local_host_answered(&test->host, &state))
		return false;
	return state == wanted || fail(test, state, wanted);
}

static bool attaches(struct pb_self_test *test)
{
	test->host.memory = test->memory;
	test->host.channel = CHANNEL;
	pb_local_host_attach(&test->host);
	return true;
}

static bool is_attached(struct pb_self_test *test)
{
	return is_now(test, PB_CHANNEL_OPEN);
}

static bool leaves(struct pb_self_test *test)
{
	pb_local_host_detach(&test->host);
	return true;
}

static bool has_left(struct pb_self_test *test)
{
	return is_now(test, PB_CHANNEL_CLOSED);
}

/** Asks a command, once, and waits for its reply. */
static bool asks(struct pb_self_test *test, uint32_t code, const uint32_t arguments[PB_COMMAND_ARGUMENTS])
{
	if (!test->begun)
		pb_local_host_ask(&test->host, code, arguments);
	test->begun = true;
	if (!pb_local_host_reply(&test->host, &test->reply))
		return false;
	return test->reply.error == PB_ERROR_OK || fail(test, test->reply.error, PB_ERROR_OK);
}

static bool makes_segment(struct pb_self_test *test, uint32_t id, uint64_t address, uint64_t at_engines,
			  uint32_t bytes)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {id,
							  PB_SEGMENT_LINEAR,
							  (uint32_t)address,
							  (uint32_t)(address >> 32),
							  (uint32_t)at_engines,
							  (uint32_t)(at_engines >> 32),
							  bytes,
							  0,
							  bytes};

	return asks(test, PB_COMMAND_SEGMENT_CREATE, arguments);
}

static bool makes_system(struct pb_self_test *test)
{
	const uint64_t address = PB_SELF_TEST_SYSTEM_ADDRESS;

	if (!makes_segment(test, PB_SEGMENT_SYSTEM, address, address, PB_SELF_TEST_SYSTEM_BYTES))
		return false;
	test->system = test->reply.results[0];
	return true;
}

static bool makes_video(struct pb_self_test *test)
{
	if (!makes_segment(test, PB_SELF_TEST_VIDEO, PB_SELF_TEST_VIDEO_ADDRESS,
			   PB_SELF_TEST_VIDEO_AT_ENGINES, PB_SELF_TEST_VIDEO_BYTES))
		return false;
	test->video = test->reply.results[0];
	return true;
}

static bool makes_context(struct pb_self_test *test)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {0};

	if (!asks(test, PB_COMMAND_CONTEXT_CREATE, arguments))
		return false;
	test->context = test->reply.results[0];
	return true;
}

/** @param index of the queue, and the node that it is for */
static bool makes_queue(struct pb_self_test *test, uint32_t index)
{
	const uint64_t address = PB_SELF_TEST_SYSTEM_ADDRESS + index * PB_SELF_TEST_QUEUE_BYTES;
	uint8_t *page = test->memory + test->system + index * PB_SELF_TEST_QUEUE_BYTES;
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {index, PB_SELF_TEST_RING_ENTRIES, (uint32_t)address,
							  (uint32_t)(address >> 32), PB_PRIORITY_NORMAL};

	if (!test->begun) {
		for (uint32_t i = 0; i < sizeof(struct pb_queue_page) / sizeof(uint32_t); i++)
			pb_shared_write32((uint32_t *)(void *)page + i, 0);
	}
	if (!asks(test, PB_COMMAND_QUEUE_CREATE, arguments))
		return false;
	test->queues[index] = (struct pb_local_queue){.page = (struct pb_queue_page *)(void *)page,
						      .entries = PB_SELF_TEST_RING_ENTRIES,
						      .handle = test->reply.results[0]};
	return true;
}

static bool makes_queue_3d(struct pb_self_test *test)
{
	return makes_queue(test, PB_SELF_TEST_3D);
}

static bool makes_queue_copy(struct pb_self_test *test)
{
	return makes_queue(test, PB_SELF_TEST_COPY);
}

static bool prepares(struct pb_self_test *test)
{
	pb_self_test_prepare(test);
	return true;
}

/** Whether all of a queue has completed, with that as the first error since it was made or cleared. */
static bool has_completed(struct pb_self_test *test, const struct pb_local_queue *queue, uint32_t error)
{
	const struct pb_fence_record *fence = &queue->page->fence;
	const uint32_t sequence = pb_shared_read32(&fence->sequence);
	uint32_t completed, first;

	pb_shared_acquire();
	completed = pb_shared_read32(&fence->completed);
	first = pb_shared_read32(&fence->error);
	pb_shared_acquire();
	if (sequence % 2u != 0 || pb_shared_read32(&fence->sequence) != sequence || completed != queue->put)
		return false;
	return first == error || fail(test, first, error);
}

/** Submits up to that many of all, and waits for their fences. */
static bool submits(struct pb_self_test *test, uint32_t count, uint32_t error)
{
	while (test->submitted < count)
		pb_self_test_submit(test);
	/* The copy queue goes first, so that its error is seen before what follows from it. */
	return has_completed(test, &test->queues[PB_SELF_TEST_COPY], error) &&
	       has_completed(test, &test->queues[PB_SELF_TEST_3D], PB_ERROR_OK);
}

static bool submits_first(struct pb_self_test *test)
{
	return submits(test, PB_SELF_TEST_FIRST_WAIT, PB_ERROR_OK);
}

static bool submits_bad(struct pb_self_test *test)
{
	return submits(test, PB_SELF_TEST_BAD + 1u, PB_ERROR_PATCH_INDEX);
}

/** A bad submission loses its context. */
static bool clears_context(struct pb_self_test *test)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {test->context};

	return asks(test, PB_COMMAND_CONTEXT_CLEAR, arguments);
}

static bool clears_queue(struct pb_self_test *test)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {test->queues[PB_SELF_TEST_COPY].handle};

	return asks(test, PB_COMMAND_QUEUE_CLEAR, arguments);
}

static bool submits_copy(struct pb_self_test *test)
{
	return submits(test, PB_SELF_TEST_BAD + 2u, PB_ERROR_OK);
}

static bool submits_paging(struct pb_self_test *test)
{
	return submits(test, PB_SELF_TEST_COUNT, PB_ERROR_OK);
}

static bool compares(struct pb_self_test *test)
{
	return pb_self_test_compare(test) || fail(test, test->got, test->wanted);
}

static const struct {
	const char *name;
	bool (*run)(struct pb_self_test *test);
} steps[] = {
	{"boot", boots},
	{"privileges", grants},
	{"attach", attaches},
	{"attached", is_attached},
	{"system segment", makes_system},
	{"video segment", makes_video},
	{"context", makes_context},
	{"3D queue", makes_queue_3d},
	{"copy queue", makes_queue_copy},
	{"contents", prepares},
	{"fences", submits_first},
	{"bad submission", submits_bad},
	{"lost context", clears_context},
	{"first error", clears_queue},
	{"copy", submits_copy},
	{"paging", submits_paging},
	{"memory", compares},
	{"detach", leaves},
	{"detached", has_left},
};

#define STEPS (sizeof(steps) / sizeof(steps[0]))

void pb_self_test_step(struct pb_self_test *test)
{
	const uint32_t clock = pb_shared_read32(&boot_of(test)->clock);

	if (steps[test->step].run(test)) {
		test->begun = false;
		if (++test->step == STEPS)
			test->verdict = PB_SELF_TEST_PASSED;
	} else if (test->verdict == PB_SELF_TEST_RUNS && clock >= LONGEST_US) {
		(void)fail(test, clock, LONGEST_US);
	}
}

/* ---- the verdict as text ---- */

struct text {
	char *at;
	const char *last; /* place of the 0 at its end */
};

static void put(struct text *text, const char *string)
{
	while (*string != '\0' && text->at < text->last)
		*text->at++ = *string++;
	*text->at = '\0';
}

static void put_hexadecimal(struct text *text, uint32_t value)
{
	char digits[9] = "";

	for (uint32_t i = 0; i < 8u; i++)
		digits[i] = "0123456789abcdef"[value >> (28u - 4u * i) & 15u];
	put(text, digits);
}

void pb_self_test_format(const struct pb_self_test *test, const char *board,
			 char line[PB_SELF_TEST_TEXT_BYTES])
{
	struct text text = {line, line + PB_SELF_TEST_TEXT_BYTES - 1u};
	const char count[] = {(char)('0' + test->submitted), '\0'};

	put(&text, "patchbay ");
	put(&text, board);
	put(&text, " " PB_VERSION ": self-test ");
	if (test->verdict == PB_SELF_TEST_PASSED) {
		put(&text, "passed, ");
		put(&text, count);
		put(&text, " submissions, crc ");
		put_hexadecimal(&text, test->crc);
	} else {
		put(&text, "failed at ");
		put(&text, steps[test->step].name);
		put(&text, ": 0x");
		put_hexadecimal(&text, test->got);
		put(&text, ", not 0x");
		put_hexadecimal(&text, test->wanted);
	}
	put(&text, "\r\n");
}
