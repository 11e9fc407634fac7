/* SPDX-License-Identifier: MIT */
/* The memory model of weave.h. */
#include <string.h>

#include "tests/interleave/hooks.h"
#include "tests/interleave/weave.h"

#define STORES_MAX 24u
/** Words from here on are interrupt lines. */
#define LINES PB_WEAVE_WORDS
/** Limits: stores remembered after they left a buffer, and how many of them a read may go back. */
#define LOG_ENTRIES 1024u
#define BACK_MAX    1000u

/**
 * After a barrier that is left out: how long a store is held back, in moments, and how many reads prefer old
 * values.
 */
#define HOLD_MOMENTS  700u
#define OLD_READS     16u
#define SLOW_ACCESSES 6u

/** One store that has not left the buffer. */
struct store {
	uint32_t word;
	uint32_t value;
	uint32_t mask;
	uint32_t era;  /**< number of barriers before it */
	uint64_t held; /**< moment before which it does not leave by chance */
};

/** An agent's view of memory. */
struct view {
	struct store stores[STORES_MAX]; /**< in program order */
	uint32_t count;
	uint32_t era;
	uint32_t old_reads; /**< number of reads that prefer old values */
	uint32_t slow_in;   /**< accesses until it lets others run for some time; 0: it does not */
	uint32_t floor;     /**< all that had left the buffers before this point is visible */
};

static struct view views[PB_WEAVE_AGENTS];
/** By agent and word: the newest point of the word that the agent knows. */
static uint32_t known[PB_WEAVE_AGENTS][PB_WEAVE_WORDS];
static struct {
	uint32_t word;
	uint32_t old;
} history[LOG_ENTRIES];
/** Stores that have left the buffers, in all schedules of this process. */
static uint32_t point;
static uint32_t first_point; /**< of this schedule */
static const struct pb_weave_ground *around;
static struct pb_weave_rates rates;

void pb_weave_memory_reset(const struct pb_weave_ground *ground)
{
	around = ground;
	memset(views, 0, sizeof(views));
	if (point > UINT32_MAX / 2u) {
		memset(known, 0, sizeof(known));
		point = 0;
	}
	first_point = point;
	for (uint32_t i = 0; i < PB_WEAVE_AGENTS; i++)
		views[i].floor = point;
}

void pb_weave_memory_rates(const struct pb_weave_rates *chosen)
{
	rates = *chosen;
}

/* ---- stores ---- */

static void commit(uint32_t agent, const struct store *store)
{
	uint32_t *word;

	if (store->word >= LINES) {
		pb_weave_log("    line %u of agent %u is rung", store->word - LINES, agent);
		around->rung(store->word - LINES);
		return;
	}
	word = &around->memory[store->word];
	history[point % LOG_ENTRIES].word = store->word;
	history[point % LOG_ENTRIES].old = *word;
	*word = (*word & ~store->mask) | (store->value & store->mask);
	known[agent][store->word] = ++point;
	pb_weave_log("    0x%05x = 0x%x of agent %u is there", 4u * store->word, *word, agent);
}

/**
 * Lets one random store leave that no barrier keeps back; among stores to one word the first. Pre: the buffer
 * is not empty.
 */
static uint32_t choose_store(const struct view *view)
{
	uint32_t end = 0, chosen, first = 0;

	while (end < view->count && view->stores[end].era == view->stores[0].era)
		end++;
	chosen = pb_random_below(pb_weave_random(), end);
	while (view->stores[first].word != view->stores[chosen].word)
		first++;
	return first;
}

static void leave(uint32_t agent, uint32_t index)
{
	struct view *view = &views[agent];
	const struct store store = view->stores[index];

	view->count--;
	memmove(&view->stores[index], &view->stores[index + 1u],
		(view->count - index) * sizeof(view->stores[0]));
	commit(agent, &store);
}

/** @param held a store that is held back may leave, too @return false: the chosen store may not leave */
static bool drain_one(uint32_t agent, bool held)
{
	const uint32_t chosen = choose_store(&views[agent]);

	if (!held && views[agent].stores[chosen].held > pb_weave_now())
		return false;
	leave(agent, chosen);
	return true;
}

