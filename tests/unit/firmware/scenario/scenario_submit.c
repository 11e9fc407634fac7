/* SPDX-License-Identifier: MIT */
/* Steps that submit: what stands in buffers and lists; and what fence records are to say of it. */
#include <string.h>

#include "tests/unit/firmware/scenario/scenario_world.h"

#define PROGRAM_WORDS 64u
#define PATIENCE_US   2000000u
#define SETTLE_US     2000u

/* ---- buffers and lists ---- */

static struct pb_memory allocate(uint32_t bytes, uint32_t alignment)
{
	struct pb_memory memory;

	assert_int_equal(pb_memory_allocate(&world.client->segments[0], bytes, alignment, &memory),
			 PB_ERROR_OK);
	return memory;
}

/** The value behind the next ':' of an item; 0 if the item ends. */
static uint64_t argument(const char **at)
{
	const size_t length = **at == ':' ? strcspn(*at + 1, ":,") : 0;
	char word[40] = {0};

	if (length == 0)
		return 0;
	memcpy(word, *at + 1, length < sizeof(word) ? length : 0);
	*at += 1 + length;
	return scenario_value(word);
}

/** `count` entries that patch word `at` of the buffer with the address of word `slot` of video memory. */
static void patch(struct pb_descriptor *descriptor, uint32_t at, uint32_t slot, uint32_t count)
{
	const struct pb_patch_location location = {
		.driver_id = PB_PATCH_FORMAT_ADDRESS64_WRITE,
		.allocation_offset = slot * 4u,
		.patch_offset = at * 4u,
	};
	const struct pb_allocation allocation = {
		.address_low = (uint32_t)CARD_VIDEO_OS,
		.address_high = CARD_VIDEO_OS >> 32,
		.size_low = PB_PAGE_BYTES,
		.flags = CARD_SEGMENT(1) | PB_ALLOCATION_WRITE,
	};
	const struct pb_memory memory = allocate(64u + count * (uint32_t)sizeof(location), 64);

	memcpy(memory.bytes_host, &allocation, sizeof(allocation));
	for (uint32_t i = 0; i < count; i++)
		memcpy(memory.bytes_host + 64u + i * sizeof(location), &location, sizeof(location));
	descriptor->allocation_count = 1;
	descriptor->allocation_address_low = (uint32_t)memory.os_address;
	descriptor->patch_address_low = (uint32_t)memory.os_address + 64u;
	descriptor->patch_count = descriptor->patch_length = count;
}

static const struct {
	const char *name;
	uint32_t header;
} packets[] = {{"busy", PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS)},
	       {"fault", PB_PACKET(PB_PACKET_FAULT, PB_PACKET_FAULT_WORDS)},
	       {"hang", PB_PACKET(PB_PACKET_HANG, PB_PACKET_HANG_WORDS)},
	       {"nop", PB_PACKET(PB_PACKET_NOP, 1)},
	       {"fill", PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS)}};

/** An item of the program: a packet and its words, word:VALUE, or mark:SLOT:VALUE. @return its words */
static uint32_t put_item(struct pb_descriptor *descriptor, uint32_t *words, uint32_t count, const char **at)
{
	const char *name = *at;
	const size_t length = strcspn(name, ":,");

	*at += length;
	for (uint32_t i = 0; i < SCENARIO_COUNT(packets); i++) {
		if (strlen(packets[i].name) != length || strncmp(name, packets[i].name, length) != 0)
			continue;
		words[count] = packets[i].header;
		for (uint32_t w = 1; w < PB_PACKET_WORDS(packets[i].header); w++)
			words[count + w] = (uint32_t)argument(at);
		return PB_PACKET_WORDS(packets[i].header);
	}
	if (strncmp(name, "word", length) == 0) {
		words[count] = (uint32_t)argument(at);
		return 1;
	}
	if (strncmp(name, "mark", length) != 0)
		scenario_fail("no such packet: ", name);
	const uint32_t slot = (uint32_t)argument(at);

	(void)card_fill(&words[count], 0, 4, **at == ':' ? (uint32_t)argument(at) : slot);
	patch(descriptor, count + 1u, slot, scenario_option_value("patches", 1));
	return PB_PACKET_FILL_WORDS;
}

static void write_program(struct pb_descriptor *descriptor, const char *at)
{
	const struct pb_memory memory = allocate(PB_PAGE_BYTES, PB_PAGE_BYTES);
	uint32_t words[PROGRAM_WORDS], count = 0;

	for (; *at != '\0'; at += *at == ',' ? 1 : 0)
		count += put_item(descriptor, words, count, &at);
	memcpy(memory.bytes_host, words, count * 4u);
	descriptor->dma_address_low = (uint32_t)memory.os_address;
	descriptor->dma_size = PB_PAGE_BYTES;
	descriptor->dma_end = count * 4u;
}

