/* SPDX-License-Identifier: MIT */
/*
 * A firmware that changes each word that it may write as soon as the host has
 * read it, up to the end of the operation: one call of the library, or the
 * time between two of its looks at the link. All goes as with a firmware that
 * does not; so no word is read twice, but for those listed here.
 */
#include <string.h>

#include "tests/unit/fake_firmware.h"
#include "tests/unit/stepped.h"
#include "tests/unit/unit.h"

#define WORDS       (FAKE_BYTES / 4u)
#define TURN        0x5a5a5a5au
#define ENTRY       (FAKE_DIRECTORY_OFFSET + FAKE_CHANNEL * (uint32_t)sizeof(struct pb_channel_entry))
#define BOOT(f)     (PB_BOOT_OFFSET + (uint32_t)offsetof(struct pb_boot_block, f))
#define OF_ENTRY(f) (ENTRY + (uint32_t)offsetof(struct pb_channel_entry, f))
#define OF_PAGE(f)  (FAKE_POOL_OFFSET + (uint32_t)offsetof(struct pb_queue_page, f))

/**
 * Words that are read more than once in an operation, and why nothing can come of that. They do not turn in the test
 * that must succeed; in the other one they do.
 */
static const struct {
	uint32_t offset;
	const char *why;
} exceptions[] = {
	{OF_PAGE(fence.sequence), "the lock of a record: read before and after is what it is for"},
	{OF_PAGE(preempt.sequence), "the same"},
	{OF_ENTRY(patches_high),
	 "high word of a counter of two: the low one counts if it stands still without its carry bit"},
	{OF_ENTRY(reply_put), "one operation for each reply that is taken"},
	{OF_ENTRY(epoch), "whether the channel is its own: asked before, and behind what was read of it"},
	{BOOT(mcu_state),
	 "whether the firmware lives: each part of a call asks anew, and takes a yes or a no"},
	{BOOT(boot_stage), "the same"},
	{BOOT(incarnation), "the same"},
};
#define EXCEPTIONS (sizeof(exceptions) / sizeof(exceptions[0]))

static struct fake_bench bench;
static const struct pb_link_ops *real;
static bool watching;
static bool exceptions_turn;
static uint32_t breaches, first_breach, seen_exceptions;
static bool been_read[WORDS];
static uint32_t before[WORDS];
static uint32_t turned_to[WORDS];
static uint32_t turned[WORDS];
static uint32_t turn_count;
static uint32_t reads;

static uint32_t exception_of(uint32_t offset)
{
	uint32_t i = 0;

	while (i < EXCEPTIONS && exceptions[i].offset != offset)
		i++;
	return i;
}

/** A new operation: every word is unchanged, unless an agent has stored there. */
static void new_operation(void)
{
	uint32_t *words = (uint32_t *)(void *)bench.fake.link.memory;

	for (; turn_count != 0; turn_count--) {
		const uint32_t word = turned[turn_count - 1u];

		if (words[word] == turned_to[word])
			words[word] = before[word];
		been_read[word] = false;
	}
}

uint32_t pb_stepped_read32(const uint32_t *address)
{
	const uint32_t value = *address;
	const uint32_t offset = (uint32_t)((const uint8_t *)address - bench.fake.link.memory);
	uint32_t exception;

	if (!watching || (const uint8_t *)address < bench.fake.link.memory || offset >= FAKE_BYTES)
		return value;
	reads++;
	exception = exception_of(offset);
	if (been_read[offset / 4u] && exception == EXCEPTIONS) {
		first_breach = breaches == 0 ? offset : first_breach;
		breaches++;
	}
	if (been_read[offset / 4u]) {
		seen_exceptions |= exception < EXCEPTIONS ? 1u << exception : 0;
		return value;
	}
	turned[turn_count++] = offset / 4u;
	been_read[offset / 4u] = true;
	turned_to[offset / 4u] = exception == EXCEPTIONS || exceptions_turn ? value ^ TURN : value;
	*(uint32_t *)(uintptr_t)address = turned_to[offset / 4u];
	before[offset / 4u] = value;
	return value;
}

void pb_stepped_write32(uint32_t *address, uint32_t value)
{
	*address = value;
}

/* ---- the link: what goes on behind it is another operation ---- */

static void doorbell(struct pb_link *link)
{
	new_operation();
	real->doorbell(link);
}

static enum pb_error wait_for_card(struct pb_link *link, uint64_t timeout_us)
{
	new_operation();
	return real->wait(link, timeout_us);
}

static uint64_t now(struct pb_link *link)
{
	return real->now(link);
}

static void close_link(struct pb_link *link)
{
	real->close(link);
}

static const struct pb_link_ops ops = {
	.doorbell = doorbell, .wait = wait_for_card, .now = now, .close = close_link};

static void watch(bool all_turn)
{
	fake_start(&bench.fake);
	real = bench.fake.link.ops;
	bench.fake.link.ops = &ops;
	watching = true;
	exceptions_turn = all_turn;
}

static void unwatch(void)
{
	new_operation();
	watching = false;
	bench.fake.link.ops = real;
	fake_stop(&bench.fake);
}

/** Each call is an operation. */
static enum pb_error step(enum pb_error error)
{
	new_operation();
	return error;
}

/* ---- what hosts do ---- */

