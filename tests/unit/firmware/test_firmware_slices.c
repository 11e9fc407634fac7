/* SPDX-License-Identifier: MIT */
/*
 * Lists on every way through the patch step, while the world moves: a line is
 * raised at any look between two slices, or each word of a list turns into
 * something else as soon as it has been read. The outcome is that of a quiet
 * run, every word is read once, and no slice is long.
 */
#include <stdio.h>
#include <string.h>

#include "tests/unit/patch_oracle.h"
#include "tests/unit/stepped.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define ENTRIES      400u
#define ALLOCATIONS  120u
#define LEFT_OVER    400u /* slots that an earlier list has used */
#define BYTES        0x4000u
#define SLICE        24u /* entries that may be read between two looks */

/* ---- what the firmware reads ---- */

static struct {
	struct pb_sim *sim;
	const uint8_t *memory;
	const uint8_t *lists, *lists_end; /* both lists of the scenario */
	uint32_t looks;                   /* so far, of the firmware for raised lines */
	uint32_t raise_at;                /* raise one at this look; 0: at none; RAISE_ALWAYS */
	uint32_t reads;                   /* words of lists */
	uint32_t since;                   /* of them since the last look */
	uint32_t most;                    /* most between two looks */
	bool turns;
	uint32_t nonsense; /* what words that were read turn into */
} watch;
#define RAISE_ALWAYS 0xffffffffu

static void look(void)
{
	watch.looks++;
	watch.since = 0;
	if (watch.raise_at == watch.looks || watch.raise_at == RAISE_ALWAYS)
		pb_sim_doorbell(watch.sim, 1);
}

uint32_t pb_stepped_read32(const uint32_t *address)
{
	const uint8_t *at = (const uint8_t *)address;
	const uint32_t value = *address;

	if (watch.sim == NULL)
		return value;
	/* Everything that is shared is in card memory, but for the word that says whether a line waits. */
	if (at < watch.memory || at >= watch.memory + pb_sim_memory_bytes(watch.sim)) {
		look();
		return *address;
	}
	if (at >= watch.lists && at < watch.lists_end) {
		watch.reads++;
		watch.since++;
		if (watch.since > watch.most)
			watch.most = watch.since;
		if (watch.turns)
			*(uint32_t *)(uintptr_t)address = watch.nonsense;
	}
	return value;
}

void pb_stepped_write32(uint32_t *address, uint32_t value)
{
	*address = value;
}

uint8_t pb_stepped_read8(const uint8_t *address)
{
	return *address;
}

void pb_stepped_write8(uint8_t *address, uint8_t value)
{
	*address = value;
}

/* ---- scenarios ---- */

