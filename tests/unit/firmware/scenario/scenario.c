/* SPDX-License-Identifier: MIT */
/* Runs a story: its rows, steps, words and values. */
#include "tests/unit/firmware/scenario/scenario.h"

#include <inttypes.h>
#include <string.h>

#include "tests/unit/firmware/scenario/scenario_world.h"

struct scenario_world world;
/** Words of the row that runs, $1 up. */
static char row[9][40];
static uint32_t row_words;

static void print_where(void)
{
	print_error("%s", world.scenario->name);
	for (uint32_t i = 0; i < row_words; i++)
		print_error("%s%s", i == 0 ? " with " : " ", row[i]);
	print_error(", step %u, \"%s\": ", world.step, world.text);
}

void scenario_fail(const char *problem, const char *word)
{
	print_where();
	print_error("%s%s\n", problem, word);
	for (;;)
		_fail(__FILE__, __LINE__);
}

void scenario_equal(const char *what, uint64_t actual, uint64_t expected)
{
	if (actual == expected)
		return;
	print_where();
	print_error("%s is %" PRIu64 " (0x%" PRIx64 "), expected %" PRIu64 " (0x%" PRIx64 ")\n", what, actual,
		    actual, expected, expected);
	_fail(__FILE__, __LINE__);
}

/* ---- words ---- */

/** The first word that is not used yet; their number if all are. */
static uint32_t first_unused(void)
{
	uint32_t i = 0;

	while (i < world.count && world.used[i])
		i++;
	return i;
}

bool scenario_more(void)
{
	return first_unused() < world.count;
}

const char *scenario_next(void)
{
	const uint32_t i = first_unused();

	if (i == world.count)
		scenario_fail("a word is missing", "");
	world.used[i] = true;
	return world.words[i];
}

bool scenario_accept(const char *word)
{
	const uint32_t i = first_unused();

	if (i == world.count || strcmp(world.words[i], word) != 0)
		return false;
	world.used[i] = true;
	return true;
}

const char *scenario_option(const char *key)
{
	const size_t length = strlen(key);

	for (uint32_t i = 0; i < world.count; i++) {
		if (world.used[i] || strncmp(world.words[i], key, length) != 0 ||
		    world.words[i][length] != '=')
			continue;
		world.used[i] = true;
		return world.words[i] + length + 1;
	}
	return NULL;
}

/* ---- values ---- */

static const struct {
	const char *name;
	uint64_t value;
} names[] = {{"recall", PB_STOP_RECALL},         {"inside", PB_STOP_INSIDE},
	     {"none", PB_HANDLE_NONE},           {"max", UINT64_MAX},
	     {"idle", PB_PRIORITY_IDLE},         {"low", PB_PRIORITY_LOW},
	     {"normal", PB_PRIORITY_NORMAL},     {"high", PB_PRIORITY_HIGH},
	     {"realtime", PB_PRIORITY_REALTIME}, {"may-page", PB_PRIVILEGE_PAGING},
	     {"may-query", PB_PRIVILEGE_QUERY},  {"host-ordered", PB_NODE_HOST_ORDERED},
	     {"scheduled", PB_NODE_SCHEDULED},   {"the-queue", PB_QUERY_QUEUE},
	     {"the-node", PB_QUERY_NODE},        {"the-channel", PB_QUERY_CHANNEL},
	     {"system", CARD_SYSTEM_OS},         {"system-end", CARD_SYSTEM_OS + CARD_SYSTEM_BYTES}};

static bool digits(const char *text, uint64_t *value)
{
	const bool negative = text[0] == '-', hex = strncmp(text, "0x", 2) == 0;
	const char *at = text + (hex ? 2 : negative ? 1 : 0);

	if (*at == '\0')
		return false;
	for (*value = 0; *at != '\0'; at++) {
		const char *all = "0123456789abcdef", *found = strchr(all, *at);
		const uint32_t digit = found == NULL ? 16u : (uint32_t)(found - all);

		if (digit >= (hex ? 16u : 10u))
			return false;
		*value = *value * (hex ? 16u : 10u) + digit;
	}
	*value = negative ? 0 - *value : *value;
	return true;
}