static enum pb_error ask(void)
{
	struct pb_queue_resync resync;
	struct pb_node_status node;
	struct pb_channel_status channel;
	struct pb_card_info info;
	struct pb_event event;
	enum pb_error error = step(pb_queue_resync(&bench.queue, &resync));

	if (error == PB_ERROR_OK)
		error = step(pb_node_query(&bench.channel, 0, &node));
	if (error == PB_ERROR_OK)
		error = step(pb_channel_query(&bench.channel, &channel));
	fake_event(&bench.fake, PB_EVENT_CONTEXT_LOST, bench.channel.epoch);
	if (error == PB_ERROR_OK && !pb_channel_event(&bench.channel, &event))
		error = PB_ERROR_PROTOCOL;
	new_operation();
	(void)pb_channel_dropped(&bench.channel);
	return error == PB_ERROR_OK ? step(pb_channel_check(&bench.channel, &info)) : error;
}

static enum pb_error work(void)
{
	struct pb_preempt preempt;
	struct pb_fence fence = {0};
	enum pb_error error = PB_ERROR_OK;

	for (uint32_t i = 0; i < 6 && error == PB_ERROR_OK; i++)
		error = step(fake_submit(&bench, 100 + i));
	if (error == PB_ERROR_OK)
		error = step(pb_queue_wait(&bench.queue, 6, 1000000, &fence));
	if (error == PB_ERROR_OK && (fence.fence_id != 105 || fence.completed != 6 || fence.timeline != 6))
		error = PB_ERROR_PROTOCOL;
	bench.fake.work_limit = 1;
	for (uint32_t i = 0; i < 3 && error == PB_ERROR_OK; i++)
		error = step(fake_submit(&bench, 200 + i));
	if (error == PB_ERROR_OK)
		error = step(pb_queue_preempt(&bench.queue, 9, 0, &preempt));
	if (error == PB_ERROR_OK && preempt.completed != 9)
		error = PB_ERROR_PROTOCOL;
	if (error == PB_ERROR_OK)
		error = step(pb_queue_preempted(&bench.queue, &preempt));
	bench.fake.work_limit = UINT32_MAX;
	if (error == PB_ERROR_OK)
		error = step(pb_queue_suspend(&bench.queue, 0));
	if (error == PB_ERROR_OK)
		error = step(pb_queue_resume(&bench.queue));
	return error == PB_ERROR_OK ? step(pb_queue_reset(&bench.queue, &preempt)) : error;
}

/** Everything that a host does, once; stops at the first error. */
static enum pb_error life(void)
{
	const struct pb_segment_request request = {
		.os_base = FAKE_OS_BASE, .size = 0x10000, .backing_bytes = 0x10000};
	struct pb_card_info info;
	uint32_t context;
	enum pb_error error = step(pb_card_read(&bench.fake.link, &info));

	if (error == PB_ERROR_OK)
		error = step(pb_channel_attach(&bench.channel, &bench.fake.link, 50000));
	if (error == PB_ERROR_OK)
		error = step(pb_segment_create(&bench.system, &bench.channel, &request));
	if (error == PB_ERROR_OK)
		error = step(pb_context_create(&bench.channel, &context));
	if (error == PB_ERROR_OK)
		error = step(pb_queue_create(&bench.queue, &bench.channel, &bench.system, 0, 16));
	if (error == PB_ERROR_OK)
		error = work();
	if (error == PB_ERROR_OK)
		error = ask();
	if (error == PB_ERROR_OK)
		error = step(pb_queue_destroy(&bench.queue));
	return error == PB_ERROR_OK ? step(pb_channel_detach(&bench.channel)) : error;
}

/** With the exceptions left alone everything succeeds, with the results of a firmware that changes nothing. */
static void no_word_is_read_twice(void **state)
{
	enum pb_error error;

	(void)state;
	watch(false);
	error = life();
	unwatch();
	if (breaches != 0)
		fail_msg("%u second reads, the first at 0x%x", breaches, first_breach);
	assert_int_equal(error, PB_ERROR_OK);
	assert_true(reads > 300);
	print_message("%u words read\n", reads);
}

/** No exception without need. */
static void every_exception_is_needed(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < EXCEPTIONS; i++) {
		if ((seen_exceptions >> i & 1u) == 0)
			fail_msg("read once: 0x%x, %s", exceptions[i].offset, exceptions[i].why);
	}
}

/** If those change too, it is an error in bounded time, and no success that did not happen. */
static void changing_exceptions_are_errors(void **state)
{
	(void)state;
	watch(true);
	reads = 0;
	assert_int_not_equal(life(), PB_ERROR_OK);
	assert_true(reads < 2000000);
	unwatch();
}

/** A second read would be seen. */
static void second_read_is_seen(void **state)
{
	const uint32_t *word;

	(void)state;
	watch(false);
	breaches = 0;
	word = fake_word(&bench.fake, FAKE_REPLY_OFFSET);
	(void)pb_stepped_read32(word);
	assert_int_equal(breaches, 0);
	(void)pb_stepped_read32(word);
	assert_int_equal(breaches, 1);
	assert_int_equal(first_breach, FAKE_REPLY_OFFSET);
	unwatch();
}

UNIT_SUITE(test_host_once)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_word_is_read_twice),
		cmocka_unit_test(every_exception_is_needed),
		cmocka_unit_test(changing_exceptions_are_errors),
		cmocka_unit_test(second_read_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