static const struct scenario {
	const char *name;
	uint32_t formats[4]; /* entry i has formats[i / run % 4] */
	uint32_t run;
	bool compact;
	uint32_t loose; /* of a compact list: entries that are escapes without need */
	uint32_t bad;   /* entry that names no allocation; 0: none */
	uint32_t cut;   /* words missing at a compact list's end */
	bool far;       /* an allocation crosses 4 GiB */
} scenarios[] = {
#define F(format) PB_PATCH_FORMAT_##format
#define FOUR(format)                                                                                         \
	{                                                                                                    \
		F(format), F(format), F(format), F(format)                                                   \
	}
	{"fast", FOUR(ADDRESS32), 1, false, 0, 0, 0, false},
	{"fast, wide", FOUR(ADDRESS64), 1, false, 0, 0, 0, false},
	{"fast, ends badly", FOUR(SUM32), 1, false, 0, ENTRIES - 1, 0, false},
	{"fast, ends badly between", FOUR(ADDRESS32), 1, false, 0, 149, 0, false},
	{"two in turn", {F(ADDRESS32), F(ADDRESS64), F(ADDRESS32), F(ADDRESS64)}, 1, false, 0, 0, 0, false},
	{"four in turn", {F(SUM32), F(HIGH32), F(SHIFT8), F(SUM64_SIGNED)}, 1, false, 0, 0, 0, false},
	{"four in turn, bad", {F(SUM32), F(HIGH32), F(SHIFT8), F(SUM64_SIGNED)}, 1, false, 0, 98, 0, false},
	{"runs", {F(ADDRESS32), F(ADDRESS64), F(SUM32), F(HIGH32)}, 30, false, 0, 0, 0, false},
	{"pairs", {F(ADDRESS32), F(ADDRESS64), F(SUM32), F(HIGH32)}, 2, false, 0, 0, 0, false},
	{"plain", FOUR(SHIFT1), 1, false, 0, 0, 0, false},
	{"plain, bad", FOUR(SHIFT1), 1, false, 0, 77, 0, false},
	{"rich", FOUR(SPLIT40), 1, false, 0, 0, 0, false},
	{"rich, bad", FOUR(ID32), 1, false, 0, 200, 0, false},
	{"exact", FOUR(UNALIGNED32), 1, false, 0, 0, 0, false},
	{"fence", FOUR(FENCE_ID), 1, false, 0, 0, 0, false},
	{"general in turn", {F(SHIFT1), F(LOW24), F(ID32), F(TILING)}, 1, false, 0, 0, 0, false},
	{"runs of general", {F(SHIFT1), F(LOW24), F(FIELD28), F(NOUVEAU_OR)}, 11, false, 0, 0, 0, false},
	{"all in turn", {F(ADDRESS32), F(LOW24), F(UNALIGNED32), F(SUM32)}, 1, false, 0, 0, 0, false},
	{"all in runs", {F(ADDRESS32), F(LOW24), F(UNALIGNED32), F(SUM32)}, 13, false, 0, 399, 0, false},
	{"far", FOUR(ADDRESS64), 1, false, 0, 0, 0, true},
	{"far, in turn", {F(ADDRESS64), F(SUM32), F(ADDRESS64), F(SHIFT1)}, 3, false, 0, 0, 0, true},
	{"compact", FOUR(ADDRESS32), 1, true, 0, 0, 0, false},
	{"compact, bad", FOUR(ADDRESS32), 1, true, 0, 333, 0, false},
	{"compact, cut off", FOUR(ADDRESS32), 1, true, 0, 0, 1, false},
	{"compact escapes", FOUR(ADDRESS64), 1, true, 0xffffffff, 0, 0, false},
	{"compact escapes, one word short", FOUR(ADDRESS64), 1, true, 0xffffffff, 0, 1, false},
	{"compact escapes, two words short", FOUR(ADDRESS64), 1, true, 0xffffffff, 0, 2, false},
	{"compact, some escapes", FOUR(SUM64_SIGNED), 1, true, 0x00010020, 0, 0, false},
	{"compact in turn", {F(ADDRESS32), F(ADDRESS64), F(SUM32), F(LOW24)}, 1, true, 0, 0, 0, false},
	{"compact runs", {F(ADDRESS32), F(ID32), F(UNALIGNED32), F(HIGH32)}, 29, true, 0, 0, 0, false},
	{"compact general", FOUR(LOW24), 1, true, 0, 350, 0, false},
};

static struct pb_allocation allocations[LEFT_OVER];
static struct pb_patch_location patches[ENTRIES];
static uint32_t words[ENTRIES * PB_COMPACT_ESCAPE_WORDS];

/** Several segments, so that resolving changes its window, and unbound ones; those that a bounded format needs are low. */
static void make_allocations(bool far)
{
	for (uint32_t i = 0; i < LEFT_OVER; i++) {
		allocations[i] = oracle_allocation(0x10000u * i, 0x1000, CARD_SEGMENT(3));
		if (i / 20u % 2u != 0)
			allocations[i] = oracle_allocation(ORACLE_LOW_OS + 0x1000u * (i % 32u), 0x1000,
							   CARD_SEGMENT(8));
		if (i % 11u == 5u)
			allocations[i] = oracle_allocation(0, 0, PB_ALLOCATION_UNBIND);
		allocations[i].id = 0x1d0000u + i;
	}
	if (far)
		allocations[0] = oracle_allocation(UINT64_C(0xfffff800), 0x1000, CARD_SEGMENT(3));
}

static struct oracle_list make_list(const struct scenario *scenario)
{
	struct oracle_list list = {
		.allocations = allocations,
		.patches = patches,
		.words = words,
		.encoding = scenario->compact ? PB_PATCH_ENCODING_COMPACT : PB_PATCH_ENCODING_WDDM,
		.allocation_count = ALLOCATIONS,
		.patch_count = ENTRIES,
		.dma_end = BYTES,
		.buffer_bytes = BYTES,
		.fence_id = 0x7e000000,
	};

