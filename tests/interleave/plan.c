/* SPDX-License-Identifier: MIT */
/* Early stores: which ones, and whether the program then made them. */
#include <string.h>

#include "tests/interleave/weave.h"

/** Accesses by which a store may be early. */
#define AHEAD_MAX 64u
/** Accesses of other agents between an early store and the read. */
#define BETWEEN_MAX 400u
/** Distance of a pause from a gap, and accesses of other agents during it. */
#define PAUSE_BEFORE 12u
#define PAUSE_BEHIND 5u
#define PAUSE_AHEAD  250u
#define PAUSE_MAX    900u

/** The accesses of an agent since its last barrier. */
struct past {
	uint32_t accesses; /**< in this schedule */
	uint32_t count;
	uint32_t
		gap; /**< value of `accesses` at the last barrier that is left out; 0: none since the last barrier */
	uint32_t words[AHEAD_MAX]; /**< of the last `count` accesses */
	bool reads[AHEAD_MAX];
};

static struct past pasts[PB_WEAVE_AGENTS];
static struct pb_weave_plan *plan;
static bool making, gaps_only, stored, is_void;
static struct pb_random chance;
static uint32_t candidates;

void pb_weave_plan_reset(struct pb_weave_plan *of, const struct pb_weave_ground *ground, uint64_t seed)
{
	memset(pasts, 0, sizeof(pasts));
	plan = of;
	making = of != NULL && !of->made;
	gaps_only = ground->without != NULL;
	stored = false;
	is_void = false;
	chance.state = ~seed;
	candidates = 0;
}

bool pb_weave_plan_void(void)
{
	return is_void || stored;
}

static void remember(struct past *past, uint32_t word, bool reads)
{
	const uint32_t at = past->accesses++ % AHEAD_MAX;

	past->words[at] = word;
	past->reads[at] = reads;
	if (past->count < AHEAD_MAX)
		past->count++;
}

/** A read that this store may precede, back to the last access to the word. */
static void consider(const struct past *past, uint32_t word, uint32_t value, uint32_t mask)
{
	for (uint32_t back = 1; back <= past->count; back++) {
		const uint32_t read = past->accesses - back;

		if (past->words[read % AHEAD_MAX] == word)
			return;
		if (!past->reads[read % AHEAD_MAX] || (gaps_only && (past->gap == 0 || read >= past->gap)))
			continue;
		if (pb_random_below(&chance, ++candidates) != 0)
			continue;
		plan->agent = pb_weave_self();
		plan->read = read;
		plan->store = past->accesses;
		plan->word = word;
		plan->value = value;
		plan->mask = mask;
	}
}

static bool is_planned(const struct past *past)
{
	return plan != NULL && !making && !plan->pauses && plan->agent == pb_weave_self() && !is_void &&
	       past->accesses <= plan->store;
}

/** Lets other agents run for some time, shortly before or after a gap. */
static void pause_if_planned(const struct past *past)
{
	if (!making && plan->pauses && plan->agent == pb_weave_self() && past->accesses == plan->read)
		pb_weave_yield(1u + pb_random_below(pb_weave_random(), PAUSE_MAX));
}

void pb_weave_plan_read(uint32_t word)
{
	struct past *past = &pasts[pb_weave_self()];

	if (plan == NULL)
		return;
	pause_if_planned(past);
	if (is_planned(past) && past->accesses == plan->read) {
		stored = pb_weave_store_early(plan->word, plan->value, plan->mask);
		if (stored)
			pb_weave_yield(1u + pb_random_below(pb_weave_random(), BETWEEN_MAX));
	} else if (is_planned(past) && stored && (word == plan->word || past->accesses == plan->store)) {
		is_void = true;
	}
	remember(past, word, true);
}

bool pb_weave_plan_store(uint32_t word, uint32_t value, uint32_t mask)
{
	struct past *past = &pasts[pb_weave_self()];
	bool early = false;

	if (plan == NULL)
		return false;
	pause_if_planned(past);
	if (making) {
		consider(past, word, value, mask);
	} else if (is_planned(past) && stored) {
		early = past->accesses == plan->store && word == plan->word && value == plan->value &&
			mask == plan->mask;
		is_void = !early && (word == plan->word || past->accesses == plan->store);
		if (early)
			stored = false;
	}
	remember(past, word, false);
	return early;
}

void pb_weave_plan_barrier(void)
{
	struct past *past = &pasts[pb_weave_self()];

	past->count = 0;
	past->gap = 0;
	if (plan != NULL && stored && is_planned(past))
		is_void = true;
}

void pb_weave_plan_gap(void)
{
	struct past *past = &pasts[pb_weave_self()];

	past->gap = past->accesses;
	if (plan == NULL || !making || pb_random_below(&chance, ++plan->gaps) != 0)
		return;
	plan->gap_agent = pb_weave_self();
	plan->gap = past->accesses;
}

bool pb_weave_plan_make(struct pb_weave_plan *of)
{
	const uint32_t most = pb_random_one_in(&chance, 2) ? PAUSE_BEFORE : PAUSE_AHEAD;
	const uint32_t before = pb_random_below(&chance, most);
	const uint32_t behind = pb_random_below(&chance, PAUSE_BEHIND);

	if (of->gaps != 0 && (of->mask == 0 || pb_random_one_in(&chance, 2))) {
		of->pauses = true;
		of->agent = of->gap_agent;
		of->read = of->gap + behind > before ? of->gap + behind - before : 0;
	}
	of->made = of->pauses || of->mask != 0;
	return of->made;
}
