/* SPDX-License-Identifier: MIT */
/*
 * The board that is its own card: the image's report of its self-test, its detection of changed images, and
 * its service of a host without a doorbell.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "boards/stm32f405/limits.h"
#include "hal/engine/packets.h"
#include "patchbay/abi/boot.h"
#include "patchbay/abi/channel.h"
#include "patchbay/abi/errors.h"
#include "patchbay/abi/image.h"
#include "tests/e2e/probe.h"

/* As docs/stm32f405.md has it. */
#define CARD_MEMORY       0x20006000u
#define CARD_MEMORY_BYTES 0x13000u
#define POOL_OFFSET       0x4000u
#define CHANNELS          3u

#define BOOT(field)    (CARD_MEMORY + (uint32_t)offsetof(struct pb_boot_block, field))
#define LINE_BYTES     200u
#define SIDE           16u
#define PICTURE_PIXELS (SIDE * SIDE)
#define FILLED         0x50415443u

struct image {
	uint8_t *bytes;
	size_t count;
};

static struct image read_image(void)
{
	struct image image;

	image.bytes = e2e_read_file(E2E_STM32F405, &image.count);
	return image;
}

static int group_setup(void **state)
{
	FILE *file = fopen(E2E_STM32F405, "rb");

	(void)state;
	if (file != NULL)
		return fclose(file);
	fprintf(stderr, "no firmware image at %s: scripts/test builds it\n", E2E_STM32F405);
	return -1;
}

static void start(struct probe *probe, const struct image *image, const uint8_t *memory)
{
	const struct probe_options options = {
		.machine = "netduinoplus2",
		.image = image->bytes,
		.image_bytes = image->count,
		.memory = memory,
		.memory_bytes = CARD_MEMORY_BYTES,
		.memory_start = CARD_MEMORY,
	};

	probe_start(probe, &options);
}

static void check_line(const char *wanted)
{
	char line[LINE_BYTES], whole[2u * LINE_BYTES];

	snprintf(whole, sizeof(whole), "patchbay stm32f405 " PB_VERSION ": self-test %s", wanted);
	probe_line(line, sizeof(line));
	assert_string_equal(line, whole);
}

/* ---- the expected result of the self-test, computed from its description ---- */

static uint32_t texel(uint32_t x, uint32_t y)
{
	return 0xff000000u + x * 0x110000u + y * 0x1100u + x * 16u + y;
}

/* Poison; the texture in a mirror; twelve rows of that with a square of it, and four of the filling. */
static void paint(uint32_t words[3u * PICTURE_PIXELS])
{
	for (uint32_t y = 0; y < SIDE; y++) {
		for (uint32_t x = 0; x < SIDE; x++) {
			const uint32_t at = y * SIDE + x;

			words[at] = PB_ENGINE_POISON;
			words[PICTURE_PIXELS + at] = texel(15u - x, y);
			words[2u * PICTURE_PIXELS + at] = y < 12u ? texel(15u - x, y) : FILLED;
			if (x < 8u && y < 8u)
				words[2u * PICTURE_PIXELS + at] = texel(7u - x, y + 8u);
		}
	}
}

static void check_passed(void)
{
	uint32_t words[3u * PICTURE_PIXELS];
	char text[LINE_BYTES];

	paint(words);
	snprintf(text, sizeof(text), "passed, 7 submissions, crc %08lx",
		 crc32(0, (const uint8_t *)words, sizeof(words)));
	check_line(text);
}

/* ---- a host behind the probe ---- */

/* Waits until a word changes. */
static void check_moves(const struct probe *probe, uint32_t address)
{
	const uint32_t before = probe_read(probe, address);

	for (uint64_t begun = e2e_now(); probe_read(probe, address) == before;)
		assert_true(e2e_patience(begun));
}