/** Items B:VALUE, or :HANDLE:VALUE; the reserved word may stand behind. */
static void write_waits(struct pb_descriptor *descriptor, const char *at)
{
	const struct pb_memory memory = allocate(PB_WAITS_MAX * (uint32_t)sizeof(struct pb_wait), 64);
	const uint32_t address = scenario_option_value("wait_at", (uint32_t)memory.os_address);
	uint8_t *bytes = memory.bytes_host + (address - (uint32_t)memory.os_address);

	for (; *at != '\0'; at += *at == ',' ? 1 : 0) {
		struct pb_wait wait = {0};
		uint64_t value;

		wait.queue = *at == ':' ? (uint32_t)argument(&at) : scenario_queue(*at++)->queue.handle;
		value = argument(&at);
		wait.timeline_low = (uint32_t)value;
		wait.timeline_high = (uint32_t)(value >> 32);
		wait.reserved = (uint32_t)argument(&at);
		memcpy(bytes + descriptor->wait_count++ * sizeof(wait), &wait, sizeof(wait));
	}
	descriptor->wait_address_low = address;
}

/** Options that are fields of the descriptor. */
static void edit(struct pb_descriptor *descriptor)
{
	static const struct {
		const char *name;
		size_t offset;
	} fields[] = {{"options", offsetof(struct pb_descriptor, options)},
		      {"context", offsetof(struct pb_descriptor, context)},
		      {"wait_count", offsetof(struct pb_descriptor, wait_count)},
		      {"wait_address_low", offsetof(struct pb_descriptor, wait_address_low)},
		      {"wait_address_high", offsetof(struct pb_descriptor, wait_address_high)}};

	for (uint32_t i = 0; i < SCENARIO_COUNT(fields); i++) {
		uint32_t *field = (uint32_t *)(void *)((uint8_t *)descriptor + fields[i].offset);

		*field = scenario_option_value(fields[i].name, *field);
	}
}

static struct pb_descriptor describe(void)
{
	const char *run = scenario_option("run"), *waits = scenario_option("wait"),
		   *timeline = scenario_option("timeline");
	const uint64_t value = timeline != NULL ? scenario_value(timeline) : 0;
	struct pb_descriptor descriptor = {
		.context = scenario_context(world.client, scenario_option_value("ctx", 0)),
		.timeline_low = (uint32_t)value,
		.timeline_high = (uint32_t)(value >> 32),
	};

	if (scenario_option_value("paging", 0) != 0) {
		descriptor.flags = PB_FLAG_PAGING;
		descriptor.context = 0;
	}
	if (run != NULL)
		write_program(&descriptor, run);
	if (waits != NULL)
		write_waits(&descriptor, waits);
	edit(&descriptor);
	return descriptor;
}

/* ---- submitting ---- */

/** For the puppet: a word that no other submission has, so that it is known when the engine is fed it. */
static void give_word(struct pb_descriptor *descriptor, char letter)
{
	assert_true(world.serial < SCENARIO_COUNT(world.serials));
	world.serials[world.serial].queue = letter;
	world.serials[world.serial].number = scenario_queue(letter)->queue.put + 1u;
	world.serials[world.serial].context = PB_HANDLE_INDEX(descriptor->context);
	descriptor->dma_address_low = PUPPET_DMA;
	descriptor->dma_size = PB_PAGE_BYTES;
	descriptor->dma_start = 4u * world.serial++;
	descriptor->dma_end = descriptor->dma_start + 4u;
}

enum pb_error scenario_submit(struct scenario_queue *queue, struct pb_descriptor *descriptor)
{
	const uint32_t index = queue->queue.put % SCENARIO_HISTORY;
	const uint64_t timeline = (uint64_t)descriptor->timeline_high << 32 | descriptor->timeline_low;
	const enum pb_error error = pb_queue_submit(&queue->queue, descriptor);

	if (error != PB_ERROR_OK)
		return error;
	queue->history[index].fence_id = descriptor->fence_id;
	queue->history[index].timeline = timeline != 0 ? timeline : queue->queue.timeline;
	queue->last = *descriptor;
	return PB_ERROR_OK;
}

/** Queues that a word names, A, A*4, or B..D*2: calls `act` so many times for each. */
static void for_queues(const char *word, void (*act)(char letter, void *context), void *context)
{
	const char *times = strchr(word, '*');
	const char last = word[1] == '.' ? word[3] : word[0];

	for (char letter = word[0]; letter <= last; letter++) {
		for (uint64_t n = times != NULL ? scenario_value(times + 1) : 1; n != 0; n--)
			act(letter, context);
	}
}