bool pb_weave_drain(bool held)
{
	uint32_t chosen = PB_WEAVE_AGENTS, count = 0;

	for (uint32_t i = 0; i < PB_WEAVE_AGENTS; i++) {
		if (views[i].count != 0 && pb_random_below(pb_weave_random(), ++count) == 0)
			chosen = i;
	}
	if (chosen == PB_WEAVE_AGENTS)
		return false;
	return drain_one(chosen, held);
}

static void store_masked(uint32_t word, uint32_t value, uint32_t mask)
{
	struct view *view = &views[pb_weave_self()];

	if (view->count == STORES_MAX)
		(void)drain_one(pb_weave_self(), true);
	view->stores[view->count++] =
		(struct store){.word = word, .value = value, .mask = mask, .era = view->era};
}

void pb_weave_ring(uint32_t line)
{
	pb_weave_point();
	store_masked(LINES + line, 0, 0);
}

void pb_weave_break_off(uint32_t agent)
{
	struct view *view = &views[agent];
	uint32_t kept = pb_random_below(pb_weave_random(), view->count + 1u);

	for (; kept != 0; kept--)
		(void)drain_one(agent, true);
	*view = (struct view){.floor = point};
}

void pb_weave_poke(uint32_t *address, uint32_t value)
{
	const struct store store = {
		.word = (uint32_t)(address - around->memory), .value = value, .mask = UINT32_MAX};

	/* As if the running agent had read the word. A caller of pb_weave_poke() is no agent. */
	commit(pb_weave_self(), &store);
}

uint32_t pb_weave_peek(const uint32_t *address)
{
	return *address;
}

bool pb_weave_store_early(uint32_t word, uint32_t value, uint32_t mask)
{
	const uint32_t self = pb_weave_self();
	struct view *view = &views[self];
	const struct store store = {.word = word, .value = value, .mask = mask};

	for (uint32_t i = 0; i < view->count; i++) {
		if (view->stores[i].word == word)
			return false;
	}
	/* Stores that a barrier keeps before this one leave first. */
	while (view->count != 0 && view->stores[0].era != view->era)
		(void)drain_one(self, true);
	commit(self, &store);
	return true;
}

/* ---- reads ---- */

/**
 * The next older store to the word, after `oldest`. @return the point right after the store; oldest: there is
 * none
 */
static uint32_t find_older(uint32_t word, uint32_t at, uint32_t oldest)
{
	while (at != oldest && history[(at - 1u) % LOG_ENTRIES].word != word)
		at--;
	return at;
}

/** A value that the word held at some point that the agent may still see. */
static uint32_t read_old(uint32_t agent, uint32_t word)
{
	uint32_t oldest = views[agent].floor;
	uint32_t value = around->memory[word];
	uint32_t at;

	if ((int32_t)(known[agent][word] - oldest) > 0)
		oldest = known[agent][word];
	if (point - oldest > BACK_MAX)
		oldest = point - BACK_MAX;
	at = find_older(word, point, oldest);
	while (at != oldest) {
		value = history[(at - 1u) % LOG_ENTRIES].old;
		at = find_older(word, at - 1u, oldest);
		if (pb_random_one_in(pb_weave_random(), 2))
			break;
	}
	known[agent][word] = at;
	return value;
}

/** Whether this read may return an old value. */
static bool reads_old(struct view *view)
{
	if (view->old_reads == 0)
		return pb_random_one_in(pb_weave_random(), rates.stale);
	view->old_reads--;
	return pb_random_one_in(pb_weave_random(), 2);
}

static uint32_t read_word(uint32_t word)
{
	const uint32_t self = pb_weave_self();
	struct view *view = &views[self];
	uint32_t value;

	pb_weave_plan_read(word);
	if (reads_old(view)) {
		value = read_old(self, word);
	} else {
		value = around->memory[word];
		known[self][word] = point;
	}
	for (uint32_t i = 0; i < view->count; i++) {
		const struct store *store = &view->stores[i];

		if (store->word == word)
			value = (value & ~store->mask) | (store->value & store->mask);
	}
	pb_weave_log("0x%05x reads 0x%x", 4u * word, value);
	return value;
}

/* ---- barriers that are left out ---- */

