/* SPDX-License-Identifier: MIT */
/*
 * A host that changes every word that it can write, between any two reads of
 * the firmware: once.h. All goes on as if it did not, and no word is read a
 * second time in one operation. Which words were read at all is asked, too, so
 * that the rule holds of all of them.
 */
#include <string.h>

#include "hal/engine/registers.h"
#include "hal/engine_memory.h"
#include "qemu/mcu/layout.h"
#include "tests/unit/firmware/once.h"
#include "tests/unit/patch_random.h"
#include "tests/unit/stepped.h"

#define LISTS    60u
#define APERTURE 9u

static struct card card;
/** What all tests have seen. */
static struct once_report all;

static uint32_t offset_of(const void *address)
{
	return (uint32_t)((const uint8_t *)address - pb_sim_memory(card.sim));
}

/** The card of patch_oracle.h, watched. */
static void start(void)
{
	oracle_start(&card);
	once_start(pb_sim_memory(card.sim));
	for (uint32_t n = 0; n < 2; n++)
		once_queue(offset_of(card.queues[n].memory.bytes_host), card.queues[n].entries);
}

static void stop(const char *name)
{
	once_stop();
	if (once_report.breaches != 0)
		fail_msg("%s: %u second reads, the first at 0x%x, of kind %u", name, once_report.breaches,
			 once_report.offset, (uint32_t)once_report.kind);
	for (uint32_t kind = 0; kind < ONCE_KINDS; kind++) {
		all.reads[kind] += once_report.reads[kind];
		all.words[kind] |= once_report.words[kind];
	}
	card_stop(&card);
}

/** Lists of both encodings, own formats, every way through patching: the oracle's bytes, errors and entries. */
static void lists(void **state)
{
	static struct random_world world;

	(void)state;
	start();
	for (uint32_t i = 0; i < LISTS; i++) {
		random_list(&world, 0x5eed0000u + i);
		world.list.presumed =
			NULL; /* what is compared first, and read again only where it is not skipped: once.h */
		for (uint32_t own = 0; own < RANDOM_FORMATS; own++) {
			uint32_t reason;

			assert_int_equal(oracle_format_set(&card.channel, PB_FORMAT_OWN + own,
							   &world.own.format[own], &reason),
					 PB_ERROR_OK);
		}
		random_start(&world);
		random_length(&world);
		(void)oracle_check(&card, "random list", &world.list, i + 1u);
	}
	/* Each submission once, from its first word on. */
	assert_int_equal(once_report.admissions, LISTS);
	assert_true(once_report.reads[ONCE_MEMORY] > LISTS * 20u);
	stop("lists");
}

/** All that a descriptor can have: private data, waits, a cookie, options. */
static void whole_descriptor(void **state)
{
	const struct pb_patch_location patch = {.driver_id = PB_PATCH_FORMAT_ADDRESS32};
	struct pb_descriptor descriptor;
	struct pb_wait *wait;

	(void)state;
	start();
	card_allocation(&card, 0, 0x4000, 0x1000, CARD_SEGMENT(3));
	card_patch(&card, 0, &patch);
	descriptor = card_descriptor(&card, 0, 64, 1, 1);
	descriptor.flags = PB_FLAG_NULL_RENDERING;
	descriptor.private_address_low = (uint32_t)CARD_SYSTEM_OS;
	descriptor.private_size = 16;
	descriptor.private_end = 16;
	descriptor.cookie = 0xc00c1e;
	once_digest(offset_of(card_bytes(&card, 0, CARD_ALLOCATIONS)), sizeof(struct pb_allocation));
	descriptor.wait_address_low = (uint32_t)CARD_SYSTEM_OS + CARD_DMA + 0x8000;
	descriptor.wait_count = 1;
	wait = (struct pb_wait *)(void *)card_bytes(&card, 0, CARD_DMA + 0x8000);
	pb_wait_on(wait, &card.queues[1], 1);
	card_submit(&card, 0, &descriptor);
	card_run(&card, 20000);
	assert_int_equal(once_report.admissions, 1);
	/* What it waits for comes: it is read anew, as a whole. */
	descriptor = card_descriptor(&card, 1, 0, 0, 0);
	card_submit(&card, 1, &descriptor);
	assert_int_equal(card_wait(&card, 1, 1).status, PB_ERROR_OK);
	assert_int_equal(card_wait(&card, 0, 1).status, PB_ERROR_OK);
	assert_int_equal(once_report.admissions, 3);
	assert_int_equal(card_word(&card, 0, CARD_DMA), 0x4000);
	stop("a whole descriptor");
}