	make_allocations(scenario->far);
	for (uint32_t i = 0; i < ENTRIES; i++)
		patches[i] = (struct pb_patch_location){
			.allocation_index = i % ALLOCATIONS,
			.driver_id = scenario->formats[i / scenario->run % 4u],
			.allocation_offset = i * 4u,
			.patch_offset = 16u * i,
			.split_offset = i,
		};
	if (scenario->bad != 0)
		patches[scenario->bad].allocation_index = ALLOCATIONS + scenario->bad % 100u;
	if (scenario->compact)
		list.patch_count = oracle_compact(patches, ENTRIES, scenario->loose, words) - scenario->cut;
	list.patch_length = list.patch_count;
	return list;
}

/** Words that a list is made of up to its end or its bad entry, those that are the host's own aside. */
static uint32_t list_words(const struct oracle_list *list)
{
	const struct oracle_result result = oracle_run(list, list->fence_id, (uint8_t[BYTES]){0});

	if (list->encoding == PB_PATCH_ENCODING_WDDM)
		return (result.error == PB_ERROR_OK ? ENTRIES : result.index + 1u) * 5u;
	/* Of an entry that is cut off, two words are read if they are there. */
	return result.next - (result.error == PB_ERROR_PATCH_ENCODING && result.next - result.index == 1u);
}

static uint32_t passes(void)
{
	const struct pb_boot_block *boot = (const void *)(watch.memory + PB_BOOT_OFFSET);

	return boot->heartbeat;
}

/** Leaves slots behind that the next list has to clear. */
static void use_slots(struct card *card)
{
	const struct pb_patch_location patch = {.patch_offset = 0};
	const struct oracle_list list = {
		.allocations = allocations,
		.patches = &patch,
		.allocation_count = LEFT_OVER,
		.patch_count = 1,
		.patch_length = 1,
		.dma_end = 64,
	};

	watch.sim = NULL;
	make_allocations(false);
	card_equal("slots", oracle_submit(card, &list).status, PB_ERROR_OK);
}

static void start_watch(const struct card *card)
{
	watch.sim = card->sim;
	watch.memory = pb_sim_memory(card->sim);
	watch.lists = card_bytes(card, 0, CARD_ALLOCATIONS);
	watch.lists_end = card_bytes(card, 0, CARD_PATCHES) + sizeof(patches);
	watch.looks = watch.reads = watch.since = watch.most = 0;
}

/** Checks one run of a scenario. @return how many passes of the firmware it took */
static uint32_t run(struct card *card, const struct scenario *scenario, const char *row)
{
	struct oracle_list list;
	uint32_t before, expected;

	use_slots(card);
	list = make_list(scenario);
	expected = list_words(&list) + ALLOCATIONS * 6u;
	start_watch(card);
	before = passes();
	oracle_check(card, row, &list, 77);
	watch.sim = NULL;
	card_equal(row, watch.reads, expected);
	if (watch.most > SLICE * 6u)
		fail_msg("%s: %u words between two looks", row, watch.most);
	return passes() - before;
}

static void lines_raised_at_any_look(void **state)
{
	struct card card;
	char row[80];

	(void)state;
	oracle_start(&card);
	for (uint32_t s = 0; s < COUNT(scenarios); s++) {
		uint32_t quiet, looks, always;

		watch.raise_at = 0;
		quiet = run(&card, &scenarios[s], scenarios[s].name);
		looks = watch.looks;
		watch.raise_at = RAISE_ALWAYS;
		snprintf(row, sizeof(row), "%s, lines all the time", scenarios[s].name);
		always = run(&card, &scenarios[s], row);
		/* A pass ends with such a look; at most one more is made on the way out. */
		if (always < quiet + looks / 3u)
			fail_msg("%s: %u passes, %u when quiet, %u looks", row, always, quiet, looks);
		for (uint32_t at = 1; at <= looks; at += 1u + at / 6u) {
			snprintf(row, sizeof(row), "%s, line at look %u", scenarios[s].name, at);
			watch.raise_at = at;
			run(&card, &scenarios[s], row);
		}
	}
	card_stop(&card);
}