/** Now and then makes happen what the barrier would prevent. */
static void use_gap(void)
{
	struct view *view = &views[pb_weave_self()];

	for (uint32_t i = 0; i < view->count; i++) {
		if (pb_random_one_in(pb_weave_random(), 2))
			view->stores[i].held =
				pb_weave_now() + pb_random_below(pb_weave_random(), HOLD_MOMENTS);
	}
	if (pb_random_one_in(pb_weave_random(), 2))
		view->old_reads = OLD_READS;
	if (pb_random_one_in(pb_weave_random(), 2))
		view->slow_in = 1u + pb_random_below(pb_weave_random(), SLOW_ACCESSES);
}

/** A point at which an agent that has passed a gap may be slow. */
static void reach_point(void)
{
	struct view *view = &views[pb_weave_self()];

	if (view->slow_in != 0 && --view->slow_in == 0)
		pb_weave_yield(1u + pb_random_below(pb_weave_random(), HOLD_MOMENTS));
	else
		pb_weave_point();
}

/* ---- calls from the instrumented source ---- */

static bool is_shared(uintptr_t address)
{
	return address - (uintptr_t)around->memory < PB_WEAVE_WORDS * sizeof(uint32_t);
}

static uint32_t word_of(uintptr_t address)
{
	return (uint32_t)((address - (uintptr_t)around->memory) / sizeof(uint32_t));
}

uint32_t pb_weave_read32(const uint32_t *address)
{
	if (!is_shared((uintptr_t)address))
		return *address;
	reach_point();
	return read_word(word_of((uintptr_t)address));
}

static void write_word(uint32_t word, uint32_t value, uint32_t mask)
{
	pb_weave_log("0x%05x to be 0x%x", 4u * word, value);
	if (!pb_weave_plan_store(word, value, mask))
		store_masked(word, value, mask);
}

void pb_weave_write32(uint32_t *address, uint32_t value)
{
	if (!is_shared((uintptr_t)address)) {
		*address = value;
		return;
	}
	reach_point();
	write_word(word_of((uintptr_t)address), value, UINT32_MAX);
}

uint8_t pb_weave_read8(const uint8_t *address)
{
	const uint32_t shift = (uint32_t)((uintptr_t)address % 4u) * 8u;

	if (!is_shared((uintptr_t)address))
		return *address;
	reach_point();
	return (uint8_t)(read_word(word_of((uintptr_t)address)) >> shift);
}

void pb_weave_write8(uint8_t *address, uint8_t value)
{
	const uint32_t shift = (uint32_t)((uintptr_t)address % 4u) * 8u;

	if (!is_shared((uintptr_t)address)) {
		*address = value;
		return;
	}
	reach_point();
	write_word(word_of((uintptr_t)address), (uint32_t)value << shift, UINT32_C(0xff) << shift);
}

static void empty_buffer(void)
{
	const uint32_t self = pb_weave_self();

	while (views[self].count != 0) {
		(void)drain_one(self, true);
		reach_point();
	}
}

void pb_weave_add32(uint32_t *address, uint32_t value)
{
	reach_point();
	empty_buffer();
	pb_weave_poke(address, *address + value);
}

static bool left_out(const char *file, uint32_t line)
{
	if (line != around->without_line || around->without == NULL || strcmp(file, around->without) != 0)
		return false;
	pb_weave_plan_gap();
	use_gap();
	return true;
}

void pb_weave_acquire(const char *file, uint32_t line)
{
	if (left_out(file, line))
		return;
	pb_weave_log("acquire, %s:%u", file, line);
	pb_weave_plan_barrier();
	views[pb_weave_self()].floor = point;
}

static void order_stores(void)
{
	struct view *view = &views[pb_weave_self()];

	pb_weave_plan_barrier();
	if (view->count != 0)
		view->era++;
}

void pb_weave_release(const char *file, uint32_t line)
{
	if (left_out(file, line))
		return;
	pb_weave_log("release, %s:%u", file, line);
	order_stores();
}

void pb_weave_barrier(const char *file, uint32_t line)
{
	if (left_out(file, line))
		return;
	pb_weave_log("barrier, %s:%u", file, line);
	reach_point();
	pb_weave_plan_barrier();
	empty_buffer();
	views[pb_weave_self()].floor = point;
}

void pb_weave_order(void)
{
	order_stores();
}

uint32_t pb_weave_seen(void)
{
	return point;
}

void pb_weave_see(uint32_t seen)
{
	struct view *view = &views[pb_weave_self()];

	if ((int32_t)(seen - view->floor) > 0)
		view->floor = seen;
}