static void check_runs(const struct probe *probe, uint32_t incarnation)
{
	probe_await(probe, BOOT(boot_stage), PB_BOOT_STAGE_RUNNING);
	assert_int_equal(probe_read(probe, BOOT(magic)), PB_BOOT_MAGIC);
	assert_int_equal(probe_read(probe, BOOT(incarnation)), incarnation);
	assert_int_equal(probe_read(probe, BOOT(memory_bytes)), CARD_MEMORY_BYTES);
	assert_int_equal(probe_read(probe, BOOT(channel_count)), CHANNELS);
	assert_int_equal(probe_read(probe, BOOT(mcu_state)), PB_MCU_UNKNOWN);
	check_moves(probe, BOOT(heartbeat));
	/* A host counts firmware as dead whose heartbeat lags behind its clock. */
	check_moves(probe, BOOT(clock));
	check_moves(probe, BOOT(heartbeat_clock));
	assert_int_equal(probe_read(probe, BOOT(fatal.valid)), 0);
}

static uint32_t capability(const struct probe *probe, uint32_t key)
{
	const uint32_t table = CARD_MEMORY + probe_read(probe, BOOT(capability_offset));
	const uint32_t count = probe_read(probe, BOOT(capability_count));

	for (uint32_t i = 0; i < count; i++) {
		if (probe_read(probe, table + 8u * i) == key)
			return probe_read(probe, table + 8u * i + 4u);
	}
	fail_msg("no capability %u", key);
	return 0;
}