/** The lists are compared as they were, so that the oracle's check does not apply: the buffer tells. */
static void words_that_turn(void **state)
{
	static const uint32_t values[] = {0xfffffffd, 0, 0x00000401};
	static uint8_t quiet[BYTES];
	struct card card;

	(void)state;
	oracle_start(&card);
	for (uint32_t i = 0; i < COUNT(scenarios) * COUNT(values); i++) {
		const struct scenario *scenario = &scenarios[i / COUNT(values)];
		uint8_t *buffer = oracle_pages(&card) + CARD_DMA_STRIDE;
		const struct oracle_list list = make_list(scenario);
		struct oracle_result expected;
		struct pb_fence before, fence;

		memset(quiet, 0x5a, BYTES);
		memset(buffer, 0x5a, BYTES);
		expected = oracle_run(&list, list.fence_id, quiet);
		before = card_wait(&card, 0, card.queues[0].put);
		watch.raise_at = i % 2u == 0 ? 0 : RAISE_ALWAYS;
		watch.turns = true;
		watch.nonsense = values[i % COUNT(values)];
		start_watch(&card);
		fence = oracle_submit(&card, &list);
		watch.sim = NULL;
		watch.turns = false;
		card_equal(scenario->name, watch.reads, list_words(&list) + ALLOCATIONS * 6u);
		card_equal(scenario->name, fence.status, expected.error);
		if (expected.error != PB_ERROR_OK)
			card_equal(scenario->name, fence.error_index, expected.index);
		card_equal(scenario->name, fence.patches - before.patches, expected.done);
		card_equal(scenario->name, memcmp(buffer, quiet, BYTES), 0);
		assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
		assert_int_equal(pb_queue_clear(&card.queues[0]), PB_ERROR_OK);
		while (pb_channel_event(&card.channel, &(struct pb_event){0}))
			;
	}
	card_stop(&card);
}

/** Comparing with what is known goes on where it was: neither is a change missed, nor one seen that is none. */
static void lines_while_comparing(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;
	uint32_t looks = 1;

	(void)state;
	oracle_start(&card);
	for (uint32_t at = 1; at <= looks; at++) {
		struct oracle_list list = make_list(&scenarios[0]);
		uint64_t done;

		oracle_submit(&card, &list); /* writes the lists */
		descriptor = card_descriptor(&card, 1, BYTES, ALLOCATIONS, ENTRIES);
		descriptor.flags = PB_FLAG_NULL_RENDERING;
		descriptor.cookie = at;
		done = card_execute(&card, 0, &descriptor).patches;
		start_watch(&card);
		watch.raise_at = at;
		card_equal("unchanged", card_execute(&card, 0, &descriptor).patches - done, 0);
		looks = watch.looks;
		watch.sim = NULL;
		allocations[ALLOCATIONS - 1u].id ^= 1u;
		memcpy(card_bytes(&card, 0, CARD_ALLOCATIONS), allocations,
		       ALLOCATIONS * sizeof(*allocations));
		start_watch(&card);
		card_equal("changed", card_execute(&card, 0, &descriptor).patches - done, ENTRIES);
		watch.sim = NULL;
	}
	assert_true(looks > ALLOCATIONS / SLICE);
	card_stop(&card);
}

/** A line that is raised all the time ends each pass with the first slice: the nodes have theirs in turn. */
static void nodes_take_turns(void **state)
{
	struct card card;
	struct pb_descriptor descriptor;
	struct oracle_list list;
	struct pb_fence fence;

	(void)state;
	oracle_start(&card);
	watch.raise_at = 0;
	list = make_list(&scenarios[0]);
	oracle_submit(&card, &list); /* writes the lists */
	descriptor = card_descriptor(&card, 1, BYTES, ALLOCATIONS, ENTRIES);
	descriptor.flags = PB_FLAG_NULL_RENDERING;
	start_watch(&card);
	watch.raise_at = RAISE_ALWAYS;
	for (uint32_t i = 0; i < 3u; i++)
		card_submit(&card, 0, &descriptor);
	card_submit(&card, 1, &descriptor);
	card_equal("node 1", card_wait(&card, 1, 1).status, PB_ERROR_OK);
	assert_int_equal(pb_queue_fence(&card.queues[0], &fence), PB_ERROR_OK);
	assert_true(fence.completed < 1u + 3u);
	card_equal("node 0", card_wait(&card, 0, 4).status, PB_ERROR_OK);
	watch.sim = NULL;
	card_stop(&card);
}

UNIT_SUITE(test_firmware_slices)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_raised_at_any_look),
		cmocka_unit_test(words_that_turn),
		cmocka_unit_test(lines_while_comparing),
		cmocka_unit_test(nodes_take_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