static uint64_t value_of(const char *word)
{
	const uint32_t *capabilities = world.clients[1].channel->card.capabilities;
	uint64_t value;

	if (digits(word, &value))
		return value;
	if (word[0] >= 'A' && word[0] <= 'Z' && word[1] == '\0')
		return scenario_queue(word[0])->queue.handle;
	if (word[0] >= 'a' && word[0] <= 'z' &&
	    word[1] == '\0') /* the slot alone, of whatever queue is there */
		return PB_HANDLE_INDEX(scenario_queue((char)(word[0] - 'a' + 'A'))->queue.handle);
	if (word[0] == 'c' && digits(word + 1, &value))
		return scenario_context(world.client, (uint32_t)value);
	if (strcmp(word, "patches-max") == 0)
		return capabilities[PB_CAPABILITY_PATCHES_MAX];
	if (strcmp(word, "deepest") == 0)
		return capabilities[PB_CAPABILITY_IN_FLIGHT];
	for (uint32_t i = 0; i < SCENARIO_COUNT(names); i++) {
		if (strcmp(names[i].name, word) == 0)
			return names[i].value;
	}
	return scenario_named(pb_error_name, word);
}

uint64_t scenario_value(const char *word)
{
	uint64_t sum = 0;

	for (;; word++) {
		const size_t length = strcspn(word, "+");
		char term[40] = {0};

		memcpy(term, word, length < sizeof(term) ? length : 0);
		sum += value_of(term);
		word += length;
		if (*word == '\0')
			return sum;
	}
}

uint32_t scenario_option_value(const char *key, uint32_t otherwise)
{
	const char *word = scenario_option(key);

	return word == NULL ? otherwise : (uint32_t)scenario_value(word);
}

uint32_t scenario_number(void)
{
	return (uint32_t)scenario_value(scenario_next());
}

uint32_t scenario_named(const char *(*name)(uint32_t), const char *word)
{
	for (uint32_t number = 0; number < 256; number++) {
		if (strcmp(name(number), word) == 0)
			return number;
	}
	scenario_fail("no such name: ", word);
}

/* ---- queues and contexts ---- */

struct scenario_queue *scenario_queue(char letter)
{
	if (letter < 'A' || letter > 'Z')
		scenario_fail("not a queue: ", (char[]){letter, '\0'});
	return &world.queues[letter - 'A'];
}

struct scenario_queue *scenario_next_queue(void)
{
	return scenario_queue(scenario_next()[0]);
}

uint32_t scenario_context(struct scenario_client *client, uint32_t index)
{
	assert_true(index < SCENARIO_CONTEXTS);
	while (client->context_count <= index)
		assert_int_equal(
			pb_context_create(client->channel, &client->contexts[client->context_count++]),
			PB_ERROR_OK);
	return client->contexts[index];
}

/* ---- steps ---- */

/** Verbs that are commands with a part of their arguments. */
static const char *const aliases[][2] = {{"hold", "do 0 SUSPEND"},        {"release", "do 0 RESUME"},
					 {"destroy", "do QUEUE_DESTROY"}, {"clear", "do QUEUE_CLEAR"},
					 {"forgive", "do CONTEXT_CLEAR"}, {"resume", "do RESUME"}};

static void append_words(char *at)
{
	for (at += strspn(at, " "); *at != '\0'; at += strspn(at, " ")) {
		assert_true(world.count < SCENARIO_WORDS);
		world.words[world.count++] = at;
		at += strcspn(at, " ");
		if (*at != '\0')
			*at++ = '\0';
	}
}

static void split(void)
{
	static char alias[32];
	const size_t length = strcspn(world.text, " ");

	world.count = 0;
	memset(world.used, 0, sizeof(world.used));
	memcpy(world.copy, world.text, sizeof(world.copy));
	for (uint32_t i = 0; i < SCENARIO_COUNT(aliases); i++) {
		if (strlen(aliases[i][0]) != length || strncmp(aliases[i][0], world.text, length) != 0)
			continue;
		strncpy(alias, aliases[i][1], sizeof(alias) - 1);
		append_words(alias);
		append_words(world.copy + length);
		return;
	}
	append_words(world.copy);
}

static const struct scenario_verb *find_verb(const char *name)
{
	const struct scenario_verb *const tables[] = {scenario_host_verbs, scenario_submit_verbs,
						      world.bench->verbs};

	for (uint32_t t = 0; t < SCENARIO_COUNT(tables); t++) {
		for (const struct scenario_verb *verb = tables[t]; verb->name != NULL; verb++) {
			if (strcmp(verb->name, name) == 0)
				return verb;
		}
	}
	scenario_fail("no such verb: ", name);
}