static void check_capabilities(const struct probe *probe)
{
	static const struct {
		uint32_t key;
		uint32_t value;
	} wanted[] = {
		{PB_CAPABILITY_NODES, 2},
		{PB_CAPABILITY_NODE_KINDS, PB_NODE_3D | PB_NODE_COPY << 4},
		{PB_CAPABILITY_CLIENTS, 2},
		{PB_CAPABILITY_QUEUES, PB_LIMIT_QUEUES},
		{PB_CAPABILITY_CONTEXTS, PB_LIMIT_CONTEXTS},
		{PB_CAPABILITY_SEGMENTS, PB_LIMIT_SEGMENTS},
		{PB_CAPABILITY_SEGMENTS_TOTAL, PB_LIMIT_SEGMENTS_TOTAL},
		{PB_CAPABILITY_ALLOCATIONS_MAX, PB_LIMIT_ALLOCATIONS},
		{PB_CAPABILITY_PATCHES_MAX, PB_LIMIT_PATCHES},
		{PB_CAPABILITY_RING_ENTRIES_MIN, PB_LIMIT_RING_MIN},
		{PB_CAPABILITY_RING_ENTRIES_MAX, PB_LIMIT_RING_MAX},
		{PB_CAPABILITY_FORMATS_OWN, PB_LIMIT_FORMATS_OWN},
		{PB_CAPABILITY_APERTURE_PAGES, PB_LIMIT_APERTURE_PAGES},
		{PB_CAPABILITY_POOL_OFFSET, POOL_OFFSET},
		{PB_CAPABILITY_POOL_BYTES, CARD_MEMORY_BYTES - POOL_OFFSET},
		/* Of 15 pages one is kept for each of three channels. */
		{PB_CAPABILITY_BUFFER_BYTES_MAX, CARD_MEMORY_BYTES - POOL_OFFSET - 3u * PB_PAGE_BYTES},
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		assert_int_equal(capability(probe, wanted[i].key), wanted[i].value);
}

#define ENTRY(channel, field)                                                                                \
	(CARD_MEMORY + probe_read(probe, BOOT(channel_directory_offset)) +                                   \
	 (channel) * (uint32_t)sizeof(struct pb_channel_entry) +                                             \
	 (uint32_t)offsetof(struct pb_channel_entry, field))

/* Attaches. Only the tick notifies the firmware. */
static void attach(const struct probe *probe, uint32_t channel)
{
	const uint32_t request = probe_read(probe, ENTRY(channel, attach_done)) + PB_ATTACH_COUNTER_ONE;
	const uint32_t word = (request & ~PB_ATTACH_OP_MASK) | PB_ATTACH_OP_ATTACH;

	assert_int_equal(probe_read(probe, ENTRY(channel, state)), PB_CHANNEL_CLOSED);
	probe_write(probe, ENTRY(channel, host_version), PB_ABI_VERSION);
	probe_write(probe, ENTRY(channel, incarnation), probe_read(probe, BOOT(incarnation)));
	probe_write(probe, ENTRY(channel, control_put), 0);
	probe_write(probe, ENTRY(channel, reply_get), 0);
	probe_write(probe, ENTRY(channel, kick_put), 0);
	probe_write(probe, ENTRY(channel, event_get), 0);
	probe_write(probe, ENTRY(channel, attach_request), word);
	probe_await(probe, ENTRY(channel, attach_done), word);
	assert_int_equal(probe_read(probe, ENTRY(channel, state)), PB_CHANNEL_OPEN);
}

/* Posts the channel's command number `index`. @return the reply's error */
static uint32_t ask(const struct probe *probe, uint32_t channel, uint32_t index,
		    const struct pb_command *command)
{
	const uint32_t *words = (const uint32_t *)(const void *)command;
	const uint32_t at = CARD_MEMORY + probe_read(probe, ENTRY(channel, control_offset)) +
			    index * (uint32_t)sizeof(*command);
	const uint32_t reply = CARD_MEMORY + probe_read(probe, ENTRY(channel, reply_offset)) +
			       index * (uint32_t)sizeof(struct pb_reply);

	for (uint32_t i = 0; i < sizeof(*command) / sizeof(*words); i++)
		probe_write(probe, at + 4u * i, words[i]);
	probe_write(probe, ENTRY(channel, control_put), index + 1u);
	probe_await(probe, ENTRY(channel, reply_put), index + 1u);
	assert_int_equal(probe_read(probe, reply + 4u), command->tag);
	return probe_read(probe, reply + (uint32_t)offsetof(struct pb_reply, error));
}

/* All of the pool is free again, and a client may use what only the admin's grant allows. */
static void check_serves(const struct probe *probe)
{
	/* Of 15 pages one is kept for each of three channels. */
	const uint32_t pool = CARD_MEMORY_BYTES - POOL_OFFSET - 3u * PB_PAGE_BYTES;
	const struct pb_command all = {
		PB_COMMAND_SEGMENT_CREATE, 71, {0, PB_SEGMENT_LINEAR, 0, 0, 0, 0, pool, 0, pool}};
	const struct pb_command more = {
		PB_COMMAND_SEGMENT_CREATE,
		72,
		{1, PB_SEGMENT_LINEAR, 0, 1, 0, 1, 2u * PB_PAGE_BYTES, 0, 2u * PB_PAGE_BYTES}};
	const struct pb_command query = {PB_COMMAND_QUERY, 73, {PB_QUERY_CHANNEL, 1}};

	attach(probe, 2);
	assert_int_equal(ask(probe, 2, 0, &all), PB_ERROR_OK);
	assert_int_equal(ask(probe, 2, 1, &more), PB_ERROR_NO_SPACE);
	assert_int_equal(ask(probe, 2, 2, &query), PB_ERROR_OK);
}

static void the_self_test_passes(void **state)
{
	struct image image = read_image();
	struct probe probe;

	(void)state;
	start(&probe, &image, NULL);
	check_passed();
	check_runs(&probe, 1);
	check_capabilities(&probe);
	check_serves(&probe);
	probe_stop(&probe);
	free(image.bytes);
}

/* ---- memory of real hardware ---- */

static void fill_memory(uint8_t memory[CARD_MEMORY_BYTES])
{
	uint32_t value = 1;

	for (uint32_t i = 0; i < CARD_MEMORY_BYTES; i++) {
		value = value * 1664525u + 1013904223u;
		memory[i] = (uint8_t)(value >> 24);
	}
}

/* At power-on memory holds any values. */
static void it_passes_whatever_memory_held(void **state)
{
	static uint8_t memory[CARD_MEMORY_BYTES];
	struct image image = read_image();
	struct probe probe;

	(void)state;
	fill_memory(memory);
	start(&probe, &image, memory);
	check_passed();
	check_runs(&probe, 1);
	probe_stop(&probe);
	free(image.bytes);
}

/* At a reset the records of the last incarnation are not trusted, except for its number. */
static void it_passes_after_a_reset(void **state)
{
	static uint8_t memory[CARD_MEMORY_BYTES];
	struct pb_boot_block *boot = (struct pb_boot_block *)(void *)memory;
	struct image image = read_image();
	struct probe probe;

	(void)state;
	fill_memory(memory);
	boot->magic = PB_BOOT_MAGIC;
	boot->incarnation = 41;
	start(&probe, &image, memory);
	check_passed();
	check_runs(&probe, 42);
	check_serves(&probe);
	probe_stop(&probe);
	free(image.bytes);
}

/* ---- changed images ---- */

/* The image's CRC is updated: it is another image, not a damaged one. */
static void seal(const struct image *image)
{
	struct pb_image_header header;

	memcpy(&header, image->bytes + PB_IMAGE_HEADER_OFFSET, sizeof(header));
	if (header.magic != PB_IMAGE_MAGIC)
		return;
	header.crc = 0;
	memcpy(image->bytes + PB_IMAGE_HEADER_OFFSET, &header, sizeof(header));
	header.crc = (uint32_t)crc32(0, image->bytes, header.image_bytes);
	memcpy(image->bytes + PB_IMAGE_HEADER_OFFSET, &header, sizeof(header));
}

/* Replaces words that stand once in the image. */
static void change(const struct image *image, const uint32_t *from, uint32_t word, uint32_t to, size_t words)
{
	uint8_t *found = memmem(image->bytes, image->count, from, words * sizeof(*from));
	const size_t behind = (size_t)(found - image->bytes) + 1;

	assert_non_null(found);
	assert_null(memmem(found + 1, image->count - behind, from, words * sizeof(*from)));
	memcpy(found + word * sizeof(to), &to, sizeof(to));
	seal(image);
}

/* The second fill of the self-test. */
static const uint32_t fill[] = {PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS), 0xbad0add5u, 0xbad0add5u,
				PICTURE_PIXELS * 4u, FILLED};

