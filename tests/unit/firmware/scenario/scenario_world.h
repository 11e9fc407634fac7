/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the parts of the scenario runner share: the words of the step that runs, the queues and channels of its story.
 */
#ifndef PB_TESTS_UNIT_SCENARIO_WORLD_H
#define PB_TESTS_UNIT_SCENARIO_WORLD_H

#include "tests/unit/card_fixture.h"
#include "tests/unit/puppet_bench.h"

#define SCENARIO_STEP_BYTES 512u
#define SCENARIO_WORDS      96u
#define SCENARIO_QUEUES     26u
#define SCENARIO_CLIENTS    4u
#define SCENARIO_CONTEXTS   8u
#define SCENARIO_TAGS       32u
#define SCENARIO_HISTORY    64u
#define SCENARIO_ORDER      1024u
#define SCENARIO_COUNT(a)   ((uint32_t)(sizeof(a) / sizeof((a)[0])))

struct scenario_client;
struct scenario_verb {
	const char *name;
	void (*run)(void);
};

/** What stories run on. */
struct scenario_bench {
	void (*start)(void); /**< boots it, with channel 1 and queue A */
	void (*stop)(void);
	void (*join)(struct scenario_client *client, uint32_t number); /**< attaches another channel */
	const struct scenario_verb *verbs;                             /**< of its own */
	bool is_card;
};

struct scenario_client {
	struct pb_channel own;      /**< unless the fixture has one */
	struct pb_channel *channel; /**< NULL: not attached */
	struct pb_segment own_segments[2];
	struct pb_segment *segments; /**< system and, on a card, video memory */
	uint32_t contexts[SCENARIO_CONTEXTS];
	uint32_t context_count;
};

struct scenario_queue {
	struct pb_queue queue;
	struct scenario_client *client; /**< NULL: there is none of this name */
	struct {
		uint32_t fence_id;
		uint64_t timeline;
	} history[SCENARIO_HISTORY]; /**< of submissions, by ring index */
	struct pb_descriptor last;   /**< submission */
	bool full;                   /**< is kept full of those */
	uint32_t busy_us;            /**< engine time of each submission */
	uint32_t seen;               /**< completions in the order that is recorded */
	uint32_t sequence;           /**< of the fence record, as last seen */
};

struct scenario_world {
	const struct scenario *scenario;
	const struct scenario_bench *bench;
	uint32_t step; /**< its number */
	char text[SCENARIO_STEP_BYTES];
	char copy[SCENARIO_STEP_BYTES]; /**< cut into words */
	const char *words[SCENARIO_WORDS];
	bool used[SCENARIO_WORDS];
	uint32_t count;
	struct card card;
	struct scenario_client clients[SCENARIO_CLIENTS];
	struct scenario_client *client; /**< of this step */
	struct scenario_queue queues[SCENARIO_QUEUES];
	struct {
		struct pb_channel *channel;
		uint32_t tag;
	} tags[SCENARIO_TAGS]; /**< of commands that were begun, by their letter */
	struct {
		char queue;
		uint32_t number, context;
	} serials[SCENARIO_ORDER]; /**< of words submitted to the puppet */
	uint32_t serial;
	char order[SCENARIO_ORDER]; /**< of completions on the card */
	uint32_t order_count;
	uint32_t order_lost; /**< bit i: queue i completed two at once */
	uint64_t timer;
};
extern struct scenario_world world;

/** Fails with the story, its row and the step. */
_Noreturn void scenario_fail(const char *problem, const char *word);
void scenario_equal(const char *what, uint64_t actual, uint64_t expected);
/** The next word of the step that is not used yet; fails if there is none. */
const char *scenario_next(void);
/** @return false: all words are used */
bool scenario_more(void);
/** Uses the next word if it is the one given. */
bool scenario_accept(const char *word);
/** Uses KEY=VALUE. @return VALUE; NULL if the step does not have it */
const char *scenario_option(const char *key);
uint32_t scenario_option_value(const char *key, uint32_t otherwise);
uint64_t scenario_value(const char *word);
/** The value of the next word. */
uint32_t scenario_number(void);
/** The number that has a name. */
uint32_t scenario_named(const char *(*name)(uint32_t), const char *word);
struct scenario_queue *scenario_queue(char letter);
/** The queue that the next word names. */
struct scenario_queue *scenario_next_queue(void);
/** Attaches the client if it is not. */
struct scenario_client *scenario_client(uint32_t number);
/** Gives a client of the card its segments and its first context. */
void scenario_furnish(struct scenario_client *client);
uint32_t scenario_context(struct scenario_client *client, uint32_t index);
/** Submits, and notes what the fence record is to say of the submission. */
enum pb_error scenario_submit(struct scenario_queue *queue, struct pb_descriptor *descriptor);
/** A step of the card: keeps queues full, and records the order of completions. */
void scenario_card_step(void);
void scenario_card_run(uint64_t microseconds);

/** Tables of verbs, each with a NULL name at its end. */
extern const struct scenario_verb scenario_host_verbs[], scenario_submit_verbs[];
/** Runs a story, row by row. */
void scenario_run(const struct scenario *scenario, const struct scenario_bench *bench);
/** Runs the step whose text stands in the world. */
void scenario_step(void);

#endif