void scenario_step(void)
{
	split();
	world.client = scenario_client(scenario_option_value("client", 1));
	find_verb(scenario_next())->run();
	if (scenario_more())
		scenario_fail("a word too many: ", scenario_next());
}

/** The rest of the step once for each letter or digit of B..D, or of BCD, in place of %. */
static void each(const char *range)
{
	const char *rest = range + strcspn(range, " ") + 1;
	const bool from_to = strncmp(range + 1, "..", 2) == 0;
	const char *listed = range;

	for (char letter = range[0]; from_to ? letter <= range[3] : listed + 1 != rest && letter != '-';
	     letter = from_to ? (char)(letter + 1) : *++listed) {
		memset(world.text, 0, sizeof(world.text));
		for (uint32_t i = 0; rest[i] != '\0'; i++)
			world.text[i] = rest[i] == '%' ? letter : rest[i];
		scenario_step();
	}
}

/** The step up to the next ';', with the row's words. @return what is behind it; NULL at the end */
static const char *cut_step(const char *at, char text[SCENARIO_STEP_BYTES])
{
	size_t length = 0;

	memset(text, 0, SCENARIO_STEP_BYTES);
	for (at += strspn(at, " "); *at != '\0' && *at != ';'; at++) {
		const uint32_t word = *at == '$' ? (uint32_t)(at[1] - '1') : UINT32_MAX;
		const char *from = word < row_words ? row[word] : (char[]){*at, '\0'};

		at += word < row_words ? 1 : 0;
		for (; *from != '\0'; from++)
			text[length++] = *from;
		assert_true(length < SCENARIO_STEP_BYTES - sizeof(row[0]));
	}
	return *at == ';' ? at + 1 : length == 0 ? NULL : at;
}

static void run_steps(const char *at)
{
	char text[SCENARIO_STEP_BYTES];
	const char *again = NULL;
	uint64_t left = 0;

	for (world.step = 1; (at = cut_step(at, text)) != NULL; world.step++) {
		memcpy(world.text, text, sizeof(text));
		if (strncmp(text, "loop ", 5) == 0) {
			assert_true(digits(text + 5, &left) && left != 0);
			again = at;
		} else if (strcmp(text, "end") == 0) {
			at = --left != 0 ? again : at;
		} else if (strncmp(text, "each ", 5) == 0) {
			each(text + 5);
		} else {
			scenario_step();
		}
	}
	assert_int_equal(left, 0);
	if (world.step == 1)
		scenario_fail("the story has no step", "");
}

/* ---- rows ---- */

static void run_row(const struct scenario *scenario, const char *story)
{
	const struct scenario_bench *bench = world.bench;

	memset(&world, 0, sizeof(world));
	world.scenario = scenario;
	world.bench = bench;
	bench->start();
	run_steps(story);
	bench->stop();
}

/** A leading "for" runs what follows with each of its rows. */
static void run_rows(const struct scenario *scenario, const char *story)
{
	const uint32_t outer = row_words;
	const char *at = story, *rest = strchr(story, ';');
	uint32_t row_count = 0; /* words of each row */

	if (strncmp(story, "for ", 4) != 0) {
		run_row(scenario, story);
		return;
	}
	assert_non_null(rest);
	rest += 1 + strspn(rest + 1, " ");
	for (at += 4; *at != ';'; at += *at == '|' ? 1 : 0, row_words = outer) {
		for (at += strspn(at, " "); *at != '|' && *at != ';'; at += strspn(at, " ")) {
			const size_t length = strcspn(at, " |;");

			assert_true(row_words < SCENARIO_COUNT(row) && length < sizeof(row[0]));
			memset(row[row_words], 0, sizeof(row[0]));
			memcpy(row[row_words++], at, length);
			at += length;
		}
		assert_true(row_words != outer);
		assert_true(row_count == 0 || row_words == row_count);
		row_count = row_words;
		run_rows(scenario, rest);
	}
	assert_int_not_equal(row_count, 0);
}

void scenario_run(const struct scenario *scenario, const struct scenario_bench *bench)
{
	row_words = 0; /* a row that failed left its words */
	world.bench = bench;
	run_rows(scenario, scenario->story);
}