static const struct {
	const char *name;
	uint32_t word; /* of the packet */
	uint32_t to;
	const char *said;
} defects[] = {
	{"another value", 4, FILLED ^ 1u, "failed at memory: 0x50415442, not 0x50415443"},
	{"a faulty packet", 0, PB_PACKET(PB_PACKET_FAULT, PB_PACKET_FAULT_WORDS),
	 "failed at fences: 0x00000040, not 0x00000000"},
	{"one that never ends", 0, PB_PACKET(PB_PACKET_HANG, PB_PACKET_HANG_WORDS),
	 "failed at fences: 0x00000041, not 0x00000000"},
};

static void the_self_test_finds_each_change(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(defects) / sizeof(defects[0]); i++) {
		struct image image = read_image();
		struct probe probe;

		print_message("%s\n", defects[i].name);
		change(&image, fill, defects[i].word, defects[i].to, sizeof(fill) / sizeof(fill[0]));
		start(&probe, &image, NULL);
		check_line(defects[i].said);
		check_runs(&probe, 1);
		probe_stop(&probe);
		free(image.bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(the_self_test_passes),
		e2e_test(it_passes_whatever_memory_held),
		e2e_test(it_passes_after_a_reset),
		e2e_test(the_self_test_finds_each_change),
	};

	return cmocka_run_group_tests(tests, group_setup, NULL);
}
