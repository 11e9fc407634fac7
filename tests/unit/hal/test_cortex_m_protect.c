/* SPDX-License-Identifier: MIT */
/*
 * The protection unit of Arm M-profile, on registers of this test: units with too few regions, and which memory a data
 * cache may hold. Built for Armv7-M and for Armv8-M. Registers: Armv7-M Architecture Reference Manual, B3.5, and that of
 * Armv8-M, D1.2.
 */
#include <string.h>

#include "hal/cortex_m/cortex_m.h"
#include "tests/unit/hal/fake_cortex_m.h"
#include "tests/unit/unit.h"

/* The image's own memory, as the linker script has it; the sizes are values of symbols. */
__asm__(".globl pb_code_start, pb_code_bytes, pb_data_memory, pb_data_bytes, pb_stack_bottom\n"
	".set pb_code_start, 0x08000000\n"
	".set pb_code_bytes, 0x10000\n"
	".set pb_data_memory, 0x20000000\n"
	".set pb_data_bytes, 0x20000\n"
	".set pb_stack_bottom, 0x20000000\n");

#define CARD       0x60000000u
#define CARD_BYTES 0x1000000u
#define UART       0x40004000u
#define UART_BYTES 0x1000u
#define DATA       0x20000000u

#define UNIT_MAX   16u
#define LINES_MAX  8u
#define V8         (__ARM_ARCH >= 8)
#define CACHE_ON   (1u << 16)
#define IS_ENABLED 1u

/** The unit, and the cache. */
static struct {
	uint32_t regions;
	uint32_t control;
	uint32_t number;
	uint32_t base[UNIT_MAX];
	uint32_t attributes[UNIT_MAX];
	uint32_t kinds; /* MPU_MAIR0 */
	uint32_t configuration;
	uint32_t lines[LINES_MAX]; /* written back */
	uint32_t line_count;
} unit;

uint32_t fake_read32(uintptr_t address)
{
	const bool is_there = unit.number < unit.regions;

	switch (address) {
	case 0xe000ed14:
		return unit.configuration;
	case 0xe000ed90:
		return unit.regions << 8;
	case 0xe000ed94:
		return unit.control;
	case 0xe000ed9c:
		return is_there ? unit.base[unit.number] : 0;
	case 0xe000eda0:
		return is_there ? unit.attributes[unit.number] : 0;
	case 0xe000edc0:
		return V8 ? unit.kinds : 0;
	default:
		fail_msg("read of 0x%08x", (unsigned)address);
		return 0;
	}
}

void fake_write32(uintptr_t address, uint32_t value)
{
	const bool is_there = unit.number < unit.regions;

	if (address == 0xe000ed94)
		unit.control = unit.regions != 0 ? value : 0;
	else if (address == 0xe000ed98)
		unit.number = value;
	else if (address == 0xe000ed9c && is_there)
		unit.base[unit.number] = value;
	else if (address == 0xe000eda0 && is_there)
		unit.attributes[unit.number] = value;
	else if (address == 0xe000edc0 && V8)
		unit.kinds = value;
	else if (address == 0xe000ef70 && unit.line_count < LINES_MAX)
		unit.lines[unit.line_count++] = value;
	else if (address != 0xe000ed9c && address != 0xe000eda0)
		fail_msg("write of 0x%08x", (unsigned)address);
}

static void reset(uint32_t regions)
{
	memset(&unit, 0, sizeof(unit));
	unit.regions = regions;
	pb_cortex_m_guard_stack();
}

/** Whether all but what is listed is closed. */
static bool is_protected(void)
{
	return unit.control == IS_ENABLED;
}

/** An image with too little protection is not to run, and knows the numbers. */
static void a_unit_with_too_few_regions_is_noticed(void **state)
{
	static const struct pb_region regions[6] = {
		{CARD, CARD_BYTES, PB_REGION_SHARED},   {UART, UART_BYTES, PB_REGION_DEVICE},
		{0x40000000, 0x1000, PB_REGION_DEVICE}, {0x40001000, 0x1000, PB_REGION_DEVICE},
		{0x40002000, 0x1000, PB_REGION_DEVICE}, {0x40003000, 0x1000, PB_REGION_DEVICE},
	};
	/* Guard (not needed by Armv8-M, which keeps its number), code and data, four of a board, and null on Armv7-M. */
	const uint32_t needed = V8 ? 7 : 8;

	(void)state;
	for (uint32_t has = 0; has <= UNIT_MAX; has++) {
		for (uint32_t count = 0; count <= 6; count++) {
			const struct pb_protection *found = pb_hal_protection();
			const uint32_t needs = count > 4 ? needed + count - 4 : needed;

			reset(has);
			pb_cortex_m_protect(regions, count);
			assert_int_equal(found->needs, needs);
			assert_int_equal(found->has, has < needed ? has : needed);
			assert_int_equal(found->has >= found->needs, has >= needed && count <= 4);
			assert_int_equal(is_protected(), found->has >= found->needs);
		}
	}
}

