/* SPDX-License-Identifier: MIT */
/* The crash record as the host reads it: foreign words, of which it believes only what is possible. */
#include <string.h>

#include "tests/unit/fake_firmware.h"
#include "tests/unit/unit.h"

#define OFFSET 0x800u

static struct pb_crash_record *record_of(struct fake_firmware *fake)
{
	return (struct pb_crash_record *)(void *)(fake->link.memory + OFFSET);
}

/* A fake whose firmware has crashed. */
static void start(struct fake_firmware *fake)
{
	struct pb_crash_record *record;

	fake_start(fake);
	fake_boot(fake)->crash_offset = OFFSET;
	fake_boot(fake)->crash_bytes = sizeof(*record);
	record = record_of(fake);
	for (uint32_t i = 0; i < sizeof(*record) / sizeof(uint32_t); i++)
		(&record->magic)[i] = 0x1000u + i;
	record->magic = PB_CRASH_MAGIC;
	record->bytes = sizeof(*record);
	record->stack_bottom = 0x20000000;
	record->stack_top = 0x20000800;
	record->stack_address = 0x20000600;
	record->stack_words = 128;
}

static void takes_it_whole(void **state)
{
	struct fake_firmware fake;
	struct pb_crash_record record;

	(void)state;
	start(&fake);
	assert_int_equal(pb_crash_read(&fake.link, &record), PB_ERROR_OK);
	assert_memory_equal(&record, record_of(&fake), sizeof(record));
	fake_stop(&fake);
}

static void expect_none(struct fake_firmware *fake, enum pb_error error)
{
	static const struct pb_crash_record none;
	struct pb_crash_record record;

	memset(&record, 0xff, sizeof(record));
	assert_int_equal(pb_crash_read(&fake->link, &record), error);
	assert_memory_equal(&record, &none, sizeof(record));
	fake_stop(fake);
}

static void there_is_none(void **state)
{
	struct fake_firmware fake;

	(void)state;
	fake_start(&fake);
	expect_none(&fake, PB_ERROR_OK); /* firmware that has no place for one */
	start(&fake);
	record_of(&fake)->magic = 0;
	expect_none(&fake, PB_ERROR_OK);
	start(&fake);
	record_of(&fake)->magic = PB_CRASH_MAGIC + 1u; /* memory as power left it */
	expect_none(&fake, PB_ERROR_OK);
}

static void no_card(void **state)
{
	struct fake_firmware fake;

	(void)state;
	start(&fake);
	fake_boot(&fake)->magic = 0;
	expect_none(&fake, PB_ERROR_NO_CARD);
	start(&fake);
	fake.link.memory_bytes = sizeof(struct pb_boot_block) - 1u;
	expect_none(&fake, PB_ERROR_NO_CARD);
	start(&fake);
	fake_boot(&fake)->abi_version = (PB_ABI_MAJOR + 1u) << 16;
	expect_none(&fake, PB_ERROR_BAD_VERSION);
}

static void places_that_are_none(void **state)
{
	static const struct {
		uint32_t offset, bytes;
		enum pb_error error;
	} cases[] = {
		{FAKE_BYTES - 1152u, 1152, PB_ERROR_OK}, /* the last one possible; nothing is there */
		{FAKE_BYTES - 1148u, 1152, PB_ERROR_PROTOCOL},
		{FAKE_BYTES, 1152, PB_ERROR_PROTOCOL},
		{0xfffffffcu, 1152, PB_ERROR_PROTOCOL},
		{0xfffffc00u, 1152, PB_ERROR_PROTOCOL},
		{OFFSET + 1u, 1152, PB_ERROR_PROTOCOL},
		{OFFSET + 2u, 1152, PB_ERROR_PROTOCOL},
		{OFFSET, 1151, PB_ERROR_PROTOCOL},
		{OFFSET, 0, PB_ERROR_PROTOCOL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_firmware fake;

		print_message("0x%x, %u\n", cases[i].offset, cases[i].bytes);
		start(&fake);
		fake_boot(&fake)->crash_offset = cases[i].offset;
		fake_boot(&fake)->crash_bytes = cases[i].bytes;
		expect_none(&fake, cases[i].error);
	}
}

/* Counts and addresses by which a reader would leave the record. */
static void impossible_records(void **state)
{
	static const struct {
		uint32_t bytes, bottom, top, address, words;
		enum pb_error error;
	} cases[] = {
		{1152, 0x1000, 0x1800, 0x17fc, 1, PB_ERROR_OK},
		{1200, 0x1000, 0x1800, 0x1000, 128, PB_ERROR_OK},
		{1152, 0x1000, 0x1800, 0xfffffffc, 0, PB_ERROR_OK},
		{1152, 0xfffffe00, 0xffffffff, 0xfffffe00, 127, PB_ERROR_OK},
		{1151, 0x1000, 0x1800, 0x1000, 128, PB_ERROR_PROTOCOL},
		{0, 0x1000, 0x1800, 0x1000, 128, PB_ERROR_PROTOCOL},
		{1152, 0x1000, 0x1800, 0x1000, 129, PB_ERROR_PROTOCOL},
		{1152, 0x1000, 0x1800, 0x1000, 0xffffffff, PB_ERROR_PROTOCOL},
		{1152, 0x1000, 0x1800, 0x17fc, 2, PB_ERROR_PROTOCOL},
		{1152, 0x1000, 0x1800, 0x0ffc, 2, PB_ERROR_PROTOCOL},
		{1152, 0x1000, 0x1800, 0x1804, 1, PB_ERROR_PROTOCOL},
		{1152, 0x1000, 0x1800, 0x1002, 1, PB_ERROR_PROTOCOL},
		{1152, 0x1800, 0x1000, 0x1800, 0, PB_ERROR_PROTOCOL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pb_crash_record *shared, record;
		struct fake_firmware fake;

		print_message("%zu\n", i);
		start(&fake);
		shared = record_of(&fake);
		shared->bytes = cases[i].bytes;
		shared->stack_bottom = cases[i].bottom;
		shared->stack_top = cases[i].top;
		shared->stack_address = cases[i].address;
		shared->stack_words = cases[i].words;
		assert_int_equal(pb_crash_read(&fake.link, &record), cases[i].error);
		assert_int_equal(record.magic, cases[i].error == PB_ERROR_OK ? PB_CRASH_MAGIC : 0);
		fake_stop(&fake);
	}
}

UNIT_SUITE(test_host_crash)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_it_whole),
		cmocka_unit_test(there_is_none),
		cmocka_unit_test(no_card),
		cmocka_unit_test(places_that_are_none),
		cmocka_unit_test(impossible_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