/** Every command with arguments that are good, too large and meaningless. */
static void commands(void **state)
{
	static const uint32_t values[] = {0, 1, 0x10000, 0x00010001, 0xffffffff};

	(void)state;
	start();
	for (uint32_t code = 0; code < 22; code++) {
		for (uint32_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
			uint32_t arguments[PB_COMMAND_ARGUMENTS];

			for (uint32_t i = 0; i < PB_COMMAND_ARGUMENTS; i++)
				arguments[i] = values[v] + (i == 0 ? 0 : v);
			(void)pb_channel_command(&card.channel, code, arguments, NULL);
		}
	}
	assert_true(once_report.reads[ONCE_COMMAND] > 22u * 5u * 2u);
	stop("commands");
}

/** Kicks of the same queue, of none, and more of them than one pass takes; all queues at the host's wish. */
static void kicks(void **state)
{
	uint32_t *ring;

	(void)state;
	start();
	ring = (uint32_t *)(void *)(pb_sim_memory(card.sim) + card.channel.kick_offset);
	for (uint32_t i = 0; i < 40; i++) {
		const struct pb_descriptor mark = card_mark(&card, i % 8u, 100 + i);

		for (uint32_t again = 0; again < 3; again++) {
			ring[card.channel.kick_put++ % card.channel.kick_entries] =
				again == 2 ? 0xbad00bad : card.queues[i % 2].handle;
			card.channel.entry->kick_put = card.channel.kick_put;
		}
		card.channel.entry->rescan = ++card.channel.rescan;
		assert_int_equal(card_execute(&card, i % 2, &mark).status, PB_ERROR_OK);
	}
	/* A submission may complete before all kicks of its pass are read. */
	card_run(&card, 10000);
	assert_int_equal(once_report.reads[ONCE_KICK], 40u * 4u);
	stop("kicks");
}

/** Work that is stopped inside, returned, and goes on from the progress that lies in its queue's page. */
static void progress(void **state)
{
	struct pb_descriptor descriptor;
	struct pb_preempt preempt;
	uint32_t *words;

	(void)state;
	start();
	words = card_dma(&card, 0);
	for (uint32_t i = 0; i < 20; i++, words += PB_PACKET_BUSY_WORDS) {
		words[0] = PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS);
		words[1] = 500;
	}
	descriptor = card_descriptor(&card, 0, 20u * PB_PACKET_BUSY_WORDS * 4u, 0, 0);
	card_submit(&card, 0, &descriptor);
	card_run(&card, 3000);
	assert_int_equal(pb_queue_preempt(&card.queues[0], 7, PB_STOP_INSIDE, &preempt), PB_ERROR_OK);
	assert_true(preempt.started);
	descriptor.options = PB_OPTION_RESUME;
	card_submit(&card, 0, &descriptor);
	assert_int_equal(card_wait(&card, 0, 2).status, PB_ERROR_OK);
	assert_int_equal(once_report.admissions, 2);
	assert_true(once_report.reads[ONCE_RECORD] >=
		    3u); /* the fence record and the preempt record, to go on */
	stop("progress");
}

/** A buffer in an aperture: formats of one store, of two, of single bytes, and with kept bits. */
static void page_tables(void **state)
{
	static const struct pb_patch_location patches[] = {
		{.driver_id = PB_PATCH_FORMAT_ADDRESS32, .patch_offset = 0xffc},
		{.driver_id = PB_PATCH_FORMAT_LOW24, .patch_offset = 0xffc},
		{.driver_id = PB_PATCH_FORMAT_SPLIT40, .patch_offset = 0xffc},
		{.driver_id = PB_PATCH_FORMAT_UNALIGNED32, .patch_offset = 0xffd},
	};
	const struct pb_engine_range_entry *ranges;
	uint32_t *table;

	(void)state;
	start();
	ranges = (const void *)(pb_sim_memory(card.sim) + PB_CARD_RANGES_OFFSET);
	table = (uint32_t *)(void *)(pb_sim_memory(card.sim) +
				     (ranges[PB_ENGINE_RANGES + APERTURE].memory_offset &
				      ~PB_ENGINE_RANGE_PAGED));
	for (uint32_t page = 0; page < 2; page++)
		table[page] = offset_of(card_dma(&card, 20u + page)) | PB_ENGINE_PAGE_VALID;
	card_allocation(&card, 0, 0x33445560, 0x1000, CARD_SEGMENT(3));
	for (uint32_t i = 0; i < sizeof(patches) / sizeof(patches[0]); i++) {
		struct pb_descriptor descriptor = card_descriptor(&card, 0, 0x2000, 1, 1);

		card_patch(&card, 0, &patches[i]);
		descriptor.flags = PB_FLAG_NULL_RENDERING;
		descriptor.dma_segment = APERTURE;
		descriptor.dma_address_low = (uint32_t)ORACLE_APERTURE_OS;
		descriptor.dma_address_high = (uint32_t)(ORACLE_APERTURE_OS >> 32);
		card_equal("status", card_execute(&card, 0, &descriptor).status, PB_ERROR_OK);
		card_equal("bytes", card_dma(&card, 20)[0x3ff] >> (i == 3 ? 8 : 0) & 0xfffffcu, 0x445560);
	}
	assert_true(once_report.reads[ONCE_TABLE] >= 1u + 1u + 2u + 4u);
	stop("page tables");
}