/** Only with the cache on, memory counts that no region has, or one that may be cached. */
static void memory_that_a_cache_may_hold_is_noticed(void **state)
{
	static const struct {
		const char *what;
		struct pb_region listed;
		uint32_t start, bytes;
		bool cached;
	} rows[] = {
		{"as listed", {CARD, CARD_BYTES, PB_REGION_SHARED}, CARD, CARD_BYTES, false},
		{"a part of it", {CARD, CARD_BYTES, PB_REGION_SHARED}, CARD + 0x20000, 32, false},
		{"listed as registers", {CARD, CARD_BYTES, PB_REGION_DEVICE}, CARD, CARD_BYTES, false},
		{"not listed", {UART, UART_BYTES, PB_REGION_DEVICE}, CARD, CARD_BYTES, true},
		{"listed in part", {CARD, CARD_BYTES / 2, PB_REGION_SHARED}, CARD, CARD_BYTES, true},
		{"longer by a byte", {CARD, CARD_BYTES, PB_REGION_SHARED}, CARD, CARD_BYTES + 1, true},
		{"begins earlier", {CARD, CARD_BYTES, PB_REGION_SHARED}, CARD - 32, 64, true},
		{"variables", {CARD, CARD_BYTES, PB_REGION_SHARED}, DATA, 32, true},
		{"the last of the variables", {CARD, CARD_BYTES, PB_REGION_SHARED}, DATA + 0x1fff0, 32, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		reset(8);
		unit.configuration = CACHE_ON;
		assert_true(pb_hal_may_cache(rows[i].start, rows[i].bytes)); /* not yet protected */
		pb_cortex_m_protect(&rows[i].listed, 1);
		if (pb_hal_may_cache(rows[i].start, rows[i].bytes) != rows[i].cached)
			fail_msg("%s", rows[i].what);
		unit.configuration = 0;
		assert_false(pb_hal_may_cache(rows[i].start, rows[i].bytes));
	}
}

/** Where the image has variables and card memory in one memory: on Armv7-M the board's region counts. */
static void card_memory_among_the_variables_is_not_cached(void **state)
{
	static const struct pb_region region = {DATA + 0x10000, 0x8000, PB_REGION_SHARED};

	(void)state;
	if (V8)
		return; /* its regions must not overlap */
	reset(8);
	unit.configuration = CACHE_ON;
	pb_cortex_m_protect(&region, 1);
	assert_false(pb_hal_may_cache(region.start, region.bytes));
	assert_true(pb_hal_may_cache(region.start, region.bytes + 32));
	assert_true(pb_hal_may_cache(region.start - 32, 64));
}

static void a_unit_that_is_too_small_leaves_memory_cached(void **state)
{
	static const struct pb_region region = {CARD, CARD_BYTES, PB_REGION_SHARED};

	(void)state;
	reset(4);
	unit.configuration = CACHE_ON;
	pb_cortex_m_protect(&region, 1);
	assert_true(pb_hal_may_cache(CARD, CARD_BYTES));
}

/** A refusal must reach the host also through a cache. */
static void a_cache_is_written_back_line_by_line(void **state)
{
	static const uint32_t expected[] = {CARD, CARD + 32, CARD + 64};

	(void)state;
	reset(8);
	pb_hal_write_back(CARD, 96);
	assert_int_equal(unit.line_count, 0);
	unit.configuration = CACHE_ON;
	pb_hal_write_back(CARD, 96);
	assert_int_equal(unit.line_count, 3);
	assert_memory_equal(unit.lines, expected, sizeof(expected));
}

UNIT_SUITE(test_cortex_m_protect)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_unit_with_too_few_regions_is_noticed),
		cmocka_unit_test(memory_that_a_cache_may_hold_is_noticed),
		cmocka_unit_test(card_memory_among_the_variables_is_not_cached),
		cmocka_unit_test(a_unit_that_is_too_small_leaves_memory_cached),
		cmocka_unit_test(a_cache_is_written_back_line_by_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