static void submit_one(char letter, void *context)
{
	struct scenario_queue *queue = scenario_queue(letter);
	struct pb_descriptor descriptor = *(const struct pb_descriptor *)context;

	if (descriptor.fence_id == 0)
		descriptor.fence_id = queue->queue.put + 1u;
	if (!world.bench->is_card && descriptor.wait_count == 0)
		give_word(&descriptor, letter);
	assert_int_equal(scenario_submit(queue, &descriptor), PB_ERROR_OK);
}

static void submit(void)
{
	struct pb_descriptor descriptor;

	world.client = scenario_queue(world.words[1][0])->client;
	descriptor = describe();
	descriptor.fence_id = scenario_option_value("fence", 0);
	do
		for_queues(scenario_next(), submit_one, &descriptor);
	while (scenario_more());
}

static void fill_one(char letter, void *context)
{
	(void)context;
	scenario_queue(letter)->full = true;
}

static void full(void)
{
	while (scenario_more())
		for_queues(scenario_next(), fill_one, NULL);
}

/* ---- what became of it ---- */

static void wait_until(struct pb_queue *queue, uint32_t completed)
{
	const uint64_t end = pb_sim_now(world.card.sim) + PATIENCE_US;
	uint32_t now;

	for (;;) {
		assert_int_equal(pb_queue_completed(queue, &now), PB_ERROR_OK);
		if (now >= completed)
			return;
		if (pb_sim_now(world.card.sim) > end)
			scenario_equal("completed", now, completed);
		scenario_card_step();
	}
}

/** The part of A=3:BUSY:7 that begins here, without its first character. @return its value */
static uint64_t part(const char **at, uint64_t otherwise)
{
	const size_t length = **at != '\0' ? 1 + strcspn(*at + 1, ":") : 0;
	char word[40] = {0};

	if (length == 0)
		return otherwise;
	memcpy(word, *at + 1, length < sizeof(word) ? length - 1 : 0);
	*at += length;
	return scenario_value(word);
}

/** A=3:BUSY:7, completed, status and fence id of the last; A or A:BUSY, all that was submitted. */
static void check_fence(const char *word, bool wait)
{
	struct scenario_queue *queue = scenario_queue(word[0]);
	const char *at = word + 1;
	const uint32_t completed = *at == '=' ? (uint32_t)part(&at, 0) : queue->queue.put;
	const uint64_t status = part(&at, PB_ERROR_OK);
	const bool is_own = *at == '\0' && completed != 0;
	const uint32_t index = (completed - 1u) % SCENARIO_HISTORY;
	struct pb_fence fence;

	if (wait)
		wait_until(&queue->queue, completed);
	assert_int_equal(pb_queue_fence(&queue->queue, &fence), PB_ERROR_OK);
	scenario_equal("completed", fence.completed, completed);
	scenario_equal("status", fence.status, status);
	scenario_equal("fence id", fence.fence_id, is_own ? queue->history[index].fence_id : part(&at, 0));
	if (is_own)
		scenario_equal("timeline", fence.timeline, queue->history[index].timeline);
}

static void now(void)
{
	do
		check_fence(scenario_next(), false);
	while (scenario_more());
}

static void expect(void)
{
	if (world.bench->is_card)
		scenario_card_run(SETTLE_US);
	now();
}

static void until(void)
{
	do
		check_fence(scenario_next(), true);
	while (scenario_more());
}

/** KEY=VALUE of the fence record. */
static void record(void)
{
	struct pb_fence fence;

	assert_int_equal(pb_queue_fence(&scenario_next_queue()->queue, &fence), PB_ERROR_OK);
	if (!scenario_more())
		scenario_fail("nothing is compared", "");
	scenario_equal("completed", fence.completed, scenario_option_value("completed", fence.completed));
	scenario_equal("errors", fence.errors, scenario_option_value("errors", fence.errors));
	scenario_equal("error", fence.error, scenario_option_value("error", fence.error));
	scenario_equal("error fence", fence.error_fence_id,
		       scenario_option_value("error_fence", fence.error_fence_id));
	scenario_equal("error index", fence.error_index,
		       scenario_option_value("error_index", fence.error_index));
}

const struct scenario_verb scenario_submit_verbs[] = {
	{"submit", submit}, {"full", full},     {"now", now}, {"expect", expect},
	{"until", until},   {"record", record}, {NULL, NULL}};