/** Indices that make no sense, events that no host reads, another attach. */
static void channels(void **state)
{
	struct pb_channel_entry *entry;

	(void)state;
	start();
	entry = card.channel.entry;
	for (uint32_t i = 0; i < 80; i++) { /* more than the ring of events holds */
		struct pb_descriptor bad = card_descriptor(&card, 0, 64, 0, 0);

		bad.context = 0xbad;
		assert_int_equal(card_execute(&card, 0, &bad).status, PB_ERROR_BAD_CONTEXT);
	}
	assert_true(entry->events_dropped != 0);
	entry->kick_put += 5000;
	pb_sim_doorbell(card.sim, 1);
	card_run(&card, 10000);
	assert_int_equal(entry->state, PB_CHANNEL_FAULTED);
	assert_int_equal(pb_channel_attach(&card.channel, card.link, 1000000), PB_ERROR_OK);
	assert_int_equal(pb_channel_moderate(&card.channel, 1, 0), PB_ERROR_OK);
	assert_int_equal(pb_channel_detach(&card.channel), PB_ERROR_OK);
	stop("channels");
}

/** The rule can be broken, and that is seen: two reads of one word, and of one byte of it. */
static void second_read_is_seen(void **state)
{
	const uint32_t *word;

	(void)state;
	start();
	word = (const uint32_t *)(const void *)card_bytes(&card, 0, CARD_PATCHES);
	card_fill(card_dma(&card, 0), 0, 4, 0);
	assert_int_equal(pb_stepped_read32(word), 0);
	assert_int_equal(once_report.breaches, 0);
	assert_int_not_equal(*word, 0);
	assert_int_not_equal(pb_stepped_read32(word), 0);
	assert_int_equal(once_report.kind, ONCE_MEMORY);
	assert_int_equal(once_report.offset, offset_of(word));
	assert_int_not_equal(once_report.breaches, 0);
	once_report.breaches = 0;
	(void)pb_stepped_read8((const uint8_t *)(word + 1));
	assert_int_equal(once_report.breaches, 0);
	(void)pb_stepped_read32(word + 1);
	assert_int_equal(once_report.breaches, 1);
	once_report.breaches = 0;
	(void)pb_stepped_read32(&card.channel.entry->control_put);
	(void)pb_stepped_read32(&card.channel.entry->control_put);
	assert_int_equal(once_report.breaches, 4);
	once_report.breaches = 0;
	stop("the rule itself");
}

/** What the tests before have seen: every word that a host can write, of each kind. */
static void every_word_was_read(void **state)
{
	const uint32_t entry = 1u << 0 | 1u << 1 | 1u << 2 | 0x1fu << 16;
	const uint32_t engine_ordinal = 1u << 29;

	(void)state;
	assert_int_equal(all.words[ONCE_ENTRY], entry);
	assert_int_equal(all.words[ONCE_COMMAND] | 1u << 15, 0xffff); /* no command has that many arguments */
	assert_int_equal(all.words[ONCE_DESCRIPTOR] | engine_ordinal,
			 0x7fffffff); /* the last word is reserved */
	for (uint32_t kind = ONCE_ENTRY; kind < ONCE_KINDS; kind++)
		assert_true(all.reads[kind] != 0);
	print_message("reads: entry %u, command %u, kick %u, put %u, descriptor %u, memory %u, table %u, "
		      "record %u\n",
		      all.reads[ONCE_ENTRY], all.reads[ONCE_COMMAND], all.reads[ONCE_KICK],
		      all.reads[ONCE_PUT], all.reads[ONCE_DESCRIPTOR], all.reads[ONCE_MEMORY],
		      all.reads[ONCE_TABLE], all.reads[ONCE_RECORD]);
}

UNIT_SUITE(test_firmware_once)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists),
		cmocka_unit_test(whole_descriptor),
		cmocka_unit_test(commands),
		cmocka_unit_test(kicks),
		cmocka_unit_test(progress),
		cmocka_unit_test(page_tables),
		cmocka_unit_test(channels),
		cmocka_unit_test(second_read_is_seen),
		cmocka_unit_test(every_word_was_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
